"""Log-average miss rate by hand, and against plain loops."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.evaluators.detection.oracle import cells_of, greedy, log_average_miss_rate

from vidscore_evaluators.annotations import BOX, FrameFlag
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

VIDEO = ("", "video")
HERE = (0.0, 0.0, 10.0, 10.0)
AWAY = (50.0, 0.0, 60.0, 10.0)


def score(
    truth: dict[int, list[Thing]], detections: dict[int, list[Thing]], **parameters: object
) -> Report:
    evaluator = create_evaluator("log-amr", parameters)
    return evaluator.report(
        evaluator.tally(
            make_annotations({VIDEO: truth}, arity=4),
            make_annotations({VIDEO: detections}, arity=4),
        )
    )


def test_nine_samples_by_hand() -> None:
    """Ten frames with an object each; four found before the first false positive, two after it.

    FPPI is 0 until the false positive and 0.1 after it. The five samples from 0.1 on see a miss
    rate of 0.4, the four below it one of 0.6.
    """
    truth = {frame: [Thing(HERE)] for frame in range(10)}
    detections = {frame: [Thing(HERE, confidence=0.9 - frame / 100)] for frame in range(6)}
    detections[9] = [Thing(AWAY, confidence=0.865)]
    report = score(truth, detections)
    assert report.value("log_amr") == pytest.approx((0.6**4 * 0.4**5) ** (1 / 9))
    curve = report.curve("miss_rate").points()
    assert (curve[0]["miss_rate"], curve[-1]["miss_rate"]) == (0.6, 0.4)
    recalls = [point["recall"] for point in report.curve("roc").points()]
    assert recalls == [pytest.approx(1 - (point["miss_rate"] or 0)) for point in curve]


def test_before_any_point_everything_is_missed() -> None:
    """Two false positives in one frame come first: FPPI 2 exceeds every sample."""
    false = [Thing(AWAY, confidence=0.9), Thing((80, 0, 90, 10), confidence=0.8)]
    report = score({0: [Thing(HERE)]}, {0: [*false, Thing(HERE, confidence=0.5)]})
    assert report.value("log_amr") == 1.0


def test_a_perfect_system_has_the_minimum_rate_and_no_truth_is_undefined() -> None:
    """1e-10 exactly, so that its logarithm is defined; null without objects."""
    assert score({0: [Thing(HERE)]}, {0: [Thing(HERE)]}).value("log_amr") == 1e-10
    assert score({0: []}, {0: [Thing(HERE)]}).value("log_amr") is None


def test_frames_without_the_class_dilute_false_alarms() -> None:
    """One false positive in 1 frame is FPPI 1; in 200 frames it is 0.005, below every sample."""
    found = [Thing(AWAY, confidence=0.9), Thing(HERE, confidence=0.5)]
    alone = score({0: [Thing(HERE)]}, {0: found}).value("log_amr")
    assert alone == pytest.approx(1e-10 ** (1 / 9))  # Only the last sample sees the hit.
    empty: dict[int, list[Thing]] = {frame: [] for frame in range(1, 200)}
    assert score({0: [Thing(HERE)], **empty}, {0: found}).value("log_amr") == 1e-10


@settings(max_examples=example_count(60), deadline=None)
@given(cases(Needs((BOX,), (BOX,), confidences=True)))
def test_log_average_miss_rate_is_that_of_plain_loops(scene: Case) -> None:
    """Every class over all domains, at every threshold of the grid."""
    evaluator = create_evaluator("log-amr")
    cells = cells_of(*scene)
    frames = int(((scene.truth.frame_flags & FrameFlag.DONT_CARE) == 0).sum())
    for value, scores in evaluator.grid_scores(evaluator.tally(*scene), "threshold").items():
        for row in (row for block in scores.blocks for row in block.rows()):
            if row.measure == "log_amr" and row.label and row.domain is None:
                own = [objects for cell, objects in cells.items() if cell[3] == row.label]
                found = [entry for objects in own for entry in greedy(objects, value)]
                truth = sum(len(objects.real) for objects in own)
                expected = log_average_miss_rate(found, truth, frames)
                if expected is None:
                    assert row.value is None
                else:
                    assert row.value == pytest.approx(expected, rel=1e-9)
