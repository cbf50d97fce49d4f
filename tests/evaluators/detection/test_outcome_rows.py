"""The outcome of each object and detection, in scenes worked out by hand.

Boxes are 10 x 10 at a height of 0, so the IoU of two at distance d is (10 - d) / (10 + d).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import ObjectFlag, Side
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.outcome_table import OUTCOMES, SIDES, OperatingPoint, Outcomes
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.testing import Thing, make_annotations

VIDEO = ("", "video")
FIRST = OperatingPoint()


class Told(NamedTuple):
    """The content of a row; the similarity has three decimals."""

    outcome: str
    partner: int | None = None
    similarity: float | None = None


FALSE, MISSED, IGNORED = Told("false_positive"), Told("false_negative"), Told("ignored")


def hit(partner: int, similarity: float = 1.0) -> Told:
    return Told("true_positive", partner, similarity)


def box(left: float, label: str = "a", confidence: float = 1.0, flags: int = 0) -> Thing:
    return Thing((left, 0.0, left + 10.0, 10.0), label, confidence, flags=flags)


def rows_of(table: Outcomes, side: Side) -> list[Told]:
    """The content of the rows of a side, in order."""
    own = table.take(table.of_side(side))
    names = [OUTCOMES[code].value for code in own.outcomes.tolist()]
    return [
        Told(name, *(() if partner < 0 else (partner, round(similarity, 3))))
        for name, partner, similarity in zip(
            names, own.partners.tolist(), own.similarities.tolist(), strict=True
        )
    ]


def told(
    evaluator: str | Evaluator[object],
    truth: Sequence[Thing],
    detections: Sequence[Thing],
    at: OperatingPoint = FIRST,
    **parameters: object,
) -> tuple[list[Told], list[Told]]:
    """The content of the rows of objects and detections of one frame."""
    if isinstance(evaluator, str):
        evaluator = create_evaluator(evaluator, parameters)
    table = evaluator.outcomes(
        align(
            make_annotations({VIDEO: {0: truth}}, arity=4),
            make_annotations({VIDEO: {0: detections}}, arity=4),
        ),
        at,
    )
    assert [SIDES[side] for side in table.sides.tolist()] == (
        [Side.TRUTH] * len(truth) + [Side.DETECTIONS] * len(detections)
    )
    return rows_of(table, Side.TRUTH), rows_of(table, Side.DETECTIONS)


ALL = ("f1", "map", "coco", "log-amr")

CROSSED = ([box(0), box(4)], [box(1.5, confidence=0.9), box(-2, confidence=0.8)])
"""IoU of the first detection: 0.739 and 0.6; of the second: 0.667 and 0.25."""


@pytest.mark.parametrize("name", ALL)
def test_pairs_misses_and_false_detections(name: str) -> None:
    """IoU 9/11 is a pair; an object alone is missed, and a detection alone false."""
    truth, detections = [box(0), box(50)], [box(100, confidence=0.5), box(1, confidence=0.9)]
    assert told(name, truth, detections) == ([hit(1, 0.818), MISSED], [FALSE, hit(0, 0.818)])


@pytest.mark.parametrize("name", ["map", "coco", "log-amr"])
def test_in_greedy_matching_the_more_confident_detection_chooses_first(name: str) -> None:
    """The first takes the object of the second; 0.25 is not a match."""
    assert told(name, *CROSSED) == ([hit(0, 0.739), MISSED], [hit(0, 0.739), FALSE])


def test_the_optimal_assignment_has_the_maximum_sum() -> None:
    """0.6 + 0.667 is more than 0.739 + 0.25."""
    assert told("f1", *CROSSED) == ([hit(1, 0.667), hit(0, 0.6)], [hit(1, 0.6), hit(0, 0.667)])


def test_an_assigned_pair_below_the_threshold_is_false_and_missed() -> None:
    """At 0.65 the pair of 0.6 is not a true positive, and each names the other."""
    truth, detections = told("f1", *CROSSED, OperatingPoint(threshold=0.65))
    assert truth == [hit(1, 0.667), Told("false_negative", 0, 0.6)]
    assert detections == [Told("false_positive", 1, 0.6), hit(0, 0.667)]


@pytest.mark.parametrize("name", ["map", "log-amr"])
def test_the_optimal_assignment_extends_boxes_by_confidences(name: str) -> None:
    """67.5 / (190 - 67.5) = 0.551 and 64 / (180 - 64) = 0.552 of the shared volumes."""
    found = told(name, *CROSSED, assignment="optimal")
    assert found == ([hit(1, 0.552), hit(0, 0.551)], [hit(1, 0.551), hit(0, 0.552)])


@pytest.mark.parametrize("name", ["map", "log-amr"])
def test_the_best_object_of_a_false_detection_is_its_partner(name: str) -> None:
    """Both overlap only the first object, which the more confident one already has."""
    truth, detections = told(name, *CROSSED, assignment="best")
    assert truth == [hit(0, 0.739), MISSED]
    assert detections == [hit(0, 0.739), Told("false_positive", 0, 0.667)]


def test_a_best_object_below_the_threshold_is_not_a_partner() -> None:
    assert told("map", [box(0)], [box(5)], assignment="best") == ([MISSED], [FALSE])


@pytest.mark.parametrize("name", ALL)
def test_an_ignored_object_absorbs_one_detection(name: str) -> None:
    """The more confident of its two detections is ignored."""
    ignored = box(0, flags=ObjectFlag.IGNORE)
    truth, detections = told(name, [ignored], [box(1, confidence=0.9), box(2, confidence=0.8)])
    assert truth == [IGNORED]
    assert detections == [Told("ignored", 0, 0.818), FALSE]


@pytest.mark.parametrize("name", ALL)
def test_a_crowd_absorbs_all_detections_that_lie_in_it(name: str) -> None:
    """The whole of the first, 6/10 of the second and nothing of the third lie in the crowd."""
    crowd = Thing((0, 0, 100, 10), "a", flags=ObjectFlag.CROWD)
    truth, detections = told(name, [crowd], [box(20), box(94, confidence=0.9), box(200)])
    assert truth == [IGNORED]
    assert detections == [Told("ignored", 0, 1.0), Told("ignored", 0, 0.6), FALSE]


@pytest.mark.parametrize("name", ALL)
def test_a_region_forgives_unmatched_detections(name: str) -> None:
    """In the region, objects are found as usual; a detection that finds none there is ignored."""
    region = Thing((0, 0, 100, 10), "a", flags=ObjectFlag.REGION)
    truth, detections = told(name, [region, box(0)], [box(50), box(0, confidence=0.9), box(200)])
    assert truth == [IGNORED, hit(1)]
    assert detections == [IGNORED, hit(1), FALSE]


@pytest.mark.parametrize("name", ALL)
def test_a_rule_that_removes_what_lies_in_regions_ignores_it(name: str) -> None:
    """By VisDrone's rule both sides are ignored in a region."""
    region = Thing((0, 0, 100, 10), "a", flags=ObjectFlag.REGION)
    truth, detections = told(name, [region, box(0), box(200)], [box(0)], dont_care="visdrone")
    assert (truth, detections) == ([IGNORED, IGNORED, MISSED], [IGNORED])


