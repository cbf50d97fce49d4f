"""Random boxes, and displaced boxes, fit no other interpretation."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import height_first, scaled, shifted
from tests.evaluators.plausibility.traffic import (
    BOX,
    HEIGHT,
    WIDTH,
    Columns,
    rows_where,
    traffic,
    with_boxes,
    without,
)

from vidscore_evaluators import score


def anywhere(columns: Columns, largest: float, seed: int) -> Columns:
    """Boxes of any place and size in the image, in the frames of the given columns."""
    random = np.random.default_rng(seed)
    count = len(columns["frame"])
    halves = random.uniform(0.01, largest, (2, count)) * [[WIDTH / 2], [HEIGHT / 2]]
    across, down = random.uniform(0, 1, (2, count)) * [[WIDTH], [HEIGHT]]
    box = (across - halves[0], down - halves[1], across + halves[0], down + halves[1])
    return with_boxes(columns, *(values.clip(0, 1920) for values in box))


@pytest.mark.slow
@pytest.mark.parametrize("largest", [0.2, 0.5, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("swapped", [False, True])
def test_random_boxes_fit_no_other_interpretation(largest: float, seed: int, swapped: bool) -> None:
    """Larger boxes overlap by chance more often, in any two frames."""
    sides = [scaled(side, 0.4, 0.4) for side in traffic(seed=seed, vehicles=8)]
    truth, detections = sides[0], anywhere(sides[1], largest, seed)
    if swapped:
        truth, detections = anywhere(sides[0], largest, seed), sides[1]
    found = [warning.code for warning in score("map", truth, detections).warnings]
    assert not [code for code in found if code.startswith("reads_")]


@pytest.mark.parametrize("names", [("van", "lorry"), ("Car", "Bus"), (1, 2)])
def test_labels_that_the_truth_lacks_are_not_reported_as_mixed_up(
    names: tuple[str | int, str | int],
) -> None:
    """They have warnings of their own."""
    truth, detections = traffic()
    others = detections | {"class": np.where(detections["class"] == "car", *names)}
    found = [warning.code for warning in score("map", truth, others).warnings]
    assert len(found) == 1
    assert found[0] in {"no_label_in_common", "labels_written_otherwise"}


MOVED: dict[str, tuple[Columns, Columns]] = {
    "several vehicles": traffic(),
    "one vehicle": traffic(vehicles=1),
    "one thing that stands still": traffic(vehicles=1, speed_px=0.0, alarms=0.0),
}


@pytest.mark.parametrize("sides", MOVED.values(), ids=MOVED.keys())
@pytest.mark.parametrize("by", [(0.0, 200.0), (0.0, -300.0), (250.0, 0.0)])
def test_displaced_boxes_are_not_reported_as_mirrored(
    sides: tuple[Columns, Columns], by: tuple[float, float]
) -> None:
    """A stationary object is as far from its displaced place as from its mirrored place."""
    found = [warning.code for warning in score("map", sides[0], shifted(sides[1], *by)).warnings]
    assert not {"reads_y_from_below", "reads_x_from_the_right"}.intersection(found)


@pytest.mark.parametrize("by", [(-40.0, -20.0), (0.0, 140.0), (300.0, -200.0)])
@pytest.mark.parametrize("speed_px", [0.0, 12.0])
@pytest.mark.parametrize("points", [False, True])
def test_detections_in_coordinates_of_a_crop_give_a_warning_with_its_origin(
    by: tuple[float, float], speed_px: float, points: bool
) -> None:
    """A crop, or a border around the image, displaces all boxes equally."""
    truth, found = traffic(speed_px=speed_px)
    sides = [truth, shifted(found, *by)]
    if points:
        corners = ({"x": side["x1"], "y": side["y1"]} for side in sides)
        sides = [without(side, *BOX) | xy for side, xy in zip(sides, corners, strict=True)]
    [warning] = score("f1", *sides, base="euclidean" if points else "iou").warnings
    assert warning.code == "reads_from_another_origin"
    offset = re.search(r"with (\S+) to x and (\S+) to y", warning.message)
    assert offset is not None
    assert [float(part) for part in offset.groups()] == pytest.approx([-by[0], -by[1]], abs=3.0)


@pytest.mark.parametrize(
    ("side_px", "code"), [(640, "reads_at_another_scale"), (1, "reads_as_shares_of_the_image")]
)
@pytest.mark.parametrize("turned", [False, True])
def test_detections_in_a_letterboxed_square_give_a_warning_with_the_transformation(
    side_px: int, code: str, turned: bool
) -> None:
    """A detector's input: the image scaled into a square, in the middle of its shorter side."""
    truth, found = traffic()
    factor = side_px / WIDTH
    border = (side_px - HEIGHT * factor) / 2
    sides = [truth, shifted(scaled(found, factor, factor), 0.0, border)]
    if turned:  # A portrait.
        sides = [
            with_boxes(side, *(side[name] for name in ("y1", "x1", "y2", "x2"))) for side in sides
        ]
    [warning] = score("map", *sides).warnings
    assert warning.code == code
    numbers = re.search(
        r"x times about (\S+) and y times (\S+), then (\S+) to x and (\S+) to y", warning.message
    )
    assert numbers is not None
    across, down, *offset = [float(part) for part in numbers.groups()]
    assert across == down == pytest.approx(1 / factor, rel=0.02)
    expected = [0.0, (HEIGHT - WIDTH) / 2]
    assert offset == pytest.approx(expected[::-1] if turned else expected, abs=20.0)


