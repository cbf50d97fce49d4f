"""Streams into submissions for tests: both kinds with the same methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from tests.clients.python.fake_server import WAIT_S
from tests.clients.python.fake_submissions import FakeSubmissions
from tests.clients.python.streaming import BOX, Blocking, event_loop

from vidscore_client import Batching, Retry, SubmissionStream, aio, connect

QUICK = Retry(initial_s=0.01, maximum_s=0.05)
ONE_BY_ONE = Batching(batch_frames=1)
Submitting = Callable[..., AbstractContextManager[SubmissionStream]]


@contextmanager
def submit_with_threads(target: str, **arguments: Any) -> Iterator[SubmissionStream]:
    """The synchronous stream."""
    with (
        connect(target, timeout_s=WAIT_S) as client,
        client.submit("streets", "run", **arguments) as stream,
    ):
        yield stream


@contextmanager
def submit_with_tasks(target: str, **arguments: Any) -> Iterator[Any]:
    """The asyncio stream, on an event loop that the test does not see."""

    async def connected() -> aio.AsyncClient:
        return aio.connect(target, timeout_s=WAIT_S)

    with event_loop() as run:
        client = run(connected())
        try:
            stream = client.submit("streets", "run", **arguments)
            run(stream.__aenter__())
            failure: BaseException | None = None
            try:
                yield Blocking(stream, run)
            except BaseException as error:
                failure = error
                raise
            finally:
                run(stream.__aexit__(type(failure) if failure else None, failure, None))
        finally:
            run(client.close())


def send(stream: SubmissionStream, numbers: range) -> None:
    """Send some frames of one sequence."""
    for number in numbers:
        stream.send("a", number, BOX)


def numbers_of(server: FakeSubmissions) -> list[int]:
    """Numbers of the frames that are stored."""
    return [number for _, number in server.stored]
