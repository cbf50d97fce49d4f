"""Calls without a token are bounded, and cannot keep out callers with a token."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.server.domain.hosted import TRUTH, Hosted, hosting
from tests.server.running import PlayedWorkers, serving
from tests.server.scene import refused
from tests.support.certificates import make_authority
from tests.support.half_sent import PREFACE
from tests.support.reflecting import VERSIONS, Request, reflection_call
from tests.support.varieties import mostly_nightly
from tests.support.waiting import TIMEOUT_S, until

from vidscore_client import Health, Tls, aio
from vidscore_server.api import guard

SERVING = health_pb2.HealthCheckResponse.SERVING
STRANGERS = 400


@asynccontextmanager
async def _site(folder: Path, *, encrypted: bool) -> AsyncIterator[tuple[Hosted, Tls | bool]]:
    """A hosting server, and the SDK's encryption settings for it."""
    if not encrypted:
        async with hosting(folder) as hosted:
            yield hosted, False
        return
    authority = make_authority(folder)
    authority.sign("server", "localhost")
    async with hosting(
        folder,
        authorities=authority.read("ca.pem"),
        tls_certificate_file=str(folder / "server.pem"),
        tls_key_file=str(folder / "server.key"),
    ) as hosted:
        yield hosted, Tls(root_certificates=authority.roots, server_name="localhost")


def _health(channel: Any) -> Any:
    return health_pb2_grpc.HealthStub(channel)


def _watch(channel: Any) -> Any:
    return _health(channel).Watch(health_pb2.HealthCheckRequest())


def _half_sent_check(channel: Any) -> Any:
    """A health check whose message never arrives."""
    return channel.stream_unary("/grpc.health.v1.Health/Check")()


IDLE_CALLS: dict[str, Callable[[Any], Any]] = {
    "watches": _watch,
    **{f"reflection {version}": partial(reflection_call, version=version) for version in VERSIONS},
    "half-sent checks": _half_sent_check,
}


@pytest.mark.slow
@pytest.mark.parametrize("encrypted", mostly_nightly([True, False]), ids=["tls", "plain"])
@pytest.mark.parametrize("kind", IDLE_CALLS)
async def test_idle_calls_without_a_token_do_not_keep_others_out(
    tmp_path: Path, kind: str, *, encrypted: bool
) -> None:
    async with _site(tmp_path, encrypted=encrypted) as (hosted, tls):
        with ExitStack() as calls:
            for _ in range(STRANGERS):
                calls.callback(IDLE_CALLS[kind](hosted.channel).cancel)
            await hosted.organiser.create_benchmark()
            assert (await hosted.organiser.upload(TRUTH)).revision == 1
            stream = await hosted.red.submission()
            assert await hosted.red.append(stream, 0, TRUTH) == len(TRUTH.frame_numbers)
            assert await hosted.organiser.listed() == ["one"]
            async with aio.connect(hosted.address, tls=tls) as client:
                assert await client.health() is Health.SERVING


@pytest.mark.parametrize(
    ("kind", "limit"),
    [
        ("watches", "maximum_health_watches"),
        *((f"reflection {version}", "maximum_reflection_streams") for version in VERSIONS),
    ],
)
async def test_one_host_has_a_quarter_of_the_places_and_gets_them_back(
    kind: str, limit: str
) -> None:
    async with serving(PlayedWorkers(), **{limit: 8}) as running:
        held = [IDLE_CALLS[kind](running.channel) for _ in range(3)]
        await until(lambda: any(call.done() for call in held))
        [beyond] = [call for call in held if call.done()]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await beyond.read()
        found = refused(caught.value)
        assert found.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert found.metadata["limit"] == limit
        assert found.message == (
            "2 such streams of one host are open, and one host may have a quarter of all; "
            f"the limit {limit} is 8"
        )
        held.remove(beyond)
        held.pop().cancel()
        async with asyncio.timeout(TIMEOUT_S):
            while await _is_refused(IDLE_CALLS[kind](running.channel), kind):
                pass
        held.pop().cancel()


async def test_both_versions_of_reflection_share_their_places() -> None:
    async with serving(PlayedWorkers(), maximum_reflection_streams=8) as running:
        held = [reflection_call(running.channel, version) for version in (*VERSIONS, VERSIONS[0])]
        await until(lambda: any(call.done() for call in held))
        assert sum(call.done() for call in held) == 1
        for call in held:
            call.cancel()


async def _is_refused(call: Any, kind: str) -> bool:
    """Whether a new call is refused; one that is not refused ends here."""
    if kind.startswith("reflection"):
        await call.write(Request(list_services=""))
    try:
        await call.read()
    except grpc.aio.AioRpcError:
        return True
    call.cancel()
    return False


@pytest.mark.parametrize("kind", IDLE_CALLS)
async def test_calls_without_a_token_have_a_time_limit(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name in ("WATCH_LIFETIME_S", "STREAM_LIFETIME_S", "PLAIN_LIFETIME_S"):
        monkeypatch.setattr(guard, name, 0.05)
    async with serving(PlayedWorkers()) as running:
        call = IDLE_CALLS[kind](running.channel)
        async with asyncio.timeout(TIMEOUT_S):
            if kind == "watches":
                await call.read()  # Unread responses delay the status.
            assert await call.code() is grpc.StatusCode.UNAVAILABLE


async def test_the_health_of_an_unknown_service_is_unimplemented() -> None:
    async with serving(PlayedWorkers()) as running:
        call: Any = running.channel.unary_unary("/grpc.health.v1.Health/List")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(b"")
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.slow
async def test_an_idle_connection_is_closed() -> None:
    async with serving(PlayedWorkers(), idle_timeout_s=1) as running:
        host, _, port = running.address.rpartition(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.sendall(PREFACE)
            connection.settimeout(TIMEOUT_S)
            await asyncio.to_thread(_read_to_the_end, connection)


def _read_to_the_end(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass
