"""A server is stopped in order and another takes its place: clients stream on without noticing."""

from __future__ import annotations

import threading
from pathlib import Path

import grpc
import pytest
from tests.clients.python.test_chaos import (
    BATCHING,
    FRAME_COUNT,
    WRITERS,
    send_frames,
)
from tests.crash.organiser import TIMEOUT_S, Organiser
from tests.crash.servers import KilledServer
from tests.server.domain.sky import batch_report, truth

pytestmark = pytest.mark.slow

RESTARTS = 1


@pytest.mark.parametrize("writer", ["threads", "asyncio"])
def test_a_stream_goes_on_over_restarts_of_its_server(tmp_path: Path, writer: str) -> None:
    server = KilledServer(tmp_path)
    try:
        server.start()
        _stream_over_restarts(server, writer)
        assert server.stop() == 0
    finally:
        server.kill()
    assert server.incidents() == []


def _stream_over_restarts(server: KilledServer, writer: str) -> None:
    with grpc.insecure_channel(server.address) as channel:
        Organiser(channel, server.secret).host(truth(FRAME_COUNT))
    connecting, delivery = WRITERS[writer]
    part = FRAME_COUNT // (RESTARTS + 1)
    with connecting(server.address, server.secret) as submit:
        stream = submit("run", batching=BATCHING, delivery=delivery)
        for number in range(RESTARTS):
            half = part * number + part // 2
            send_frames(stream, range(part * number, half))
            stopping = threading.Thread(target=server.restart)
            stopping.start()
            send_frames(stream, range(half, part * (number + 1)))
            stopping.join(TIMEOUT_S)
        send_frames(stream, range(part * RESTARTS, FRAME_COUNT))
        stream.seal(FRAME_COUNT, timeout_s=TIMEOUT_S)
    with grpc.insecure_channel(server.address) as channel:
        organiser = Organiser(channel, server.secret)
        organiser.wait(stream.submission)
        assert organiser.report(stream.submission) == batch_report(FRAME_COUNT, range(FRAME_COUNT))
