"""Calls of several messages over HTTP: lines, events, how they resume and how they end."""

from __future__ import annotations

import asyncio
import io
import json
import socket
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from tests.server.api.http.asking import (
    EVENTS,
    JSON,
    LINES,
    ONE,
    V1,
    Caller,
    api_of,
    append_of,
    as_json,
    caller,
    lines,
    wire,
)
from tests.server.domain.hosted import BENCHMARK, TRUTH, end_of
from tests.server.domain.test_hidden_truth import log_lines as log_lines  # noqa: PLC0414 - a fixture
from tests.server.scene import configuration, points
from tests.server.web.site.browsing import Browsing, browsing
from tests.support.waiting import until

from vidscore_protos.v1.scoring_service_pb2 import ScoreBatchRequest
from vidscore_server.api.http import streams
from vidscore_server.api.message_sizes import method_descriptor
from vidscore_server.domain.access import ROLES_BY_RPC

WATCH = V1 + "SubmissionService/WatchSubmission"
APPEND = V1 + "SubmissionService/AppendFrames"
NEXT = points({4: [(1.0, 2.0)], 5: []})


# --- Events


async def test_a_submission_is_watched_by_events_until_its_end(site: Browsing, red: Caller) -> None:
    await site.hosted.organiser.upload(TRUTH)
    async with wire(red, "GET", f"{WATCH}?name={ONE}", accept=EVENTS) as watch:
        status, headers = await watch.head()
        assert (status, headers["content-type"]) == (200, EVENTS)
        first = await watch.event()
        assert first is not None
        got = await site.hosted.red.get()
        got.ClearField("history")  # Counts calls of GetSubmission alone.
        assert json.loads(first["data"]) == {"submission": as_json(got)}
        await site.hosted.red.append(f"{ONE}/streams/default", 0, TRUTH)
        await site.hosted.red.seal()
        events = [first]
        while (event := await watch.event()) is not None:
            events.append(event)
    *changes, last = events
    assert last == {"event": "end", "data": "{}"}
    assert {event["event"] for event in changes} == {"response"}
    numbers = [int(event["id"]) for event in changes]
    assert numbers == sorted(numbers)
    for event, number in zip(changes, numbers, strict=True):
        assert json.loads(event["data"])["submission"]["revision"] == str(number)
    assert json.loads(changes[-1]["data"])["submission"]["state"] == "SUBMISSION_STATE_SCORED"


async def test_a_broken_watch_resumes_after_its_last_event(site: Browsing, red: Caller) -> None:
    revision = (await site.hosted.red.get()).revision
    own = {"accept": EVENTS, "last_event_id": str(revision)}
    async with wire(red, "GET", f"{WATCH}?name={ONE}&fromRevision=0", **own) as watch:
        await site.hosted.red.cancel()
        await watch.head()
        event = await watch.event()
        assert event is not None
        assert int(event["id"]) > revision
        assert await watch.event() == {"event": "end", "data": "{}"}
    own["last_event_id"] = event["id"]
    page = await red.ask("GET", f"{WATCH}?name={ONE}", **own)
    assert (page.status, page.body) == (204, b"")  # Browsers take this as the end.


async def test_comments_are_sent_during_silence(
    red: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams.Events, "pause_s", 0.01)
    async with wire(red, "GET", f"{WATCH}?name={ONE}&from_revision=99", accept=EVENTS) as watch:
        assert (await watch.head())[0] == 200
        assert await watch.line() == ": nothing new"


async def test_a_watch_ends_with_its_token(site: Browsing, red: Caller) -> None:
    async with wire(red, "GET", f"{WATCH}?name={ONE}", accept=EVENTS) as watch:
        await watch.head()
        await watch.event()
        token = red.secret.split("_")[1]
        organiser = caller(site, site.hosted.organiser)
        await organiser.value("AccessService/RevokeToken", {"name": f"tokens/{token}"})
        event = await watch.event()
        assert event is not None
        assert event["event"] == "failure"
        assert json.loads(event["data"])["code"] == "unauthenticated"
        assert await watch.event() is None


# --- Lines


