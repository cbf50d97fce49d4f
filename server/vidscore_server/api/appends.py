"""A stream of appends: checked, stored and acknowledged in order, with a bounded queue.

    opening --first request--> appending --end of requests--> draining --last ack--> closed

Batches go to the store without waiting for earlier ones: the store commits all waiting batches
together, in order of arrival. The number of batches that a call may have waiting grows with each
acknowledged batch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from enum import StrEnum

from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import batch_size, held_bytes
from vidscore_server.api.stream import Requests, Responses
from vidscore_server.domain.access import Caller
from vidscore_server.domain.appends import AppendTarget
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.live_answers import refuse_live
from vidscore_server.domain.names import read_stream
from vidscore_server.domain.sessions import TakeOver
from vidscore_server.domain.submissions import team_seen, visible
from vidscore_server.runtime import retrieve
from vidscore_server.store import Reader

BATCHES_AT_FIRST = 1
"""Number of batches that a call may have in flight before the first is acknowledged."""


class AppendState(StrEnum):
    """State of a stream of appends."""

    OPENING = "opening"
    APPENDING = "appending"
    DRAINING = "draining"
    CLOSED = "closed"


class Appender:
    """Appends for one call.

    Args:
        hosting: The server's hosted benchmarks.
        caller: The caller.
        take_over: Makes the call the writer of its stream; None if it ends after one batch.

    Attributes:
        state: State of the call.
    """

    def __init__(self, hosting: Hosting, caller: Caller, take_over: TakeOver | None = None) -> None:
        self.state = AppendState.OPENING
        self._hosting = hosting
        self._caller = caller
        self._take_over = take_over
        self._target: AppendTarget | None = None

    async def run(
        self,
        requests: Requests[pb.AppendRequest],
        responses: Responses[pb.AppendResponse],
        until_draining: Callable[[], Awaitable[None]],
    ) -> None:
        """Append until the client or the server ends; requests are acknowledged in order.

        Args:
            requests: Batches.
            responses: Their acknowledgements.
            until_draining: Returns when the server begins to stop, with an error.

        Raises:
            DrainingError: If the server begins to stop; received batches are acknowledged.
        """
        window = Window(self._hosting.context.settings.maximum_unacknowledged_batches)
        waiting: asyncio.Queue[asyncio.Future[int] | None] = asyncio.Queue()
        async with asyncio.TaskGroup() as tasks:
            acknowledging = tasks.create_task(_acknowledge(waiting, window, responses))
            reading = asyncio.create_task(self._read(requests, waiting, window))
            draining = asyncio.ensure_future(until_draining())
            ends = (reading, draining)
            try:
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for end in ends:
                    end.cancel()
            await asyncio.wait(ends)
            await self._drain(waiting, acknowledging)
            failures = [end.exception() for end in ends if not end.cancelled()]
            for failure in filter(None, failures):
                raise failure
        self.state = AppendState.CLOSED

    async def _read(
        self,
        requests: Requests[pb.AppendRequest],
        waiting: asyncio.Queue[asyncio.Future[int] | None],
        window: Window,
    ) -> None:
        await window.enter()
        async for request in requests:
            self.state = AppendState.APPENDING
            waiting.put_nowait(await self._append(request))
            await window.enter()

    async def _drain(
        self, waiting: asyncio.Queue[asyncio.Future[int] | None], acknowledging: asyncio.Task[None]
    ) -> None:
        """Acknowledge everything stored before the end, however the call ends."""
        self.state = AppendState.DRAINING
        waiting.put_nowait(None)
        await acknowledging

    async def append(self, message: pb.AppendRequest) -> int:
        """Append one batch, and return the next offset."""
        return await (await self._append(message))

    async def _append(self, message: pb.AppendRequest) -> asyncio.Future[int]:
        """Queue a batch behind the earlier ones, once there is memory for it."""
        target = self._target
        if target is None or (message.stream, message.epoch) != (target.text, target.epoch):
            target = await self._open(message)
        target.rules = await self._hosting.rules.of(target.stream.benchmark)
        batch = message.detections
        position = message.source_position if message.HasField("source_position") else None
        return await self._hosting.appends.append(
            target, message.offset, batch, batch_size(batch), held_bytes(batch), position
        )

    async def _open(self, message: pb.AppendRequest) -> AppendTarget:
        """Look up the stream, which all batches of a call must name."""
        stream = read_stream(message.stream)
        if self._target is not None:
            expected = (
                f"{self._target.text} under epoch {self._target.epoch}, as in the request before"
            )
            found = f"{stream} under epoch {message.epoch}"
            raise InputError([Fault(found, expected, field="stream")])
        name, caller = stream.of_submission, self._caller

        def look(reader: Reader) -> bool:
            visible(reader, name, caller)
            epochs = {entry.stream: entry.epoch for entry in reader.streams(*name)}
            return epochs.get(stream.stream) == message.epoch

        is_newest = await self._hosting.context.read(look)
        if is_newest and self._take_over is not None:  # an older writer excludes nobody
            self._take_over(stream)
        rules = await self._hosting.rules.of(stream.benchmark)
        refuse_live(rules.definition, stream.benchmark)
        self._target = AppendTarget(message.stream, stream, message.epoch, team_seen(caller), rules)
        return self._target


class Window:
    """Bounds the batches in flight of a call: few at first, then doubling per round trip.

    This is the slow start of TCP (RFC 5681, section 3.1), for the same reason. gRPC accepts calls
    one after the other, so that new calls would wait for half a second beside calls that send their
    maximum at once.

    Args:
        largest: The maximum size.
    """

    def __init__(self, largest: int) -> None:
        self._size = min(BATCHES_AT_FIRST, largest)
        self._largest = largest
        self._places = asyncio.Semaphore(self._size)

    async def enter(self) -> None:
        """Wait for a place for a batch, and take it."""
        await self._places.acquire()

    def leave(self) -> None:
        """Give a place back, and grow, because a batch was acknowledged."""
        self._places.release()
        if self._size < self._largest:
            self._size += 1
            self._places.release()


async def _acknowledge(
    waiting: asyncio.Queue[asyncio.Future[int] | None],
    window: Window,
    responses: Responses[pb.AppendResponse],
) -> None:
    try:
        while (stored := await waiting.get()) is not None:
            await responses.send_buffered(pb.AppendResponse(next_offset=await stored))
            window.leave()
    finally:
        while not waiting.empty():
            rest = waiting.get_nowait()
            if rest is not None:
                rest.add_done_callback(retrieve)
