"""The input of a criterion: groups, canonical order, and each benchmark's don't-care rule."""

from __future__ import annotations

import numpy as np
import pytest

from vidscore_evaluators import score
from vidscore_evaluators._dont_care import RULES
from vidscore_evaluators._scene_builder import Classes, make_scene
from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.scene import Items, Scene
from vidscore_evaluators.similarity import Similarity
from vidscore_evaluators.specification import BenchmarkSpec, DomainSpec
from vidscore_evaluators.testing import Thing, make_annotations, shuffled

VIDEO = ("", "video")
HERE = (0.0, 0.0, 10.0, 10.0)
NEAR = (1.0, 0.0, 11.0, 10.0)  # IoU with HERE: 90 / 110
BESIDE = (50.0, 0.0, 60.0, 10.0)
QUARTER_IN = (7.5, 0.0, 17.5, 10.0)  # A quarter of it is inside HERE.


def scene_of(
    truth: Annotations | list[Thing],
    detections: Annotations | list[Thing],
    preset: str = "standard",
    classes: Classes = "separate",
    specification: BenchmarkSpec = BenchmarkSpec(),
    resolve_first: bool = False,
) -> Scene:
    sides = [
        make_annotations({VIDEO: {0: side}}, arity=4) if isinstance(side, list) else side
        for side in (truth, detections)
    ]
    return make_scene(
        align(*sides),
        RULES[preset],
        Similarity(),
        classes=classes,
        specification=specification,
        resolve_first=resolve_first,
    )


def corners(items: Items) -> list[tuple[float, ...]]:
    return [tuple(row) for row in items.coordinates.tolist()]


def test_groups_are_frames_and_classes() -> None:
    """Two frames with cars and a bus in one of them make three groups, sorted."""
    truth = make_annotations(
        {VIDEO: {1: [Thing(HERE, "car"), Thing(HERE, "bus")], 0: [Thing(BESIDE, "car")]}}
    )
    detections = make_annotations({VIDEO: {1: [Thing(NEAR, "car", 0.5)]}})
    scene = scene_of(truth, detections)
    assert scene.classes == ("bus", "car")
    assert scene.frame_numbers.tolist() == [0, 1]
    assert list(zip(scene.group_frames, scene.group_classes, strict=True)) == [
        (0, 1),
        (1, 0),
        (1, 1),
    ]
    assert scene.truth.counts.tolist() == [1, 1, 1]
    assert scene.detections.groups.tolist() == [2]


def test_ignoring_classes_gives_one_group_per_frame() -> None:
    """With classes ignored, a frame's car and bus are in one group of one nameless class."""
    scene = scene_of(
        [Thing(HERE, "car"), Thing(BESIDE, "bus")], [Thing(HERE, "dog")], classes="ignore"
    )
    assert (scene.classes, scene.group_count, len(scene.truth)) == (("",), 1, 2)


def test_order_within_a_group_depends_on_content_alone() -> None:
    """Descending confidence, then coordinates: shuffled rows give the same scene."""
    things = [
        Thing((x, 0, x + 5, 5), "car", s) for x, s in [(3, 0.5), (1, 0.9), (2, 0.5), (0, 0.1)]
    ]
    truth = make_annotations({VIDEO: {0: things}})
    expected = [1, 2, 3, 0]
    for seed in range(5):
        scene = scene_of(truth, shuffled(truth, seed))
        assert scene.detections.coordinates[:, 0].tolist() == expected
        assert scene.detections.ranks.tolist() == [0, 1, 2, 3]


def test_quadrilaterals_become_their_envelopes() -> None:
    """A diamond around (5, 5) becomes the box from 0 to 10."""
    truth = make_annotations({VIDEO: {0: [(5, 0, 10, 5, 5, 10, 0, 5)]}})
    scene = scene_of(truth, [Thing(HERE)])
    assert corners(scene.truth) == [HERE]
    assert scene.truth.areas.tolist() == [100.0]


def test_the_area_column_replaces_the_box_area() -> None:
    """An object's own area counts if it has one."""
    scene = scene_of([Thing(HERE, columns={"area": 42.0}), Thing(BESIDE)], [])
    assert scene.truth.areas.tolist() == [42.0, 100.0]


def test_unscored_rows_are_left_out_and_counted() -> None:
    """Frames that the truth lacks, don't-care frames, and classes not listed for the domain."""
    truth = make_annotations({VIDEO: {0: [Thing(HERE, "car")], 1: []}}, dont_care=[(VIDEO, 1)])
    detections = make_annotations(
        {VIDEO: {0: [Thing(HERE, "cat"), Thing(HERE, "car")], 1: [(0, 0, 1, 1)], 2: [(0, 0, 1, 1)]}}
    )
    specification = BenchmarkSpec(domains=(DomainSpec("", ("car",)),))
    scene = scene_of(truth, detections, specification=specification)
    assert (scene.frame_count, len(scene.detections)) == (1, 1)
    assert scene.left_out == {
        "frames_not_evaluated": 1,
        "detections_in_dont_care_frames": 1,
        "classes_not_scored": 1,
    }


def test_listed_classes_are_compared_case_insensitively() -> None:
    specification = BenchmarkSpec(domains=(DomainSpec("", ("CAR",)),))
    scene = scene_of([Thing(HERE, "Car")], [Thing(HERE, "Car", 0.9)], specification=specification)
    assert (len(scene.truth), len(scene.detections), scene.left_out) == (1, 1, {})


