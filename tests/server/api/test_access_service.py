"""Tokens over a channel: created, listed, revoked; and the audit record."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import grpc
from google.protobuf.duration_pb2 import Duration
from tests.server.domain.hosted import BENCHMARK, TRUTH, Client, Hosted, create_token, refusal
from tests.server.scene import HERE, points

from vidscore_protos.v1 import access_service_pb2 as pb
from vidscore_protos.v1 import benchmark_service_pb2, submission_service_pb2, token_pb2


async def test_a_revoked_token_is_refused_at_once(hosted: Hosted) -> None:
    secret = await create_token(hosted.organiser, token_pb2.ROLE_VIEWER)
    viewer = hosted.client(secret)
    await _list(viewer)
    await _revoke(hosted, secret)
    assert (await refusal(_list(viewer))).code is grpc.StatusCode.UNAUTHENTICATED


async def test_a_token_is_refused_after_its_lifetime(hosted: Hosted) -> None:
    lifetime = Duration(seconds=60)
    viewer = hosted.client(
        await create_token(hosted.organiser, token_pb2.ROLE_VIEWER, lifetime=lifetime)
    )
    await _list(viewer)
    hosted.clock.pass_by(seconds=60)
    assert (await refusal(_list(viewer))).reason == "UNAUTHENTICATED"


async def test_a_stream_ends_with_its_token(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    secret = await create_token(hosted.organiser, token_pb2.ROLE_PARTICIPANT, "green")
    green = hosted.client(secret)
    stream = await green.submission()
    call = green.submissions.AppendFrames(metadata=green.metadata)

    def request(number: int) -> submission_service_pb2.AppendRequest:
        return submission_service_pb2.AppendRequest(
            stream=stream, epoch=1, offset=number - 1, detections=points({number: HERE})
        )

    await call.write(request(1))
    await call.read()
    await _revoke(hosted, secret)
    with suppress(asyncio.InvalidStateError, grpc.aio.AioRpcError):  # It may have ended already.
        await call.write(request(2))
    assert await call.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_no_list_contains_a_secret(hosted: Hosted) -> None:
    answer = await hosted.organiser.access.ListTokens(
        pb.ListTokensRequest(), metadata=hosted.organiser.metadata
    )
    assert {token.team for token in answer.tokens} == {"", "red", "blue"}
    for client in (hosted.organiser, hosted.red, hosted.blue, hosted.viewer):
        assert client.secret.rpartition("_")[2] not in str(answer)


async def test_the_store_contains_no_secret(hosted: Hosted, tmp_path: Path) -> None:
    files = await asyncio.to_thread(_contents, tmp_path)
    for client in (hosted.organiser, hosted.red):
        assert not any(client.secret.rpartition("_")[2].encode() in data for data in files)


async def test_tokens_and_audit_records_are_paged_without_gaps(hosted: Hosted) -> None:
    seen: list[str] = []
    token = ""
    while True:
        page = await hosted.organiser.access.ListTokens(
            pb.ListTokensRequest(page_size=1, page_token=token), metadata=hosted.organiser.metadata
        )
        seen.extend(entry.name for entry in page.tokens)
        token = page.next_page_token
        if not token:
            break
    assert len(set(seen)) == len(seen) == 4


async def test_every_change_is_recorded_with_who_made_it(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(points({1: HERE}))
    await hosted.red.ended()
    answer = await hosted.organiser.access.ListAuditRecords(
        pb.ListAuditRecordsRequest(), metadata=hosted.organiser.metadata
    )
    records = [(record.action, record.resource) for record in reversed(answer.records)]
    submission = f"{BENCHMARK}/submissions/one"
    assert records[-8:] == [
        ("CreateBenchmark", BENCHMARK),
        ("UploadTruth", BENCHMARK),
        ("CreateSubmission", submission),
        ("OpenStream", f"{submission}/streams/default"),
        ("SealSubmission", submission),
        ("scoring_started", submission),
        ("scored", submission),
        ("board moved", BENCHMARK),
    ]
    red = f"tokens/{hosted.red.secret.split('_')[1]}"
    actors = {record.action: record.actor for record in answer.records}
    assert (actors["SealSubmission"], actors["scored"]) == (red, "server")


def _contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.iterdir()]


async def _list(client: Client) -> object:
    request = benchmark_service_pb2.ListBenchmarksRequest()
    return await client.benchmarks.ListBenchmarks(request, metadata=client.metadata)


async def _revoke(hosted: Hosted, secret: str) -> None:
    request = pb.RevokeTokenRequest(name=f"tokens/{secret.split('_')[1]}")
    await hosted.organiser.access.RevokeToken(request, metadata=hosted.organiser.metadata)
