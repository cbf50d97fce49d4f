"""Score stored detections again, as an operation; existing scores stay.

An operation records each finished submission in the transaction that stores its scores: if the
server dies, the server that leases the operation next continues. The board moves at the end if no
other submission waits to be scored again (see `vidscore_server.domain.basis`). It also moves
without an operation; operations are for callers who want to wait.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import partial

import msgspec
import orjson
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.domain.basis import newest_complete, own_basis
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.board_updates import Standing, changes, shown_standing
from vidscore_server.domain.context import Context, Request, audit_server
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leases import LeasedOperations, LeaseLostError, Leases, create_operation
from vidscore_server.domain.names import SubmissionName, benchmark_name
from vidscore_server.domain.publishing import keep_result, move_board
from vidscore_server.domain.scorer import Scorer
from vidscore_server.domain.scores import Result
from vidscore_server.errors import NotFoundError
from vidscore_server.logs import log, places_of
from vidscore_server.runtime import failpoint
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import OperationRecord

KIND = "rescore"


class Plan(Struct, frozen=True):
    """The plan of a re-scoring.

    Attributes:
        benchmark: The benchmark.
        revision: Revision of the truth.
        submissions: The submissions.
        before: Values and ranks on the board before.
    """

    benchmark: str
    revision: int
    submissions: tuple[str, ...]
    before: Standing


def read_plan(record: OperationRecord) -> Plan:
    """The plan of an operation."""
    return msgspec.json.decode(record.request, type=Plan)


def done_of(record: OperationRecord) -> list[str]:
    """Submissions that an operation has re-scored."""
    done: list[str] = orjson.loads(record.progress).get("done", [])
    return done


class Rescoring:
    """Runs the re-scorings of a site."""

    def __init__(
        self, context: Context, benchmarks: Benchmarks, scorer: Scorer, leases: Leases
    ) -> None:
        self._context = context
        self.operations = LeasedOperations(leases, (KIND,))
        self._benchmarks = benchmarks
        self._scorer = scorer

    async def create(
        self, request: Request, benchmark: str, names: Sequence[SubmissionName], comment: str
    ) -> OperationRecord:
        """Plan a re-scoring, or find the one that the same request has planned.

        Args:
            request: The request.
            benchmark: The benchmark.
            names: Submissions; empty for all that have a score.
            comment: Why, for the record.

        Raises:
            NotFoundError: If there is no such benchmark, or no truth.
            InputError: If a submission has no score.
        """

        def make(transaction: Transaction) -> str:
            parent = required_benchmark(transaction, benchmark)
            if parent.truth_revision == 0:
                raise NotFoundError(f"{benchmark_name(benchmark)} has no truth yet")
            definition = self._benchmarks.definition(parent)
            plan = Plan(
                benchmark,
                newest_complete(transaction, parent) or parent.truth_revision,
                tuple(scored_submissions(transaction, benchmark, names)),
                shown_standing(transaction, definition, benchmark, request.time),
            )
            return msgspec.json.encode(plan).decode()

        resource = benchmark_name(benchmark)
        return await create_operation(self._context, request, KIND, make, resource, comment)

    async def advance(self) -> None:
        """Start or continue every unfinished operation that no server works on."""
        for record in await self._context.read(self.operations.waiting):
            await self.operations.begin(record.operation, partial(self._run, record))

    async def _run(self, record: OperationRecord) -> None:
        plan = read_plan(record)
        try:
            if await self._score_all(record.operation, plan):
                await self._context.write(lambda transaction: self._end(transaction, record, plan))
        except (LeaseLostError, StoreError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the operation must end
            log(logging.ERROR, "operation failed", name=record.operation, places=places_of(error))
            await self._close(record.operation, "SCORING_FAILED")

    async def _score_all(self, operation: str, plan: Plan) -> bool:
        """Score the remaining submissions; False if the operation was cancelled meanwhile."""
        for submission in plan.submissions:
            record = await self._context.read(lambda reader: reader.operation(operation))
            if record is None or record.done:
                return False
            if record.cancel_requested:
                await self._close(operation, "CANCELLED")
                return False
            if submission not in done_of(record):
                name = SubmissionName(plan.benchmark, submission)
                results = await self._scorer.results(name, plan.revision, again=True)
                failpoint("before_score_commit")
                await self._context.write(
                    lambda transaction: self._keep(transaction, operation, name, results)  # noqa: B023 - it has run when the loop goes on
                )
        return True

    def _keep(
        self,
        transaction: Transaction,
        operation: str,
        name: SubmissionName,
        results: Sequence[Result],
    ) -> None:
        """Store new scores, and record that the submission is done."""
        self.operations.require(transaction, operation)
        submission = transaction.submission(*name)
        record = transaction.operation(operation)
        if submission is None or record is None:
            return
        definition = self._definition(transaction, name.benchmark)
        for result in results:
            keep_result(transaction, definition, submission, result, self._context.clock())
        progress = orjson.dumps({"done": [*done_of(record), name.submission]}).decode()
        transaction.update_operation(replace(record, progress=progress))

    def _end(self, transaction: Transaction, record: OperationRecord, plan: Plan) -> None:
        self.operations.require(transaction, record.operation)
        present = transaction.operation(record.operation)
        if present is None:
            return
        parent = required_benchmark(transaction, plan.benchmark)
        definition = self._benchmarks.definition(parent)
        now = self._context.clock()
        own = own_basis(transaction, definition, parent)
        move_board(transaction, definition, plan.benchmark, now, wanted=own)
        before, begun = plan.before, record.create_time
        changed = changes(transaction, definition, plan.benchmark, before, own, begun)
        made = [entry for entry in changed if entry["submission"] in _names_of(plan)]
        result = orjson.dumps(made).decode()
        transaction.update_operation(replace(present, done=True, result=result))
        audit_server(transaction, now, "rescored", benchmark_name(plan.benchmark), record.operation)

    async def _close(self, operation: str, reason: str) -> None:
        def command(transaction: Transaction) -> None:
            self.operations.require(transaction, operation)
            record = transaction.operation(operation)
            if record is not None and not record.done:
                transaction.update_operation(replace(record, done=True, error=reason))

        await self._context.write(command)

    def _definition(self, reader: Reader, benchmark: str) -> Definition:
        return self._benchmarks.definition(required_benchmark(reader, benchmark))


def scored_submissions(
    reader: Reader, benchmark: str, names: Sequence[SubmissionName]
) -> list[str]:
    """Scored submissions of a benchmark: the named ones, or all if none is named.

    Raises:
        InputError: If a named submission has no score there.
    """
    scored = reader.scored_names(benchmark)
    if not names:
        return list(scored)
    faults = [
        Fault(str(name), "a scored submission of the benchmark", field=f"submissions[{row}]")
        for row, name in enumerate(names)
        if name.benchmark != benchmark or name.submission not in scored
    ]
    if faults:
        raise InputError(faults)
    return list(dict.fromkeys(name.submission for name in names))


def _names_of(plan: Plan) -> set[str]:
    return {str(SubmissionName(plan.benchmark, name)) for name in plan.submissions}
