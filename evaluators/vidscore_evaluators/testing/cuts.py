"""Cut scenes into batches and parts, the ways in which streams and clusters do."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side, concatenate
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Unit
from vidscore_evaluators.live import frame_keys
from vidscore_evaluators.testing.strategies import Scene

Batches = list[tuple[Side, IntArray]]


def interleaving(scene: Scene, random: np.random.Generator) -> Batches:
    """Both sides' frames in small batches, in any order; each batch is (side, frame rows)."""
    batches: Batches = []
    for side, annotations in sides(scene).items():
        rows = random.permutation(annotations.frame_count)
        cuts = np.flatnonzero(random.random(max(0, len(rows) - 1)) < 0.5) + 1
        batches.extend((side, part) for part in np.split(rows, cuts))
    return [batches[index] for index in random.permutation(len(batches))]


def common_frames(scene: Scene, sent: Mapping[Side, IntArray]) -> Scene:
    """The frames that are among those sent of either side."""
    came = {side: annotations.take_frames(sent[side]) for side, annotations in sides(scene).items()}
    keys = {side: frame_keys(annotations) for side, annotations in came.items()}
    common = set(keys[Side.TRUTH]) & set(keys[Side.DETECTIONS])
    truth, detections = (
        came[side].take_frames(np.array([key in common for key in keys[side]], dtype=np.bool_))
        for side in (Side.TRUTH, Side.DETECTIONS)
    )
    return Scene(truth, detections)


def parts(scene: Scene, unit: Unit, random: np.random.Generator) -> list[Scene]:
    """Up to three parts of whole frames, or of whole sequences where the unit says so."""
    part_of: dict[object, int] = {}

    def part_rows(annotations: Annotations) -> IntArray:
        keys = frame_keys(annotations)
        units = [key if unit is Unit.FRAME else key[0] for key in keys]
        chosen = [part_of.setdefault(name, int(random.integers(3))) for name in units]
        return np.array(chosen, dtype=np.int64)

    truth_parts, detection_parts = part_rows(scene.truth), part_rows(scene.detections)
    return [
        Scene(
            scene.truth.take_frames(truth_parts == part),
            scene.detections.take_frames(detection_parts == part),
        )
        for part in range(3)
    ]


def joined_scene(strategy: SearchStrategy[Scene], count: int) -> Scene:
    """Up to `count` scenes as one, the same in each run; each brings sequences of its own."""
    found: list[Scene] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(scene: Scene) -> None:
        found.append(scene)

    collect()
    shape = (found[-1].truth.arity, found[-1].detections.arity)
    alike = [scene for scene in found if (scene.truth.arity, scene.detections.arity) == shape]
    return Scene(
        concatenate([_renamed(scene.truth, index) for index, scene in enumerate(alike)]),
        concatenate([_renamed(scene.detections, index) for index, scene in enumerate(alike)]),
    )


@cache
def two_workers() -> ProcessPoolExecutor:
    """Two fresh processes, the same for all evaluators, because starting them takes longest."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def sides(scene: Scene) -> dict[Side, Annotations]:
    """The scene by side."""
    return {Side.TRUTH: scene.truth, Side.DETECTIONS: scene.detections}


def sequence_count(scene: Scene) -> int:
    """Sequences that have a frame on either side."""
    used: set[SequenceKey] = set()
    for annotations in scene:
        used.update(key for key, _ in frame_keys(annotations))
    return len(used)


def _renamed(annotations: Annotations, index: int) -> Annotations:
    names = tuple(
        SequenceKey(key.domain, f"{key.sequence}-{index}") for key in annotations.sequences
    )
    return Annotations(**(vars(annotations) | {"sequences": names}))
