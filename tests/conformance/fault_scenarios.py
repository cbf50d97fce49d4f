"""Scenarios in which the network or the real server breaks while frames are sent."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.conformance.cases import STREETS
from tests.conformance.comparing import hold
from tests.conformance.site import wait_until
from tests.conformance.stage import Stage, exclusive, nightly, scenario
from tests.support.chaos import ChaosProxy, Direction

LIVELY: dict[str, Any] = {
    "rate_hz": 40,
    "batch_frames": 4,
    "batch_interval_s": 0.02,
    "window_frames": 16,
    "retry_initial_s": 0.05,
    "retry_maximum_s": 0.5,
}
"""A live system, and a client that retries soon."""


@scenario
def cut_in_a_batch(stage: Stage) -> None:
    """A connection that is cut in the middle of a message loses no frame."""
    through_proxy(stage, lambda proxy: proxy.cut_after(60, Direction.TO_SERVER, reset=True))


@nightly
@scenario
def cut_in_an_acknowledgement(stage: Stage) -> None:
    """A connection that is cut before an acknowledgement arrives loses no frame."""
    through_proxy(stage, lambda proxy: proxy.cut_after(5, Direction.TO_CLIENT))


@scenario
def cut_again_and_again(stage: Stage) -> None:
    """Connections of unary calls that are cut one after the other lose no frame."""

    def cut(proxy: ChaosProxy) -> None:
        for _ in range(3):
            wanted = proxy.connections_made + 1
            # Armed in advance: it happens to the next byte, over any connection.
            proxy.cut_after(1, Direction.TO_SERVER, reset=True)
            wait_until(partial(_has_made, proxy, wanted), "a new connection")

    through_proxy(stage, cut, unary=True)


@scenario
def flipped_bit(stage: Stage) -> None:
    """Frames with a bit flipped in transit are noticed, and sent again unchanged."""
    objects = [entry["objects"] for entry in STREETS.document["detections"] if entry["objects"]]
    wanted = [
        struct.pack("<d", first["coordinates"][0]) for first, *_ in objects[:: len(objects) // 5]
    ]
    with ChaosProxy(stage.site.address) as proxy:
        proxy.flip(Direction.TO_SERVER, *wanted)
        options = {**stage.submitting, **LIVELY, "address": proxy.address}
        result = stage.runner.run("submit", **options).result()
        hold(proxy.left_to_flip(Direction.TO_SERVER) < len(wanted), "nothing was flipped")
    stage.check_scored(result)


@exclusive
@scenario
def server_restart(stage: Stage) -> None:
    """A server that is killed and restarted has every acknowledged frame, and gets the rest."""
    sending = stage.runner.start("submit", **stage.submitting, **LIVELY)
    try:
        wait_until(lambda: stage.frame_count() >= 16 or not sending.running, "the first frames")
        hold(sending.running, "it ended before the server was killed")
        stage.site.server.kill()
        stage.site.server.start()
    except BaseException:
        sending.end()
        raise
    stage.check_scored(sending.wait().result())


@exclusive
@scenario
def smaller_batches(stage: Stage) -> None:
    """A restarted server that takes smaller batches than it stated gets smaller ones."""
    environment = stage.site.server.environment
    sending = stage.runner.start("submit", **stage.submitting, **LIVELY)
    try:
        wait_until(lambda: stage.frame_count() >= 16 or not sending.running, "the first frames")
        hold(sending.running, "it ended before the server was killed")
        stage.site.server.kill()
        environment["VIDSCORE_SERVER_MAXIMUM_BATCH_FRAMES"] = "1"
        stage.site.server.start()
        result = sending.wait().result()
    finally:
        sending.end()
        environment.pop("VIDSCORE_SERVER_MAXIMUM_BATCH_FRAMES", None)
        stage.site.server.kill()
        stage.site.server.start()
    stage.check_scored(result)


def _has_made(proxy: ChaosProxy, connections: int) -> bool:
    return proxy.connections_made >= connections


def through_proxy(stage: Stage, fault: Callable[[ChaosProxy], None], **more: Any) -> None:
    """Submit through a proxy that does something once the first frames are durable."""
    with ChaosProxy(stage.site.address) as proxy:
        options = {**stage.submitting, **LIVELY, "address": proxy.address, **more}
        sending = stage.runner.start("submit", **options)
        try:
            wait_until(lambda: stage.frame_count() >= 16 or not sending.running, "the first frames")
            hold(sending.running, "it ended before its connection was cut")
            made = proxy.connections_made
            fault(proxy)
            result = sending.wait().result()
        finally:
            sending.end()
        hold(proxy.connections_made > made, "no connection was made after the cut")
    stage.check_scored(result)
