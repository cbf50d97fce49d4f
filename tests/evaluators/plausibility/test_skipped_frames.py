"""Detections of some frames alone are neither early nor late; those of a neighbour are."""

from __future__ import annotations

import pytest
from tests.evaluators.plausibility.changes import joined, moved
from tests.evaluators.plausibility.traffic import rows_where, traffic

from vidscore_evaluators import score


@pytest.mark.parametrize("every", [2, 3, 4])
@pytest.mark.parametrize("speed_px", [0.0, 12.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_detector_of_some_frames_is_neither_early_nor_late(
    every: int, speed_px: float, seed: int
) -> None:
    truth, found = traffic(speed_px=speed_px, seed=seed)
    found = rows_where(found, found["frame"] % every == 0)
    assert score("map", truth, found).warnings == ()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_detector_that_holds_each_answer_for_two_frames_is_not_late(seed: int) -> None:
    truth, found = traffic(speed_px=30.0, seed=seed)
    found = rows_where(found, (found["frame"] % 2 == 0) & (found["frame"] < 39))
    codes = [one.code for one in score("map", truth, joined(found, moved(found, 1))).warnings]
    assert "reads_one_frame_earlier" not in codes


@pytest.mark.parametrize(
    ("frames", "code"), [(1, "reads_one_frame_earlier"), (-1, "reads_one_frame_later")]
)
def test_a_detector_that_skips_frames_may_be_early_or_late(frames: int, code: str) -> None:
    truth, found = traffic(speed_px=30.0)
    found = moved(rows_where(found, found["frame"] % 5 > 0), frames)
    assert code in [one.code for one in score("map", truth, found).warnings]
