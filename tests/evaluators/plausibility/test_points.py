"""Points whose unit differs from that of the cut-off give a warning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import scaled
from tests.evaluators.plausibility.traffic import BOX, HEIGHT, WIDTH, Columns, traffic, without

from vidscore_evaluators import score

TRUTH, DETECTIONS = traffic()


def pixels(columns: Columns) -> Columns:
    """First corners as points."""
    return without(columns, *BOX) | {"x": columns["x1"], "y": columns["y1"]}


def shares(columns: Columns) -> Columns:
    """The same as fractions of the image."""
    return pixels(scaled(columns, 1 / WIDTH, 1 / HEIGHT))


def standing(places: list[tuple[float, float]]) -> Columns:
    """Objects that do not move between two frames."""
    x, y = np.array(places * 2).T
    frames = np.repeat([1, 2], len(places))
    return {"sequence": np.full(len(frames), "s"), "frame": frames, "x": x, "y": y}


@pytest.mark.parametrize("evaluator", ["f1", "ospa", "hota"])
def test_fractions_of_the_image_on_both_sides_give_a_warning_with_a_cutoff_in_pixels(
    evaluator: str,
) -> None:
    """Everything is within the cut-off: false detections score as well as right ones."""
    report = score(evaluator, shares(TRUTH), shares(DETECTIONS), base="euclidean")
    [warning] = report.warnings
    assert warning.code == "reads_as_shares_of_the_image"
    assert warning.count == len(TRUTH["frame"]) + len(DETECTIONS["frame"])
    assert "a cut-off of 10 px hardly tells one place from another; give pixels" in str(warning)


@pytest.mark.parametrize(("columns", "cutoff_px"), [(shares, 0.01), (pixels, 10.0)])
def test_points_in_the_unit_of_the_cutoff_give_no_warning(
    columns: Callable[[Columns], Columns], cutoff_px: float
) -> None:
    sides = columns(TRUTH), columns(DETECTIONS)
    assert score("f1", *sides, base="euclidean", cutoff_px=cutoff_px).warnings == ()


@pytest.mark.parametrize(
    ("objects", "found"),
    [
        ([(300.0, 200.0)], [(450.0, 80.0)]),
        ([(300.0, 200.0)], [(450.0, 80.0), (100.0, 20.0)]),
        ([(300.0, 200.0), (100.0, 20.0)], [(450.0, 80.0)]),
    ],
)
def test_no_scale_is_suggested_if_only_one_place_supports_it(
    objects: list[tuple[float, float]], found: list[tuple[float, float]]
) -> None:
    """Some scale maps any place to any other."""
    report = score("f1", *map(standing, (objects, found)), base="euclidean")
    assert report.warnings == ()


@pytest.mark.parametrize("speed_px", [0.0, 0.2])
def test_detections_of_one_object_that_hardly_moves_are_of_the_same_video(speed_px: float) -> None:
    """A star, found within a few pixels: its own spread says nothing of the scene."""
    frames = np.arange(1, 101)
    x, y = 300.0 + speed_px * frames, np.full(100, 200.0)
    errors = np.random.default_rng(7).normal(0.0, 1.0, (2, 100))
    truth = {"sequence": np.full(100, "s"), "frame": frames, "x": x, "y": y}
    found = truth | {"x": x + errors[0], "y": y + errors[1]}
    report = score("f1", truth, found, base="euclidean")
    assert (report.value("recall"), report.warnings) == (1.0, ())


def test_for_detections_of_a_few_objects_a_scale_is_suggested() -> None:
    places = [(300.0, 200.0), (100.0, 20.0), (50.0, 120.0)]
    halves = [(x / 2, y / 2) for x, y in places]
    [warning] = score("f1", standing(places), standing(halves), base="euclidean").warnings
    assert warning.code == "reads_at_another_scale"
    assert "x times about 2 and y times 2" in str(warning)
