"""Servers state the limits to which clients size their messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.server.domain.hosted import BENCHMARK, hosting

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_protos.v1.server_service_pb2 import GetServerRequest
from vidscore_protos.v1.server_service_pb2_grpc import ServerServiceStub


async def test_an_opened_stream_and_the_server_state_the_limits(tmp_path: Path) -> None:
    async with hosting(tmp_path, maximum_batch_frames=7) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.red.submission()
        request = pb.OpenStreamRequest(submission=f"{BENCHMARK}/submissions/one")
        opened = await hosted.red.submissions.OpenStream(request, metadata=hosted.red.metadata)
        stub: Any = ServerServiceStub(hosted.channel)
        server = (await stub.GetServer(GetServerRequest())).server
    for limits in (opened.limits, server.limits):
        assert limits["maximum_batch_frames"] == 7
        assert limits["maximum_message_bytes"] == 16 << 20
