"""Live streams over loopback: durable and scored, compared with a server that only acknowledges."""

from __future__ import annotations

import asyncio
import contextlib
import math
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from grpc_health.v1 import health_pb2, health_pb2_grpc

from bench.case import Case, Size
from bench.measuring import Sample
from bench.rows import Row, at_most, not_yet
from bench.servers.process import BENCHMARK, Host, echo_server, hosting_server
from vidscore_protos.v1 import annotations_pb2
from vidscore_protos.v1 import submission_service_pb2 as messages
from vidscore_protos.v1 import submission_service_pb2_grpc as services

STREAMS = 64
MESSAGES_PER_STREAM, FEWEST_MESSAGES = 400, 100
POINTS_PER_FRAME = 10
BATCHED_FRAMES = 64
UNACKNOWLEDGED = 16
HEALTH_LIMIT_S = 0.05
HEALTH_PAUSE_S = 0.02
CAMERAS = (8, 64)
CAMERA_HZ = 30
CAMERA_FRAMES, FEWEST_CAMERA_FRAMES = 600, 150
CAMERA_CPU_S, CAMERA_MEDIAN_S, CAMERA_P99_S = 0.0007, 0.01, 0.1
_OF_CLIENT = "measured by the client that sends the load, so it includes its own waiting"


@dataclass
class Load:
    """Measurements of one run of all streams.

    Attributes:
        seconds_a_frame: Wall time divided by the number of frames.
        acknowledged_s: Time from sending to acknowledgement of each message.
        settled_s: The same for messages that were sent after every stream was open.
        health_s: Times of health checks during the run.
        processor_s: Processor seconds of the server and its workers per frame.
    """

    seconds_a_frame: float = 0.0
    processor_s: float = 0.0
    acknowledged_s: list[float] = field(default_factory=list)
    settled_s: list[float] = field(default_factory=list)
    health_s: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class _Writer:
    """One append stream: the messages that it sends."""

    requests: Sequence[messages.AppendRequest]


def _writers(
    names: Sequence[tuple[str, int]], message_count: int, frames_a_message: int
) -> list[_Writer]:
    random = np.random.default_rng(7)
    writers = []
    for index, (name, epoch) in enumerate(names):
        requests = []
        for number in range(message_count):
            first = number * frames_a_message
            coordinates = random.uniform(0, 600, 2 * POINTS_PER_FRAME * frames_a_message)
            batch = annotations_pb2.AnnotationBatch(
                sequences=[annotations_pb2.SequenceKey(sequence=f"s{index:03d}")],
                frame_sequences=[0] * frames_a_message,
                frame_numbers=range(first, first + frames_a_message),
                frame_object_counts=[POINTS_PER_FRAME] * frames_a_message,
                geometry=annotations_pb2.GEOMETRY_POINT,
                coordinates=coordinates.tolist(),
            )
            append = messages.AppendRequest(
                stream=name, epoch=epoch, offset=first, detections=batch
            )
            requests.append(append)
        writers.append(_Writer(requests))
    return writers


async def _drive(
    channel: grpc.aio.Channel,
    writers: Sequence[_Writer],
    metadata: tuple[tuple[str, str], ...],
    interval_s: float = 0.0,
) -> Load:
    """Send everything on all streams at once, each with a bounded number unacknowledged.

    Args:
        channel: The connection.
        writers: The streams.
        metadata: Metadata of each call.
        interval_s: Time between two messages of a stream; streams start at different times. 0:
            send as fast as possible. Latency counts from the time at which a message was due.
    """
    load = Load()
    stub = services.SubmissionServiceStub(channel)
    unopened, all_open_s = len(writers), math.inf

    async def write(writer: _Writer, place: int) -> None:
        begun_s = time.perf_counter() + interval_s * place / len(writers)
        window = asyncio.Semaphore(UNACKNOWLEDGED)
        sent: list[float] = []

        async def requests() -> AsyncIterator[messages.AppendRequest]:
            for number, request in enumerate(writer.requests):
                due_s = begun_s + interval_s * number
                if interval_s:
                    await asyncio.sleep(due_s - time.perf_counter())
                await window.acquire()
                sent.append(due_s if interval_s else time.perf_counter())
                yield request

        nonlocal unopened, all_open_s
        received = 0
        async for _ in stub.AppendFrames(requests(), metadata=metadata):
            now_s = time.perf_counter()
            if not received:
                unopened -= 1
                all_open_s = math.inf if unopened else now_s
            load.acknowledged_s.append(now_s - sent[received])
            if sent[received] >= all_open_s:
                load.settled_s.append(now_s - sent[received])
            received += 1
            window.release()
        if received != len(writer.requests):
            raise RuntimeError(f"{received} of {len(writer.requests)} messages were acknowledged")

    start = time.perf_counter()
    await asyncio.gather(*(write(writer, place) for place, writer in enumerate(writers)))
    frames = sum(
        len(request.detections.frame_numbers) for writer in writers for request in writer.requests
    )
    load.seconds_a_frame = (time.perf_counter() - start) / frames
    return load


