"""The server as a whole: health, reflection, TLS, ports, and shutdown."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import subprocess
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.server.running import PlayedWorkers, Running, serving
from tests.server.scene import HERE, configuration, counts, points, refused, request, stream
from tests.support.chaos import ChaosProxy
from tests.support.reflecting import VERSIONS, Request, reflected
from tests.support.requirements import missing
from tests.support.waiting import until

from vidscore_protos.v1 import scoring_service_pb2, scoring_service_pb2_grpc
from vidscore_server import application
from vidscore_server.application import SERVICES, ScoringServer
from vidscore_server.domain.administration import initialise
from vidscore_server.errors import ListenError
from vidscore_server.logs import JsonFormatter
from vidscore_server.settings import SettingsError, load_settings
from vidscore_server.store.sqlite import open_sqlite_store

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("moody")]

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[Running]:
    """A server that scores in this process."""
    async with serving(PlayedWorkers()) as server:
        yield server


async def _health(running: Running, service: str = "") -> int:
    stub: Any = health_pb2_grpc.HealthStub(running.channel)
    response = await stub.Check(health_pb2.HealthCheckRequest(service=service))
    return int(response.status)


@pytest.mark.parametrize("service", ["", *SERVICES])
async def test_the_server_and_each_of_its_services_are_healthy(
    running: Running, service: str
) -> None:
    assert await _health(running, service) == SERVING


async def test_the_health_of_an_unknown_service_is_not_found(running: Running) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await _health(running, "vidscore.v1.NoService")
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("version", VERSIONS)
async def test_reflection_can_be_switched_off(version: str) -> None:
    async with serving(PlayedWorkers(), reflection=False) as running:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await reflected(running.channel, version, Request(list_services=""))
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("version", VERSIONS)
async def test_reflection_lists_the_services(running: Running, version: str) -> None:
    [listed] = await reflected(running.channel, version, Request(list_services=""))
    names = [service.name for service in listed.list_services_response.service]
    own = {f"grpc.reflection.{name}.ServerReflection" for name in VERSIONS}
    assert set(names) == {*SERVICES, "grpc.health.v1.Health", *own}
    assert names == sorted(names)


@pytest.mark.parametrize("method", ["ScoringService/Nothing", "BenchmarkService/GetBenchmark"])
async def test_an_unserved_method_is_unimplemented(running: Running, method: str) -> None:
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = running.channel.unary_unary(
        f"/vidscore.v1.{method}"
    )
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(b"")
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert "it hosts no benchmarks (vidscore serve --store does)" in (caught.value.details() or "")


async def test_a_port_in_use_is_an_error_and_is_not_shared(running: Running) -> None:
    second = ScoringServer(load_settings(flags={"listen": running.address}), PlayedWorkers())
    with pytest.raises(ListenError, match="the port is in use, or this machine does not have"):
        await second.start()


async def test_a_draining_server_is_not_healthy_and_starts_nothing_but_finishes_running_calls() -> (
    None
):
    async with serving(PlayedWorkers()) as running:
        stub = scoring_service_pb2_grpc.ScoringServiceStub(running.channel)
        call = stub.Score()
        await call.write(stream(configuration("moody"))[0])
        await call.read()
        stopping = asyncio.create_task(running.server.stop(drain_timeout_s=60))
        await asyncio.sleep(0)

        for service in ("", *SERVICES):
            assert await _health(running, service) == NOT_SERVING
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.ScoreBatch(scoring_service_pb2.ScoreBatchRequest())
        status = refused(caught.value)
        assert (status.code, status.reason) == (grpc.StatusCode.UNAVAILABLE, "SERVER_DRAINING")

        await call.write(request("truth", points({1: HERE})))
        await call.done_writing()
        response = await call.read()
        assert isinstance(response, scoring_service_pb2.ScoreResponse)
        assert counts(response.final.reports[0])["frames"] == 1
        assert await call.code() is grpc.StatusCode.OK
        await stopping


async def test_a_stream_that_outlasts_the_drain_timeout_gets_a_clear_status() -> None:
    async with serving(PlayedWorkers()) as running:
        stub = scoring_service_pb2_grpc.ScoringServiceStub(running.channel)
        call = stub.Score()
        await call.write(stream(configuration("moody"))[0])
        await call.read()
        await running.server.stop(drain_timeout_s=0)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
        status = refused(caught.value)
        assert (status.code, status.reason) == (grpc.StatusCode.UNAVAILABLE, "SERVER_DRAINING")
        await until(lambda: running.server.sessions.open_count == 0)


@pytest.mark.slow
async def test_the_place_of_a_client_that_vanished_becomes_free() -> None:
    flags = {"keepalive_interval_s": 1, "keepalive_timeout_s": 1, "idle_timeout_s": 3600}
    async with serving(PlayedWorkers(), **flags) as running:
        with ChaosProxy(str(running.address)) as proxy:
            async with grpc.aio.insecure_channel(proxy.address) as channel:
                call = scoring_service_pb2_grpc.ScoringServiceStub(channel).Score()
                await call.write(stream(configuration("moody"))[0])
                await call.read()
                assert running.server.sessions.open_count == 1
                proxy.delay(math.inf)
                await until(lambda: running.server.sessions.open_count == 0)
                proxy.calm()


async def test_an_evaluator_that_cannot_be_loaded_is_logged_and_the_others_work(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "vidscore_server")
    monkeypatch.setattr(application, "evaluator_names", lambda: ("broken", "moody"))
    async with serving(PlayedWorkers()) as running:
        await until(lambda: bool(caplog.records))
        stub = scoring_service_pb2_grpc.ScoringServiceStub(running.channel)
        message = scoring_service_pb2.ScoreBatchRequest(configuration=configuration("moody"))
        assert len((await stub.ScoreBatch(message)).reports) == 1
    [line] = [json.loads(JsonFormatter().format(record)) for record in caplog.records]
    assert (line["event"], line["evaluator"]) == ("evaluator cannot be loaded", "broken")
    assert line["reason"].startswith("no evaluator is called 'broken'")


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed certificate for localhost, and its key."""
    folder.mkdir(exist_ok=True)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1"]
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    try:
        subprocess.run(
            [*command, *names, "-keyout", str(key), "-out", str(certificate)],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        missing("openssl")
    return certificate, key


async def test_with_a_certificate_the_server_speaks_tls(tmp_path: Path) -> None:
    certificate, key = _certificate(tmp_path)
    flags = {"tls_certificate_file": str(certificate), "tls_key_file": str(key)}
    async with serving(PlayedWorkers(), **flags) as running:
        credentials = grpc.ssl_channel_credentials(certificate.read_bytes())
        async with grpc.aio.secure_channel(running.address, credentials) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)
            response = await stub.Check(health_pb2.HealthCheckRequest())
        assert response.status == SERVING


