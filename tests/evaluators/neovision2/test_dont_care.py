"""Don't-care frames, objects and regions (section 3.7), worked by hand."""

from __future__ import annotations

import pytest
from tests.evaluators.neovision2.helpers import (
    FAR,
    TEN,
    car,
    counts,
    points,
    region,
    score,
    score_corners,
    score_frame,
    spared,
    video,
    warned,
)

from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec
from vidscore_evaluators.testing import Thing

# --- frames --------------------------------------------------------------------------------------


def test_a_dont_care_frame_is_left_out_of_every_count() -> None:
    truth = video({0: [car(*TEN)], 1: [car(*TEN)]}, dont_care=[1])
    report = score(truth, video({0: [], 1: [car(*FAR), car(*TEN)]}))
    assert counts(report) == (1, 0, 0)
    assert report.value("evaluated_frames", domain="Tower", label="Car") == 1
    assert warned(report) == {"dont_care_frames": 1, "detections_in_dont_care_frames": 2}


def test_a_sequence_of_dont_care_frames_has_undefined_scores_and_counts_of_0() -> None:
    report = score(video({0: [car(*TEN)]}, dont_care=[0]), video({0: []}))
    of = {"domain": "Tower", "label": "Car", "sequence": "001"}
    assert counts(report, sequence="001") == (0, 0, 0)
    assert report.value("nmotda", **of) is None
    assert report.value("evaluated_frames", **of) == 0
    assert report.value("weighted_mean_nmotda") is None


# --- objects -------------------------------------------------------------------------------------


def test_a_dont_care_object_is_not_ground_truth_and_removes_a_detection() -> None:
    assert counts(score_frame([spared(*TEN)], [car(*TEN)])) == (0, 0, 0)
    assert counts(score_frame([spared(*TEN)], [])) == (0, 0, 0)


def test_it_removes_one_detection_only() -> None:
    assert counts(score_frame([spared(*TEN)], [car(*TEN), car(*TEN)])) == (0, 0, 1)


@pytest.mark.parametrize("label", ["Car", "Truck", "Ambiguous", "Unheard-of"])
def test_its_label_does_not_matter_and_it_removes_one_detection_in_each_class(label: str) -> None:
    detections = [Thing(TEN, "Car"), Thing(TEN, "Bus"), Thing(TEN, "Bus")]
    report = score_frame([spared(*TEN, label=label)], detections)
    assert counts(report, "Car") == (0, 0, 0)
    assert counts(report, "Bus") == (0, 0, 1)
    assert "unlisted_objects" not in warned(report)


def test_real_objects_come_first() -> None:
    """Both detections fit the real object, one of them the don't-care object too: none is false."""
    truth = [car(0, 0, 10, 10), spared(5, 0, 15, 10)]
    detections = [car(0, 0, 10, 10), car(4, 0, 14, 10)]
    assert counts(score_frame(truth, detections)) == (1, 1, 0)


def test_a_detection_between_both_is_a_true_positive() -> None:
    report = score_frame([spared(*TEN), car(*TEN)], [car(*TEN)])
    assert counts(report) == (1, 1, 0)


def test_the_removed_detection_may_change_with_the_threshold() -> None:
    """The most confident detection fits both. Alone it is a true positive; when one comes that fits
    only the real object, the first goes to the don't-care object; a third one is false.
    """
    truth = [car(0, 0, 10, 10), spared(5, 0, 15, 10)]
    detections = [
        car(3, 0, 13, 10, confidence=0.9),
        car(-2, 0, 8, 10, confidence=0.7),
        car(-2, 0, 8, 10, confidence=0.5),
    ]
    curve = points(score_frame(truth, detections))
    assert [curve[t] for t in (0.95, 0.85, 0.65, 0.45)] == [(0, 0), (1, 0), (1, 0), (1, 1)]


def test_it_takes_part_in_the_detection_only_score_unmerged() -> None:
    """It overlaps the real object by a half, and is not merged with it: one object; one of two
    detections far from each other is true, the other is removed.
    """
    truth = [car(0, 0, 10, 10), spared(0, 0, 10, 20)]
    detections = [Thing((0, 0, 10, 9), "Car"), Thing((0, 10, 10, 20), "Bus")]
    assert counts(score_frame(truth, detections), None) == (1, 1, 0)


# --- regions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "left_out"),
    [
        pytest.param(2.0, False, id="20 % exactly stays"),
        pytest.param(2.0 + 1e-9, False, id="so does what rounding could have made more"),
        pytest.param(2.001, True, id="more goes"),
    ],
)
def test_a_detection_with_more_than_a_fifth_inside_is_removed(width: float, left_out: bool) -> None:
    report = score_frame([region(0, 0, width, 10)], [car(*TEN)])
    assert counts(report) == (0, 0, int(not left_out))
    assert warned(report) == ({"detections_in_regions": 1} if left_out else {})


def test_adjacent_regions_act_as_one() -> None:
    """15 % in each: neither alone, but both together remove the detection."""
    beside = [region(0, 0, 1.5, 10), region(1.5, 0, 3, 10)]
    assert counts(score_frame(beside, [car(*TEN)])) == (0, 0, 0)


def test_an_area_that_two_regions_cover_counts_once() -> None:
    twice = [region(0, 0, 1.5, 10), region(0, 0, 1.5, 10)]
    assert counts(score_frame(twice, [car(*TEN)])) == (0, 0, 1)


