"""Stored detections as messages, in batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import annotations_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import write_batch
from vidscore_server.api.stream import Responses
from vidscore_server.domain.access import current_caller
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.names import parse_id, read_submission
from vidscore_server.runtime import offload

MAXIMUM_BYTES = 2 << 20
"""Bytes of a response: half of what clients take by default."""


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
        size = run.frames.frame_count + run.frames.coordinates.size
        for batch in await offload(size, list, write_pieces(run.frames)):
            offset += len(batch.frame_numbers)
            await responses.send(
                pb.ReadDetectionsResponse(stream=run.stream, detections=batch, next_offset=offset)
            )


def write_pieces(frames: Annotations) -> Iterator[annotations_pb2.AnnotationBatch]:
    """Frames as messages of bounded size, at least one; a larger frame is one of its own."""
    message = write_batch(frames.with_used_tables())
    count = frames.frame_count
    if message.ByteSize() <= MAXIMUM_BYTES or count < 2:
        yield message
        return
    for rows in (np.arange(count // 2), np.arange(count // 2, count)):
        yield from write_pieces(frames.take_frames(rows))
