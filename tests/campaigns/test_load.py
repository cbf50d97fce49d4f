"""After many streams, slow watchers and a large upload a server keeps no extra resources.

Nightly runs have a thousand streams for an hour and an upload of a gigabyte. Memory stays below a
bound, every frame is acknowledged, and in the end the descriptors of streams are closed. The
latency of acknowledgements is recorded without a bound, since it depends on the machine.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from statistics import fmean
from time import monotonic

import grpc
import numpy as np
import pytest
from tests.campaigns.measuring import MEBIBYTE, Peaks, Waits, open_descriptors, peaks_of, percentile
from tests.campaigns.settings import EFFORT, SEED
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer
from tests.server.domain.sky import detections_of, place, truth
from tests.support.waiting import TIMEOUT_S, until
from tools.campaign_record import record

from vidscore_client import Batching, Delivery, Retry, aio, connect
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_protos.v1 import submission_service_pb2_grpc as pb_grpc

pytestmark = pytest.mark.campaign

STREAMS = min(1000, 50 * EFFORT)
SECONDS = 20 * EFFORT
UPLOAD_BYTES = min(1000, 20 * EFFORT) * MEBIBYTE
TEAM_STREAMS = 50
"""Streams of a team, over one connection."""
FRAMES_PER_S = 50
"""Frames per second of all streams together."""
FRAME_COUNT = SECONDS * FRAMES_PER_S // STREAMS
"""Frames of a stream."""

UPLOAD_OBJECTS = 1000
OBJECT_BYTES = 16
OPENED_AT_ONCE = 10
SLOW_S = 1.0
"""How long a slow watcher takes for a message."""

MOST_STREAM_MIB = 1.0
"""Upper bound on the memory of a server per additional stream."""
MOST_MIB = 512.0
"""Upper bound on its other memory, for an upload of any size: twice the bound on unstored data."""

KEPT_DESCRIPTORS = 24
"""Upper bound on the descriptors kept in the end, for connections to the store, whatever the
number of streams.
"""

DELIVERY = Delivery(retry=Retry(initial_s=0.1, maximum_s=2.0, give_up_after_s=600.0))
BATCHING = Batching(batch_frames=8, batch_interval_s=0.05)
PLANE = {
    "title": "Plane",
    "evaluators": [{"name": "f1", "parameters": {"base": "euclidean"}}],
    "truth_geometry": "point",
    "detection_geometry": "point",
}


@dataclass
class Load:
    """The load on a server, and its result.

    Attributes:
        address: Where it listens.
        secrets: Tokens of the teams.
        organiser: The token of an organiser.
        waits: The latencies of frames, per stream.
        updates: The number of messages that slow watchers received.
    """

    address: str
    secrets: list[str]
    organiser: str
    waits: list[Waits] = field(default_factory=list)
    updates: int = 0
    _opening: asyncio.Semaphore = field(default_factory=partial(asyncio.Semaphore, OPENED_AT_ONCE))
    _began: asyncio.Event = field(default_factory=asyncio.Event)
    _opened: int = 0

    async def go_through(self) -> None:
        """Run all of it concurrently."""
        async with AsyncExitStack() as closing, asyncio.TaskGroup() as group:
            clients = [
                await closing.enter_async_context(aio.connect(self.address, token=secret))
                for secret in self.secrets
            ]
            watchers = [
                group.create_task(self._watch(client_row, row))
                for client_row in range(len(clients))
                for row in range(0, TEAM_STREAMS, 10)
            ]
            streams = [
                group.create_task(self._stream(client, f"run-{team}-{row}"))
                for team, client in enumerate(clients)
                for row in range(min(TEAM_STREAMS, STREAMS - team * TEAM_STREAMS))
            ]
            upload = group.create_task(self._upload())
            await asyncio.gather(*streams, upload)
            for watcher in watchers:
                watcher.cancel()

    async def _stream(self, client: aio.AsyncClient, name: str) -> None:
        """One stream, from its first frame to its seal."""
        self.waits.append(waits := Waits())
        delivery = _acknowledging(waits.acknowledged)
        async with self._opening:
            opened = client.submit("dots", name, batching=BATCHING, delivery=delivery)
            stream = await opened.__aenter__()
        self._opened += 1
        if self._opened == STREAMS:
            self._began.set()
        await self._began.wait()
        pause_s = SECONDS / FRAME_COUNT
        begin_s = monotonic() + pause_s * Random(name).random()
        for index in range(FRAME_COUNT):
            await asyncio.sleep(max(0.0, begin_s + index * pause_s - monotonic()))
            waits.sent()
            await stream.send(*place(index), detections_of(index))
        await stream.seal(FRAME_COUNT, timeout_s=10 * TIMEOUT_S)

    async def _watch(self, team: int, row: int) -> None:
        """Watch a submission, and take its messages slowly."""
        await self._began.wait()
        name = f"benchmarks/dots/submissions/run-{team}-{row}"
        metadata = (("authorization", f"Bearer {self.secrets[team]}"),)
        async with grpc.aio.insecure_channel(self.address) as channel:
            stub = pb_grpc.SubmissionServiceStub(channel)
            watch = stub.WatchSubmission(pb.WatchSubmissionRequest(name=name), metadata=metadata)
            with suppress(grpc.aio.AioRpcError):  # The stream of a submission that has ended.
                async for _ in watch:
                    self.updates += 1
                    await asyncio.sleep(SLOW_S)

    async def _upload(self) -> None:
        """Upload data as fast as possible, and cancel the submission so that it is not scored."""
        await self._began.wait()
        frame_count = UPLOAD_BYTES // (UPLOAD_OBJECTS * OBJECT_BYTES)
        objects = np.random.default_rng(SEED).uniform(0, 1000, (UPLOAD_OBJECTS, 2))
        async with aio.connect(self.address, token=self.organiser) as client:
            stream = client.submit("plane", "upload", delivery=DELIVERY)
            await stream.__aenter__()
            for index in range(frame_count):
                await stream.send("upload", index + 1, objects)
            assert await stream.flush(max(SECONDS, 10 * TIMEOUT_S)) == frame_count
            await stream.close()
            await client.submissions.cancel(stream.submission)


def _acknowledging(told: Callable[[int], None]) -> Delivery:
    return Delivery(retry=DELIVERY.retry, on_acknowledged=told)


async def test_a_server_under_load_stays_within_bounds_and_completes_every_stream(
    tmp_path: Path,
) -> None:
    server = KilledServer(
        tmp_path,
        maximum_streams=str(2 * STREAMS + 50),
        maximum_calls="1000",
        idle_timeout_s="300",
        upkeep_interval_ms="1000",
    )
    server.start()
    try:
        load = Load(server.address, _teams(server), server.secret)
        await _use_once(load)
        before, after = Peaks(), Peaks()
        before.look(server.process_id)
        began_s = monotonic()
        async with peaks_of(server.process_id) as peaks:
            await load.go_through()
            await _closed(server.process_id, before.descriptors)
        after.look(server.process_id)
        seconds = monotonic() - began_s
    finally:
        server.kill()
    waits = [wait for stream in load.waits for wait in stream.seconds]
    findings = _findings(server, load, before, peaks, after)
    faults = {"frames acknowledged": len(waits), "updates of slow watchers": load.updates}
    figures: dict[str, str | int] = {
        "streams": STREAMS,
        "upload": f"{UPLOAD_BYTES // MEBIBYTE:,} MiB",
        "memory before": f"{before.memory_mib:.0f} MiB",
        "memory at most": f"{peaks.memory_mib:.0f} MiB",
        "memory in the end": f"{after.memory_mib:.0f} MiB",
        "descriptors before": before.descriptors,
        "descriptors at most": peaks.descriptors,
        "descriptors in the end": after.descriptors,
        "acknowledged after (median)": f"{percentile(waits, 50):.2f} s",
        "acknowledged after (99 %)": f"{percentile(waits, 99):.2f} s",
        "acknowledged after (longest)": f"{max(waits):.2f} s",
        "load average of the machine": f"{fmean(peaks.loads):.1f} on {os.cpu_count()} processors",
    }
    record("load", SEED, faults, findings, seconds, figures)
    print(figures)
    assert findings == []


async def _closed(process_id: int, before: int) -> None:
    """Wait until a server has closed the descriptors of streams, up to a timeout."""
    with suppress(TimeoutError):
        await until(lambda: open_descriptors(process_id) <= before + KEPT_DESCRIPTORS)


def _findings(
    server: KilledServer, load: Load, before: Peaks, peaks: Peaks, after: Peaks
) -> list[str]:
    """The problems, one line each."""
    findings = [f"an incident: {line.strip()}" for line in server.incidents()]
    acknowledged = [len(stream.seconds) for stream in load.waits]
    if acknowledged != [FRAME_COUNT] * STREAMS:
        findings.append(f"frames are not acknowledged: {Counter(acknowledged)}")
    bound = before.memory_mib + MOST_MIB + MOST_STREAM_MIB * STREAMS
    if peaks.memory_mib > bound:
        findings.append(f"{peaks.memory_mib:.0f} MiB of memory, of at most {bound:.0f} MiB")
    if after.descriptors > (most := before.descriptors + KEPT_DESCRIPTORS):
        findings.append(f"{after.descriptors} descriptors stay open, of at most {most}")
    return findings


def _teams(server: KilledServer) -> list[str]:
    """Create the benchmarks and the teams; returns the teams' tokens."""
    with connect(server.address, token=server.secret) as client:
        client.benchmarks.create("plane", PLANE)
    with grpc.insecure_channel(server.address) as channel:
        organiser = Organiser(channel, server.secret)
        organiser.host(truth(FRAME_COUNT))
        teams = range(-(-STREAMS // TEAM_STREAMS))
        return [organiser.token(f"team-{number}") for number in teams]


async def _use_once(load: Load) -> None:
    """Score one submission, so that the server opens all that a server in use has open."""
    async with aio.connect(load.address, token=load.secrets[0]) as client:
        stream = client.submit("dots", "first", delivery=DELIVERY)
        await stream.__aenter__()
        await stream.send(*place(0), detections_of(0))
        await stream.seal(1, timeout_s=TIMEOUT_S)
        await stream.wait(timeout_s=TIMEOUT_S)
