"""Peak memory of a hosting server: with a client that does not wait, and with a large upload."""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import numpy as np

from bench.case import Case, Size
from bench.measuring import Sample
from bench.rows import Row, at_most
from bench.servers.process import BENCHMARK, Host, hosting_server
from vidscore_protos.v1 import annotations_pb2
from vidscore_protos.v1 import submission_service_pb2 as messages
from vidscore_protos.v1 import submission_service_pb2_grpc as services

POINT_BYTES = 16
BATCH_BYTES = 13 * 2**20
BATCHES = 40
FEWEST_BATCHES = 8
POINTS_PER_FRAME = 1_000

UPLOAD_BYTES = 10**9
UPLOAD_BATCH_BYTES = 2 * 10**6
UPLOAD_POINTS_PER_FRAME = 200
UPLOAD_BATCHES_PER_SEQUENCE = 5

LIMIT_BYTES = 640 * 2**20
LOOK_INTERVAL_S = 0.05

ENDED = (messages.SUBMISSION_STATE_SCORED, messages.SUBMISSION_STATE_FAILED)

Metadata = tuple[tuple[str, str], ...]


@contextmanager
def _peak_of(host: Host) -> Iterator[list[float]]:
    """Sample the memory of a server and its workers; afterwards the list ends with the maximum."""
    found: list[float] = [host.served.memory_bytes()]
    ending = threading.Event()

    def look() -> None:
        while not ending.wait(LOOK_INTERVAL_S):
            found.append(host.served.memory_bytes())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield found
    finally:
        ending.set()
        looking.join()
        found.sort()


def _batch(sequence: str, first: int, frames: int, points: int) -> annotations_pb2.AnnotationBatch:
    """Frames of random points; every batch of the same size has the same points."""
    places = np.random.default_rng(11).uniform(0, 600, 2 * points * frames)
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence=sequence)],
        frame_sequences=[0] * frames,
        frame_numbers=range(first, first + frames),
        frame_object_counts=[points] * frames,
        geometry=annotations_pb2.GEOMETRY_POINT,
        coordinates=places.tolist(),
    )


async def _append(
    host: Host, batches: list[annotations_pb2.AnnotationBatch], *, seal: bool
) -> None:
    """Send batches as fast as possible; with `seal`, wait for the score."""
    metadata: Metadata = (("authorization", f"Bearer {host.secret}"),)
    async with grpc.aio.insecure_channel(host.address) as channel:
        stub: services.SubmissionServiceAsyncStub = services.SubmissionServiceStub(channel)
        asked = messages.CreateSubmissionRequest(benchmark=f"benchmarks/{BENCHMARK}")
        name = (await stub.CreateSubmission(asked, metadata=metadata)).submission.name
        opening = messages.OpenStreamRequest(submission=name)
        epoch = (await stub.OpenStream(opening, metadata=metadata)).stream.epoch

        async def requests() -> AsyncIterator[messages.AppendRequest]:
            offset = 0
            for batch in batches:
                append = messages.AppendRequest(
                    stream=f"{name}/streams/default", epoch=epoch, offset=offset, detections=batch
                )
                offset += len(batch.frame_numbers)
                yield append

        async for _ in stub.AppendFrames(requests(), metadata=metadata):
            pass
        if seal:
            await stub.SealSubmission(messages.SealSubmissionRequest(name=name), metadata=metadata)
            await _wait_for_score(stub, name, metadata)


async def _wait_for_score(
    stub: services.SubmissionServiceAsyncStub, name: str, metadata: Metadata
) -> None:
    """Poll the state: watching would make the server compute live scores, too."""
    asked = messages.GetSubmissionRequest(name=name)
    state = messages.SUBMISSION_STATE_UNSPECIFIED
    while state not in ENDED:
        await asyncio.sleep(LOOK_INTERVAL_S)
        state = (await stub.GetSubmission(asked, metadata=metadata)).submission.state
    if state != messages.SUBMISSION_STATE_SCORED:
        raise RuntimeError(f"the submission came to state {state}")


def _write_truth(path: Path, sequences: int, frames: int) -> None:
    """Write a truth with one point in every tenth frame of each sequence."""
    rows = [
        f"s{sequence:03d},{frame},{10 + frame % 600},20"
        for sequence in range(sequences)
        for frame in range(0, frames, 10)
    ]
    path.write_text("\n".join(["sequence,frame,x,y", *rows]) + "\n", encoding="utf-8")


def _row(name: str, peak_bytes: float, note: str) -> Row:
    limit = Sample((float(LIMIT_BYTES),))
    return Row(name, Sample((peak_bytes,)), limit, "limit", at_most(1.0), unit="bytes", note=note)


def _abusive_client(size: Size) -> Iterator[Row]:
    count = max(FEWEST_BATCHES, size.of(BATCHES))
    frames = BATCH_BYTES // (POINT_BYTES * POINTS_PER_FRAME)
    batches = [_batch(f"s{row:03d}", 0, frames, POINTS_PER_FRAME) for row in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder) / "truth.csv"
        _write_truth(truth, count, frames)
        with hosting_server(Path(folder), truth) as host:
            idle = host.served.memory_bytes()
            with _peak_of(host) as found:
                asyncio.run(_append(host, batches, seal=False))
    yield _row(
        f"peak memory of a server to which a client sends {count} batches of 13 MiB at once",
        found[-1],
        f"{idle / 2**20:.0f} MiB before",
    )


def _large_upload(size: Size) -> Iterator[Row]:
    frames = UPLOAD_BATCH_BYTES // (POINT_BYTES * UPLOAD_POINTS_PER_FRAME)
    count = max(UPLOAD_BATCHES_PER_SEQUENCE, size.of(UPLOAD_BYTES // UPLOAD_BATCH_BYTES))
    batches = [
        _batch(
            f"s{row // UPLOAD_BATCHES_PER_SEQUENCE:03d}",
            row % UPLOAD_BATCHES_PER_SEQUENCE * frames,
            frames,
            UPLOAD_POINTS_PER_FRAME,
        )
        for row in range(count)
    ]
    sequences = -(-count // UPLOAD_BATCHES_PER_SEQUENCE)
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder) / "truth.csv"
        _write_truth(truth, sequences, UPLOAD_BATCHES_PER_SEQUENCE * frames)
        with hosting_server(Path(folder), truth) as host:
            idle = host.served.memory_bytes()
            with _peak_of(host) as found:
                asyncio.run(_append(host, batches, seal=True))
    megabytes = count * UPLOAD_BATCH_BYTES // 10**6
    yield _row(
        f"peak memory of a server that takes in and scores {megabytes:,} MB of detections",
        found[-1],
        f"{idle / 2**20:.0f} MiB before; with its workers",
    )


CASES = (Case("abusive-client", _abusive_client), Case("large-upload", _large_upload))
