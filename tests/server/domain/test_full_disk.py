"""A full disk is reported and costs no acknowledged data, and work continues after it."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from tests.clients.cli.helpers import run
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer
from tests.server.domain.hosted import BENCHMARK, Hosted, hosting, refusal
from tests.server.domain.live_scene import delete_benchmark
from tests.server.domain.sky import batch, batch_report, detections_of, place, truth
from tests.server.domain.test_backups import export, import_
from tests.server.scene import Refused, refused, report_bytes
from tests.server.web.site.browsing import browsing
from tests.server.web.site.uploading import DOTS, dots, send_file
from tests.support.requirements import missing
from tests.support.waiting import until

from vidscore_client import (
    Batching,
    DeadlineError,
    Delivery,
    Retry,
    SubmissionState,
    SubmissionStream,
    connect,
)
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server import runtime
from vidscore_server.domain import truth_upload
from vidscore_server.store.errors import StoreError
from vidscore_server.store.sqlite import open_sqlite_store

FRAME_COUNT = 20
TIMEOUT_S = 60.0


@pytest.mark.parametrize("moment", ["before_commit", "after_commit"])
async def test_a_commit_that_fails_for_lack_of_space_is_reported_and_its_retry_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    async with hosting(tmp_path) as hosted:
        stream = await _open(hosted)
        await hosted.organiser.append(stream, 0, batch(range(5)))
        with _failing(monkeypatch, moment):
            found = await refusal(hosted.organiser.append(stream, 5, batch(range(5, 10))))
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
        assert "make room" in found.message
        assert await hosted.organiser.append(stream, 5, batch(range(5, 10))) == 10
        await hosted.organiser.append(stream, 10, batch(range(10, FRAME_COUNT)))
        await _check_scored(hosted)


@pytest.mark.slow
async def test_a_result_that_does_not_fit_is_stored_once_there_is_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hosting(tmp_path) as hosted:
        stream = await _open(hosted)
        await hosted.organiser.append(stream, 0, batch(range(FRAME_COUNT)))
        hosted.workers.gate.clear()
        await hosted.organiser.seal()
        await until(lambda: bool(hosted.workers.jobs))
        job_count = len(hosted.workers.jobs)
        with _failing(monkeypatch, "before_commit"):
            hosted.workers.gate.set()
            await until(lambda: runtime._passed["before_commit"] > 1)
        await hosted.organiser.ended()
        assert len(hosted.workers.jobs) == job_count
        await _check_report(hosted)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A separate file system of 2 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        missing("mounting a file system, which takes root on Linux")
    if subprocess.run(mounting, capture_output=True, check=False).returncode:
        missing("mounting a file system, which this machine forbids")
    yield folder
    # Lazily: a reader's connection may live until it is garbage collected.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


async def test_a_full_disk_keeps_acknowledged_data_and_the_server_continues_once_there_is_space(
    small_disk: Path,
) -> None:
    async with hosting(small_disk) as hosted:
        stream = await _open(hosted)
        await hosted.organiser.append(stream, 0, batch(range(FRAME_COUNT)))
        filler = _fill(small_disk, spare_bytes=100_000)
        acknowledged, found = await _append_until_refused(hosted, stream, FRAME_COUNT)
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
        assert (await refusal(hosted.organiser.seal())).reason == "STORE_FULL"
        assert (await hosted.organiser.get()).frame_count == acknowledged
        filler.unlink()
        more = batch(range(acknowledged, acknowledged + 5))
        assert await hosted.organiser.append(stream, acknowledged, more) == acknowledged + 5
        await _check_scored(hosted, acknowledged + 5)


def test_opening_a_store_on_a_full_disk_is_an_error_that_says_so(small_disk: Path) -> None:
    path = small_disk / "store.db"
    open_sqlite_store(path).close()
    filler = _fill(small_disk, spare_bytes=0)
    with pytest.raises(StoreError, match="the disk is full: make room"):
        open_sqlite_store(path)
    filler.unlink()
    open_sqlite_store(path).close()


def doctor(store: Path) -> tuple[int, list[dict[str, str]]]:
    result = run("doctor", "--store", str(store), "--format", "json")
    return result.exit_code, json.loads(result.stdout)


def test_the_doctor_reads_a_store_on_a_full_disk_and_advises_to_make_room(
    small_disk: Path,
) -> None:
    path = small_disk / "store.db"
    open_sqlite_store(path).close()
    _fill(small_disk, spare_bytes=0)
    code, [store, disk] = doctor(path)
    assert (code, store["status"], disk["status"]) == (1, "ok", "failed")
    assert disk["advice"].startswith("make room")


def test_a_read_only_disk_is_named_with_what_to_do(small_disk: Path) -> None:
    path = small_disk / "store.db"
    open_sqlite_store(path).close()
    remount(small_disk, "ro")
    code, [store, disk] = doctor(path)
    assert (code, store["status"], disk["status"]) == (1, "ok", "failed")
    assert (disk["found"], "for writing" in disk["advice"]) == ("read-only", True)
    with pytest.raises(StoreError, match="Read-only file system; mount the disk for writing"):
        open_sqlite_store(path)


@pytest.mark.parametrize(
    ("full", "advice"), [(True, "the disk is full: make room"), (False, "mount the disk")]
)
def test_a_store_with_a_log_on_such_a_disk_is_not_called_another_file(
    small_disk: Path, tmp_path: Path, full: bool, advice: str
) -> None:
    """As after a power cut; without room beside it, SQLite cannot read the log."""
    store = open_sqlite_store(tmp_path / "store.db")
    for name in ("store.db", "store.db-wal"):
        shutil.copy(tmp_path / name, small_disk)
    store.close()
    if full:
        _fill(small_disk, spare_bytes=0)
    else:
        remount(small_disk, "ro")
    code, [found, _] = doctor(small_disk / "store.db")
    assert (code, found["status"], found["advice"]) == (1, "failed", "")
    assert advice in found["found"]


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(folder)], check=True)


@pytest.fixture
def small_temporary(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files, of 2 MB."""
    monkeypatch.setenv("TMPDIR", str(small_disk))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return small_disk


