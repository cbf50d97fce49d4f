"""A benchmark is restored in parts: others write in between, and nobody sees a part of it."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import grpc
import pytest
import pytest_asyncio
from tests.server.domain.half_way import HalfWay, until_prolonged
from tests.server.domain.hosted import BENCHMARK, Hosted, hosting, refusal
from tests.server.domain.live_scene import delete_benchmark
from tests.server.domain.test_backups import (
    SOUND,
    STREAM,
    benchmark_row,
    export,
    import_,
    is_number,
    made,
    prepare,
)
from tests.server.domain.test_deleted_benchmarks import NOTHING, listed
from tests.server.domain.test_team_usage import rows
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import access_service_pb2, backup_pb2
from vidscore_server.domain import backups, loading
from vidscore_server.store.backup_file import read_rows
from vidscore_server.store.records import Row

Import = asyncio.Task[backup_pb2.ImportBackupResponse]


class HalfWayImport(HalfWay):
    """Imports load one row at a time; the first one pauses after a fraction of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(waits=True)
        monkeypatch.setattr(backups, "in_parts", self._in_parts)

    def _in_parts(self, rows: Iterable[Row], _: object) -> Iterator[list[Row]]:
        return self.load([[row] for row in rows])

    def importing(self, hosted: Hosted, data: bytes) -> AbstractAsyncContextManager[Import]:
        """An import that pauses half-way, and continues at the end."""
        return self.calling(import_(hosted.organiser, data))


@pytest.fixture
def half_way(monkeypatch: pytest.MonkeyPatch) -> HalfWayImport:
    return HalfWayImport(monkeypatch)


@pytest_asyncio.fixture
async def site(tmp_path: Path) -> AsyncIterator[Hosted]:
    """A server whose upkeep runs on request; a lease lasts for six seconds."""
    async with hosting(tmp_path, upkeep_interval_ms=60_000, lease_timeout_s=6) as hosted:
        yield hosted


async def removed(hosted: Hosted) -> bytes:
    """The backup of a benchmark that existed and was removed completely."""
    await prepare(hosted)
    hosting_ = hosted.hosting
    await hosting_.work()
    await hosted.red.ended()
    data = await export(hosted.organiser, BENCHMARK)
    await delete_benchmark(hosted)
    await hosted.expire()
    return data


def held(data: bytes) -> list[Row]:
    """The content of a backup, without what a restore changes."""
    return [
        (
            table,
            {
                name: value
                for name, value in row.items()
                if not is_number(name) and name not in {"revision", "activity_time"}
            },
        )
        for table, row in read_rows(io.BytesIO(data))
    ]


async def test_a_benchmark_restored_in_parts_equals_the_backup(
    site: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "ITEMS_PER_PART", 3)
    data = await removed(site)
    await import_(site.organiser, data)
    client = site.organiser
    asked = access_service_pb2.ListAuditRecordsRequest(page_size=1)
    [entry] = (await client.access.ListAuditRecords(asked, metadata=client.metadata)).records
    assert (entry.action, entry.resource) == ("ImportBackup", BENCHMARK)
    assert held(await export(client, BENCHMARK)) == held(data)


@pytest.mark.slow
async def test_a_half_restored_benchmark_is_invisible_and_blocks_nobody(
    site: Hosted, half_way: HalfWayImport, tmp_path: Path
) -> None:
    """Its lease is renewed meanwhile, and it is not freed as a remainder."""
    data = await removed(site)
    async with half_way.importing(site, data) as call:
        await until_prolonged(site.hosting.context)
        assert rows(tmp_path)["submissions"] == 2
        assert await listed(site) == ["benchmarks/other"]
        missing = await refusal(site.red.get("one"))
        assert missing.reason == "NOT_FOUND"
        assert "submissions" not in {table for table, _ in held(await export(site.organiser))}
        await site.expire()
        assert rows(tmp_path)["submissions"] == 2
        await site.organiser.create_benchmark("third")  # A write, while the import waits.
    assert (await call).submission_count == 2
    assert await listed(site) == [BENCHMARK, "benchmarks/other", "benchmarks/third"]
    await site.expire()
    assert held(await export(site.organiser, BENCHMARK)) == held(data)


async def test_the_first_of_two_simultaneous_imports_to_end_gets_the_name(
    site: Hosted, half_way: HalfWayImport, tmp_path: Path
) -> None:
    """Nothing of the other one remains."""
    data = await removed(site)
    async with half_way.importing(site, data) as late:
        await import_(site.organiser, data)
        once = rows(tmp_path)
    status = await refusal(late)
    assert (status.code, status.reason) == (grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN")
    await site.expire()
    assert rows(tmp_path)["submissions"] == 2
    assert once["submissions"] > 2
    assert held(await export(site.organiser, BENCHMARK)) == held(data)


async def test_an_import_whose_caller_has_left_leaves_nothing(
    site: Hosted, half_way: HalfWayImport, tmp_path: Path
) -> None:
    data = await removed(site)
    async with half_way.importing(site, data) as call:
        call.cancel()
        await asyncio.wait([call])
        async with asyncio.timeout(TIMEOUT_S):
            while rows(tmp_path) != NOTHING:
                await site.expire()
                await asyncio.sleep(0.01)
    await site.expire()
    assert rows(tmp_path) == NOTHING
    assert await listed(site) == ["benchmarks/other"]


async def test_the_backup_of_a_whole_site_is_not_imported(site: Hosted) -> None:
    """It has tokens, which would let its maker in."""
    data = await export(site.organiser)
    assert "tokens" in {table for table, _ in read_rows(io.BytesIO(data))}
    found = await refusal(import_(site.organiser, data))
    assert "the backup of a whole site" in found.message


async def test_a_backup_whose_rows_do_not_fit_leaves_nothing(
    site: Hosted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the last row does not fit, after all others were loaded."""
    monkeypatch.setattr(loading, "ITEMS_PER_PART", 1)
    file, _ = made(tmp_path, [benchmark_row(definition=SOUND), STREAM])
    status = await refusal(import_(site.organiser, file.read_bytes()))
    assert status.reason == "BACKUP_UNUSABLE"
    await site.expire()
    hosting_ = site.hosting
    assert not await hosting_.context.read(lambda reader: reader.has_hidden())


@pytest.mark.parametrize("share", [0.5, 1.0])
async def test_an_import_whose_lease_was_lost_is_abandoned(
    site: Hosted, half_way: HalfWayImport, tmp_path: Path, share: float
) -> None:
    """As after a pause of the server: a part of what it had loaded may have been freed."""
    half_way.share = share
    data = await removed(site)
    hosting_ = site.hosting
    async with half_way.importing(site, data) as call:
        [lease] = await hosting_.context.read(lambda reader: reader.leases())
        await hosting_.context.write(lambda t: t.end_lease(lease.work, lease.owner))
        await site.expire()
    status = await refusal(call)
    assert (status.code, status.reason) == (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE")
    await site.expire()
    assert rows(tmp_path) == NOTHING
    assert await listed(site) == ["benchmarks/other"]
