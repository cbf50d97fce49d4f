"""Short functions to score boxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Number, Report
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.testing import Thing, make_annotations

TEN = (0.0, 0.0, 10.0, 10.0)
"""A box of 100 square pixels."""

FAR = (500.0, 500.0, 510.0, 510.0)
"""A box that is far from it."""

Frames = Mapping[int, Sequence[Thing]]


def car(*coordinates: float, confidence: float = 1.0) -> Thing:
    return Thing(coordinates, "Car", confidence=confidence)


def spared(*coordinates: float, label: str = "Car") -> Thing:
    """A don't-care object."""
    return Thing(coordinates, label, flags=ObjectFlag.IGNORE)


def region(*coordinates: float) -> Thing:
    """A don't-care region."""
    return Thing(coordinates, "DCR", flags=ObjectFlag.REGION)


def video(frames: Frames, *, dont_care: Iterable[int] = (), domain: str = "Tower") -> Annotations:
    """One sequence, "001", of upright boxes."""
    key = (domain, "001")
    left_out = [(key, number) for number in dont_care]
    return make_annotations({key: dict(frames)}, arity=4, dont_care=left_out)


def score(
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec = BenchmarkSpec(),
    **parameters: Any,
) -> Report:
    """Report of detections against truth."""
    evaluator = create_evaluator("neovision2", parameters, specification)
    return evaluator.report(evaluator.tally(truth, detections))


def score_frame(truth: Sequence[Thing], detections: Sequence[Thing], **parameters: Any) -> Report:
    """Report of one frame of a tower sequence."""
    return score(video({0: truth}), video({0: detections}), **parameters)


def score_corners(truth: Sequence[Thing], detections: Sequence[Thing], **parameters: Any) -> Report:
    """Report of one frame of a tower sequence, of objects with four corners."""
    key = ("Tower", "001")
    sides = [make_annotations({key: {0: side}}, arity=8) for side in (truth, detections)]
    return score(sides[0], sides[1], **parameters)


def counts(report: Report, label: str | None = "Car", **of: Any) -> tuple[Number, ...]:
    """Ground-truth objects, true positives and false positives of a class, or detection-only."""
    prefix = "" if label else "detection_only_"
    of = {"domain": "Tower"} | of
    return tuple(
        report.value(f"{prefix}{name}", label=label, **of)
        for name in ("ground_truth_objects", "true_positives", "false_positives")
    )


def warned(report: Report) -> dict[str, int]:
    """How often each warning of the evaluator applies, by its code, without input warnings."""
    doubts = {"equal_confidences", "no_detections", "no_label_in_common", "no_objects"}
    found = {warning.code: warning.count for warning in report.warnings}
    return {code: count for code, count in found.items() if code not in doubts}


def points(report: Report, label: str | None = "Car") -> dict[Number, tuple[Number, Number]]:
    """True and false positives at each threshold of a curve."""
    return {
        point["threshold"]: (point["true_positives"], point["false_positives"])
        for point in report.curve("roc", domain="Tower", label=label).points()
    }
