"""Every caller with every RPC: the table lists all RPCs, and access follows the table."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.protobuf import message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from tests.server.domain.hosted import BENCHMARK, Hosted, append, create_token, hosting
from tests.server.scene import HERE, points, refused
from tests.server.wire.exchange import FILES

from vidscore_protos.v1 import (
    access_service_pb2,
    benchmark_service_pb2,
    token_pb2,
)
from vidscore_server.api.guard import HEALTH_WATCH
from vidscore_server.api.reflection import V1_FILE as REFLECTION_V1
from vidscore_server.domain.access import OF_SUBMISSIONS, OPEN_RPCS, PUBLIC_RPCS, ROLES_BY_RPC
from vidscore_server.store.records import Role

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODULES = (*FILES, health_pb2, reflection_pb2)
NOT_SERVED = {"/grpc.health.v1.Health/List"}
"""RPCs that newer protos have but the servicers of gRPC lack."""

METHODS: dict[str, MethodDescriptor] = {
    f"/{service.full_name}/{method.name}": method
    for file in (*(module.DESCRIPTOR for module in MODULES), REFLECTION_V1)
    for service in file.services_by_name.values()
    for method in service.methods
    if f"/{service.full_name}/{method.name}" not in NOT_SERVED
}
REFUSALS = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}

# Written by hand, to check the table against: who may call what beside organisers, who may call
# all.
PARTICIPANTS_MAY = {
    "BenchmarkService/GetBenchmark",
    "BenchmarkService/ListBenchmarks",
    "BenchmarkService/GetLeaderboard",
    "BenchmarkService/GetChecklist",
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
    "SubmissionService/ChooseSubmission",
    "SubmissionService/WatchSubmission",
    "SubmissionService/ListScores",
    "SubmissionService/ReadOutcomes",
    "SubmissionService/ReadDetections",
    "SubmissionService/AnswerFrames",
}
VIEWERS_MAY = {
    "BenchmarkService/GetBenchmark",
    "BenchmarkService/ListBenchmarks",
    "BenchmarkService/GetLeaderboard",
    "BenchmarkService/GetChecklist",
}
PUBLIC = {
    "BenchmarkService/GetBenchmark",
    "BenchmarkService/ListBenchmarks",
    "BenchmarkService/GetLeaderboard",
    "BenchmarkService/GetChecklist",
}
"""Needs no token wherever the caller is, and then only covers public benchmarks."""
ANYONE_MAY = {
    *PUBLIC,
    "EvaluatorService/ListEvaluators",
    "EvaluatorService/GetEvaluator",
    "EvaluatorService/ListPresets",
    "ScoringService/Score",
    "ScoringService/ScoreBatch",
    "RankingService/ExamineUpload",
    "ServerService/GetServer",
    "AccessService/AcceptInvitation",
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Hosted]:
    async with hosting(tmp_path_factory.mktemp("site")) as running:
        yield running


async def test_the_table_has_exactly_the_rpcs_of_the_protos() -> None:
    assert {*ROLES_BY_RPC, *OPEN_RPCS} == set(METHODS)
    of_benchmarks = {"CreateSubmission", "ListSubmissions", "CheckDetections"}
    others = of_benchmarks | {"DisqualifySubmission", "ReinstateSubmission"}
    service = {name for name in METHODS if name.startswith("/vidscore.v1.SubmissionService/")}
    about_one = {name for name in service if name.rpartition("/")[2] not in others}
    assert about_one == OF_SUBMISSIONS


async def test_the_table_matches_the_decided_roles() -> None:
    for method, roles in ROLES_BY_RPC.items():
        short = method.removeprefix("/").removeprefix("vidscore.v1.")
        assert Role.ORGANISER in roles
        assert (Role.PARTICIPANT in roles) == (short in PARTICIPANTS_MAY | ANYONE_MAY), method
        assert (Role.VIEWER in roles) == (short in VIEWERS_MAY | ANYONE_MAY), method
        assert (None in roles) == (short in ANYONE_MAY), method
        assert (method in PUBLIC_RPCS) == (short in PUBLIC), method


class Callers:
    """The secret of every kind of caller; None for one without a token."""

    def __init__(self, hosted: Hosted, revoked: str, expired: str) -> None:
        whole = hosted.organiser.secret
        self.secrets: dict[str, str | None] = {
            "no token": None,
            "garbage": "x",
            "unknown token": f"vidscore_{'0' * 16}_{'0' * 64}",
            "wrong secret": f"{whole[:-64]}{'0' * 64}",
            "revoked": revoked,
            "expired": expired,
            "participant": hosted.red.secret,
            "participant of another team": hosted.blue.secret,
            "viewer": hosted.viewer.secret,
            "organiser": hosted.organiser.secret,
        }


ROLES: dict[str, Role | None] = {
    "no token": None,
    "participant": Role.PARTICIPANT,
    "participant of another team": Role.PARTICIPANT,
    "viewer": Role.VIEWER,
    "organiser": Role.ORGANISER,
}
UNAUTHENTICATED = ("garbage", "unknown token", "wrong secret", "revoked", "expired")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def callers(shared: Hosted) -> Callers:
    lifetime = Duration(seconds=60)
    organiser = token_pb2.ROLE_ORGANISER
    expired = await create_token(shared.organiser, organiser, lifetime=lifetime)
    revoked = await create_token(shared.organiser, organiser)
    shared.clock.pass_by(seconds=60)
    request = access_service_pb2.RevokeTokenRequest(name=f"tokens/{revoked.split('_')[1]}")
    await shared.organiser.access.RevokeToken(request, metadata=shared.organiser.metadata)
    await shared.organiser.create_benchmark()
    await shared.red.submission()
    return Callers(shared, revoked, expired)


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(METHODS))
async def test_each_caller_is_admitted_exactly_as_the_table_says(
    shared: Hosted, callers: Callers, method: str
) -> None:
    for caller in [*ROLES, *UNAUTHENTICATED]:
        secret = callers.secrets[caller]
        metadata = [] if secret is None else [("authorization", f"Bearer {secret}")]
        code = await _code_of(shared.channel, method, metadata)
        assert code is not grpc.StatusCode.UNIMPLEMENTED, caller
        if method in OPEN_RPCS:
            assert code is grpc.StatusCode.OK, caller
        elif caller in UNAUTHENTICATED:
            assert code is grpc.StatusCode.UNAUTHENTICATED, caller
        elif ROLES[caller] in ROLES_BY_RPC[method]:
            assert code not in REFUSALS, caller
        elif caller == "no token":
            assert code is grpc.StatusCode.UNAUTHENTICATED, caller
        else:
            assert code is grpc.StatusCode.PERMISSION_DENIED, caller


@pytest.mark.parametrize("method", sorted(OF_SUBMISSIONS))
async def test_a_submission_of_another_team_looks_like_a_missing_one(
    shared: Hosted, callers: Callers, method: str
) -> None:
    metadata = [("authorization", f"Bearer {callers.secrets['participant of another team']}")]
    found, absent = [
        await _status_of(shared.channel, method, metadata, _about(method, name))
        for name in ("one", "absent")
    ]
    assert found[0] is grpc.StatusCode.NOT_FOUND
    assert found == (absent[0], absent[1].replace("absent", "one"))


def _about(method: str, name: str) -> Any:
    """A request of an RPC about one submission."""
    request: Any = message_factory.GetMessageClass(METHODS[method].input_type)()
    submission = f"{BENCHMARK}/submissions/{name}"
    if METHODS[method].input_type.name == "AppendRequest":
        request.CopyFrom(append(f"{submission}/streams/default", 0, points({1: HERE})))
    elif "submission" in METHODS[method].input_type.fields_by_name:
        request.submission = submission
    else:
        request.name = submission
    return request


async def test_an_unknown_rpc_is_unimplemented_for_everyone(shared: Hosted) -> None:
    call: Any = shared.channel.unary_unary("/vidscore.v1.BenchmarkService/GuessTruth")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(b"", metadata=shared.organiser.metadata)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer x", "Basic {}", "Bearer {}0", "Bearer {} {}"],
)
async def test_a_caller_without_a_complete_secret_is_not_authenticated(
    shared: Hosted, authorization: str
) -> None:
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
    """The code of a call with an empty request, or an empty stream of them."""
    descriptor = METHODS[method]
    empty = message_factory.GetMessageClass(descriptor.input_type)()
    given = None if descriptor.client_streaming else empty
    code, _ = await _status_of(channel, method, metadata, given)
    return code


async def _status_of(
    channel: grpc.aio.Channel, method: str, metadata: list[tuple[str, str]], request: Any
) -> tuple[grpc.StatusCode, str]:
    """Code and text of a call with one request, or with none.

    An endless call is cancelled after its first response, and counts as successful.
    """
    descriptor = METHODS[method]
    streamed_in = bool(descriptor.client_streaming)
    streamed_out = bool(descriptor.server_streaming)
    words = {True: "stream", False: "unary"}
    make_call = getattr(channel, f"{words[streamed_in]}_{words[streamed_out]}")
    response = message_factory.GetMessageClass(descriptor.output_type)
    multi = make_call(
        method,
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=response.FromString,
    )
    requests = iter([] if request is None else [request])
    call: Any = multi(requests if streamed_in else request, metadata=metadata, timeout=60)
    if method == HEALTH_WATCH and await call.read():
        call.cancel()
        return grpc.StatusCode.OK, ""
    if streamed_out:
        await _read(call)
    return await call.code(), await call.details()


async def _read(call: Any) -> None:
    """Read all responses: unread ones delay the status until the deadline."""
    with suppress(grpc.aio.AioRpcError):
        async for _ in call:
            pass
