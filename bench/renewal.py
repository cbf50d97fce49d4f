"""Update a page after only some cases were measured again; the other figures stay."""

from __future__ import annotations

from collections.abc import Sequence

NOTES = "Notes:"


def renewed_text(old: str, new: str) -> str:
    """The text of a page after some of its cases were measured again.

    Args:
        old: Earlier result of `bench.page.render` or of this function.
        new: Result of `bench.page.render` for the cases that were measured again.

    Returns:
        The circumstances of each day on which a row was measured, each row and each note once, and
        the pictures.
    """
    before, after = _Parts(old), _Parts(new)
    rows = _joined(before.rows, after.rows)
    days = {_cells(line)[-1] for line in rows}
    by_day = {_day(line): line for line in (*before.facts, *after.facts)}
    facts = [by_day[day] for day in sorted(days & by_day.keys())]
    measured = tuple(f"- {_cells(line)[0]}: " for line in after.rows)
    notes = [line for line in before.notes if not line.startswith(measured)] + after.notes
    parts = [
        [*facts, "", *after.heading, *rows],
        ["", NOTES, "", *notes] if notes else [],
        ["", *pictures] if (pictures := after.pictures or before.pictures) else [],
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


def renewed_table(old: str, new: str) -> str:
    """The rows of a table that were not measured again, and the rows of the new table."""
    before, after = _Parts(old), _Parts(new)
    return "\n".join([*after.heading, *_joined(before.rows, after.rows)]) + "\n"


class _Parts:
    """The lines of a text: circumstances, the table and its heading, notes, pictures."""

    def __init__(self, text: str) -> None:
        head, _, foot = text.partition(f"\n{NOTES}\n")
        table = [line for line in head.splitlines() if line.startswith("|")]
        self.heading, self.rows = table[:2], table[2:]
        self.facts = [line for line in head.splitlines() if line.startswith("- ")]
        self.notes = [line for line in foot.splitlines() if line.startswith("- ")]
        self.pictures = [line for line in text.splitlines() if line.startswith("![")]


def _joined(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The old rows, replaced by new rows that compare the same; then the other new rows."""
    rows = {_compared(line): line for line in old} | {_compared(line): line for line in new}
    return list(rows.values())


def _day(fact: str) -> str:
    return fact.removeprefix("- ").partition(":")[0]


def _compared(line: str) -> tuple[str, str]:
    """The names of both sides of a row."""
    cells = _cells(line)
    return cells[0], cells[2]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]
