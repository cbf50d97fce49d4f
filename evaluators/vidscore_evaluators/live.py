"""Live scores: pair the frames of two streams and score while they arrive, without transport.

`Pairing` buffers the frames of which only one side has arrived and returns those that are complete:
a live report covers these. `Accumulator` holds the state of one evaluator for a stream. Tallying is
a `Job`, so that a server can run it elsewhere; `StreamScorer` runs it at once, for notebooks and
the contract suite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from vidscore_evaluators.alignment import restrict, unknown_sequences, unlisted_frames
from vidscore_evaluators.annotations import (
    ARITIES,
    Annotations,
    SequenceKey,
    Side,
    concatenate,
    empty_annotations,
    frame_keys,
    frame_name,
    with_arity,
)
from vidscore_evaluators.errors import Fault, GeometryError, InputError, LimitError
from vidscore_evaluators.evaluator import Evaluator, Unit
from vidscore_evaluators.jobs import Job, make_job
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Tally, merge_tallies

FrameKey = tuple[SequenceKey, int]


class Coverage(Struct, frozen=True):
    """Progress of both sides of a stream.

    Attributes:
        paired: Frames that both sides have sent.
        waiting_for_detections: Frames of the truth whose detections have not arrived.
        waiting_for_truth: Frames of the detections whose truth has not arrived.
    """

    paired: int
    waiting_for_detections: int
    waiting_for_truth: int


class _Half(Struct):
    """One side: the key of every frame seen, and the waiting frames."""

    seen: set[FrameKey] = field(default_factory=set)
    waiting: dict[FrameKey, tuple[Annotations, int]] = field(default_factory=dict)
    held_bytes: int = 0
    _frames_left: dict[int, int] = field(default_factory=dict)

    def put(self, keys: list[FrameKey], batch: Annotations) -> None:
        """Add the frames of a batch; the batch is held until the last of them is taken."""
        if not keys:
            return
        self.seen.update(keys)
        self.waiting.update((key, (batch, row)) for row, key in enumerate(keys))
        self._frames_left[id(batch)] = len(keys)
        self.held_bytes += batch.held_bytes

    def take(self, keys: list[FrameKey]) -> Annotations:
        """Take waiting frames out, batch by batch."""
        batches: dict[int, Annotations] = {}
        rows: dict[int, list[int]] = {}
        for key in keys:
            batch, row = self.waiting.pop(key)
            batches[id(batch)] = batch
            rows.setdefault(id(batch), []).append(row)
        for name, batch in batches.items():
            self._frames_left[name] -= len(rows[name])
            if self._frames_left[name] == 0:
                del self._frames_left[name]
                self.held_bytes -= batch.held_bytes
        return concatenate([_frames_of(batch, rows[name]) for name, batch in batches.items()])


def _frames_of(batch: Annotations, rows: list[int]) -> Annotations:
    """Some frames of a batch; the batch itself if they are all its frames in order."""
    is_whole = rows == list(range(batch.frame_count))
    return batch if is_whole else batch.take_frames(np.array(rows))


class Pairing:
    """Pairs the frames of truth and detections, which arrive in any interleaving.

    Args:
        maximum_waiting: Maximum number of frames that wait, of both sides together.
    """

    def __init__(self, maximum_waiting: int) -> None:
        self._maximum_waiting = maximum_waiting
        self._halves = {side: _Half() for side in Side}
        self._paired = 0

    @property
    def coverage(self) -> Coverage:
        """Progress of both sides."""
        return Coverage(
            paired=self._paired,
            waiting_for_detections=len(self._halves[Side.TRUTH].waiting),
            waiting_for_truth=len(self._halves[Side.DETECTIONS].waiting),
        )

    @property
    def waits_for_nothing(self) -> bool:
        """Whether no frame waits for its other side."""
        return not any(half.waiting for half in self._halves.values())

    @property
    def held_bytes(self) -> int:
        """Memory of the batches in which a frame still waits."""
        return sum(half.held_bytes for half in self._halves.values())

    def seen(self, side: Side) -> set[FrameKey]:
        """Every frame that a side has sent."""
        return self._halves[side].seen

    def refuse_repeats(self, side: Side, batch: Annotations) -> None:
        """Refuse frames that a side has already sent.

        Raises:
            InputError: With every repeated frame.
        """
        _refuse_repeats(side, frame_keys(batch), self._halves[side].seen)

    def add(self, side: Side, batch: Annotations) -> tuple[Annotations, Annotations] | None:
        """Add whole frames of one side.

        Args:
            side: The side that they belong to.
            batch: The frames; none of them was sent before on that side.

        Returns:
            (truth, detections) of the frames that became complete, or None.

        Raises:
            InputError: With every frame that side has already sent. Nothing is added.
            LimitError: If more frames would wait than allowed. Nothing is added.
        """
        mine = self._halves[side]
        theirs = self._halves[Side.DETECTIONS if side is Side.TRUTH else Side.TRUTH]
        keys = frame_keys(batch)
        _refuse_repeats(side, keys, mine.seen)
        complete = [key for key in keys if key in theirs.waiting]
        self._refuse_too_many(len(keys) - 2 * len(complete))
        mine.put(keys, batch)
        self._paired += len(complete)
        if not complete:
            return None
        return self._halves[Side.TRUTH].take(complete), self._halves[Side.DETECTIONS].take(complete)

    def drain(self, side: Side) -> Annotations | None:
        """Remove and return all waiting frames of a side; None if there are none."""
        half = self._halves[side]
        return half.take(list(half.waiting)) if half.waiting else None

    def _refuse_too_many(self, more: int) -> None:
        waiting = sum(len(half.waiting) for half in self._halves.values()) + more
        if more > 0 and waiting > self._maximum_waiting:
            raise LimitError(
                f"{waiting} frames would wait for their other side",
                "maximum_waiting_frames",
                self._maximum_waiting,
            )


def _refuse_repeats(side: Side, keys: list[FrameKey], seen: set[FrameKey]) -> None:
    repeats = []
    within: set[FrameKey] = set()
    for row, key in enumerate(keys):
        if key in seen or key in within:
            repeats.append(
                Fault(
                    source=side.value,
                    entry=row,
                    found=f"{frame_name(*key)} again",
                    expected="each frame once",
                )
            )
        within.add(key)
    if repeats:
        raise InputError(repeats)


DEFAULT_MAXIMUM_WAITING = 1_000_000
MERGE_AFTER = 64
"""Number of tallies that trigger a merge: one merge of many is cheaper than many of two."""
JOIN_AFTER = 1024
"""Number of pending batches that are joined: many small batches take more memory."""


class Accumulator:
    """State of one evaluator for a stream: a tally, and pending columns that are not yet in it.

    Evaluators that need whole sequences keep their columns and are tallied anew for each report. A
    caller that knows which sequences are complete can tally these itself and add the tallies.
    """

    def __init__(self, evaluator: Evaluator[Any]) -> None:
        self.evaluator = evaluator
        self._tallies: list[Tally] = []
        self._pending: list[tuple[Annotations, Annotations]] = []
        self._pending_bytes = 0

    @property
    def pending_bytes(self) -> int:
        """Memory of the pending columns."""
        return self._pending_bytes

    @property
    def tally_bytes(self) -> int:
        """Bytes of the tally."""
        return sum(tally.nbytes for tally in self._tallies)

    @property
    def can_compact(self) -> bool:
        """Whether pending columns may go into the tally before the stream ends."""
        return self.evaluator.unit is Unit.FRAME

    def add(self, truth: Annotations, detections: Annotations) -> None:
        """Add frames that both sides have sent; cheap, nothing is scored yet."""
        self._pending.append((truth, detections))
        self._pending_bytes += truth.held_bytes + detections.held_bytes
        if len(self._pending) > JOIN_AFTER and not self.can_compact:
            self._join_pending()

    def work(self) -> Job | None:
        """The job to run before the next report; None if nothing is pending.

        It joins the pending batches, so that small ones are joined once and not for each report.
        """
        self._join_pending()
        return make_job(self.evaluator, *self._pending[0]) if self._pending else None

    def compact(self, tally: Tally, taken: int) -> None:
        """Replace the first `taken` pending batches by their tally."""
        self._pending_bytes -= _held_bytes(self._pending[:taken])
        del self._pending[:taken]
        self.add_tally(tally)

    def add_tally(self, tally: Tally) -> None:
        """Add the tally of frames that were never pending.

        For an evaluator that needs whole sequences, the frames must be whole sequences.
        """
        self._tallies.append(tally)
        if len(self._tallies) > MERGE_AFTER:
            self._tallies = [merge_tallies(self._tallies)]

    @property
    def pending_count(self) -> int:
        """Number of pending batches."""
        return len(self._pending)

    def report(self, unsettled: Tally | None = None) -> Report:
        """Report over the tally and, if given, a tally of the pending columns."""
        return self.evaluator.report(self.whole(unsettled))

    def whole(self, unsettled: Tally | None = None) -> Tally | None:
        """The tally together with one of the pending columns, if given; None if there is none."""
        tallies = self._tallies if unsettled is None else [*self._tallies, unsettled]
        return merge_tallies(tallies) if tallies else None

    def _join_pending(self) -> None:
        if len(self._pending) > 1:
            truths, detections = zip(*self._pending, strict=True)
            self._pending = [(concatenate(truths), concatenate(detections))]
            self._pending_bytes = _held_bytes(self._pending)


class StreamScorer:
    """Scores two sides that arrive in batches, in this process.

    Args:
        evaluators: Evaluators of one specification.
        specification: The benchmark's specification.
        maximum_waiting: Maximum number of frames that wait for their other side.
    """

    def __init__(
        self,
        evaluators: Sequence[Evaluator[Any]],
        specification: BenchmarkSpec = BenchmarkSpec(),
        maximum_waiting: int = DEFAULT_MAXIMUM_WAITING,
    ) -> None:
        self._specification = specification
        self._pairing = Pairing(maximum_waiting)
        self._accumulators = [Accumulator(evaluator) for evaluator in evaluators]
        self._defaults = {
            side: arities[0]
            for one in evaluators[:1]
            for side, arities in (
                (Side.TRUTH, one.needs.truth_arities),
                (Side.DETECTIONS, one.needs.detection_arities),
            )
        }
        self._arities: dict[Side, int] = {}
        self._ended = False

    @property
    def coverage(self) -> Coverage:
        """Progress of both sides."""
        return self._pairing.coverage

    def add(self, side: Side, batch: Annotations) -> None:
        """Add whole frames of one side; a refused batch changes nothing.

        Raises:
            GeometryError: If an evaluator cannot use the coordinates, or batches differ in them.
            InputError: If a frame was already sent, or breaks a rule of an evaluator.
            LimitError: If more frames would wait than allowed.
            RuntimeError: If the final reports have been made.
        """
        if self._ended:
            raise RuntimeError("the stream has ended with its final reports")
        batch = self._shaped(side, batch)
        self._refuse_forbidden(side, batch)
        complete = pair_frames(self._pairing, self._specification, side, batch)
        if batch.object_count:
            self._arities[side] = batch.arity
        if complete is not None:
            for accumulator in self._accumulators:
                accumulator.add(*complete)

    def add_both(self, truth: Annotations, detections: Annotations) -> None:
        """Add the same whole frames of both sides; if either is refused, nothing changes.

        Raises:
            GeometryError: As for `add`; so are the other errors.
            InputError: If a frame was already sent, or breaks a rule of an evaluator.
        """
        truth = self._shaped(Side.TRUTH, truth)
        detections = self._shaped(Side.DETECTIONS, detections)
        for side, batch in ((Side.TRUTH, truth), (Side.DETECTIONS, detections)):
            self._refuse_forbidden(side, batch)
            self._pairing.refuse_repeats(side, batch)
        self.add(Side.TRUTH, truth)
        self.add(Side.DETECTIONS, detections)

    def compact(self) -> None:
        """Tally the pending columns to free their memory, unless whole sequences are needed."""
        for accumulator in self._accumulators:
            if accumulator.can_compact:
                _compact(accumulator)

    def live_reports(self) -> list[Report]:
        """Reports over exactly the frames that both sides have sent."""
        return [_report(accumulator) for accumulator in self._accumulators]

    def final_reports(self) -> list[Report]:
        """Reports over every evaluated frame; those without detections count as missed.

        Raises:
            InputError: If detections name a sequence that neither truth nor specification knows.
        """
        if not self._ended:
            arities = self._defaults | self._arities
            rest = final_frames(self._pairing, self._specification, arities)
            if rest is not None:
                for accumulator in self._accumulators:
                    accumulator.add(*rest)
            self._ended = True
        return self.live_reports()

    def _shaped(self, side: Side, batch: Annotations) -> Annotations:
        """The batch with the arity of its side; an empty batch may have come with any."""
        return with_arity(batch, (self._defaults | self._arities).get(side))

    def _refuse_forbidden(self, side: Side, batch: Annotations) -> None:
        before = self._arities.get(side, batch.arity)
        if batch.arity != before:
            found = ARITIES.get(batch.arity, f"{batch.arity} coordinates per object")
            expected = f"{ARITIES[before]}, as in the batches before"
            raise GeometryError([Fault(found, expected, source=side.value)])
        faults: list[Fault] = []
        for accumulator in self._accumulators:
            accumulator.evaluator.check_arity(side, batch.arity)
            faults.extend(accumulator.evaluator.input_faults(side, batch))
        if faults:
            raise InputError(list(dict.fromkeys(faults)))


def pair_frames(
    pairing: Pairing, specification: BenchmarkSpec, side: Side, batch: Annotations
) -> tuple[Annotations, Annotations] | None:
    """Add whole frames of one side.

    Frames of the truth that are not evaluated are paired like all others and then dropped.

    Args:
        pairing: The frames of both sides.
        specification: The benchmark's specification.
        side: The side that they belong to.
        batch: The frames.

    Returns:
        (truth, detections) of the frames that became complete, or None.

    Raises:
        SpecificationError: If a frame of the truth lies outside its video.
        InputError: If that side has already sent a frame.
        LimitError: If more frames would wait than allowed.
    """
    if side is Side.TRUTH:
        restrict(specification, batch)  # refuses frames outside a video before any is added
    complete = pairing.add(side, batch)
    if complete is None:
        return None
    return restrict(specification, complete[0]), complete[1]


def final_frames(
    pairing: Pairing, specification: BenchmarkSpec, arities: Mapping[Side, int]
) -> tuple[Annotations, Annotations] | None:
    """The remaining frames when both sides have ended; None if there are none.

    Args:
        pairing: The frames of both sides; waiting ones are removed.
        specification: The benchmark's specification.
        arities: Coordinates per object, by side.

    Raises:
        InputError: If detections name a sequence that neither truth nor specification knows.
    """
    unknown = unknown_sequences(
        specification,
        {key for key, _ in pairing.seen(Side.TRUTH)},
        {key for key, _ in pairing.seen(Side.DETECTIONS)},
    )
    if unknown:
        raise InputError(list(unknown.values()))
    if not specification.sequences and pairing.waits_for_nothing:
        return None
    missing = unlisted_frames(specification, pairing.seen(Side.TRUTH), arities[Side.TRUTH])
    waiting = pairing.drain(Side.TRUTH)
    truth = [missing] if waiting is None else [missing, waiting]
    detections = pairing.drain(Side.DETECTIONS)
    if detections is None:
        detections = empty_annotations(arities[Side.DETECTIONS])
    joined = restrict(specification, concatenate(truth))
    if joined.frame_count == 0 and detections.frame_count == 0:
        return None
    return joined, detections


def _held_bytes(pairs: Sequence[tuple[Annotations, Annotations]]) -> int:
    return sum(truth.held_bytes + detections.held_bytes for truth, detections in pairs)


def _report(accumulator: Accumulator) -> Report:
    if accumulator.can_compact:
        _compact(accumulator)
        return accumulator.report()
    job = accumulator.work()
    if job is None:
        return accumulator.report()
    return accumulator.report(accumulator.evaluator.tally(job.truth, job.detections))


def _compact(accumulator: Accumulator) -> None:
    job = accumulator.work()
    if job is not None:
        tally = accumulator.evaluator.tally(job.truth, job.detections)
        accumulator.compact(tally, accumulator.pending_count)