async def test_each_line_of_frames_is_acknowledged_as_it_arrives(red: Caller) -> None:
    own = {"content_type": LINES, "accept": LINES}
    async with wire(red, "POST", APPEND, **own) as call:
        await call.send(lines(append_of(0)))
        assert (await call.head())[0] == 200
        assert json.loads(await call.line() or "") == {"nextOffset": "3"}
        # A line may arrive in pieces; empty lines are skipped.
        second = b"\n" + lines(append_of(3, NEXT))
        await call.send(second[:20])
        await call.send(second[20:])
        assert json.loads(await call.line() or "") == {"nextOffset": "5"}
        await call.send(b"")
        assert await call.line() is None


async def test_an_invalid_line_ends_the_call_and_is_named(site: Browsing, red: Caller) -> None:
    body = (
        lines(append_of(0)) + b"\n" + lines(append_of(3, NEXT) | {"ofset": 3}, append_of(3, NEXT))
    )
    page = await red.post("SubmissionService/AppendFrames", body, LINES)
    assert page.status == 200
    first, last = map(json.loads, page.text.splitlines())
    assert first == {"nextOffset": "3"}
    assert last["error"]["message"].startswith("line 3.ofset: found an unknown field")
    assert (await site.hosted.red.get()).frame_count == 3


async def test_an_error_before_the_first_answer_sets_the_http_status(red: Caller) -> None:
    page = await red.post("SubmissionService/AppendFrames", lines(append_of(1)), LINES)
    assert (page.status, page.headers["content-type"]) == (400, JSON)
    assert json.loads(page.body)["code"] == "out_of_range"


async def test_a_line_over_the_limit_ends_the_call(tmp_path: Any) -> None:
    async with browsing(tmp_path, maximum_message_bytes=1 << 16) as site:
        red = caller(site, site.hosted.red)
        async with wire(red, "POST", APPEND, content_type=LINES) as call:
            await call.send(b" " * (1 << 16))
            await call.send(b" ")
            assert (await call.head())[0] == 429


async def test_truth_is_uploaded_in_lines(site: Browsing, red: Caller) -> None:
    del red  # The caller created the benchmark.
    organiser = caller(site, site.hosted.organiser)
    body = lines(
        {"header": {"benchmark": BENCHMARK, "complete": True}},
        {"truth": as_json(TRUTH)},
        {"end": as_json(end_of(TRUTH))},
    )
    page = await organiser.post("BenchmarkService/UploadTruth", body, LINES)
    assert (page.status, page.headers["content-type"]) == (200, JSON)
    assert json.loads(page.body)["revision"]["frameCount"] == "5"


async def test_a_single_message_may_be_the_whole_body(red: Caller) -> None:
    page = await red.post("SubmissionService/AppendFrames", append_of(0))
    assert (page.status, page.headers["content-type"]) == (200, LINES)
    assert page.text == '{"nextOffset":"3"}\n'


async def test_no_message_of_a_stream_can_be_mistaken_for_an_error() -> None:
    """An error is a line with the single key `error`."""
    streamed = [
        method.output_type
        for method in map(method_descriptor, ROLES_BY_RPC)
        if method.server_streaming
    ]
    assert len(streamed) > 3
    assert not [kind.full_name for kind in streamed if "error" in kind.fields_by_name]


# --- Clients that go, and clients that do nothing


async def test_a_call_ends_when_its_client_disconnects(site: Browsing, red: Caller) -> None:
    sessions = site.hosted.server.sessions
    async with wire(red, "GET", f"{WATCH}?name={ONE}", accept=EVENTS) as watch:
        await watch.head()
        assert sessions.open_count == 1
    await until(lambda: sessions.open_count == 0)


async def test_a_stream_of_frames_ends_when_its_client_disconnects(
    site: Browsing, red: Caller
) -> None:
    sessions = site.hosted.server.sessions
    async with wire(red, "POST", APPEND, content_type=LINES) as call:
        await call.send(lines(append_of(0)))
        await call.head()
        assert sessions.open_count == 1
    await until(lambda: sessions.open_count == 0)


