"""Reports as tidy CSV: one score a line, undefined scores empty."""

from __future__ import annotations

from collections.abc import Sequence

from vidscore_cli.output import csv_text
from vidscore_evaluators.report import Report

COLUMNS = ("evaluator", "domain", "label", "sequence", "measure", "value")


def reports_to_csv(reports: Sequence[Report]) -> str:
    """CSV text of reports; an absent dimension is an empty cell, figures read back exactly."""
    rows = ((report.evaluator, *row) for report in reports for row in report.rows())
    return csv_text(COLUMNS, rows)
