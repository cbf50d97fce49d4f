"""Role x RPC: every RPC is in the table, and each role gets what the table says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import product
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.longrunning import operations_pb2
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from tests.server.hosting.hosted import Hosted, hosting
from tests.server.scene import refused

from vidscore.v1 import (
    access_service_pb2,
    benchmark_service_pb2,
    evaluator_service_pb2,
    ranking_service_pb2,
    scoring_service_pb2,
    server_service_pb2,
    submission_service_pb2,
    trust_service_pb2,
)
from vidscore_server.access.roles import ROLES_BY_RPC
from vidscore_server.store.records import Role

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILES = (
    access_service_pb2,
    benchmark_service_pb2,
    evaluator_service_pb2,
    ranking_service_pb2,
    scoring_service_pb2,
    server_service_pb2,
    submission_service_pb2,
    trust_service_pb2,
    operations_pb2,
)
METHODS: dict[str, MethodDescriptor] = {
    f"/{service.full_name}/{method.name}": method
    for file in FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}
REFUSALS = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}

# Written by hand, to hold the table to: who may call what beside organisers, who may call all.
PERFORMERS_MAY = {
    "BenchmarkService/GetBenchmark",
    "BenchmarkService/ListBenchmarks",
    "BenchmarkService/GetLeaderboard",
    "SubmissionService/CreateSubmission",
    "SubmissionService/GetSubmission",
    "SubmissionService/ListSubmissions",
    "SubmissionService/OpenStream",
    "SubmissionService/AppendFrames",
    "SubmissionService/AppendBatch",
    "SubmissionService/CheckDetections",
    "SubmissionService/SealSubmission",
    "SubmissionService/CancelSubmission",
    "SubmissionService/RetrySubmission",
    "SubmissionService/WatchSubmission",
    "SubmissionService/ListScores",
}
VIEWERS_MAY = {
    "BenchmarkService/GetBenchmark",
    "BenchmarkService/ListBenchmarks",
    "BenchmarkService/GetLeaderboard",
}
ANYONE_MAY = {
    "EvaluatorService/ListEvaluators",
    "EvaluatorService/GetEvaluator",
    "ScoringService/Score",
    "ScoringService/ScoreUpload",
    "ScoringService/ScoreBatch",
    "RankingService/ExamineUpload",
    "ServerService/GetServer",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hosted]:
    async with hosting(tmp_path_factory.mktemp("site")) as running:
        yield running


async def test_the_table_has_every_rpc_and_no_other() -> None:
    assert set(ROLES_BY_RPC) == set(METHODS)


async def test_the_table_says_what_was_decided() -> None:
    for method, roles in ROLES_BY_RPC.items():
        short = method.removeprefix("/").removeprefix("vidscore.v1.")
        assert Role.ORGANISER in roles
        assert (Role.PERFORMER in roles) == (short in PERFORMERS_MAY | ANYONE_MAY), method
        assert (Role.VIEWER in roles) == (short in VIEWERS_MAY | ANYONE_MAY), method
        assert (None in roles) == (short in ANYONE_MAY), method


@pytest.mark.parametrize(("method", "role"), list(product(sorted(METHODS), [*Role, None])))
async def test_each_role_gets_through_exactly_where_the_table_lets_it(
    shared: Hosted, method: str, role: Role | None
) -> None:
    secrets = {
        Role.ORGANISER: shared.organiser.secret,
        Role.PERFORMER: shared.red.secret,
        Role.VIEWER: shared.viewer.secret,
    }
    metadata = [("authorization", f"Bearer {secrets[role]}")] if role else []
    code = await _code_of(shared.channel, method, metadata)
    assert code is not grpc.StatusCode.DEADLINE_EXCEEDED
    assert (code not in REFUSALS) == (role in ROLES_BY_RPC[method])
    if code in REFUSALS:
        expected = grpc.StatusCode.PERMISSION_DENIED if role else grpc.StatusCode.UNAUTHENTICATED
        assert code is expected


async def test_an_rpc_that_does_not_exist_is_unknown_to_all(shared: Hosted) -> None:
    call: Any = shared.channel.unary_unary("/vidscore.v1.BenchmarkService/ReadTruth")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(b"", metadata=shared.organiser.metadata)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer x", "Basic {}", "Bearer {}0", "Bearer {} {}"],
)
async def test_whoever_has_no_whole_secret_is_nobody(shared: Hosted, authorization: str) -> None:
    value = authorization.replace("{}", shared.organiser.secret)
    request = benchmark_service_pb2.ListBenchmarksRequest()
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await shared.organiser.benchmarks.ListBenchmarks(
            request, metadata=(("authorization", value),)
        )
    assert refused(caught.value).reason == "UNAUTHENTICATED"


async def _code_of(
    channel: grpc.aio.Channel, method: str, metadata: list[tuple[str, str]]
) -> grpc.StatusCode:
    """What a call with an empty request, or an empty stream of them, comes to."""
    descriptor = METHODS[method]
    streamed_in = bool(descriptor.client_streaming)
    streamed_out = bool(descriptor.server_streaming)
    words = {True: "stream", False: "unary"}
    make_call = getattr(channel, f"{words[streamed_in]}_{words[streamed_out]}")
    response = message_factory.GetMessageClass(descriptor.output_type)
    request = message_factory.GetMessageClass(descriptor.input_type)()
    multi = make_call(
        method,
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=response.FromString,
    )
    call: Any = multi(iter([]) if streamed_in else request, metadata=metadata, timeout=60)
    if streamed_out:
        await _read(call)
    code: grpc.StatusCode = await call.code()
    return code


async def _read(call: Any) -> None:
    """Read all responses: what is not read holds the status up until the deadline."""
    with suppress(grpc.aio.AioRpcError):
        async for _ in call:
            pass
