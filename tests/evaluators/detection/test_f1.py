"""F1 by hand, on the paper's scenes, and against trying every assignment."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.evaluators.detection.oracle import Objects, best_sums, cells_of, iou

from vidscore_evaluators.annotations import BOX
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

VIDEO = ("", "video")


def score(truth: list[Thing], detections: list[Thing], **parameters: object) -> Report:
    arity = len((truth or detections or [Thing((0, 0, 0, 0))])[0].coordinates)
    evaluator = create_evaluator("f1", parameters)
    return evaluator.report(
        evaluator.tally(
            make_annotations({VIDEO: {0: truth}}, arity=arity),
            make_annotations({VIDEO: {0: detections}}, arity=arity),
        )
    )


def squares(count: int, shift_px: float = 0.0) -> list[Thing]:
    """10 x 10 squares, 30 px from one to the next, shifted to the left."""
    lefts = [30.0 * index - shift_px for index in range(count)]
    return [Thing((left, 0.0, left + 10, 10.0)) for left in lefts]


def narrowed(count: int, overlap: float) -> list[Thing]:
    """The same squares cut to a width that gives the stated IoU with the whole ones."""
    return [Thing((30.0 * index, 0.0, 30.0 * index + 10 * overlap, 10.0)) for index in range(count)]


@pytest.mark.parametrize(
    ("threshold", "a", "b", "c"),
    [(0.5, 1.0, 0.0, 0.0), (0.25, 1.0, 1.0, 2 / 3), (0.75, 1.0, 0.0, 0.0), (0.8, 0.0, 0.0, 0.0)],
)
def test_paper_figure_3(threshold: float, a: float, b: float, c: float) -> None:
    """A: three people at an IoU of 0.75; B: one at 0.3; C: B and a spurious detection.

    F1 never declares B to be better than A, or C better than B.
    """
    spurious = Thing((500, 500, 510, 510))
    found = [
        score(squares(3), narrowed(3, 0.75), threshold=threshold).value("f1"),
        score(squares(1), narrowed(1, 0.3), threshold=threshold).value("f1"),
        score(squares(1), [*narrowed(1, 0.3), spurious], threshold=threshold).value("f1"),
    ]
    assert found == [a, b, pytest.approx(c)]


def test_paper_figure_11_is_a_step() -> None:
    """2^k squares shifted by 2^(-k/2): 1 - F1 is 1 in scenarios 1 and 2, 0 in 3 to 10.

    The IoU is (10 - s)/(10 + s): 0.868, 0.905, 0.932, ...; a threshold of 0.92 lies between.
    """
    errors = []
    for scenario in range(1, 11):
        shifted = squares(2**scenario, 2 ** (-scenario / 2))
        value = score(squares(2**scenario), shifted, threshold=0.92).value("f1")
        assert value is not None
        errors.append(1 - value)
    assert errors == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_the_threshold_applies_after_a_single_assignment() -> None:
    """IoU 7/13 of one pair is less than 5/15 + 6/14 of two others, so those two are assigned.

    At 0.45 neither of them counts, although the pair of 7/13 would have.
    """
    first, second = Thing((0, 0, 10, 10)), Thing((8, 0, 18, 10))
    between, left = Thing((3, 0, 13, 10)), Thing((-4, 0, 6, 10))
    report = score([first, second], [between, left], threshold=0.45)
    assert report.value("true_positives") == 0
    report = score([first, second], [between, left], threshold=0.4)
    assert report.value("true_positives") == 1
    assert report.value("f1") == 0.5


def test_counts_ratios_and_means_by_hand() -> None:
    """Two of three found, one of the two well: P = 2/4, R = 2/3, F1 = 4/7 at 0.5."""
    detections = [*narrowed(1, 0.82), Thing((30, 0, 36, 10)), *squares(6)[4:]]
    report = score(squares(3), detections)
    assert (report.value("precision"), report.value("recall")) == (0.5, 2 / 3)
    assert report.value("f1") == 4 / 7
    # 0.5, 0.55, 0.6: both; 0.65, ..., 0.8: one; 0.85, 0.9, 0.95: none.
    assert report.value("f1_m_partial") == pytest.approx((3 * 4 / 7 + 4 * 2 / 7) / 10)
    # 0.05, ..., 0.6: both; 0.65, ..., 0.8: one; 0.85, 0.9, 0.95: none.
    assert report.value("f1_m_full") == pytest.approx((12 * 4 / 7 + 4 * 2 / 7) / 19)
    curve = report.curve("f1_by_threshold").points()
    assert curve[0] == {"threshold": 0.0, "f1": 6 / 7}  # min(3, 4) pairs, whatever their overlap.
    assert curve[16] == {"threshold": 0.8, "f1": 2 / 7}
    assert len(curve) == 21


def test_classes_are_pooled_and_averaged() -> None:
    """Class a: F1 1; class b: 0; c, which only the detections have, is a false positive."""
    truth = [Thing((0, 0, 9, 9), "a"), Thing((20, 0, 29, 9), "b")]
    detections = [Thing((0, 0, 9, 9), "a"), Thing((20, 0, 29, 9), "c")]
    report = score(truth, detections)
    assert (report.value("f1"), report.value("f1_class_mean")) == (0.5, 0.5)
    assert [report.value("f1", label=name) for name in "abc"] == [1.0, 0.0, 0.0]
    assert score(truth, detections, classes="ignore").value("f1") == 1.0


def test_empty_sets_are_equal() -> None:
    """Without truth and detections F1 is 1, and precision and recall are null."""
    report = score([], [])
    assert [report.value(name) for name in ("f1", "precision", "recall")] == [1.0, None, None]
    assert score([], squares(1)).value("f1") == score(squares(1), []).value("f1") == 0.0


def test_points_are_matched_within_the_cutoff() -> None:
    """Under a cut-off of 10 px a distance of 5 is a similarity of 0.5, one of 6 is less."""
    truth = [Thing((0.0, 0.0)), Thing((100.0, 0.0))]
    report = score(truth, [Thing((3.0, 4.0)), Thing((100.0, 6.0))], base="euclidean")
    assert report.value("true_positives") == 1


def test_confidences_count_on_request() -> None:
    """Algorithm 1: the same box with a confidence of 0.4 has a similarity of 0.4."""
    box = (0.0, 0.0, 10.0, 10.0)
    sides = [Thing(box)], [Thing(box, confidence=0.4)]
    assert score(*sides).value("f1") == 1.0
    assert score(*sides, confidence_extended=True).value("f1") == 0.0
    assert score(*sides, confidence_extended=True, threshold=0.4).value("f1") == 1.0


def possible_counts(objects: Objects, threshold: float) -> set[int]:
    """True positives at a threshold, of each assignment with the maximum sum."""
    boxes = [box for _, box in objects.detections]
    if not boxes or not objects.real:
        return {0}
    table = [[iou(real, box) for box in boxes] for real in objects.real]
    return {
        sum(table[row][column] >= threshold - 1e-9 for row, column in one.items())
        for one in best_sums(table)
    }


@settings(max_examples=example_count(60), deadline=None)
@given(cases(Needs((BOX,), (BOX,), confidences=True), object_flags=(0,)))
def test_counts_are_those_of_an_optimal_assignment(scene: Case) -> None:
    """At each threshold, the true positives of an assignment with the maximum sum of IoU."""
    evaluator = create_evaluator("f1", {"threshold": 0.3})
    cells = cells_of(*scene)
    for value, scores in evaluator.grid_scores(evaluator.tally(*scene), "threshold").items():
        counts = {0}
        for objects in cells.values():
            options = possible_counts(objects, value)
            counts = {before + more for before in counts for more in options}
        measures = scores.blocks[0].measures
        assert measures["true_positives"][0] in counts
        assert measures["false_negatives"][0] == (
            sum(len(objects.real) for objects in cells.values()) - measures["true_positives"][0]
        )


def test_a_curve_covers_everything_a_domain_or_a_class_but_no_single_sequence() -> None:
    """The object of one sequence is found, that of the other missed: F1 is 2/3 in all."""
    thing = Thing((0.0, 0.0, 10.0, 10.0), "car")
    truth = make_annotations({("d", "a"): {1: [thing]}, ("d", "b"): {1: [thing]}}, arity=4)
    found = make_annotations({("d", "a"): {1: [thing]}, ("d", "b"): {1: []}}, arity=4)
    evaluator = create_evaluator("f1")
    curves = evaluator.report(evaluator.tally(truth, found)).curves
    scopes = sorted((curve.domain or "", curve.label or "") for curve in curves)
    assert scopes == [("", ""), ("", "car"), ("d", ""), ("d", "car")]
    for curve in curves:
        values = dict(zip(*curve.columns.values(), strict=True))
        assert values[0.5] == pytest.approx(2 / 3)
