"""Score sealed submissions: what is due, in worker processes, each to an end within a bound.

    sealed ----> waiting_for_truth ----> scoring ----> scored | failed
       +------------------------------------^ |
       ^------- interrupted by a restart -----+

The truth's revision is fixed when scoring starts. One server at a time scores a submission, under
a lease; whoever finds one in `scoring` that nobody works on, after a restart or because another
server has died, begins again, so often as the settings allow.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator, Side
from vidscore_evaluators.jobs import PARTS_A_WORKER, make_job, split_by_sequence
from vidscore_evaluators.report import Report
from vidscore_evaluators.tally import Tally, merge_tallies
from vidscore_evaluators.tally_bytes import tally_from_bytes
from vidscore_server.hosting.benchmarks import Benchmarks
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.known_names import known_names, late_warnings
from vidscore_server.hosting.leases import LeaseLostError, Leases
from vidscore_server.hosting.names import SubmissionName
from vidscore_server.hosting.payloads import unpack_all
from vidscore_server.hosting.policy import Visibility
from vidscore_server.hosting.requests import audit_server
from vidscore_server.hosting.scores import Result, insert_result, make_result
from vidscore_server.hosting.scoring_input import sides_to_score, without_truth
from vidscore_server.hosting.site import Site
from vidscore_server.hosting.states import Event, move
from vidscore_server.hosting.submission_warnings import with_warnings
from vidscore_server.hosting.truth import TruthKeeper
from vidscore_server.logs import log, places_of
from vidscore_server.store.contract import Reader, StoreError, Transaction
from vidscore_server.store.failpoints import failpoint
from vidscore_server.store.records import SubmissionRecord, SubmissionState
from vidscore_server.workers import WorkerPool

UNFINISHED = (
    SubmissionState.SEALED,
    SubmissionState.WAITING_FOR_TRUTH,
    SubmissionState.SCORING,
)

FAILED_MESSAGE = "The server could not score it; the organiser finds more in the server's log."


@dataclass(frozen=True)
class Sides:
    """A submission and the truth that it meets, as they came.

    Attributes:
        definition: The benchmark.
        truth: Truth.
        detections: Detections.
        revision: Revision of the truth.
        partial: Whether the truth is not complete.
    """

    definition: Definition
    truth: Annotations
    detections: Annotations
    revision: int
    partial: bool

    def to_score(self, *, complete: bool) -> tuple[Annotations, Annotations]:
        """Truth and detections as evaluators get them; see `sides_to_score`."""
        specification = self.definition.specification
        return sides_to_score(specification, self.truth, self.detections, complete=complete)


class Scorer:
    """Turns stored submissions into results, in worker processes.

    Args:
        site: The server's common ground.
        benchmarks: Its benchmarks.
        truth: Their truth.
        workers: Who tallies.
    """

    def __init__(
        self, site: Site, benchmarks: Benchmarks, truth: TruthKeeper, workers: WorkerPool
    ) -> None:
        """Score nothing yet."""
        self._site = site
        self._benchmarks = benchmarks
        self._truth = truth
        self._workers = workers

    async def results(self, name: SubmissionName, revision: int) -> list[Result]:
        """Score a submission once under a revision of the truth, by every evaluator.

        Raises:
            TimeoutError: If it takes longer than the settings allow.
            VidscoreError: As the work raised it.
            LookupError: If the submission or the revision is gone.
        """
        async with asyncio.timeout(self._site.settings.scoring_timeout_s):
            sides = await self._site.read(lambda reader: self.columns(reader, name, revision))
            both = await asyncio.to_thread(sides.to_score, complete=not sides.partial)
            reports = await self.reports(sides.definition.evaluators, *both)
            return await asyncio.to_thread(_results, sides, reports)

    async def reports(
        self,
        evaluators: Sequence[Evaluator[Any]],
        truth: Annotations,
        detections: Annotations,
    ) -> list[Report]:
        """Reports of evaluators over both sides; the same to the last bit as in one process."""
        part_count = PARTS_A_WORKER * (self._site.settings.workers or os.cpu_count() or 1)
        parts = await asyncio.to_thread(list, split_by_sequence(truth, detections, part_count))
        async with asyncio.TaskGroup() as tasks:
            running = [
                [tasks.create_task(self._workers.run(make_job(entry, *part))) for part in parts]
                for entry in evaluators
            ]
        return [
            await asyncio.to_thread(_report, evaluator, [task.result() for task in done])
            for evaluator, done in zip(evaluators, running, strict=True)
        ]

    def frames_lack_truth(self, reader: Reader, name: SubmissionName, revision: int) -> bool:
        """Whether a frame of a submission is not in a revision of the truth."""
        sides = self.columns(reader, name, revision)
        return bool(without_truth(sides.truth, sides.detections).any())

    def columns(self, reader: Reader, name: SubmissionName, revision: int) -> Sides:
        """Both sides as they came.

        Raises:
            LookupError: If the benchmark or the revision is gone.
        """
        benchmark = reader.benchmark(name.benchmark)
        record = reader.truth_revision(name.benchmark, revision)
        if benchmark is None or record is None:
            raise LookupError(f"truth revision {revision} of {name}")
        definition = self._benchmarks.definition(benchmark)
        truth = self._truth.load(reader, name.benchmark, revision, definition.arity(Side.TRUTH))
        payloads = reader.detection_payloads(*name)
        detections = unpack_all(payloads, definition.arity(Side.DETECTIONS))
        return Sides(definition, truth, detections, revision, not record.complete)


class Scheduler:
    """Brings every sealed submission to its end.

    Args:
        site: The server's common ground.
        benchmarks: Its benchmarks.
        scorer: Who scores.
        leases: What the server holds.
    """

    def __init__(self, site: Site, benchmarks: Benchmarks, scorer: Scorer, leases: Leases) -> None:
        """Schedule nothing yet."""
        self._site = site
        self._benchmarks = benchmarks
        self._scorer = scorer
        self._leases = leases
        self._running: dict[SubmissionName, asyncio.Task[None]] = {}
        self._looked_at: dict[SubmissionName, int] = {}

    async def advance(self) -> None:
        """Begin whatever is due; returns once it has begun."""
        records = await self._site.read(self._unfinished)
        unfinished = {SubmissionName(record.benchmark, record.submission) for record in records}
        self._looked_at = {
            name: revision for name, revision in self._looked_at.items() if name in unfinished
        }
        for record in records:
            name = SubmissionName(record.benchmark, record.submission)
            if len(self._running) >= self._site.settings.maximum_scorings:
                return
            if name in self._running:
                continue
            started = await self._begin(name, record)
            if started is not None:
                task = asyncio.create_task(self._lead_to_end(name, started))
                self._running[name] = task
                task.add_done_callback(lambda _, name=name: self._running.pop(name, None))  # type: ignore[misc] # mypy cannot type a default of a lambda

    async def finish(self) -> None:
        """Wait until nothing runs."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def stop(self) -> None:
        """End what runs; it begins again when the server does, or at another one at once."""
        given_up = list(self._running)
        for task in list(self._running.values()):
            task.cancel()
        await self.finish()
        for name in given_up:
            with suppress(StoreError):
                await self._site.write(partial(self._hand_back, name))

    def _unfinished(self, reader: Reader) -> list[SubmissionRecord]:
        """Submissions that have no end yet, but for those that another server scores."""
        elsewhere = self._leases.elsewhere(reader)
        return [
            record
            for record in reader.submissions_in(UNFINISHED)
            if _work(SubmissionName(record.benchmark, record.submission)) not in elsewhere
        ]

    def _hand_back(self, name: SubmissionName, transaction: Transaction) -> None:
        """Put a submission back that is not scored because the server stops."""
        record = transaction.submission(*name)
        if record is None or not transaction.end_lease(_work(name), self._leases.owner):
            return
        if record.state is SubmissionState.SCORING:
            sealed = move(record, Event.SCORING_INTERRUPTED, self._site.clock())
            transaction.update_submission(replace(sealed, attempts=record.attempts - 1))

    async def _begin(self, name: SubmissionName, record: SubmissionRecord) -> int | None:
        """Start scoring, or wait for truth; gives the truth's revision where it has started."""
        lacks = await self._lacks_truth(name, record)
        if lacks is None:
            return None
        changed, revision = await self._site.write(
            lambda transaction: self._begin_command(transaction, name, lacks=lacks)
        )
        if changed is not None:
            self._site.changes.tell(name)
        return revision

    async def _lacks_truth(self, name: SubmissionName, record: SubmissionRecord) -> bool | None:
        """Whether the submission's own frames lack truth; None where nothing has changed."""

        def look(reader: Reader) -> bool | None:
            benchmark = reader.benchmark(name.benchmark)
            if benchmark is None:
                return None
            newest = benchmark.truth_revision
            policy = self._benchmarks.definition(benchmark).policy
            waited_s = (self._site.clock() - record.state_time).total_seconds()
            waiting = record.state is SubmissionState.WAITING_FOR_TRUTH
            if (
                waiting
                and self._looked_at.get(name) == newest
                and waited_s < policy.truth_timeout_s
            ):
                return None
            self._looked_at[name] = newest
            if newest == 0 or policy.shown is not Visibility.LIVE:
                return True  # whether it matters, the revision's completeness says
            return self._scorer.frames_lack_truth(reader, name, newest)

        return await self._site.read(look)

    def _begin_command(
        self, transaction: Transaction, name: SubmissionName, *, lacks: bool
    ) -> tuple[SubmissionRecord | None, int | None]:
        """Move the submission on, unless another server does it, and keep the lease to score."""
        if not self._leases.take(transaction, _work(name)):
            return None, None
        changed, revision = self._move_on(transaction, name, lacks=lacks)
        if revision is None:
            self._leases.end(transaction, _work(name))
        return changed, revision

    def _move_on(
        self, transaction: Transaction, name: SubmissionName, *, lacks: bool
    ) -> tuple[SubmissionRecord | None, int | None]:
        """Move the submission on: (what has changed, revision where scoring starts)."""
        now = self._site.clock()
        record = transaction.submission(*name)
        benchmark = transaction.benchmark(name.benchmark)
        if record is None or benchmark is None or record.state not in UNFINISHED:
            return None, None
        revision = transaction.truth_revision(name.benchmark, benchmark.truth_revision)
        policy = self._benchmarks.definition(benchmark).policy
        if record.state is SubmissionState.SCORING:
            if record.attempts >= self._site.settings.scoring_attempts:
                return self._ended(transaction, record, Event.SCORING_FAILED), None
            record = move(record, Event.SCORING_INTERRUPTED, now)
        missing = revision is None or (not revision.complete and lacks)
        if missing and record.state is SubmissionState.SEALED:
            waiting = move(record, Event.TRUTH_MISSING, now)
            transaction.update_submission(waiting)
            return waiting, None
        waited_s = (now - record.state_time).total_seconds()
        if missing and waited_s < policy.truth_timeout_s:
            return None, None
        if revision is None:
            return self._ended(transaction, record, Event.TRUTH_NEVER_CAME), None
        scoring = move(record, Event.SCORING_STARTED, now)
        transaction.update_submission(scoring)
        audit_server(transaction, now, scoring.state_reason, str(name))
        return scoring, revision.revision

    async def _lead_to_end(self, name: SubmissionName, revision: int) -> None:
        try:
            await self._leases.run(_work(name), self._score(name, revision))
        except LeaseLostError:
            log(logging.WARNING, "scoring given up", submission=str(name))
        self._site.changes.tell(name)

    async def _score(self, name: SubmissionName, revision: int) -> None:
        try:
            failpoint("before_scoring")
            results = await self._scorer.results(name, revision)
        except StoreError as error:
            # It stays in `scoring`: the next round begins again, so often as attempts allow.
            log(logging.ERROR, "store failed", places=places_of(error))
        except TimeoutError:
            await self._fail(name, Event.SCORING_TIMED_OUT)
        except Exception as error:  # noqa: BLE001 - whatever it is, the submission must end
            log(logging.ERROR, "scoring failed", submission=str(name), places=places_of(error))
            await self._fail(name, Event.SCORING_FAILED)
        else:
            failpoint("before_score_commit")
            await self._leases.write(lambda transaction: self._keep(transaction, name, results))

    def _keep(self, transaction: Transaction, name: SubmissionName, results: list[Result]) -> None:
        record = transaction.submission(*name)
        benchmark = transaction.benchmark(name.benchmark)
        if record is None or benchmark is None or record.state is not SubmissionState.SCORING:
            return  # it was cancelled or deleted meanwhile, or kept by a commit without an answer
        self._leases.end(transaction, _work(name))
        now = self._site.clock()
        definition = self._benchmarks.definition(benchmark)
        for result in results:
            insert_result(transaction, definition, record, result, now)
        left_out = any(result.partial for result in results)
        event = Event.SCORED_WITHOUT_ALL_TRUTH if left_out else Event.SCORED
        doubts = [text for result in results for text in result.warnings]
        warnings = with_warnings(record.warnings, doubts)
        self._ended(transaction, replace(record, warnings=warnings), event)

    async def _fail(self, name: SubmissionName, event: Event) -> None:
        def command(transaction: Transaction) -> None:
            record = transaction.submission(*name)
            if record is not None and record.state is SubmissionState.SCORING:
                self._leases.end(transaction, _work(name))
                self._ended(transaction, record, event)

        await self._leases.write(command)

    def _ended(
        self, transaction: Transaction, record: SubmissionRecord, event: Event
    ) -> SubmissionRecord:
        now = self._site.clock()
        failed = event in {Event.SCORING_FAILED, Event.SCORING_TIMED_OUT}
        changed = move(record, event, now, FAILED_MESSAGE if failed else "")
        transaction.update_submission(changed)
        name = SubmissionName(record.benchmark, record.submission)
        audit_server(transaction, now, changed.state_reason, str(name))
        return changed


def _work(name: SubmissionName) -> str:
    """What the scoring of a submission is called as work to lease."""
    return f"score {name}"


def _report(evaluator: Evaluator[Any], data: list[bytes]) -> Report:
    tallies: list[Tally] = [evaluator.identity_tally, *map(tally_from_bytes, data)]
    return evaluator.report(merge_tallies(tallies))


def _results(sides: Sides, reports: list[Report]) -> list[Result]:
    truth = None if sides.partial else sides.truth
    warnings = late_warnings(known_names(sides.definition, truth), sides.detections)
    return [
        replace(
            make_result(sides.definition, evaluator, report, sides.revision, partial=sides.partial),
            warnings=warnings,
        )
        for evaluator, report in zip(sides.definition.evaluators, reports, strict=True)
    ]