async def test_a_certificate_with_the_key_of_another_is_reported_as_such(tmp_path: Path) -> None:
    """The error does not say that the port is in use."""
    certificate, key = _certificate(tmp_path / "one")
    _, other = _certificate(tmp_path / "two")
    wrong = {other: ", the key of another one, expected", certificate: ", expected"}
    for given, said in wrong.items():
        flags = {"tls_certificate_file": str(certificate), "tls_key_file": str(given)}
        server = ScoringServer(load_settings(flags=flags), PlayedWorkers())
        with pytest.raises(SettingsError) as caught:
            await server.start()
        assert f"tls_certificate_file: found {certificate} and {given}{said}" in str(caught.value)
    junk = tmp_path / "junk.pem"
    junk.write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    flags = {"tls_certificate_file": str(certificate), "tls_key_file": str(key)}
    flags["tls_client_authorities_file"] = str(junk)
    server = ScoringServer(load_settings(flags=flags), PlayedWorkers())
    with pytest.raises(SettingsError, match="tls_client_authorities_file: found"):
        await server.start()


@pytest.mark.parametrize("text", [None, "no certificate"])
async def test_an_unusable_tls_file_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "certificate.pem"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    flags = {"tls_certificate_file": str(file), "tls_key_file": str(file), "listen": "[::1]:0"}
    server = ScoringServer(load_settings(flags=flags), PlayedWorkers())
    with pytest.raises(SettingsError, match="tls_certificate_file: found") as caught:
        await server.start()
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("has_token", [True, False])
async def test_a_server_over_a_store_without_tokens_says_that_nobody_can_use_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, *, has_token: bool
) -> None:
    """Such a store is what remains of a restore that was killed."""
    path = tmp_path / "store.db"
    if has_token:
        initialise(path)
    with closing(open_sqlite_store(path)) as store:
        settings = load_settings(flags={"listen": "127.0.0.1:0", "store": str(path)})
        server = ScoringServer(settings, PlayedWorkers(), store)
        await server.start()
        await server.stop(0)
    assert ("store without tokens" in caplog.messages) is not has_token
