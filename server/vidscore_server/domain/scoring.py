"""Schedule the scoring of sealed submissions, each to completion within a bound.

    sealed ----> waiting_for_truth ----> scoring ----> scored | failed
       +------------------------------------^ |
       ^- a server, worker or lease was lost -+

Teams take turns, so that one which submits much delays no other. The truth's revision is fixed when
scoring starts. One server at a time scores a submission, under a lease; a submission in `scoring`
without a lease, after a restart or because its server has died, is scored again. A death does not
count as a failure of the submission, but the submission may be its cause: after two deaths it is
scored alone, after all others, with growing pauses, and is never given up because of them. Only
failures of the work itself count towards the setting `scoring_attempts`.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from functools import partial
from operator import itemgetter

from msgspec.structs import replace

from vidscore_evaluators.errors import LimitError
from vidscore_server.domain.appends import with_warnings
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.context import Context, audit_server
from vidscore_server.domain.leases import LeaseLostError, Leases
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.policy import Policy, Visibility
from vidscore_server.domain.publishing import keep_result, move_board
from vidscore_server.domain.scorer import Scorer
from vidscore_server.domain.scores import Result
from vidscore_server.domain.states import UNFINISHED, Event, is_draft, move
from vidscore_server.errors import WorkerLostError
from vidscore_server.logs import log, places_of
from vidscore_server.runtime import failpoint
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import StoreDamagedError, StoreError
from vidscore_server.store.records import SubmissionRecord, SubmissionState

Team = tuple[str, str]
"""Its benchmark and its name."""

ALONE_AFTER = 2
"""Number of deaths during its scoring after which a submission is scored alone."""

LONGEST_PAUSE_S = 30.0

INTERRUPTED_MESSAGE = (
    "The server or a worker ended {count} times while scoring it; it is scored again, alone and "
    "after all others. No frame is lost."
)

FAILED_MESSAGE = (
    "The server could not score it; the organiser finds details in the server's log. No frame is "
    "lost: `vidscore submission retry` has it scored again."
)

TOO_LARGE_MESSAGE = (
    "Its report would have scores of too many domains and labels; the limit {limit} of the server "
    "is {maximum}. Submit it without labels that the benchmark does not have."
)


class Scheduler:
    """Scores every sealed submission to completion."""

    def __init__(
        self, context: Context, benchmarks: Benchmarks, scorer: Scorer, leases: Leases
    ) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._scorer = scorer
        self._leases = leases
        self._running: dict[SubmissionName, asyncio.Task[None]] = {}
        self._looked_at: dict[SubmissionName, int] = {}
        self._failures: Counter[SubmissionName] = Counter()
        # The turn at which this server last began to score one of a team's submissions.
        self._begun: dict[Team, int] = {}
        self._turns = itertools.count(1)
        self._alone: SubmissionName | None = None

    async def advance(self) -> None:
        """Start all scorings that are due; do not wait for them."""
        records = await self._context.read(self._unfinished)
        unfinished = {_name(record) for record in records}
        self._looked_at = {
            name: revision for name, revision in self._looked_at.items() if name in unfinished
        }
        self._failures = Counter(
            {name: count for name, count in self._failures.items() if name in unfinished}
        )
        teams = set(map(_team, records))
        self._begun = {team: turn for team, turn in self._begun.items() if team in teams}
        if self._alone in self._running:
            return
        self._alone = None
        for record in records:
            if record.attempts < ALONE_AFTER or record.state is SubmissionState.SCORING:
                if len(self._running) >= self._context.settings.maximum_scorings:
                    return
                await self._begin(_name(record), record)
        for record in records:
            if record.attempts >= ALONE_AFTER and not self._running and self._rested(record):
                self._alone = _name(record)
                await self._begin(self._alone, record)

    def _rested(self, record: SubmissionRecord) -> bool:
        """Whether a submission's pause after the last server death is over.

        The clock may be a little behind that of the server which recorded its begin; a pause that
        begins later than in its own length was recorded before the clock was set back.
        """
        pause_s = min(LONGEST_PAUSE_S, 2.0 ** (record.attempts - ALONE_AFTER))
        waited_s = (self._context.clock() - record.state_time).total_seconds()
        return abs(waited_s) >= pause_s

    async def finish(self) -> None:
        """Wait until nothing runs."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def stop(self) -> None:
        """Cancel running work; it restarts with the server, or on another one at once."""
        given_up = list(self._running)
        for task in list(self._running.values()):
            task.cancel()
        await self.finish()
        for name in given_up:
            with suppress(StoreError):
                await self._context.write(partial(self._release, name))

    def _unfinished(self, reader: Reader) -> list[SubmissionRecord]:
        """Unfinished submissions in turn, except those that another server scores."""
        elsewhere = self._leases.elsewhere(reader)
        return [
            record
            for record in self._in_turn(reader.submissions_in(UNFINISHED))
            if _work(_name(record)) not in elsewhere
        ]

    def _in_turn(self, records: Iterable[SubmissionRecord]) -> list[SubmissionRecord]:
        """Order submissions so that teams take turns.

        The first of each team come before all second ones; of these, those of the teams that have
        waited longest since this server began to score one of theirs.

        Args:
            records: Unfinished submissions, oldest first. Those that are scored now, on any
                server, are the first of their team.
        """
        counts = Counter[Team]()
        turns = []
        for record in sorted(records, key=lambda one: one.state is not SubmissionState.SCORING):
            team = _team(record)
            turns.append((counts[team], self._begun.get(team, 0), record))
            counts[team] += 1
        return [record for *_, record in sorted(turns, key=itemgetter(0, 1))]

    def _release(self, name: SubmissionName, transaction: Transaction) -> None:
        """Put a submission back for scoring, after its scoring stopped without a death."""
        record = transaction.submission(*name)
        if record is None or not transaction.end_lease(_work(name), self._leases.owner):
            return
        if record.state is SubmissionState.SCORING:
            sealed = move(record, Event.SCORING_INTERRUPTED, self._context.clock())
            transaction.update_submission(replace(sealed, attempts=record.attempts - 1))

    async def _begin(self, name: SubmissionName, record: SubmissionRecord) -> None:
        """Start scoring unless it runs, or wait for truth."""
        if name in self._running:
            return
        lacks = await self._lacks_truth(name, record)
        if lacks is None:
            return
        changed, revision = await self._context.write(
            lambda transaction: self._begin_command(transaction, name, lacks=lacks)
        )
        if changed is not None:
            self._context.changes.tell(name)
        if revision is not None:
            self._begun[_team(record)] = next(self._turns)
            task = asyncio.create_task(self._run_to_completion(name, revision))
            self._running[name] = task
            task.add_done_callback(lambda _: self._running.pop(name, None))

    async def _lacks_truth(self, name: SubmissionName, record: SubmissionRecord) -> bool | None:
        """Whether the submission's own frames lack truth; None if nothing has changed."""

        def look(reader: Reader) -> bool | None:
            benchmark = reader.benchmark(name.benchmark)
            definition = None if benchmark is None else self._benchmarks.understood(benchmark)
            if benchmark is None or definition is None:
                return None
            newest, policy = benchmark.truth_revision, definition.policy
            waited_s = (self._context.clock() - record.state_time).total_seconds()
            waiting = record.state is SubmissionState.WAITING_FOR_TRUTH
            if (
                waiting
                and self._looked_at.get(name) == newest
                and waited_s < policy.truth_timeout_s
            ):
                return None
            self._looked_at[name] = newest
            if newest == 0 or policy.shown is not Visibility.LIVE:
                return True  # this matters only if the revision is incomplete
            try:
                return self._scorer.frames_lack_truth(reader, name, newest)
            except StoreDamagedError:
                return True  # scoring will fail, and end the submission

        return await self._context.read(look)

    def _begin_command(
        self, transaction: Transaction, name: SubmissionName, *, lacks: bool
    ) -> tuple[SubmissionRecord | None, int | None]:
        """Move the submission on, unless another server does; keep the lease if scoring starts."""
        if not self._leases.take(transaction, _work(name)):
            return None, None
        changed, revision = self._move_on(transaction, name, lacks=lacks)
        if revision is None:
            self._leases.end(transaction, _work(name))
        return changed, revision

    def _move_on(
        self, transaction: Transaction, name: SubmissionName, *, lacks: bool
    ) -> tuple[SubmissionRecord | None, int | None]:
        """Move the submission on: (the changed record, the revision if scoring starts)."""
        now = self._context.clock()
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
        elif record.attempts >= ALONE_AFTER and name != self._alone:
            return None, None  # it was interrupted after it was read, and now has its pause
        missing = revision is None or (not revision.complete and lacks)
        if revision is not None and _has_waited(record, policy, now):
            missing = False
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

    async def _run_to_completion(self, name: SubmissionName, revision: int) -> None:
        try:
            await self._leases.run(_work(name), self._score(name, revision))
        except LeaseLostError:
            log(logging.WARNING, "scoring given up", submission=str(name))
        self._context.changes.tell(name)

    async def _score(self, name: SubmissionName, revision: int) -> None:
        try:
            failpoint("before_scoring")
            results = await self._scorer.results(name, revision)
            failpoint("before_score_commit")
            await self._leases.write(partial(self._keep, name, results))
        except LeaseLostError:
            raise
        except TimeoutError:
            log(logging.ERROR, "scoring took too long", submission=str(name))
            await self._leases.write(partial(self._fail, name, Event.SCORING_TIMED_OUT))
        except LimitError as error:  # it has no data, and another attempt would fail alike
            log(logging.ERROR, "scoring refused", submission=str(name), reason=str(error))
            told = TOO_LARGE_MESSAGE.format(limit=error.limit, maximum=error.maximum)
            await self._leases.write(partial(self._fail, name, Event.SCORING_FAILED, told=told))
        except Exception as error:  # noqa: BLE001 - whatever it is, the submission must end
            if _is_cut_off(error):
                # It stays in `scoring`: the next round finds it there, as after a server's death.
                places = places_of(error)
                log(logging.ERROR, "scoring cut off", submission=str(name), places=places)
                return
            self._failures[name] += 1
            left = self._context.settings.scoring_attempts - self._failures[name]
            places = places_of(error)
            log(logging.ERROR, "scoring failed", submission=str(name), places=places, left=left)
            if left > 0:
                await self._leases.write(partial(self._release, name))
            else:
                del self._failures[name]  # a later retry has all attempts again
                await self._leases.write(partial(self._fail, name, Event.SCORING_FAILED))

    def _keep(self, name: SubmissionName, results: list[Result], transaction: Transaction) -> None:
        record = transaction.submission(*name)
        benchmark = transaction.benchmark(name.benchmark)
        if record is None or benchmark is None or record.state is not SubmissionState.SCORING:
            return  # it was cancelled or deleted meanwhile, or kept by a commit without an answer
        self._leases.end(transaction, _work(name))
        now = self._context.clock()
        definition = self._benchmarks.definition(benchmark)
        for result in results:
            keep_result(transaction, definition, record, result, now)
        left_out = any(result.partial for result in results)
        event = Event.SCORED_WITHOUT_ALL_TRUTH if left_out else Event.SCORED
        doubts = [text for result in results for text in result.warnings]
        warnings = with_warnings(record.warnings, doubts)
        self._ended(transaction, replace(record, warnings=warnings), event)
        move_board(transaction, definition, name.benchmark, now)

    def _fail(
        self,
        name: SubmissionName,
        event: Event,
        transaction: Transaction,
        told: str = FAILED_MESSAGE,
    ) -> None:
        record = transaction.submission(*name)
        if record is not None and record.state is SubmissionState.SCORING:
            self._leases.end(transaction, _work(name))
            self._ended(transaction, record, event, told)

    def _ended(
        self, transaction: Transaction, record: SubmissionRecord, event: Event, told: str = ""
    ) -> SubmissionRecord:
        now = self._context.clock()
        changed = move(record, event, now, told)
        transaction.update_submission(changed)
        audit_server(transaction, now, changed.state_reason, str(_name(record)))
        return changed


