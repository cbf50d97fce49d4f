"""Gather what is wrong with an input: all of it, within a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from vidscore_evaluators.arrays import AnyArray, BoolArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats.table import EMPTY, Table, TextColumn

MAXIMUM_FAULTS = 100_000
"""Faults that one input lists; a file of nothing but broken rows must not fill the memory."""

SHOWN_CHARACTERS = 60
NOTHING = "nothing"


class FaultList:
    """Faults in the order in which they were found; over the bound they are only counted."""

    def __init__(self) -> None:
        """Start with none."""
        self._faults: list[Fault] = []
        self._count = 0

    def __len__(self) -> int:
        """Number of faults, listed or not."""
        return self._count

    def add(self, fault: Fault) -> None:
        """Add one."""
        self._count += 1
        if len(self._faults) < MAXIMUM_FAULTS:
            self._faults.append(fault)

    def extend(self, faults: Iterable[Fault]) -> None:
        """Add several."""
        for fault in faults:
            self.add(fault)

    def count(self, more: int) -> None:
        """Count faults that are over the bound anyway."""
        self._count += more

    def absorb(self, other: FaultList) -> None:
        """Add what another list has, with what it only counted."""
        self.extend(other._faults)
        self.count(len(other) - len(other._faults))

    def relocated(self, place: Callable[[Fault], Fault]) -> FaultList:
        """The same faults, each at the place that a function gives it."""
        moved = FaultList()
        moved.extend(place(fault) for fault in self._faults)
        moved.count(self._count - len(self._faults))
        return moved

    def listed(self) -> list[Fault]:
        """The faults by place and, where there are more than the bound, one that says so."""
        faults = sorted(self._faults, key=_place)
        rest = self._count - len(faults)
        if rest:
            faults.append(Fault(f"{rest} more faults", f"at most {MAXIMUM_FAULTS} to be listed"))
        return faults


class RowChecks:
    """Rules for the rows of a table, a column at a time.

    Attributes:
        faults: What was found.
        faulty: (N,) whether a row breaks a rule.
    """

    def __init__(self, table: Table) -> None:
        """Start with rows that break nothing."""
        self._table = table
        self.faults = FaultList()
        self.faulty = np.zeros(len(table), dtype=np.bool_)

    def refuse(
        self,
        wrong: BoolArray,
        column: str,
        found: AnyArray | TextColumn | str,
        expected: str,
        advice: str | None = None,
    ) -> None:
        """Add a fault for each row that is wrong.

        Args:
            wrong: (N,) which rows are.
            column: Name of the column to blame.
            found: What stands there: the column's values, or words for all rows.
            expected: What should stand there.
            advice: What to do about it.
        """
        self.faulty |= wrong
        table, rows = self._table, np.flatnonzero(wrong)
        for row in rows[:MAXIMUM_FAULTS].tolist():
            source = table.sources[table.source_of_row[row]]
            self.faults.add(
                Fault(
                    found=_show(found, row),
                    expected=expected,
                    source=source,
                    **{table.position_name: int(table.positions[row])},
                    field=f"column {column}",
                    advice=advice,
                )
            )
        self.faults.count(len(rows[MAXIMUM_FAULTS:]))


def show_text(text: str) -> str:
    """A piece of a user's file, quoted and of bounded length; `NOTHING` for an empty one."""
    if not text:
        return NOTHING
    shown = repr(text[: SHOWN_CHARACTERS + 1])
    return shown if len(text) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}...'"


def _show(found: AnyArray | TextColumn | str, row: int) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, TextColumn):
        return show_text(found.texts[found.codes[row]])
    value = found[row]
    return NOTHING if np.isnan(value) or value == EMPTY else str(value)


def _place(fault: Fault) -> tuple[str, int, int]:
    return (fault.source or "", fault.line or 0, fault.entry or 0)
