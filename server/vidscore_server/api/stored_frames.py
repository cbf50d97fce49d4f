"""Stored frames as messages of bounded size: detections, and truth for its organisers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import annotations_pb2, organiser_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import write_batch
from vidscore_server.api.requests import bounded_messages, request_of
from vidscore_server.api.stream import Responses
from vidscore_server.domain.access import current_caller
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.names import benchmark_name, parse_id, read_benchmark, read_submission
from vidscore_server.runtime import offload

FRAMES_AT_ONCE = 2000
"""Most frames of truth that are written at once."""


async def send_detections(
    hosting: Hosting,
    request: pb.ReadDetectionsRequest,
    responses: Responses[pb.ReadDetectionsResponse],
) -> None:
    """Answer a call of ReadDetections."""
    name = read_submission(request.submission, "submission")
    stream = request.stream and parse_id(request.stream, "stream")
    if request.offset < 0:
        raise InputError([Fault(str(request.offset), "0 or more", field="offset")])
    if request.offset and not stream:
        fault = Fault("no stream", "the stream that the offset counts in", field="stream")
        raise InputError([fault])
    runs = hosting.detections.read(name, current_caller(), stream, request.offset)
    async for run in runs:
        offset = run.next_offset - run.frames.frame_count
        for batch in await _written(run.frames):
            offset += len(batch.frame_numbers)
            await responses.send(
                pb.ReadDetectionsResponse(stream=run.stream, detections=batch, next_offset=offset)
            )


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
        for batch in await _written(truth.take_frames(rows)):
            offset += len(batch.frame_numbers)
            await responses.send(
                organiser_pb2.ReadTruthResponse(revision=revision, truth=batch, next_offset=offset)
            )


async def _written(frames: Annotations) -> list[annotations_pb2.AnnotationBatch]:
    """Their messages, made beside the event loop where there are many."""
    return await offload(frames.frame_count + frames.coordinates.size, list, write_pieces(frames))


def write_pieces(frames: Annotations) -> Iterator[annotations_pb2.AnnotationBatch]:
    """Frames as messages of bounded size, at least one; a larger frame is one of its own."""
    return bounded_messages(
        np.arange(frames.frame_count),
        lambda rows: write_batch(frames.take_frames(rows).with_used_tables()),
    )
