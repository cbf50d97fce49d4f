"""What the guard does around a call, without a channel: access, and what clients are told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest
from google.rpc.status_pb2 import Status
from prometheus_client import CollectorRegistry
from tests.server.domain.test_gate import AS_RED, RED, Kept, bearing, gate_of

from vidscore_evaluators.errors import LimitError
from vidscore_server.api import guard
from vidscore_server.api.guard import Guard
from vidscore_server.api.stream import Requests, Responses
from vidscore_server.domain.access import ANONYMOUS, Caller, Gate, Transport, current_caller
from vidscore_server.domain.byte_budget import ByteBudget
from vidscore_server.domain.sessions import PlainCalls, Sessions
from vidscore_server.errors import DrainingError
from vidscore_server.logs import current_call
from vidscore_server.metrics import CallMetrics
from vidscore_server.settings import Settings
from vidscore_server.status import STATUS_KEY
from vidscore_server.version import CLIENT_KEY, SERVER_KEY, server_version

UNARY = "/vidscore.v1.EvaluatorService/GetEvaluator"
STREAM = "/vidscore.v1.ScoringService/Score"
ALWAYS = "/vidscore.v1.ServerService/GetServer"
WATCH = "/vidscore.v1.SubmissionService/WatchSubmission"
HEALTH = "/grpc.health.v1.Health/Check"
ELSEWHERE = Transport(open_to_anyone=False)
BROKEN = 'Failed "execute_batch": (the client is gone)'

Metadata = list[tuple[str, str | bytes]]


class AbortedError(Exception):
    """The error with which gRPC ends a call."""


class Context:
    """gRPC's side of a call, with its requests."""

    def __init__(self, *requests: object) -> None:
        self.requests = list(requests)
        self.trailing: Any = ()
        self.events: list[object] = []
        self.gone = False

    def set_trailing_metadata(self, metadata: Any) -> None:
        self.trailing = metadata

    def cancelled(self) -> bool:
        return self.gone

    def peer(self) -> str:
        return "ipv4:192.0.2.1:50000"

    async def read(self) -> object:
        await asyncio.sleep(0)
        return self.requests.pop(0) if self.requests else grpc.aio.EOF

    async def write(self, response: object) -> None:
        await asyncio.sleep(0)
        self.events.append(response)

    async def abort(self, code: grpc.StatusCode, details: str, metadata: Any) -> None:
        status = Status.FromString(dict(metadata)[STATUS_KEY])
        assert (status.message, dict(metadata)[SERVER_KEY]) == (details, server_version())
        self.events.append(code)
        raise AbortedError(details)


class Site:
    """A guard with its dependencies, its metrics and its log."""

    def __init__(self, gate: Gate | None = None, *, draining: bool = False, **rest: Any) -> None:
        self.registry = CollectorRegistry()
        self.draining = draining
        settings = Settings(maximum_message_bytes=1_000)
        self.guard = Guard(
            settings,
            cast(Sessions, self),
            gate or gate_of(None),
            CallMetrics(self.registry),
            rest.get("plain_calls") or PlainCalls(100),
            rest.get("transport") or Transport(open_to_anyone=True),
            ByteBudget(settings),
        )

    def refuse_while_draining(self) -> None:
        if self.draining:
            raise DrainingError("the server is about to stop")

    async def handler(
        self, handler: Any, method: str = UNARY, metadata: Metadata | None = None
    ) -> Any:
        async def continuation(_: object) -> Any:
            return handler

        details = SimpleNamespace(method=method, invocation_metadata=metadata or [])
        return await self.guard.intercept_service(
            continuation, cast(grpc.HandlerCallDetails, details)
        )

    def counts(self) -> dict[str, float]:
        """Counters by name or code."""
        return {
            sample.labels.get("grpc_code") or sample.name.removeprefix("grpc_server_"): sample.value
            for metric in self.registry.collect()
            for sample in metric.samples
            if sample.name.endswith("_total") and sample.name.startswith("grpc")
        }


def unary(behaviour: Callable[[Any, Any], Any]) -> Any:
    return grpc.unary_unary_rpc_method_handler(behaviour, bytes.decode, str.encode)


def stream(behaviour: Callable[[Any, Any], Any]) -> Any:
    return grpc.stream_stream_rpc_method_handler(behaviour, bytes.decode, str.encode)


async def echo(request: Any, _: Responses[Any]) -> Any:
    return f"answer to {request}"