@pytest.mark.parametrize("name", ALL)
def test_a_rule_that_resolves_first_ignores_what_it_removes(name: str) -> None:
    """By MOTChallenge's rule a distractor's detection is removed before the matching."""
    truth, detections = told(
        name, [box(0, "static_person"), box(50)], [box(0), box(52)], dont_care="motchallenge"
    )
    assert (truth, detections) == ([IGNORED, hit(1, 0.667)], [IGNORED, hit(1, 0.667)])


@pytest.mark.parametrize("name", ALL)
def test_rows_that_the_specification_leaves_out_are_ignored(name: str) -> None:
    """Unscored labels, frames that the truth does not list, and don't-care frames."""
    evaluator = create_evaluator(name, {}, BenchmarkSpec(classes=("a",)))
    truth = make_annotations(
        {VIDEO: {0: [box(0), box(50, "b")], 1: [box(0)]}}, arity=4, dont_care=[(VIDEO, 1)]
    )
    detections = make_annotations({VIDEO: {0: [box(0, "b"), box(0)], 1: [box(0)], 2: [box(0)]}})
    table = evaluator.outcomes(align(truth, detections))
    assert rows_of(table, Side.TRUTH) == [hit(1), IGNORED, IGNORED]
    assert rows_of(table, Side.DETECTIONS) == [IGNORED, hit(0), IGNORED, IGNORED]


@pytest.mark.parametrize("name", ALL)
def test_labels_are_matched_separately_unless_they_are_ignored(name: str) -> None:
    truth, detections = [box(0, "a")], [box(0, "b")]
    assert told(name, truth, detections) == ([MISSED], [FALSE])
    assert told(name, truth, detections, classes="ignore") == ([hit(0)], [hit(0)])


@pytest.mark.parametrize("name", [*ALL, "errors"])
def test_detections_below_the_confidence_are_ignored(name: str) -> None:
    """An object that only such a detection finds is missed; the limit itself is enough."""
    truth = [box(0), box(50)]
    detections = [box(0, confidence=0.5), box(50, confidence=0.4), box(100, confidence=0.3)]
    at = OperatingPoint(confidence=0.5)
    assert told(name, truth, detections, at) == ([hit(0), MISSED], [hit(0), IGNORED, IGNORED])


