"""Trust analyses of hosted benchmarks: equal to local ones, one at a time, cancelled, restarted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.longrunning import operations_pb2
from google.rpc.error_details_pb2 import ErrorInfo
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, hosting, refusal
from tests.server.domain.sky import FRAMES_PER_SEQUENCE, batch, detections_of, place, truth_of

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.parameters import parse_parameters
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.trust.analyses import CriterionAnalysis, RankingAnalysis
from vidscore_evaluators.trust.criterion import Plan, chosen_candidates
from vidscore_evaluators.trust.ranking import Questions
from vidscore_evaluators.trust.systems import Contest
from vidscore_evaluators.trust.systems import Request as EvaluatorRequest
from vidscore_protos.v1 import (
    access_service_pb2,
    annotations_pb2,
    ranking_service_pb2,
    ranking_service_pb2_grpc,
    specification_pb2,
    trust_pb2,
)
from vidscore_protos.v1 import trust_service_pb2 as pb
from vidscore_server.store import Transaction

SEQUENCES = 4
FRAMES = range(SEQUENCES * FRAMES_PER_SEQUENCE)
SYSTEMS = {"perfect": truth_of, "usual": detections_of, "blind": lambda _: []}
QUESTIONS = {"draws": 20, "noise_px": 3.0, "trials": 5, "seed": 7}
LONG = {"noise_px": 3.0, "trials": 10_000}
"""Takes at least half a minute: every trial is scored, as few draws of four sequences differ."""
TIMEOUT_S = 180.0

UploadRequest = ranking_service_pb2.ExamineUploadRequest


@pytest_asyncio.fixture
async def ranked(hosted: Hosted) -> AsyncIterator[Hosted]:
    """A server with a benchmark of dots and three scored submissions."""
    await submit_all(hosted)
    yield hosted


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hosted]:
    """The same, for tests that change nothing."""
    async with hosting(tmp_path_factory.mktemp("shared")) as hosted:
        await submit_all(hosted)
        yield hosted


async def submit_all(hosted: Hosted) -> None:
    """Host the benchmark and submit each system."""
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(batch(FRAMES, truth_of))
    for name, objects_of in SYSTEMS.items():
        hosted.clock.pass_by(seconds=1)
        await hosted.red.submit(batch(FRAMES, objects_of), name)
        await hosted.red.ended(name)


async def examine(client: Client, **asked: Any) -> operations_pb2.Operation:
    """Ask for an examination of the ranking."""
    questions = trust_pb2.RankingQuestions(**asked.pop("questions", QUESTIONS))
    request = pb.ExamineRankingRequest(benchmark=BENCHMARK, questions=questions, **asked)
    operation: operations_pb2.Operation = await client.trust.ExamineRanking(
        request, metadata=client.metadata
    )
    return operation


async def waited(client: Client, name: str) -> operations_pb2.Operation:
    """The operation, once it has ended."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            request = operations_pb2.WaitOperationRequest(name=name)
            found = await client.operations.WaitOperation(request, metadata=client.metadata)
            if found.done:
                return found


def document_of(operation: operations_pb2.Operation) -> Any:
    """The document of a successful operation."""
    response = trust_pb2.TrustResponse()
    assert operation.response.Unpack(response), operation.error
    return json.loads(response.document_json)


def reason_of(operation: operations_pb2.Operation) -> str:
    """The reason why an operation has failed."""
    [detail] = operation.error.details
    information = ErrorInfo()
    assert detail.Unpack(information)
    return str(information.reason)


def local(names: Sequence[str], *evaluators: tuple[str, dict[str, Any]]) -> Any:
    """The same examination in this process, of the same frames in another order."""
    systems = {name: side_of(SYSTEMS[name]) for name in names}
    contest = Contest.of(side_of(truth_of), systems)
    requests = tuple(
        EvaluatorRequest.of(create_evaluator(name, parameters)) for name, parameters in evaluators
    )
    document = RankingAnalysis(requests, contest, parse_parameters(Questions, QUESTIONS)).run()
    return json.loads(json.dumps(document))


