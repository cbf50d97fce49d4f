"""Live scores of a submission that still receives: its completed sequences are tallied.

A sequence is tallied once, when it is completed, into the same accumulators that score a stream
without a benchmark. If the state is dropped, all of it is read from the store again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.alignment import frames_in
from vidscore_evaluators.annotations import Annotations, SequenceKey, concatenate
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.live import Accumulator
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Tally
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.parts import truth_to_score
from vidscore_server.domain.portions import public_side
from vidscore_server.domain.scorer import Scorer, Sides
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord, SubmissionRecord

Basis = tuple[int, str, datetime]
"""Revision of the truth, definition of the benchmark, time of the submission's creation."""


class State(NamedTuple):
    """What live scores depend on.

    Attributes:
        frame_count: Frames of the submission.
        truth_revision: Revision of the truth.
        rules: Definition of the benchmark, as it is stored.
        create_time: When the submission was created: a later one may have the same name.
    """

    frame_count: int
    truth_revision: int
    rules: str
    create_time: datetime

    @classmethod
    def of(
        cls, benchmark: BenchmarkRecord | None, submission: SubmissionRecord | None
    ) -> State | None:
        """The state from both records; None if one is missing, or there is no truth."""
        if benchmark is None or submission is None or not benchmark.truth_revision:
            return None
        return cls(
            submission.frame_count,
            benchmark.truth_revision,
            benchmark.definition,
            submission.create_time,
        )

    @property
    def basis(self) -> Basis:
        """All but the frame count: tallies under another basis are worthless."""
        return self.truth_revision, self.rules, self.create_time


class CompletenessCache(Struct, frozen=True):
    """Which sequences had enough frames to be complete when frames were last counted.

    A sequence with fewer frames than are evaluated cannot be complete, and one that has received no
    frames since then has not changed: in both cases nothing needs to be read. Until as many frames
    have come as the sequence closest to completion lacks, nothing needs to be counted.

    Attributes:
        basis: Basis of the state at that time.
        wanted: Number of evaluated frames of each incomplete sequence.
        enough: Number of frames of each of these sequences that has at least as many.
        due_count: Frame count of the submission from which on one of them may be complete.
    """

    basis: Basis
    wanted: Mapping[tuple[str, str], int]
    enough: Mapping[tuple[str, str], int]
    due_count: int

    @classmethod
    def of(
        cls,
        state: State,
        wanted: Mapping[tuple[str, str], int],
        counts: Mapping[tuple[str, str], int],
    ) -> CompletenessCache:
        """The cache for the present frames.

        Args:
            state: The present state.
            wanted: Number of evaluated frames of each incomplete sequence.
            counts: Number of frames of each sequence.
        """
        lacking = [max(1, count - counts.get(key, 0)) for key, count in wanted.items()]
        due_count = state.frame_count + min(lacking, default=sys.maxsize)
        return cls(state.basis, wanted, _enough(wanted, counts), due_count)

    def is_early(self, state: State) -> bool:
        """Whether too few frames have come since then for any sequence to be complete."""
        return self.basis == state.basis and state.frame_count < self.due_count

    def counted(
        self, state: State, counts: Mapping[tuple[str, str], int]
    ) -> CompletenessCache | None:
        """The updated cache; None if a sequence may have been completed since then.

        Args:
            state: The present state.
            counts: Number of frames of each sequence.
        """
        now = self.of(state, self.wanted, counts)
        return now if (now.basis, now.enough) == (self.basis, self.enough) else None


class LiveRun:
    """The live scoring of a submission: tallies of completed sequences, columns of all others.

    Args:
        basis: What it holds for.
        evaluators: The benchmark's evaluators.

    Attributes:
        basis: What it holds for.
        accumulators: The tallies of completed sequences.
        completed: These sequences.
        frame_count: Evaluated frames of them.
        waiting: Detections of sequences that are not complete.
        read_to: For each stream the offset up to which it was read.
        outdated: Whether a completed sequence got further frames, none of them evaluated: then all
            sequences are tallied anew when the next one is completed.
        held_bytes: Memory of the columns and tallies, in bytes.
    """

    def __init__(self, basis: Basis, evaluators: Sequence[Evaluator[Any]]) -> None:
        self.basis = basis
        self.accumulators = [Accumulator(evaluator) for evaluator in evaluators]
        self.completed: frozenset[SequenceKey] = frozenset()
        self.frame_count = 0
        self.waiting: Annotations | None = None
        self.read_to: Mapping[str, int] = {}
        self.outdated = False
        self.held_bytes = 0

    def take(self, news: News, tallies: Sequence[Tally]) -> None:
        """Add what was read, with the tallies of newly completed sequences, if any."""
        for accumulator, tally in zip(self.accumulators, tallies, strict=bool(tallies)):
            accumulator.add_tally(tally)
        self.completed |= news.completed
        self.frame_count += news.truth.frame_count
        self.waiting, self.read_to, self.outdated = news.waiting, news.read_to, news.outdated
        tally_bytes = sum(accumulator.tally_bytes for accumulator in self.accumulators)
        self.held_bytes = news.waiting.held_bytes + tally_bytes

    def tallies(self) -> list[Tally | None]:
        """Tallies over the completed sequences; None if there are none."""
        return [accumulator.whole() for accumulator in self.accumulators]


