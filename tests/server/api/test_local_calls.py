"""Calls within the process have the guard, limits and errors of gRPC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, append, hosting
from tests.support.waiting import until

from vidscore_protos.v1 import access_service_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.local_calls import LocalCalls, Refused

SUBMISSIONS = "/vidscore.v1.SubmissionService"


@pytest_asyncio.fixture
async def hosted(tmp_path: Path) -> AsyncIterator[Hosted]:
    async with hosting(tmp_path, web="127.0.0.1:0", maximum_message_bytes=65_536) as found:
        await found.organiser.create_benchmark()
        await found.organiser.upload(TRUTH)
        yield found


def _calls(hosted: Hosted) -> LocalCalls:
    site = hosted.server._site
    assert site is not None
    return site.calls


async def _once(hosted: Hosted, method: str, request: object, secret: str = "") -> object:
    calls = _calls(hosted)
    metadata = [("authorization", f"Bearer {secret}")] if secret else []
    return await calls.unary(calls.rpcs[method], request, metadata, "http:test")


async def test_a_call_answers_as_over_grpc(hosted: Hosted) -> None:
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, TRUTH)
    request = pb.GetSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    answer = await _once(hosted, f"{SUBMISSIONS}/GetSubmission", request, hosted.red.secret)
    assert isinstance(answer, pb.GetSubmissionResponse)
    assert answer.submission == await hosted.red.get()


async def test_local_and_grpc_appends_share_offsets(hosted: Hosted) -> None:
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, TRUTH)
    with pytest.raises(Refused) as caught:
        await _once(
            hosted, f"{SUBMISSIONS}/AppendBatch", append(stream, 9, TRUTH, 1), hosted.red.secret
        )
    assert caught.value.code.name == "OUT_OF_RANGE"


@pytest.mark.parametrize(
    ("caller", "code"), [("", "UNAUTHENTICATED"), ("viewer", "PERMISSION_DENIED")]
)
async def test_roles_are_those_of_grpc(hosted: Hosted, caller: str, code: str) -> None:
    secret = getattr(hosted, caller).secret if caller else ""
    with pytest.raises(Refused) as caught:
        await _once(
            hosted,
            "/vidscore.v1.AccessService/ListTokens",
            access_service_pb2.ListTokensRequest(),
            secret,
        )
    assert caught.value.code.name == code


async def test_another_teams_submission_is_not_found(hosted: Hosted) -> None:
    await hosted.red.submission()
    request = pb.GetSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    with pytest.raises(Refused) as caught:
        await _once(hosted, f"{SUBMISSIONS}/GetSubmission", request, hosted.blue.secret)
    assert caught.value.code.name == "NOT_FOUND"


@pytest.mark.parametrize(
    ("data", "code"), [(b"\xff\xff", "INVALID_ARGUMENT"), (b"x" * 65_537, "RESOURCE_EXHAUSTED")]
)
async def test_bytes_that_are_not_a_request_are_refused(
    hosted: Hosted, data: bytes, code: str
) -> None:
    calls = _calls(hosted)
    request = calls.request_of(calls.rpcs[f"{SUBMISSIONS}/GetSubmission"], data)
    with pytest.raises(Refused) as caught:
        await _once(hosted, f"{SUBMISSIONS}/GetSubmission", request, hosted.red.secret)
    assert caught.value.code.name == code


async def test_a_watch_that_nobody_reads_ends(hosted: Hosted) -> None:
    await hosted.red.submission()
    calls = _calls(hosted)

    async def requests() -> AsyncIterator[pb.WatchSubmissionRequest]:
        yield pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")

    metadata = [("authorization", f"Bearer {hosted.red.secret}")]
    rpc = calls.rpcs[f"{SUBMISSIONS}/WatchSubmission"]
    before = asyncio.all_tasks()
    responses = calls.stream(rpc, requests(), metadata, "http:test")
    first = await anext(responses)
    assert first.submission.name == f"{BENCHMARK}/submissions/one"
    await responses.aclose()
    await until(lambda: asyncio.all_tasks() <= before)
