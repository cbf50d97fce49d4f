"""What the commands of `vidscore trust` share: options, tables, and analyses on a server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from vidscore_cli.options import Decorator, format_option, number_option, output_option, together
from vidscore_cli.progress import ProgressBar
from vidscore_cli.waiting import Breaks
from vidscore_evaluators.names import escape_controls

if TYPE_CHECKING:
    from vidscore_client import TrustAnalysis, TrustProgress
    from vidscore_evaluators.trust.analyses import Document
    from vidscore_evaluators.trust.tables import TextTable

WAITING = "waiting for its turn"


def seed_option() -> Decorator:
    """``--seed``."""
    return number_option("--seed", 0, 2**32 - 1, 1, "Random seed.")


def form_options() -> Decorator:
    """``--format`` and ``--output`` of the commands of `vidscore trust`."""
    return together(format_option("table", "json"), output_option())


def deliver_tables(tables: Sequence[TextTable], notes: Sequence[str], output: str) -> None:
    """Write tables, and notes below them.

    Args:
        tables: The tables, one below the other.
        notes: Sentences below the tables.
        output: Path of a file, or "-".
    """
    from vidscore_cli.report_parts import Words, deliver_parts
    from vidscore_evaluators.report_grids import Grid

    parts: list[Words | Grid] = []
    for table in tables:
        lines = [tuple(map(escape_controls, line)) for line in table.lines]
        headings = tuple(map(escape_controls, table.headings))
        parts.append(Grid(escape_controls(table.title), headings, table.leading, lines))
    if notes:
        parts.append(Words(""))
    deliver_parts([*parts, *map(Words, notes)], output)


def outcome_of(analysis: TrustAnalysis, bar: ProgressBar) -> Document:
    """Wait for an analysis, and show its progress."""
    from vidscore_client import VidscoreError

    breaks = Breaks(bar.say)

    def show(progress: TrustProgress) -> None:
        breaks.over()
        show_progress(bar, progress)

    try:
        return analysis.wait(on_progress=show, retry=breaks.retry())
    except KeyboardInterrupt:
        with suppress(VidscoreError):
            analysis.cancel()
        raise


def show_progress(bar: ProgressBar, progress: TrustProgress) -> None:
    """Show the stage and progress of an analysis."""
    bar.show(progress.stage or WAITING, progress.pieces_done, progress.pieces_in_all)