def test_f1_matches_only_detections_above_the_confidence() -> None:
    """Without the second detection the first one's best is the first object."""
    found = told("f1", *CROSSED, OperatingPoint(confidence=0.85))
    assert found == ([hit(0, 0.739), MISSED], [hit(0, 0.739), IGNORED])


def test_a_point_of_a_curve_uses_the_matching_of_all_detections() -> None:
    """The curve of an optimal assignment uses one matching: the first stays with the second."""
    found = told("map", *CROSSED, OperatingPoint(confidence=0.85), assignment="optimal")
    assert found == ([MISSED, hit(0, 0.551)], [hit(1, 0.551), IGNORED])


@pytest.mark.parametrize("name", ["f1", "map", "log-amr"])
def test_at_the_minimum_similarity_everything_is_paired(name: str) -> None:
    """Far from everything, as many detections are true as there are objects."""
    truth, detections = [box(0), box(50)], [box(300), box(200, confidence=0.9), box(52)]
    found = told(name, truth, detections, OperatingPoint(threshold=0.0))
    assert [row.outcome for row in found[0]] == ["true_positive"] * 2
    assert [row.outcome for row in found[1]].count("true_positive") == 2
    assert {row.similarity for row in found[1]} <= {0.0, 0.667, None}


def test_the_rest_is_paired_in_order() -> None:
    """An overlap is assigned first; the other two of each side are paired by confidence."""
    truth = [box(0), box(50), box(100)]
    detections = [box(300, confidence=0.1), box(200, confidence=0.9), box(52)]
    found = told("f1", truth, detections, OperatingPoint(threshold=0.0))
    assert found[0] == [hit(1, 0.0), hit(2, 0.667), hit(0, 0.0)]
    assert found[1] == [hit(2, 0.0), hit(0, 0.0), hit(1, 0.667)]


def test_the_rest_is_paired_frame_by_frame() -> None:
    """Nothing overlaps: in each frame the most confident detection gets the first object."""
    truth = {0: [box(0), box(50)], 1: [box(0), box(50)]}
    found = {
        0: [box(300, confidence=0.1), box(200, confidence=0.9)],
        1: [box(300, confidence=0.8), box(200, confidence=0.2)],
    }
    sides = [make_annotations({VIDEO: side}, arity=4) for side in (truth, found)]
    at = OperatingPoint(threshold=0.0)
    table = create_evaluator("f1").outcomes(align(sides[0], sides[1]), at)
    expected = [hit(1, 0.0), hit(0, 0.0), hit(0, 0.0), hit(1, 0.0)]
    assert rows_of(table, Side.TRUTH) == rows_of(table, Side.DETECTIONS) == expected


@pytest.mark.parametrize("name", ["f1", "map", "log-amr", "errors"])
def test_points_have_a_distance(name: str) -> None:
    """3 px from an object that counts, 4 px from one that absorbs."""
    evaluator = create_evaluator(name, {"base": "euclidean"})
    truth = [Thing((0, 0)), Thing((100, 0), flags=ObjectFlag.IGNORE)]
    detections = [Thing((0, 3)), Thing((104, 0))]
    sides = [make_annotations({VIDEO: {0: things}}) for things in (truth, detections)]
    table = evaluator.outcomes(align(sides[0], sides[1]))
    assert np.isnan(table.similarities).all()
    assert table.distances_px[[0, 2, 3]].tolist() == [3.0, 3.0, 4.0]
    assert table.partners.tolist() == [0, -1, 0, 1]


def test_coco_ignores_the_detections_beyond_a_hundred() -> None:
    """A hundred more confident ones elsewhere, and the only object is missed."""
    detections = [box(0, confidence=0.1), *(box(20 * index) for index in range(1, 101))]
    truth, found = told("coco", [box(0)], detections)
    assert truth == [MISSED]
    assert found == [IGNORED, *[FALSE] * 100]


def test_coco_ignores_an_object_outside_all_area_ranges() -> None:
    huge = Thing((0, 0, 2e5, 1e5), "a")
    assert told("coco", [huge], [huge]) == ([IGNORED], [Told("ignored", 0, 1.0)])


def test_map_ignores_the_detections_beyond_its_maximum() -> None:
    detections = [box(0, confidence=0.1), box(20, confidence=0.9)]
    assert told("map", [box(0)], detections, maximum_detections=1) == ([MISSED], [IGNORED, FALSE])


def test_the_first_of_several_thresholds_is_used() -> None:
    """IoU 9/11 meets 0.6 and not 0.9."""
    scene = ([box(0)], [box(1)])
    assert told("map", *scene, thresholds=[0.9, 0.6]) == ([MISSED], [FALSE])
    assert told("map", *scene, thresholds=[0.6, 0.9]) == ([hit(0, 0.818)], [hit(0, 0.818)])
    at = OperatingPoint(threshold=0.9)
    assert told("map", *scene, at, thresholds=[0.6, 0.9]) == ([MISSED], [FALSE])


