"""Write final reports in the form and to the place that the user wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vidscore_cli.output import deliver, deliver_json, deliver_table
from vidscore_cli.report_csv import reports_to_csv
from vidscore_cli.report_table import View, report_renderables
from vidscore_cli.warning_lines import Locate, refuse_warnings, show_warnings_of
from vidscore_evaluators.report import Report, report_to_dict


@dataclass(frozen=True)
class Presentation:
    """How reports are wanted.

    Attributes:
        format: ``table``, ``json`` or ``csv``.
        output: Path of a file, or "-".
        view: What a table shows.
        strict: Whether warnings are errors.
        locate: Says where the frames stand that warnings name.
    """

    format: str
    output: str
    view: View
    strict: bool = False
    locate: Locate | None = None


def write_reports(reports: Sequence[Report], wanted: Presentation) -> None:
    """Write reports; as JSON, one alone is the object and several are an array.

    Their warnings go to standard error, whatever the format.

    Raises:
        WarningsRefusedError: If there are any, and they are errors; nothing is written then.
    """
    show_warnings_of(reports, wanted.locate)
    if wanted.strict:
        refuse_warnings([warning for report in reports for warning in report.warnings])
    if wanted.format == "json":
        documents = [report_to_dict(report) for report in reports]
        document = documents[0] if len(documents) == 1 else documents
        deliver_json(document, wanted.output)
    elif wanted.format == "csv":
        deliver(reports_to_csv(reports), wanted.output)
    else:
        deliver_table(report_renderables(reports, wanted.view), wanted.output)
