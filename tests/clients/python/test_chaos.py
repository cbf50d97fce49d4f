"""The SDK and a real server with a bad network between them, against a model.

Whatever happens, nothing acknowledged is lost, nothing counts twice, and the report is that of the
batch, bit for bit.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.clients.python.streaming import Blocking, event_loop
from tests.crash.organiser import TIMEOUT_S, Organiser
from tests.crash.writers import insistently
from tests.server.domain.sky import batch_report, detections_of, place, truth
from tests.support.chaos import ChaosProxy, Direction
from tests.support.sites import serving
from tests.support.varieties import mostly_nightly
from tests.support.waiting import eventually

from vidscore_client import Batching, Delivery, Retry, aio, connect

FRAME_COUNT = 300
BATCHING = Batching(batch_frames=8, batch_interval_s=0.01)
DELIVERY = Delivery(
    window_frames=64,
    acknowledge_timeout_s=2.0,
    retry=Retry(initial_s=0.02, maximum_s=0.2, give_up_after_s=TIMEOUT_S),
)
UNARY = Delivery(window_frames=64, retry=DELIVERY.retry, unary=True)

directions = st.sampled_from(Direction)


class Site:
    """A hosting server in its own process, and its organiser."""

    def __init__(self, address: str, channel: grpc.Channel, secret: str) -> None:
        """Create the benchmark."""
        self.address = address
        self.secret = secret
        self.organiser = Organiser(channel, secret)
        self.organiser.host(truth(FRAME_COUNT))
        self._submissions = 0

    def new_name(self) -> str:
        """Name of a new submission."""
        self._submissions += 1
        return f"run-{self._submissions}"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    store = tmp_path_factory.mktemp("site") / "store.db"
    with (
        # Lives that send nothing leave drafts behind.
        serving(store, "--maximum-team-open-submissions", "100000") as (server, secret),
        grpc.insecure_channel(server.address) as channel,
    ):
        yield Site(server.address, channel, secret)


Opening = Callable[..., contextlib.AbstractContextManager[Callable[..., Any]]]
"""Connects to an address, and returns a function that opens a stream into a submission."""


@contextlib.contextmanager
def with_threads(address: str, secret: str) -> Iterator[Callable[..., Any]]:
    """The synchronous client."""
    with connect(address, token=secret, timeout_s=5.0) as client:
        yield partial(client.submit, "dots")


@contextlib.contextmanager
def with_tasks(address: str, secret: str) -> Iterator[Callable[..., Any]]:
    """The asyncio client, on its own event loop."""

    async def connected() -> aio.AsyncClient:
        return aio.connect(address, token=secret, timeout_s=5.0)

    with event_loop() as run:
        client = run(connected())

        def submit(name: str, **arguments: Any) -> Any:
            stream = client.submit("dots", name, **arguments)
            run(stream.__aenter__())
            return Blocking(stream, run)

        try:
            yield submit
        finally:
            run(client.close())


WRITERS: dict[str, tuple[Opening, Delivery]] = {
    "threads": (with_threads, DELIVERY),
    "threads, unary": (with_threads, UNARY),
    "asyncio": (with_tasks, DELIVERY),
    "asyncio, unary": (with_tasks, UNARY),
}


def send_frames(stream: Any, indices: range) -> None:
    for index in indices:
        sequence, number = place(index)
        stream.send(sequence, number, detections_of(index))


def message_cut(proxy: ChaosProxy) -> None:
    proxy.cut_after(700, Direction.TO_SERVER)


def acknowledgement_cut(proxy: ChaosProxy) -> None:
    proxy.cut_after(20, Direction.TO_CLIENT, reset=True)


def half_closed(proxy: ChaosProxy) -> None:
    proxy.half_close(Direction.TO_CLIENT)


BREAKS = (
    message_cut,
    acknowledgement_cut,
    half_closed,
    ChaosProxy.reset,
    ChaosProxy.close_connections,
)


@pytest.mark.slow
@pytest.mark.parametrize("writer", mostly_nightly(WRITERS))
@pytest.mark.parametrize("break_off", BREAKS)
def test_a_break_in_mid_stream_costs_no_frame(
    site: Site, writer: str, break_off: Callable[[ChaosProxy], None]
) -> None:
    with sending_half(site, writer) as (proxy, stream):
        break_off(proxy)
        send_frames(stream, range(100, 150))
        eventually(lambda: proxy.connections_made >= 2)


@pytest.mark.slow
@pytest.mark.parametrize("writer", mostly_nightly(WRITERS))
def test_delayed_acknowledgements_cost_no_frame(site: Site, writer: str) -> None:
    with sending_half(site, writer) as (proxy, stream):
        proxy.delay(math.inf, Direction.TO_CLIENT)
        send_frames(stream, range(100, 150))
        eventually(lambda: site.organiser.submission(stream.submission).frame_count > 100)
        assert stream.acknowledged_frames == 100


@pytest.mark.slow
@pytest.mark.parametrize("writer", mostly_nightly(WRITERS))
def test_a_slow_connection_costs_no_frame(site: Site, writer: str) -> None:
    with sending_half(site, writer) as (proxy, stream):
        proxy.throttle(20_000.0)
        send_frames(stream, range(100, 150))
        assert stream.flush(TIMEOUT_S) == 150


@contextlib.contextmanager
def sending_half(site: Site, writer: str) -> Iterator[tuple[ChaosProxy, Any]]:
    """Sends a hundred frames before the block, which sends fifty more, and fifty after it."""
    connecting, delivery = WRITERS[writer]
    with ChaosProxy(site.address) as proxy, connecting(proxy.address, site.secret) as submit:
        stream = submit(site.new_name(), batching=BATCHING, delivery=delivery)
        send_frames(stream, range(100))
        stream.flush(TIMEOUT_S)
        yield proxy, stream
        proxy.calm()
        send_frames(stream, range(150, 200))
        stream.seal(200, timeout_s=TIMEOUT_S)
    site.organiser.wait(stream.submission)
    assert site.organiser.report(stream.submission) == batch_report(FRAME_COUNT, range(200))


class Sending(RuleBasedStateMachine):
    """One submission through a network that keeps changing."""

    site: Site

    def __init__(self) -> None:
        super().__init__()
        self.open = contextlib.ExitStack()
        self.sent = 0
        self.acknowledged = 0

    @initialize(writer=st.sampled_from(sorted(WRITERS)))
    def begin(self, writer: str) -> None:
        connecting, self.delivery = WRITERS[writer]
        self.proxy = self.open.enter_context(ChaosProxy(self.site.address))
        self.submit = self.open.enter_context(connecting(self.proxy.address, self.site.secret))
        self.name = self.site.new_name()
        self.open_stream()

    def open_stream(self, *, replay: bool = False) -> None:
        self.stream = insistently(
            lambda: self.submit(self.name, batching=BATCHING, delivery=self.delivery, replay=replay)
        )

    # --- what the program does ---------------------------------------------------------------

    @rule(count=st.integers(1, 40))
    def send(self, count: int) -> None:
        end = min(self.sent + count, FRAME_COUNT)
        send_frames(self.stream, range(self.sent, end))
        self.sent = end

    @rule()
    def flush(self) -> None:
        self.proxy.calm()
        assert self.stream.flush(TIMEOUT_S) == self.sent

    @rule(in_order=st.booleans())
    def die_and_begin_again(self, in_order: bool) -> None:
        """A program that starts again sends everything again."""
        if in_order:
            self.proxy.calm()
            self.stream.close(TIMEOUT_S)
        else:
            self.stream.abort()
            self.proxy.calm()
        self.open_stream(replay=True)
        send_frames(self.stream, range(self.sent))

    # --- what the network does ---------------------------------------------------------------

    @rule(delay_s=st.sampled_from([0.005, 0.05, math.inf]), direction=directions)
    def delay(self, delay_s: float, direction: Direction) -> None:
        self.proxy.delay(delay_s, direction)

    @rule(bytes_per_s=st.sampled_from([1_000.0, 20_000.0]), direction=directions)
    def throttle(self, bytes_per_s: float, direction: Direction) -> None:
        self.proxy.throttle(bytes_per_s, direction)

    @rule(byte_count=st.integers(1, 2_000), direction=directions, reset=st.booleans())
    def cut(self, byte_count: int, direction: Direction, reset: bool) -> None:
        self.proxy.cut_after(byte_count, direction, reset=reset)

    @rule(direction=directions)
    def half_close(self, direction: Direction) -> None:
        self.proxy.half_close(direction)

    @rule(reset=st.booleans())
    def end_connections(self, reset: bool) -> None:
        if reset:
            self.proxy.reset()
        else:
            self.proxy.close_connections()

    @rule()
    def refuse(self) -> None:
        self.proxy.refuse()

    @rule()
    def calm(self) -> None:
        self.proxy.calm()

    # --- what always holds -------------------------------------------------------------------

    @precondition(lambda self: hasattr(self, "stream"))
    @invariant()
    def what_is_acknowledged_is_there(self) -> None:
        acknowledged = self.stream.acknowledged_frames
        assert self.acknowledged <= acknowledged <= self.sent
        found = self.site.organiser.submission(f"benchmarks/dots/submissions/{self.name}")
        assert acknowledged <= found.frame_count <= self.sent
        self.acknowledged = acknowledged

    def teardown(self) -> None:
        """Every life that went well so far ends with the report of the batch."""
        try:
            if sys.exc_info()[0] is None and hasattr(self, "stream") and self.sent:
                self.proxy.calm()
                self.stream.seal(self.sent, timeout_s=TIMEOUT_S)
                self.site.organiser.wait(self.stream.submission)
                found = self.site.organiser.report(self.stream.submission)
                assert found == batch_report(FRAME_COUNT, range(self.sent))
        finally:
            self.open.close()


def sending_to(site: Site) -> type[Sending]:
    """The state machine for one site."""

    class SendingThere(Sending):
        pass

    SendingThere.site = site
    return SendingThere


QUIET = settings(deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
def test_whatever_the_network_does_every_frame_counts_once(site: Site) -> None:
    shape = settings(QUIET, max_examples=5, stateful_step_count=15)
    run_state_machine_as_test(sending_to(site), settings=shape)


@pytest.mark.campaign
def test_the_same_holds_in_long_network_lives(site: Site) -> None:
    lives = int(os.environ.get("CHAOS_LIVES", "40"))
    shape = settings(QUIET, max_examples=lives, stateful_step_count=40)
    run_state_machine_as_test(sending_to(site), settings=shape)
