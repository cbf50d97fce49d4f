"""Upload truth to a server, and read it back for organisers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vidscore_client._encoding import benchmark_name, checksum, encode_frames
from vidscore_client._transport import Transport, read_resuming
from vidscore_client._upload import messages_of
from vidscore_client.frames import Frames
from vidscore_client.masks import Masks
from vidscore_client.settings import Batching, Retry
from vidscore_protos.v1 import annotations_pb2, organiser_pb2

READ_TRUTH = "/vidscore.v1.BenchmarkService/ReadTruth"


def truth_requests(
    header: organiser_pb2.UploadTruthHeader, batches: Iterable[Frames], batching: Batching
) -> Iterator[organiser_pb2.UploadTruthRequest]:
    """The requests of an upload of truth.

    Args:
        header: Its header.
        batches: Its frames.
        batching: Limits of a message.
    """
    yield organiser_pb2.UploadTruthRequest(header=header)
    frame_count = 0
    for frames in messages_of("batches", batches, batching):
        frame_count += frames.frame_count
        truth = encode_frames(frames)
        yield organiser_pb2.UploadTruthRequest(truth=truth, truth_crc32=checksum(truth))
    yield organiser_pb2.UploadTruthRequest(
        end=organiser_pb2.UploadTruthEnd(frame_count=frame_count)
    )


async def read_truth(
    transport: Transport, benchmark: str, revision: int, retry: Retry
) -> AsyncGenerator[Frames, None]:
    """Read a revision of the truth, over as many calls as necessary.

    Args:
        transport: The connection.
        benchmark: The benchmark.
        revision: Number of the revision; 0 for the newest.
        retry: What happens after a break.

    Raises:
        VidscoreError: If it cannot be read.
    """
    request = organiser_pb2.ReadTruthRequest(benchmark=benchmark_name(benchmark), revision=revision)
    kind = organiser_pb2.ReadTruthResponse
    async for response in read_resuming(transport, READ_TRUTH, request, kind, retry):
        # Later frames must come from the same revision, whatever is uploaded meanwhile.
        request.revision = response.revision
        if response.truth.frame_numbers:
            yield decode_frames(response.truth)


def decode_frames(batch: annotations_pb2.AnnotationBatch) -> Frames:
    """Frames from a batch."""
    counts = np.array(batch.frame_object_counts, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    size = {1: 2, 2: 4, 3: 8}.get(batch.geometry, 2)

    def column(values: Iterable[float], dtype: type) -> NDArray[Any] | None:
        found: NDArray[Any] = np.array(values, dtype=dtype)
        return found if len(found) else None

    return Frames(
        sequences=[(key.domain, key.sequence) for key in batch.sequences],
        frame_sequences=np.array(batch.frame_sequences, dtype=np.int64),
        frame_numbers=np.array(batch.frame_numbers, dtype=np.int64),
        frame_starts=starts,
        coordinates=np.array(batch.coordinates, dtype=np.float64).reshape(-1, size),
        labels=list(batch.labels if batch.label_indices else batch.labels[:1]),
        label_indices=column(batch.label_indices, np.int64),
        confidences=column(batch.confidences, np.float64),
        track_ids=column(batch.track_ids, np.int64),
        flags=column(batch.object_flags, np.int64),
        frame_flags=column(batch.frame_flags, np.int64),
        columns={entry.name: np.array(entry.values) for entry in batch.columns},
        frame_times_s=column(batch.frame_times_s, np.float64),
        masks=_decode_masks(batch),
    )


def _decode_masks(batch: annotations_pb2.AnnotationBatch) -> Masks | None:
    if not batch.mask_heights:
        return None
    counts = np.array(batch.mask_run_counts, dtype=np.int64)
    return Masks(
        sizes=np.array([batch.mask_heights, batch.mask_widths], dtype=np.int64).T,
        starts=np.concatenate([[0], np.cumsum(counts)]),
        runs=np.array(batch.mask_runs, dtype=np.uint32),
    )
