"""Common mistakes give a warning that names them; correct inputs give none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import (
    as_centres,
    as_sizes,
    confused,
    from_below,
    from_the_right,
    guessed,
    in_tower,
    joined,
    labelled,
    moved,
    moved_in_time,
    numbered,
    points_with_sizes,
    read_as_centres,
    read_as_sizes,
    renamed,
    scaled,
    some_labelled,
)
from tests.evaluators.plausibility.traffic import (
    HEIGHT,
    WIDTH,
    Columns,
    rows_where,
    traffic,
    with_boxes,
    without,
)

from vidscore_evaluators import score
from vidscore_evaluators.errors import GeometryError
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec

TRUTH, DETECTIONS = traffic()
IMAGES = BenchmarkSpec(
    sequences=tuple(
        SequenceSpec(name, frame_count=40, image_width=WIDTH, image_height=HEIGHT)
        for name in ("north", "south", "west")
    )
)

Sides = tuple[Columns, Columns]


def ordinary(change: Callable[[Columns], Columns]) -> Sides:
    return TRUTH, change(DETECTIONS)


def many_alarms() -> Sides:
    return traffic(alarms=3.0)


def best_of_each_frame() -> Columns:
    """The two most confident detections of each frame, as of a careful detector."""
    found = rows_where(DETECTIONS, DETECTIONS["confidence"] > 0.5)
    places = list(zip(found["sequence"], found["frame"], strict=True))
    return rows_where(found, [places[:row].count(place) < 2 for row, place in enumerate(places)])


def some_missing(columns: Columns) -> Columns:
    """Objects that come and go."""
    return rows_where(columns, np.random.default_rng(0).random(len(columns["frame"])) < 0.8)


WRONG: dict[str, tuple[str, Sides, str]] = {
    # ---- columns and labels
    "a column detection_score for confidence": (
        "map",
        ordinary(lambda side: renamed(side, confidence="detection_score")),
        "unused_column",
    ),
    "confidences that were not read": (
        "map",
        ordinary(lambda side: without(side, "confidence")),
        "equal_confidences",
    ),
    "Car for car": (
        "map",
        ordinary(lambda side: labelled(side, car="Car", bus="Bus")),
        "labels_written_otherwise",
    ),
    "blanks in labels": (
        "f1",
        (labelled(TRUTH, car="big car"), labelled(DETECTIONS, car="big_car")),
        "labels_written_otherwise",
    ),
    "integers against decimals": (
        "map",
        (
            labelled(TRUTH, car="1", bus="2"),
            labelled(DETECTIONS, car="1.0", bus="2.0"),
        ),
        "labels_written_otherwise",
    ),
    "numbers for names": (
        "map",
        ordinary(lambda side: side | {"class": np.where(side["class"] == "car", 1, 2)}),
        "no_label_in_common",
    ),
    "no labels on one side": (
        "coco",
        ordinary(lambda side: without(side, "class")),
        "no_label_in_common",
    ),
    "a label that is only detected, ospa": (
        "ospa",
        ordinary(lambda side: some_labelled(side, "ghost")),
        "labels_only_detected",
    ),
    "a label that is only detected, emd": (
        "emd",
        ordinary(lambda side: some_labelled(side, "ghost")),
        "labels_only_detected",
    ),
    "a label that is only detected, map": (
        "map",
        ordinary(lambda side: some_labelled(side, "ghost")),
        "labels_only_detected",
    ),
    "detections without a label among others": (
        "map",
        ordinary(lambda side: some_labelled(side, "")),
        "labels_only_detected",
    ),
    "labels exchanged": (
        "map",
        ordinary(lambda side: labelled(side, car="bus", bus="car")),
        "labels_mixed_up",
    ),
    "labels numbered from 1 on": (
        "map",
        (numbered(TRUTH), numbered(DETECTIONS, step=1)),
        "labels_mixed_up",
    ),
    "labels numbered from 1 on, by a criterion that matches once": (
        "f1",
        (numbered(TRUTH), numbered(DETECTIONS, step=1)),
        "labels_mixed_up",
    ),
    "every detection twice": (
        "f1",
        ordinary(lambda side: joined(side, side)),
        "detections_given_twice",
    ),
    "every detection twice, of many a frame": (
        "coco",
        (traffic(alarms=60.0)[0], joined(*[traffic(alarms=60.0)[1]] * 2)),
        "detections_given_twice",
    ),
    # ---- boxes
    "x, y, w, h as two corners": ("f1", ordinary(as_sizes), "reads_as_sizes"),
    "x, y, w, h in the truth": ("f1", (as_sizes(TRUTH), DETECTIONS), "reads_as_sizes"),
    "x, y, w, h on both sides": (
        "f1",
        (as_sizes(TRUTH), as_sizes(DETECTIONS)),
        "swapped_corners",
    ),
    "centre and size as two corners": ("map", ordinary(as_centres), "reads_as_centres"),
    "two corners as x, y, w, h": ("coco", ordinary(read_as_sizes), "reads_as_corners"),
    "two corners as centre and size": (
        "map",
        ordinary(read_as_centres),
        "reads_centres_as_corners",
    ),
    "y before x": (
        "map",
        ordinary(lambda side: with_boxes(side, *(side[name] for name in ("y1", "x1", "y2", "x2")))),
        "reads_rows_first",
    ),
    "y from below": ("map", ordinary(from_below), "reads_y_from_below"),
    "y from below, in the truth": ("map", (from_below(TRUTH), DETECTIONS), "reads_y_from_below"),
    "y from below, by a bad detector": (
        "map",
        (traffic(recall=0.4, alarms=4.0)[0], from_below(traffic(recall=0.4, alarms=4.0)[1])),
        "reads_y_from_below",
    ),
    "x from the right": ("f1", ordinary(from_the_right), "reads_x_from_the_right"),
    "x1, x2, y1, y2": (
        "map",
        ordinary(lambda side: with_boxes(side, *(side[name] for name in ("x1", "x2", "y1", "y2")))),
        "reads_pairs_first",
    ),
    "shares of the image": (
        "map",
        ordinary(lambda side: scaled(side, 1 / WIDTH, 1 / HEIGHT)),
        "reads_as_shares_of_the_image",
    ),
    "pixels of a smaller image": (
        "map",
        ordinary(lambda side: scaled(side, 1 / 3, 1 / 3)),
        "reads_at_another_scale",
    ),
    "corners swapped in many rows": (
        "map",
        ordinary(lambda side: with_boxes(side, *(side[name] for name in ("x2", "y1", "x1", "y2")))),
        "swapped_corners",
    ),
    "x, y, w, h read as points": (
        "spotgeo",
        (points_with_sizes(TRUTH), points_with_sizes(TRUTH)),
        "boxes_read_as_points",
    ),
    # ---- frames and sides
    "one frame late": ("map", ordinary(lambda side: moved(side, 1)), "reads_one_frame_earlier"),
    "one frame early": (
        "map",
        (moved(TRUTH, 1), DETECTIONS),
        "reads_one_frame_later",
    ),
    "one frame late, seen by its last frame": (
        "map",
        ordinary(lambda side: moved(side, 1)),
        "frames_not_evaluated",
    ),
    "frames in another order": ("map", ordinary(moved_in_time), "nothing_overlaps"),
    "sides swapped": ("map", (DETECTIONS, without(TRUTH, "confidence")), "sides_swapped"),
    "sides swapped, a criterion that ranks nothing": (
        "f1",
        (DETECTIONS, without(TRUTH, "confidence")),
        "sides_swapped",
    ),
    "truth with confidences": ("map", (DETECTIONS, DETECTIONS), "truth_with_confidences"),
    "a header without rows": (
        "map",
        ordinary(lambda side: rows_where(side, slice(0, 0))),
        "no_detections",
    ),
    "ground truth and detections that are headers without rows": (
        "f1",
        (rows_where(TRUTH, slice(0, 0)), rows_where(DETECTIONS, slice(0, 0))),
        "no_objects",
    ),
    "sides exchanged, without confidences": (
        "f1",
        (without(many_alarms()[1], "confidence"), many_alarms()[0]),
        "reads_sides_exchanged",
    ),
}


@pytest.mark.parametrize(("evaluator", "sides", "code"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_input_gives_a_warning(evaluator: str, sides: Sides, code: str) -> None:
    """The warning is there, has a count, and ends with advice."""
    report = score(evaluator, *sides)
    found = {warning.code: warning for warning in report.warnings}
    assert code in found
    assert found[code].count > 0
    what, advice = found[code].message.rsplit("; ", 1)
    assert what
    assert advice


def test_ground_truth_of_only_dont_care_frames_gives_a_warning() -> None:
    frames = FrameRanges(((0, 39),))
    entries = [SequenceSpec(name, dont_care_frames=frames) for name in ("north", "south", "west")]
    report = score("f1", TRUTH, DETECTIONS, specification=BenchmarkSpec(sequences=tuple(entries)))
    assert "no_objects" in [warning.code for warning in report.warnings]


def test_boxes_beyond_the_image_give_a_warning_if_its_size_is_known() -> None:
    moved_out = DETECTIONS | {"x1": DETECTIONS["x1"] + WIDTH, "x2": DETECTIONS["x2"] + WIDTH}
    report = score("map", TRUTH, moved_out, specification=IMAGES)
    [warning] = [entry for entry in report.warnings if entry.code == "beyond_image"]
    assert warning.count == len(DETECTIONS["frame"])
    assert "the first of them in frame 0 of sequence north" in warning.message


def bad_detector() -> Sides:
    """Finds a fifth, and nine of ten boxes are false."""
    return traffic(recall=0.2, alarms=9.0)


def without_south(columns: Columns) -> Columns:
    return rows_where(columns, columns["sequence"] != "south")


def still_traffic() -> Sides:
    return traffic(speed_px=0.0)


SILENT: dict[str, tuple[str, Sides]] = {
    "a good detector": ("map", (TRUTH, DETECTIONS)),
    "a good detector, by f1": ("f1", (TRUTH, DETECTIONS)),
    "a good detector, by coco": ("coco", (TRUTH, DETECTIONS)),
    "a good detector, by ospa": ("ospa", (TRUTH, DETECTIONS)),
    "a good detector, by neovision2": (
        "neovision2",
        (in_tower(TRUTH), in_tower(DETECTIONS)),
    ),
    "a bad detector": ("map", bad_detector()),
    "a bad detector, by coco": ("coco", bad_detector()),
    "a bad detector of things that stand still": (
        "map",
        traffic(recall=0.2, alarms=9.0, speed_px=0.0),
    ),
    "a very bad detector": ("map", traffic(recall=0.2, alarms=40.0, noise_px=8.0)),
    "an inexact detector": ("map", traffic(noise_px=15.0)),
    "a detector of many things": ("map", traffic(alarms=80.0, frames=10)),
    "a detector of one label of many": (
        "map",
        ordinary(lambda side: rows_where(side, side["class"] == "bus")),
    ),
    "a detector of small things among large ones": (
        "map",
        ordinary(lambda side: rows_where(side, side["x2"] - side["x1"] < 120)),
    ),
    "things that stand still": ("map", still_traffic()),
    "things that move fast": ("map", traffic(speed_px=30.0)),
    "a tracker without confidences": (
        "clear",
        ordinary(lambda side: without(side, "confidence")),
    ),
    "a tracker without confidences, by hota": (
        "hota",
        ordinary(lambda side: without(side, "confidence")),
    ),
    "a detector without confidences, by f1": (
        "f1",
        ordinary(lambda side: without(side, "confidence")),
    ),
    "perfect tracks": ("identity", (TRUTH, TRUTH)),
    "a sequence without detections": (
        "map",
        ordinary(lambda side: rows_where(side, side["sequence"] != "south")),
    ),
    "a sequence without objects": (
        "f1",
        (rows_where(TRUTH, TRUTH["sequence"] != "south"), without_south(DETECTIONS)),
    ),
    "sides that are not exchanged, without confidences": (
        "f1",
        (many_alarms()[0], without(many_alarms()[1], "confidence")),
    ),
    "a tracker of one object": (
        "f1",
        (some_missing(TRUTH), rows_where(TRUTH, TRUTH["track_id"] == 0)),
    ),
    "a steady detector of unsteady objects": ("f1", (some_missing(TRUTH), best_of_each_frame())),
    "objects and detections in one frame of many": (
        "map",
        (rows_where(TRUTH, slice(0, 5)), rows_where(DETECTIONS, slice(0, 4))),
    ),
    "numbers for labels": ("map", (numbered(TRUTH), numbered(DETECTIONS))),
    "a detector that guesses labels": ("map", (numbered(TRUTH), guessed(DETECTIONS))),
    "a detector that takes everything for one label": (
        "map",
        ordinary(lambda side: labelled(side, bus="car")),
    ),
    "a detector that confuses labels": (
        "map",
        ordinary(lambda side: confused(side, car="bus", bus="car")),
    ),
    "a detector that has one label for two": (
        "map",
        (numbered(TRUTH), numbered(DETECTIONS) | {"class": DETECTIONS["track_id"] % 5 // 2}),
    ),
    "two labels of each box": (
        "coco",
        ordinary(lambda side: joined(side, labelled(side, car="bus", bus="car"))),
    ),
    "all labels of each box": (
        "map",
        (numbered(TRUTH), joined(*(numbered(DETECTIONS, step=step) for step in range(5)))),
    ),
    "boxes near each other": (
        "map",
        ordinary(lambda side: joined(side, side | {"x1": side["x1"] + 0.5})),
    ),
    "labels exchanged where they are ignored": (
        "map-ignore",
        ordinary(lambda side: labelled(side, car="bus", bus="car")),
    ),
    "another case where labels are ignored": (
        "map-ignore",
        ordinary(lambda side: labelled(side, car="Car")),
    ),
    "other labels where labels are ignored": (
        "map-ignore",
        ordinary(lambda side: without(side, "class")),
    ),
    "a label that is only in the truth": (
        "map",
        (some_labelled(TRUTH, "tram"), DETECTIONS),
    ),
    "one swapped box": (
        "map",
        ordinary(
            lambda side: side
            | {
                "x1": np.concatenate([side["x2"][:1], side["x1"][1:]]),
                "x2": np.concatenate([side["x1"][:1], side["x2"][1:]]),
            }
        ),
    ),
    "a further column that resembles nothing": (
        "map",
        ordinary(lambda side: side | {"temperature": side["confidence"]}),
    ),
    "areas of boxes as a format gives them": (
        "map",
        ordinary(lambda side: side | {"box_area": side["confidence"]}),
    ),
    "vehicles in the middle of the image": (
        "map",
        traffic(vehicles=1, speed_px=1.0, recall=0.7, alarms=4.0),
    ),
    "a few frames": ("map", traffic(frames=2)),
    "a few frames of many alarms": ("map", traffic(frames=2, alarms=8.0)),
    "large vehicles": ("map", (scaled(TRUTH, 3, 3), scaled(DETECTIONS, 3, 3))),
    "one vehicle": ("map", traffic(vehicles=1, frames=10)),
    "every confidence the same but one": (
        "map",
        ordinary(
            lambda side: side
            | {"confidence": np.where(np.arange(len(side["frame"])) == 7, 0.5, 1.0)}
        ),
    ),
    "corners of a huge image": (
        "map",
        (scaled(TRUTH, 10, 10), scaled(DETECTIONS, 10, 10)),
    ),
    "shares of the image on both sides": (
        "map",
        (scaled(TRUTH, 1 / WIDTH, 1 / HEIGHT), scaled(DETECTIONS, 1 / WIDTH, 1 / HEIGHT)),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("evaluator", "sides"), SILENT.values(), ids=SILENT.keys())
def test_a_right_input_gives_no_warning(evaluator: str, sides: Sides) -> None:
    """There is no warning, except about frames with only detections, which the truth lacks."""
    name = evaluator.removesuffix("-ignore")
    parameters: dict[str, Any] = {"classes": "ignore"} if evaluator.endswith("-ignore") else {}
    found = [warning.code for warning in score(name, *sides, **parameters).warnings]
    assert set(found) <= {"frames_not_evaluated", "unevaluated_detections"}


def test_there_are_as_many_right_inputs_as_wrong_ones() -> None:
    assert len(SILENT) >= len(WRONG)


def test_a_good_detector_gives_no_warning_if_the_size_of_images_is_known() -> None:
    report = score("map", TRUTH, DETECTIONS, specification=IMAGES)
    assert [warning.code for warning in report.warnings] == []


def test_neovision2_names_the_labels_that_its_domain_does_not_score() -> None:
    count = len(TRUTH["frame"])
    tower = {"domain": np.full(count, "Tower")}
    found = some_labelled(TRUTH, "tram") | tower | {"confidence": np.linspace(0, 1, count)}
    report = score("neovision2", TRUTH | tower, found)
    [warning] = [entry for entry in report.warnings if entry.code == "unlisted_detections"]
    assert warning.message.endswith(f"tram ({warning.count})")


def test_detections_in_other_frames_are_named_by_their_first_frame() -> None:
    report = score("f1", TRUTH, moved(DETECTIONS, 1))
    [warning] = [entry for entry in report.warnings if entry.code == "frames_not_evaluated"]
    assert "the first of them in frame 40 of sequence" in warning.message


def test_boxes_that_are_refused_as_points_get_advice() -> None:
    points = renamed(without(as_sizes(DETECTIONS), "track_id"), x1="x", y1="y", x2="w", y2="h")
    with pytest.raises(GeometryError, match="give boxes as x1, y1, x2, y2, not as x, y, w, h"):
        score("map", TRUTH, points)


@pytest.mark.parametrize(
    ("wanted", "answered", "warned"), [(100, 4, 96), (100, 5, None), (99, 1, None), (100, 0, None)]
)
def test_detections_of_few_of_many_frames_are_taken_for_those_of_a_part(
    wanted: int, answered: int, warned: int | None
) -> None:
    """From 100 frames with objects on, if fewer than 5 % of them have a detection."""

    def boxes(frames: int) -> Columns:
        corners = {"x1": 10.0, "y1": 10.0, "x2": 30.0, "y2": 30.0}
        return {
            "sequence": np.full(frames, "north"),
            "frame": np.arange(frames),
            **{name: np.full(frames, value) for name, value in corners.items()},
        }

    report = score("f1", boxes(wanted), boxes(answered))
    found = {entry.code: entry for entry in report.warnings}
    warning = found.get("frames_without_detections")
    assert (warning and warning.count) == warned
    if warning:
        assert "of 100 frames with objects have no detection" in warning.message
