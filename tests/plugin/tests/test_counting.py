"""What a plug-in's author writes: the contract suite, and tests of the score."""

from __future__ import annotations

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.outcome_table import Outcome
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import EvaluatorContract, Thing, make_annotations


class TestCountError(EvaluatorContract):
    evaluator = create_evaluator("count_error")


class TestCountErrorOfTheSure(EvaluatorContract):
    evaluator = create_evaluator("count_error", {"confidence_threshold": 1.0})


def test_the_mean_is_taken_over_the_frames_of_the_truth() -> None:
    """Two of three found in one frame, one too many in the other: (1 + 1) / 2."""
    truth = make_annotations({("", "a"): {0: [(0, 0), (1, 1), (2, 2)], 1: []}})
    sure, unsure = Thing((0, 0), confidence=0.5), Thing((1, 1), confidence=0.4)
    detections = make_annotations({("", "a"): {0: [sure, sure, unsure], 1: [sure], 7: [sure]}})
    evaluator = create_evaluator("count_error")

    report = evaluator.report(evaluator.tally(truth, detections))

    assert report.value("count_error") == 1.0
    assert report.value("missing", domain="", sequence="a") == 1
    assert report.value("surplus") == 1
    assert report.value("frames") == 2


def test_missing_and_surplus_objects_are_reported_per_row() -> None:
    """Of three objects the last is missing; the one detection of the empty frame is surplus."""
    truth = make_annotations({("", "a"): {0: [(0, 0), (1, 1), (2, 2)], 1: []}})
    sure, unsure = Thing((0, 0), confidence=0.5), Thing((1, 1), confidence=0.4)
    detections = make_annotations({("", "a"): {0: [sure, unsure, sure], 1: [sure], 7: [sure]}})
    evaluator = create_evaluator("count_error")

    table = evaluator.outcomes(align(truth, detections))

    objects, found = (table.take(table.of_side(side)) for side in (Side.TRUTH, Side.DETECTIONS))
    assert objects.partners.tolist() == [0, 2, -1]
    assert objects.are(Outcome.FALSE_NEGATIVE).tolist() == [False, False, True]
    assert found.partners.tolist() == [0, -1, 1, -1, -1]
    assert found.are(Outcome.FALSE_POSITIVE).tolist() == [False, False, False, True, False]
    assert found.are(Outcome.IGNORED).tolist() == [False, True, False, False, True]
    assert evaluator.outcome_figures(table) == {
        "frames": 2,
        "missing": 1,
        "surplus": 1,
        "count_error": 1.0,
    }
