"""The frames of a submission, read back for its own team exactly as sent."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_server.domain.access import Caller
from vidscore_server.domain.batches import unpacked
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.submissions import visible
from vidscore_server.errors import SubmissionEndedError
from vidscore_server.store import Reader
from vidscore_server.store.records import SubmissionState

BATCHES_AT_ONCE = 1000
BYTES_AT_ONCE = 4 << 20
"""Maximum number of batches, and of their bytes, that are read at a time."""


class StoredFrames(Struct, frozen=True, eq=False):
    """Some frames of a stream, as they were appended.

    Attributes:
        stream: Name of the stream.
        frames: The frames, at least one.
        next_offset: Offset in the stream after the last of them.
    """

    stream: str
    frames: Annotations
    next_offset: int


class StoredDetections:
    """Reads the detections of the submissions of a site."""

    def __init__(self, context: Context, benchmarks: Benchmarks) -> None:
        self._context = context
        self._benchmarks = benchmarks

    async def read(
        self, name: SubmissionName, caller: Caller, stream: str = "", offset: int = 0
    ) -> AsyncIterator[StoredFrames]:
        """The frames of a submission in runs of bounded size, with streams sorted by name.

        No state of the store is held between two runs, so that a slow reader costs nothing.

        Args:
            name: The submission.
            caller: The caller.
            stream: Stream to begin with; empty for the first.
            offset: Offset of the first frame of that stream.

        Raises:
            NotFoundError: If the caller knows no such submission.
            SubmissionEndedError: If it was cancelled, and its frames are deleted.
        """
        streams = await self._context.read(lambda reader: self._streams(reader, name, caller))
        for found in streams:
            if found < stream:
                continue
            at = offset if found == stream else 0
            while (run := await self._run(name, caller, found, at)) is not None:
                yield run
                at = run.next_offset

    def _streams(self, reader: Reader, name: SubmissionName, caller: Caller) -> list[str]:
        self._refuse_hidden(reader, name, caller)
        return sorted(entry.stream for entry in reader.streams(*name))

    async def _run(
        self, name: SubmissionName, caller: Caller, stream: str, offset: int
    ) -> StoredFrames | None:
        def read(reader: Reader) -> StoredFrames | None:
            self._refuse_hidden(reader, name, caller)
            return self._read(reader, name, stream, offset)

        return await self._context.read(read)

    def _read(
        self, reader: Reader, name: SubmissionName, stream: str, offset: int
    ) -> StoredFrames | None:
        first = reader.batch_at(*name, stream, offset)
        if first is None:
            return None
        taken: list[bytes] = []
        size = 0
        for data in unpacked(reader.payloads_from(*name, stream, first.first_offset)):
            taken.append(data)
            size += len(data)
            if len(taken) == BATCHES_AT_ONCE or size >= BYTES_AT_ONCE:
                break
        definition = self._benchmarks.definition(required_benchmark(reader, name.benchmark))
        frames = self._context.codec.read_stored_batches(taken, definition.arity(Side.DETECTIONS))
        end = first.first_offset + frames.frame_count
        left_out = offset - first.first_offset
        if left_out:
            frames = frames.take_frames(np.arange(left_out, frames.frame_count))
        return StoredFrames(stream, frames, end)

    def _refuse_hidden(self, reader: Reader, name: SubmissionName, caller: Caller) -> None:
        record = visible(reader, name, caller)
        if record.state is SubmissionState.CANCELLED:
            raise SubmissionEndedError(
                "the submission was cancelled, and its frames are deleted",
                state=record.state.value,
            )
