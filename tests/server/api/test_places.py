"""Places for calls without a token, tested without a channel: who gets one, how calls end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest

from vidscore_evaluators.errors import LimitError
from vidscore_server.api import guard
from vidscore_server.api.guard import HEALTH_WATCH, REFLECTIONS, Bound, OpenCalls
from vidscore_server.settings import Settings

CHECK = "/grpc.health.v1.Health/Check"
OURS = "/vidscore.v1.EvaluatorService/GetEvaluator"


# --- Places


def test_the_number_of_places_is_never_exceeded() -> None:
    bound = Bound(60, "maximum_health_watches", 8)
    with ExitStack() as held:
        for host in "abcd":
            for _ in range(2):
                held.enter_context(bound.place(host))
        for host in "ae":
            with pytest.raises(LimitError, match="8 such streams are open"):
                held.enter_context(bound.place(host))


@pytest.mark.parametrize(("maximum", "places"), [(1, 1), (2, 1), (7, 1), (8, 2), (100, 25)])
def test_a_host_has_a_quarter_of_the_places_and_at_least_one(maximum: int, places: int) -> None:
    bound = Bound(60, "maximum_health_watches", maximum)
    with ExitStack() as held:
        for _ in range(places):
            held.enter_context(bound.place("a"))
        with pytest.raises(LimitError) as caught:
            held.enter_context(bound.place("a"))
        assert (caught.value.limit, caught.value.maximum) == ("maximum_health_watches", maximum)
        if maximum > places:
            held.enter_context(bound.place("b"))


def test_the_place_of_an_ended_call_is_free_and_no_record_of_it_remains() -> None:
    bound = Bound(60, "maximum_health_watches", 8)
    with bound.place("a"):
        with bound.place("a"):
            assert bound.open_by_host == {"a": 2}
        assert bound.open_by_host == {"a": 1}
    assert dict(bound.open_by_host) == {}


def test_without_a_maximum_there_is_a_place_for_every_call() -> None:
    bound = Bound(60)
    with ExitStack() as held:
        for _ in range(1_000):
            held.enter_context(bound.place("a"))
    assert dict(bound.open_by_host) == {}


# --- Calls


class AbortedError(Exception):
    """The error with which gRPC ends a call."""


class Context:
    """gRPC's side of a call."""

    def __init__(self, host: str = "192.0.2.1", port: int = 50_000) -> None:
        self.written: list[object] = []
        self.code: grpc.StatusCode | None = None
        self._peer = f"ipv4:{host}:{port}"

    def peer(self) -> str:
        return self._peer

    async def write(self, response: object) -> None:
        self.written.append(response)

    async def abort(self, code: grpc.StatusCode, details: str, _: object = ()) -> None:
        self.code = code
        raise AbortedError(details)


async def put(calls: OpenCalls, handler: Any, method: str = HEALTH_WATCH) -> Any:
    """A replacement for a handler."""

    async def continuation(_: object) -> Any:
        return handler

    details = cast(grpc.HandlerCallDetails, SimpleNamespace(method=method))
    return await calls.intercept_service(continuation, details)


def open_calls(**settings: Any) -> OpenCalls:
    return OpenCalls(Settings(**settings), ("/vidscore.",))


async def given(*requests: str) -> AsyncIterator[str]:
    for request in requests:
        yield request


async def answered(handler: Any, method: str, *requests: str) -> Context:
    """The context of a call that has ended."""
    context = Context()
    found = await put(open_calls(), handler, method)
    await found.stream_stream(given(*requests), context)
    return context


async def _returns(request: str, _: Context) -> str:
    return f"answer to {request}"


async def _writes(request: str, context: Context) -> None:
    await context.write(f"answer to {request}")


async def _yields(request: str, _: Context) -> AsyncIterator[str]:
    yield f"answer to {request}"
    yield "and so on"


async def _echoes(requests: AsyncIterator[str], _: Context) -> AsyncIterator[str]:
    async for request in requests:
        yield f"answer to {request}"


Handlers = Callable[..., Any]


