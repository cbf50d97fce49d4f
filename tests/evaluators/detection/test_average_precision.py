"""AP by hand, and against plain loops on scenes full of ties."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.detection.oracle import (
    Found,
    Objects,
    average_precision,
    best_sums,
    cells_of,
    greedy,
    mean_over_classes,
    solid_iou,
)

from vidscore_evaluators.annotations import BOX, QUADRILATERAL
from vidscore_evaluators.detection._outcomes import FALSE, NOT_COUNTED, TRUE
from vidscore_evaluators.detection._precision_recall import (
    Interpolation,
    average_precisions,
    ranked,
)
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

VIDEO = ("", "video")
BOXES = Needs((BOX, QUADRILATERAL), (BOX,), confidences=True)
UNIT_BOXES = replace(BOXES, unit_confidences=True)


def score(truth: list[Thing], detections: list[Thing], **parameters: object) -> Report:
    evaluator = create_evaluator("map", parameters)
    return evaluator.report(
        evaluator.tally(
            make_annotations({VIDEO: {0: truth}}), make_annotations({VIDEO: {0: detections}})
        )
    )


def area_under(
    steps: list[tuple[float, int, int]], truth: int, interpolation: Interpolation
) -> float | None:
    """AP of detections given as (confidence, outcome, count)."""
    confidences, outcomes, counts = (np.array(column) for column in zip(*steps, strict=True))
    found = ranked(confidences.astype(float), outcomes[:, np.newaxis].astype(np.int8), counts)
    [value] = average_precisions(found, [truth], interpolation)
    return value


# Precision, recall after each confidence, four objects: 1/1, 1/4; 1/2, 1/4; 2/3, 2/4; 3/5, 3/4.
STEPS = [(0.9, TRUE, 1), (0.8, FALSE, 1), (0.7, TRUE, 1), (0.6, TRUE, 1), (0.6, FALSE, 1)]


@pytest.mark.parametrize(
    ("interpolation", "expected"),
    [
        # 1/4 at 1, then 1/4 at 2/3, then 1/4 at 3/5.
        ("all-point", (1 + 2 / 3 + 3 / 5) / 4),
        # Recall levels 0, 0.1, 0.2 at 1; 0.3, 0.4, 0.5 at 2/3; 0.6, 0.7 at 3/5; the rest at 0.
        ("11-point", (3 * 1 + 3 * 2 / 3 + 2 * 3 / 5) / 11),
        # 0.00 to 0.25: 26 levels; 0.26 to 0.50: 25; 0.51 to 0.75: 25.
        ("101-point", (26 * 1 + 25 * 2 / 3 + 25 * 3 / 5) / 101),
    ],
)
def test_interpolations_by_hand(interpolation: Interpolation, expected: float) -> None:
    """Monotone precision, equal confidences in one step, each interpolation."""
    assert area_under(STEPS, 4, interpolation) == pytest.approx(expected, abs=1e-15)


def test_order_within_equal_confidences_does_not_matter() -> None:
    """A true and a false detection of one confidence are one step, whichever row is first."""
    assert area_under(STEPS[::-1], 4, "all-point") == area_under(STEPS, 4, "all-point")


def test_uncounted_detections_change_nothing() -> None:
    """Absorbed detections move no point of the curve."""
    with_absorbed = [(0.95, NOT_COUNTED, 5), *STEPS, (0.65, NOT_COUNTED, 1)]
    assert area_under(with_absorbed, 4, "all-point") == area_under(STEPS, 4, "all-point")


def test_exact_recall_levels_are_reached() -> None:
    """Three of ten objects reach the level 0.3 of the eleven, which is not exact in binary."""
    assert area_under([(0.9, TRUE, 3)], 10, "11-point") == pytest.approx(4 / 11)


def test_no_object_is_undefined_and_no_detection_is_zero() -> None:
    """Without truth AP is null; without detections it is 0."""
    assert area_under(STEPS, 0, "all-point") is None
    box = Thing((0, 0, 9, 9), "a")
    report = score([box], [Thing((0, 0, 9, 9), "b")])
    assert [report.value("ap", label=name) for name in ("a", "b", None)] == [0.0, None, 0.0]


def test_greedy_takes_the_most_similar_free_object() -> None:
    """The more confident detection takes the object that both want; the other one finds its own.

    Shifts of 1 and 3 px along boxes of 10 px: IoU 9/11 and 7/13; of 4: 6/14 < 0.5.
    """
    truth = [Thing((0, 0, 10, 10)), Thing((4, 0, 14, 10))]
    detections = [
        Thing((1, 0, 11, 10), confidence=0.9),
        Thing((0, 0, 10, 10), confidence=0.5),
    ]
    # The first takes x = 0 (9/11); the second wants it too (1), and 4 px away there is 6/14.
    assert score(truth, detections, thresholds=(0.5,)).value("ap") == 0.5
    # At 0.4 the second may have the other object.
    assert score(truth, detections, thresholds=(0.4,)).value("ap") == 1.0


def test_optimal_assignment_is_on_the_extended_similarity_and_so_is_its_threshold() -> None:
    """Figure 17: optimal assignment gives each its object; a confidence of 0.5 halves the IoU."""
    truth = [Thing((0, 0, 10, 10)), Thing((2, 0, 12, 10))]
    first, second = Thing((1.5, 0, 11.5, 10), confidence=1.0), Thing((2, 0, 12, 10), confidence=0.9)
    greedy_report = score(truth, [first, second], thresholds=(0.7,))
    optimal = score(truth, [first, second], thresholds=(0.7,), assignment="optimal")
    assert greedy_report.value("ap") == 0.5  # IoU of the second with x = 0 is 8/12.
    assert optimal.value("ap") == 1.0  # 8.5/11.5 and, extended by 0.9, 0.9.
    unsure = [Thing((0, 0, 10, 10), confidence=0.5)]
    assert score(truth[:1], unsure, thresholds=(0.55,), assignment="optimal").value("ap") == 0.0
    assert score(truth[:1], unsure, thresholds=(0.5,), assignment="optimal").value("ap") == 1.0


def test_curves_of_the_chosen_thresholds() -> None:
    """One of two objects found: precision 1 up to a recall of 0.5, and AP at every threshold."""
    truth = [Thing((0, 0, 10, 10)), Thing((50, 0, 60, 10))]
    report = score(truth, [Thing((0, 0, 8, 10), confidence=0.7)], thresholds=(0.75,))
    points = report.curve("precision_recall_75").points()
    assert [point["precision"] for point in points] == [1.0] * 51 + [0.0] * 50
    by_threshold = {p["threshold"]: p["ap"] for p in report.curve("ap_by_threshold").points()}
    assert (by_threshold[0.8], by_threshold[0.85]) == (0.5, 0.0)
    assert (report.value("ap_50"), report.value("ap_75"), report.value("ap")) == (0.5, 0.5, 0.5)
    # 0.05, ..., 0.8 of 0.05, ..., 0.95; 0.5, ..., 0.8 of 0.5, ..., 0.95.
    assert report.value("ap_m_full") == pytest.approx(0.5 * 16 / 19)
    assert report.value("ap_m_partial") == pytest.approx(0.5 * 7 / 10)


def test_at_least_one_threshold_is_needed() -> None:
    """An empty list of thresholds is refused by name."""
    with pytest.raises(ParameterError, match="thresholds"):
        create_evaluator("map", {"thresholds": ()})


@settings(max_examples=example_count(60), deadline=None)
@given(cases(BOXES))
def test_greedy_ap_is_that_of_plain_loops(scene: Case) -> None:
    """Mean AP at every threshold, with ignored objects and equal confidences."""
    evaluator = create_evaluator("map")
    cells = cells_of(*scene)
    for value, scores in evaluator.grid_scores(evaluator.tally(*scene), "thresholds").items():
        expected = mean_over_classes(cells, partial(greedy, threshold=value), average_precision)
        assert scores.blocks[0].measures["ap"][0] == pytest.approx(expected, abs=1e-12)


def optimal_outcomes(objects: Objects, threshold: float) -> list[list[Found]]:
    """Outcomes of each assignment with the maximum sum of extended similarities."""
    if not objects.real or not objects.detections:
        return [[Found(confidence, False) for confidence, _ in objects.detections]]
    table = [
        [solid_iou(real, box, confidence) for confidence, box in objects.detections]
        for real in objects.real
    ]
    options = []
    for matching in best_sums(table):
        true = {
            column for row, column in matching.items() if table[row][column] >= threshold - 1e-9
        }
        options.append(
            [
                Found(confidence, index in true)
                for index, (confidence, _) in enumerate(objects.detections)
            ]
        )
    return options


@settings(max_examples=example_count(60), deadline=None)
@given(cases(UNIT_BOXES, object_flags=(0,), labels=("a",)), st.sampled_from([0.1, 0.37, 0.66]))
def test_optimal_ap_is_that_of_one_of_the_optimal_assignments(
    scene: Case, threshold: float
) -> None:
    """AP of one of the assignments with the maximum sum, all cells together."""
    evaluator = create_evaluator("map", {"assignment": "optimal", "thresholds": (threshold,)})
    value = evaluator.report(evaluator.tally(*scene)).value("ap")
    cells = cells_of(*scene)
    truth = sum(len(objects.real) for objects in cells.values())
    options: list[list[Found]] = [[]]
    for objects in cells.values():
        more = {tuple(found) for found in optimal_outcomes(objects, threshold)}
        options = [[*before, *found] for before in options for found in more][:500]
    possible = {average_precision(found, truth) for found in options}
    if value is None:
        assert possible == {None}
    else:
        nearest = min(abs(Fraction(value) - (entry or 0)) for entry in possible)
        assert nearest < Fraction(1, 10**9)