@pytest.mark.parametrize("factor", [0.5, 2 / 3, 1.5])
def test_for_detections_that_are_only_scaled_no_displacement_is_suggested(factor: float) -> None:
    truth, found = traffic()
    [warning] = score("map", truth, scaled(found, factor, factor)).warnings
    assert warning.code == "reads_at_another_scale"
    assert ", then" not in warning.message


def test_detections_of_something_else_nearby_are_not_reported_as_displaced() -> None:
    """If nothing moves, a false positive has the same distance from the object in every frame."""
    truth, found = (
        rows_where(side, side["sequence"] == "north")
        for side in traffic(vehicles=1, speed_px=0.0, alarms=0.0)
    )
    codes = [one.code for one in score("map", truth, shifted(found, 200.0, 0.0)).warnings]
    assert "reads_from_another_origin" not in codes


@pytest.mark.parametrize("vehicles", [5, 30, 60])
@pytest.mark.parametrize("speed_px", [0.0, 12.0])
def test_detections_of_other_videos_give_a_warning_despite_overlaps_by_chance(
    vehicles: int, speed_px: float
) -> None:
    truth, found = traffic(vehicles=vehicles, speed_px=speed_px, frames=20)
    others = {"north": "south", "south": "west", "west": "north"}
    exchanged = found | {"sequence": np.array([others[name] for name in found["sequence"]])}
    codes = [warning.code for warning in score("map", truth, exchanged).warnings]
    assert codes == ["nothing_overlaps"]


@pytest.mark.parametrize("speed_px", [0.0, 12.0])
def test_a_very_bad_detector_among_many_objects_is_not_taken_for_one_of_other_videos(
    speed_px: float,
) -> None:
    sides = traffic(vehicles=30, frames=20, recall=0.1, alarms=30.0, speed_px=speed_px)
    assert score("map", *sides).warnings == ()


def test_boxes_three_times_too_wide_are_not_taken_for_those_of_other_videos() -> None:
    """None covers its object by half, but they overlap their own objects more than others."""
    truth, found = traffic()
    thirds = (truth["x2"] - truth["x1"]) / 3
    truth = truth | {"x1": truth["x1"] + thirds, "x2": truth["x2"] - thirds}
    assert score("map", truth, found).warnings == ()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_boxes_with_width_and_height_exchanged_give_a_warning(seed: int) -> None:
    """Their first corner is right, so many still overlap their object."""
    truth, found = traffic(seed=seed)
    codes = [warning.code for warning in score("map", truth, height_first(found)).warnings]
    assert codes == ["reads_height_first"]
