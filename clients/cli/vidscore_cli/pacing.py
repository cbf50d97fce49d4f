"""Cut two sides into steps, frame by frame, and take the steps at a frame rate."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.live import frame_keys

FULL_SPEED_FRAMES = 512
"""Frames of a step where no rate is asked for."""

STEPS_A_SECOND = 100.0
"""Most steps in a second; at a higher frame rate a step has several frames."""


@dataclass(frozen=True)
class Step:
    """Some frames of both sides, and how many frames have come with it."""

    truth: Annotations
    detections: Annotations
    frames_sent: int


def steps_at(
    rate_fps: float | None,
    truth: Annotations,
    detections: Annotations,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Step]:
    """Every frame of both sides, video after video in order of time, each when it is due.

    A frame that one side alone has is a frame too. Whoever falls behind catches up.

    Args:
        rate_fps: Frames a second; None for as fast as they are taken.
        truth: Truth.
        detections: Detections.
        clock: Seconds that go by.
        sleep: Waits for some seconds.
    """
    truth_rows, detection_rows = _in_order(truth, detections)
    size = FULL_SPEED_FRAMES if rate_fps is None else max(1, round(rate_fps / STEPS_A_SECOND))
    began_s = clock()
    for start in range(0, len(truth_rows), size):
        if rate_fps is not None:
            wait_s = began_s + start / rate_fps - clock()
            if wait_s > 0:
                sleep(wait_s)
        end = min(start + size, len(truth_rows))
        yield Step(
            truth=_part(truth, truth_rows[start:end]),
            detections=_part(detections, detection_rows[start:end]),
            frames_sent=end,
        )


def frame_total(truth: Annotations, detections: Annotations) -> int:
    """Number of frames that one side or both have."""
    return len({*frame_keys(truth), *frame_keys(detections)})


def _in_order(truth: Annotations, detections: Annotations) -> tuple[IntArray, IntArray]:
    """For each frame its row on both sides, -1 where a side does not have it."""
    truth_keys, detection_keys = frame_keys(truth), frame_keys(detections)
    sequences = dict.fromkeys([*truth.sequences, *detections.sequences])
    rank = {sequence: index for index, sequence in enumerate(sequences)}
    keys = sorted({*truth_keys, *detection_keys}, key=lambda key: (rank[key[0]], key[1]))
    sides = []
    for side_keys in (truth_keys, detection_keys):
        row = {key: index for index, key in enumerate(side_keys)}
        sides.append(np.array([row.get(key, -1) for key in keys], dtype=np.int64))
    return sides[0], sides[1]


def _part(side: Annotations, rows: IntArray) -> Annotations:
    return side.take_frames(rows[rows >= 0])
