"""Boxes at random fit no other reading."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import scaled
from tests.evaluators.plausibility.traffic import HEIGHT, WIDTH, Columns, traffic, with_boxes

from vidscore_evaluators import score


def anywhere(columns: Columns, largest: float, seed: int) -> Columns:
    """Boxes of any place and size in the image, in the frames of some columns."""
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
def test_boxes_at_random_fit_no_other_reading(largest: float, seed: int, swapped: bool) -> None:
    """Larger boxes lie on each other more often by chance, in any two frames."""
    sides = [scaled(side, 0.4, 0.4) for side in traffic(seed=seed, vehicles=8)]
    truth, detections = sides[0], anywhere(sides[1], largest, seed)
    if swapped:
        truth, detections = anywhere(sides[0], largest, seed), sides[1]
    found = [warning.code for warning in score("map", truth, detections).warnings]
    assert not [code for code in found if code.startswith("reads_")]
