"""Write final reports in the form and to the place that the user wants."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from vidscore_cli.output import deliver, deliver_table
from vidscore_cli.report_csv import reports_to_csv
from vidscore_cli.report_table import View, report_renderables
from vidscore_evaluators.report import Report
from vidscore_evaluators.report_json import report_to_dict


@dataclass(frozen=True)
class Presentation:
    """How reports are wanted.

    Attributes:
        format: ``table``, ``json`` or ``csv``.
        output: Path of a file, or "-".
        view: What a table shows.
    """

    format: str
    output: str
    view: View


def write_reports(reports: Sequence[Report], wanted: Presentation) -> None:
    """Write reports; as JSON, one alone is the object and several are an array."""
    if wanted.format == "json":
        documents = [report_to_dict(report) for report in reports]
        document = documents[0] if len(documents) == 1 else documents
        deliver(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False), wanted.output)
    elif wanted.format == "csv":
        deliver(reports_to_csv(reports), wanted.output)
    else:
        deliver_table(report_renderables(reports, wanted.view), wanted.output)
