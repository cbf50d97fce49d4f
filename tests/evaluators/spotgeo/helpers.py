"""Short functions to score points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import make_annotations

Point = tuple[float, float]
Sequences = Mapping[str, Mapping[int, Sequence[Point]]]


def make_points(sequences: Sequences, domain: str = "") -> Annotations:
    """Points by sequence and frame."""
    return make_annotations(
        {(domain, name): dict(frames) for name, frames in sequences.items()}, arity=2
    )


def score(truth: Annotations, detections: Annotations, **parameters: object) -> Report:
    """Report of detections against truth."""
    evaluator = create_evaluator("spotgeo", parameters)
    return evaluator.report(evaluator.tally(truth, detections))


def score_frame(
    truth: Sequence[Point], detections: Sequence[Point], **parameters: object
) -> Report:
    """Report of one frame of one sequence."""
    return score(make_points({"s": {1: truth}}), make_points({"s": {1: detections}}), **parameters)


def values(report: Report, *measures: str, **of: Any) -> list[int | float | None]:
    """Some scores of a report."""
    return [report.value(measure, **of) for measure in measures]


def counts(report: Report, **of: Any) -> list[int | float | None]:
    """TP, FN and FP."""
    return values(report, "true_positives", "false_negatives", "false_positives", **of)
