"""Scenarios without a store: evaluators, health, scores, refusals, deadlines, encryption."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

from tests.conformance.cases import BOXES, CASES, POINTS, STREETS, Document, frame, thing
from tests.conformance.comparing import ascending, close, equal, hold, same_error
from tests.conformance.site import SERVER_NAME
from tests.conformance.stage import BENCHMARK, Stage, nightly, scenario
from tests.support.chaos import ChaosProxy, Direction

from vidscore_client import __version__

SLOW_BYTES_PER_S = 10_000
"""The frames of the larger case take some seconds at this rate."""


@scenario
def version(stage: Stage) -> None:
    """The runner states its language, and the version is that of all clients."""
    expected = {"language": stage.runner.language, "client_version": __version__}
    equal(stage.runner.run("version").result(), expected, "version")


@scenario
def evaluators(stage: Stage) -> None:
    """Every evaluator of the server is listed with its measures."""
    options = stage.anyone
    expected = stage.reference.run("evaluators", **options).result()
    equal(stage.runner.run("evaluators", **options).result(), expected, "evaluators")


@scenario
def health(stage: Stage) -> None:
    """A serving server is reported as serving."""
    found = stage.runner.run("health", **stage.anyone).result()
    equal(found, {"status": "SERVING"}, "health")


@scenario
def score(stage: Stage) -> None:
    """Reports equal the golden ones, and the Python client's bit for bit."""
    for case in CASES:
        options = {**stage.anyone, "frames": case.frames_file}
        found = stage.runner.run("score", **options).result()
        close(found["reports"], case.golden_reports(), f"{case.name}.reports")
        equal(found, stage.reference.run("score", **options).result(), case.name)


@nightly
@scenario
def score_frame_by_frame(stage: Stage) -> None:
    """One message per frame gives the same report."""
    options = {**stage.anyone, "frames": BOXES.frames_file}
    found = stage.runner.run("score", **options, batch_frames=1).result()
    equal(found, stage.reference.run("score", **options).result(), "score")


@scenario
def live_reports(stage: Stage) -> None:
    """Live reports cover more and more frames, and do not change the final report."""
    options = {**stage.anyone, "frames": STREETS.frames_file}
    with ChaosProxy(stage.site.address) as proxy:
        # A client that sends everything at once only gets the final report.
        proxy.throttle(SLOW_BYTES_PER_S, Direction.TO_SERVER)
        lively = {**options, "address": proxy.address, "batch_frames": 5, "live_every_frames": 10}
        found = stage.runner.run("score", **lively).result()
    equal(found["reports"], stage.reference.run("score", **options).result()["reports"], "reports")
    hold(found["live"], "no live report came")
    ascending([live["paired_frames"] for live in found["live"]], "paired frames")
    for live in found["live"]:
        # All truth is sent before the first detection.
        known = live["paired_frames"] + live["frames_waiting_for_detections"]
        equal(known, len(STREETS.document["truth"]), "frames of the truth")
        equal(live["frames_waiting_for_truth"], 0, "frames waiting for truth")


@scenario
def refused(stage: Stage) -> None:
    """A refusal has reason, violations and their number, as in Python."""
    for name, (kind, document) in _refused_documents().items():
        frames = stage.reference.write_frames(name, document)
        options = {**stage.anyone, "frames": frames}
        expected = stage.reference.run("score", **options).refusal(kind)
        same_error(stage.runner.run("score", **options).refusal(kind), expected)


@scenario
def wrong_shape(stage: Stage) -> None:
    """Coordinates of another shape than the stream's are refused before they are sent."""
    document = deepcopy(BOXES.document)
    document["detections"][0]["objects"][0]["coordinates"] = [1.0, 2.0, 3.0]
    options = {
        **stage.anyone,
        "frames": stage.reference.write_frames("odd", document),
    }
    error = stage.runner.run("score", **options).refusal("input")["error"]
    equal([error["code"], error["reason"]], ["", "INVALID_INPUT"], "code and reason")