async def test_a_unary_call_ends_when_its_client_disconnects(site: Browsing, red: Caller) -> None:
    """The call waits for a worker that is paused."""
    hosted_site = site.hosted.server._site
    assert hosted_site is not None
    running = hosted_site._http_calls._guard._plain_calls._open
    site.hosted.workers.gate.clear()
    body = as_json(ScoreBatchRequest(configuration=configuration("spotgeo"), truth=[TRUTH]))
    async with wire(red, "POST", f"{V1}ScoringService/ScoreBatch", content_type=JSON) as call:
        await call.send(json.dumps(body).encode())
        await call.send(b"")
        await until(lambda: bool(site.hosted.workers.jobs))
        assert running == {"red": 1}
    await until(lambda: not running)


@pytest_asyncio.fixture
async def hasty(tmp_path: Any) -> AsyncIterator[Browsing]:
    """A server whose idle timeout is one second."""
    async with browsing(tmp_path, idle_timeout_s=1) as site:
        await site.hosted.organiser.create_benchmark()
        await site.hosted.red.submission("one")
        yield site


@pytest.mark.slow
@pytest.mark.parametrize("kind", [JSON, LINES])
async def test_a_body_that_does_not_arrive_is_bounded_by_the_idle_timeout(
    hasty: Browsing, kind: str
) -> None:
    red = caller(hasty, hasty.hosted.red)
    async with wire(red, "POST", APPEND, content_type=kind) as call:
        await call.send(b"{")
        status, headers = await call.head()
        error = json.loads(await call.reader.readexactly(int(headers["content-length"])))
    assert (status, error["code"]) == (504, "deadline_exceeded")
    assert error["details"][0]["debug"]["reason"] == "STREAM_IDLE"


@pytest.mark.slow
async def test_a_refused_body_is_not_waited_for(hasty: Browsing) -> None:
    nobody = Caller(hasty.nobody.base, "nonsense")
    async with wire(nobody, "POST", APPEND, content_type=LINES) as call:
        status, headers = await call.head()
        assert (status, headers["connection"]) == (401, "close")
        await call.reader.readexactly(int(headers["content-length"]))
        assert await call.reader.read() == b""  # The server closes, whatever is still to be sent.


@pytest.mark.slow
async def test_a_stream_ends_if_its_client_does_not_read_comments(
    hasty: Browsing, log_lines: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first comment is sent while the call waits for the next response."""
    monkeypatch.setattr(streams.Events, "pause_s", 0.01)
    never = asyncio.Event()

    async def receive() -> Any:
        await never.wait()

    async def send(piece: Any) -> None:
        if piece["type"] == "http.response.body":
            await never.wait()

    scope = {
        "type": "http",
        "method": "GET",
        "path": WATCH,
        "query_string": f"name={ONE}&fromRevision=99".encode(),
        "headers": [
            (b"accept", EVENTS.encode()),
            (b"authorization", f"Bearer {hasty.hosted.red.secret}".encode()),
        ],
    }
    async with asyncio.timeout(60):
        await api_of(hasty)(scope, receive, send)
    assert hasty.hosted.server.sessions.open_count == 0
    assert "incident" not in log_lines.getvalue()


@pytest.mark.slow
async def test_a_client_that_reads_nothing_is_disconnected(hasty: Browsing) -> None:
    """The server sends far more answers than the system buffers, and the client reads none."""
    hosted_site = hasty.hosted.server._site
    assert hosted_site is not None
    connections = hosted_site._server._server.server_state.connections
    place = urlsplit(hasty.nobody.base)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.setblocking(False)
        await asyncio.get_running_loop().sock_connect(client, (place.hostname, place.port))
        asked = f"GET /openapi.json HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode()
        await asyncio.get_running_loop().sock_sendall(client, asked * 200)
        await until(lambda: len(connections) == 1)
        await until(lambda: not connections)


async def test_a_draining_server_ends_its_streams_with_the_reason(
    site: Browsing, red: Caller
) -> None:
    async with wire(red, "GET", f"{WATCH}?name={ONE}") as watch:
        await watch.head()
        await watch.line()
        draining = asyncio.create_task(site.hosted.server.sessions.drain(10))
        last = json.loads(await watch.line() or "")
        await draining
    assert last["error"]["code"] == "unavailable"