class News(Struct, frozen=True, eq=False):
    """What was read from the store for a run; the run changes only once it is tallied.

    Attributes:
        run: The run that it adds to.
        completeness: The new cache.
        raw: The benchmark, and both sides as read.
        completed: Newly completed sequences.
        truth: Truth of these, as evaluators get it.
        detections: Detections of these.
        waiting: Detections of incomplete sequences.
        read_to: For each stream the offset up to which it is read.
        outdated: As in `LiveRun`.
    """

    run: LiveRun
    completeness: CompletenessCache
    raw: Sides
    completed: frozenset[SequenceKey]
    truth: Annotations
    detections: Annotations
    waiting: Annotations
    read_to: Mapping[str, int]
    outdated: bool


def read_news(
    scorer: Scorer,
    reader: Reader,
    name: SubmissionName,
    state: State,
    run: LiveRun | None,
) -> News:
    """Read what has come since a run last read; everything if there is no run.

    Args:
        scorer: The scorer.
        reader: A state of the store.
        name: The submission.
        state: The state of its live scores.
        run: Its live scoring so far; None if there is none.

    Raises:
        LookupError: If the truth is gone.
    """
    read_to = {} if run is None else run.read_to
    raw, ends = scorer.sides_from(reader, name, state.truth_revision, read_to)
    if run is None:
        run = LiveRun(state.basis, raw.definition.evaluators)
    # Private sequences are treated as absent: neither tallied nor waited for.
    raw = replace(raw, detections=public_side(raw.definition, raw.detections))
    truth = truth_to_score(raw.definition.specification, raw.truth, complete=True)
    truth = public_side(raw.definition, truth)
    late = _of(raw.detections, run.completed)
    came = raw.detections.take_frames(~late)
    waiting = came if run.waiting is None else concatenate([run.waiting, came])
    completed = _completed(raw, truth.take_frames(~_of(truth, run.completed)), waiting)
    chosen = _of(waiting, completed)
    wanted = _frame_counts(truth.take_frames(~_of(truth, run.completed | completed)))
    return News(
        run,
        CompletenessCache.of(state, wanted, reader.frame_counts(*name)),
        raw,
        completed,
        truth.take_frames(_of(truth, completed)),
        waiting.take_frames(chosen),
        waiting.take_frames(~chosen),
        ends,
        run.outdated or bool(late.any()),
    )


def _frame_counts(side: Annotations) -> dict[tuple[str, str], int]:
    counts = np.bincount(side.frame_sequences, minlength=len(side.sequences)).tolist()
    return {
        (key.domain, key.sequence): count
        for key, count in zip(side.sequences, counts, strict=True)
        if count
    }


def _enough(
    wanted: Mapping[tuple[str, str], int], counts: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str], int]:
    """Frame counts of the sequences that have at least the wanted number of frames."""
    return {key: counts[key] for key, count in wanted.items() if counts.get(key, 0) >= count}


def _completed(raw: Sides, truth: Annotations, detections: Annotations) -> frozenset[SequenceKey]:
    """Sequences with complete truth and with detections received for every frame.

    Args:
        raw: The benchmark, and its truth as received.
        truth: Truth as scored, of the candidate sequences.
        detections: Detections of these.
    """
    lacking = ~frames_in(truth, detections)
    if raw.partial:
        counted = _counted(raw.definition.specification)
        of_counted = np.array([key in counted for key in truth.sequences], dtype=np.bool_)
        lacking |= ~frames_in(truth, raw.truth) | ~of_counted[truth.frame_sequences]
    frames = np.bincount(truth.frame_sequences, minlength=len(truth.sequences))
    lacks = np.bincount(truth.frame_sequences[lacking], minlength=len(truth.sequences))
    rows = np.flatnonzero((frames > 0) & (lacks == 0)).tolist()
    return frozenset(truth.sequences[row] for row in rows)


def _counted(specification: BenchmarkSpec) -> set[SequenceKey]:
    """Sequences for which the specification lists the evaluated frames."""
    return {entry.key for entry in specification.sequences if entry.evaluated_frames is not None}


def _of(side: Annotations, sequences: frozenset[SequenceKey]) -> BoolArray:
    """(F,) whether each frame of a side belongs to one of the given sequences."""
    chosen = np.array([key in sequences for key in side.sequences], dtype=np.bool_)
    return np.asarray(chosen[side.frame_sequences])
