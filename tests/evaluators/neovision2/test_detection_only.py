"""The detection-only score (section 3.3): labels ignored, boxes merged; worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluators.neovision2.helpers import FAR, TEN, car, counts, points, score_frame, spared

from vidscore_evaluators.neovision2 import detection_only
from vidscore_evaluators.testing import Thing
from vidscore_evaluators.testing.examples import example_count


def test_labels_are_ignored() -> None:
    report = score_frame([car(*TEN)], [Thing(TEN, "Person")])
    assert counts(report, None) == (1, 1, 0)
    assert counts(report, "Person") == (0, 0, 1)


def test_objects_of_unscored_labels_take_part() -> None:
    report = score_frame([Thing(TEN, "Unheard-of")], [Thing(TEN, "DCR"), Thing(FAR, "DCF")])
    assert counts(report, None) == (1, 1, 1)


def test_one_box_with_two_labels_is_one_detection() -> None:
    report = score_frame([car(*TEN)], [Thing(TEN, "Car"), Thing(TEN, "Truck")])
    assert counts(report, None) == (1, 1, 0)


def test_the_same_flat_box_twice_is_one_false_positive() -> None:
    report = score_frame([], [car(5, 5, 5, 9), car(5, 5, 5, 9)])
    assert counts(report, None) == (0, 0, 1)


def test_one_box_annotated_twice_is_one_object() -> None:
    """Its left and right half each cover enough of it: one is found, the other is false."""
    halves = [car(0, 0, 5, 10), car(5, 0, 10, 10)]
    report = score_frame([car(*TEN), Thing(TEN, "Truck")], halves)
    assert counts(report, None) == (1, 1, 1)


def test_ground_truth_is_merged_like_detections() -> None:
    """Two cars that overlap by a third are one object; one detection around both is right."""
    truth = [car(0, 0, 10, 10), car(5, 0, 15, 10)]
    report = score_frame(truth, [car(0, 0, 15, 10)])
    assert counts(report, None) == (1, 1, 0)
    assert counts(report, "Car") == (2, 1, 0)


def test_boxes_that_overlap_by_exactly_a_fifth_stay_two() -> None:
    assert counts(score_frame([car(0, 0, 6, 10), car(4, 0, 10, 10)], []), None) == (2, 0, 0)
    assert counts(score_frame([car(0, 0, 6, 10), car(3.9, 0, 9.9, 10)], []), None) == (1, 0, 0)


def test_the_overlap_threshold_applies_to_merging_too() -> None:
    truth = [car(0, 0, 10, 10), car(5, 0, 15, 10)]
    assert counts(score_frame(truth, [], overlap_threshold=0.33), None) == (1, 0, 0)
    assert counts(score_frame(truth, [], overlap_threshold=0.34), None) == (2, 0, 0)


@pytest.mark.parametrize(("merged_shape", "expected"), [("box", (1, 1, 0)), ("union", (1, 0, 1))])
def test_a_union_is_less_than_its_enclosing_box(
    merged_shape: str, expected: tuple[int, ...]
) -> None:
    """Two detections of 25 share 9 in a corner of each: enclosed 49, united 41. The object of
    12 in an empty corner shares 12 of 49 with the box, and 8 of 45 with the union."""
    detections = [car(0, 0, 5, 5), car(2, 2, 7, 7)]
    report = score_frame([car(4, 0, 7, 4)], detections, merged_shape=merged_shape)
    assert counts(report, None) == expected


def test_a_dont_care_object_is_not_merged_with_a_real_one() -> None:
    report = score_frame([car(*TEN), spared(*TEN)], [car(*TEN), car(0, 0, 10, 9)])
    assert counts(report, None) == (1, 1, 0)
    report = score_frame([car(*TEN), spared(*TEN)], [])
    assert counts(report, None) == (1, 0, 0)


def test_a_merged_detection_has_the_confidence_of_its_most_confident_member() -> None:
    report = score_frame([car(*TEN)], [car(*TEN, confidence=0.3), car(*TEN, confidence=0.9)])
    curve = points(report, None)
    assert [curve[t] for t in (0.95, 0.85, 0.25)] == [(0, 0), (1, 0), (1, 0)]


def test_merging_is_repeated_at_each_threshold() -> None:
    """The most confident box is right by itself. The next one makes it a box of 300, of which the
    object is a tenth; both are then one false positive. The last one is false by itself.
    """
    truth = [car(0, 0, 10, 3)]
    detections = [
        car(0, 0, 10, 5, confidence=0.9),
        car(0, 0, 10, 16, confidence=0.7),
        car(*FAR, confidence=0.5),
    ]
    curve = points(score_frame(truth, detections), None)
    assert [curve[t] for t in (0.95, 0.85, 0.65, 0.45)] == [(0, 0), (1, 0), (0, 1), (0, 2)]


def test_boxes_merged_in_a_smaller_set_may_stay_apart_in_a_larger_one() -> None:
    """a and b share 9 of 41 and make a box of 49, and c shares 12 of that. With d, which shares
    25 of 60 with a, they make a box of 84: 12 of it is no fifth, and c stays outside."""
    detections = [
        car(0, 0, 5, 5, confidence=0.9),
        car(2, 2, 7, 7, confidence=0.8),
        car(4, 0, 7, 4, confidence=0.7),
        car(0, 0, 5, 12, confidence=0.6),
    ]
    curve = points(score_frame([], detections), None)
    assert [curve[t] for t in (0.85, 0.75, 0.65, 0.55)] == [(0, 1), (0, 1), (0, 1), (0, 2)]


def test_detections_below_the_score_threshold_are_not_merged() -> None:
    truth = [car(0, 0, 10, 3)]
    detections = [car(0, 0, 10, 5, confidence=0.9), car(0, 0, 10, 16, confidence=0.7)]
    report = score_frame(truth, detections, confidence_threshold=0.8)
    assert counts(report, None) == (1, 1, 0)
    assert counts(score_frame(truth, detections), None) == (1, 0, 1)


number = st.integers(0, 12).map(float)
side = st.integers(1, 5).map(float)
things = st.lists(
    st.builds(
        lambda x, y, w, h, sure: car(x, y, x + w, y + h, confidence=sure),
        *(number, number, side, side),
        st.sampled_from((0.1, 0.3, 0.5, 0.7, 0.9)),
    ),
    max_size=8,
)


@settings(max_examples=example_count(30))
@given(truth=things, detections=things)
def test_chunks_of_any_size_give_the_same_scores(
    truth: list[Thing], detections: list[Thing]
) -> None:
    """Copies of blocks are processed one chunk at a time, which must not affect the scores."""
    whole = score_frame(truth, detections, thresholds="all")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detection_only, "SHAPES_PER_CHUNK", 1)
        assert score_frame(truth, detections, thresholds="all").scores == whole.scores
