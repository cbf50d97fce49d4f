"""Connections: silent, cut, certified, closed. The rules are in `docs/transport-rules.md`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

import grpc
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.clients.python.fake_server import abort, serving
from tests.clients.python.fake_submissions import Fault, taking_submissions
from tests.conformance.cases import STREETS, Document
from tests.conformance.comparing import equal, hold
from tests.conformance.fault_scenarios import through_proxy
from tests.conformance.runners import Started
from tests.conformance.scripted_scenarios import FRAMES, check_sent, sending
from tests.conformance.site import SERVER_NAME, wait_until
from tests.conformance.stage import Stage, nightly, scenario
from tests.support.chaos import ChaosProxy, Direction

SILENT_AFTER_BYTES = 4_000
"""More than a scoring stream's configuration, and less than its frames."""

NEVER_AGAIN_HZ = 0.001
"""A live system whose second frame comes after the end of the test."""

LINGER_S = 600

MOST_CONNECTIONS_PER_S = 20

REFUSALS = 6


class _HttpOnly(BaseHTTPRequestHandler):
    """Refuses HTTP/2, and says so to nobody else."""

    def log_message(self, format: str, *_: Any) -> None:  # noqa: A002 - the name of the base class
        """Write nothing."""


@scenario
def silent_connection(stage: Stage) -> None:
    """A submission whose connection goes silent continues over a new one."""
    through_proxy(stage, lambda proxy: proxy.silence(), acknowledge_timeout_s=5, **stage.keepalive)


@nightly
@scenario
def silent_score(stage: Stage) -> None:
    """A scoring stream whose connection goes silent ends with an error about the lost server."""
    options = {**stage.anyone, "frames": STREETS.frames_file, "batch_frames": 5}
    with ChaosProxy(stage.site.address) as proxy:
        proxy.silence_after(SILENT_AFTER_BYTES, Direction.TO_SERVER)
        options["address"] = proxy.address
        _unavailable(stage.runner.run("score", **options, **stage.keepalive).refusal("unavailable"))


@scenario
def cut_unary(stage: Stage) -> None:
    """A connection closed or reset before or during a call gives UNAVAILABLE."""
    for reset in (False, True):
        with ChaosProxy(stage.site.address) as proxy:
            proxy.hang_up(reset=reset)
            asking = {**stage.anyone, "address": proxy.address}
            _unavailable(stage.runner.run("evaluators", **asking).refusal("unavailable"))
    for cut in (ChaosProxy.reset, ChaosProxy.close_connections):
        cutting = _CuttingHealth()
        with serving(health=cutting) as server, ChaosProxy(server.target) as proxy:
            cutting.cut = partial(cut, proxy)
            asking = {"address": proxy.address, "timeout_s": 60}
            _unavailable(stage.runner.run("health", **asking).refusal("unavailable"))


@scenario
def stopping_server(stage: Stage) -> None:
    """A call that reaches a stopping server gives UNAVAILABLE, although gRPC reports CANCELLED."""
    with serving(health=_StoppingHealth()) as server:
        asking = {"address": server.target, "timeout_s": 60}
        _unavailable(stage.runner.run("health", **asking).refusal("unavailable"))


@scenario
def wrong_host_name(stage: Stage) -> None:
    """A certificate of the right authority for another name is not trusted."""
    encrypted = stage.encrypted
    asking = {"address": encrypted.address, "ca": encrypted.authority.roots, "timeout_s": 60}
    stage.runner.run("health", **asking, server_name=SERVER_NAME).result()
    for name in ("other.test", None):
        _unavailable(stage.runner.run("health", **asking, server_name=name).refusal("unavailable"))


