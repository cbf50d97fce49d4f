"""The simulated videos and detectors of the demo."""

from __future__ import annotations

import numpy as np
import pytest

from vidscore_cli.demo.scenes import Detector, Scene, simulate_detections, simulate_truth
from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.fingerprint import fingerprint

STREET = Scene(
    domain="Tower",
    sequences=("001", "002"),
    frame_count=40,
    object_count=8,
    width_px=1920.0,
    height_px=1080.0,
    speed_px=6.0,
    lengths_px={"Car": 110.0, "Bus": 220.0, "Person": 45.0},
)
SKY = Scene(
    domain="",
    sequences=tuple(str(number) for number in range(1, 31)),
    frame_count=5,
    object_count=3,
    width_px=640.0,
    height_px=480.0,
    speed_px=40.0,
    first_frame=1,
)
PERFECT = Detector("perfect", 0.0, 0.0, 0.0, 0.0, 0.0)
POOR = Detector("poor", 0.3, 5.0, 0.2, 0.2, 1.0)

scenes = pytest.mark.parametrize("scene", [STREET, SKY], ids=["street", "sky"])


@scenes
def test_the_same_seed_gives_the_same_data_and_another_seed_other_data(scene: Scene) -> None:
    first, again, other = (simulate_truth(scene, seed) for seed in (1, 1, 2))
    assert fingerprint(first) == fingerprint(again) != fingerprint(other)
    seen, seen_again = (simulate_detections(POOR, scene, first, 1) for _ in range(2))
    assert fingerprint(seen) == fingerprint(seen_again)


@scenes
def test_a_perfect_detector_gives_the_truth_back(scene: Scene) -> None:
    truth = simulate_truth(scene, 1)
    seen = simulate_detections(PERFECT, scene, truth, 1)
    assert np.array_equal(seen.coordinates, truth.coordinates)
    assert np.array_equal(seen.frame_starts, truth.frame_starts)
    assert np.array_equal(seen.label_indices, truth.label_indices)


@scenes
def test_every_frame_of_every_video_is_listed_on_both_sides(scene: Scene) -> None:
    truth = simulate_truth(scene, 1)
    seen = simulate_detections(POOR, scene, truth, 1)
    for side in (truth, seen):
        assert side.frame_count == len(scene.sequences) * scene.frame_count
        assert side.frame_numbers.min() == scene.first_frame


def test_a_poor_detector_misses_about_the_share_that_it_is_said_to_miss() -> None:
    truth = simulate_truth(STREET, 1)
    blind = Detector("half", 0.5, 0.0, 0.0, 0.0, 0.0)
    seen = simulate_detections(blind, STREET, truth, 1)
    assert 0.4 < seen.object_count / truth.object_count < 0.6


def test_points_stay_within_the_image_as_the_sky_benchmark_asks() -> None:
    seen = simulate_detections(POOR, SKY, simulate_truth(SKY, 1), 1)
    assert seen.coordinates.min() >= -0.5
    assert np.all(seen.coordinates <= [639.5, 479.5])


def test_some_objects_of_a_street_are_ambiguous_and_none_of_the_sky() -> None:
    ambiguous = np.mean(simulate_truth(STREET, 3).flags == ObjectFlag.IGNORE)
    assert 0.0 < ambiguous < 0.3
    assert not simulate_truth(SKY, 3).flags.any()
