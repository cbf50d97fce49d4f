"""Truth as its organisers read it back: a revision in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import annotations_pb2, organiser_pb2
from vidscore_server.api.batches import write_batch
from vidscore_server.api.requests import request_of
from vidscore_server.api.stream import Responses
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.names import benchmark_name, read_benchmark

MAXIMUM_BYTES = 2 << 20
"""Bytes of a response: half of what clients take by default."""

FRAMES_AT_ONCE = 2000
"""Most frames of a response."""


async def send_truth(
    hosting: Hosting,
    request: organiser_pb2.ReadTruthRequest,
    responses: Responses[organiser_pb2.ReadTruthResponse],
) -> None:
    """Answer a call of ReadTruth, which stands in the audit record."""
    name = read_benchmark(request.benchmark, "benchmark")
    faults = [
        Fault(str(getattr(request, field)), "0 or more", field=field)
        for field in ("revision", "offset")
        if getattr(request, field) < 0
    ]
    if faults:
        raise InputError(faults)
    revision, truth = await hosting.truth.read(name, request.revision)
    made = request_of(request, "ReadTruth", hosting.context)
    await hosting.context.write(
        lambda transaction: made.audit(transaction, benchmark_name(name), f"revision {revision}")
    )
    offset = request.offset
    if truth is None or offset >= truth.frame_count:
        end = 0 if truth is None else truth.frame_count
        await responses.send(organiser_pb2.ReadTruthResponse(revision=revision, next_offset=end))
        return
    for start in range(offset, truth.frame_count, FRAMES_AT_ONCE):
        rows = np.arange(start, min(start + FRAMES_AT_ONCE, truth.frame_count))
        for batch in write_frames(truth, rows):
            offset += len(batch.frame_numbers)
            await responses.send(
                organiser_pb2.ReadTruthResponse(revision=revision, truth=batch, next_offset=offset)
            )


def write_frames(
    truth: Annotations, rows: np.typing.NDArray[np.int64]
) -> Iterator[annotations_pb2.AnnotationBatch]:
    """Frames as messages of bounded size; a frame that is larger is one of its own.

    Args:
        truth: The annotations.
        rows: (F,) rows of frames, ascending.
    """
    chosen = np.zeros(truth.frame_count, dtype=np.bool_)
    chosen[rows] = True
    message = write_batch(truth.take_frames(chosen))
    if message.ByteSize() <= MAXIMUM_BYTES or len(rows) < 2:
        yield message
        return
    middle = len(rows) // 2
    for part in (rows[:middle], rows[middle:]):
        yield from write_frames(truth, part)
