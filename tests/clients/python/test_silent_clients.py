"""Clients whose connections all went silent return, and continue every stream."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from tests.crash.organiser import TIMEOUT_S, Organiser
from tests.server.domain.sky import detections_of, place, truth
from tests.support.chaos import ChaosProxy
from tests.support.sites import serving

from vidscore_client import Batching, Delivery, Keepalive, Retry, SubmissionStream, connect

pytestmark = pytest.mark.slow

CLIENTS = 20
FRAMES = 60
BEFORE = 20

BATCHING = Batching(batch_frames=4, batch_interval_s=0.01)
DELIVERY = Delivery(
    acknowledge_timeout_s=2.0,
    retry=Retry(initial_s=0.02, maximum_s=0.5, give_up_after_s=TIMEOUT_S),
)


@pytest.fixture(params=[21, 30], ids=["hardly-any-place-more", "half-as-many-places-more"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Address of a server with few places more than there are clients, and its secret."""
    places = str(request.param + request.param // 10)  # A tenth is for organisers only.
    with (
        serving(tmp_path / "store.db", "--maximum-streams", places) as (server, secret),
        grpc.insecure_channel(server.address) as channel,
    ):
        Organiser(channel, secret).host(truth(FRAMES))
        with connect(server.address, token=secret) as organiser:
            participant = organiser.tokens.create("participant", team="falcon").secret
        yield server.address, participant


@pytest.mark.nightly
def test_clients_whose_connections_all_went_silent_deliver_everything(
    site: tuple[str, str],
) -> None:
    """Their dead calls hold almost all places until newer calls of the same streams arrive."""
    address, secret = site
    with ChaosProxy(address) as proxy, ExitStack() as closing:
        streams = []
        for number in range(CLIENTS):
            client = closing.enter_context(
                connect(proxy.address, token=secret, keepalive=Keepalive(10, 5))
            )
            stream = client.submit("dots", f"run-{number}", batching=BATCHING, delivery=DELIVERY)
            streams.append(closing.enter_context(stream))
        for stream in streams:
            _send(stream, range(BEFORE))
            stream.flush(TIMEOUT_S)
        proxy.silence()
        for stream in streams:
            _send(stream, range(BEFORE, FRAMES))
        for stream in streams:
            stream.flush(TIMEOUT_S)
        assert [stream.acknowledged_frames for stream in streams] == [FRAMES] * CLIENTS


def _send(stream: SubmissionStream, indices: range) -> None:
    for index in indices:
        stream.send(*place(index), detections_of(index))
