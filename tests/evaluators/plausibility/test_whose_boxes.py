"""Boxes that were read too large are those of the side that is told to convert them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.evaluators.plausibility.changes import read_as_centres, read_as_sizes
from tests.evaluators.plausibility.traffic import Columns, traffic

from vidscore_evaluators import score

CHANGES = {
    "reads_as_corners": read_as_sizes,
    "reads_centres_as_corners": read_as_centres,
}


@pytest.mark.parametrize("noise_px", [2.0, 8.0, 15.0])
@pytest.mark.parametrize("of_truth", [False, True])
@pytest.mark.parametrize(("code", "change"), CHANGES.items(), ids=CHANGES)
def test_corners_that_were_read_as_sizes_are_doubted_on_their_own_side(
    code: str, change: Callable[[Columns], Columns], of_truth: bool, noise_px: float
) -> None:
    """Whatever the detector: the other side, made as large, overlaps even better."""
    truth, detections = traffic(noise_px=noise_px)
    sides = (change(truth), detections) if of_truth else (truth, change(detections))
    found = [warning for warning in score("f1", *sides).warnings if "reads_" in warning.code]
    assert [warning.code for warning in found] == [code]
    whose = "objects of the ground truth" if of_truth else "detections"
    assert found[0].message.startswith(f"{whose} fit better read as two corners")
