"""Tallying as a job that can run anywhere: in this process, in a worker, on another machine.

A job names its evaluator instead of holding it, so that a worker rebuilds it through its own
registry, plug-ins included, and refuses a version that is not its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import AnyArray, IntArray
from vidscore_evaluators.errors import EvaluatorVersionError
from vidscore_evaluators.evaluator import Evaluator, tally_together
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.processes import Progress, SpawnedPool
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Tally, merge_tallies
from vidscore_evaluators.tally_bytes import tally_from_bytes, tally_to_bytes
from vidscore_evaluators.threads import in_threads

PARTS_A_WORKER = 4
"""Parts of the work for each worker: enough to even out long and short sequences."""

OBJECTS_A_PART = 1 << 18
"""Objects of both sides that are tallied at a time, so that memory stays bounded and a part's
columns stay near the processor; a sequence of more is tallied whole."""


Part = tuple[Annotations, Annotations]
"""Truth and detections of whole sequences."""


@dataclass(frozen=True)
class Job:
    """One piece of tallying.

    Attributes:
        evaluator: Name of the evaluator.
        version: Version of the evaluator that the result must come from.
        parameters: Its parameters by name.
        specification: The benchmark's specification.
        truth: Truth of whole frames or sequences.
        detections: Detections of the same.
    """

    evaluator: str
    version: str
    parameters: dict[str, Any]
    specification: BenchmarkSpec
    truth: Annotations
    detections: Annotations


def make_job(evaluator: Evaluator[Any], truth: Annotations, detections: Annotations) -> Job:
    """Describe a piece of tallying so that another process can do it."""
    return Job(
        evaluator=evaluator.name,
        version=evaluator.version,
        parameters=parameter_values(evaluator.parameters),
        specification=evaluator.specification,
        truth=truth,
        detections=detections,
    )


def run_job(job: Job) -> bytes:
    """Do the work of a job and return its tally as bytes.

    Raises:
        EvaluatorVersionError: If the evaluator installed here is of another version.
    """
    evaluator = create_evaluator(job.evaluator, job.parameters, job.specification)
    if evaluator.version != job.version:
        raise EvaluatorVersionError(
            f"the job wants {job.evaluator} {job.version}, here is {evaluator.version}"
        )
    return tally_to_bytes(evaluator.tally(job.truth, job.detections))


def tally_in_parts(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Tally]:
    """Tally by whole sequences, in this process or in several.

    Args:
        evaluators: The evaluators.
        truth: Truth.
        detections: Detections.
        workers: Processes to use; 1 for this one alone, in some threads of it.
        progress: Called after each part with (frames done, frames in all).

    Returns:
        A tally for each evaluator, the same to the last bit whatever `workers` is.

    Raises:
        ValueError: If `workers` is below 1.
    """
    if workers < 1:
        raise ValueError(f"at least 1 worker is needed, not {workers}")
    part_count = 1 + (truth.object_count + detections.object_count) // OBJECTS_A_PART
    if workers > 1 or progress is not None:
        part_count = max(part_count, workers * PARTS_A_WORKER)
    if part_count == 1:
        return tally_together(evaluators, truth, detections)
    parts = split_by_sequence(truth, detections, part_count)
    done, frame_counts = 0, deque[int]()
    tallies = [[evaluator.identity_tally] for evaluator in evaluators]
    with _runner(evaluators, workers) as run:
        for found in run(_counted(parts, frame_counts)):
            for own, tally in zip(tallies, found, strict=True):
                own.append(tally)
            done += frame_counts.popleft()
            if progress is not None:
                progress(done, max(1, truth.frame_count))
    return [merge_tallies(own) for own in tallies]


def _counted(parts: Iterable[Part], frame_counts: deque[int]) -> Iterator[Part]:
    """Parts when they are asked for; notes how many frames of truth each has."""
    for part in parts:
        frame_counts.append(part[0].frame_count)
        yield part


def split_by_sequence(
    truth: Annotations, detections: Annotations, part_count: int
) -> Iterator[Part]:
    """Cut both sides at the same sequences into at most `part_count` parts of like size.

    Args:
        truth: Truth.
        detections: Detections.
        part_count: Most parts wanted; no part is empty.

    Yields:
        Truth and detections of each part: views where the sequences stand in order, else copied
        when it is asked for.
    """
    keys = sorted({*truth.sequences, *detections.sequences})
    position = {key: index for index, key in enumerate(keys)}
    sides = [
        np.array([position[key] for key in side.sequences], dtype=np.int64)[side.frame_sequences]
        if side.frame_count
        else side.frame_sequences
        for side in (truth, detections)
    ]
    weights = sum(
        np.bincount(rows, weights=1.0 + side.object_counts, minlength=len(keys))
        for rows, side in zip(sides, (truth, detections), strict=True)
    )
    part_of_key = _balanced_parts(np.asarray(weights), part_count)
    truth_parts, detection_parts = (part_of_key[rows] for rows in sides)
    for part in np.union1d(truth_parts, detection_parts).tolist():
        yield (
            _frames_of(truth, truth_parts, part),
            _frames_of(detections, detection_parts, part),
        )


def _frames_of(side: Annotations, parts: IntArray, part: int) -> Annotations:
    """The frames of a part, given the part of each frame."""
    frames = np.flatnonzero(parts == part)
    if len(frames) and frames[-1] - frames[0] + 1 == len(frames):
        return side.frame_run(int(frames[0]), int(frames[-1]) + 1)
    return side.take_frames(frames)


def _balanced_parts(weights: AnyArray, part_count: int) -> AnyArray:
    """Part of each sequence, so that parts are runs of sequences of about equal weight."""
    before = np.cumsum(weights) - weights
    return (before * part_count / max(1.0, float(weights.sum()))).astype(np.int64)


@contextmanager
def _runner(
    evaluators: Sequence[Evaluator[Any]], workers: int
) -> Iterator[Callable[[Iterable[Part]], Iterable[list[Tally]]]]:
    """Give a function that tallies parts in order: in threads here, or in fresh processes."""
    if workers == 1:
        # Most of the time is spent in compiled loops, numpy's and ours, without the interpreter.
        yield lambda parts: (
            result() for result in in_threads(lambda part: tally_together(evaluators, *part), parts)
        )
        return
    with SpawnedPool(workers) as pool:

        def run(parts: Iterable[Part]) -> Iterator[list[Tally]]:
            jobs = (make_job(evaluator, *part) for part in parts for evaluator in evaluators)
            tallies = map(tally_from_bytes, pool.map(run_job, jobs))
            return iter(lambda: list(islice(tallies, len(evaluators))), [])

        yield run
