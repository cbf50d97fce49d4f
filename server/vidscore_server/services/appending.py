"""A stream of appends: checked, stored and acknowledged in order, with a bound on what waits.

    opening --first request--> appending --end of requests--> draining --last ack--> closed

Batches are handed to the store without waiting for those before: the store commits whatever
waits together, in the order in which it came.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum

from vidscore.v1 import submission_service_pb2 as pb
from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.access.caller import Caller
from vidscore_server.access.gate import Gate
from vidscore_server.aside import aside
from vidscore_server.hosting.appends import Append, read_append
from vidscore_server.hosting.benchmarks import required_benchmark
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.hosting import Hosting
from vidscore_server.hosting.names import StreamName, read_stream
from vidscore_server.hosting.submissions import visible
from vidscore_server.services.guard import Requests, Responses
from vidscore_server.store.contract import Reader


class AppendState(StrEnum):
    """Where a stream of appends stands."""

    OPENING = "opening"
    APPENDING = "appending"
    DRAINING = "draining"
    CLOSED = "closed"


class Appender:
    """Appends for one call.

    Args:
        hosting: The server's hosted benchmarks.
        caller: Who calls.
        gate: Asked before each batch whether the caller's token still holds.

    Attributes:
        state: Where the call stands.
    """

    def __init__(self, hosting: Hosting, caller: Caller, gate: Gate) -> None:
        """Open no stream yet."""
        self.state = AppendState.OPENING
        self._hosting = hosting
        self._caller = caller
        self._gate = gate
        self._opened: tuple[StreamName, int] | None = None
        self._definition: Definition | None = None

    async def run(
        self,
        requests: Requests[pb.AppendFramesRequest],
        responses: Responses[pb.AppendFramesResponse],
    ) -> None:
        """Append until the client ends; every request is acknowledged in its turn."""
        window = self._hosting.site.settings.maximum_unacknowledged_batches
        waiting: asyncio.Queue[asyncio.Task[int] | None] = asyncio.Queue(window)
        async with asyncio.TaskGroup() as tasks:
            acknowledging = tasks.create_task(_acknowledge(waiting, responses))
            try:
                async for request in requests:
                    self.state = AppendState.APPENDING
                    append = await self._check(request.append)
                    stored = self._hosting.submissions.append(append, self._caller)
                    await waiting.put(asyncio.ensure_future(stored))
            except Exception:
                await self._drain(waiting, acknowledging)
                raise
            await self._drain(waiting, acknowledging)
        self.state = AppendState.CLOSED

    async def _drain(
        self, waiting: asyncio.Queue[asyncio.Task[int] | None], acknowledging: asyncio.Task[None]
    ) -> None:
        """Acknowledge everything that was stored before the end, whatever the end was."""
        self.state = AppendState.DRAINING
        await waiting.put(None)
        await acknowledging

    async def append(self, message: pb.Append) -> int:
        """Append one batch; gives the next offset."""
        append = await self._check(message)
        return await self._hosting.submissions.append(append, self._caller)

    async def _check(self, message: pb.Append) -> Append:
        """Check a batch, beside the event loop where it is large."""
        await self._gate.refuse_ended(self._caller)
        stream = read_stream(message.stream, "append.stream")
        definition = await self._definition_of(stream, message.epoch)
        detections = message.detections
        return await aside(
            len(detections.frame_numbers) + len(detections.coordinates),
            read_append,
            stream,
            message.epoch,
            message.offset,
            detections,
            (definition, self._hosting.site.settings),
        )

    async def _definition_of(self, stream: StreamName, epoch: int) -> Definition:
        """The benchmark of the stream, which all batches of a call must name."""
        if self._opened is None or self._definition is None:
            self._definition = await self._hosting.site.read(
                lambda reader: self._look_up(reader, stream)
            )
            self._opened = (stream, epoch)
        if self._opened != (stream, epoch):
            expected = f"{self._opened[0]} under epoch {self._opened[1]}, as in the request before"
            found = f"{stream} under epoch {epoch}"
            raise InputError([Fault(found, expected, field="append.stream")])
        return self._definition

    def _look_up(self, reader: Reader, stream: StreamName) -> Definition:
        visible(reader, stream.of_submission, self._caller)
        benchmark = required_benchmark(reader, stream.benchmark)
        return self._hosting.benchmarks.definition(benchmark)


async def _acknowledge(
    waiting: asyncio.Queue[asyncio.Task[int] | None],
    responses: Responses[pb.AppendFramesResponse],
) -> None:
    try:
        while (stored := await waiting.get()) is not None:
            await responses.send(pb.AppendFramesResponse(next_offset=await stored))
    finally:
        while not waiting.empty():
            rest = waiting.get_nowait()
            if rest is not None:
                rest.add_done_callback(_forget)


def _forget(stored: asyncio.Task[int]) -> None:
    """Take note of an outcome that nobody waits for, so that nobody misses it."""
    if not stored.cancelled():
        stored.exception()