async def _drive_echo(address: str, message_count: int, frames_a_message: int) -> Load:
    names = [(f"benchmarks/b/submissions/s/streams/t{index}", 1) for index in range(STREAMS)]
    async with grpc.aio.insecure_channel(address) as channel:
        return await _drive(channel, _writers(names, message_count, frames_a_message), ())


async def _drive_ours(
    host: Host,
    message_count: int,
    frames_a_message: int,
    streams: int = STREAMS,
    interval_s: float = 0.0,
) -> Load:
    """Append to a new submission while a client watches its live scores and checks health."""
    metadata = (("authorization", f"Bearer {host.secret}"),)
    async with grpc.aio.insecure_channel(host.address) as channel:
        stub = services.SubmissionServiceStub(channel)
        request = messages.CreateSubmissionRequest(
            benchmark=f"benchmarks/{BENCHMARK}", request_id=str(uuid.uuid4())
        )
        created = await stub.CreateSubmission(request, metadata=metadata)
        name = created.submission.name
        opened = [
            await stub.OpenStream(
                messages.OpenStreamRequest(submission=name, stream=f"t{index}"), metadata=metadata
            )
            for index in range(streams)
        ]
        names = [
            (f"{name}/streams/{answer.stream.stream}", answer.stream.epoch) for answer in opened
        ]
        writers = _writers(names, message_count, frames_a_message)
        watching = asyncio.create_task(_watch(stub, name, metadata))
        checks: list[float] = []
        checking = asyncio.create_task(_check_health(channel, checks))
        used_s = host.served.processor_s()
        load = await _drive(channel, writers, metadata, interval_s)
        used_s = host.served.processor_s() - used_s
        for task in (watching, checking):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        cancelled = messages.CancelSubmissionRequest(name=name)
        await stub.CancelSubmission(cancelled, metadata=metadata)
    load.health_s = checks
    load.processor_s = used_s / (streams * message_count * frames_a_message)
    return load


async def _watch(
    stub: services.SubmissionServiceAsyncStub, name: str, metadata: tuple[tuple[str, str], ...]
) -> None:
    request = messages.WatchSubmissionRequest(name=name)
    async for _ in stub.WatchSubmission(request, metadata=metadata):
        pass


async def _check_health(channel: grpc.aio.Channel, seconds: list[float]) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel)  # its types do not declare the methods
    while True:
        start = time.perf_counter()
        await stub.Check(health_pb2.HealthCheckRequest())
        seconds.append(time.perf_counter() - start)
        await asyncio.sleep(HEALTH_PAUSE_S)


def _write_truth(path: Path, frame_count: int) -> None:
    """Write the truth of all streams as generic CSV, one point per frame."""
    rows = [
        f"s{stream:03d},{frame},{10 + frame % 600},20"
        for stream in range(STREAMS)
        for frame in range(frame_count)
    ]
    path.write_text("\n".join(["sequence,frame,x,y", *rows]) + "\n", encoding="utf-8")