async def never(_: Any, __: Responses[Any]) -> Any:
    raise AssertionError("no service is asked")


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Lines of the log."""
    found: list[dict[str, Any]] = []
    monkeypatch.setattr(guard, "log", lambda _, text, **rest: found.append({"text": text, **rest}))
    return found


@pytest.mark.parametrize("handler", [unary(echo), None])
async def test_other_services_are_left_alone(handler: Any) -> None:
    assert await Site().handler(handler, HEALTH) is handler


async def test_a_method_that_is_not_served_is_unimplemented() -> None:
    said: list[tuple[grpc.StatusCode, str]] = []

    async def abort(code: grpc.StatusCode, text: str) -> None:
        said.append((code, text))

    found = await Site().handler(None)
    await found.stream_stream(None, SimpleNamespace(abort=abort))
    [(code, text)] = said
    assert code is grpc.StatusCode.UNIMPLEMENTED
    assert "vidscore serve --store" in text


async def test_a_call_is_answered_counted_and_logged(lines: list[dict[str, Any]]) -> None:
    site, context = Site(), Context("one")
    found = await site.handler(unary(echo))
    assert found.request_deserializer(b"x") == "x"
    assert found.response_serializer("x") == b"x"
    assert await found.stream_unary(None, context) == "answer to one"
    assert context.trailing == ((SERVER_KEY, server_version()),)
    assert site.counts() == {
        "started_total": 1, "OK": 1, "msg_received_total": 1, "msg_sent_total": 1,
    }  # fmt: skip
    [line] = lines
    assert line.pop("duration_ms") >= 0
    assert line == {"text": "call", "method": UNARY, "code": "OK", "peer": context.peer()}


async def test_each_call_has_an_id_of_its_own() -> None:
    ids = []

    async def note(_: Any, __: Responses[Any]) -> str:
        ids.append(current_call())
        return ""

    found = await Site().handler(unary(note))
    for _ in range(2):
        await found.stream_unary(None, Context(""))
    assert len(set(ids)) == 2


@pytest.mark.parametrize("known", [True, False])
async def test_a_service_is_told_who_calls(known: bool) -> None:
    callers: list[Caller] = []

    async def note(_: Any, __: Responses[Any]) -> str:
        callers.append(current_caller())
        return ""

    metadata = bearing(RED) if known else []
    found = await Site(gate_of(Kept(RED))).handler(unary(note), UNARY, metadata)
    await found.stream_unary(None, Context(""))
    assert callers == [AS_RED if known else ANONYMOUS]


@pytest.mark.parametrize("kind", ["unary_unary", "unary_stream", "stream_unary"])
async def test_a_refused_call_is_refused_before_anything_is_read(
    kind: str, lines: list[dict[str, Any]]
) -> None:
    """As a stream: for other calls, gRPC would read a message first."""
    site, context = Site(transport=ELSEWHERE), Context()
    made = getattr(grpc, f"{kind}_rpc_method_handler")(never, bytes.decode, str.encode)
    found = await site.handler(made)
    assert found.request_streaming
    behaviour = found.stream_stream or found.stream_unary
    with pytest.raises(AbortedError, match="needs a token"):
        await behaviour(None, context)
    assert context.events == [grpc.StatusCode.UNAUTHENTICATED]
    assert site.counts() == {"started_total": 1, "Unauthenticated": 1}
    assert [(line["code"], line["reason"]) for line in lines] == [("UNAUTHENTICATED",) * 2]


@pytest.mark.parametrize(
    ("metadata", "draining", "code"),
    [
        ([], True, grpc.StatusCode.UNAVAILABLE),
        ([(CLIENT_KEY, "99.0.0")], False, grpc.StatusCode.FAILED_PRECONDITION),
        ([("x", "1"), (CLIENT_KEY, "no version")], False, grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
async def test_draining_servers_and_unsupported_clients_get_only_the_calls_that_are_always_answered(
    metadata: Metadata, draining: bool, code: grpc.StatusCode
) -> None:
    site, context = Site(draining=draining), Context()
    found = await site.handler(unary(never), UNARY, metadata)
    with pytest.raises(AbortedError):
        await found.stream_unary(None, context)
    assert context.events == [code]
    answered = await site.handler(unary(echo), ALWAYS, metadata)
    assert await answered.stream_unary(None, Context("why")) == "answer to why"


@pytest.mark.parametrize("metadata", [[(CLIENT_KEY, server_version())], [("x", "99.0.0")], []])
async def test_clients_of_supported_versions_and_of_unknown_ones_are_answered(
    metadata: Metadata,
) -> None:
    found = await Site().handler(unary(echo), UNARY, metadata)
    assert await found.stream_unary(None, Context("")) == "answer to "


async def test_unary_calls_of_a_team_are_limited_and_streams_are_not() -> None:
    site = Site(plain_calls=PlainCalls(1))
    for _ in range(3):
        assert (await site.handler(stream(echo), STREAM)).stream_stream is not None
    first = await site.handler(unary(echo))
    assert await first.stream_unary(None, Context("")) == "answer to "
    context = Context()
    beyond = await site.handler(unary(never))
    with pytest.raises(AbortedError, match="maximum_calls"):
        await beyond.stream_unary(None, context)
    assert context.events == [grpc.StatusCode.RESOURCE_EXHAUSTED]


async def test_a_message_that_is_too_large_is_refused_with_the_limit() -> None:
    found = await Site().handler(unary(never))
    context = Context(found.request_deserializer(b"x" * 1_001))
    with pytest.raises(AbortedError, match="maximum_message_bytes is 1000"):
        await found.stream_unary(None, context)
    assert context.events == [grpc.StatusCode.RESOURCE_EXHAUSTED]


async def test_a_call_that_ends_before_its_message_gets_a_status() -> None:
    found, context = await Site().handler(unary(never)), Context()
    with pytest.raises(AbortedError, match="the end of the call"):
        await found.stream_unary(None, context)
    assert context.events == [grpc.StatusCode.INVALID_ARGUMENT]


# --- Streams


async def incoming(*requests: str) -> AsyncIterator[str]:
    for request in requests:
        yield request


async def echo_all(requests: Any, responses: Responses[Any]) -> None:
    async for request in requests:
        await responses.send_buffered(f"answer to {request}")


async def test_all_responses_of_a_stream_are_sent_before_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    closed: list[object] = []

    class Noted(Requests[Any]):
        def close(self) -> None:
            closed.append(self)
            super().close()

    monkeypatch.setattr(guard, "Requests", Noted)
    site, context = Site(), Context()
    found = await site.handler(stream(echo_all), STREAM)
    assert await found.stream_stream(incoming("1", "2"), context) is None
    assert context.events == ["answer to 1", "answer to 2"]
    assert len(closed) == 1
    assert site.counts() == {
        "started_total": 1, "OK": 1, "msg_received_total": 2, "msg_sent_total": 2,
    }  # fmt: skip


async def test_responses_in_transit_arrive_before_a_refusal() -> None:
    async def fail(requests: Any, responses: Responses[Any]) -> None:
        await echo_all(requests, responses)
        raise LimitError("much", "maximum_frames", 1)

    context = Context()
    found = await Site().handler(stream(fail), STREAM)
    with pytest.raises(AbortedError, match="maximum_frames"):
        await found.stream_stream(incoming("1"), context)
    assert context.events == ["answer to 1", grpc.StatusCode.RESOURCE_EXHAUSTED]


# --- Ends


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (grpc.aio.InternalError(BROKEN), "UNAVAILABLE", "CONNECTION_LOST"),
        (ExceptionGroup("", [grpc.aio.InternalError(BROKEN)]), "UNAVAILABLE", "CONNECTION_LOST"),
        (grpc.aio.InternalError("something else"), "INTERNAL", "INTERNAL"),
        (ValueError(BROKEN), "INTERNAL", "INTERNAL"),
        (LimitError("much", "maximum_frames", 1), "RESOURCE_EXHAUSTED", "LIMIT_EXCEEDED"),
    ],
)
async def test_an_error_is_sent_as_its_status(
    error: Exception, code: str, reason: str, lines: list[dict[str, Any]]
) -> None:
    async def fail(_: Any, __: Responses[Any]) -> None:
        raise error

    site, context = Site(), Context("")
    found = await site.handler(unary(fail))
    with pytest.raises(AbortedError):
        await found.stream_unary(None, context)
    assert context.events == [getattr(grpc.StatusCode, code)]
    told = code.title().replace("_", "")
    assert site.counts() == {"started_total": 1, told: 1, "msg_received_total": 1}
    assert [(line["code"], line["reason"]) for line in lines] == [(code, reason)]


async def test_a_call_cancelled_by_its_client_gets_no_status(lines: list[dict[str, Any]]) -> None:
    context = Context("")

    async def fail(_: Any, __: Responses[Any]) -> None:
        context.gone = True
        raise ValueError("whatever")

    site = Site()
    found = await site.handler(unary(fail))
    with pytest.raises(asyncio.CancelledError):
        await found.stream_unary(None, context)
    assert context.events == []
    assert site.counts() == {"started_total": 1, "Canceled": 1, "msg_received_total": 1}
    assert [line["code"] for line in lines] == ["CANCELLED"]