async def test_a_backup_without_temporary_space_succeeds_once_there_is_some(
    tmp_path: Path, small_temporary: Path
) -> None:
    async with hosting(tmp_path) as hosted:
        await _open(hosted)
        data = await export(hosted.organiser, BENCHMARK)
        await delete_benchmark(hosted)
        assert tempfile.tempdir == str(small_temporary)  # It would not be found on a full disk.
        filler = _fill(small_temporary, spare_bytes=0)
        found = await refusal(import_(hosted.organiser, data))
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
        assert "make room" in found.message
        filler.unlink()
        assert (await import_(hosted.organiser, data)).benchmark == BENCHMARK


async def test_truth_without_temporary_space_is_accepted_once_there_is_some(
    tmp_path: Path, small_temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth_upload, "SPOOLED_BYTES", 1)
    async with hosting(tmp_path) as hosted:
        await _open(hosted)
        filler = _fill(small_temporary, spare_bytes=0)
        found = await refusal(hosted.organiser.upload(truth(FRAME_COUNT)))
        assert (found.code, found.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "STORE_FULL")
        assert "make room" in found.message
        filler.unlink()
        assert (await hosted.organiser.upload(truth(FRAME_COUNT))).revision == 2


async def test_a_form_without_space_for_its_file_reports_it(
    tmp_path: Path, small_temporary: Path
) -> None:
    async with browsing(tmp_path) as site:
        await dots(site)
        filler = _fill(small_temporary, spare_bytes=0)
        page = await send_file(site.red, bytes(3 << 19))
        assert page.status == 429
        assert "make room" in page.words
        filler.unlink()
        assert "Frames 5" in (await send_file(site.red, DOTS)).words


