"""Detections of only some frames are neither early nor late; those of a neighbouring frame are."""

from __future__ import annotations

import numpy as np
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


def test_a_stationary_object_found_less_in_the_next_frame_is_not_early() -> None:
    """Detections of the better of two frames fit the objects of both."""
    truth, found = traffic(speed_px=0.0, recall=1.0, alarms=0.0, vehicles=8)
    kept = np.array([8, 8, 4, 2])[found["frame"] % 4]
    assert score("f1", truth, rows_where(found, found["track_id"] < kept)).warnings == ()


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("slower", ["detections", "truth"])
def test_another_frame_rate_is_not_reported_as_one_frame_off(slower: str, seed: int) -> None:
    """At 25 instead of 30 frames per second the offset is one frame after five, two after ten."""
    truth, found = traffic(speed_px=30.0, recall=1.0, alarms=0.2, frames=24, seed=seed)
    sides = {"truth": truth, "detections": found}
    every = rows_where(sides[slower], sides[slower]["frame"] % 6 != 3)
    sides[slower] = every | {"frame": np.round(every["frame"] / 1.2).astype(int)}
    told = {one.code: one.message for one in score("f1", *sides.values()).warnings}
    code = "reads_one_frame_later" if slower == "detections" else "reads_one_frame_earlier"
    _, advice = told[code].rsplit("; ", 1)
    assert "check that both sides have the same frame rate" in advice
    assert "1" not in advice


@pytest.mark.parametrize(
    ("frames", "advice"),
    [(1, "take 1 from those of the detections"), (-1, "add 1 to those of the detections")],
)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_constant_offset_of_a_frame_is_reported_with_its_size(
    frames: int, advice: str, seed: int
) -> None:
    truth, found = traffic(speed_px=30.0, frames=24, seed=seed)
    warnings = score("map", moved(truth, 1), moved(found, 1 + frames)).warnings
    [message] = [one.message for one in warnings if one.code.startswith("reads_")]
    assert f"{advice} if both sides have the same frame rate" in message