def side_of(objects_of: Any) -> Annotations:
    frames: dict[tuple[str, str], dict[int, list[Thing]]] = {}
    for index in reversed(FRAMES):
        sequence, number = place(index)
        things = [Thing(point) for point in objects_of(index)]
        frames.setdefault(("", sequence), {})[number] = things
    return make_annotations(frames, arity=2)


@pytest.mark.slow
async def test_the_examination_of_all_submissions_equals_the_local_one(ranked: Hosted) -> None:
    """With the benchmark's evaluator, to the last bit; systems in the order of their sealing."""
    begun = await examine(ranked.organiser, comment="how sure are we")
    found = document_of(await waited(ranked.organiser, begun.name))
    assert found == local(list(SYSTEMS), ("spotgeo", {}))
    assert found["rankings"][0]["ranks"] == {"perfect": 1, "usual": 2, "blind": 3}
    await check_audit(ranked.organiser, begun.name.removeprefix("operations/"))


async def check_audit(client: Client, operation: str) -> None:
    """The audit record has who asked and how it ended."""
    answer = await client.access.ListAuditRecords(
        access_service_pb2.ListAuditRecordsRequest(), metadata=client.metadata
    )
    ended, asked = answer.records[:2]
    assert (asked.action, asked.resource) == ("ExamineRanking", BENCHMARK)
    assert asked.detail == f"{operation} how sure are we"
    assert (ended.actor, ended.action, ended.detail) == ("server", "analysed", operation)


@pytest.mark.slow
async def test_chosen_submissions_are_ranked_by_chosen_evaluators_with_their_parameters(
    ranked: Hosted,
) -> None:
    """`tau` overrides the benchmark's parameters; another evaluator is asked as well."""
    spec = specification_pb2.EvaluatorSpec
    parameter = specification_pb2.Parameter
    begun = await examine(
        ranked.organiser,
        submissions=[f"{BENCHMARK}/submissions/{name}" for name in ("usual", "perfect")],
        evaluators=[
            spec(name="spotgeo", parameters=[parameter(name="tau", number=5.0)]),
            spec(name="ospa", parameters=[parameter(name="base", text="euclidean")]),
        ],
    )
    found = document_of(await waited(ranked.organiser, begun.name))
    chosen = (("spotgeo", {"tau": 5.0}), ("ospa", {"base": "euclidean"}))
    assert found == local(["usual", "perfect"], *chosen)


@pytest.mark.slow
async def test_a_criterion_test_equals_the_local_one(hosted: Hosted) -> None:
    request = pb.TestCriterionRequest(
        test="multiclass-detection",
        criteria=[specification_pb2.EvaluatorSpec(name="ospa")],
        strata=2,
        realisations=1,
    )
    begun = await hosted.organiser.trust.TestCriterion(request, metadata=hosted.organiser.metadata)
    found = document_of(await waited(hosted.organiser, begun.name))
    candidates = tuple(chosen_candidates(request.test, []))
    wanted = tuple(one for one in candidates if one.name == "ospa")
    assert found == json.loads(
        json.dumps(CriterionAnalysis(request.test, wanted, Plan(2, 1, 1)).run())
    )


@pytest.mark.slow
async def test_a_benchmark_has_one_examination_at_a_time(ranked: Hosted) -> None:
    """A second one is refused with the name of the first, unless the request is the same."""
    begun = await examine(ranked.organiser, request_id="mine")
    assert (await examine(ranked.organiser, request_id="mine")).name == begun.name
    refused = await refusal(examine(ranked.organiser))
    assert (refused.code, refused.reason) == (
        grpc.StatusCode.FAILED_PRECONDITION,
        "ANALYSIS_RUNS",
    )
    assert refused.metadata["operation"] == begun.name
    await waited(ranked.organiser, begun.name)
    again = await examine(ranked.organiser, questions={"draws": 0})
    found = document_of(await waited(ranked.organiser, again.name))
    assert found["rankings"][0]["bootstrap"] is None