@pytest.mark.parametrize("preset", RULES)
def test_without_flags_every_preset_sees_the_same(preset: str) -> None:
    """Rules differ only in what flags do."""
    scene = scene_of([Thing(HERE, "a")], [Thing(NEAR, "a"), Thing(BESIDE, "b")], preset)
    assert (len(scene.truth), len(scene.detections), len(scene.absorbers)) == (1, 2, 0)
    assert not scene.forgiven.any()
    assert scene.left_out == {}


@pytest.mark.parametrize(
    ("preset", "labels"), [("standard", ["a"]), ("coco", ["a"]), ("neovision2", ["a", "b"])]
)
def test_ignored_objects_absorb_in_the_classes_of_the_rule(preset: str, labels: list[str]) -> None:
    """In general their own class; any class under Neovision2's rule."""
    ignored = Thing(HERE, "a", flags=ObjectFlag.IGNORE)
    scene = scene_of([ignored], [Thing(NEAR, "a"), Thing(NEAR, "b")], preset)
    assert [scene.classes[scene.group_classes[g]] for g in scene.absorbers.groups] == labels
    assert len(scene.truth) == 0
    assert not scene.absorbs_many.any()


def test_distractors_absorb_in_every_class_with_detections() -> None:
    """A flagged distractor is once in each group of its frame that has detections."""
    distractor = Thing(HERE, "a", flags=ObjectFlag.DISTRACTOR)
    scene = scene_of([distractor], [Thing(NEAR, "b"), Thing(NEAR, "c")])
    assert scene.absorbers.groups.tolist() == scene.detections.groups.tolist()


def test_crowds_absorb_many() -> None:
    """A crowd absorbs any number of detections of its class."""
    scene = scene_of([Thing(HERE, "a", flags=ObjectFlag.CROWD)], [Thing(NEAR, "a")])
    assert scene.absorbs_many.tolist() == [True]


def test_regions_forgive_or_remove() -> None:
    """A quarter inside: nothing at the threshold of a half, removed at Neovision2's fifth."""
    region = Thing(HERE, flags=ObjectFlag.REGION)
    deep, quarter = Thing((2, 0, 12, 10), confidence=0.9), Thing(QUARTER_IN, confidence=0.5)
    standard = scene_of([region], [deep, quarter])
    assert standard.forgiven.tolist() == [True, False]
    neovision2 = scene_of([region, Thing(QUARTER_IN)], [deep, quarter], "neovision2")
    assert (len(neovision2.detections), len(neovision2.truth)) == (0, 0)
    assert neovision2.left_out == {"in_regions": 2}


def test_motchallenge_first_removes_detections_matched_with_distractors() -> None:
    """Of two detections on a person and a reflection, the better one keeps the person.

    IoU of the detections with the person: 1 and 90/110; with the reflection: 90/110 and 1.
    """
    truth = [Thing(HERE, "pedestrian"), Thing(NEAR, "reflection")]
    detections = [Thing(HERE, "pedestrian", 0.1), Thing(NEAR, "pedestrian", 0.9)]
    scene = scene_of(truth, detections, "motchallenge")
    assert (corners(scene.truth), corners(scene.detections)) == ([HERE], [HERE])
    assert scene.left_out == {"dont_care": 1}


def test_motchallenge_keeps_a_detection_that_is_not_similar_enough_to_a_distractor() -> None:
    """An IoU of 25/175 is below 0.5, so the detection stays."""
    truth = [Thing(HERE, "reflection")]
    scene = scene_of(truth, [Thing(QUARTER_IN, "pedestrian")], "motchallenge")
    assert len(scene.detections) == 1


def test_kitti_treats_vans_as_cars_and_forgives_unmatched_detections_in_a_region() -> None:
    """A car found on a van or alone is removed; one on a car stays even inside a region."""
    truth = [
        Thing(HERE, "Car"),
        Thing(BESIDE, "Van"),
        Thing((0, 0, 40, 40), "DontCare", flags=ObjectFlag.REGION),
    ]
    detections = [Thing(HERE, "Car"), Thing(BESIDE, "Car"), Thing((20, 20, 30, 30), "Car")]
    scene = scene_of(truth, detections, "kitti")
    assert corners(scene.detections) == [HERE]
    assert "Van" not in {scene.classes[index] for index in scene.group_classes}


@pytest.mark.parametrize("name", ["clear", "hota", "f1", "map", "ospa"])
def test_a_report_of_the_kitti_preset_says_that_the_rule_is_incomplete(name: str) -> None:
    """Its warning says how far published trackers are off; other presets have none."""
    truth = make_annotations({("", "s"): {0: [Thing(HERE, "Car", track_id=1)]}})
    for preset, warned in (("kitti", ["rule_incomplete"]), ("motchallenge", [])):
        report = score(name, truth, truth, dont_care=preset)
        assert [warning.code for warning in report.warnings] == warned
        assert all("5 points" in warning.message for warning in report.warnings)


def test_a_criterion_without_a_threshold_sees_only_remaining_truth_and_detections() -> None:
    """Decided first: one detection is absorbed, one forgiven in a region, one lies in a crowd."""
    truth = [
        Thing(HERE, "a"),
        Thing(BESIDE, "a", flags=ObjectFlag.IGNORE),
        Thing((100, 0, 200, 100), "a", flags=ObjectFlag.CROWD),
        Thing((300, 0, 400, 100), flags=ObjectFlag.REGION),
    ]
    detections = [
        Thing(box, "a")
        for box in (NEAR, BESIDE, (110, 0, 120, 10), (130, 0, 140, 10), (310, 0, 320, 10))
    ]
    scene = scene_of(truth, detections, resolve_first=True)
    assert (corners(scene.truth), corners(scene.detections)) == ([HERE], [NEAR])
    assert (len(scene.absorbers), scene.forgiven.any()) == (0, np.False_)
    assert scene.left_out == {"dont_care": 4}
