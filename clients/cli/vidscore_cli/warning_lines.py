"""Warnings on standard error, whatever the format of the output, and as errors where wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from vidscore_cli.exit_codes import ExitCode
from vidscore_cli.output import say
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.plausibility.inputs import warnings_of_side
from vidscore_evaluators.report import FrameExample, Report, ReportWarning

Locate = Callable[[FrameExample], str]
"""Says in which file and line a frame stands; an empty text where that is not known."""


class WarningsRefusedError(click.ClickException):
    """There are warnings, and --strict makes them errors."""

    exit_code = ExitCode.INPUT


def show_warnings(warnings: Sequence[ReportWarning], locate: Locate | None = None) -> None:
    """Write warnings to standard error, a line each; equal ones once.

    Args:
        warnings: The warnings.
        locate: Says where the frames stand that they name.
    """
    for warning in dict.fromkeys(warnings):
        say(_line(warning, locate), err=True)


def show_source_warnings(source: Source, side: Side) -> tuple[ReportWarning, ...]:
    """Write what reading one side warned of, and what does not look right about it alone."""
    warnings = (*source.warnings, *warnings_of_side(side, source.annotations))
    show_warnings(warnings, lambda example: source.place_of(example.sequence, example.frame))
    return warnings


def show_warnings_of(reports: Sequence[Report], locate: Locate | None = None) -> None:
    """Write the warnings of reports to standard error.

    Args:
        reports: The reports; a warning that not all of them have names those that have.
        locate: Says where the frames stand that they name.
    """
    whose: dict[ReportWarning, list[str]] = {}
    for report in reports:
        for warning in report.warnings:
            whose.setdefault(warning, []).append(report.evaluator)
    for warning, names in whose.items():
        of = f" ({', '.join(names)})" if len(names) < len(reports) else ""
        say(_line(warning, locate) + of, err=True)


def refuse_warnings(warnings: Sequence[ReportWarning]) -> None:
    """Make warnings an error; notes are none.

    Raises:
        WarningsRefusedError: If there is a warning that is more than a note.
    """
    refuse_count(len({warning for warning in warnings if not warning.is_note}), "written")


def refuse_count(count: int, left_undone: str) -> None:
    """Make so many warnings an error.

    Args:
        count: Warnings that are more than notes.
        left_undone: What nothing was: written, submitted.

    Raises:
        WarningsRefusedError: If there are any.
    """
    if count:
        found = "1 warning" if count == 1 else f"{count} warnings"
        message = f"{found}, which --strict makes errors; nothing was {left_undone}"
        raise WarningsRefusedError(message)


def _line(warning: ReportWarning, locate: Locate | None) -> str:
    kind = "Note" if warning.is_note else "Warning"
    place = locate(warning.example) if locate and warning.example else ""
    return f"{kind}: {warning.count} x {warning.message}" + (f" [{place}]" if place else "")