@scenario
def other_protocol(stage: Stage) -> None:
    """A server that speaks only HTTP/1.1, as a site does, is unavailable."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _HttpOnly) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        asking = {"address": f"127.0.0.1:{server.server_port}", "timeout_s": 60}
        _unavailable(stage.runner.run("health", **asking).refusal("unavailable"))
        server.shutdown()


@scenario
def address_without_brackets(stage: Stage) -> None:
    """An IPv6 address needs brackets, or nobody could say where its port begins."""
    error = stage.runner.run("health", address="::1:50051").refusal("input")["error"]
    hold("::1:50051" in error["message"], f"not as it was given: {error['message']}")


@scenario
def client_certificate(stage: Stage) -> None:
    """A server that requires a certificate gets it; invalid files are refused at once."""
    authority = stage.encrypted.authority
    pair = (authority.read("server.key"), authority.read("server.pem"))
    wanting = grpc.ssl_server_credentials([pair], authority.read("ca.pem"), True)
    with serving(evaluators=["a"], credentials=wanting) as server:
        asking = {"address": server.target, "server_name": SERVER_NAME, "timeout_s": 60}
        asking["ca"] = authority.roots
        _unavailable(stage.runner.run("evaluators", **asking).refusal("unavailable"))
        shown: dict[str, Any] = {
            **asking,
            "certificate": authority.folder / "client.pem",
            "key": authority.folder / "client.key",
        }
        equal(_names(stage.runner.run("evaluators", **shown).result()), ["a"], "evaluators")
        for option in ("ca", "certificate", "key"):
            for wrong in (authority.folder / "nowhere.pem", STREETS.frames_file):
                stage.runner.run("evaluators", **{**shown, option: wrong}).refusal("input")
        shown["key"] = authority.folder / "server.key"
        stage.runner.run("evaluators", **shown).refusal("input")


@scenario
def lone_frame(stage: Stage) -> None:
    """A frame is durable without a flush, and without a second frame."""
    alone = stage.runner.start("submit", **stage.submitting, rate_hz=NEVER_AGAIN_HZ)
    try:
        wait_until(lambda: stage.frame_count() == 1 or not alone.running, "the frame")
        hold(alone.running, "it ended with its first frame")
    finally:
        alone.end()


@nightly
@scenario
def back_off(stage: Stage) -> None:
    """Retries are no faster than the settings say, nor than the server asks."""
    _check_waits(stage, refusal=_busy(None), least_s=0.2, retry_initial_s=0.4, retry_maximum_s=0.4)
    _check_waits(stage, refusal=_busy(1.0), least_s=1.0)
    with taking_submissions() as fake, ChaosProxy(fake.target) as proxy:
        pace = {"retry_initial_s": 0.2, "retry_maximum_s": 0.4, "give_up_after_s": 3}
        live = sending(stage, fake, address=proxy.address, rate_hz=50, **pace)
        try:
            wait_until(lambda: fake.stored or not live.running, "the first frames")
            proxy.hang_up(reset=True)
            made, began_s = proxy.connections_made, time.monotonic()
            proxy.reset()
            _unavailable(live.wait().refusal("unavailable"))
        finally:
            live.end()
        tries, took_s = proxy.connections_made - made, time.monotonic() - began_s
    hold(tries <= MOST_CONNECTIONS_PER_S * (1 + took_s), f"{tries} connections in {took_s:.1f} s")


@scenario
def two_pages(stage: Stage) -> None:
    """Lists and boards are read to their last page."""
    with serving(evaluators=["a", "b", "c"]) as server:
        asking = {"address": server.target, "timeout_s": 60}
        found = stage.runner.run("evaluators", **asking).result()
    equal(_names(found), ["a", "b", "c"], "evaluators")
    with taking_submissions() as fake:
        asking = {"address": fake.target, "timeout_s": 60, "benchmark": "streets"}
        rows = stage.runner.run("leaderboard", **asking).result()["rows"]
    equal([row["team"] for row in rows], ["falcon", "owl"], "teams")


@scenario
def close(stage: Stage) -> None:
    """Closing a stream delivers or reports the rest; closing a client ends its connection."""
    closing = {**stage.submitting, "close": True}
    equal(stage.runner.run("submit", **closing).result(), {"undelivered_frames": 0}, "close")
    equal(stage.frame_count(), len(FRAMES), "durable frames")
    with taking_submissions() as fake:
        fake.go_on.clear()
        hurried = sending(stage, fake, no_seal=False, close=True, close_timeout_s=0.5)
        error = hurried.wait().refusal("deadline")["error"]
        fake.go_on.set()
    message = f"{len(FRAMES)} frames dropped: not durable within"
    hold(error["message"].startswith(message), f"it said: {error['message']}")
    with ChaosProxy(stage.site.address) as proxy:
        asking = {**stage.anyone, "address": proxy.address, "linger_s": LINGER_S}
        _check_disconnects(proxy, stage.runner.start("health", **asking))


class _CuttingHealth(health_pb2_grpc.HealthServicer):
    """Cuts the connection of its caller."""

    cut: Callable[[], None]

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's name
        del request
        ended = threading.Event()
        context.add_callback(ended.set)
        self.cut()
        ended.wait()  # An answer could still be faster than the cut.
        return health_pb2.HealthCheckResponse()


class _StoppingHealth(health_pb2_grpc.HealthServicer):
    """Ends calls like gRPC's server ends those that it has not begun when it stops."""

    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's name
        del request
        context.abort(grpc.StatusCode.CANCELLED, "CANCELLED")


def _check_waits(
    stage: Stage, *, refusal: Callable[[grpc.ServicerContext], None], least_s: float, **pace: float
) -> None:
    """Refuse several attempts; after the first one there must be a minimum wait between two."""
    came_s: list[float] = []

    def note(_append: Any, context: grpc.ServicerContext) -> None:
        came_s.append(time.monotonic())
        refusal(context)

    refusing: list[Fault | None] = [note] * REFUSALS
    with taking_submissions() as fake:
        fake.faults.before = refusing
        check_sent(fake, sending(stage, fake, **pace).wait().result())
    waits_s = [after - before for before, after in pairwise(came_s)]
    hold(min(waits_s[1:]) >= least_s, f"waits of {waits_s} s, not {least_s:g} s and more")


def _busy(retry_delay_s: float | None) -> Callable[[grpc.ServicerContext], None]:
    """Ends a call like a server that is busy."""
    details = []
    if retry_delay_s is not None:
        delay = error_details_pb2.RetryInfo()
        delay.retry_delay.FromNanoseconds(round(retry_delay_s * 1e9))
        details.append(delay)
    return lambda context: abort(context, grpc.StatusCode.UNAVAILABLE, "busy", details)


def _check_disconnects(proxy: ChaosProxy, lingering: Started) -> None:
    def is_over() -> bool:
        return proxy.connections_made > 0 and proxy.connections_open == 0

    try:
        wait_until(lambda: is_over() or not lingering.running, "the end of the connection")
        hold(lingering.running, "the process did not linger, and so closed everything")
    finally:
        lingering.end()


def _unavailable(document: Document) -> None:
    equal(document["error"]["code"], "UNAVAILABLE", "code")
    equal(document["error"]["retryable"], True, "retryable")


def _names(found: Document) -> list[str]:
    return [entry["name"] for entry in found["evaluators"]]
