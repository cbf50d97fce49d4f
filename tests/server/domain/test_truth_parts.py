"""Truth is stored in parts: others write in between, and nobody sees a part of it."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import grpc
import pytest
from tests.server.domain.half_way import HalfWay, until_prolonged
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, refusal
from tests.server.domain.live_scene import delete_benchmark
from tests.server.domain.test_backup_imports import site
from tests.server.domain.test_deleted_benchmarks import listed
from tests.server.domain.test_killed import counts
from tests.server.scene import HERE, points
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import annotations_pb2, organiser_pb2
from vidscore_server.domain import batches, loading
from vidscore_server.domain.benchmarks import from_json
from vidscore_server.domain.truth_upload import Spool

__all__ = ["site"]

Upload = asyncio.Task[organiser_pb2.TruthRevision]

OLD = points({1: HERE, 2: []})
NEW = [points({frame: [(float(frame), 1.0)]}) for frame in range(1, 6)]


class HalfWayUpload(HalfWay):
    """Uploads are stored one batch at a time; one may pause after a fraction of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(waits=False)
        read = Spool.__iter__
        monkeypatch.setattr(Spool, "__iter__", lambda spool: self.load(list(read(spool))))
        monkeypatch.setattr(loading, "ITEMS_PER_PART", 1)

    def uploading(
        self, client: Client, *, merge: bool = False, request_id: str = ""
    ) -> AbstractAsyncContextManager[Upload]:
        """An upload of new truth that pauses half-way, and continues at the end."""
        self.waits = True
        return self.calling(client.upload(*NEW, merge=merge, request_id=request_id))


@pytest.fixture
def half_way(monkeypatch: pytest.MonkeyPatch) -> HalfWayUpload:
    return HalfWayUpload(monkeypatch)


async def frames(
    client: Client, revision: int = 0
) -> tuple[int, list[annotations_pb2.AnnotationBatch]]:
    """Number of a revision of the truth, by default the newest, and its frames as batches."""
    request = organiser_pb2.ReadTruthRequest(benchmark=BENCHMARK, revision=revision)
    call = client.benchmarks.ReadTruth(request, metadata=client.metadata)
    answers = [answer async for answer in call]
    return answers[0].revision, [answer.truth for answer in answers]


async def numbers(client: Client) -> tuple[int, list[int]]:
    """Number of the newest revision, and the numbers of its frames."""
    revision, read = await frames(client)
    return revision, sorted(number for batch in read for number in batch.frame_numbers)


def stored(folder: Path) -> tuple[int, ...]:
    """Numbers of stored benchmarks, revisions of truth, and batches of truth."""
    return counts(folder / "store.db", "benchmarks", "truth_revisions", "truth_batches")


async def freed(hosted: Hosted, folder: Path, *, left: tuple[int, int, int]) -> None:
    """Wait until this much is left, and check that it stays."""
    async with asyncio.timeout(TIMEOUT_S):
        while stored(folder) != left:
            await hosted.expire()
            await asyncio.sleep(0.01)
    await hosted.expire()
    assert stored(folder) == left


@pytest.mark.slow
async def test_half_stored_truth_is_invisible_and_blocks_nobody(
    site: Hosted, half_way: HalfWayUpload, tmp_path: Path
) -> None:
    """Its lease is renewed meanwhile, and it is not freed as a remainder."""
    await site.organiser.create_benchmark()
    await site.organiser.upload(OLD)
    async with half_way.uploading(site.organiser) as call:
        await until_prolonged(site.hosting.context)
        async with asyncio.timeout(TIMEOUT_S / 2):
            await site.organiser.create_benchmark("other")  # A write, while the upload waits.
        await site.expire()
        assert stored(tmp_path) == (3, 2, 3)
        assert await listed(site) == [BENCHMARK, "benchmarks/other"]
        assert await numbers(site.organiser) == (1, [1, 2])
    assert (await call).revision == 2
    assert await numbers(site.organiser) == (2, [1, 2, 3, 4, 5])
    await site.expire()
    assert stored(tmp_path) == (2, 2, 6)


