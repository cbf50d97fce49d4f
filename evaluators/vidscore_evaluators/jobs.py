"""Jobs: tallying in parts, in this process or in workers, and sweeps over a parameter.

A job names its evaluator and does not hold it. A worker rebuilds the evaluator from its own
registry, plug-ins included, and refuses another version.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.arrays import BoolArray, distinct, run_starts
from vidscore_evaluators.errors import EvaluatorVersionError, Fault
from vidscore_evaluators.evaluator import Evaluator, Unit, tally_many
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.parameters import parameter_values, parse_parameters
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report, Scores
from vidscore_evaluators.runtime import Progress, SpawnedPool, map_threads, thread_count
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Tally, merge_tallies
from vidscore_evaluators.tally_bytes import tally_from_bytes, tally_to_bytes

PARTS_PER_WORKER = 4
"""Parts per worker: enough to balance long and short sequences."""

OBJECTS_PER_PART = 1 << 18
"""Objects of both sides per part, so that memory stays bounded and columns stay in the processor's
cache. A longer sequence is one part, unless it may be split into frames."""

OBJECTS_PER_THREAD = 1 << 16
"""Objects of both sides for which another thread pays off, including adding its tally."""

OBJECTS_PER_CUT = 1 << 14
"""Objects of both sides for which cutting a sequence pays off."""

DEFERRED_BYTES = 1 << 23
"""Upper bound on the columns of both sides that a report may hold, to compute digests and warnings
later. Alignment may have copied each of them; the report then holds the copies too."""

OBJECTS_TO_WAIT_FOR = 1 << 14
"""Objects of both sides that take long enough for users to want to see progress."""

OUTCOMES_PER_PART = 1 << 16
"""The same for outcomes, which are a row per object and stay in memory. The working memory of a
part is added to that of all rows, so parts are smaller."""


Part = tuple[Annotations, Annotations]
"""Truth and detections of whole sequences, or frames."""

PartArray = NDArray[np.int32]
"""Numbers of parts."""


class Job(Struct, frozen=True):
    """A part of the tallying.

    Attributes:
        evaluator: Name of the evaluator.
        version: Required version of the evaluator.
        parameters: Its parameters by name.
        specification: The benchmark's specification.
        truth: Truth of whole frames or sequences.
        detections: Detections of the same frames or sequences.
    """

    evaluator: str
    version: str
    parameters: dict[str, Any]
    specification: BenchmarkSpec
    truth: Annotations
    detections: Annotations


def make_job(evaluator: Evaluator[Any], truth: Annotations, detections: Annotations) -> Job:
    """Describe a part of the tallying, so that another process can do it."""
    return Job(
        evaluator=evaluator.name,
        version=evaluator.version,
        parameters=parameter_values(evaluator.parameters),
        specification=evaluator.specification,
        truth=truth,
        detections=detections,
    )


def run_job(job: Job) -> bytes:
    """Run a job and return its tally as bytes.

    Raises:
        EvaluatorVersionError: If the evaluator installed here is of another version.
    """
    return tally_to_bytes(evaluator_of(job).tally(job.truth, job.detections))


def run_outcome_job(job: Job, at: OperatingPoint = OperatingPoint()) -> Outcomes:
    """Outcomes of each object and detection of a job.

    Raises:
        EvaluatorVersionError: If the evaluator installed here is of another version.
        ParameterError: If the evaluator has no outcomes, or none at this operating point.
    """
    return evaluator_of(job).outcomes(align(job.truth, job.detections), at)


def run_report_job(job: Job, tally: bytes | None) -> Report:
    """The report of a tally by the evaluator of a job; it names no preset.

    Args:
        job: Names the evaluator.
        tally: Its tally; None for that of no frames.

    Raises:
        EvaluatorVersionError: If the evaluator installed here is of another version.
    """
    return evaluator_of(job).report(None if tally is None else tally_from_bytes(tally))


def run_faults_job(job: Job, side: Side) -> list[Fault]:
    """Violations of the evaluator's rules in one side of a job.

    Raises:
        EvaluatorVersionError: If the evaluator installed here is of another version.
    """
    batch = job.truth if side is Side.TRUTH else job.detections
    return evaluator_of(job).input_faults(side, batch)


def evaluator_of(job: Job) -> Evaluator[Any]:
    """The evaluator of a job.

    Raises:
        EvaluatorVersionError: If the evaluator installed here is of another version.
    """
    evaluator = create_evaluator(job.evaluator, job.parameters, job.specification)
    if evaluator.version != job.version:
        raise EvaluatorVersionError(
            f"the job needs {job.evaluator} {job.version}, but {evaluator.version} is installed"
        )
    return evaluator


def tally_in_parts(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    *,
    workers: int = 1,
    progress: Progress | None = None,
    defers: bool = False,
) -> list[Tally]:
    """Tally by sequences, or by frames if all evaluators can; in this process or in several.

    Args:
        evaluators: The evaluators.
        truth: Truth.
        detections: Detections.
        workers: Processes to use; 1 for threads of this process.
        progress: Called after each part with (frames done, frames in all).
        defers: As for `tally_many`, but only up to `DEFERRED_BYTES`, in one part.

    Returns:
        A tally for each evaluator, the same to the last bit whatever `workers` is.

    Raises:
        ValueError: If `workers` is below 1.
    """
    if workers < 1:
        raise ValueError(f"at least 1 worker is needed, not {workers}")
    object_count = truth.object_count + detections.object_count
    part_count = 1 + object_count // OBJECTS_PER_PART
    if workers > 1:
        part_count = max(part_count, workers * PARTS_PER_WORKER)
    elif progress is not None:
        part_count = max(part_count, min(PARTS_PER_WORKER, object_count // OBJECTS_TO_WAIT_FOR))
    defers = defers and truth.nbytes + detections.nbytes <= DEFERRED_BYTES
    if workers == 1 and not defers:
        part_count = max(part_count, min(thread_count(), object_count // OBJECTS_PER_THREAD))
    if part_count == 1:
        whole = tally_many(evaluators, truth, detections, defers=defers)
        if progress is not None:
            progress(truth.frame_count, max(1, truth.frame_count))
        return whole
    parts = split(truth, detections, part_count, unit_of(evaluators))
    done, frame_counts = 0, deque[int]()
    tallies: list[list[Tally]] = [[] for _ in evaluators]
    with _runner(evaluators, workers) as run:
        for found in run(_counted(parts, frame_counts)):
            for own, tally in zip(tallies, found, strict=True):
                own.append(tally)
            done += frame_counts.popleft()
            if progress is not None:
                progress(done, max(1, truth.frame_count))
    return [
        merge_tallies(own or [evaluator.identity_tally])
        for evaluator, own in zip(evaluators, tallies, strict=True)
    ]


def outcomes_in_parts(
    evaluator: Evaluator[Any],
    truth: Annotations,
    detections: Annotations,
    at: OperatingPoint = OperatingPoint(),
    *,
    progress: Progress | None = None,
) -> Iterator[Outcomes]:
    """Outcomes by whole sequences, so that memory stays bounded.

    Args:
        evaluator: An evaluator that has outcomes.
        truth: Truth.
        detections: Detections.
        at: The operating point on the evaluator's curves.
        progress: Called after each part with (frames done, frames in all).

    Yields:
        The rows of each part, at least one; sequences are in ascending order.
    """
    part_count = 1 + (truth.object_count + detections.object_count) // OUTCOMES_PER_PART
    done = 0
    for part in split(truth, detections, part_count):
        frame_count, aligned = part[0].frame_count, align(*part)
        # Alignment may have copied the part: hold neither while the next part is made.
        del part
        rows = evaluator.outcomes(aligned, at)
        del aligned
        yield rows
        del rows
        done += frame_count
        if progress is not None:
            progress(done, max(1, truth.frame_count))
    if truth.frame_count + detections.frame_count == 0:
        yield evaluator.outcomes(align(truth, detections), at)


def _counted(parts: Iterable[Part], frame_counts: deque[int]) -> Iterator[Part]:
    """Pass parts through, and append the number of truth frames of each."""
    for part in parts:
        frame_counts.append(part[0].frame_count)
        yield part


def unit_of(evaluators: Iterable[Evaluator[Any]]) -> Unit:
    """The smallest part of the input that all the evaluators can tally."""
    units = {evaluator.unit for evaluator in evaluators}
    return Unit.SEQUENCE if Unit.SEQUENCE in units else Unit.FRAME


def split(
    truth: Annotations,
    detections: Annotations,
    part_count: int,
    unit: Unit = Unit.SEQUENCE,
) -> Iterator[Part]:
    """Split both sides at the same places into at most `part_count` parts of similar size.

    Args:
        truth: Truth.
        detections: Detections.
        part_count: Maximum number of parts; none is empty.
        unit: The unit that stays whole. If it is the frame, a sequence longer than a part is cut,
            provided that a part has `OBJECTS_PER_CUT` or more.

    Yields:
        Truth and detections of each part: views if its frames are contiguous, else copies.
    """
    truth_parts, detection_parts = _parts_of_frames((truth, detections), part_count, unit)
    for part in distinct(np.concatenate([truth_parts, detection_parts])).tolist():
        yield (
            frames_of_part(truth, truth_parts, part),
            frames_of_part(detections, detection_parts, part),
        )


def _parts_of_frames(sides: Part, part_count: int, unit: Unit) -> list[PartArray]:
    """Part of each frame of both sides: runs of sequences, or of frames, of similar weight."""
    keys = sorted({key for side in sides for key in side.sequences})
    position = {key: index for index, key in enumerate(keys)}
    places = [np.array([position[key] for key in side.sequences], dtype=np.int64) for side in sides]
    weights = np.zeros(len(keys))
    for side, place in zip(sides, places, strict=True):
        own = np.bincount(
            side.frame_sequences, weights=1.0 + side.object_counts, minlength=len(place)
        )
        weights[place] += own
    before, weight = np.cumsum(weights) - weights, max(1.0, float(weights.sum())) / part_count
    parts = [
        (before // weight).astype(np.int32)[place][side.frame_sequences]
        for side, place in zip(sides, places, strict=True)
    ]
    if unit is Unit.FRAME and weight >= OBJECTS_PER_CUT:
        for key in np.flatnonzero(weights > weight).tolist():
            _cut(sides, [place == key for place in places], parts, before[key], weight)
    return parts


def _cut(
    sides: Part, own: Sequence[BoolArray], parts: Sequence[PartArray], before: float, weight: float
) -> None:
    """Divide the frames of a sequence that is longer than a part.

    Args:
        sides: Both sides.
        own: For each side, the sequence's index in its table of sequences.
        parts: For each side, the part of each frame; those of the sequence are set here.
        before: Weight of the sequences before it.
        weight: Weight of a part.
    """
    rows = [own_key[side.frame_sequences] for side, own_key in zip(sides, own, strict=True)]
    numbers = [side.frame_numbers[mine] for side, mine in zip(sides, rows, strict=True)]
    counts = [side.object_counts[mine] for side, mine in zip(sides, rows, strict=True)]
    both = np.concatenate(numbers)
    order = np.argsort(both, kind="stable")
    first = run_starts(both[order])
    weights = 1.0 + np.concatenate(counts)[order]
    part_of_frame = (before + (np.cumsum(weights) - weights)[first]) // weight
    frames = both[order[first]]
    for part, mine, own_numbers in zip(parts, rows, numbers, strict=True):
        part[mine] = part_of_frame[frames.searchsorted(own_numbers)]


def frames_of_part(side: Annotations, parts: PartArray, part: int) -> Annotations:
    """The frames of a part, over a table of their sequences.

    Args:
        side: Truth or detections.
        parts: (F,) part of each frame.
        part: The part to take.

    Returns:
        Views if its frames are contiguous, else copies.
    """
    frames = np.flatnonzero(parts == part)
    if len(frames) and frames[-1] - frames[0] + 1 == len(frames):
        own = side.frame_run(int(frames[0]), int(frames[-1]) + 1)
    else:
        own = side.take_frames(frames)
    # Otherwise each of many parts would go through all names.
    used = distinct(own.frame_sequences)
    if len(used) == len(side.sequences):
        return own
    return structs.replace(
        own,
        sequences=tuple(side.sequences[row] for row in used.tolist()),
        frame_sequences=np.searchsorted(used, own.frame_sequences),
    )


@contextmanager
def _runner(
    evaluators: Sequence[Evaluator[Any]], workers: int
) -> Iterator[Callable[[Iterable[Part]], Iterable[list[Tally]]]]:
    """A function that tallies parts in order: in threads here, or in new processes."""
    if workers == 1:
        # Most of the time is spent in kernels, numpy's and ours, which release the GIL.
        yield lambda parts: (
            result() for result in map_threads(lambda part: tally_many(evaluators, *part), parts)
        )
        return
    with SpawnedPool(workers) as pool:

        def run(parts: Iterable[Part]) -> Iterator[list[Tally]]:
            jobs = (make_job(evaluator, *part) for part in parts for evaluator in evaluators)
            tallies = map(tally_from_bytes, pool.map(run_job, jobs))
            return iter(lambda: list(islice(tallies, len(evaluators))), [])

        yield run


def sweep(
    evaluator: Evaluator[Any],
    parameter: str,
    truth: Annotations,
    detections: Annotations,
    values: Sequence[float] | None = None,
) -> dict[float, Scores]:
    """Score the same input at each of several values of a parameter.

    An evaluator whose tally contains the scores at several values (`Evaluator.grid_scores`) runs
    once for all of those, and once for each other value. The scores are the same.

    Args:
        evaluator: The evaluator; its other parameters stay as they are.
        parameter: Name of the parameter; an array parameter gets one value at a time.
        truth: Truth, restricted to the evaluated frames.
        detections: Detections.
        values: The values; the evaluator's grid by default.

    Returns:
        Scores by value, in the order of `values`.

    Raises:
        ParameterError: If a value is outside the parameter's bounds.
    """
    wanted = evaluator.grid(parameter) if values is None else tuple(values)
    held = evaluator.grid_scores(evaluator.tally(truth, detections), parameter)
    return {
        value: held[value]
        if value in held
        else _scores(with_parameter(evaluator, parameter, value), truth, detections)
        for value in wanted
    }


def with_parameter(evaluator: Evaluator[Any], parameter: str, value: float) -> Evaluator[Any]:
    """The same evaluator with another value of one parameter.

    Raises:
        ParameterError: If the value is outside the parameter's bounds.
    """
    present = parameter_values(evaluator.parameters)
    several = isinstance(present[parameter], tuple)
    changed = present | {parameter: (value,) if several else value}
    return type(evaluator)(parse_parameters(evaluator.Parameters, changed), evaluator.specification)


def _scores(evaluator: Evaluator[Any], truth: Annotations, detections: Annotations) -> Scores:
    return dataclasses.replace(evaluator.scores(evaluator.tally(truth, detections)), curves=())
