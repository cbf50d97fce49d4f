"""Tables of `vidscore trust` on a terminal or in a text file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vidscore_cli.output import deliver_table
from vidscore_cli.report_layout import Grid
from vidscore_cli.report_table import GridView
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.trust.tables import TextTable


def deliver_tables(tables: Sequence[TextTable], notes: Sequence[str], output: str) -> None:
    """Write tables with what there is to say about them.

    Args:
        tables: The tables, one below the other.
        notes: Sentences that stand below.
        output: Path of a file, or "-".
    """
    deliver_table(Group(*_parts(tables, notes)), output)


def _parts(tables: Sequence[TextTable], notes: Sequence[str]) -> Iterator[RenderableType]:
    for table in tables:
        yield Text(table.title, style="bold")
        lines = [tuple(map(escape_controls, line)) for line in table.lines]
        headings = tuple(map(escape_controls, table.headings))
        grid = Grid(table.title, headings, table.leading, lines)
        yield Padding(GridView(grid), (0, 0, 0, 2), expand=False)
        yield Text("")
    for note in notes:
        yield Text(escape_controls(note), style="dim")
