"""The JSON form of a report, and back, without loss.

Undefined scores are null, absent dimensions are null, counts are JSON integers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vidscore_evaluators.report import Block, Curve, Report, ReportWarning, Row, Scores


def report_to_dict(report: Report) -> dict[str, Any]:
    """A report as dictionaries, lists, texts and numbers, in a stable order."""
    return {
        "evaluator": report.evaluator,
        "version": report.version,
        "parameters": dict(report.parameters),
        "truth_digest": report.truth_digest,
        "detections_digest": report.detections_digest,
        "software": dict(report.software),
        "specification": dict(report.specification),
        "scores": [
            {
                "domain": row.domain,
                "label": row.class_,
                "sequence": row.sequence,
                "measure": row.measure,
                "value": row.value,
            }
            for row in report.rows()
        ],
        "curves": [
            {
                "domain": curve.domain,
                "label": curve.class_,
                "name": curve.name,
                "points": curve.points(),
            }
            for curve in report.curves
        ],
        "warnings": [
            {"code": warning.code, "message": warning.message, "count": warning.count}
            for warning in report.warnings
        ],
    }


def report_to_json(report: Report, indent: int | None = 2) -> str:
    """A report as JSON text; equal reports give equal text."""
    return json.dumps(report_to_dict(report), indent=indent, ensure_ascii=False, allow_nan=False)


def report_from_dict(document: Mapping[str, Any]) -> Report:
    """Inverse of `report_to_dict`.

    Raises:
        KeyError: If a key is missing.
    """
    return Report(
        evaluator=document["evaluator"],
        version=document["version"],
        parameters={
            name: tuple(value) if isinstance(value, list) else value
            for name, value in document["parameters"].items()
        },
        truth_digest=document["truth_digest"],
        detections_digest=document["detections_digest"],
        scores=Scores(
            blocks=tuple(_block(entry) for entry in document["scores"]),
            curves=tuple(_curve(entry) for entry in document["curves"]),
            warnings=tuple(ReportWarning(**entry) for entry in document["warnings"]),
        ),
        specification=document["specification"],
        software=document["software"],
    )


def row_block(row: Row) -> Block:
    """A block of one score."""
    return Block({row.measure: (row.value,)}, (row.domain,), (row.class_,), (row.sequence,))


def _label(entry: Mapping[str, Any]) -> str | None:
    """The label of a score or curve; reports from before version 0.1 call it ``class``."""
    label: str | None = entry["class"] if "class" in entry else entry["label"]
    return label


def _block(entry: Mapping[str, Any]) -> Block:
    places = (entry["domain"], _label(entry), entry["sequence"])
    return row_block(Row(*places, entry["measure"], entry["value"]))


def _curve(entry: Mapping[str, Any]) -> Curve:
    points = entry["points"]
    names = list(points[0]) if points else []
    columns = {name: tuple(point[name] for point in points) for name in names}
    return Curve(entry["name"], columns, entry["domain"], _label(entry))
