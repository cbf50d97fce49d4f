"""Score sealed submissions: what is due, in worker processes, each to an end within a bound.

    sealed ----> waiting_for_truth ----> scoring ----> scored | failed
       +------------------------------------^ |
       ^- a server, worker or lease was lost -+

The truth's revision is fixed when scoring starts. One server at a time scores a submission, under
a lease; whoever finds one in `scoring` that nobody works on, after a restart or because another
server has died, begins again. A death is no failure of the submission, but it may be its doing:
after two of them it is scored alone, after all others, with growing pauses, and it is never given
up for them. Only failures of the work itself count, so often as the settings allow.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator, Side, Unit
from vidscore_evaluators.jobs import PARTS_A_WORKER, make_job, split_by_sequence
from vidscore_evaluators.report import Report
from vidscore_evaluators.tally import Tally, merge_tallies
from vidscore_evaluators.tally_bytes import tally_from_bytes
from vidscore_server.codec.stored_batches import read_stored_batches, read_stored_runs
from vidscore_server.errors import WorkerLostError
from vidscore_server.hosting.benchmarks import Benchmarks
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.drafts import is_draft
from vidscore_server.hosting.known_names import (
    NameCheck,
    check_names,
    known_names,
    late_warnings,
)
from vidscore_server.hosting.leases import LeaseLostError, Leases
from vidscore_server.hosting.names import SubmissionName
from vidscore_server.hosting.payloads import unpacked
from vidscore_server.hosting.policy import Visibility
from vidscore_server.hosting.public_names import SubmittedNames
from vidscore_server.hosting.requests import audit_server
from vidscore_server.hosting.scores import (
    Result,
    keep_result,
    make_result,
    settle,
    submitted_names,
)
from vidscore_server.hosting.scoring_input import sides_to_score, without_truth
from vidscore_server.hosting.scoring_parts import Meeting, Part, Stock, take_stock
from vidscore_server.hosting.site import Site
from vidscore_server.hosting.states import UNFINISHED, Event, move
from vidscore_server.hosting.submission_warnings import with_warnings
from vidscore_server.hosting.truth import TruthKeeper
from vidscore_server.logs import log, places_of
from vidscore_server.store.contract import Reader, StoreError, Transaction
from vidscore_server.store.failpoints import failpoint
from vidscore_server.store.records import SubmissionRecord, SubmissionState
from vidscore_server.workers import WorkerPool

ALONE_AFTER = 2
"""Deaths during its scoring after which a submission is scored alone."""

LONGEST_PAUSE_S = 30.0

INTERRUPTED_MESSAGE = (
    "The server or a worker ended {count} times while scoring it; it is scored again, alone and "
    "after all others. No frame is lost."
)

FAILED_MESSAGE = (
    "The server could not score it; the organiser finds more in the server's log. No frame is "
    "lost: `vidscore submission retry` has it scored again."
)


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


@dataclass(frozen=True)
class _Plan:
    """How a submission is scored once; the attributes are those of `Sides`, and what there is."""

    definition: Definition
    truth: Annotations
    stock: Stock
    revision: int
    partial: bool


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
            plan = await self._site.read(lambda reader: self._plan(reader, name, revision))
            evaluators = plan.definition.evaluators
            names = known_names(plan.definition, None if plan.partial else plan.truth)
            tallies = [[entry.identity_tally] for entry in evaluators]
            checks: list[NameCheck] = []
            submitted = SubmittedNames()
            async for both, came in self._parts(name, plan):
                checks.append(await asyncio.to_thread(check_names, names, came, ""))
                submitted |= submitted_names(came)
                for own, tally in zip(tallies, await self._tallies(evaluators, *both), strict=True):
                    own[:] = [await asyncio.to_thread(merge_tallies, [*own, tally])]
                del both, came
            reports = [
                await asyncio.to_thread(evaluator.report, tally)
                for evaluator, [tally] in zip(evaluators, tallies, strict=True)
            ]
            warnings = late_warnings(checks)
            return await asyncio.to_thread(_results, plan, reports, warnings, submitted)

    async def _parts(
        self, name: SubmissionName, plan: _Plan
    ) -> AsyncIterator[tuple[tuple[Annotations, Annotations], Annotations]]:
        """Both sides of each part as evaluators get them, and its detections as they came."""
        arity = plan.definition.arity(Side.DETECTIONS)
        specification = plan.definition.specification
        meeting = await asyncio.to_thread(
            Meeting, specification, plan.truth, complete=not plan.partial
        )
        if plan.stock.everything is not None:
            everything = plan.stock.everything
            yield await asyncio.to_thread(meeting.all_at_once, everything), everything
            return
        left = plan.stock.frame_count
        for part in plan.stock.parts:
            came = await self._site.read(partial(_read_part, name, part, arity))
            left -= came.frame_count
            yield await asyncio.to_thread(meeting.meet, part, came), came
            del came  # or two parts would be in memory
        if left:
            raise LookupError(
                f"{left} frames of {name}"
            )  # it was deleted, and made anew, meanwhile
        if (rest := await asyncio.to_thread(meeting.rest, arity)) is not None:
            yield rest, rest[1]

    async def reports(
        self,
        evaluators: Sequence[Evaluator[Any]],
        truth: Annotations,
        detections: Annotations,
    ) -> list[Report]:
        """Reports of evaluators over both sides; the same to the last bit as in one process."""
        tallies = await self._tallies(evaluators, truth, detections)
        return [
            await asyncio.to_thread(evaluator.report, tally)
            for evaluator, tally in zip(evaluators, tallies, strict=True)
        ]

    async def _tallies(
        self,
        evaluators: Sequence[Evaluator[Any]],
        truth: Annotations,
        detections: Annotations,
    ) -> list[Tally]:
        part_count = PARTS_A_WORKER * (self._site.settings.workers or os.cpu_count() or 1)
        parts = await asyncio.to_thread(list, split_by_sequence(truth, detections, part_count))
        async with asyncio.TaskGroup() as tasks:
            running = [
                [tasks.create_task(self._workers.run(make_job(entry, *part))) for part in parts]
                for entry in evaluators
            ]
        return [
            await asyncio.to_thread(_tally, evaluator, [task.result() for task in done])
            for evaluator, done in zip(evaluators, running, strict=True)
        ]

    def frames_lack_truth(self, reader: Reader, name: SubmissionName, revision: int) -> bool:
        """Whether a frame of a submission is not in a revision of the truth."""
        definition, truth, _ = self._truth_of(reader, name, revision)
        batches = unpacked(reader.detection_payloads(*name))
        runs = read_stored_runs(batches, definition.arity(Side.DETECTIONS))
        return any(bool(without_truth(truth, run).any()) for run in runs)

    def columns(self, reader: Reader, name: SubmissionName, revision: int) -> Sides:
        """Both sides as they came.

        Raises:
            LookupError: If the benchmark or the revision is gone.
        """
        definition, truth, partial = self._truth_of(reader, name, revision)
        batches = unpacked(reader.detection_payloads(*name))
        detections = read_stored_batches(batches, definition.arity(Side.DETECTIONS))
        return Sides(definition, truth, detections, revision, partial)

    def _plan(self, reader: Reader, name: SubmissionName, revision: int) -> _Plan:
        definition, truth, partial = self._truth_of(reader, name, revision)
        stock = take_stock(
            unpacked(reader.detection_payloads(*name)),
            definition.arity(Side.DETECTIONS),
            self._site.settings.maximum_scoring_bytes,
            by_frame=all(entry.unit is Unit.FRAME for entry in definition.evaluators),
        )
        return _Plan(definition, truth, stock, revision, partial)

    def _truth_of(
        self, reader: Reader, name: SubmissionName, revision: int
    ) -> tuple[Definition, Annotations, bool]:
        """A submission's benchmark, the truth of it, and whether that is not complete."""
        benchmark = reader.benchmark(name.benchmark)
        record = reader.truth_revision(name.benchmark, revision)
        if benchmark is None or record is None:
            raise LookupError(f"truth revision {revision} of {name}")
        definition = self._benchmarks.definition(benchmark)
        truth = self._truth.load(reader, name.benchmark, revision, definition.arity(Side.TRUTH))
        return definition, truth, not record.complete


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
        self._failures: Counter[SubmissionName] = Counter()
        self._alone: SubmissionName | None = None

    async def advance(self) -> None:
        """Begin whatever is due; returns once it has begun."""
        records = await self._site.read(self._unfinished)
        unfinished = {_name(record) for record in records}
        self._looked_at = {
            name: revision for name, revision in self._looked_at.items() if name in unfinished
        }
        self._failures = Counter(
            {name: count for name, count in self._failures.items() if name in unfinished}
        )
        if self._alone in self._running:
            return
        self._alone = None
        for record in records:
            if record.attempts < ALONE_AFTER or record.state is SubmissionState.SCORING:
                if len(self._running) >= self._site.settings.maximum_scorings:
                    return
                await self._begin(_name(record), record)
        for record in records:
            if record.attempts >= ALONE_AFTER and not self._running and self._rested(record):
                self._alone = _name(record)
                await self._begin(self._alone, record)

    def _rested(self, record: SubmissionRecord) -> bool:
        """Whether a submission's pause after the last death during its scoring is over."""
        pause_s = min(LONGEST_PAUSE_S, 2.0 ** (record.attempts - ALONE_AFTER))
        return (self._site.clock() - record.state_time).total_seconds() >= pause_s

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
            if _work(_name(record)) not in elsewhere
        ]

    def _hand_back(self, name: SubmissionName, transaction: Transaction) -> None:
        """Put a submission back whose scoring has ended without a death, to begin again."""
        record = transaction.submission(*name)
        if record is None or not transaction.end_lease(_work(name), self._leases.owner):
            return
        if record.state is SubmissionState.SCORING:
            sealed = move(record, Event.SCORING_INTERRUPTED, self._site.clock())
            transaction.update_submission(replace(sealed, attempts=record.attempts - 1))

    async def _begin(self, name: SubmissionName, record: SubmissionRecord) -> None:
        """Start scoring unless it runs, or wait for truth."""
        if name in self._running:
            return
        lacks = await self._lacks_truth(name, record)
        if lacks is None:
            return
        changed, revision = await self._site.write(
            lambda transaction: self._begin_command(transaction, name, lacks=lacks)
        )
        if changed is not None:
            self._site.changes.tell(name)
        if revision is not None:
            task = asyncio.create_task(self._lead_to_end(name, revision))
            self._running[name] = task
            task.add_done_callback(lambda _: self._running.pop(name, None))

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
        if is_draft(record):  # sealed by an older version of the server
            return self._ended(transaction, record, Event.CANCELLED_WITHOUT_FRAMES), None
        revision = transaction.truth_revision(name.benchmark, benchmark.truth_revision)
        policy = self._benchmarks.definition(benchmark).policy
        if record.state is SubmissionState.SCORING:
            record = _interrupted(record, now)
            if record.attempts >= ALONE_AFTER:
                transaction.update_submission(record)
                return record, None
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
        except TimeoutError:
            log(logging.ERROR, "scoring took too long", submission=str(name))
            await self._leases.write(partial(self._fail, name, Event.SCORING_TIMED_OUT))
        except Exception as error:  # noqa: BLE001 - whatever it is, the submission must end
            if _is_cut_off(error):
                # It stays in `scoring`: the next round finds it there, as after a server's death.
                places = places_of(error)
                log(logging.ERROR, "scoring cut off", submission=str(name), places=places)
                return
            self._failures[name] += 1
            left = self._site.settings.scoring_attempts - self._failures[name]
            places = places_of(error)
            log(logging.ERROR, "scoring failed", submission=str(name), places=places, left=left)
            if left > 0:
                await self._leases.write(partial(self._hand_back, name))
            else:
                del self._failures[name]  # whoever has it scored again has all attempts again
                await self._leases.write(partial(self._fail, name, Event.SCORING_FAILED))
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
            keep_result(transaction, definition, record, result, now)
        left_out = any(result.partial for result in results)
        event = Event.SCORED_WITHOUT_ALL_TRUTH if left_out else Event.SCORED
        doubts = [text for result in results for text in result.warnings]
        warnings = with_warnings(record.warnings, doubts)
        self._ended(transaction, replace(record, warnings=warnings), event)
        settle(transaction, definition, name.benchmark, now)

    def _fail(self, name: SubmissionName, event: Event, transaction: Transaction) -> None:
        record = transaction.submission(*name)
        if record is not None and record.state is SubmissionState.SCORING:
            self._leases.end(transaction, _work(name))
            self._ended(transaction, record, event)

    def _ended(
        self, transaction: Transaction, record: SubmissionRecord, event: Event
    ) -> SubmissionRecord:
        now = self._site.clock()
        failed = event in {Event.SCORING_FAILED, Event.SCORING_TIMED_OUT}
        changed = move(record, event, now, FAILED_MESSAGE if failed else "")
        transaction.update_submission(changed)
        audit_server(transaction, now, changed.state_reason, str(_name(record)))
        return changed