@scenario
def unavailable(stage: Stage) -> None:
    """An unreachable server is reported as such, and as retriable."""
    with ChaosProxy(stage.site.address) as proxy:
        proxy.refuse()
        error = stage.runner.run("evaluators", address=proxy.address).refusal("unavailable")
    equal(error["error"]["code"], "UNAVAILABLE", "code")
    equal(error["error"]["retryable"], True, "retryable")


@scenario
def deadline(stage: Stage) -> None:
    """A call, a stream, and its opening end in time if the server does not answer."""
    with ChaosProxy(stage.site.address) as proxy:
        proxy.delay(math.inf)
        options = {"address": proxy.address, "timeout_s": 1}
        found = [
            stage.runner.run("health", **options),
            stage.runner.run("score", **options, frames=POINTS.frames_file, deadline_s=1),
            stage.runner.run("score", **options, frames=POINTS.frames_file),
        ]
    for outcome in found:
        equal(outcome.refusal("deadline")["error"]["code"], "DEADLINE_EXCEEDED", "code")
    message = found[0].refusal("deadline")["error"]["message"]
    equal(message, "the call has exceeded its timeout", "message")


@scenario
def cancel_stream(stage: Stage) -> None:
    """A cancelled stream returns to its caller, and the server continues."""
    options = {**stage.anyone, "frames": STREETS.frames_file}
    found = stage.runner.run("score", **options, cancel_after_frames=150).result()
    equal(found, {"cancelled": True}, "cancelled")


@scenario
def tls_and_token(stage: Stage) -> None:
    """Encryption trusts only the named authority, and every call has the token."""
    encrypted = stage.encrypted
    at_site = {"address": encrypted.address, "server_name": SERVER_NAME, "timeout_s": 60}
    trusting = {**at_site, "ca": encrypted.authority.roots}
    equal(stage.runner.run("health", **trusting).result(), {"status": "SERVING"}, "health")
    asking: dict[str, Any] = {**trusting, "submission": "none/at-all"}
    stage.runner.run("get", **asking).refusal("access_denied")
    stage.runner.run("get", **asking, token=encrypted.token).refusal("not_found")
    stage.runner.run("health", **at_site, ca=encrypted.stranger.roots).refusal("unavailable")


@scenario
def token_of_a_line(stage: Stage) -> None:
    """A token with the line break of its file is refused with advice, and not shown."""
    asking = {**stage.at_site, "token": "abcdef\n", "submission": f"{BENCHMARK}/reference"}
    message = stage.runner.run("get", **asking).refusal("input")["error"]["message"]
    hold("or line breaks" in message, f"no advice: {message}")
    hold("abcdef" not in message, "the token is shown")


@scenario
def wrong_token(stage: Stage) -> None:
    """An unknown token, or none, is refused as in Python."""
    for token in ("vidscore-nonsense", None):
        options = {
            **stage.at_site,
            "token": token,
            "submission": f"{BENCHMARK}/reference",
        }
        expected = stage.reference.run("get", **options).refusal("access_denied")
        same_error(stage.runner.run("get", **options).refusal("access_denied"), expected)


TOO_FAR_PX = 2e9
"""A coordinate that no server accepts."""


def _refused_documents() -> dict[str, tuple[str, Document]]:
    """Frames and configurations that break the rules, each in one message."""
    several = deepcopy(POINTS.document)
    several["configuration"]["evaluators"][0]["parameters"] = {"profile": "nobody's", "tau": -1.5}
    unknown = deepcopy(POINTS.document)
    unknown["configuration"]["evaluators"] = [{"name": "no-such-evaluator", "parameters": {}}]
    field = deepcopy(POINTS.document)
    field["detections"] = [frame("1", 1, thing(1.0, 2.0), thing(3.0, TOO_FAR_PX))]
    many = deepcopy(POINTS.document)
    objects = [thing(float(n), TOO_FAR_PX) for n in range(25)]
    many["detections"] = [frame("1", 1, *objects)]
    return {
        "several": ("invalid_argument", several),
        "unknown": ("not_found", unknown),
        "field": ("invalid_argument", field),
        "many": ("invalid_argument", many),
    }