# --- errors ----------------------------------------------------------------------------------


def test_errors_names_the_target_of_each_mistake() -> None:
    """One of each kind, and one found; 4 px off is 6/14, too little; 8 px off is 2/18, still b."""
    truth = [box(0), box(100), box(200, "b"), box(300, "b")]
    detections = [
        box(0, confidence=0.9),
        box(1, confidence=0.8),
        box(104, confidence=0.7),
        box(201, confidence=0.6),
        box(308, confidence=0.5),
        box(400, confidence=0.4),
    ]
    expected_truth = [
        hit(0),
        Told("false_negative", 2, 0.429),
        Told("false_negative", 3, 0.818),
        MISSED,
    ]
    assert told("errors", truth, detections) == (
        expected_truth,
        [
            hit(0),
            Told("duplicate", 0, 0.818),
            Told("mislocalised", 1, 0.429),
            Told("misclassified", 2, 0.818),
            Told("mislocalised_and_misclassified", 3, 0.111),
            Told("background"),
        ],
    )


def test_an_object_names_the_most_confident_mistake_that_points_at_it() -> None:
    """A wrong class of 0.9 and poor localisations of 0.8 and 0.7 point at one object."""
    detections = [box(4, confidence=0.7), box(1, "b", 0.9), box(-4, confidence=0.8)]
    truth, found = told("errors", [box(0)], detections)
    assert truth == [Told("false_negative", 1, 0.818)]
    assert [row.outcome for row in found] == ["mislocalised", "misclassified", "mislocalised"]
    assert {row.partner for row in found} == {0}


def test_a_found_object_keeps_its_partner_although_mistakes_point_at_it() -> None:
    detections = [box(4, confidence=0.9), box(0, confidence=0.5)]
    assert told("errors", [box(0)], detections) == (
        [hit(1)],
        [Told("mislocalised", 0, 0.429), hit(0)],
    )


def test_errors_ignores_absorbed_forgiven_and_unconfident_detections() -> None:
    """An object at which only an unconfident detection points is missed."""
    truth = [
        box(0, flags=ObjectFlag.IGNORE),
        Thing((50, 0, 150, 10), "a", flags=ObjectFlag.REGION),
        box(200),
    ]
    detections = [box(1, confidence=0.9), box(80, confidence=0.9), box(204, confidence=0.3)]
    expected = [Told("ignored", 0, 0.818), IGNORED]
    pointed = Told("false_negative", 2, 0.429)
    assert told("errors", truth, detections) == (
        [IGNORED, IGNORED, pointed],
        [*expected, Told("mislocalised", 2, 0.429)],
    )
    assert told("errors", truth, detections, OperatingPoint(confidence=0.5)) == (
        [IGNORED, IGNORED, MISSED],
        [*expected, IGNORED],
    )


def test_errors_at_another_threshold() -> None:
    """6/14 is a match at 0.4."""
    found = told("errors", [box(0)], [box(4)], OperatingPoint(threshold=0.4))
    assert found == ([hit(0, 0.429)], [hit(0, 0.429)])


# --- shares, and valid points ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        ("f1", [1, 0, 1, 0]),
        ("map", [1, 0, 1, 0]),
        ("coco", [1, 0, 1, 0]),
        ("errors", [1, 0, 1, 0]),
        ("log-amr", [0, 1, 0, 1]),
    ],
)
def test_shares(name: str, shares: list[int]) -> None:
    """Pairs add to F1 and AP on both sides; misses and false detections to the miss rate."""
    truth = make_annotations({VIDEO: {0: [box(0), box(50)]}})
    detections = make_annotations({VIDEO: {0: [box(0), box(100)]}})
    table = create_evaluator(name).outcomes(align(truth, detections))
    assert table.shares.tolist() == shares


@pytest.mark.parametrize(
    ("name", "at", "message"),
    [
        ("f1", OperatingPoint(1.5), "at_threshold: found 1.5, expected at most 1"),
        ("map", OperatingPoint(-2), "at_threshold: found -2, expected at least -1"),
        ("coco", OperatingPoint(0.0), "at_threshold: found 0, expected more than 0"),
        ("log-amr", OperatingPoint(float("nan")), "at_threshold: found nan, expected a finite"),
        ("errors", OperatingPoint(0.05), "background_threshold: found 0.1, expected at most the"),
        ("f1", OperatingPoint(None, float("inf")), "at_confidence: found inf, expected a finite"),
    ],
)
def test_an_invalid_point_of_an_evaluator_is_refused(
    name: str, at: OperatingPoint, message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        told(name, [box(0)], [box(0)], at)


def test_both_faults_of_a_point_are_reported_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        told("f1", [box(0)], [box(0)], OperatingPoint(2.0, float("nan")))
    assert [fault.field for fault in caught.value.faults] == ["at_threshold", "at_confidence"]
