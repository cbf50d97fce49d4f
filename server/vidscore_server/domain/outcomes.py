"""Outcomes of scored submissions, computed on request and never stored.

They explain a stored score: the same evaluator over the same revision of the truth. A participant
sees outcomes only of a score that it may see, and only if the policy allows it;
`vidscore_server.domain.release` decides which fields. It cannot choose threshold and confidence:
with answers at several thresholds it could bracket the similarity of each detection.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, SequenceKey, empty_annotations
from vidscore_evaluators.errors import Fault, InputError, LimitError, ParameterError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.jobs import OBJECTS_PER_PART, make_job, run_outcome_job, split
from vidscore_evaluators.names import counted
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes, concatenate_outcomes
from vidscore_evaluators.registry import is_built_in
from vidscore_server.domain.access import Caller
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.policy import Policy
from vidscore_server.domain.portions import public_side
from vidscore_server.domain.quotas import IN_ALL, quotas_of
from vidscore_server.domain.release import released_outcomes
from vidscore_server.domain.scorer import Scorer, quoting_nothing
from vidscore_server.domain.scores import MAXIMUM_SCORES
from vidscore_server.domain.submissions import visible
from vidscore_server.errors import (
    NoOutcomesError,
    NoPlaceError,
    NotReleasedError,
    NotScoredError,
    PermissionDeniedError,
    QuotaError,
)
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import ScoreRecord
from vidscore_server.workers import WorkerPool

ROWS_PER_BATCH = 8192
"""Rows per batch. A team's rows are cut by their own number alone, because the size of a part also
depends on the truth."""

LIMIT = "maximum_outcome_calls"


class OutcomePlan(Struct, frozen=True):
    """Outcomes that a caller may see.

    Attributes:
        caller: The caller.
        evaluator: The evaluator that made the score.
        at: The point on its curves.
        score: The score that they explain.
        definition: The benchmark.
        sequence: The only sequence that is wanted; None for all.
    """

    caller: Caller
    evaluator: Evaluator[Any]
    at: OperatingPoint
    score: ScoreRecord
    definition: Definition
    sequence: SequenceKey | None = None

    @property
    def name(self) -> SubmissionName:
        """The submission."""
        return SubmissionName(self.score.benchmark, self.score.submission)

    def wanted(self, side: Annotations) -> Annotations:
        """The frames of a side with outcomes that the caller requests and may see."""
        if not self.caller.is_organiser:  # even after closing: outcomes locate objects
            side = public_side(self.definition, side)
        if self.sequence is None:
            return side
        chosen = np.array([key == self.sequence for key in side.sequences], dtype=np.bool_)
        return side.take_frames(chosen[side.frame_sequences])


class SubmissionOutcomes:
    """The outcomes of the submissions of a site.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        scorer: Reads both sides of a submission.
        workers: The worker processes.
    """

    def __init__(
        self, context: Context, benchmarks: Benchmarks, scorer: Scorer, workers: WorkerPool
    ) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._scorer = scorer
        self._workers = workers
        self._reading: Counter[str] = Counter()

    async def plan(
        self,
        request: Request,
        name: SubmissionName,
        evaluator: str,
        at: OperatingPoint,
        sequence: SequenceKey | None = None,
    ) -> OutcomePlan:
        """Find the score to explain, and record it if its outcomes are shown to a team.

        Args:
            request: The request.
            name: The submission.
            evaluator: Name of an evaluator of its benchmark; empty for the first.
            at: The point on the evaluator's curves.
            sequence: The only sequence that is wanted; None for all.

        Raises:
            NotFoundError: If the caller knows no such submission.
            NotReleasedError: If the policy shows the caller no outcomes.
            PermissionDeniedError: If a participant chooses the point.
            InputError: If the benchmark has no such evaluator, or that has no outcomes at this
                point.
            NoOutcomesError: If the evaluator has no outcomes.
            NotScoredError: If there is no score that the caller may see.
            QuotaError: If the team has used all of its answers.
        """
        caller = request.caller
        found = await self._context.read(lambda reader: self._find(reader, name, caller, evaluator))
        definition, chosen, score = found
        if caller.is_organiser:
            await self._check_point(chosen, at)
        else:
            _refuse_choice(at)
            await self._context.write(lambda transaction: self._charge(transaction, request, score))
        return OutcomePlan(caller, chosen, at, score, definition, sequence)

    async def _check_point(self, evaluator: Evaluator[Any], at: OperatingPoint) -> None:
        """Compute outcomes of no data: this raises the same error, without quoting data."""
        job = make_job(evaluator, *_nothing(evaluator))
        try:
            if is_built_in(evaluator.name):  # it need not wait for a worker
                await asyncio.to_thread(run_outcome_job, job, at)
            else:
                await self._workers.outcomes(job, at)
        except ParameterError as error:
            # Evaluators name options of the command line.
            named = [
                replace(fault, field=fault.field and fault.field.removeprefix("at_"))
                for fault in error.faults
            ]
            raise ParameterError(named) from None

    @contextmanager
    def place(self, caller: Caller) -> Iterator[None]:
        """Hold a place for a team, which may hold only one; organisers need none.

        Raises:
            NoPlaceError: If there is none.
        """
        if caller.is_organiser:
            yield
            return
        maximum = self._context.settings.maximum_outcome_calls
        if self._reading[caller.shares_as]:
            raise NoPlaceError("the team is reading outcomes with another call", LIMIT, maximum)
        if self._reading.total() >= maximum:
            found = f"outcomes are read by {counted(self._reading.total(), 'team')}"
            raise NoPlaceError(found, LIMIT, maximum)
        self._reading[caller.shares_as] += 1
        try:
            yield
        finally:
            del self._reading[caller.shares_as]

    async def batches(self, plan: OutcomePlan) -> AsyncIterator[Outcomes]:
        """The rows that the caller may see, in a fixed order.

        Each batch but the last has `ROWS_PER_BATCH` rows; the last one may have none.

        Raises:
            NotScoredError: If the submission, its truth or the rules have changed meanwhile.
            WorkFailedError: If the work ended in an unexpected error.
            LimitError: If a part takes longer than scoring is allowed to.
        """
        held: list[Outcomes] = []
        count = 0
        async for part in self._parts(plan):
            held.append(part)
            count += len(part)
            if count < ROWS_PER_BATCH:
                continue
            rows = concatenate_outcomes(held)
            for start in range(0, count - ROWS_PER_BATCH + 1, ROWS_PER_BATCH):
                yield rows.take(np.arange(start, start + ROWS_PER_BATCH))
            held = [rows.take(np.arange(count - count % ROWS_PER_BATCH, count))]
            count = len(held[0])
        yield concatenate_outcomes(held)

    async def _parts(self, plan: OutcomePlan) -> AsyncIterator[Outcomes]:
        """The visible outcomes of each part, at least one; one part at a time per worker."""
        sides = self._scorer.sides_in_parts(
            plan.name, plan.score.truth_revision, plan.evaluator, plan.score.configuration
        )
        empty = True
        try:
            async for received in sides:
                truth, detections = received
                both = (plan.wanted(truth), plan.wanted(detections))
                objects = sum(side.object_count for side in both)
                parts = split(*both, 1 + objects // OBJECTS_PER_PART)
                while (part := await asyncio.to_thread(next, parts, None)) is not None:
                    yield await self._part(plan, *part)
                    empty = False
        except LookupError:
            raise NotScoredError(f"{plan.name} has changed in the meantime; ask again") from None
        if empty:
            yield await self._part(plan, *_nothing(plan.evaluator))

    async def _part(
        self, plan: OutcomePlan, truth: Annotations, detections: Annotations
    ) -> Outcomes:
        job = make_job(plan.evaluator, truth, detections)
        limit_s = self._context.settings.scoring_timeout_s
        try:
            with quoting_nothing():  # the point was checked before
                async with asyncio.timeout(limit_s):
                    outcomes = await self._workers.outcomes(job, plan.at)
        except TimeoutError:
            found = f"a part of the outcomes of {plan.name} takes longer"
            raise LimitError(found, "scoring_timeout_s", limit_s) from None
        return await asyncio.to_thread(released_outcomes, plan.caller, outcomes)

    def _find(
        self, reader: Reader, name: SubmissionName, caller: Caller, wanted: str
    ) -> tuple[Definition, Evaluator[Any], ScoreRecord]:
        visible(reader, name, caller)
        definition = self._benchmarks.definition(required_benchmark(reader, name.benchmark))
        _refuse_hidden(caller, definition.policy)
        evaluator = _evaluator_of(definition, wanted)
        for score in _scores(reader, name, definition, evaluator, caller):
            return definition, evaluator, score
        raise NotScoredError(
            f"{name} has no score of {evaluator.name} by the present rules yet; wait until it is "
            "scored"
        )

    def _charge(self, transaction: Transaction, request: Request, score: ScoreRecord) -> None:
        """Record that outcomes of a score are shown to a team; this costs it one submission.

        A repeated score has the same outcomes, which cost nothing more.
        """
        name = SubmissionName(score.benchmark, score.submission)
        record = visible(transaction, name, request.caller)
        definition = self._benchmarks.definition(required_benchmark(transaction, name.benchmark))
        _refuse_hidden(request.caller, definition.policy)
        evaluator = _evaluator_of(definition, score.evaluator)
        same = [
            entry
            for entry in _scores(transaction, name, definition, evaluator, request.caller)
            if entry.truth_revision == score.truth_revision
        ]
        if not same:
            raise NotScoredError(f"{name} has changed in the meantime; ask again")
        if any(entry.outcomes_shown for entry in same):
            return
        quotas = quotas_of(transaction, name.benchmark, record.team, definition, request.time)
        for quota in quotas:
            if quota.name == IN_ALL and not quota.left:
                raise QuotaError(
                    f"the team's quota {quota.name} of {quota.maximum} is used up; outcomes of a "
                    "score count as one more submission",
                    quota=quota.name,
                    maximum=str(quota.maximum),
                )
        transaction.note_shown_outcomes(score)
        request.audit(transaction, f"{name}/scores/{score.number}", score.evaluator)


def _refuse_hidden(caller: Caller, policy: Policy) -> None:
    if not caller.is_organiser and not policy.shows_own_outcomes:
        raise NotReleasedError(
            "the benchmark's policy shows participants no outcomes; an organiser may set "
            "outcomes = 'own'"
        )


def _refuse_choice(at: OperatingPoint) -> None:
    for field, value in (("threshold", at.threshold), ("confidence", at.confidence)):
        if value is not None:
            raise PermissionDeniedError(
                f"only organisers may choose the {field} of outcomes; leave it out", field=field
            )


def _nothing(evaluator: Evaluator[Any]) -> tuple[Annotations, Annotations]:
    needs = evaluator.needs
    return empty_annotations(needs.truth_arities[0]), empty_annotations(needs.detection_arities[0])


def _evaluator_of(definition: Definition, wanted: str) -> Evaluator[Any]:
    """The evaluator of a benchmark whose outcomes are requested.

    Raises:
        InputError: If the benchmark has no such evaluator.
        NoOutcomesError: If it has no outcomes.
    """
    by_name = {evaluator.name: evaluator for evaluator in definition.evaluators}
    evaluator = by_name.get(wanted) if wanted else definition.evaluators[0]
    if evaluator is None:
        raise InputError([Fault(repr(wanted)[:80], " or ".join(by_name), field="evaluator")])
    if not evaluator.has_outcomes:
        others = [name for name, entry in by_name.items() if entry.has_outcomes]
        rest = f"; {' and '.join(others)} of the benchmark can" if others else ""
        raise NoOutcomesError(f"{evaluator.name} has no outcomes{rest}")
    return evaluator


def _scores(
    reader: Reader,
    name: SubmissionName,
    definition: Definition,
    evaluator: Evaluator[Any],
    caller: Caller,
) -> Iterator[ScoreRecord]:
    """The scores of a submission by an evaluator that the caller may see."""
    configuration = definition.configurations[evaluator.name]
    published_only = not caller.is_organiser
    for score in reader.scores(*name, None, MAXIMUM_SCORES, published_only=published_only):
        if score.evaluator == evaluator.name and score.configuration == configuration:
            yield score