async def test_also_hidden_rows_have_a_definition_because_a_server_of_0_2_0_reads_them_all(
    site: Hosted, half_way: HalfWayUpload, tmp_path: Path
) -> None:
    await site.organiser.create_benchmark()
    await site.organiser.upload(OLD)
    async with half_way.uploading(site.organiser) as call:
        assert _evaluators(tmp_path) == {(BENCHMARK.partition("/")[2], "spotgeo"), ("~", "spotgeo")}
    await call
    await delete_benchmark(site)
    assert _evaluators(tmp_path) == {("~", "spotgeo")}


def _evaluators(folder: Path) -> set[tuple[str, str]]:
    """Names of the stored benchmarks, cut after the mark of hidden ones, and their evaluators."""
    with closing(sqlite3.connect(folder / "store.db")) as connection:
        rows = connection.execute("SELECT benchmark, definition FROM benchmarks").fetchall()
    return {
        ("~" if name.startswith("~") else name, from_json(text).evaluators[0].name)
        for name, text in rows
    }


async def test_an_upload_whose_caller_has_left_leaves_nothing(
    site: Hosted, half_way: HalfWayUpload, tmp_path: Path
) -> None:
    await site.organiser.create_benchmark()
    await site.organiser.upload(OLD)
    async with half_way.uploading(site.organiser) as call:
        call.cancel()
        await asyncio.wait([call])
        await freed(site, tmp_path, left=(1, 1, 1))
    assert await numbers(site.organiser) == (1, [1, 2])


@pytest.mark.parametrize("share", [0.5, 1.0])
async def test_an_upload_whose_lease_was_lost_is_abandoned(
    site: Hosted, half_way: HalfWayUpload, tmp_path: Path, share: float
) -> None:
    """As after a pause of the server: a part of what it had loaded may have been freed."""
    half_way.share = share
    await site.organiser.create_benchmark()
    await site.organiser.upload(OLD)
    hosting = site.server.hosting
    assert hosting is not None
    async with half_way.uploading(site.organiser) as call:
        [lease] = await hosting.context.read(lambda reader: reader.leases())
        await hosting.context.write(lambda t: t.end_lease(lease.work, lease.owner))
        await site.expire()
    status = await refusal(call)
    assert (status.code, status.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
    await freed(site, tmp_path, left=(1, 1, 1))
    assert await numbers(site.organiser) == (1, [1, 2])


async def test_two_simultaneous_identical_uploads_create_one_revision(
    site: Hosted, half_way: HalfWayUpload, tmp_path: Path
) -> None:
    await site.organiser.create_benchmark()
    async with half_way.uploading(site.organiser, request_id="u") as late:
        first = await site.organiser.upload(*NEW, request_id="u")
    assert await late == first
    await freed(site, tmp_path, left=(1, 1, 5))


async def test_an_upload_to_a_benchmark_deleted_meanwhile_leaves_nothing(
    site: Hosted, half_way: HalfWayUpload, tmp_path: Path
) -> None:
    await site.organiser.create_benchmark()
    async with half_way.uploading(site.organiser) as call:
        request = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK)
        client = site.organiser
        await client.benchmarks.DeleteBenchmark(request, metadata=client.metadata)
    assert (await refusal(call)).reason == "NOT_FOUND"
    await freed(site, tmp_path, left=(0, 0, 0))


async def test_truth_without_a_batch_is_a_revision(site: Hosted) -> None:
    await site.organiser.create_benchmark()
    assert (await site.organiser.upload()).revision == 1
    assert await numbers(site.organiser) == (1, [])


async def test_a_merge_keeps_batches_unchanged_except_for_replaced_frames(
    site: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large the whole truth is: no batch is larger than an uploaded one."""
    await site.organiser.create_benchmark()
    base = [points(dict.fromkeys(frames, HERE)) for frames in ((1, 2), (3,), (4, 5))]
    await site.organiser.upload(*base)
    monkeypatch.setattr(batches, "MAXIMUM_BATCH_BYTES", base[0].ByteSize())
    merged = await site.organiser.upload(points({2: [], 3: []}), merge=True)
    assert merged.frame_count == 5
    revision, read = await frames(site.organiser)
    counts = {
        number: count
        for batch in read
        for number, count in zip(batch.frame_numbers, batch.frame_object_counts, strict=True)
    }
    assert (revision, counts) == (2, {1: 1, 2: 0, 3: 0, 4: 1, 5: 1})
    assert stored(tmp_path) == (1, 2, 3 + 3)
