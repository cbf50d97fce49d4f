"""A wrong input gets advice that corrects it, and not advice that happens to fit."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from tests.evaluators.plausibility.changes import (
    joined,
    moved_in_time,
    read_as_centres,
    read_as_sizes,
    scaled,
)
from tests.evaluators.plausibility.traffic import HEIGHT, WIDTH, Columns, rows_where, traffic

from vidscore_evaluators import score


def of_one_corner(columns: Columns) -> Columns:
    """The objects in the upper left quarter of the image."""
    return rows_where(columns, (columns["x2"] < WIDTH / 2) & (columns["y2"] < HEIGHT / 2))


def test_fractions_of_the_image_are_reported_if_no_scale_fits() -> None:
    """Frames are also in another order: more is wrong, but this comes first."""
    truth, found = traffic(vehicles=20, alarms=5.0)
    shares = scaled(moved_in_time(found), 1 / WIDTH, 1 / HEIGHT)
    [warning] = score("map", of_one_corner(truth), shares).warnings
    assert warning.code == "reads_as_shares_of_the_image"
    assert "detections lie within 1.5 px of the origin, unlike those of the other side" in (
        warning.message
    )
    assert warning.message.endswith("they look like shares of the image, from 0 to 1: give pixels")


def scale_told(message: str) -> list[float]:
    numbers = re.search(r"x times about (\S+) and y times (\S+) \(", message)
    assert numbers is not None
    return [float(part) for part in numbers.groups()]


@pytest.mark.parametrize("factors", [(0.9, 0.9), (0.5, 0.5), (1.0, 1.5), (1 / 3, 640 / HEIGHT)])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_scale_is_reported_if_false_alarms_span_more_than_the_objects(
    factors: tuple[float, float], seed: int
) -> None:
    """Even a scale that displaces some boxes by half of their size, as a wrong corner does."""
    truth, found = traffic(seed=seed, vehicles=40, speed_px=3.0, alarms=10.0)
    truth, right = (
        of_one_corner(side) for side in (truth, rows_where(found, found["track_id"] < 100))
    )
    alarms = rows_where(found, found["track_id"] >= 100)
    [warning] = score("map", truth, scaled(joined(right, alarms), *factors)).warnings
    assert warning.code == "reads_at_another_scale"
    assert scale_told(warning.message) == pytest.approx(
        [1 / factor for factor in factors], rel=0.02
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_for_a_detector_of_few_frames_no_exchange_of_sides_is_suggested(seed: int) -> None:
    """Without detections in two neighbouring frames their steadiness is unknown."""
    truth, found = traffic(seed=seed, vehicles=24, speed_px=45.0, frames=20)
    few = rows_where(found, found["frame"] % 15 == 0)
    codes = [one.code for one in score("map", truth, few).warnings]
    assert "reads_sides_exchanged" not in codes


# --- The side with too large boxes is the one that must be converted


CHANGES = {
    "reads_as_corners": read_as_sizes,
    "reads_centres_as_corners": read_as_centres,
}


@pytest.mark.parametrize("noise_px", [2.0, 8.0, 15.0])
@pytest.mark.parametrize("of_truth", [False, True])
@pytest.mark.parametrize(("code", "change"), CHANGES.items(), ids=CHANGES)
def test_corners_read_as_sizes_give_a_warning_about_their_own_side(
    code: str, change: Callable[[Columns], Columns], of_truth: bool, noise_px: float
) -> None:
    """Whatever the detector: the other side, made as large, overlaps even better."""
    truth, detections = traffic(noise_px=noise_px)
    sides = (change(truth), detections) if of_truth else (truth, change(detections))
    found = [warning for warning in score("f1", *sides).warnings if "reads_" in warning.code]
    assert [warning.code for warning in found] == [code]
    whose = "objects of the ground truth" if of_truth else "detections"
    assert found[0].message.startswith(f"{whose} fit better read as two corners")