@pytest.mark.slow
def test_a_client_waits_for_space_and_then_continues_by_itself(tmp_path: Path) -> None:
    """The process may not extend any file, as under a quota of the system."""
    server = KilledServer(tmp_path)
    try:
        server.start()
        with grpc.insecure_channel(server.address) as channel:
            Organiser(channel, server.secret).host(truth(FRAME_COUNT))
        with connect(server.address, token=server.secret) as client:
            retry = Retry(initial_s=0.05, maximum_s=0.1)
            batching = Batching(batch_frames=1, batch_interval_s=0.0)
            stream = client.submit("dots", batching=batching, delivery=Delivery(retry=retry))
            _send(stream, range(5))
            assert stream.flush(TIMEOUT_S) == 5
            _limit_files(server, max(file.stat().st_size for file in tmp_path.iterdir()))
            _send(stream, range(5, FRAME_COUNT))
            with pytest.raises(DeadlineError):
                stream.flush(1.0)
            full = stream.acknowledged_frames
            assert full < FRAME_COUNT
            _limit_files(server, resource.RLIM_INFINITY)
            assert stream.flush(TIMEOUT_S) == FRAME_COUNT
            stream.seal(FRAME_COUNT)
            assert stream.wait(TIMEOUT_S).state is SubmissionState.SCORED
        with grpc.insecure_channel(server.address) as channel:
            found = Organiser(channel, server.secret).report(stream.submission)
        assert found == batch_report(FRAME_COUNT, range(FRAME_COUNT))
    finally:
        server.kill()


def _send(stream: SubmissionStream, indices: Iterable[int]) -> None:
    for index in indices:
        sequence, number = place(index)
        stream.send(sequence, number, detections_of(index))


def _limit_files(server: KilledServer, size: int) -> None:
    _, hard = resource.prlimit(server.process_id, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process_id, resource.RLIMIT_FSIZE, (size, hard))


async def _open(hosted: Hosted) -> str:
    await hosted.organiser.create_benchmark(public=[])
    await hosted.organiser.upload(truth(FRAME_COUNT))
    return await hosted.organiser.submission()


async def _check_scored(hosted: Hosted, frame_count: int = FRAME_COUNT) -> None:
    """Each frame counts once; those beyond the truth belong to no known sequence."""
    await hosted.organiser.seal(frames=frame_count)
    ended = await hosted.organiser.ended()
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    await _check_report(hosted)


async def _check_report(hosted: Hosted) -> None:
    [score] = await hosted.organiser.scores()
    assert report_bytes(score.report) == batch_report(FRAME_COUNT, range(FRAME_COUNT))


@contextmanager
def _failing(monkeypatch: pytest.MonkeyPatch, point: str) -> Iterator[None]:
    """Let the next pass of a failpoint fail as if no space were left."""
    with monkeypatch.context() as patch:
        patch.setenv(runtime.FAILPOINTS_VARIABLE, f"{point}=raise@1")
        patch.setattr(runtime, "_passed", Counter())
        runtime._configured.cache_clear()
        try:
            yield
        finally:
            runtime._configured.cache_clear()


async def _append_until_refused(hosted: Hosted, stream: str, offset: int) -> tuple[int, Refused]:
    """Append until there is no space; returns the acknowledged offset and the client's error."""
    while True:
        try:
            more = batch(range(offset, offset + 5))
            offset = await hosted.organiser.append(stream, offset, more)
        except grpc.aio.AioRpcError as error:
            return offset, refused(error)


def _fill(folder: Path, spare_bytes: int) -> Path:
    """Fill a disk almost completely; returns the file that fills it."""
    file = folder / "filler"
    free = os.statvfs(folder)
    file.write_bytes(bytes(free.f_bavail * free.f_bsize - spare_bytes))
    return file
