"""The state of the evaluators of a run, and the rounds in which workers tally for them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.jobs import Job
from vidscore_evaluators.live import Accumulator
from vidscore_evaluators.report import Report
from vidscore_evaluators.tally import Tally
from vidscore_evaluators.tally_bytes import tally_from_bytes
from vidscore_server.domain.plug_ins import report_of
from vidscore_server.domain.report_size import refuse_large_report
from vidscore_server.runtime import offload
from vidscore_server.settings import Settings
from vidscore_server.workers import WorkerPool

COMPACT_BYTES = 4 << 20
"""Pending bytes at which a round begins: a job per frame would cost more than its work."""

BYTES_PER_ROW = 64
"""Approximate bytes per row of a tally, a batch or a specification."""


class Share(Struct, frozen=True, eq=False):
    """The work of one evaluator in a round.

    Attributes:
        accumulator: Its state so far.
        job: The work; None if there is none.
        taken: Pending batches that the job covers.
    """

    accumulator: Accumulator
    job: Job | None
    taken: int


class Accumulation:
    """The accumulators of one run.

    The caller must not run `add`, `take` and `compact` concurrently, and must end a round before it
    takes the next one.

    Args:
        evaluators: Evaluators of the run.
        settings: The server's limits.
        workers: The worker processes.
    """

    def __init__(
        self, evaluators: Sequence[Evaluator[Any]], settings: Settings, workers: WorkerPool
    ) -> None:
        self._accumulators = [Accumulator(evaluator) for evaluator in evaluators]
        self._settings = settings
        self._workers = workers

    @property
    def pending_bytes(self) -> int:
        """Bytes that are not tallied: the maximum, because evaluators share the columns."""
        return max(accumulator.pending_bytes for accumulator in self._accumulators)

    @property
    def settleable_bytes(self) -> int:
        """Bytes that are not tallied and could be compacted."""
        return max(
            (entry.pending_bytes for entry in self._accumulators if entry.can_compact), default=0
        )

    def add(self, truth: Annotations, detections: Annotations) -> None:
        """Add frames that both sides have sent."""
        for accumulator in self._accumulators:
            accumulator.add(truth, detections)

    def take(self, *, for_reports: bool) -> list[Share]:
        """Take a round's work.

        Args:
            for_reports: Whether to tally everything, as reports need, or only columns that tallies
                then replace.
        """
        shares = []
        for accumulator in self._accumulators:
            job = accumulator.work() if for_reports or accumulator.can_compact else None
            shares.append(Share(accumulator, job, accumulator.pending_count if job else 0))
        return shares

    async def tally(self, shares: Sequence[Share], *, here: bool = False) -> list[Tally | None]:
        """Do the work of a round in workers, all evaluators in parallel.

        Args:
            shares: The work.
            here: Whether it is small enough for this thread.

        Raises:
            LimitError: If a tally is larger than allowed.
            ExceptionGroup: With the errors of the workers.
        """
        if here:
            return [self._tally_here(share) for share in shares]
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(self._tally(share.job)) for share in shares]
        return [task.result() for task in running]

    def compact(self, shares: Sequence[Share], tallies: Sequence[Tally | None]) -> None:
        """Replace columns by their tallies, for evaluators that work frame by frame.

        Raises:
            LimitError: If the tallies of the run are larger than allowed.
        """
        for share, tally in zip(shares, tallies, strict=True):
            if tally is not None and share.accumulator.can_compact:
                share.accumulator.compact(tally, share.taken)
        self._refuse_too_large(sum(entry.tally_bytes for entry in self._accumulators))

    async def reports(
        self, shares: Sequence[Share], tallies: Sequence[Tally | None], *, here: bool = False
    ) -> list[Report]:
        """Reports over everything up to a round that has been compacted.

        Args:
            shares: The work of the round.
            tallies: The resulting tallies.
            here: Whether they are small enough for this thread.
        """
        made = []
        for share, tally in zip(shares, tallies, strict=True):
            accumulator = share.accumulator
            unsettled = None if accumulator.can_compact else tally
            if here:
                made.append(accumulator.report(unsettled))
                continue
            whole = await asyncio.to_thread(accumulator.whole, unsettled)
            await asyncio.to_thread(
                refuse_large_report, self._settings, accumulator.evaluator, whole
            )
            made.append(await report_of(self._workers, accumulator.evaluator, whole))
        return made

    async def _tally(self, job: Job | None) -> Tally | None:
        if job is None:
            return None
        # A stream may take any time: submissions are scored meanwhile.
        run = self._workers.run_sparing if self._settings.store else self._workers.run
        data = await run(job)
        self._refuse_too_large(len(data))
        return await offload(len(data) // BYTES_PER_ROW, tally_from_bytes, data)

    def _tally_here(self, share: Share) -> Tally | None:
        if share.job is None:
            return None
        tally = self._workers.run_here(share.job, share.accumulator.evaluator)
        self._refuse_too_large(tally.nbytes)
        return tally

    def _refuse_too_large(self, size: int) -> None:
        self._settings.check_limit("maximum_tally_bytes", size, f"tallies of {size} bytes")
