"""Every criterion of masks against an oracle: pycocotools, trackeval's MOTS, or the pixels.

| criterion | oracle |
| --- | --- |
| `coco` | pycocotools, in `tests/evaluators/presets/test_coco_segmentation.py` |
| `clear`, `identity`, `hota` | trackeval, in `tests/evaluators/presets/test_mots.py` |
| all others | plain loops over pixels: `CHECKS`, on worlds of masks that are not boxes |

`ORACLES` has the same content, and a test checks that no criterion is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.detection.oracle import Found, average_precision, log_average_miss_rate
from tests.evaluators.distances import track_oracle
from tests.evaluators.distances.track_oracle import Track
from tests.evaluators.masks import pixel_oracle
from tests.evaluators.masks.pixel_errors import KINDS, mistakes
from tests.evaluators.masks.pixel_worlds import World, make_world
from tests.evaluators.test_polygon_base import WITH_BASE, report_of

from vidscore_evaluators.report import Report

SEEDS = range(6)
THRESHOLDS = (0.3, 0.5, 0.75)
CUTOFF, ORDER, WINDOW_FRAMES = 0.7, 2.0, 3

Check = Callable[[World], None]


def report(world: World, name: str, **parameters: object) -> Report:
    truth, detections = world.annotations()
    return report_of(name, truth, detections, base="mask", **parameters)


def holds(world: World, name: str, expected: float, **parameters: object) -> None:
    found = report(world, name, **parameters).value(name.replace("-", "_"))
    assert found == pytest.approx(expected, abs=1e-9), parameters


# --- at a threshold ----------------------------------------------------------------------------


def check_f1(world: World) -> None:
    for threshold in THRESHOLDS:
        counts = [0, 0, 0]
        for found, truth in pixel_oracle.found_by_class(world, pixel_oracle.optimally, threshold):
            true = [one.outcome for one in found].count(True)
            counts[0] += true
            counts[1] += [one.outcome for one in found].count(False)
            counts[2] += truth - true
        names = ("true_positives", "false_positives", "false_negatives")
        own = report(world, "f1", threshold=threshold)
        assert [own.value(name) for name in names] == counts
        true, false, missed = counts
        expected = 2 * true / (2 * true + false + missed)
        assert own.value("f1") == pytest.approx(expected, abs=1e-12)


def check_map(world: World) -> None:
    for threshold in THRESHOLDS:
        expected = np.mean(
            [
                float(average_precision(found, truth) or 0)
                for found, truth in pixel_oracle.found_by_class(
                    world, pixel_oracle.greedily, threshold
                )
            ]
        )
        own = report(world, "map", thresholds=[threshold], interpolation="all-point")
        assert own.value("ap") == pytest.approx(expected, abs=1e-9)


def check_log_amr(world: World) -> None:
    frames = len(pixel_oracle.frames_of(world))

    def rate(found: list[Found], truth: int) -> float:
        value = log_average_miss_rate(found, truth, frames)
        assert value is not None
        return value

    for threshold in THRESHOLDS:
        by_class = pixel_oracle.found_by_class(world, pixel_oracle.greedily, threshold)
        expected = float(np.mean([rate(*both) for both in by_class]))
        holds(world, "log-amr", expected, threshold=threshold)


def check_errors(world: World) -> None:
    for threshold in THRESHOLDS:
        parameters = {"threshold": threshold, "background_threshold": 0.1}
        own = report(world, "errors", interpolation="all-point", **parameters)
        expected = mistakes(world, threshold, 0.1)
        found = {name: own.value(name) for name in expected}
        assert found == pytest.approx(expected, abs=1e-9)


# --- distances ---------------------------------------------------------------------------------


def emd(first: list[Track], second: list[Track]) -> float:
    return track_oracle.emd(first, second, ORDER)


def ospa(first: list[Track], second: list[Track]) -> float:
    return track_oracle.ospa(first, second, CUTOFF, ORDER)


def check_sets(
    world: World, *, name: str, distance: pixel_oracle.Distance, **parameters: object
) -> None:
    holds(world, name, pixel_oracle.over_frames(world, distance), **parameters)


def check_tracks(
    world: World, *, name: str, distance: pixel_oracle.Distance, **parameters: object
) -> None:
    holds(world, name, pixel_oracle.over_sequences(world, distance), **parameters)


def check_ospa2(world: World) -> None:
    expected = pixel_oracle.over_windows(world, ospa, WINDOW_FRAMES)
    of_pairs = {"cutoff": CUTOFF, "order": ORDER}
    holds(world, "ospa2", expected, window_frames=WINDOW_FRAMES, **of_pairs)


CHECKS: Mapping[str, Check] = {
    "f1": check_f1,
    "map": check_map,
    "log-amr": check_log_amr,
    "errors": check_errors,
    "hausdorff": partial(check_sets, name="hausdorff", distance=track_oracle.hausdorff),
    "emd": partial(check_sets, name="emd", distance=emd, order=ORDER),
    "ospa": partial(check_sets, name="ospa", distance=ospa, order=ORDER, cutoff=CUTOFF),
    "track-hausdorff": partial(
        check_tracks, name="track-hausdorff", distance=track_oracle.hausdorff
    ),
    "track-emd": partial(check_tracks, name="track-emd", distance=emd, order=ORDER),
    "track-ospa": partial(
        check_tracks, name="track-ospa", distance=ospa, order=ORDER, cutoff=CUTOFF
    ),
    "ospa2": check_ospa2,
}
"""The check of a criterion over pixels."""

PRESETS = Path(__file__).parents[1] / "presets"
ORACLES: Mapping[str, str] = {
    "coco": "test_coco_segmentation.py",
    **dict.fromkeys(("clear", "identity", "hota"), "test_mots.py"),
}
"""Criteria whose oracle is their benchmark's own scorer, and the test that runs it."""


def test_every_criterion_of_masks_has_an_oracle() -> None:
    assert {*CHECKS, *ORACLES} == set(WITH_BASE)
    assert all((PRESETS / name).exists() for name in ORACLES.values())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", CHECKS)
def test_a_criterion_equals_its_definition_over_pixels(name: str, seed: int) -> None:
    """With crowds, ignored objects, distractors, regions and a frame that is not evaluated."""
    CHECKS[name](make_world(seed))


@pytest.mark.nightly
@pytest.mark.parametrize("name", CHECKS)
def test_a_criterion_equals_its_definition_over_many_pixels(name: str) -> None:
    for seed in range(100, 160):
        CHECKS[name](make_world(seed))


def test_the_worlds_cover_every_rule() -> None:
    """Mistakes of every kind, uncounted detections, and figures that differ from those of boxes."""
    worlds = [make_world(seed) for seed in SEEDS]
    kinds = {kind for world in worlds for kind in KINDS if mistakes(world, 0.5, 0.1)[kind]}
    assert kinds == set(KINDS)
    for match in (pixel_oracle.greedily, pixel_oracle.optimally):
        outcomes = {
            one.outcome
            for world in worlds
            for found, _ in pixel_oracle.found_by_class(world, match, 0.5)
            for one in found
        }
        assert outcomes == {True, False, None}
    for world in worlds:
        by_box = report_of("hausdorff", *world.annotations()).value("hausdorff")
        assert by_box != report(world, "hausdorff").value("hausdorff")
