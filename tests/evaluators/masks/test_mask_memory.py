"""Scoring holds at most twice the runs of masks: the given ones, and one reordered copy."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, FrameFlag, ObjectFlag
from vidscore_evaluators.arrays import starts_from_counts
from vidscore_evaluators.kernels import RunArray
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.testing import Thing, make_annotations

FRAMES, OBJECTS, RUNS = 100, 10, 1000
SIDE_PX = 1000
COLUMNS_BYTES = 1000
"""Other memory per object: columns, pairs, and its part of regions that are united at once."""


def scene(seed: int) -> Annotations:
    """Objects with masks of many runs, some of them regions or crowds, in two videos."""
    random = np.random.default_rng(seed)
    flags = [0] * (OBJECTS - 3) + [int(ObjectFlag.REGION)] * 2 + [int(ObjectFlag.CROWD)]
    things = [
        Thing((0.0, 0.0, 1.0, 1.0), "ab"[number % 2], 0.5, number, flag)
        for number, flag in enumerate(flags)
    ]
    videos = {("", video): dict.fromkeys(range(FRAMES // 2), things) for video in "xy"}
    side = make_annotations(videos)
    spans = random.integers(100, 900, (side.object_count, RUNS // 2))
    runs: RunArray = np.stack([SIDE_PX - spans, spans], axis=2).astype(np.uint32).reshape(-1)
    rest = SIDE_PX * (SIDE_PX - RUNS // 2)
    runs = np.column_stack([runs.reshape(-1, RUNS), np.full(side.object_count, rest)]).reshape(-1)
    sizes = np.full((side.object_count, 2), SIDE_PX)
    starts = starts_from_counts(np.full(side.object_count, RUNS + 1))
    return replace(side, masks=Masks(sizes, starts, runs.astype(np.uint32)))


def held_runs(evaluator: str, truth: Annotations, detections: Annotations) -> float:
    """Peak memory while scoring, in runs of both sides, without other columns."""
    ready = create_evaluator(evaluator, {"base": "mask"})
    first = np.arange(1)
    score_annotations([ready], truth.take_frames(first), detections.take_frames(first))
    assert truth.masks is not None
    assert detections.masks is not None
    given = truth.masks.runs.nbytes + detections.masks.runs.nbytes
    objects = truth.object_count + detections.object_count
    tracemalloc.start()
    try:
        score_annotations([ready], truth, detections)
        more = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return 1.0 + (more - COLUMNS_BYTES * objects) / given


@pytest.mark.parametrize("evaluator", ["coco", "hota"])
def test_scoring_holds_at_most_twice_the_runs(evaluator: str) -> None:
    """With any regions, crowds and frames that do not count; data in order needs no copy."""
    truth, detections = scene(1), replace(scene(2), flags=np.zeros(FRAMES * OBJECTS, np.uint8))
    frame_flags = truth.frame_flags.copy()
    frame_flags[::7] = FrameFlag.DONT_CARE
    truth = replace(truth, frame_flags=frame_flags)
    assert held_runs(evaluator, truth, detections) < 1.1
    mixed = np.random.default_rng(0).permutation(FRAMES)
    assert held_runs(evaluator, truth.take_frames(mixed), detections.take_frames(mixed)) < 2.0