def test_an_annotated_object_inside_is_removed_too() -> None:
    report = score_frame([car(*TEN), car(*FAR), region(0, 0, 5, 10)], [])
    assert counts(report) == (1, 0, 0)
    assert warned(report)["objects_in_regions"] == 1


def test_a_dont_care_object_inside_removes_nothing() -> None:
    """The detection has a tenth inside and stays; the don't-care object has a fourth."""
    truth = [spared(0, 0, 4, 10), region(0, 0, 1, 10)]
    assert counts(score_frame(truth, [car(0, 0, 10, 10)])) == (0, 0, 1)


def test_regions_come_before_matching() -> None:
    """The detection would have matched the object, which is outside."""
    truth = [car(2, 0, 12, 10), region(0, 0, 3, 10)]
    assert counts(score_frame(truth, [car(0, 0, 10, 10)])) == (1, 0, 0)


def test_the_share_is_a_parameter() -> None:
    inside = [region(0, 0, 5, 10)]
    assert counts(score_frame(inside, [car(*TEN)], region_share=0.5)) == (0, 0, 1)
    assert counts(score_frame(inside, [car(*TEN)], region_share=0.49)) == (0, 0, 0)


def test_a_region_holds_for_its_own_frame_only() -> None:
    truth = video({0: [region(*TEN)], 1: []})
    assert counts(score(truth, video({0: [car(*TEN)], 1: [car(*TEN)]}))) == (0, 0, 1)


def test_a_box_without_area_is_never_inside() -> None:
    report = score_frame([region(*TEN)], [car(5, 5, 5, 8)])
    assert counts(report) == (0, 0, 1)


def test_a_crossed_region_is_replaced_by_its_hull_with_a_warning() -> None:
    """The two triangles of the bow tie have half of its hull, which is TEN."""
    bow_tie = Thing((0, 0, 10, 10, 10, 0, 0, 10), "", flags=ObjectFlag.REGION)
    detection = Thing((0, 0, 10, 0, 10, 3, 0, 3), "Car")
    report = score_corners([bow_tie], [detection], region_share=0.9)
    assert counts(report) == (0, 0, 0)
    assert warned(report) == {"crossed_regions": 1, "detections_in_regions": 1}


def test_a_rotated_region_keeps_its_corners() -> None:
    """The diamond covers half of its envelope."""
    diamond = Thing((5, 0, 10, 5, 5, 10, 0, 5), "", flags=ObjectFlag.REGION)
    detection = Thing((0, 0, 10, 0, 10, 10, 0, 10), "Car")
    assert counts(score_corners([diamond], [detection], region_share=0.5)) == (0, 0, 1)
    assert counts(score_corners([diamond], [detection], region_share=0.49)) == (0, 0, 0)


# --- which frames are evaluated ------------------------------------------------------------------


def test_detections_in_frames_that_the_truth_does_not_list_are_not_scored() -> None:
    report = score(video({0: [], 5: []}), video({0: [], 3: [car(*TEN)], 7: [car(*TEN)]}))
    assert counts(report) == (0, 0, 0)
    assert report.value("evaluated_frames", domain="Tower", label="Car") == 2
    assert warned(report) == {"unevaluated_detections": 2}


def test_all_frames_up_to_the_last_listed_one_can_be_evaluated() -> None:
    report = score(
        video({2: [car(*TEN)], 5: []}),
        video({0: [car(*TEN)], 3: [car(*TEN)], 7: [car(*TEN)]}),
        frames="all",
    )
    assert counts(report) == (1, 0, 2)
    assert report.value("evaluated_frames", domain="Tower", label="Car") == 6
    assert warned(report) == {"unevaluated_detections": 1}


def test_dont_care_frames_are_left_out_of_all_frames_too() -> None:
    """0..5 without 1, which the truth marks, and 2..3, which the specification marks."""
    truth = video({1: [car(*TEN)], 5: []}, dont_care=[1])
    specification = BenchmarkSpec(
        sequences=(SequenceSpec("001", "Tower", dont_care_frames=FrameRanges(((2, 3), (6, 9)))),)
    )
    detections = video({1: [car(*TEN)], 3: [car(*TEN)], 4: [car(*TEN)], 6: [car(*TEN)]})
    report = score(truth, detections, specification, frames="all")
    assert report.value("evaluated_frames", domain="Tower", label="Car") == 3
    assert counts(report) == (0, 0, 1)
    assert warned(report) == {
        "dont_care_frames": 3,
        "detections_in_dont_care_frames": 2,
        "unevaluated_detections": 1,
    }


def test_the_specifications_own_frames_override_all_frames() -> None:
    specification = BenchmarkSpec(
        sequences=(SequenceSpec("001", "Tower", frames=FrameRanges(((4, 5),))),)
    )
    report = score(video({4: [], 5: []}), video({0: [car(*TEN)]}), specification, frames="all")
    assert report.value("evaluated_frames", domain="Tower", label="Car") == 2


def test_a_specification_can_name_the_first_of_all_frames() -> None:
    specification = BenchmarkSpec(sequences=(SequenceSpec("001", "Tower", first_frame=1),))
    report = score(video({3: []}), video({0: [car(*TEN)]}), specification, frames="all")
    assert report.value("evaluated_frames", domain="Tower", label="Car") == 3
    assert counts(report) == (0, 0, 0)


def test_an_enormous_frame_number_costs_no_memory() -> None:
    last = 2**53 - 1
    report = score(video({last: []}), video({}), frames="all")
    assert report.value("evaluated_frames", domain="Tower", label="Car") == last + 1
