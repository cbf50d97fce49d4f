"""Ties by row, the first detections of a frame, weighted means and areas: small cases by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from vidscore_evaluators._dont_care import RULES
from vidscore_evaluators._scene_builder import make_scene
from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, ObjectFlag, Side
from vidscore_evaluators.detection._ranking import frame_ranks
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.outcome_table import Outcome
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.similarity import Similarity
from vidscore_evaluators.testing import Thing, make_annotations

VIDEO = ("", "video")
Box = tuple[float, float, float, float]
LEFT: Box = (0, 0, 10, 10)
RIGHT: Box = (100, 0, 110, 10)
FAR: Box = (500, 500, 510, 510)


def report_of(
    name: str,
    truth: dict[int, list[Thing]] | Annotations,
    found: dict[int, list[Thing]] | Annotations,
    **parameters: Any,
) -> Report:
    evaluator = create_evaluator(name, parameters)
    sides = [
        side if isinstance(side, Annotations) else make_annotations({VIDEO: side}, arity=4)
        for side in (truth, found)
    ]
    return evaluator.report(evaluator.tally(*sides))


def test_recall_is_that_of_the_most_confident_of_each_class() -> None:
    """The first detection of a class finds one of two objects; each class has its own first."""
    truth = {0: [Thing(LEFT, "a"), Thing(RIGHT, "a"), Thing(FAR, "b")]}
    found = {0: [Thing(RIGHT, "a", 0.5), Thing(LEFT, "a", 0.9), Thing(FAR, "b", 0.1)]}
    report = report_of("map", truth, found)
    assert report.value("ar_1", label="a") == 0.5
    assert report.value("ar_1", label="b") == 1.0
    assert report.value("ar_1") == 0.75
    assert report.value("ar_10") == report.value("ar_500") == 1.0


@pytest.mark.parametrize("limit", ["class", "frame"])
def test_each_domain_has_recalls_and_precisions_of_its_own(limit: str) -> None:
    """ "x" finds its object with the second detection, "y" with the first, "z" never."""
    sure, unsure = Thing(FAR, "a", 0.9), Thing(LEFT, "a", 0.5)
    by_domain = {"x": [sure, unsure], "y": [unsure], "z": [sure]}
    truth = make_annotations({(name, "s"): {0: [Thing(LEFT, "a")]} for name in by_domain}, arity=4)
    found = make_annotations({(name, "s"): {0: row} for name, row in by_domain.items()}, arity=4)
    report = report_of("map", truth, found, limit=limit, ties="row")
    expected = {"x": (0.5, 0.0, 1.0), "y": (1.0, 1.0, 1.0), "z": (0.0, 0.0, 0.0)}
    for domain, values in expected.items():
        for label in (None, "a"):
            names = ("ap", "ar_1", "ar_10")
            assert tuple(report.value(name, domain=domain, label=label) for name in names) == values
    assert (report.value("ar_1"), report.value("ar_10")) == (1 / 3, 2 / 3)


def test_recall_of_500_leaves_out_later_detections() -> None:
    """The 500th of a class in a frame finds one object, the 501st another."""
    truth = {0: [Thing(LEFT, "a"), Thing(RIGHT, "a")]}
    found = {0: [Thing(FAR, "a", 0.9)] * 499 + [Thing(LEFT, "a", 0.5), Thing(RIGHT, "a", 0.4)]}
    report = report_of("map", truth, found)
    assert (report.value("ar_100"), report.value("ar_500")) == (0.0, 0.5)


def test_recall_of_the_first_rows_of_a_frame_is_of_any_class() -> None:
    """`limit = frame`: the first row, which is not the most confident, is a "b"; no "a" counts."""
    truth = {0: [Thing(LEFT, "a"), Thing(FAR, "b")]}
    found = {0: [Thing(FAR, "b", 0.1), Thing(LEFT, "a", 0.9)]}
    report = report_of("map", truth, found, ties="row", limit="frame")
    assert (report.value("ar_1", label="a"), report.value("ar_1", label="b")) == (0.0, 1.0)
    assert report.value("ar_10") == 1.0


def test_a_limit_applies_to_the_matching_as_a_whole() -> None:
    """One row per frame: the second object is never found, in AP as in AR."""
    truth = {0: [Thing(LEFT, "a"), Thing(RIGHT, "a")]}
    found = {0: [Thing(LEFT, "a", 0.2), Thing(RIGHT, "a", 0.9)]}
    for limit in ("class", "frame"):
        report = report_of("map", truth, found, ties="row", limit=limit, maximum_detections=1)
        assert (report.value("ap"), report.value("ar_500")) == (0.5, 0.5)


def test_a_limit_is_of_each_class_or_of_the_rows_of_a_frame() -> None:
    """One detection: the most confident "a" and "b", or the first row, an unconfident "a"."""
    truth = {0: [Thing(LEFT, "a"), Thing(RIGHT, "a"), Thing(FAR, "b")]}
    found = {0: [Thing(LEFT, "a", 0.2), Thing(RIGHT, "a", 0.9), Thing(FAR, "b", 0.5)]}
    for limit, hits in (("class", [RIGHT, FAR]), ("frame", [LEFT])):
        rules = {"ties": "row", "limit": limit, "maximum_detections": 1}
        report = report_of("map", truth, found, **rules)
        expected = {"a": 0.5, "b": float(FAR in hits)}
        assert {label: report.value("ap", label=label) for label in "ab"} == expected
        table = create_evaluator("map", rules).outcomes(
            align(*(make_annotations({VIDEO: side}, arity=4) for side in (truth, found)))
        )
        matched = table.of_side(Side.DETECTIONS) & table.are(Outcome.TRUE_POSITIVE)
        places = [found[0][row].coordinates for row in table.rows[matched].tolist()]
        assert places == hits


def test_rows_that_a_region_removes_do_not_count_towards_the_limit() -> None:
    """The first row lies in a region, so the second is the first of the frame."""
    region = Thing((400, 400, 600, 600), "r", flags=ObjectFlag.REGION)
    truth = {0: [Thing(LEFT, "a"), region]}
    found = {0: [Thing(FAR, "a", 0.9), Thing(LEFT, "a", 0.5)]}
    rules = {"ties": "row", "limit": "frame"}
    assert report_of("map", truth, found, **rules).value("ar_1") == 0.0
    assert report_of("map", truth, found, dont_care="visdrone", **rules).value("ar_1") == 1.0


def test_a_mean_weighted_by_frames_counts_a_class_once_per_frame() -> None:
    """ "a" is in three frames and found, "b" in one and missed: 3/4 instead of 1/2."""
    truth = {
        0: [Thing(LEFT, "a"), Thing(FAR, "b"), Thing(RIGHT, "a")],
        1: [Thing(LEFT, "a")],
        2: [Thing(LEFT, "a")],
    }
    found = {
        frame: [replace(thing, confidence=0.5) for thing in things if thing.label == "a"]
        for frame, things in truth.items()
    }
    assert report_of("map", truth, found).value("ap") == 0.5
    weighted = report_of("map", truth, found, class_mean="frames")
    assert (weighted.value("ap"), weighted.value("ar_10")) == (0.75, 0.75)
    assert weighted.value("ap_m_partial") == 0.75


def test_a_frame_with_only_detections_of_a_class_has_no_weight() -> None:
    """ "a" is found in its one frame, "b" missed in its one and false in two others: 1/2."""
    truth: dict[int, list[Thing]] = {0: [Thing(LEFT, "a"), Thing(FAR, "b")], 1: [], 2: []}
    false = [Thing(RIGHT, "b", 0.5)]
    found = {0: [Thing(LEFT, "a", 0.5)], 1: false, 2: false}
    assert report_of("map", truth, found, class_mean="frames").value("ap") == 0.5


@pytest.mark.parametrize("name", ["map", "coco"])
def test_equal_confidences_are_ranked_by_frame_and_row(name: str) -> None:
    """A false detection before or after the true one, in its frame or an earlier one."""
    true, false = Thing(LEFT, "a", 0.5), Thing(FAR, "a", 0.5)
    truth: dict[int, list[Thing]] = {0: [], 1: [Thing(LEFT, "a")], 2: []}
    expected = {
        1.0: [{1: [true, false]}, {1: [true], 2: [false]}],
        0.5: [{1: [false, true]}, {0: [false], 1: [true]}],
    }
    for value, cases in expected.items():
        for found in cases:
            by_row = report_of(name, truth, found, ties="row")
            assert by_row.value("ap") == pytest.approx(value)
            assert report_of(name, truth, found).value("ap") == pytest.approx(0.5)


def test_among_equally_similar_objects_greedy_matching_takes_the_last_row() -> None:
    """The detection in the middle takes the later row, which leaves the other to the second one."""
    first, last = Thing((0, 0, 10, 10), "a"), Thing((4, 0, 14, 10), "a")
    found = {0: [Thing((2, 0, 12, 10), "a", 0.9), Thing((0, 0, 10, 10), "a", 0.8)]}
    values = [
        report_of("coco", {0: rows}, found, ties="row").value("ap_50")
        for rows in ([first, last], [last, first])
    ]
    assert values == [pytest.approx(1.0), pytest.approx(51 / 101)]


@pytest.mark.parametrize("name", ["map", "coco"])
def test_areas_are_those_of_a_column_on_request(name: str) -> None:
    """A box of 100 px^2 with a stated area of 100.05 has an IoU of 100 / 100.05 with itself."""
    truth = make_annotations({VIDEO: {0: [Thing(LEFT, "a")]}})
    found = make_annotations({VIDEO: {0: [Thing(LEFT, "a", 0.5)]}})
    found = replace(found, columns={"box_area": np.array([100.05])})
    for box_areas, expected in (("corners", 1.0), ("given", 0.0)):
        report = report_of(name, truth, found, box_areas=box_areas, thresholds=[1.0])
        assert report.value("ap") == pytest.approx(expected)
    unknown = replace(found, columns={"box_area": np.array([np.nan])})
    report = report_of(name, truth, unknown, box_areas="given", thresholds=[1.0])
    assert report.value("ap") == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["map", "coco"])
def test_a_stated_area_that_is_not_the_area_of_its_box_does_not_count(name: str) -> None:
    """A box of 100 x 100 around an object of 10 x 10 would have an IoU of 100 / 100 with it."""
    truth = make_annotations({VIDEO: {0: [Thing((50, 50, 60, 60), "a")]}})
    found = make_annotations({VIDEO: {0: [Thing((0, 0, 100, 100), "a", 0.5)]}})
    found = replace(found, columns={"box_area": np.array([100.0])})
    assert report_of(name, truth, found, box_areas="given").value("ap") == 0.0


@pytest.mark.parametrize("name", ["map", "coco"])
def test_an_unused_area_gives_a_warning_if_areas_are_used(name: str) -> None:
    """Of the areas of two boxes of 100 px^2, one is rounded and the other is wrong."""
    things = [Thing(LEFT, "a", 0.5), Thing((50, 60, 60, 50), "a", 0.5)]
    truth = make_annotations({VIDEO: {0: things}})
    found = replace(truth, columns={"box_area": np.array([100.05, 99.0])})
    warned = {
        box_areas: {
            (warning.code, warning.count)
            for warning in report_of(name, truth, found, box_areas=box_areas).warnings
            if warning.code == "areas_not_of_boxes"
        }
        for box_areas in ("given", "corners")
    }
    assert warned == {"given": {("areas_not_of_boxes", 1)}, "corners": set()}


def test_boxes_that_are_a_pixel_apart_touch_with_inclusive_pixels() -> None:
    """Columns 1 to 2 and 3 to 4 share none; 1 to 2 and 2 to 3 share one of three."""
    truth = {0: [Thing((1, 1, 2, 2), "a")]}
    for x1, value in ((3, 0.0), (2, 1.0)):
        found = {0: [Thing((x1, 1, x1 + 1, 2), "a", 0.5)]}
        report = report_of("map", truth, found, thresholds=[0.3], inclusive_pixels=True)
        assert report.value("ap") == value
        assert report_of("map", truth, found, thresholds=[0.3]).value("ap") == 0.0


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"inclusive_pixels": True, "base": "euclidean"}, "inclusive_pixels"),
        ({"inclusive_pixels": True, "box_areas": "given"}, "box_areas"),
        ({"limit": "frame"}, "limit"),
        ({"minimum_height_px": 5.0, "base": "euclidean"}, "minimum_height_px"),
        ({"thresholds": []}, "thresholds"),
    ],
)
def test_choices_that_exclude_each_other_are_refused(
    parameters: dict[str, Any], field: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        create_evaluator("map", parameters)
    assert [fault.field for fault in caught.value.faults] == [field]


@pytest.mark.parametrize("thresholds", [[], [0.5, 0.5], [0.0]])
def test_thresholds_of_coco_are_different_and_above_0(thresholds: list[float]) -> None:
    with pytest.raises(ParameterError):
        create_evaluator("coco", {"thresholds": thresholds})


def test_coco_without_a_half_has_no_ap_50() -> None:
    truth, found = {0: [Thing(LEFT, "a")]}, {0: [Thing(LEFT, "a", 0.5)]}
    report = report_of("coco", truth, found, thresholds=[0.6, 0.75])
    assert [report.value(name) for name in ("ap", "ap_50", "ap_75")] == [
        pytest.approx(1.0),
        None,
        pytest.approx(1.0),
    ]


def test_a_scene_without_the_order_of_rows_has_no_first_rows() -> None:
    side = make_annotations({VIDEO: {0: [Thing(LEFT, "a")]}})
    scene = make_scene(align(side, side), RULES["standard"], Similarity())
    with pytest.raises(ValueError, match="without the order of rows"):
        frame_ranks(scene)
