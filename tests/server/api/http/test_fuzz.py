"""Requests by the OpenAPI document, valid or not, cause no internal error and show no truth."""

from __future__ import annotations

import asyncio
import json
import struct
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.server.api.http.asking import (
    EVENTS,
    JSON,
    LINES,
    PROTO,
    Answer,
    answer_of,
    api_of,
    as_json,
    lines,
)
from tests.server.api.http.drawing import ANYTHING, Drawing
from tests.server.domain.hosted import BENCHMARK
from tests.server.domain.streets import streets
from tests.server.domain.test_planted_truth import (
    CASES,
    DOMAIN,
    LABEL,
    NUMBERS,
    ONE,
    OPEN,
    PLACES,
    PLANTED,
    SEQUENCE,
    STREAM,
    TWO,
    batch,
)
from tests.server.web.site.browsing import Browsing

from vidscore_evaluators.testing.examples import example_count
from vidscore_server.api.http.openapi import openapi
from vidscore_server.domain.access import ROLES_BY_RPC

EXAMPLES_PER_PATH = example_count(8)
TIMEOUT_MS = "100"
"""Time limit of a call: a watch of something that never changes does not end by itself."""

HANGS_S = 30.0

DOCUMENT = openapi(ROLES_BY_RPC)
OPERATIONS = sorted(
    ((path, method) for path, item in DOCUMENT["paths"].items() for method in item),
    # Last, after all tests that need a token.
    key=lambda operation: operation[0].endswith("/DeleteBenchmark"),
)
NAMES = (BENCHMARK, "dots", ONE, TWO, STREAM, "one", "spotgeo", "evaluators/f1", "operations/x-1")
CALLERS = ("organiser", "red", "blue", "viewer", "")

SECRETS = [
    *(name.encode() for name in (DOMAIN, SEQUENCE, LABEL)),
    *(str(number).encode() for number in NUMBERS),
    *(str(number).encode() for place in PLACES for number in place),
    *(struct.pack("<d", number) for place in PLACES for number in place),
]


@st.composite
def requests(draw: st.DrawFn, path: str, method: str) -> dict[str, Any]:
    """A request for a path: its query, body, headers and caller."""
    wrong = draw(st.sampled_from([0.0, 0.05, 0.3]))
    operation = DOCUMENT["paths"][path][method]
    drawing = Drawing(DOCUMENT, NAMES)
    found: dict[str, Any] = {"caller": draw(st.sampled_from(CALLERS)), "headers": {}}
    found["headers"]["accept"] = draw(st.sampled_from(["*/*", EVENTS, LINES, JSON, "nonsense"]))
    if method == "get":
        chosen = [entry for entry in operation["parameters"] if entry.get("in") == "query"]
        values = {
            entry["name"]: drawing.value(draw, entry["schema"], wrong)
            for entry in chosen
            if draw(st.booleans())
        }
        found["query"] = urlencode(values)
        return found
    content = operation["requestBody"]["content"]
    kind = draw(st.sampled_from(sorted(content)))
    schema = content[kind]["schema"]
    if kind == PROTO:
        found["body"] = draw(st.binary(max_size=20))
    elif kind == LINES:
        count = draw(st.integers(0, 3))
        found["body"] = lines(*(drawing.value(draw, schema, wrong) for _ in range(count)))
    else:
        value = drawing.value(draw, schema, wrong)
        found["body"] = json.dumps(draw(ANYTHING) if draw(st.floats(0, 1)) < wrong else value)
    if wrong and draw(st.floats(0, 1)) < wrong:
        found["body"] = draw(st.binary(max_size=20))
        kind = draw(st.sampled_from([JSON, LINES, PROTO, "text/plain", ""]))
    found["headers"]["content_type"] = kind
    return found


@pytest.fixture
async def planted(site: Browsing) -> Browsing:
    """A server with hidden truth, a scored submission of red's, and one that is open for frames."""
    message = streets()
    message.policy.unlimited_submissions = True
    await site.hosted.organiser.create(message, public=())
    await site.hosted.organiser.upload(OPEN, PLANTED)
    await site.hosted.red.submit(OPEN, "one")
    await site.hosted.red.ended("one")
    stream = await site.hosted.red.submission("two")
    await site.hosted.red.append(
        stream, 0, batch("day", "street", "car", (1,), (1.0, 2.0, 3.0, 4.0))
    )
    return site


@pytest.mark.slow
async def test_no_request_causes_an_internal_error_or_shows_truth(planted: Browsing) -> None:
    loop = asyncio.get_running_loop()
    api = api_of(planted)
    statuses: set[int] = set()

    def fuzz(path: str, method: str) -> None:
        @settings(
            max_examples=EXAMPLES_PER_PATH,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(requests(path, method))
        def ask(drawn: dict[str, Any]) -> None:
            asked = _ask(planted, api, path, method, drawn)
            answer = asyncio.run_coroutine_threadsafe(asked, loop).result(HANGS_S)
            statuses.add(answer.status)
            _check(path, drawn, answer)

        ask()

    for path, method in OPERATIONS:
        await asyncio.to_thread(fuzz, path, method)
    assert {200, 400, 401, 403} <= statuses


async def test_no_probe_of_the_truth_search_finds_any_over_http(planted: Browsing) -> None:
    """The requests of the truth search over gRPC."""
    api = api_of(planted)
    found = 0
    for rpc, case in CASES.items():
        for request in case(rpc):
            body = lines(as_json(request)).decode()
            for caller in ("red", "viewer"):
                drawn = {"caller": caller, "headers": {"content_type": JSON}, "body": body}
                answer = await _ask(planted, api, rpc, "POST", drawn)
                _check(rpc, drawn, answer)
                found += answer.status == 200
    assert found > 20


async def test_the_search_finds_what_an_organiser_may_see(planted: Browsing) -> None:
    rpc = "/vidscore.v1.SubmissionService/ListScores"
    drawn = {"caller": "organiser", "headers": {"content_type": JSON}}
    drawn["body"] = json.dumps({"submission": ONE})
    answer = await _ask(planted, api_of(planted), rpc, "POST", drawn, timeout_ms="60000")
    with pytest.raises(AssertionError, match=DOMAIN):
        _check(rpc, drawn | {"caller": "red"}, answer)


async def _ask(
    planted: Browsing,
    api: Any,
    path: str,
    method: str,
    drawn: dict[str, Any],
    timeout_ms: str = TIMEOUT_MS,
) -> Answer:
    headers = dict(drawn["headers"]) | {"connect_timeout_ms": timeout_ms}
    if drawn["caller"]:
        headers["authorization"] = f"Bearer {getattr(planted.hosted, drawn['caller']).secret}"
    body = drawn.get("body", b"")
    data = body.encode() if isinstance(body, str) else body
    query = f"?{drawn['query']}" if drawn.get("query") else ""
    return await answer_of(api, method.upper(), path + query, data, **headers)


def _check(path: str, drawn: dict[str, Any], answer: Answer) -> None:
    status = answer.status
    assert status < 500 or status in {503, 504}, (path, drawn, answer.body[:300])
    if status >= 400:
        error = json.loads(answer.body)
        assert error["message"], (path, drawn)
        assert "incident" not in answer.body.decode(), (path, drawn)
        if status == 504:
            assert error["code"] == "deadline_exceeded"
    if drawn["caller"] != "organiser":
        for secret in SECRETS:
            assert secret not in answer.body, (path, drawn, secret)
