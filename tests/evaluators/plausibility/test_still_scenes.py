"""If nothing moves, an object in many frames counts as one thing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import as_sizes, joined, scaled, shifted
from tests.evaluators.plausibility.traffic import BOX, HEIGHT, WIDTH, Columns, rows_where, traffic

from vidscore_evaluators import score

FRAMES = 40


def lasting(truth: Columns, count: int, seed: int) -> Columns:
    """False positives in each video that stay in place, in most frames."""
    random = np.random.default_rng(seed)
    parts = []
    for sequence in ("north", "south", "west"):
        for number in range(count):
            frames = np.flatnonzero(random.random(FRAMES) < 0.8)
            like = int(random.integers(len(truth["frame"])))
            size = np.array([truth["x2"] - truth["x1"], truth["y2"] - truth["y1"]])[:, like]
            corner = random.uniform((0, 0), (WIDTH, HEIGHT) - size)
            places = np.concatenate([corner, corner + size]) + random.normal(0, 1, (len(frames), 4))
            alarm = {
                "sequence": np.full(len(frames), sequence),
                "frame": frames,
                "class": np.full(len(frames), "car"),
                "track_id": np.full(len(frames), 100 + number),
                "confidence": random.uniform(0.2, 0.6, len(frames)),
            }
            parts.append(alarm | dict(zip(BOX, places.T, strict=True)))
    return joined(*parts) if parts else rows_where(truth | {"confidence": truth["x1"]}, slice(0, 0))


def still(
    *, vehicles: int, alarms: int, seed: int, recall: float = 0.05
) -> tuple[Columns, Columns]:
    """Stationary objects that are hardly ever found, among lasting false positives."""
    sides = traffic(
        recall=recall, alarms=0.0, speed_px=0.0, vehicles=vehicles, frames=FRAMES, seed=seed
    )
    return sides[0], joined(sides[1], lasting(sides[0], alarms, seed))


def codes_of(truth: Columns, detections: Columns) -> list[str]:
    return [warning.code for warning in score("map", truth, detections).warnings]


@pytest.mark.parametrize(
    ("alarms", "seed"), [(4, 9), (8, 12), (8, 16), (4, 60), (8, 38), (4, 136), (8, 65)]
)
def test_lasting_false_alarms_fit_no_other_interpretation(alarms: int, seed: int) -> None:
    """Each has the same distance from an object, and the same size, in all of its frames."""
    found = codes_of(*still(vehicles=1, alarms=alarms, seed=seed))
    assert not [code for code in found if code.startswith("reads_")]


@pytest.mark.parametrize(("vehicles", "alarms", "seed"), [(5, 8, 0), (3, 12, 8)])
def test_a_detector_that_finds_few_stationary_objects_is_of_the_same_video(
    vehicles: int, alarms: int, seed: int
) -> None:
    """Other frames look the same, so they do not separate right detections from chance."""
    assert codes_of(*still(vehicles=vehicles, alarms=alarms, seed=seed)) == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_detections_of_other_still_videos_give_a_warning(seed: int) -> None:
    truth, found = still(vehicles=3, alarms=4, seed=seed, recall=0.9)
    others = {"north": "south", "south": "west", "west": "north"}
    exchanged = found | {"sequence": np.array([others[name] for name in found["sequence"]])}
    assert codes_of(truth, exchanged) == ["nothing_overlaps"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda side: shifted(side, 250.0, 0.0), "reads_from_another_origin"),
        (lambda side: scaled(side, 0.5, 0.5), "reads_at_another_scale"),
        (as_sizes, "reads_as_sizes"),
    ],
)
def test_several_stationary_objects_are_enough(
    change: Callable[[Columns], Columns], code: str
) -> None:
    truth, found = still(vehicles=4, alarms=0, seed=1, recall=0.9)
    assert code in codes_of(truth, change(found))


def test_one_stationary_object_is_enough_if_nothing_is_fitted() -> None:
    truth, found = (
        rows_where(side, side["sequence"] == "north")
        for side in still(vehicles=1, alarms=0, seed=1, recall=1.0)
    )
    assert "reads_as_sizes" in codes_of(truth, as_sizes(found))