@pytest.mark.slow
async def test_cancelling_ends_a_running_and_a_waiting_analysis_at_once(ranked: Hosted) -> None:
    """An examination of many draws runs; a test of criteria waits for its turn."""
    running = await examine(ranked.organiser, questions=LONG)
    await has_begun(ranked.organiser, running.name)
    waiting = await ranked.organiser.trust.TestCriterion(
        pb.TestCriterionRequest(test="tracking", strata=40), metadata=ranked.organiser.metadata
    )
    for name in (waiting.name, running.name):
        request = operations_pb2.CancelOperationRequest(name=name)
        await ranked.organiser.operations.CancelOperation(
            request, metadata=ranked.organiser.metadata
        )
        assert reason_of(await waited(ranked.organiser, name)) == "CANCELLED"
    await ranked.hosting.trust.operations.finish()


@pytest.mark.nightly
async def test_files_can_be_examined_beside_a_stored_analysis(hosted: Hosted) -> None:
    """By default there is one place for each: a test of criteria runs while files are examined."""
    client = hosted.organiser
    running = await client.trust.TestCriterion(
        pb.TestCriterionRequest(test="tracking", strata=100), metadata=client.metadata
    )
    await has_begun(client, running.name)
    assert await uploaded(hosted, ["usual", "perfect"]) == local(
        ["usual", "perfect"], ("spotgeo", {})
    )
    request = operations_pb2.GetOperationRequest(name=running.name)
    assert not (await client.operations.GetOperation(request, metadata=client.metadata)).done


async def uploaded(hosted: Hosted, names: Sequence[str]) -> Any:
    """The server's result for uploaded systems."""
    configuration = ranking_service_pb2.ExaminationConfiguration(
        specification=specification_pb2.BenchmarkSpec(
            evaluators=[specification_pb2.EvaluatorSpec(name="spotgeo")]
        ),
        truth_geometry=annotations_pb2.GEOMETRY_POINT,
        detection_geometry=annotations_pb2.GEOMETRY_POINT,
        systems=names,
        questions=trust_pb2.RankingQuestions(**QUESTIONS),  # type: ignore[arg-type] # all fit
    )
    requests = [
        UploadRequest(configuration=configuration),
        UploadRequest(truth=batch(FRAMES, truth_of)),
        *(
            UploadRequest(detections=batch(FRAMES, SYSTEMS[name]), system=index)
            for index, name in enumerate(names)
        ),
    ]
    stub = ranking_service_pb2_grpc.RankingServiceStub(hosted.channel)
    metadata = hosted.organiser.metadata
    call = stub.ExamineUpload(iter(requests), metadata=metadata, timeout=TIMEOUT_S)
    *_, last = [response async for response in call]
    return json.loads(last.outcome.document_json)


async def has_begun(client: Client, name: str) -> None:
    """Wait until an analysis reports progress."""
    request = operations_pb2.GetOperationRequest(name=name)
    metadata = trust_pb2.TrustMetadata()
    async with asyncio.timeout(TIMEOUT_S):
        while not metadata.stage:
            await asyncio.sleep(0.02)
            found = await client.operations.GetOperation(request, metadata=client.metadata)
            assert found.metadata.Unpack(metadata)


@pytest.mark.slow
async def test_an_analysis_of_a_stopped_server_restarts_with_the_same_outcome(
    tmp_path: Path,
) -> None:
    async with hosting(tmp_path) as first:
        await submit_all(first)
        begun = await examine(first.organiser)
        secret = first.organiser.secret
    async with hosting(tmp_path) as second:
        client = second.client(secret)
        found = document_of(await waited(client, begun.name))
    assert found == local(list(SYSTEMS), ("spotgeo", {}))


@pytest.mark.slow
async def test_an_analysis_over_its_time_limit_fails_as_such(tmp_path: Path) -> None:
    async with hosting(tmp_path, trust_timeout_s=1) as short:
        await submit_all(short)
        begun = await examine(short.organiser, questions=LONG)
        assert reason_of(await waited(short.organiser, begun.name)) == "ANALYSIS_TIMED_OUT"


