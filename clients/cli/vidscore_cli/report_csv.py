"""Reports as tidy CSV: one score a line, undefined scores empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from vidscore_evaluators.report import Report

COLUMNS = ("evaluator", "domain", "class", "sequence", "measure", "value")


def reports_to_csv(reports: Sequence[Report]) -> str:
    """CSV text of reports; an absent dimension is an empty cell, figures read back exactly."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((report.evaluator, *row) for report in reports for row in report.rows())
    return text.getvalue()
