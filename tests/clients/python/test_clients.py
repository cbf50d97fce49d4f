"""The unary calls and the uploads of both clients, and how clients are closed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from tests.clients.python.fake_server import WAIT_S, serving
from tests.clients.python.streaming import BOX, event_loop, frames

from vidscore_client import (
    Batching,
    CallCancelledError,
    Client,
    ClosedError,
    Frames,
    Health,
    InputError,
    NotFoundError,
    UnavailableError,
    aio,
    connect,
)


class AsyncAsSync:
    """The asyncio client with the methods of the synchronous one."""

    def __init__(self, target: str, run: Any) -> None:
        self._run = run
        self._client = run(self._connect(target))

    async def _connect(self, target: str) -> aio.AsyncClient:
        return aio.connect(target)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)
        return lambda *args, **keywords: self._run(method(*args, **keywords))


@pytest.fixture(params=["threads", "asyncio"])
def client_of(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes clients of both kinds, and closes them."""
    clients: list[Any] = []
    with event_loop() as run:

        def make(target: str) -> Any:
            asynchronous = request.param == "asyncio"
            clients.append(AsyncAsSync(target, run) if asynchronous else connect(target))
            return clients[-1]

        yield make
        for client in clients:
            client.close()


def test_every_page_of_evaluators_is_read(client_of: Any) -> None:
    with serving(evaluators=["a", "b", "c"]) as server:
        assert [found.name for found in client_of(server.target).evaluators()] == ["a", "b", "c"]
        assert len(server.metadata) == 3


def test_a_refused_call_keeps_nothing_of_its_caller() -> None:
    """A call of grpc is its own exception, a cycle; without this, frames waited for the garbage."""
    held: list[weakref.ref[Frames]] = []

    def ask(client: Client) -> None:
        batch = frames(0)
        held.append(weakref.ref(batch))
        with suppress(NotFoundError):
            client.evaluator("c")

    with serving() as server, connect(server.target) as client:
        gc.collect()
        gc.disable()
        try:
            ask(client)
            assert held[0]() is None
        finally:
            gc.enable()


def test_every_page_of_presets_is_read(client_of: Any) -> None:
    with serving() as server:
        street, sky = client_of(server.target).presets()
    assert (street.name, street.labels) == ("street", None)
    assert street.evaluators == (("f1", {"threshold": 0.25}),)
    assert (sky.name, sky.labels) == ("sky", ("plane", "bird"))


def test_one_evaluator_is_found_by_name(client_of: Any) -> None:
    with serving(evaluators=["a", "b"]) as server:
        client = client_of(server.target)
        assert client.evaluator("b").name == "b"
        with pytest.raises(NotFoundError, match="no evaluator is called 'c'"):
            client.evaluator("c")
        with pytest.raises(InputError, match="name"):
            client.evaluator(3)


def test_calls_to_an_unreachable_server_are_unavailable(client_of: Any) -> None:
    with serving() as server:
        target = server.target
    client = client_of(target)
    for call in (client.evaluators, client.health):
        with pytest.raises(UnavailableError):
            call()


@pytest.mark.parametrize("status", ["SERVING", "NOT_SERVING", "UNKNOWN", "SERVICE_UNKNOWN"])
def test_health_is_that_of_a_standard_health_service(client_of: Any, status: str) -> None:
    servicer = health.HealthServicer()
    servicer.set("a.Service", health_pb2.HealthCheckResponse.ServingStatus.Value(status))
    with serving(health=servicer) as server:
        client = client_of(server.target)
        assert client.health("a.Service") is Health(status.lower())
        assert client.health() is Health.SERVING
        with pytest.raises(NotFoundError):
            client.health("another.Service")


def test_a_state_of_a_later_health_protocol_is_unknown(client_of: Any) -> None:
    class Later(health_pb2_grpc.HealthServicer):
        def Check(self, *_: Any) -> Any:  # noqa: N802 - grpc's name
            return health_pb2.HealthCheckResponse(status=17)

    with serving(health=Later()) as server:
        assert client_of(server.target).health() is Health.UNKNOWN


def batches(*counts: int) -> Iterator[Frames]:
    """Batches of frames, each of a separate sequence."""
    for index, count in enumerate(counts):
        yield frames(count, sequence=f"s{index}")


def test_score_sends_both_sides_alternately_with_the_shape_of_the_data(client_of: Any) -> None:
    with serving() as server:
        [report] = client_of(server.target).score(["fake"], batches(300, 2), batches(1))
    assert report.value("frames") == 303
    kinds = [request.WhichOneof("message") for request in server.requests]
    assert kinds == ["configuration", "truth", "detections", "truth", "truth"]
    assert server.requests[0].configuration.truth_geometry == 2


def test_score_needs_the_shape_of_a_side_without_batches(client_of: Any) -> None:
    with serving() as server:
        client = client_of(server.target)
        with pytest.raises(InputError, match="detections: found no batch"):
            client.score(["fake"], batches(1), [])
        with pytest.raises(InputError, match="truth: found one batch"):
            client.score(["fake"], frames(1), [])
        [report] = client.score(["fake"], batches(1), [], detection_geometry="point")
    assert report.value("frames") == 1
    assert server.requests[0].configuration.detection_geometry == 1


def test_score_refuses_a_batch_of_another_shape(client_of: Any) -> None:
    with serving() as server:
        client = client_of(server.target)
        with pytest.raises(InputError, match="frames: found 4 coordinates"):
            client.score(["fake"], batches(1), batches(1), detection_geometry="point")
        assert server.finished.wait(WAIT_S)


def test_a_closed_client_makes_no_calls(client_of: Any) -> None:
    with serving() as server:
        client = client_of(server.target)
        client.close()
        client.close()
        with pytest.raises(ClosedError, match="client is closed"):
            client.evaluators()
        with pytest.raises(ClosedError, match="client is closed"):
            client.score(["fake"], batches(1), batches(1))


def test_closing_the_client_cancels_its_streams() -> None:
    with serving() as server:
        client = connect(server.target)
        stream = client.score_stream(["fake"])
        client.close()
        with pytest.raises(CallCancelledError):
            stream.finish()


def test_a_client_may_have_several_streams_open() -> None:
    with serving() as server, connect(server.target) as client:
        streams = [client.score_stream(["fake"]) for _ in range(4)]
        for count, stream in enumerate(streams):
            for number in range(count):
                stream.send("a", number, BOX)
        assert [stream.finish()[0].value("frames") for stream in streams] == [0, 1, 2, 3]


async def test_closing_the_asyncio_client_cancels_its_streams() -> None:
    with serving() as server:
        client = aio.connect(server.target)
        async with client.score_stream(["fake"]) as stream:
            await client.close()
            with pytest.raises(CallCancelledError):
                await stream.finish()


async def test_an_asyncio_stream_must_be_used_within_its_block() -> None:
    with serving() as server:
        async with aio.connect(server.target) as client:
            stream = client.score_stream(["fake"], batching=Batching(batch_interval_s=0.0))
            with pytest.raises(ClosedError, match="async with"):
                await stream.send("a", 0, BOX)
            await stream.cancel()
            async with stream:
                await stream.send("a", 0, BOX)
                assert (await stream.finish())[0].value("frames") == 1
            with pytest.raises(ClosedError, match="once"):
                async with stream:
                    pass
