"""Scores as a table, for both samples."""

from __future__ import annotations

from collections.abc import Iterable

from vidscore_client import Report

HEADER = ("DOMAIN", "CLASS", "MEASURE", "VALUE")


def print_scores(reports: Iterable[Report]) -> None:
    """Print the scores over all sequences."""
    for report in reports:
        rows = [
            (
                row.domain or "-",
                row.label or "-",
                row.measure,
                "undefined" if row.value is None else f"{row.value}",
            )
            for row in report.rows()
            if row.sequence is None
        ]
        widths = [max(map(len, column)) for column in zip(HEADER, *rows, strict=True)]
        for cells in (HEADER, *rows):
            print("  ".join(map(str.ljust, cells, widths)).rstrip())