def _name(record: SubmissionRecord) -> SubmissionName:
    return SubmissionName(record.benchmark, record.submission)


def _team(record: SubmissionRecord) -> Team:
    return record.benchmark, record.team


def _interrupted(record: SubmissionRecord, now: datetime) -> SubmissionRecord:
    """A submission after the death of the process that scored it."""
    name, count = _name(record), record.attempts
    log(logging.WARNING, "scoring interrupted", submission=str(name), times=count)
    told = INTERRUPTED_MESSAGE.format(count=count) if count >= ALONE_AFTER else ""
    return move(record, Event.SCORING_INTERRUPTED, now, told)


def _has_waited(record: SubmissionRecord, policy: Policy, now: datetime) -> bool:
    """Whether interrupted scoring had begun after the submission had waited for truth.

    It does not wait again: with frequent server deaths, the wait would have no bound.
    """
    interrupted = record.state_reason == Event.SCORING_INTERRUPTED
    waited_s = (now - (record.seal_time or record.state_time)).total_seconds()
    return interrupted and waited_s >= policy.truth_timeout_s


def _is_cut_off(error: Exception) -> bool:
    """Whether the store, a worker or this process's memory failed, not the work itself."""
    cut_off = (StoreError, WorkerLostError, MemoryError)
    return isinstance(error, cut_off) or (
        isinstance(error, ExceptionGroup) and error.subgroup(cut_off) is not None
    )


def _work(name: SubmissionName) -> str:
    """Name of a submission's scoring as leased work."""
    return f"score {name}"
