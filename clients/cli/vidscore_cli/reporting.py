"""Final reports as tables, Markdown, LaTeX, JSON or CSV, with their warnings on standard error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import click
from msgspec import Struct

from vidscore_cli.output import deliver, deliver_json, say
from vidscore_cli.session import ExitCode
from vidscore_evaluators.machine_text import csv_text
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_evaluators.annotations import Side
    from vidscore_evaluators.formats.source import Source
    from vidscore_evaluators.report import FrameExample, Report, ReportWarning


Locate: TypeAlias = "Callable[[FrameExample], str]"
"""File and line of a frame; an empty string if they are unknown."""

COLUMNS = ("evaluator", "domain", "label", "sequence", "measure", "value")


class View(Struct, frozen=True):
    """Which parts of a report are shown.

    Attributes:
        sequences: The scores of single sequences.
        curves: The points of curves.
    """

    sequences: bool = False
    curves: bool = False


class Presentation(Struct, frozen=True):
    """Form and destination of reports.

    Attributes:
        format: ``table``, ``markdown``, ``latex``, ``json`` or ``csv``.
        output: Path of a file, or "-".
        view: What a table shows.
        strict: Whether warnings are errors.
        locate: Locates the frames that warnings name.
    """

    format: str
    output: str
    view: View
    strict: bool = False
    locate: Locate | None = None


class WarningsRefusedError(click.ClickException):
    """There are warnings, and --strict makes them errors."""

    exit_code = ExitCode.INPUT


def show_warnings(warnings: Sequence[ReportWarning], locate: Locate | None) -> None:
    """Write warnings to standard error, a line each; equal ones once.

    Args:
        warnings: The warnings.
        locate: Locates the frames that they name.
    """
    for warning in dict.fromkeys(warnings):
        say(_line(warning, locate), err=True)


def show_source_warnings(
    source: Source, side: Side, *, ranked: bool | None = None
) -> tuple[ReportWarning, ...]:
    """Write the warnings of reading one side, and the doubts about it.

    Args:
        source: The side, as read.
        side: Its side.
        ranked: Whether scores depend on the order of confidences; None if that is not known.
    """
    from vidscore_evaluators.plausibility.inputs import warnings_of_side

    warnings = (*source.warnings, *warnings_of_side(side, source.annotations, ranked=ranked))
    show_warnings(warnings, lambda example: source.place_of(example.sequence, example.frame))
    return warnings


def show_warnings_of(reports: Sequence[Report], locate: Locate | None) -> None:
    """Write the warnings of reports to standard error.

    Args:
        reports: The reports; a warning of only some of them names these.
        locate: Locates the frames that they name.
    """
    whose: dict[ReportWarning, list[str]] = {}
    for report in reports:
        for warning in report.warnings:
            whose.setdefault(warning, []).append(report.evaluator)
    for warning, names in whose.items():
        of = f" ({', '.join(names)})" if len(names) < len(reports) else ""
        say(_line(warning, locate) + of, err=True)


def refuse_count(count: int, left_undone: str) -> None:
    """Refuse warnings, for --strict.

    Args:
        count: Number of warnings that are not notes.
        left_undone: Completes 'nothing was ...', such as written.

    Raises:
        WarningsRefusedError: If there are any.
    """
    if count:
        message = (
            f"{counted(count, 'warning')}, which --strict makes errors; nothing was {left_undone}"
        )
        raise WarningsRefusedError(message)


def _line(warning: ReportWarning, locate: Locate | None) -> str:
    kind = "Note" if warning.is_note else "Warning"
    place = locate(warning.example) if locate and warning.example else ""
    return f"{kind}: {warning.count} x {warning.message}" + (f" [{place}]" if place else "")


def reports_to_csv(reports: Sequence[Report]) -> str:
    """CSV text of reports; an absent dimension is an empty cell, figures read back exactly."""
    rows = ((report.evaluator, *row) for report in reports for row in report.rows())
    return csv_text(COLUMNS, rows)


def write_reports(reports: Sequence[Report], wanted: Presentation) -> None:
    """Write reports; in JSON, a single one is an object, and several are an array.

    Their warnings go to standard error, whatever the format.

    Raises:
        WarningsRefusedError: If there are any, and they are errors; nothing is written then.
    """
    from vidscore_cli.report_parts import deliver_parts, report_parts
    from vidscore_evaluators.report import report_to_dict

    show_warnings_of(reports, wanted.locate)
    if wanted.strict:
        told = {warning for report in reports for warning in report.warnings}
        refuse_count(sum(not warning.is_note for warning in told), "written")
    if wanted.format == "json":
        documents = [report_to_dict(report) for report in reports]
        document = documents[0] if len(documents) == 1 else documents
        deliver_json(document, wanted.output)
    elif wanted.format == "csv":
        deliver(reports_to_csv(reports), wanted.output)
    else:
        deliver_parts(report_parts(reports, wanted.view), wanted.output, wanted.format)
