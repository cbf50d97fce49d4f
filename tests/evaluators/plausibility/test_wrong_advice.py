"""A wrong input is warned of with what leads back to it, and not with what happens to fit."""

from __future__ import annotations

import pytest
from tests.evaluators.plausibility.changes import scaled
from tests.evaluators.plausibility.traffic import HEIGHT, WIDTH, Columns, rows_where, traffic

from vidscore_evaluators import score


def of_one_corner(columns: Columns) -> Columns:
    """What is in the upper left quarter of the image."""
    return rows_where(columns, (columns["x2"] < WIDTH / 2) & (columns["y2"] < HEIGHT / 2))


def test_shares_of_the_image_are_told_where_no_scale_fits() -> None:
    """Detections are all over the image, the objects of the ground truth in a quarter of it."""
    truth, found = traffic(vehicles=20, alarms=5.0)
    shares = scaled(found, 1 / WIDTH, 1 / HEIGHT)
    [warning] = score("map", of_one_corner(truth), shares).warnings
    assert warning.code == "reads_as_shares_of_the_image"
    assert "detections lie within 1.5 px of the origin, unlike those of the other side" in (
        warning.message
    )
    assert warning.message.endswith(
        "; they look like shares of the image, from 0 to 1: give pixels"
    )


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_slightly_scaled_boxes_are_not_told_to_have_their_centre_as_a_corner(seed: int) -> None:
    """A tenth of where they are moves some of them by half of their size."""
    truth, found = traffic(seed=seed, vehicles=12, speed_px=3.0)
    codes = [one.code for one in score("map", truth, scaled(found, 0.9, 0.9)).warnings]
    assert not {"reads_centre_as_corner", "reads_corner_as_centre"}.intersection(codes)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_detector_of_few_frames_is_not_exchanged_with_the_truth(seed: int) -> None:
    """No detection in two neighbouring frames says nothing of how steady detections are."""
    truth, found = traffic(seed=seed, vehicles=24, speed_px=45.0, frames=20)
    few = rows_where(found, found["frame"] % 15 == 0)
    codes = [one.code for one in score("map", truth, few).warnings]
    assert "reads_sides_exchanged" not in codes
