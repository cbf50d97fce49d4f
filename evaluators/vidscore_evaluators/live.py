"""Scores while frames still come in: the one path of streams, kept free of transport.

`Accumulator` holds what one evaluator has of a stream. Tallying is a `Job`, so that a server can
run it elsewhere; `StreamScorer` runs it on the spot and is what a notebook and the contract
suite use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vidscore_evaluators.annotations import ARITIES, Annotations, concatenate, empty_annotations
from vidscore_evaluators.errors import Fault, GeometryError, InputError
from vidscore_evaluators.evaluated_frames import restrict, unknown_sequences, unlisted_frames
from vidscore_evaluators.evaluator import Evaluator, Side, Unit
from vidscore_evaluators.jobs import Job, make_job
from vidscore_evaluators.pairing import Coverage, Pairing
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Tally, merge_tallies

DEFAULT_MAXIMUM_WAITING = 1_000_000
MERGE_AFTER = 64
"""Tallies that are kept apart before they are merged: one merge of many beats many of two."""
JOIN_AFTER = 1024
"""Pending batches that are kept apart before they are joined: many small ones cost memory."""


class Accumulator:
    """What one evaluator has of a stream: a tally, and columns that are not in it yet.

    Evaluators that need whole sequences keep their columns and are tallied anew for each report.
    """

    def __init__(self, evaluator: Evaluator[Any]) -> None:
        """Start with nothing."""
        self.evaluator = evaluator
        self._tallies: list[Tally] = [evaluator.identity_tally]
        self._pending: list[tuple[Annotations, Annotations]] = []
        self._pending_bytes = 0

    @property
    def pending_bytes(self) -> int:
        """Memory that the columns cost which are not in the tally."""
        return self._pending_bytes

    @property
    def tally_bytes(self) -> int:
        """Bytes of the tally."""
        return sum(tally.nbytes for tally in self._tallies)

    @property
    def can_settle(self) -> bool:
        """Whether pending columns may go into the tally before the stream ends."""
        return self.evaluator.unit is Unit.FRAME

    def add(self, truth: Annotations, detections: Annotations) -> None:
        """Take in frames that both sides have sent; cheap, nothing is scored yet."""
        self._pending.append((truth, detections))
        self._pending_bytes += truth.held_bytes + detections.held_bytes
        if len(self._pending) > JOIN_AFTER and not self.can_settle:
            self._join_pending()

    def work(self) -> Job | None:
        """What must be tallied before the next report; None where nothing is.

        Pending batches become one, so that many small ones are joined once and not for each report.
        """
        self._join_pending()
        return make_job(self.evaluator, *self._pending[0]) if self._pending else None

    def settle(self, tally: Tally, taken: int) -> None:
        """Put the tally of the first `taken` pending batches in their place."""
        self._pending_bytes -= _held_bytes(self._pending[:taken])
        del self._pending[:taken]
        self._tallies.append(tally)
        if len(self._tallies) > MERGE_AFTER:
            self._tallies = [merge_tallies(self._tallies)]

    @property
    def pending_count(self) -> int:
        """Batches that are not in the tally."""
        return len(self._pending)

    def report(self, unsettled: Tally | None = None) -> Report:
        """Report over the tally and, where given, one of the pending columns."""
        tallies = self._tallies if unsettled is None else [*self._tallies, unsettled]
        return self.evaluator.report(merge_tallies(tallies))

    def _join_pending(self) -> None:
        if len(self._pending) > 1:
            truths, detections = zip(*self._pending, strict=True)
            self._pending = [(concatenate(truths), concatenate(detections))]
            self._pending_bytes = _held_bytes(self._pending)


class StreamScorer:
    """Score two sides that come in pieces, in this process.

    Args:
        evaluators: Evaluators of one specification.
        specification: The benchmark's specification.
        maximum_waiting: Frames that may wait for their other side.
    """

    def __init__(
        self,
        evaluators: Sequence[Evaluator[Any]],
        specification: BenchmarkSpec = BenchmarkSpec(),
        maximum_waiting: int = DEFAULT_MAXIMUM_WAITING,
    ) -> None:
        """Start with nothing."""
        self._specification = specification
        self._pairing = Pairing(maximum_waiting)
        self._accumulators = [Accumulator(evaluator) for evaluator in evaluators]
        self._arities: dict[Side, int] = {}
        self._ended = False

    @property
    def coverage(self) -> Coverage:
        """How far both sides have come."""
        return self._pairing.coverage

    def add(self, side: Side, batch: Annotations) -> None:
        """Take in whole frames of one side; what is refused leaves nothing behind.

        Raises:
            GeometryError: If an evaluator cannot use the coordinates, or batches differ in them.
            InputError: If a frame came before, or breaks a rule of an evaluator.
            LimitError: If more frames would wait than allowed.
            RuntimeError: If the final reports have been made.
        """
        if self._ended:
            raise RuntimeError("the stream has ended with its final reports")
        self._refuse_forbidden(side, batch)
        complete = pair_frames(self._pairing, self._specification, side, batch)
        self._arities[side] = batch.arity
        if complete is not None:
            for accumulator in self._accumulators:
                accumulator.add(*complete)

    def live_reports(self) -> list[Report]:
        """Reports over exactly the frames that both sides have sent."""
        return [_report(accumulator) for accumulator in self._accumulators]

    def final_reports(self) -> list[Report]:
        """Reports over every evaluated frame; those without detections count as missed.

        Raises:
            InputError: If detections name a sequence that neither truth nor specification knows.
        """
        if not self._ended:
            needs = self._accumulators[0].evaluator.needs
            defaults = {
                Side.TRUTH: needs.truth_arities[0],
                Side.DETECTIONS: needs.detection_arities[0],
            }
            rest = final_frames(self._pairing, self._specification, defaults | self._arities)
            if rest is not None:
                for accumulator in self._accumulators:
                    accumulator.add(*rest)
            self._ended = True
        return self.live_reports()

    def _refuse_forbidden(self, side: Side, batch: Annotations) -> None:
        before = self._arities.get(side, batch.arity)
        if batch.arity != before:
            found = ARITIES.get(batch.arity, f"{batch.arity} coordinates an object")
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
    """Take in whole frames of one side.

    Frames of the truth that are not evaluated meet their detections like all others, and are
    dropped then: nothing waits for them.

    Args:
        pairing: The frames of both sides.
        specification: The benchmark's specification.
        side: Whose frames they are.
        batch: The frames.

    Returns:
        (truth, detections) of the frames that are complete now, or None.

    Raises:
        SpecificationError: If a frame of the truth lies outside its video.
        InputError: If a frame came before on that side.
        LimitError: If more frames would wait than allowed.
    """
    if side is Side.TRUTH:
        restrict(specification, batch)  # refuses frames outside a video before any is taken in
    complete = pairing.add(side, batch)
    if complete is None:
        return None
    return restrict(specification, complete[0]), complete[1]


def final_frames(
    pairing: Pairing, specification: BenchmarkSpec, arities: Mapping[Side, int]
) -> tuple[Annotations, Annotations] | None:
    """What is left to be scored when both sides have ended; None where nothing is.

    Args:
        pairing: The frames of both sides; those that wait are taken out.
        specification: The benchmark's specification.
        arities: Coordinates an object has, by side.

    Raises:
        InputError: If detections name a sequence that neither truth nor specification knows.
    """
    unknown = unknown_sequences(
        specification,
        {key for key, _ in pairing.seen(Side.TRUTH)},
        {key for key, _ in pairing.seen(Side.DETECTIONS)},
    )
    if unknown:
        raise InputError(unknown)
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
    job = accumulator.work()
    if job is None:
        return accumulator.report()
    tally = accumulator.evaluator.tally(job.truth, job.detections)
    if not accumulator.can_settle:
        return accumulator.report(unsettled=tally)
    accumulator.settle(tally, accumulator.pending_count)
    return accumulator.report()
