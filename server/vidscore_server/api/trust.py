"""TrustService and RankingService: how far rankings and criteria can be relied on."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from google.longrunning import operations_pb2

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import (
    Fault,
    InputError,
    LimitError,
    ParameterError,
    SpecificationError,
    VidscoreError,
)
from vidscore_evaluators.names import counted
from vidscore_evaluators.parameters import parse_parameters
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, FrameRanges
from vidscore_evaluators.trust.analyses import RankingAnalysis
from vidscore_evaluators.trust.criterion import Plan
from vidscore_evaluators.trust.ranking import Questions
from vidscore_protos.v1 import (
    ranking_service_pb2,
    ranking_service_pb2_grpc,
    trust_pb2,
    trust_service_pb2_grpc,
)
from vidscore_protos.v1 import trust_service_pb2 as pb
from vidscore_server.api.batches import ARITY_OF_GEOMETRY, batch_size, geometry_name, read_batch
from vidscore_server.api.convert import given, read_evaluators, read_questions, read_specification
from vidscore_server.api.operations import write_operation
from vidscore_server.api.requests import message_kind, request_of
from vidscore_server.api.stream import Requests, Responses
from vidscore_server.domain.access import current_caller
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.names import read_benchmark, read_submission
from vidscore_server.domain.plug_ins import refuse_by_own_rules
from vidscore_server.domain.policy import Policy
from vidscore_server.domain.scoring_session import (
    GEOMETRY_FIELDS,
    PATH,
    SPECIFICATION_PATH,
    LatestValue,
)
from vidscore_server.domain.sessions import Sessions, Use
from vidscore_server.domain.trust import RankingRequest
from vidscore_server.domain.trust_plans import (
    NAME_LENGTH,
    CriterionPlan,
    Examination,
    UploadedContest,
    ranking_evaluators,
)
from vidscore_server.errors import message_order
from vidscore_server.processes import run_analysis
from vidscore_server.runtime import offload
from vidscore_server.settings import Settings
from vidscore_server.workers import WorkerPool


def read_examination(
    message: ranking_service_pb2.ExaminationConfiguration, settings: Settings
) -> Examination:
    """Check a configuration.

    Raises:
        ExceptionGroup: With every error, each with every fault.
    """
    errors: list[VidscoreError] = []
    specification, questions = BenchmarkSpec(), Questions()
    wanted: tuple[EvaluatorSpec, ...] = ()
    try:
        specification = read_specification(message.specification, SPECIFICATION_PATH)
    except SpecificationError as error:
        errors.append(error)
    try:
        wanted = read_evaluators(message.evaluators, f"{PATH}.evaluators")
    except InputError as error:
        errors.append(error)
    try:
        questions = read_questions(message.questions, f"{PATH}.questions")
    except ParameterError as error:
        errors.append(error)
    faults = [*_geometry_faults(message), *_name_faults(message.systems)]
    if not message.evaluators and not message.specification.evaluators:
        faults.append(Fault("no evaluator", "at least one", field=f"{PATH}.evaluators"))
    errors += [InputError(faults)] if faults else []
    errors.extend(_limit_errors(message, specification, questions, settings))
    if errors:
        raise ExceptionGroup("the configuration cannot be used", errors)
    truth_arity, detection_arity = (
        ARITY_OF_GEOMETRY[getattr(message, field)] for field in GEOMETRY_FIELDS.values()
    )
    definition = Definition(specification, truth_arity, detection_arity, Policy())
    place = f"{PATH}.evaluators" if wanted else f"{SPECIFICATION_PATH}.evaluators"
    evaluators = ranking_evaluators(definition, wanted, place)
    count = len({entry.name for entry in evaluators})  # a preset may stand for many
    settings.check_limit("maximum_evaluators", count, f"{count} evaluators")
    return Examination(definition, evaluators, tuple(message.systems), questions)


def _geometry_faults(
    message: ranking_service_pb2.ExaminationConfiguration,
) -> Iterator[Fault]:
    for field in GEOMETRY_FIELDS.values():
        geometry = getattr(message, field)
        if geometry not in ARITY_OF_GEOMETRY:
            yield Fault(geometry_name(geometry), "a geometry", source=PATH, field=field)


def _name_faults(names: Sequence[str]) -> Iterator[Fault]:
    if len(names) < 2:
        yield Fault(f"{len(names)} named", "at least two", source=PATH, field="systems")
    for index, name in enumerate(names):
        field = f"systems[{index}]"
        if not 0 < len(name) <= NAME_LENGTH:
            expected = f"a name of 1 to {NAME_LENGTH} characters"
            yield Fault(f"{len(name)} characters", expected, source=PATH, field=field)
        elif name in names[:index]:
            yield Fault(f"{name!r} again", "each name once", source=PATH, field=field)


def _limit_errors(
    message: ranking_service_pb2.ExaminationConfiguration,
    specification: BenchmarkSpec,
    questions: Questions,
    settings: Settings,
) -> Iterator[LimitError]:
    evaluated = [entry.evaluated_frames or FrameRanges() for entry in specification.sequences]
    for found, what, limit in (
        (len(message.evaluators or message.specification.evaluators), "evaluators",
         "maximum_evaluators"),
        (sum(map(len, evaluated)), "evaluated frames", "maximum_frames"),
        (len(message.systems), "systems", "maximum_trust_systems"),
        (questions.draws, "draws of sequences", "maximum_trust_trials"),
        (questions.trials, "trials with noise", "maximum_trust_trials"),
    ):  # fmt: skip
        maximum = getattr(settings, limit)
        if found > maximum:
            yield LimitError(f"{found} {what}", limit, maximum)


# --- TrustService: hosted benchmarks, as operations


class TrustService(trust_service_pb2_grpc.TrustServiceServicer):
    """Starts trust analyses.

    Args:
        hosting: The server's hosted benchmarks.
    """

    def __init__(self, hosting: Hosting) -> None:
        self._hosting = hosting

    async def ExamineRanking(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ExamineRankingRequest, _: Responses[Any]
    ) -> operations_pb2.Operation:
        """Examine the ranking of a benchmark."""
        wish = RankingRequest(
            benchmark=read_benchmark(request.benchmark, "benchmark"),
            submissions=tuple(
                read_submission(entry, f"submissions[{row}]")
                for row, entry in enumerate(request.submissions)
            ),
            evaluators=read_evaluators(request.evaluators, "evaluators"),
            questions=read_questions(request.questions, "questions"),
        )
        made = request_of(request, "ExamineRanking", self._hosting.context)
        record = await self._hosting.trust.examine_ranking(made, wish, request.comment)
        self._hosting.wake()
        return write_operation(record)

    async def TestCriterion(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.TestCriterionRequest, _: Responses[Any]
    ) -> operations_pb2.Operation:
        """Run a sanity test."""
        plan = CriterionPlan(
            test=request.test,
            criteria=read_evaluators(request.criteria, "criteria"),
            plan=parse_parameters(Plan, given(request, "strata", "realisations", "seed")),
        )
        made = request_of(request, "TestCriterion", self._hosting.context)
        record = await self._hosting.trust.test_criterion(made, plan, request.comment)
        self._hosting.wake()
        return write_operation(record)


# --- RankingService: uploaded systems, stateless

Told = tuple[str, int, int]
"""Stage, number of its finished pieces, number of all pieces."""


class RankingService(ranking_service_pb2_grpc.RankingServiceServicer):
    """Examines rankings, stateless.

    Args:
        settings: The server's limits.
        workers: The worker processes, which check the rules of plug-ins.
        sessions: The runs that are open.
    """

    def __init__(self, settings: Settings, workers: WorkerPool, sessions: Sessions) -> None:
        self._settings = settings
        self._workers = workers
        self._sessions = sessions
        self._running_count = 0
        self._of_team: Counter[str] = Counter()

    async def ExamineUpload(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self,
        requests: Requests[ranking_service_pb2.ExamineUploadRequest],
        responses: Responses[ranking_service_pb2.ExamineUploadResponse],
    ) -> None:
        """Examine the ranking of uploaded systems."""
        with self._sessions.open(Use.SCORING), self._share(current_caller().shares_as):
            self._refuse_without_place()  # not after everything was sent
            async with asyncio.TaskGroup() as tasks:
                expiry = tasks.create_task(self._sessions.until_expired())
                analysis = await self._received(requests)
                newest: LatestValue[Told] = LatestValue()
                tasks.create_task(_tell(newest, responses))
                with self._place():
                    document = await self._run(analysis, newest)
                newest.close()
                expiry.cancel()
        outcome = trust_pb2.TrustResponse(document_json=document)
        await responses.send(ranking_service_pb2.ExamineUploadResponse(outcome=outcome))

    @contextmanager
    def _share(self, team: str) -> Iterator[None]:
        """Count a team's upload, which may become large, while it lasts.

        It takes no place before it is complete: an endless upload would block everybody else.
        """
        maximum = self._settings.maximum_trust_analyses
        if (count := self._of_team[team]) >= maximum:
            of_one = ("upload of one team is", "uploads of one team are")
            found = f"{counted(count, *of_one)} open"
            raise LimitError(found, "maximum_trust_analyses", maximum)
        self._of_team[team] += 1
        try:
            yield
        finally:
            self._of_team[team] -= 1
            if not self._of_team[team]:
                del self._of_team[team]

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Hold a place for the process of one analysis."""
        self._refuse_without_place()
        self._running_count += 1
        try:
            yield
        finally:
            self._running_count -= 1

    def _refuse_without_place(self) -> None:
        maximum = self._settings.maximum_trust_analyses
        if (count := self._running_count) >= maximum:
            found = f"{counted(count, 'upload is', 'uploads are')} being examined"
            raise LimitError(found, "maximum_trust_analyses", maximum)

    async def _received(
        self, requests: Requests[ranking_service_pb2.ExamineUploadRequest]
    ) -> RankingAnalysis:
        """Receive the upload, which has as much time as its analysis."""
        limit_s = self._settings.trust_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                return await self._receive(requests)
        except TimeoutError:
            raise LimitError("the upload takes longer", "trust_timeout_s", limit_s) from None

    async def _receive(
        self, requests: Requests[ranking_service_pb2.ExamineUploadRequest]
    ) -> RankingAnalysis:
        first = await anext(requests, None)
        if first is None:
            raise message_order("the end of the stream", f"a {PATH}")
        if message_kind(first) != PATH:
            raise message_order(message_kind(first), f"a {PATH}")
        # In a thread, because the first use of an evaluator may wait for imports.
        contest = await asyncio.to_thread(self._contest, first.configuration)
        async for request in requests:
            kind = message_kind(request)
            if kind == PATH:
                raise message_order(f"a second {PATH}", "truth or detections")
            side, batch = Side(kind), getattr(request, kind)
            read, size = partial(read_batch, batch, kind), batch_size(batch)
            whole = partial(read, contest.rules(side))
            await refuse_by_own_rules(self._workers, contest.evaluators, side, whole, size, kind)
            if side is Side.TRUTH:
                await offload(size, contest.add_truth, read)
            else:
                await offload(size, contest.add_detections, request.system, read)
        return await asyncio.to_thread(contest.analysis)

    def _contest(self, message: ranking_service_pb2.ExaminationConfiguration) -> UploadedContest:
        return UploadedContest(read_examination(message, self._settings), self._settings)

    async def _run(self, analysis: RankingAnalysis, newest: LatestValue[Told]) -> str:
        limit_s = self._settings.trust_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                return await run_analysis(
                    analysis,
                    workers=self._settings.trust_workers,
                    on_progress=lambda *told: newest.put(told),
                )
        except TimeoutError:
            raise LimitError("the analysis takes longer", "trust_timeout_s", limit_s) from None


async def _tell(
    newest: LatestValue[Told], responses: Responses[ranking_service_pb2.ExamineUploadResponse]
) -> None:
    async for stage, done, total in newest:
        progress = trust_pb2.TrustMetadata(stage=stage, pieces_done=done, pieces_in_all=total)
        await responses.send(ranking_service_pb2.ExamineUploadResponse(progress=progress))