def _streams(size: Size) -> Iterator[Row]:
    message_count = size.of(MESSAGES_PER_STREAM, FEWEST_MESSAGES)
    kinds = {1: message_count, BATCHED_FRAMES: max(4, message_count // 16)}
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder) / "truth.csv"
        _write_truth(truth, max(frames * count for frames, count in kinds.items()))
        with echo_server() as echo, hosting_server(Path(folder), truth) as host:
            for frames, count in kinds.items():
                asyncio.run(_drive_ours(host, 4, frames))
                asyncio.run(_drive_echo(echo.address, 4, frames))
                ours, others = [], []
                for _ in range(size.repeats):
                    ours.append(asyncio.run(_drive_ours(host, count, frames)))
                    others.append(asyncio.run(_drive_echo(echo.address, count, frames)))
                yield from _rows(frames, ours, others)


def _rows(frames_a_message: int, ours: list[Load], others: list[Load]) -> Iterator[Row]:
    what = f"{STREAMS} streams, {frames_a_message} frame(s) a message, durable and watched live"
    bound = 1.5 if frames_a_message == 1 else 2.5
    yield Row(
        f"{what}: time a frame",
        Sample(tuple(load.seconds_a_frame for load in ours)),
        Sample(tuple(load.seconds_a_frame for load in others)),
        "a server that only acknowledges",
        not_yet(at_most(bound)),
    )
    if frames_a_message > 1:
        return
    yield Row(
        f"{what}: acknowledgement, 99th percentile",
        Sample(tuple(_p99(load.acknowledged_s) for load in ours)),
        Sample(tuple(_p99(load.acknowledged_s) for load in others)),
        "a server that only acknowledges",
        not_yet(at_most(3.0)),
    )
    yield Row(
        f"{what}: acknowledgement once all streams are open, 99th percentile",
        Sample(tuple(_p99(load.settled_s) for load in ours)),
        Sample(tuple(_p99(load.settled_s) for load in others)),
        "a server that only acknowledges",
        not_yet(at_most(3.0)),
    )
    yield Row(
        f"{what}: health check meanwhile, 99th percentile",
        Sample(tuple(_p99(load.health_s) for load in ours)),
        Sample((HEALTH_LIMIT_S,)),
        "limit",
        not_yet(at_most(1.0)),
        note=_OF_CLIENT,
    )


def _cameras(size: Size) -> Iterator[Row]:
    message_count = size.of(CAMERA_FRAMES, FEWEST_CAMERA_FRAMES)
    with tempfile.TemporaryDirectory() as folder:
        truth = Path(folder) / "truth.csv"
        _write_truth(truth, message_count)
        with hosting_server(Path(folder), truth) as host:
            for count in CAMERAS:
                loads = [
                    asyncio.run(_drive_ours(host, message_count, 1, count, 1 / CAMERA_HZ))
                    for _ in range(1 + size.repeats)
                ]
                yield from _camera_rows(count, loads[1:])


def _camera_rows(count: int, loads: list[Load]) -> Iterator[Row]:
    what = f"{count} cameras at {CAMERA_HZ} Hz, durable and watched live"
    few = count == CAMERAS[0]
    share = 50 if few else 99
    figures = [
        ("processor of the server a frame", [load.processor_s for load in loads], CAMERA_CPU_S),
        (
            f"acknowledgement, {share}th percentile",
            [float(np.percentile(load.acknowledged_s, share)) for load in loads],
            CAMERA_MEDIAN_S if few else CAMERA_P99_S,
        ),
        (
            "health check meanwhile, 99th percentile",
            [_p99(load.health_s) for load in loads],
            HEALTH_LIMIT_S,
        ),
    ]
    for name, found, limit_s in figures if few else figures[1:]:
        yield Row(
            f"{what}: {name}",
            Sample(tuple(found)),
            Sample((limit_s,)),
            "limit",
            not_yet(at_most(1.0)),
            note="" if "processor" in name else _OF_CLIENT,
        )


def _p99(seconds: list[float]) -> float:
    return float(np.percentile(seconds, 99))


CASES = (Case("streams", _streams), Case("cameras", _cameras))