@pytest.mark.parametrize(
    ("kind", "behaviour", "expected"),
    [
        (grpc.unary_unary_rpc_method_handler, _returns, ["answer to 1"]),
        (grpc.unary_unary_rpc_method_handler, _writes, ["answer to 1"]),
        (grpc.unary_stream_rpc_method_handler, _yields, ["answer to 1", "and so on"]),
        (grpc.stream_stream_rpc_method_handler, _echoes, ["answer to 1", "answer to 2"]),
    ],
)
@pytest.mark.parametrize("method", [HEALTH_WATCH, *REFLECTIONS, CHECK])
async def test_a_handler_answers_as_it_does_without_places(
    kind: Handlers, behaviour: Handlers, expected: list[str], method: str
) -> None:
    handler = kind(behaviour, bytes.decode, str.encode)
    found = await put(open_calls(), handler, method)
    assert found.request_deserializer(b"x") == "x"
    assert found.response_serializer("x") == b"x"
    assert (await answered(handler, method, "1", "2")).written == expected


@pytest.mark.parametrize(
    ("handler", "method"),
    [(grpc.unary_unary_rpc_method_handler(_returns), OURS), (None, CHECK), (None, OURS)],
)
async def test_guarded_and_unknown_methods_are_left_alone(handler: Any, method: str) -> None:
    assert await put(open_calls(), handler, method) is handler


async def _refused(
    calls: OpenCalls, context: Context, method: str, behaviour: Handlers, *requests: str
) -> str:
    handler: Any = grpc.unary_unary_rpc_method_handler(behaviour)
    found = await put(calls, handler, method)
    with pytest.raises(AbortedError) as caught:
        await found.stream_stream(given(*requests), context)
    return str(caught.value)


async def test_a_call_without_a_request_is_refused() -> None:
    context = Context()
    told = await _refused(open_calls(), context, CHECK, _returns)
    assert context.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "the end of the call" in told


async def test_a_method_that_a_service_lacks_is_unimplemented() -> None:
    async def missing(_: str, __: Context) -> None:
        raise NotImplementedError

    context = Context()
    told = await _refused(open_calls(), context, CHECK, missing, "1")
    assert (context.code, told) == (grpc.StatusCode.UNIMPLEMENTED, f"{CHECK} is not served")


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (HEALTH_WATCH, "WATCH_LIFETIME_S"),
        *((method, "STREAM_LIFETIME_S") for method in REFLECTIONS),
        (CHECK, "PLAIN_LIFETIME_S"),
    ],
)
async def test_a_call_has_the_time_limit_of_its_kind(
    method: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait(_: str, __: Context) -> None:
        await asyncio.sleep(1)

    monkeypatch.setattr(guard, name, 0.001)
    context = Context()
    told = await _refused(open_calls(), context, method, wait, "1")
    assert context.code is grpc.StatusCode.UNAVAILABLE
    assert "time limit of 0.001 s" in told


async def _held(calls: OpenCalls, context: Context, method: str) -> asyncio.Task[Any]:
    """A call that holds its place."""
    begun = asyncio.Event()

    async def wait(_: str, __: Context) -> None:
        begun.set()
        await asyncio.Event().wait()

    found = await put(calls, grpc.unary_unary_rpc_method_handler(wait), method)
    holding: Awaitable[Any] = found.stream_stream(given("1"), context)
    task = asyncio.ensure_future(holding)
    ended = asyncio.create_task(begun.wait())
    await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
    assert begun.is_set()
    return task


async def test_one_host_is_the_same_from_every_port_and_another_has_its_own_places() -> None:
    calls = open_calls(maximum_health_watches=8, maximum_reflection_streams=4)
    watch, reflect = HEALTH_WATCH, REFLECTIONS[0]
    held = [
        await _held(calls, Context(port=1), watch),
        await _held(calls, Context(port=2), watch),
        await _held(calls, Context("192.0.2.2"), watch),
        await _held(calls, Context(port=1), reflect),
        await _held(calls, Context("192.0.2.2"), reflect),
        *[await _held(calls, Context(port=port), CHECK) for port in range(20)],
    ]
    for method, limit in ((watch, "health_watches"), (REFLECTIONS[1], "reflection_streams")):
        context = Context(port=3)
        told = await _refused(calls, context, method, _returns, "1")
        assert context.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert f"maximum_{limit}" in told
    for task in held:
        task.cancel()
    await asyncio.wait(held)
    again = await put(calls, grpc.unary_unary_rpc_method_handler(_returns), REFLECTIONS[1])
    context = Context(port=3)
    await again.stream_stream(given("1"), context)
    assert context.written == ["answer to 1"]
