"""Score stored detections again: beside the scores there are, as an operation.

An operation notes with every submission that it is done, in the transaction that keeps its
scores: whenever the server dies, whichever leases it then goes on with the next one. What the
Ladder releases is worked out anew, as if the new scores had been there from the beginning; the
board moves at the end.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.access.caller import Caller
from vidscore_server.errors import NotFoundError
from vidscore_server.hosting.benchmarks import Benchmarks, required_benchmark
from vidscore_server.hosting.boards import Board, ranked_entries
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.leased_operations import LeasedOperations
from vidscore_server.hosting.leases import LeaseLostError, Leases
from vidscore_server.hosting.names import SubmissionName, benchmark_name
from vidscore_server.hosting.release import Values, released_values, values_from_json
from vidscore_server.hosting.requests import Request, audit_server, checked_text
from vidscore_server.hosting.scores import Result, insert_score, replay_releases, sealing_order
from vidscore_server.hosting.scoring import Scorer
from vidscore_server.hosting.site import Site
from vidscore_server.logs import log, places_of
from vidscore_server.store.contract import Reader, StoreError, Transaction
from vidscore_server.store.failpoints import failpoint
from vidscore_server.store.records import (
    OperationRecord,
    Role,
    ScoreRecord,
    SubmissionRecord,
    SubmissionState,
)

KIND = "rescore"

MAXIMUM_SUBMISSIONS = 1_000_000

_EVERYTHING = Caller(role=Role.ORGANISER)
"""Differences are for organisers: the board is compared as they see it."""

Standing = Mapping[str, Mapping[str, Any]]
"""By submission, by evaluator: ``values`` and, where it is on the board, ``rank``."""


@dataclass(frozen=True)
class Plan:
    """What an operation re-scores.

    Attributes:
        benchmark: The benchmark.
        revision: Revision of the truth.
        submissions: The submissions.
        before: Their scores and ranks before.
    """

    benchmark: str
    revision: int
    submissions: tuple[str, ...]
    before: Standing


def read_plan(record: OperationRecord) -> Plan:
    """The plan of an operation."""
    request = orjson.loads(record.request)
    return Plan(
        request["benchmark"],
        request["revision"],
        tuple(request["submissions"]),
        request["before"],
    )


def done_of(record: OperationRecord) -> list[str]:
    """Submissions that an operation has re-scored."""
    done: list[str] = orjson.loads(record.progress).get("done", [])
    return done


class Rescoring:
    """The re-scorings of a site.

    Args:
        site: The server's common ground.
        benchmarks: Its benchmarks.
        scorer: Who scores.
        leases: What the server holds.
    """

    def __init__(self, site: Site, benchmarks: Benchmarks, scorer: Scorer, leases: Leases) -> None:
        """Run nothing yet."""
        self._site = site
        self._operations = LeasedOperations(leases, (KIND,))
        self._benchmarks = benchmarks
        self._scorer = scorer

    async def create(
        self, request: Request, benchmark: str, names: Sequence[SubmissionName], comment: str
    ) -> OperationRecord:
        """Plan a re-scoring, or find the one that the same request has planned.

        Args:
            request: The request.
            benchmark: The benchmark.
            names: Submissions; none for all that have a score.
            comment: Why, for the record.

        Raises:
            NotFoundError: If there is no such benchmark, or no truth.
            InputError: If a submission has no score.
        """
        checked_text(comment, "comment")

        def make(transaction: Transaction) -> str:
            parent = required_benchmark(transaction, benchmark)
            if parent.truth_revision == 0:
                raise NotFoundError(f"{benchmark_name(benchmark)} has no truth yet")
            definition = self._benchmarks.definition(parent)
            chosen = scored_submissions(transaction, benchmark, names)
            plan = {
                "benchmark": benchmark,
                "revision": parent.truth_revision,
                "submissions": chosen,
                "before": _standing(transaction, definition, benchmark, chosen),
            }
            operation = f"{KIND}-{secrets.token_hex(8)}"
            transaction.insert_operation(
                OperationRecord(operation, KIND, orjson.dumps(plan).decode(), request.time)
            )
            request.audit(transaction, benchmark_name(benchmark), f"{operation} {comment}".strip())
            return operation

        def command(transaction: Transaction) -> OperationRecord:
            name = request.once(transaction, lambda: make(transaction))
            return required_operation(transaction, name)

        return await self._site.write(command)

    async def advance(self) -> None:
        """Begin, or go on with, every operation that is not done and that nobody works on."""
        for record in await self._site.read(self._operations.waiting):
            await self._operations.begin(record.operation, partial(self._run, record))

    async def finish(self) -> None:
        """Wait until nothing runs."""
        await self._operations.finish()

    async def stop(self) -> None:
        """End what runs; it goes on when the server does, or at another one at once."""
        await self._operations.stop()

    async def _run(self, record: OperationRecord) -> None:
        plan = read_plan(record)
        try:
            if await self._score_all(record.operation, plan):
                await self._site.write(lambda transaction: self._end(transaction, record, plan))
        except LeaseLostError:
            raise
        except StoreError as error:
            log(logging.ERROR, "store failed", places=places_of(error))  # the next round goes on
        except Exception as error:  # noqa: BLE001 - whatever it is, the operation must end
            log(logging.ERROR, "operation failed", name=record.operation, places=places_of(error))
            await self._close(record.operation, "SCORING_FAILED")

    async def _score_all(self, operation: str, plan: Plan) -> bool:
        """Score what is not done; False where the operation was cancelled on the way."""
        best: dict[tuple[str, str], Values] = {}
        for submission in await self._site.read(lambda reader: _in_order(reader, plan.benchmark)):
            record = await self._site.read(lambda reader: reader.operation(operation))
            if record is None or record.done:
                return False
            if record.cancel_requested:
                await self._close(operation, "CANCELLED")
                return False
            name = SubmissionName(plan.benchmark, submission.submission)
            wanted = name.submission in plan.submissions
            if wanted and name.submission not in done_of(record):
                results = await self._scorer.results(name, plan.revision)
                failpoint("before_score_commit")
                await self._site.write(
                    lambda transaction: self._keep(transaction, operation, name, results, best)  # noqa: B023 - it has run when the loop goes on
                )
            else:
                await self._site.read(lambda reader: self._follow(reader, submission, best))  # noqa: B023 - as above
        return True

    def _keep(
        self,
        transaction: Transaction,
        operation: str,
        name: SubmissionName,
        results: Sequence[Result],
        best: dict[tuple[str, str], Values],
    ) -> None:
        """Keep new scores, and that the submission is done."""
        self._operations.require(transaction, operation)
        submission = transaction.submission(*name)
        record = transaction.operation(operation)
        if submission is None or record is None:
            return
        definition = self._definition(transaction, name.benchmark)
        now = self._site.clock()
        for result in results:
            key = (submission.team, result.evaluator.name)
            directions = definition.ranking(result.evaluator)
            best[key] = released_values(
                definition.policy, best.get(key, {}), result.values, directions
            )
            insert_score(transaction, submission, result, best[key], now)
        progress = orjson.dumps({"done": [*done_of(record), name.submission]}).decode()
        transaction.update_operation(replace(record, progress=progress))

    def _follow(
        self, reader: Reader, submission: SubmissionRecord, best: dict[tuple[str, str], Values]
    ) -> None:
        """Take scores that stay as they are into what is released after them."""
        definition = self._definition(reader, submission.benchmark)
        newest = _newest(reader, submission)
        for evaluator in definition.evaluators:
            score = newest.get(evaluator.name)
            if score is None:
                continue
            key = (submission.team, evaluator.name)
            directions = definition.ranking(evaluator)
            values = values_from_json(score.values)
            best[key] = released_values(definition.policy, best.get(key, {}), values, directions)

    def _end(self, transaction: Transaction, record: OperationRecord, plan: Plan) -> None:
        self._operations.require(transaction, record.operation)
        present = transaction.operation(record.operation)
        if present is None:
            return
        definition = self._definition(transaction, plan.benchmark)
        now = self._site.clock()
        replay_releases(transaction, definition, plan.benchmark, now)
        after = _standing(transaction, definition, plan.benchmark, plan.submissions)
        result = orjson.dumps(differences(plan.benchmark, plan.before, after)).decode()
        transaction.update_operation(replace(present, done=True, result=result))
        audit_server(transaction, now, "rescored", benchmark_name(plan.benchmark), record.operation)

    async def _close(self, operation: str, reason: str) -> None:
        def command(transaction: Transaction) -> None:
            self._operations.require(transaction, operation)
            record = transaction.operation(operation)
            if record is not None and not record.done:
                transaction.update_operation(replace(record, done=True, error=reason))

        await self._site.write(command)

    def _definition(self, reader: Reader, benchmark: str) -> Definition:
        return self._benchmarks.definition(required_benchmark(reader, benchmark))


def required_operation(reader: Reader, operation: str) -> OperationRecord:
    """One operation.

    Raises:
        NotFoundError: If there is none of that name.
    """
    record = reader.operation(operation)
    if record is None:
        raise NotFoundError(f"operations/{operation} does not exist")
    return record


def differences(benchmark: str, before: Standing, after: Standing) -> list[dict[str, Any]]:
    """What a re-scoring changed, submission by submission; what stayed is not in it.

    Args:
        benchmark: The benchmark.
        before: Scores and ranks before.
        after: Scores and ranks after.
    """
    found = []
    for submission, evaluators in after.items():
        for evaluator, new in evaluators.items():
            old = before.get(submission, {}).get(evaluator, {"values": {}, "rank": None})
            for measure, value in new["values"].items():
                change = {
                    "before": old["values"].get(measure),
                    "after": value,
                    "rank_before": old["rank"],
                    "rank_after": new["rank"],
                }
                if change["before"] != value or change["rank_before"] != change["rank_after"]:
                    name = str(SubmissionName(benchmark, submission))
                    place = {"submission": name, "evaluator": evaluator, "measure": measure}
                    found.append(place | change)
    return found


def scored_submissions(
    reader: Reader, benchmark: str, names: Sequence[SubmissionName]
) -> list[str]:
    """Scored submissions of a benchmark: those that are named or, where none is, all.

    Raises:
        InputError: If one that is named has no score there.
    """
    scored = [record.submission for record in _in_order(reader, benchmark)]
    if not names:
        return scored
    faults = [
        Fault(str(name), "a scored submission of the benchmark", field=f"submissions[{row}]")
        for row, name in enumerate(names)
        if name.benchmark != benchmark or name.submission not in scored
    ]
    if faults:
        raise InputError(faults)
    return list(dict.fromkeys(name.submission for name in names))


def _in_order(reader: Reader, benchmark: str) -> list[SubmissionRecord]:
    """Scored submissions, in the order in which they were sealed."""
    records = reader.submissions(benchmark, None, None, MAXIMUM_SUBMISSIONS)
    scored = [record for record in records if record.state is SubmissionState.SCORED]
    return sorted(scored, key=sealing_order)


def _newest(reader: Reader, submission: SubmissionRecord) -> dict[str, ScoreRecord]:
    newest: dict[str, ScoreRecord] = {}
    for score in reader.scores(submission.benchmark, submission.submission, None, 10_000):
        newest.setdefault(score.evaluator, score)
    return newest


def _standing(
    reader: Reader, definition: Definition, benchmark: str, submissions: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Scores and ranks of submissions, as an organiser sees them."""
    standing: dict[str, dict[str, Any]] = {name: {} for name in submissions}
    for evaluator in definition.evaluators:
        entries = ranked_entries(reader, definition, Board(benchmark, evaluator), _EVERYTHING)
        ranks = {ranked.entry.submission: ranked.rank for ranked in entries}
        for score in reader.current_scores(benchmark, evaluator.name):
            if score.submission in standing:
                standing[score.submission][evaluator.name] = {
                    "values": values_from_json(score.values),
                    "rank": ranks.get(score.submission),
                }
    return standing