def _name(record: SubmissionRecord) -> SubmissionName:
    return SubmissionName(record.benchmark, record.submission)


def _interrupted(record: SubmissionRecord, now: datetime) -> SubmissionRecord:
    """A submission after a death of whoever scored it."""
    name, count = _name(record), record.attempts
    log(logging.WARNING, "scoring interrupted", submission=str(name), times=count)
    told = INTERRUPTED_MESSAGE.format(count=count) if count >= ALONE_AFTER else ""
    return move(record, Event.SCORING_INTERRUPTED, now, told)


def _is_cut_off(error: Exception) -> bool:
    """Whether the work was not done for want of someone who could, and has not failed itself."""
    cut_off = (StoreError, WorkerLostError)
    return isinstance(error, cut_off) or (
        isinstance(error, ExceptionGroup) and error.subgroup(cut_off) is not None
    )


def _work(name: SubmissionName) -> str:
    """What the scoring of a submission is called as work to lease."""
    return f"score {name}"


def _read_part(name: SubmissionName, part: Part, arity: int, reader: Reader) -> Annotations:
    """The detections of a part, out of the batches that have some of it."""
    start, wanted = part.rows[0], frozenset(part.rows)
    payloads = reader.detection_payloads(*name, start, part.rows[-1] + 1 - start)
    chosen = (payload for row, payload in enumerate(payloads, start) if row in wanted)
    return part.read(unpacked(chosen), arity)


def _tally(evaluator: Evaluator[Any], data: list[bytes]) -> Tally:
    return merge_tallies([evaluator.identity_tally, *map(tally_from_bytes, data)])


def _results(
    plan: _Plan, reports: list[Report], warnings: tuple[str, ...], submitted: SubmittedNames
) -> list[Result]:
    return [
        replace(
            make_result(
                plan.definition,
                evaluator,
                report,
                plan.revision,
                partial=plan.partial,
                submitted=submitted,
            ),
            warnings=warnings,
        )
        for evaluator, report in zip(plan.definition.evaluators, reports, strict=True)
    ]
