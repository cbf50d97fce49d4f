"""Points whose unit is not that of the cut-off are doubted."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.evaluators.plausibility.changes import scaled
from tests.evaluators.plausibility.traffic import BOX, HEIGHT, WIDTH, Columns, traffic, without

from vidscore_evaluators import score

TRUTH, DETECTIONS = traffic()


def pixels(columns: Columns) -> Columns:
    """First corners as points."""
    return without(columns, *BOX) | {"x": columns["x1"], "y": columns["y1"]}


def shares(columns: Columns) -> Columns:
    """The same as shares of the image."""
    return pixels(scaled(columns, 1 / WIDTH, 1 / HEIGHT))


@pytest.mark.parametrize("evaluator", ["f1", "ospa", "hota"])
def test_shares_of_the_image_on_both_sides_are_doubted_under_a_cutoff_in_pixels(
    evaluator: str,
) -> None:
    """Each lies on each: detections of nothing score as well as right ones."""
    report = score(evaluator, shares(TRUTH), shares(DETECTIONS), base="euclidean")
    [warning] = report.warnings
    assert warning.code == "reads_as_shares_of_the_image"
    assert warning.count == len(TRUTH["frame"]) + len(DETECTIONS["frame"])
    assert "a cut-off of 10 px hardly tells one place from another; give pixels" in str(warning)


@pytest.mark.parametrize(("columns", "cutoff_px"), [(shares, 0.01), (pixels, 10.0)])
def test_points_are_not_doubted_where_the_cutoff_has_their_unit(
    columns: Callable[[Columns], Columns], cutoff_px: float
) -> None:
    sides = columns(TRUTH), columns(DETECTIONS)
    assert score("f1", *sides, base="euclidean", cutoff_px=cutoff_px).warnings == ()
