"""A real hosting server, and callers of both kinds of clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.clients.python.fake_server import WAIT_S
from tests.clients.python.streaming import Blocking, event_loop

from vidscore_client import Client, Frames, SubmissionState, aio, connect

SKY = {
    "title": "Night sky",
    "evaluators": [{"name": "spotgeo", "parameters": {"tau": 5.0}}],
    "truth_geometry": "point",
    "detection_geometry": "point",
    "policy": {"visibility": "final", "ladder_step": 0.01},
}


@dataclass
class Site:
    """A server that hosts benchmarks, and its first organiser's token."""

    target: str
    secret: str


Connecting = Callable[[str], AbstractContextManager[Client]]


@contextmanager
def with_threads(target: str, secret: str) -> Iterator[Client]:
    """The synchronous client."""
    with connect(target, token=secret, timeout_s=WAIT_S) as client:
        yield client


class BlockingClient:
    """An asyncio client whose coroutines are awaited on their loop."""

    def __init__(self, client: aio.AsyncClient, run: Any) -> None:
        self._client = client
        self._run = run

    def __getattr__(self, name: str) -> Any:
        return getattr(Blocking(self._client, self._run), name)

    @property
    def benchmarks(self) -> Any:
        return BlockingBenchmarks(self._client.benchmarks, self._run)

    @property
    def trust(self) -> Any:
        return BlockingBenchmarks(self._client.trust, self._run)

    @property
    def submissions(self) -> Any:
        return Blocking(self._client.submissions, self._run)

    @property
    def tokens(self) -> Any:
        return Blocking(self._client.tokens, self._run)

    @property
    def invitations(self) -> Any:
        return Blocking(self._client.invitations, self._run)


class BlockingBenchmarks:
    """Benchmarks, or trust, of an asyncio client, whose operations are blocking too."""

    def __init__(self, benchmarks: aio.AsyncBenchmarks | aio.AsyncTrust, run: Any) -> None:
        self._benchmarks = benchmarks
        self._run = run

    def __getattr__(self, name: str) -> Any:
        method = getattr(Blocking(self._benchmarks, self._run), name)

        def call(*arguments: Any, **keywords: Any) -> Any:
            result = method(*arguments, **keywords)
            long_work = isinstance(result, aio.AsyncRescoring | aio.AsyncTrustAnalysis)
            return Blocking(result, self._run) if long_work else result

        return call


@contextmanager
def with_tasks(target: str, secret: str) -> Iterator[Any]:
    """The asyncio client, on an event loop that the test does not see."""

    async def connected() -> aio.AsyncClient:
        return aio.connect(target, token=secret, timeout_s=WAIT_S)

    with event_loop() as run:
        client = run(connected())
        try:
            yield BlockingClient(client, run)
        finally:
            run(client.close())


def points(*sequences: str, shift_px: float = 0.0) -> Frames:
    """Five frames of each sequence with one point each."""
    count = 5 * len(sequences)
    return Frames(
        sequences=[("", sequence) for sequence in sequences],
        frame_sequences=np.repeat(np.arange(len(sequences)), 5),
        frame_numbers=np.tile(np.arange(1, 6), len(sequences)),
        frame_starts=np.arange(count + 1),
        coordinates=np.tile([100.0 + shift_px, 100.0], (count, 1)),
    )


def submit(site: Site, organiser: Client, benchmark: str, *sent: Frames, team: str = "red") -> str:
    """Submit as a team and wait for the score; returns the submission's full name."""
    secret = organiser.tokens.create("participant", team=team).secret
    with connect(site.target, token=secret) as client, client.submit(benchmark) as stream:
        for frames in sent:
            stream.send_batch(frames)
        stream.seal(sum(frames.frame_count for frames in sent))
        assert stream.wait(WAIT_S).state is SubmissionState.SCORED
        return stream.submission


def begin(site: Site, organiser: Client, submission: str, frames: Frames) -> None:
    """Begin a submission of the team red, which stays open."""
    secret = organiser.tokens.create("participant", team="red").secret
    benchmark, name = submission.split("/")
    with connect(site.target, token=secret) as client, client.submit(benchmark, name) as stream:
        stream.send_batch(frames)
        stream.flush()
