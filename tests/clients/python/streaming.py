"""Streams for tests: the synchronous and the asyncio one with the same methods."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

import numpy as np
from tests.clients.python.fake_server import WAIT_S, FakeServer, Script, serving
from tests.support.waiting import eventually

from vidscore_client import Frames, ScoreStream, aio, connect

BOX = [[0.0, 0.0, 4.0, 4.0]]


def frames(count: int, sequence: str = "a") -> Frames:
    """`count` frames with one box each."""
    return Frames(
        sequences=(("", sequence),),
        frame_sequences=np.zeros(count, dtype=np.int64),
        frame_numbers=np.arange(count),
        frame_starts=np.arange(count + 1),
        coordinates=np.ones((count, 4)),
    )


def stream_threads() -> set[threading.Thread]:
    """Threads that synchronous streams have started."""
    return {thread for thread in threading.enumerate() if thread.name.startswith("vidscore")}


class Streaming(Protocol):
    """Opens a stream on a scripted server, with the arguments of `score_stream`."""

    def __call__(
        self, script: Script | None = None, *, open_timeout_s: float = WAIT_S, **arguments: Any
    ) -> AbstractContextManager[tuple[FakeServer, ScoreStream]]:
        """Start the server and open the stream."""


@contextmanager
def stream_of_threads(
    script: Script | None = None, *, open_timeout_s: float = WAIT_S, **arguments: Any
) -> Iterator[tuple[FakeServer, ScoreStream]]:
    """The synchronous stream."""
    evaluators = arguments.pop("evaluators", ["fake"])
    with (
        serving(script) as server,
        connect(server.target, timeout_s=open_timeout_s) as client,
        client.score_stream(evaluators, **arguments) as stream,
    ):
        yield server, stream


@contextmanager
def stream_of_tasks(
    script: Script | None = None, *, open_timeout_s: float = WAIT_S, **arguments: Any
) -> Iterator[tuple[FakeServer, Any]]:
    """The asyncio stream, on an event loop that the test does not see."""
    evaluators = arguments.pop("evaluators", ["fake"])
    with serving(script) as server, event_loop() as run:
        client = run(_connected(server.target, open_timeout_s))
        try:
            stream = client.score_stream(evaluators, **arguments)
            run(stream.__aenter__())
            try:
                yield server, Blocking(stream, run)
            finally:
                run(stream.__aexit__(None, None, None))
        finally:
            run(client.close())


async def _connected(target: str, timeout_s: float) -> aio.AsyncClient:
    return aio.connect(target, timeout_s=timeout_s)


Run = Callable[[Coroutine[Any, Any, Any]], Any]


@contextmanager
def event_loop() -> Iterator[Run]:
    """An event loop in its own thread, and a function that runs a coroutine there."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="event-loop")
    thread.start()

    def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(2 * WAIT_S)

    try:
        yield run
    finally:
        try:
            # grpc's own tasks end a moment after their call.
            eventually(lambda: run(_other_tasks()) == [])
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


async def _other_tasks() -> list[str]:
    """Tasks that are left over."""
    return [repr(task) for task in asyncio.all_tasks() - {asyncio.current_task()}]


class Blocking:
    """Any asyncio object, such as a stream, whose coroutines are awaited on their loop."""

    def __init__(self, stream: Any, run: Run) -> None:
        self._stream = stream
        self._run = run

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._stream, name)
        if not asyncio.iscoroutinefunction(attribute):
            return attribute
        return lambda *args, **keywords: self._run(attribute(*args, **keywords))

    def live_reports(self) -> Iterator[Any]:
        reports = self._stream.live_reports()
        while (report := self._run(_next(reports))) is not None:
            yield report


async def _next(reports: Any) -> Any:
    return await anext(reports, None)
