"""Valid and invalid requests over HTTP: bodies, tokens, headers, and the rules of Connect."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sysconfig
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.server.api.http.asking import (
    EVENTS,
    JSON,
    LINES,
    ONE,
    PROTO,
    V1,
    Caller,
    answer_of,
    api_of,
    append_of,
    caller,
    wire,
)
from tests.server.web.site.browsing import Browsing, browsing
from tools.docs_pages import ROOT

from vidscore_protos.v1 import server_service_pb2
from vidscore_server.domain.access import ROLES_BY_RPC
from vidscore_server.store.records import Role
from vidscore_server.version import server_version

pytestmark = pytest.mark.asyncio(loop_scope="module")

BATCH = "SubmissionService/AppendBatch"
GET = "SubmissionService/GetSubmission"
WATCH = V1 + "SubmissionService/WatchSubmission"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browsing]:
    """A server whose only submission has no frames and gets none."""
    async with browsing(tmp_path_factory.mktemp("site")) as found:
        await found.hosted.organiser.create_benchmark()
        await found.hosted.red.submission("one")
        yield found


@pytest.fixture
def red(site: Browsing) -> Caller:
    """The team of the submission."""
    return caller(site, site.hosted.red)


@pytest.mark.parametrize(
    ("request_of", "status", "code", "reason"),
    [
        (append_of(2), 400, "out_of_range", "OFFSET_GAP"),
        (append_of(0, epoch=7), 409, "aborted", "EPOCH_STALE"),
        (append_of(0) | {"stream": "x"}, 400, "invalid_argument", "INVALID_INPUT"),
        (append_of(0) | {"stream": f"{ONE}x/streams/default"}, 404, "not_found", "NOT_FOUND"),
    ],
)
async def test_an_error_has_the_same_code_reason_and_details_as_over_grpc(
    red: Caller, request_of: Any, status: int, code: str, reason: str
) -> None:
    page = await red.post(BATCH, request_of)
    error = json.loads(page.body)
    assert (page.status, error["code"]) == (status, code)
    assert error["message"]
    info = error["details"][0]
    assert (info["type"], info["debug"]["reason"]) == ("google.rpc.ErrorInfo", reason)
    assert "=" not in info["value"]


async def test_every_fault_of_a_body_is_named_by_its_path(red: Caller) -> None:
    body = append_of(0) | {"ofset": 1, "epoch": "one"}
    body["detections"] |= {"coordinates": [1, "x", None], "geometry": "ROUND"}
    page = await red.post(BATCH, body)
    assert page.status == 400
    details = json.loads(page.body)["details"]
    [faults] = [entry["debug"] for entry in details if entry["type"].endswith("BadRequest")]
    fields = {fault["field"]: fault["description"] for fault in faults["fieldViolations"]}
    assert set(fields) == {
        "ofset",
        "epoch",
        "detections.coordinates[1]",
        "detections.coordinates[2]",
        "detections.geometry",
    }
    assert fields["ofset"] == "found an unknown field, expected a field of AppendRequest"
    assert fields["detections.geometry"].endswith(
        "GEOMETRY_POINT, GEOMETRY_BOX, GEOMETRY_QUADRILATERAL"
    )


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{\n  "name": x}', "invalid JSON at line 2"),
        (b"", "invalid JSON at line 1"),
        (b"[]", "a list, expected an object"),
        (b'"\xff"', "invalid JSON"),
        (b"[" * 60_000, "invalid JSON"),
        (b'{"name": NaN}', "invalid JSON"),
    ],
)
async def test_invalid_json_is_reported_with_its_line(red: Caller, body: bytes, said: str) -> None:
    page = await red.post(GET, body)
    assert page.status == 400
    assert said in json.loads(page.body)["message"]


# --- Who may call what


@pytest.mark.parametrize(
    ("secret", "status", "code"),
    [
        ("", 401, "unauthenticated"),
        ("nonsense", 401, "unauthenticated"),
        ("viewer", 403, "permission_denied"),
        ("blue", 404, "not_found"),
        ("red", 200, None),
    ],
)
async def test_tokens_and_roles_are_those_of_grpc(
    site: Browsing, red: Caller, secret: str, status: int, code: str | None
) -> None:
    known = {name: getattr(site.hosted, name).secret for name in ("viewer", "blue", "red")}
    page = await Caller(red.base, known.get(secret, secret)).post(GET, {"name": ONE})
    assert (page.status, json.loads(page.body).get("code")) == (status, code)
    assert ("www-authenticate" in page.headers) == (status == 401)


@pytest.mark.parametrize(
    ("caller_of", "role"), [("red", Role.PARTICIPANT), ("viewer", Role.VIEWER), ("", None)]
)
async def test_every_method_is_for_the_roles_of_the_table(
    site: Browsing, caller_of: str, role: Role | None
) -> None:
    """Other callers are refused before their body is read; nobody else is refused."""
    api = api_of(site)
    headers = {"content_type": JSON, "connect_timeout_ms": "2000"}
    if caller_of:
        headers["authorization"] = f"Bearer {getattr(site.hosted, caller_of).secret}"
    refused = 403 if caller_of else 401
    for rpc, roles in ROLES_BY_RPC.items():
        answer = await answer_of(api, "POST", rpc, b'{"nonsense": 1}', **headers)
        if role in roles:
            assert (rpc, answer.status) == (rpc, 400)
            assert b"nonsense: found an unknown field" in answer.body
        else:
            assert (rpc, answer.status) == (rpc, refused)


async def test_a_browser_session_is_not_accepted(site: Browsing, red: Caller) -> None:
    """Neither as a cookie nor as a token: only forms may use one."""
    [session] = (await site.red.signed_in()).cookies.values()
    path, body = V1 + GET, json.dumps({"name": ONE}).encode()
    with_cookie = await site.red.ask("POST", path, body, content_type=JSON)
    assert with_cookie.status == 401
    nobody = Caller(red.base)
    assert (await nobody.post(GET, {"name": ONE}, authorization=f"Session {session}")).status == 401


async def test_a_server_sends_its_version_and_refuses_clients_of_unsupported_versions(
    red: Caller,
) -> None:
    page = await red.post(GET, {"name": ONE})
    assert page.headers["vidscore-server-version"] == server_version()
    page = await red.post(GET, {"name": ONE}, vidscore_client_version="99.0.0")
    assert page.status == 400
    assert "VERSION_UNSUPPORTED" in page.text


async def test_no_header_admits_pages_of_other_sites(red: Caller) -> None:
    page = await red.post(GET, {"name": ONE}, origin="https://elsewhere.example")
    assert page.status == 200
    assert not [name for name in page.headers if name.startswith("access-control-")]
    assert page.headers["cache-control"] == "no-store"


# --- HTTP, and Connect by its published rules


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "told"),
    [
        ("POST", GET, {"content_type": "text/plain"}, 415, {"accept-post": f"{JSON}, {PROTO}"}),
        ("POST", GET, {}, 415, {}),
        (
            "POST",
            GET,
            {"content_type": JSON, "content_encoding": "gzip"},
            415,
            {"accept-encoding": "identity"},
        ),
        ("GET", GET, {}, 405, {"allow": "OPTIONS, POST"}),
        ("HEAD", GET, {}, 405, {"allow": "OPTIONS, POST"}),
        ("PUT", GET, {"content_type": JSON}, 405, {}),
        ("OPTIONS", GET, {}, 204, {"allow": "OPTIONS, POST", "accept-post": f"{JSON}, {PROTO}"}),
        ("OPTIONS", "SubmissionService/WatchSubmission", {}, 204, {"allow": "OPTIONS, GET, POST"}),
        ("POST", "SubmissionService/Nonsense", {"content_type": JSON}, 404, {}),
        ("POST", "Nonsense", {"content_type": JSON}, 404, {}),
    ],
)
async def test_a_request_that_is_not_a_call_gets_an_http_error(
    red: Caller,
    method: str,
    path: str,
    headers: dict[str, str],
    status: int,
    told: dict[str, str],
) -> None:
    page = await red.ask(method, V1 + path, b"{}", **headers)
    assert page.status == status
    assert told.items() <= page.headers.items()
    if status >= 400 and method != "HEAD":
        assert json.loads(page.body)["code"] == "unimplemented"


async def test_a_connect_call_is_answered(red: Caller) -> None:
    own = {"connect_protocol_version": "1", "connect_timeout_ms": "60000"}
    page = await red.post(
        "ServerService/GetServer", b"{}", "application/json; charset=utf-8", **own
    )
    assert (page.status, page.headers["content-type"]) == (200, JSON)
    page = await red.post("ServerService/GetServer", b"\n", PROTO, **own)
    assert page.status == 400
    page = await Caller(red.base, red.secret).ask(
        "POST", f"{V1}ServerService/GetServer", content_type=PROTO, **own
    )
    found = server_service_pb2.GetServerResponse.FromString(page.body)
    assert found.server.version == server_version()


@pytest.mark.parametrize(
    "header", [{"connect_protocol_version": "2"}, {"connect_timeout_ms": "soon"}]
)
async def test_connect_headers_are_checked(red: Caller, header: dict[str, str]) -> None:
    page = await red.post(GET, {"name": ONE}, **header)
    assert (page.status, json.loads(page.body)["code"]) == (400, "invalid_argument")


async def test_a_call_ends_at_the_deadline_of_its_client(red: Caller) -> None:
    """The watch waits for a change that never happens."""
    page = await red.post(
        "SubmissionService/WatchSubmission",
        {"name": ONE, "fromRevision": "99"},
        connect_timeout_ms="50",
    )
    assert (page.status, json.loads(page.body)["code"]) == (504, "deadline_exceeded")


# --- Streams: what their requests and answers may be


@pytest.mark.parametrize(
    ("query", "header", "field"),
    [
        (f"name={ONE}&name={ONE}", {}, "name"),
        (f"name={ONE}&since=3", {}, "since"),
        (f"name={ONE}&fromRevision=soon", {}, "from_revision"),
        (f"name={ONE}", {"last_event_id": "soon"}, "Last-Event-ID"),
        ("&".join("a" for _ in range(200)), {}, ""),
        ("name=nonsense", {}, "name"),
    ],
)
async def test_an_invalid_query_parameter_is_named(
    red: Caller, query: str, header: dict[str, str], field: str
) -> None:
    page = await red.ask("GET", f"{WATCH}?{query}", accept=EVENTS, **header)
    assert (page.status, page.headers["content-type"]) == (400, JSON)
    assert json.loads(page.body)["message"].startswith(field)


async def test_the_accept_header_decides_the_format_of_messages(red: Caller) -> None:
    body = json.dumps({"name": ONE}).encode()
    for accepted, status, kind in (("text/html", 406, JSON), (JSON, 406, JSON)):
        page = await red.ask("POST", WATCH, body, content_type=JSON, accept=accepted)
        assert (page.status, page.headers["content-type"]) == (status, kind)
    for accepted, kind in (("*/*", LINES), (f"{EVENTS};q=0.9, */*", EVENTS), (LINES, LINES)):
        async with wire(red, "GET", f"{WATCH}?name={ONE}", accept=accepted) as watch:
            assert (await watch.head())[1]["content-type"] == kind


async def test_a_third_party_connect_client_is_answered(red: Caller) -> None:
    """`buf curl`, with the protos of the last release."""
    buf = Path(sysconfig.get_path("scripts")) / "buf"
    if not buf.exists():
        pytest.skip("buf is one of the linters, which are not installed here")
    schema = ROOT / "protos/vidscore/baseline.binpb"
    options = ["--protocol", "connect", "--schema", str(schema)]
    token = ["--header", f"authorization: Bearer {red.secret}"]
    for name, status, said in ((ONE, 0, '"state": "SUBMISSION_STATE_OPEN"'), ("x", 24, "INVALID")):
        call = [*options, *token, "--data", json.dumps({"name": name}), f"{red.base}{V1}{GET}"]
        command = [str(buf), "curl", *call]
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        assert said in done.stdout + done.stderr
