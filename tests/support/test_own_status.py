"""Calls without the SDK end with the status that their server sends."""

from __future__ import annotations

from typing import Any

import grpc
from tests.clients.python.fake_server import never_accept, serving
from tests.support.own_status import servers_own_status

from vidscore_protos.v1 import scoring_service_pb2, scoring_service_pb2_grpc


async def test_a_failed_write_does_not_end_a_call_before_its_server_does() -> None:
    """The test makes the write fail as grpc does, because that happens by itself only rarely."""
    with serving(never_accept) as server, servers_own_status():
        async with grpc.aio.insecure_channel(server.target) as channel:
            call: Any = scoring_service_pb2_grpc.ScoringServiceStub(channel).Score()
            await call.write(scoring_service_pb2.ScoreRequest())
            call._cython_call.set_internal_error("a write failed")
            assert not call.done()
            call.cancel()
