"""Clients that send submissions through the SDK, one after the other, whatever the server does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from tests.server.domain.sky import detections_of, place

from vidscore_client import (
    Batching,
    CallCancelledError,
    Client,
    DeadlineError,
    Delivery,
    LimitExceededError,
    Retry,
    SubmissionStream,
    UnavailableError,
    VidscoreError,
    connect,
)

Result = TypeVar("Result")

TIMEOUT_S = 600.0
PACE_S = 0.002
COMPETING_FRAMES = 12
"""Frames that the first of two competing programs still sends: more than a batch."""
BATCHING = Batching(batch_frames=4, batch_interval_s=0.01)
RETRY = Retry(initial_s=0.05, maximum_s=0.5, give_up_after_s=TIMEOUT_S)
DELIVERIES = (
    Delivery(window_frames=64, retry=RETRY),
    Delivery(window_frames=64, retry=RETRY, unary=True),
)


PASSING = (UnavailableError, DeadlineError, CallCancelledError)
"""Errors of a call whose server dies, or stops while the call is open."""


@dataclass(frozen=True)
class Position:
    """The known durable position of a stream."""

    submission: str
    stream: str
    acknowledged: int


@dataclass(frozen=True)
class Sent:
    """A submission that was sent and sealed."""

    name: str
    frame_count: int


class Writer(threading.Thread):
    """A team that sends one submission after the other.

    Args:
        address: Where the server listens.
        team: The team, and the first part of its submissions' names.
        secret: Its token.
        stream_count: Streams of a submission; frames go to them in turn.
        sizes: The possible numbers of frames of a submission.
        pace_s: Time between two frames.

    Attributes:
        sent: Submissions that are sealed.
        failure: Its error, if it failed.
        competitions: How often two of its programs wrote to the same streams at once.
    """

    def __init__(
        self,
        address: str,
        team: str,
        secret: str,
        stream_count: int,
        sizes: tuple[int, ...],
        pace_s: float = PACE_S,
    ) -> None:
        """Prepare to send; nothing is sent before ``start``."""
        super().__init__(name=f"writer of {team}", daemon=True)
        self.sent: list[Sent] = []
        self.failure: BaseException | None = None
        self.competitions = 0
        self._address = address
        self._team = team
        self._secret = secret
        self._stream_count = stream_count
        self._sizes = sizes
        self._pace_s = pace_s
        self._chance = Random(team)
        self._enough = threading.Event()
        self._streams: dict[str, SubmissionStream] = {}

    def finish(self) -> None:
        """Send no further frame, and wait until the present submission is sealed."""
        self._enough.set()
        self.join(2 * TIMEOUT_S)
        assert not self.is_alive(), f"{self.name} does not end"
        if self.failure is not None:
            raise self.failure

    def positions(self) -> list[Position]:
        """The known durable positions of the open streams."""
        return [
            Position(stream.submission, name, stream.acknowledged_frames)
            for name, stream in list(self._streams.items())
        ]

    def run(self) -> None:
        """Send until told to stop."""
        try:
            with connect(self._address, token=self._secret) as client:
                while not self._enough.is_set():
                    self._submit(client, self._chance.choice(self._sizes))
        except BaseException as failure:  # noqa: BLE001 - told by `finish`
            self.failure = failure

    def _submit(self, client: Client, frame_count: int) -> None:
        name = f"{self._team}-{len(self.sent)}"
        for row in range(self._stream_count):
            self._open(client, name, row)
        for index in range(frame_count):
            if index and self._enough.is_set():
                frame_count = index
                break
            row = index % self._stream_count
            chance = self._chance.random()
            if chance < 1 / 400:
                self._begin_again(client, name, index)
            elif chance < 2 / 400:
                self._compete(client, name, index, frame_count)
            self._send(row, index)
            time.sleep(self._pace_s)
        *others, last = self._streams.values()
        for stream in others:
            stream.close(TIMEOUT_S)
        last.seal(frame_count, timeout_s=TIMEOUT_S)
        self.sent.append(Sent(last.submission, frame_count))
        self._streams.clear()

    def _open(self, client: Client, name: str, row: int, *, replay: bool = False) -> None:
        self._streams[_stream(row)] = insistently(
            lambda: client.submit(
                "dots",
                name,
                stream=_stream(row),
                replay=replay,
                batching=BATCHING,
                delivery=DELIVERIES[row % len(DELIVERIES)],
            )
        )

    def _begin_again(self, client: Client, name: str, end: int) -> None:
        """Continue like a restarted program: from its first frame, with the same names."""
        for row in range(self._stream_count):
            self._streams[_stream(row)].abort()
            self._open(client, name, row, replay=True)
        for index in range(end):
            self._send(index % self._stream_count, index)

    def _compete(self, client: Client, name: str, end: int, frame_count: int) -> None:
        """A second program begins while the first one continues; from then on the second counts.

        Both send the same data, so each frame is stored once, whichever program sent it.
        """
        older = dict(self._streams)
        for row in range(self._stream_count):
            self._open(client, name, row, replay=True)

        def go_on() -> None:
            with suppress(VidscoreError):  # It learns that another program writes.
                for index in range(end, min(end + COMPETING_FRAMES, frame_count)):
                    _send_to(older[_stream(index % self._stream_count)], index)

        first = threading.Thread(target=go_on, name=f"first {self.name}")
        first.start()
        for index in range(end):
            self._send(index % self._stream_count, index)
        first.join()
        for stream in older.values():
            stream.abort()
        self.competitions += 1

    def _send(self, row: int, index: int) -> None:
        _send_to(self._streams[_stream(row)], index)


def insistently(call: Callable[[], Result]) -> Result:
    """Call until the server answers, and has room."""
    give_up_s = time.monotonic() + TIMEOUT_S
    while True:
        try:
            return call()
        except (*PASSING, LimitExceededError) as error:
            full = error.reason == "STORE_FULL"
            if time.monotonic() > give_up_s or (isinstance(error, LimitExceededError) and not full):
                raise
            time.sleep(0.1)


def _send_to(stream: SubmissionStream, index: int) -> None:
    sequence, number = place(index)
    stream.send(sequence, number, detections_of(index))


def _stream(row: int) -> str:
    return f"part-{row}"
