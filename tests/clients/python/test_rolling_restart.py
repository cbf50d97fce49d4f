"""A server stops normally and another replaces it: clients continue to stream unnoticed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest
from tests.clients.python.test_chaos import BATCHING, FRAME_COUNT, WRITERS, send_frames
from tests.crash.nursery import Nursery
from tests.crash.organiser import TIMEOUT_S, Organiser
from tests.crash.servers import KilledServer
from tests.server.domain.sky import batch_report, truth
from tests.support.varieties import mostly_nightly

from vidscore_client import UnavailableError, VidscoreError, connect

pytestmark = pytest.mark.slow

RESTARTS = 1
CALLERS = 16


@pytest.mark.parametrize("writer", mostly_nightly(["threads", "asyncio"]))
def test_a_stream_continues_over_restarts_of_its_server(
    tmp_path: Path, nursery: Nursery, writer: str
) -> None:
    server = KilledServer(tmp_path, nursery=nursery)
    try:
        server.start()
        _stream_over_restarts(server, writer)
        assert server.stop() == 0
    finally:
        server.kill()
    assert server.incidents() == []


def test_a_stream_continues_at_a_restarted_server_that_takes_smaller_batches(
    tmp_path: Path,
) -> None:
    server = KilledServer(tmp_path)
    try:
        server.start()
        with grpc.insecure_channel(server.address) as channel:
            Organiser(channel, server.secret).host(truth(FRAME_COUNT))
        with connect(server.address, token=server.secret) as client:
            stream = client.submit("dots", "cut")
            assert server.stop() == 0
            server.environment["VIDSCORE_SERVER_MAXIMUM_BATCH_FRAMES"] = "3"
            send_frames(stream, range(FRAME_COUNT))
            server.start()
            assert stream.flush(TIMEOUT_S) == FRAME_COUNT
            stream.close()
        assert server.stop() == 0
    finally:
        server.kill()
    assert server.incidents() == []


def test_calls_that_reach_a_stopping_server_are_unavailable(tmp_path: Path) -> None:
    """gRPC's server itself ends some of them with CANCELLED, although nobody has cancelled."""
    server = KilledServer(tmp_path)
    try:
        server.start()
        calling = threading.Barrier(CALLERS + 1)
        with ThreadPoolExecutor(CALLERS) as callers:
            ended = [callers.submit(_call_until_it_fails, server.address, calling)
                     for _ in range(CALLERS)]  # fmt: skip
            calling.wait(TIMEOUT_S)
            assert server.stop() == 0
        assert {(type(end.result()), end.result().code) for end in ended} == {
            (UnavailableError, "UNAVAILABLE")
        }
    finally:
        server.kill()


def _call_until_it_fails(address: str, calling: threading.Barrier) -> VidscoreError:
    with connect(address) as client:
        client.health()
        calling.wait(TIMEOUT_S)
        while True:
            try:
                client.health()
            except VidscoreError as error:
                return error


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
