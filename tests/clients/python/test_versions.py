"""Clients and servers of adjacent minor versions work together; others report their versions."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from tests.clients.python.fake_server import WAIT_S

from vidscore_client import ConflictError, VersionError, __version__, _endpoint, aio, connect
from vidscore_client._endpoint import check_server
from vidscore_protos.v1 import evaluator_service_pb2, evaluator_service_pb2_grpc


class PlayedServer(evaluator_service_pb2_grpc.EvaluatorServiceServicer):
    """Claims some version, or none."""

    def __init__(self, version: str | None) -> None:
        self._version = version

    def ListEvaluators(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
        del request
        if self._version is not None:
            context.set_trailing_metadata((("vidscore-server-version", self._version),))
        return evaluator_service_pb2.ListEvaluatorsResponse()

    def GetEvaluator(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
        raise NotImplementedError(request, context)

    def ListPresets(self, request: Any, context: Any) -> Any:  # noqa: N802 - gRPC's name
        raise NotImplementedError(request, context)


@contextmanager
def playing(version: str | None) -> Iterator[str]:
    server = grpc.server(futures.ThreadPoolExecutor(2))
    evaluator_service_pb2_grpc.add_EvaluatorServiceServicer_to_server(PlayedServer(version), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None)


def minor(difference: int) -> str:
    """The version this many minor versions from this one."""
    major, own, *_ = __version__.split(".")
    return f"{major}.{int(own) + difference}.0"


@pytest.mark.parametrize("server", ["1.3.0", "1.4.99", "1.5.0rc1", "unknown", ""])
def test_an_adjacent_server_or_one_without_a_version_is_accepted(server: str) -> None:
    check_server(server, "1.4.2")


@pytest.mark.parametrize(
    ("server", "advice"),
    [
        ("1.6.0", "update vidscore-client"),
        ("2.4.2", "update vidscore-client"),
        ("1.2.0", "update the server"),
        ("0.4.2", "update the server"),
    ],
)
def test_another_server_is_refused_with_both_versions_and_advice(server: str, advice: str) -> None:
    with pytest.raises(VersionError, match=advice) as caught:
        check_server(server, "1.4.2")
    assert caught.value.reason == "VERSION_UNSUPPORTED"
    assert caught.value.metadata == {"client_version": "1.4.2", "server_version": server}


@pytest.mark.parametrize("version", [None, minor(0), minor(1)])
async def test_both_clients_work_with_adjacent_versions(version: str | None) -> None:
    with playing(version) as target:
        with connect(target, timeout_s=WAIT_S) as client:
            assert client.evaluators() == []
        async with aio.connect(target, timeout_s=WAIT_S) as asynchronous:
            assert await asynchronous.evaluators() == []


async def test_both_clients_refuse_a_server_that_is_too_new() -> None:
    with playing(minor(2)) as target:
        with (
            connect(target, timeout_s=WAIT_S) as client,
            pytest.raises(VersionError, match="update vidscore-client"),
        ):
            client.evaluators()
        async with aio.connect(target, timeout_s=WAIT_S) as asynchronous:
            with pytest.raises(VersionError, match="update vidscore-client"):
                await asynchronous.evaluators()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "taken"), [(minor(0), True), (minor(1), True), (minor(2), False)]
)
def test_a_real_server_accepts_only_clients_of_adjacent_versions(
    target: str, monkeypatch: pytest.MonkeyPatch, client: str, taken: bool
) -> None:
    monkeypatch.setattr(_endpoint, "__version__", client)
    with connect(target, timeout_s=WAIT_S) as connected:
        assert connected.server().version == __version__
        if taken:
            assert connected.evaluators()
            return
        with pytest.raises(ConflictError, match="update the server, or use an older client") as no:
            connected.evaluators()
    assert isinstance(no.value, VersionError)
    assert no.value.metadata["server_version"] == __version__
    assert no.value.metadata["client_version"] == client


def test_a_real_server_refuses_a_scoring_stream_of_a_client_that_is_too_new(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_endpoint, "__version__", minor(2))
    with (
        connect(target, timeout_s=WAIT_S) as connected,
        pytest.raises(VersionError),
        connected.score_stream(["spotgeo"]),
    ):
        pass
