"""Trust analyses as operations: create, run in turn, cancel and restart them.

An analysis depends on its plan alone, so that a restarted server can repeat an unfinished one and
get the same document. It compares detections with hidden truth outside the Ladder: only organisers
may request it (see `vidscore_server.domain.access`), and errors say what was expected, never what
was found in the data.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import Fault, InputError, VidscoreError
from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_evaluators.trust.analyses import Analysis, CriterionAnalysis, RankingAnalysis
from vidscore_evaluators.trust.criterion import chosen_candidates
from vidscore_evaluators.trust.ranking import Questions
from vidscore_evaluators.trust.systems import Contest
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context, Request, audit_server
from vidscore_server.domain.leases import LeasedOperations, LeaseLostError, Leases, create_operation
from vidscore_server.domain.names import SubmissionName, benchmark_name
from vidscore_server.domain.rescoring import scored_submissions
from vidscore_server.domain.scorer import Scorer
from vidscore_server.domain.trust_plans import (
    CRITERION,
    KINDS,
    RANKING,
    CriterionPlan,
    RankingPlan,
    TrustPlan,
    check_criteria,
    check_limits,
    plan_to_json,
    ranking_evaluators,
    read_plan,
)
from vidscore_server.errors import AnalysisRunsError, NotFoundError
from vidscore_server.logs import log, places_of
from vidscore_server.processes import run_analysis
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import OperationRecord

CANCELLED, TIMED_OUT, FAILED = "CANCELLED", "ANALYSIS_TIMED_OUT", "ANALYSIS_FAILED"

LOOK_INTERVAL_S = 0.5
"""Interval of checks whether an analysis is still wanted."""


class RankingRequest(Struct, frozen=True):
    """A request to examine a ranking.

    Attributes:
        benchmark: The benchmark.
        submissions: Submissions; empty for all that have a score.
        evaluators: The evaluators that rank; empty for the benchmark's own.
        questions: The questions.
    """

    benchmark: str
    submissions: tuple[SubmissionName, ...]
    evaluators: tuple[EvaluatorSpec, ...]
    questions: Questions


class TrustAnalyses:
    """The trust analyses of a site.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        scorer: Reads both sides of a submission.
        leases: The server's leases.
    """

    def __init__(
        self, context: Context, benchmarks: Benchmarks, scorer: Scorer, leases: Leases
    ) -> None:
        self._context = context
        self.operations = LeasedOperations(leases, KINDS)
        self._benchmarks = benchmarks
        self._scorer = scorer

    async def examine_ranking(
        self, request: Request, wish: RankingRequest, comment: str
    ) -> OperationRecord:
        """Plan an examination, or find the one that the same request has planned.

        Raises:
            NotFoundError: If there is no such benchmark, or no truth.
            InputError: If a submission has no score, or an evaluator cannot judge.
            LimitError: If it exceeds a limit of the server.
            AnalysisRunsError: If an examination of the benchmark has not ended.
        """

        def plan(transaction: Transaction) -> RankingPlan:
            parent = required_benchmark(transaction, wish.benchmark)
            if parent.truth_revision == 0:
                raise NotFoundError(f"{benchmark_name(wish.benchmark)} has no truth yet")
            definition = self._benchmarks.definition(parent)
            names = scored_submissions(transaction, wish.benchmark, wish.submissions)
            if not wish.submissions:
                names = [name for name in names if may_rank(transaction, wish.benchmark, name)]
            if len(names) < 2:
                few = Fault(
                    f"{len(names)} scored", "at least two to be ranked", field="submissions"
                )
                raise InputError([few])
            found = [transaction.submission(wish.benchmark, name) for name in names]
            made = RankingPlan(
                wish.benchmark,
                parent.truth_revision,
                tuple(names),
                ranking_evaluators(definition, wish.evaluators),
                wish.questions,
            )
            check_limits(made, [record for record in found if record], self._context.settings)
            return made

        return await self._create(request, RANKING, plan, benchmark_name(wish.benchmark), comment)

    async def test_criterion(
        self, request: Request, plan: CriterionPlan, comment: str
    ) -> OperationRecord:
        """Plan a test, or find the one that the same request has planned.

        Raises:
            InputError: If there is no such test, or a criterion cannot be tested.
            LimitError: If it exceeds a limit of the server.
            AnalysisRunsError: If a test has not ended.
        """
        await asyncio.to_thread(check_criteria, plan)
        check_limits(plan, (), self._context.settings)
        return await self._create(request, CRITERION, lambda _: plan, "", comment)

    async def _create(
        self,
        request: Request,
        kind: str,
        plan_in: Callable[[Transaction], TrustPlan],
        resource: str,
        comment: str,
    ) -> OperationRecord:
        def make(transaction: Transaction) -> str:
            plan = plan_in(transaction)
            _refuse_second(transaction, kind, plan)
            return plan_to_json(plan)

        return await create_operation(self._context, request, kind, make, resource, comment)

    async def advance(self) -> None:
        """Start as many unfinished analyses as may run at once, oldest first."""
        for record in await self._context.read(self.operations.waiting):
            if record.cancel_requested:
                await self._cancel(record.operation)
            elif self.operations.count < self._context.settings.maximum_trust_analyses:
                await self.operations.begin(record.operation, partial(self._run, record.operation))

    async def _run(self, operation: str) -> None:
        try:
            record = await self._context.write(
                lambda transaction: self._attempt(transaction, operation)
            )
            if record is None:
                return
            async with asyncio.timeout(self._context.settings.trust_timeout_s):
                analysis = await self._context.read(lambda reader: self._analysis(reader, record))
                document = await self._watched(operation, analysis)
            await self._close(operation, CANCELLED if document is None else "", document)
        except (LeaseLostError, StoreError):
            raise
        except TimeoutError:
            await self._close(operation, TIMED_OUT)
        except VidscoreError as error:
            await self._close(operation, _reason_of(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the operation must end
            log(logging.ERROR, "operation failed", name=operation, places=places_of(error))
            await self._close(operation, FAILED)

    def _attempt(self, transaction: Transaction, operation: str) -> OperationRecord | None:
        """Count an attempt; an analysis that killed the server too often is not started again."""
        self.operations.require(transaction, operation)
        record = transaction.operation(operation)
        if record is None or record.done:
            return None
        attempts = orjson.loads(record.progress).get("attempts", 0)
        if attempts >= self._context.settings.scoring_attempts:
            self._end(transaction, operation, FAILED, None)
            return None
        counted = replace(record, progress=orjson.dumps({"attempts": attempts + 1}).decode())
        transaction.update_operation(counted)
        return counted

    def _analysis(self, reader: Reader, record: OperationRecord) -> Analysis:
        """The analysis of an operation."""
        plan = read_plan(record)
        if isinstance(plan, CriterionPlan):
            candidates = chosen_candidates(plan.test, plan.criteria)
            return CriterionAnalysis(plan.test, tuple(candidates), plan.plan)
        definition = self._benchmarks.definition(required_benchmark(reader, plan.benchmark))
        specification = definition.specification
        evaluators = tuple(entry.request(specification) for entry in plan.evaluators)
        contest = Contest(*self._sides(reader, plan), specification)
        return RankingAnalysis(evaluators, contest, plan.questions)

    def _sides(
        self, reader: Reader, plan: RankingPlan
    ) -> tuple[Annotations, dict[str, Annotations]]:
        """The common truth, and the detections of each submission, as scored."""
        truths, systems = [], {}
        for submission in plan.submissions:
            name = SubmissionName(plan.benchmark, submission)
            sides = self._scorer.columns(reader, name, plan.revision)
            truth, systems[submission] = sides.to_score(complete=not sides.partial)
            truths.append(truth)
        return truths[0], systems

    async def _watched(self, operation: str, analysis: Analysis) -> str | None:
        """The document; None if it is no longer wanted."""
        told: dict[str, Any] = {}

        def note(stage: str, done: int, total: int) -> None:
            told.update(stage=stage, done=done, total=total)

        workers = self._context.settings.trust_workers
        work = asyncio.create_task(run_analysis(analysis, workers=workers, on_progress=note))
        try:
            while not work.done():
                await asyncio.wait([work], timeout=LOOK_INTERVAL_S)
                if not await self._is_wanted(operation, told):
                    return None
            return work.result()
        finally:
            work.cancel()
            await asyncio.wait([work])

    async def _is_wanted(self, operation: str, told: dict[str, Any]) -> bool:
        """Whether to continue the analysis; also stores the progress."""

        def command(transaction: Transaction) -> None:
            record = transaction.operation(operation)
            if record is not None and not record.done:
                progress = {**orjson.loads(record.progress), **told}
                transaction.update_operation(
                    replace(record, progress=orjson.dumps(progress).decode())
                )

        record = await self._context.read(lambda reader: reader.operation(operation))
        if record is None or record.done or record.cancel_requested:
            return False
        if not told.items() <= orjson.loads(record.progress).items():
            await self._context.write(command)
        return True

    async def _cancel(self, operation: str) -> None:
        """End an operation that no server works on."""
        await self._context.write(
            lambda transaction: self._end(transaction, operation, CANCELLED, None)
        )

    async def _close(self, operation: str, error: str, document: str | None = None) -> None:
        """End an operation that this server is working on."""

        def command(transaction: Transaction) -> None:
            self.operations.require(transaction, operation)
            self._end(transaction, operation, error, document)

        await self._context.write(command)

    def _end(
        self, transaction: Transaction, operation: str, error: str, document: str | None
    ) -> None:
        record = transaction.operation(operation)
        if record is None or record.done:
            return
        ended = replace(record, done=True, error=error or None, result=document)
        transaction.update_operation(ended)
        plan = read_plan(record)
        resource = benchmark_name(plan.benchmark) if isinstance(plan, RankingPlan) else ""
        action = "analysis ended early" if error else "analysed"
        audit_server(transaction, self._context.clock(), action, resource, operation)


def _refuse_second(reader: Reader, kind: str, plan: TrustPlan) -> None:
    """Refuse an analysis while a similar one is unfinished, to keep queues short."""
    benchmark = plan.benchmark if isinstance(plan, RankingPlan) else None
    for record in reader.unfinished_operations():
        other = read_plan(record) if record.kind == kind else None
        theirs = other.benchmark if isinstance(other, RankingPlan) else None
        if other is not None and theirs == benchmark:
            name = f"operations/{record.operation}"
            raise AnalysisRunsError(
                f"{name} has not ended; wait for it or cancel it", operation=name
            )


def _reason_of(error: VidscoreError) -> str:
    """The reason and, for an input error, what was expected; never what was found."""
    if not isinstance(error, InputError):
        return error.reason
    expected = dict.fromkeys(fault.expected for fault in error.faults)
    return f"{error.reason}: expected {'; '.join(list(expected)[:5])}"


def may_rank(reader: Reader, benchmark: str, submission: str) -> bool:
    """Whether a submission exists and is not disqualified."""
    record = reader.submission(benchmark, submission)
    return record is not None and not record.disqualification