@pytest.mark.nightly
async def test_a_server_that_lost_an_analysis_to_another_one_does_not_end_it(
    tmp_path: Path,
) -> None:
    """It may hang, find its time over when it continues, and find another server at work."""
    async with hosting(tmp_path, trust_timeout_s=20, lease_timeout_s=600) as slow:
        await submit_all(slow)
        begun = await examine(slow.organiser, questions=LONG)
        await has_begun(slow.organiser, begun.name)
        await take_from(slow)
        async with asyncio.timeout(TIMEOUT_S):
            await slow.hosting.trust.operations.finish()
        request = operations_pb2.GetOperationRequest(name=begun.name)
        found = await slow.organiser.operations.GetOperation(
            request, metadata=slow.organiser.metadata
        )
        assert not found.done


async def take_from(hosted: Hosted) -> None:
    """Give all work of this server to another one, as if its leases had ended."""
    site = hosted.hosting.context

    def take(transaction: Transaction) -> None:
        for lease in transaction.leases():
            assert transaction.end_lease(lease.work, lease.owner)
            assert transaction.take_lease(lease.work, "another", timedelta(hours=1))

    await site.write(take)


@pytest.mark.slow
async def test_an_analysis_that_used_all_its_attempts_has_failed(tmp_path: Path) -> None:
    """So one that ends its server each time is not retried forever."""
    async with hosting(tmp_path, scoring_attempts=1) as first:
        await submit_all(first)
        begun = await examine(first.organiser, questions=LONG)
        await has_begun(first.organiser, begun.name)
        secret = first.organiser.secret
    async with hosting(tmp_path, scoring_attempts=1) as second:
        found = await waited(second.client(secret), begun.name)
        assert reason_of(found) == "ANALYSIS_FAILED"


@pytest.mark.asyncio(loop_scope="module")
async def test_a_request_over_a_limit_is_refused_with_the_limit(shared: Hosted) -> None:
    refused = await refusal(examine(shared.organiser, questions={"draws": 10_001}))
    assert (refused.code, refused.reason) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "LIMIT_EXCEEDED",
    )
    told = {name: refused.metadata[name] for name in ("limit", "maximum")}
    assert told == {"limit": "maximum_trust_trials", "maximum": "10000"}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"benchmark": "dots"}, "benchmark"),
        ({"submissions": ["dots/one"]}, "submissions[0]"),
        ({"submissions": [f"{BENCHMARK}/submissions/none"]}, "submissions[0]"),
        ({"submissions": [f"{BENCHMARK}/submissions/usual"]}, "submissions"),
        ({"questions": {"draws": -1}}, "questions.draws"),
        ({"questions": {"coverage": 2.0}}, "questions.coverage"),
        ({"evaluators": [{"name": "spotgio"}]}, "evaluators[0].name"),
        ({"evaluators": [{"name": "hota"}]}, "evaluators[0]"),
        (
            {"evaluators": [{"name": "spotgeo", "parameters": [{"name": "tau", "number": 0}]}]},
            "evaluators[0].parameters.tau",
        ),
    ],
)
async def test_an_invalid_request_is_refused_with_its_place(
    shared: Hosted, asked: dict[str, Any], field: str
) -> None:
    request = {"benchmark": BENCHMARK, **asked}
    call = shared.organiser.trust.ExamineRanking(
        pb.ExamineRankingRequest(**request), metadata=shared.organiser.metadata
    )
    assert field in (await refusal(call)).violations


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"test": "none"}, "test"),
        ({"test": "figure-3", "strata": 0}, "strata"),
        ({"test": "figure-3", "criteria": [{"name": "ospaa"}]}, "criteria[0].name"),
    ],
)
async def test_an_invalid_criterion_test_is_refused_with_its_place(
    shared: Hosted, asked: dict[str, Any], field: str
) -> None:
    call = shared.organiser.trust.TestCriterion(
        pb.TestCriterionRequest(**asked), metadata=shared.organiser.metadata
    )
    assert field in (await refusal(call)).violations
