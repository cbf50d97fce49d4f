"""Memory of a server: with many streams open at once, and over a long time at full speed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import grpc
import numpy as np

from bench.case import Case, Size
from bench.measuring import Sample
from bench.rows import SHOWN_SHARE, Row, at_most
from bench.servers.process import Served, scoring_server
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2, specification_pb2
from vidscore_protos.v1 import scoring_service_pb2_grpc as services

STREAMS = 1_000
STREAMS_LIMIT_BYTES = 2**30
STREAM_FRAMES = 20

SEQUENCES = 8
SEQUENCE_FRAMES = 500
BATCH_FRAMES = 50
POINTS_PER_FRAME = 10
AT_ONCE = 4
WARM_UP = 1 / 3
FEWEST_MINUTES = 10.0
"""Minimum for a goal: over less time, the slope of a line through the samples is mostly noise."""

LIMIT_BYTES_PER_MILLION_FRAMES = 2**20

OPTIONS = ("--maximum-streams", str(STREAMS))

Requests = list[scoring_service_pb2.ScoreRequest]


def _batch(sequence: int, first: int, count: int) -> annotations_pb2.AnnotationBatch:
    random = np.random.default_rng(sequence * SEQUENCE_FRAMES + first)
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence=f"s{sequence:03d}")],
        frame_sequences=[0] * count,
        frame_numbers=range(first, first + count),
        frame_object_counts=[POINTS_PER_FRAME] * count,
        geometry=annotations_pb2.GEOMETRY_POINT,
        coordinates=random.uniform(0, 600, 2 * POINTS_PER_FRAME * count).tolist(),
    )


def _requests(sequences: int, frames: int, batch_frames: int) -> Requests:
    """The requests of a stream with both sides; its tallies have a bounded size."""
    base = specification_pb2.Parameter(name="base", text="euclidean")
    evaluator = specification_pb2.EvaluatorSpec(name="f1", parameters=[base])
    configuration = scoring_service_pb2.ScoreConfiguration(
        specification=specification_pb2.BenchmarkSpec(evaluators=[evaluator]),
        truth_geometry=annotations_pb2.GEOMETRY_POINT,
        detection_geometry=annotations_pb2.GEOMETRY_POINT,
        live_reporting=scoring_service_pb2.LiveReporting(frame_interval=STREAM_FRAMES),
    )
    requests = [scoring_service_pb2.ScoreRequest(configuration=configuration)]
    for sequence in range(sequences):
        for first in range(0, frames, batch_frames):
            batch = _batch(sequence, first, batch_frames)
            requests.append(scoring_service_pb2.ScoreRequest(truth=batch))
            requests.append(scoring_service_pb2.ScoreRequest(detections=batch))
    return requests


def _open_streams(size: Size) -> Iterator[Row]:
    with scoring_server(*OPTIONS) as server:
        count = size.of(STREAMS)
        used = asyncio.run(_with_open_streams(server, count))
    yield Row(
        f"memory of a server with {count:,} open streams",
        Sample((used,)),
        Sample((float(STREAMS_LIMIT_BYTES),)),
        "limit",
        at_most(1.0),
        unit="bytes",
    )


async def _with_open_streams(server: Served, count: int) -> float:
    """Memory while `count` streams have sent frames, were scored and are still open."""
    requests = _requests(1, STREAM_FRAMES, STREAM_FRAMES)
    ending = asyncio.Event()

    async def hold(stub: services.ScoringServiceAsyncStub, scored: asyncio.Future[None]) -> None:
        async def sent() -> AsyncIterator[scoring_service_pb2.ScoreRequest]:
            for request in requests:
                yield request
            await ending.wait()

        async for response in stub.Score(sent()):
            if response.HasField("live") and not scored.done():
                scored.set_result(None)

    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: services.ScoringServiceAsyncStub = services.ScoringServiceStub(channel)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(count):
                scored: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                tasks.create_task(hold(stub, scored))
                await scored  # one after the other: this measures open streams, not load
            used = server.memory_bytes()
            ending.set()
    return used


def _over_time(size: Size) -> Iterator[Row]:
    with scoring_server() as server:
        samples = asyncio.run(_score_again_and_again(server, 60 * size.minutes))
    frames, used = np.array(samples).T
    warm = frames >= WARM_UP * frames[-1]
    slope = max(0.0, float(np.polyfit(frames[warm], used[warm], 1)[0]))
    yield Row(
        "growth of a server's memory, a million frames",
        Sample((1e6 * slope,)),
        Sample((float(LIMIT_BYTES_PER_MILLION_FRAMES),)),
        "limit",
        at_most(1.0) if size.minutes >= FEWEST_MINUTES else SHOWN_SHARE,
        unit="bytes",
        note=(
            f"{frames[-1] / 1e6:.3g} million frames of the same {SEQUENCES} sequences in "
            f"{size.minutes:g} minutes, {AT_ONCE} streams at once; a line through the last two "
            f"thirds of {len(frames)} samples, which ended at {used[-1] / 2**20:.0f} MiB"
        ),
    )


async def _score_again_and_again(server: Served, seconds: float) -> list[tuple[float, float]]:
    """Samples (frames so far, bytes) while streams score the same sequences repeatedly."""
    requests = _requests(SEQUENCES, SEQUENCE_FRAMES, BATCH_FRAMES)
    end = time.monotonic() + seconds
    samples: list[tuple[float, float]] = []
    frames = 0

    async def repeat(stub: services.ScoringServiceAsyncStub) -> None:
        nonlocal frames
        while time.monotonic() < end:
            async for _ in stub.Score(iter(requests)):
                pass
            frames += SEQUENCES * SEQUENCE_FRAMES
            samples.append((float(frames), server.memory_bytes()))

    async with grpc.aio.insecure_channel(server.address) as channel:
        stub: services.ScoringServiceAsyncStub = services.ScoringServiceStub(channel)
        async with asyncio.TaskGroup() as tasks:
            for _ in range(AT_ONCE):
                tasks.create_task(repeat(stub))
    return samples


CASES = (Case("open-streams", _open_streams), Case("memory-over-time", _over_time))
