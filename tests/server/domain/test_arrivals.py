"""The times of frames are stored with them, and so is their arrival at the server."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from tests.crash.nursery import Nursery
from tests.crash.servers import KilledServer, new_site
from tests.server.domain.hosted import (
    BENCHMARK,
    Hosted,
    PlayedClock,
    append,
    dots,
    end_of,
    hosting,
    refusal,
)
from tests.server.domain.sky import place, truth
from tests.server.domain.test_backups import dumped, export, made, restore_into
from tests.server.scene import points
from tests.support.postgresql import Cluster
from tests.support.varieties import mostly_nightly

from vidscore_client import Batching, Delivery, Retry, connect
from vidscore_evaluators.annotations import Annotations
from vidscore_protos.v1 import annotations_pb2, benchmark_service_pb2_grpc, organiser_pb2
from vidscore_server.api.batches import read_stored_batches
from vidscore_server.domain.administration import restore
from vidscore_server.domain.batches import unpacked
from vidscore_server.store import open_store
from vidscore_server.store.backup_file import read_rows
from vidscore_server.store.tables import from_microseconds

TIMEOUT_S = 60.0


def frame(*numbers: int, times_s: tuple[float, ...] = ()) -> annotations_pb2.AnnotationBatch:
    batch = points({number: [(10.0, 20.0)] for number in numbers})
    batch.frame_times_s.extend(times_s)
    return batch


def times_of(frames: Annotations) -> dict[int, float]:
    """Times by frame number, of frames of one sequence."""
    times_s = frames.frame_times_s
    return {} if times_s is None else dict(zip(frames.frame_numbers.tolist(), times_s, strict=True))


async def stored(hosted: Hosted) -> tuple[list[Any], dict[int, float]]:
    """The arrival of each stored batch, in order, and the times of its frames."""
    data = await export(hosted.organiser)
    rows = [row for table, row in read_rows(io.BytesIO(data)) if table == "detection_batches"]
    frames = read_stored_batches(unpacked((row["payload"], row["digest"]) for row in rows), 2)
    return [from_microseconds(row["arrival_time"]) for row in rows], times_of(frames)


class RunningClock(PlayedClock):
    """A clock that advances by a second per reading once it was started."""

    step_s = 0.0

    def __call__(self) -> datetime:
        self.pass_by(seconds=self.step_s)
        return self.now


# --- arrival ---------------------------------------------------------------------------------


async def test_each_batch_is_stored_with_its_arrival(hosted: Hosted, stream: str) -> None:
    start = hosted.clock.now
    await hosted.red.append(stream, 0, frame(1, 2))
    hosted.clock.pass_by(seconds=1.5)
    await hosted.red.stream([append(stream, 2, frame(3))])
    arrivals, _ = await stored(hosted)
    assert arrivals == [start, start + timedelta(seconds=1.5)]


async def test_a_resent_batch_keeps_its_first_arrival(hosted: Hosted, stream: str) -> None:
    start = hosted.clock.now
    await hosted.red.append(stream, 0, frame(1))
    hosted.clock.pass_by(minutes=1)
    assert await hosted.red.append(stream, 0, frame(1)) == 1
    assert (await stored(hosted))[0] == [start]


async def test_a_batch_arrives_before_it_is_stored(tmp_path: Path) -> None:
    """Arrival is before the store's work; the submission's activity is when that work begins."""
    clock = RunningClock()
    async with hosting(tmp_path, clock) as hosted:
        clock.step_s = 1.0
        await hosted.organiser.create_benchmark()
        await hosted.red.append(await hosted.red.submission(), 0, frame(1))
        rows = dict(read_rows(io.BytesIO(await export(hosted.organiser))))
        arrival = rows["detection_batches"]["arrival_time"]
        assert arrival < rows["submissions"]["activity_time"]


# --- times -----------------------------------------------------------------------------------


async def test_times_are_stored_with_their_frames(hosted: Hosted, stream: str) -> None:
    await hosted.red.append(stream, 0, frame(1, 2, times_s=(0.5, float("nan"))))
    await hosted.red.append(stream, 2, frame(3))
    await hosted.red.append(stream, 3, frame(4, times_s=(1732270000.5,)))
    _, times_s = await stored(hosted)
    np.testing.assert_equal(times_s, {1: 0.5, 2: np.nan, 3: np.nan, 4: 1732270000.5})


@pytest.mark.parametrize("other", [(), (0.25,)])
async def test_a_resent_batch_with_other_times_is_refused(
    hosted: Hosted, stream: str, other: tuple[float, ...]
) -> None:
    await hosted.red.append(stream, 0, frame(1, times_s=(0.5,)))
    assert await hosted.red.append(stream, 0, frame(1, times_s=(0.5,))) == 1
    found = await refusal(hosted.red.append(stream, 0, frame(1, times_s=other)))
    assert (found.code, found.reason) == (grpc.StatusCode.ALREADY_EXISTS, "CONTENT_DIFFERS")


async def test_invalid_times_are_refused(hosted: Hosted, stream: str) -> None:
    found = await refusal(hosted.red.append(stream, 0, frame(1, times_s=(-1.0,))))
    assert (found.code, found.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_INPUT")
    assert "frame_times_s" in found.message


async def test_the_score_of_a_submission_does_not_depend_on_times(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(frame(1, 2, times_s=(0.0, 0.04)))
    await hosted.red.submit(frame(1, 2, times_s=(0.5, 0.25)), "timed")
    await hosted.red.submit(frame(1, 2), "untimed")
    found = {}
    for name in ("timed", "untimed"):
        await hosted.red.ended(name)
        [score] = await hosted.organiser.scores(name)
        found[name] = [(entry.measure, entry.value) for entry in score.report.scores]
    assert found["timed"] == found["untimed"]


# --- backups ---------------------------------------------------------------------------------


async def test_a_backup_contains_times_and_arrivals(
    hosted: Hosted, stream: str, tmp_path: Path
) -> None:
    await hosted.red.append(stream, 0, frame(1, 2, times_s=(0.5, 0.75)))
    before = await stored(hosted)
    restore_into(tmp_path / "new", await export(hosted.organiser))
    async with hosting(tmp_path / "new") as new:
        there = new.client(hosted.organiser.secret)
        data = await export(there)
    rows = [row for table, row in read_rows(io.BytesIO(data)) if table == "detection_batches"]
    assert [from_microseconds(row["arrival_time"]) for row in rows] == before[0]
    frames = read_stored_batches(unpacked((row["payload"], row["digest"]) for row in rows), 2)
    assert times_of(frames) == before[1] == {1: 0.5, 2: 0.75}


async def test_a_backup_from_before_arrivals_were_stored_is_restored_without_any(
    hosted: Hosted, stream: str, tmp_path: Path
) -> None:
    await hosted.red.append(stream, 0, frame(1))
    data = await export(hosted.organiser, BENCHMARK)
    old = [
        (table, {name: value for name, value in row.items() if name != "arrival_time"})
        for table, row in read_rows(io.BytesIO(data))
    ]
    file, location = made(tmp_path, old, schema="0006")
    restore(file, str(location))
    [batch] = [row for table, row in dumped(location) if table == "detection_batches"]
    assert batch["arrival_time"] is None


# --- kills -----------------------------------------------------------------------------------


@pytest.fixture(params=mostly_nightly(["sqlite", "postgresql"]))
def server(
    request: pytest.FixtureRequest, tmp_path: Path, nursery: Nursery
) -> Iterator[tuple[KilledServer, str]]:
    """A server that can be killed, and the path of its store."""
    if request.param == "sqlite":
        location = str(tmp_path / "store.db")
    else:
        cluster: Cluster = request.getfixturevalue("cluster")
        location = cluster.database()
    server = KilledServer(tmp_path, new_site(location), nursery)
    with ExitStack() as ending:
        ending.callback(server.kill)
        yield server, location
    assert server.incidents() == []


@pytest.mark.slow
def test_a_stream_whose_server_is_killed_keeps_times_and_first_arrivals(
    server: tuple[KilledServer, str],
) -> None:
    """The server dies when some frames are stored but not acknowledged."""
    killed, location = server
    killed.start()
    _prepare(killed)
    killed.kill()
    killed.start("before_acknowledge=kill@3")
    times_s = {place(index): 100.0 + index / 25 for index in range(30)}
    retry = Retry(initial_s=0.05, maximum_s=0.5, give_up_after_s=TIMEOUT_S)
    delivery, batching = Delivery(window_frames=4, retry=retry), Batching(batch_frames=1)
    with connect(killed.address, token=killed.secret) as client:
        stream = client.submit("dots", "one", batching=batching, delivery=delivery)
        for (sequence, number), time_s in times_s.items():
            stream.send(sequence, number, [[10.0, 20.0]], time_s=time_s)
        assert killed.dies_within(TIMEOUT_S)
        restarted = datetime.now(UTC)
        killed.start()
        stream.close()
    assert killed.stop() == 0
    with closing(open_store(location)) as store, store.read() as reader:
        frames = read_stored_batches(unpacked(reader.detection_payloads("dots", "one")), 2)
        batches = [reader.batch_at("dots", "one", "default", row) for row in range(len(times_s))]
    assert frames.frame_times_s is not None
    names = [frames.sequences[row].sequence for row in frames.frame_sequences.tolist()]
    found = zip(names, frames.frame_numbers.tolist(), strict=True)
    assert dict(zip(found, frames.frame_times_s.tolist(), strict=True)) == times_s
    arrivals = [batch.arrival_time for batch in batches if batch and batch.arrival_time]
    assert len(arrivals) == len(times_s)
    assert arrivals == sorted(arrivals)
    assert arrivals[0] < restarted < arrivals[-1]


def _prepare(server: KilledServer) -> None:
    """Host a benchmark with its truth."""
    metadata = (("authorization", f"Bearer {server.secret}"),)
    with grpc.insecure_channel(server.address) as channel:
        stub = benchmark_service_pb2_grpc.BenchmarkServiceStub(channel)
        stub.CreateBenchmark(
            organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=dots()),
            metadata=metadata,
        )
        header = organiser_pb2.UploadTruthHeader(benchmark=BENCHMARK, complete=True)
        uploads = [
            organiser_pb2.UploadTruthRequest(header=header),
            organiser_pb2.UploadTruthRequest(truth=truth(30)),
            organiser_pb2.UploadTruthRequest(end=end_of(truth(30))),
        ]
        stub.UploadTruth(iter(uploads), metadata=metadata)
