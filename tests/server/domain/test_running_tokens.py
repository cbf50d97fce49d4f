"""The end of a token ends every running call with it, before anything more is stored or sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.longrunning import operations_pb2
from google.protobuf.duration_pb2 import Duration
from msgspec.structs import replace
from tests.server.domain.hosted import (
    BENCHMARK,
    TRUTH,
    Client,
    Hosted,
    append,
    create_token,
    end_of,
    hosting,
)
from tests.server.scene import HERE, configuration, points, refused, stream
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import access_service_pb2 as access_pb
from vidscore_protos.v1 import (
    annotations_pb2,
    backup_pb2,
    organiser_pb2,
    ranking_service_pb2,
    ranking_service_pb2_grpc,
    scoring_service_pb2_grpc,
    server_service_pb2_grpc,
    specification_pb2,
    submission_service_pb2,
    token_pb2,
)
from vidscore_server.api import server
from vidscore_server.domain import access

Call = Any
Begin = Callable[[Hosted, Client], Awaitable[Call]]
"""Begins a long-running call of an organiser."""


async def _upload_truth(_: Hosted, client: Client) -> Call:
    call = client.benchmarks.UploadTruth(metadata=client.metadata)
    header = organiser_pb2.UploadTruthHeader(benchmark=BENCHMARK, complete=True)
    await call.write(organiser_pb2.UploadTruthRequest(header=header))
    await call.write(organiser_pb2.UploadTruthRequest(truth=TRUTH))
    return call


async def _import_backup(hosted: Hosted, client: Client) -> Call:
    stub = server_service_pb2_grpc.ServerServiceStub(hosted.channel)
    call = stub.ImportBackup(metadata=client.metadata)
    await call.write(backup_pb2.ImportBackupRequest(chunk=b"the beginning of a backup"))
    return call


async def _export_backup(hosted: Hosted, client: Client) -> Call:
    stub = server_service_pb2_grpc.ServerServiceStub(hosted.channel)
    request = backup_pb2.ExportBackupRequest()
    call = stub.ExportBackup(request, metadata=client.metadata)
    await call.read()
    return call


async def _score(hosted: Hosted, client: Client) -> Call:
    stub = scoring_service_pb2_grpc.ScoringServiceStub(hosted.channel)
    call = stub.Score(metadata=client.metadata)
    await call.write(stream(configuration("spotgeo"))[0])
    await call.read()
    return call


async def _examine(hosted: Hosted, client: Client) -> Call:
    stub = ranking_service_pb2_grpc.RankingServiceStub(hosted.channel)
    call = stub.ExamineUpload(metadata=client.metadata)
    examined = ranking_service_pb2.ExaminationConfiguration(
        specification=specification_pb2.BenchmarkSpec(
            evaluators=[specification_pb2.EvaluatorSpec(name="spotgeo")]
        ),
        truth_geometry=annotations_pb2.GEOMETRY_POINT,
        detection_geometry=annotations_pb2.GEOMETRY_POINT,
        systems=["one", "two"],
    )
    await call.write(ranking_service_pb2.ExamineUploadRequest(configuration=examined))
    return call


async def _append(_: Hosted, client: Client) -> Call:
    name = await client.submission()
    call = client.submissions.AppendFrames(metadata=client.metadata)
    batch = append(name, 0, points({1: HERE}))
    await call.write(batch)
    await call.read()
    return call


async def _watch(_: Hosted, client: Client) -> Call:
    await client.submission()
    request = submission_service_pb2.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    call = client.submissions.WatchSubmission(request, metadata=client.metadata)
    await call.read()
    return call


async def _wait(hosted: Hosted, client: Client) -> Call:
    await client.upload(TRUTH)
    await client.submit(points({1: HERE}))
    await client.ended()
    hosted.workers.gate.clear()
    request = organiser_pb2.RescoreSubmissionsRequest(benchmark=BENCHMARK)
    began = await client.benchmarks.RescoreSubmissions(request, metadata=client.metadata)
    wanted = operations_pb2.WaitOperationRequest(name=began.operation)
    return client.operations.WaitOperation(wanted, metadata=client.metadata)


CALLS: dict[str, Begin] = {
    "UploadTruth": _upload_truth,
    "ImportBackup": _import_backup,
    "ExportBackup": _export_backup,
    "Score": _score,
    "ExamineUpload": _examine,
    "AppendFrames": _append,
    "WatchSubmission": _watch,
    "WaitOperation": _wait,
}


@pytest.fixture(autouse=True)
def _endless_backup(monkeypatch: pytest.MonkeyPatch) -> None:
    def pieces(*_: object) -> Iterator[bytes]:
        while True:
            yield b"a piece"

    monkeypatch.setattr(server, "export_backup", pieces)


async def _revoke_here(hosted: Hosted, secret: str) -> None:
    request = access_pb.RevokeTokenRequest(name=f"tokens/{secret.split('_')[1]}")
    await hosted.organiser.access.RevokeToken(request, metadata=hosted.organiser.metadata)


async def _revoke_elsewhere(hosted: Hosted, secret: str) -> None:
    """Revoke a token in the store, like another server that this one does not hear of."""
    name = secret.split("_")[1]

    def command(transaction: Any) -> None:
        record = transaction.token(name)
        transaction.update_token(replace(record, revoke_time=hosted.clock()))

    await hosted.hosting.context.write(command)


async def _let_it_expire(hosted: Hosted, _: str) -> None:
    hosted.clock.pass_by(seconds=60)


ENDINGS = {
    "revoked": _revoke_here,
    "revoked elsewhere": _revoke_elsewhere,
    "expired": _let_it_expire,
}


async def _organiser(hosted: Hosted) -> Client:
    """A second organiser, whose token lasts a minute."""
    lifetime = Duration(seconds=60)
    secret = await create_token(hosted.organiser, token_pb2.ROLE_ORGANISER, lifetime=lifetime)
    return hosted.client(secret)


async def _code_of(call: Call) -> grpc.StatusCode:
    """The code of a call; of a stream of responses, all are read."""
    async with asyncio.timeout(TIMEOUT_S):
        if hasattr(call, "read"):
            try:
                while await call.read() is not grpc.aio.EOF:
                    pass
            except grpc.aio.AioRpcError:
                pass
        code: grpc.StatusCode = await call.code()
        return code


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("method", CALLS)
async def test_a_running_call_ends_with_its_token(hosted: Hosted, method: str, ending: str) -> None:
    await hosted.organiser.create_benchmark()
    ended = await _organiser(hosted)
    call = await CALLS[method](hosted, ended)
    await ENDINGS[ending](hosted, ended.secret)
    assert await _code_of(call) is grpc.StatusCode.UNAUTHENTICATED
    hosted.workers.gate.set()


@pytest.mark.parametrize("ending", ["revoked elsewhere", "expired"])
async def test_truth_of_an_ended_token_is_not_stored_however_soon_the_upload_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(access, "LOOK_INTERVAL_S", 3600)
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark()
        ended = await _organiser(hosted)
        call = await _upload_truth(hosted, ended)
        await ENDINGS[ending](hosted, ended.secret)
        await call.write(organiser_pb2.UploadTruthRequest(end=end_of(TRUTH)))
        await call.done_writing()
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call
        assert refused(caught.value).reason == "UNAUTHENTICATED"
        request = organiser_pb2.ListTruthRevisionsRequest(benchmark=BENCHMARK)
        listed = await hosted.organiser.benchmarks.ListTruthRevisions(
            request, metadata=hosted.organiser.metadata
        )
        assert not listed.revisions


async def test_a_caller_that_revokes_its_own_token_is_told_that_it_is_revoked(
    hosted: Hosted,
) -> None:
    own = await _organiser(hosted)
    request = access_pb.RevokeTokenRequest(name=f"tokens/{own.secret.split('_')[1]}")
    answer = await own.access.RevokeToken(request, metadata=own.metadata)
    assert answer.token.HasField("revoke_time")


async def test_calls_of_other_tokens_and_without_tokens_continue(hosted: Hosted) -> None:
    ended, other = await _organiser(hosted), hosted.organiser
    await hosted.organiser.create_benchmark()
    going_on = await _score(hosted, other)
    ending = await _score(hosted, ended)
    await _revoke_here(hosted, ended.secret)
    assert await _code_of(ending) is grpc.StatusCode.UNAUTHENTICATED
    await going_on.done_writing()
    assert await _code_of(going_on) is grpc.StatusCode.OK
