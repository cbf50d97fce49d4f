"""A backup is a snapshot of a site or a benchmark; it is restored completely or not at all."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, create_token, hosting, refusal
from tests.server.domain.sky import batch, batch_report, truth
from tests.server.scene import report_bytes

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.testing.examples import example_count
from vidscore_protos.v1 import access_service_pb2, backup_pb2, organiser_pb2, token_pb2
from vidscore_protos.v1 import server_service_pb2 as pb
from vidscore_protos.v1.server_service_pb2_grpc import ServerServiceStub
from vidscore_server.domain.administration import restore
from vidscore_server.domain.backups import export_backup
from vidscore_server.errors import BackupError, NameTakenError
from vidscore_server.store import open_store
from vidscore_server.store.backup_file import BackupHeader, check_backup, read_rows, write_backup
from vidscore_server.store.records import Row

FRAME_COUNT = 20
SENT = [0, 1, 2, 5, 6, 7]


async def export(client: Client, benchmark: str = "") -> bytes:
    stub: Any = ServerServiceStub(client.channel)
    request = backup_pb2.ExportBackupRequest(benchmark=benchmark)
    call = stub.ExportBackup(request, metadata=client.metadata)
    return b"".join([response.chunk async for response in call])


async def import_(client: Client, data: bytes) -> backup_pb2.ImportBackupResponse:
    stub: Any = ServerServiceStub(client.channel)
    pieces = (
        backup_pb2.ImportBackupRequest(chunk=data[at : at + 999]) for at in range(0, len(data), 999)
    )
    answer: backup_pb2.ImportBackupResponse = await stub.ImportBackup(
        pieces, metadata=client.metadata
    )
    return answer


async def prepare(hosted: Hosted) -> None:
    """A scored submission, an open one, and a second benchmark."""
    await hosted.organiser.create_benchmark()
    await hosted.organiser.create_benchmark("other")
    await hosted.organiser.upload(truth(FRAME_COUNT))
    await hosted.red.submit(batch(SENT))
    await hosted.red.ended()
    stream = await hosted.blue.submission("two")
    await hosted.blue.append(stream, 0, batch([3, 4]))


@asynccontextmanager
async def restored(folder: Path, data: bytes) -> AsyncIterator[Hosted]:
    """A server over the restored backup of a site."""
    restore_into(folder, data)
    async with hosting(folder) as server:
        yield server


def restore_into(folder: Path, data: bytes) -> None:
    folder.mkdir()
    file = folder / "backup"
    file.write_bytes(data)
    restore(file, str(folder / "store.db"))


def dumped(location: Path) -> list[Row]:
    """The rows of a store, without the numbers that its database assigned."""
    store = open_store(str(location))
    try:
        with store.read() as reader:
            return [
                (table, {name: value for name, value in row.items() if not is_number(name)})
                for table, row in reader.dump(None)
            ]
    finally:
        store.close()


def is_number(column: str) -> bool:
    return column in {"id", "number"} or column.endswith("_id")


async def report(client: Client, name: str = "one") -> bytes:
    [score] = await client.scores(name)
    return report_bytes(score.report)


@pytest.mark.slow
async def test_a_site_is_restored_with_its_tokens_scores_and_open_streams(
    hosted: Hosted, tmp_path: Path
) -> None:
    await prepare(hosted)
    data = await export(hosted.organiser)
    async with restored(tmp_path / "new", data) as new:
        organiser = new.client(hosted.organiser.secret)
        assert await report(organiser) == batch_report(FRAME_COUNT, SENT)
        blue = new.client(hosted.blue.secret)
        [stream] = (await blue.get("two")).streams
        assert (stream.next_offset, stream.epoch) == (2, 1)
        name = f"{BENCHMARK}/submissions/two/streams/default"
        assert await blue.append(name, 2, batch([8, 9])) == 4
        await blue.seal("two", 4)
        await blue.ended("two")
        assert await report(organiser, "two") == batch_report(FRAME_COUNT, [3, 4, 8, 9])


async def test_every_row_of_a_site_is_restored(hosted: Hosted, tmp_path: Path) -> None:
    await prepare(hosted)
    data = await export(hosted.organiser)
    file = tmp_path / "backup"
    file.write_bytes(data)
    restore(file, str(tmp_path / "new.db"))
    found = dumped(tmp_path / "new.db")
    rows = [
        (table, {name: value for name, value in row.items() if not is_number(name)})
        for table, row in read_rows(io.BytesIO(data))
    ]
    assert {table for table, _ in rows} >= {
        "site",
        "tokens",
        "scores",
        "detection_batches",
        "audit",
    }
    *kept, (last, of_restoring) = [entry for entry in found if entry[0] == "audit"]
    assert (last, of_restoring["action"]) == ("audit", "restore")
    assert kept == [entry for entry in rows if entry[0] == "audit"]
    assert [entry for entry in found if entry[0] != "audit"] == [
        entry for entry in rows if entry[0] != "audit"
    ]


@pytest.mark.slow
async def test_a_site_moves_to_postgresql_and_back_unchanged(
    hosted: Hosted, tmp_path: Path, database: str
) -> None:
    await prepare(hosted)
    restore_into(tmp_path / "first", await export(hosted.organiser))
    restore(tmp_path / "first" / "backup", database)
    again = tmp_path / "again"
    again.write_bytes(exported(database))
    restore(again, str(tmp_path / "last.db"))
    first, last = dumped(tmp_path / "first" / "store.db"), dumped(tmp_path / "last.db")
    *restored_rows, _ = [entry for entry in last if entry[0] == "audit"]
    assert without_times(restored_rows) == without_times(
        [entry for entry in first if entry[0] == "audit"]
    )
    assert [entry for entry in last if entry[0] != "audit"] == [
        entry for entry in first if entry[0] != "audit"
    ]


def exported(location: str) -> bytes:
    store = open_store(location)
    try:
        return b"".join(export_backup(store, None))
    finally:
        store.close()


def without_times(rows: list[Row]) -> list[Row]:
    """Audit records without their times; restoring adds a record itself."""
    return [(table, {**row, "time": 0}) for table, row in rows]


async def test_a_backup_is_a_snapshot_while_frames_arrive(hosted: Hosted, tmp_path: Path) -> None:
    await prepare(hosted)
    stub: Any = ServerServiceStub(hosted.channel)
    call = stub.ExportBackup(backup_pb2.ExportBackupRequest(), metadata=hosted.organiser.metadata)
    stream = f"{BENCHMARK}/submissions/two/streams/default"
    for offset in range(2, 6):
        await hosted.blue.append(stream, offset, batch([offset + 6]))
    data = b"".join([response.chunk async for response in call])
    async with restored(tmp_path / "new", data) as new:
        found = await new.client(hosted.blue.secret).get("two")
        assert found.frame_count == found.streams[0].next_offset
        assert 2 <= found.frame_count <= 6


async def test_a_benchmark_is_restored_into_a_running_server_beside_others(
    hosted: Hosted, tmp_path: Path
) -> None:
    await prepare(hosted)
    data = await export(hosted.organiser, BENCHMARK)
    folder = tmp_path / "new"
    folder.mkdir()
    async with hosting(folder) as new:
        await new.organiser.create_benchmark("third")
        answer = await import_(new.organiser, data)
        assert (answer.benchmark, answer.submission_count) == (BENCHMARK, 2)
        assert await report(new.organiser) == batch_report(FRAME_COUNT, SENT)
        assert (await new.blue.get("two")).frame_count == 2
        status = await refusal(import_(new.organiser, data))
        assert (status.code, status.reason) == (grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN")


async def test_the_backup_of_a_benchmark_has_no_data_of_the_site_or_of_others(
    hosted: Hosted,
) -> None:
    await prepare(hosted)
    rows = list(read_rows(io.BytesIO(await export(hosted.organiser, BENCHMARK))))
    assert {table for table, _ in rows} == {
        "benchmarks", "truth_revisions", "truth_batches", "submissions", "streams",
        "detection_batches", "sequences", "frames", "scores", "releases",
    }  # fmt: skip
    assert [row["benchmark"] for table, row in rows if table == "benchmarks"] == ["dots"]


@pytest.mark.slow
async def test_a_site_is_not_restored_over_another(hosted: Hosted, tmp_path: Path) -> None:
    await prepare(hosted)
    data = await export(hosted.organiser)
    status = await refusal(import_(hosted.organiser, data))
    assert (status.code, status.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "BACKUP_UNUSABLE")
    async with restored(tmp_path / "new", data):
        pass
    with pytest.raises(BackupError, match="found a store that is not empty, expected an empty one"):
        restore(tmp_path / "new" / "backup", str(tmp_path / "new" / "store.db"))


async def test_a_backup_of_a_missing_benchmark_is_refused(hosted: Hosted) -> None:
    status = await refusal(export(hosted.organiser, "benchmarks/none"))
    assert (status.code, status.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
    status = await refusal(export(hosted.organiser, "none"))
    assert status.code is grpc.StatusCode.INVALID_ARGUMENT


async def test_backups_and_restores_are_audited(hosted: Hosted) -> None:
    await prepare(hosted)
    data = await export(hosted.organiser, BENCHMARK)
    request = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK, force=True)
    await hosted.organiser.benchmarks.DeleteBenchmark(request, metadata=hosted.organiser.metadata)
    await import_(hosted.organiser, data)
    listed = await hosted.organiser.access.ListAuditRecords(
        access_service_pb2.ListAuditRecordsRequest(), metadata=hosted.organiser.metadata
    )
    actions = [(record.action, record.resource) for record in listed.records[:3]]
    assert actions == [
        ("ImportBackup", BENCHMARK),
        ("DeleteBenchmark", BENCHMARK),
        ("ExportBackup", BENCHMARK),
    ]


async def test_a_backup_larger_than_allowed_is_refused(tmp_path: Path) -> None:
    async with hosting(tmp_path, maximum_backup_bytes=1 << 20) as hosted:
        stub: Any = ServerServiceStub(hosted.channel)
        pieces = (backup_pb2.ImportBackupRequest(chunk=bytes(1 << 19)) for _ in range(3))
        status = await refusal(stub.ImportBackup(pieces, metadata=hosted.organiser.metadata))
    assert (status.code, status.metadata["limit"]) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "maximum_backup_bytes",
    )


async def test_the_server_info_shows_each_caller_what_it_may_know(hosted: Hosted) -> None:
    stub: Any = ServerServiceStub(hosted.channel)

    async def told(metadata: object) -> pb.Server:
        return (await stub.GetServer(pb.GetServerRequest(), metadata=metadata)).server  # type: ignore[no-any-return]

    anyone = await told(())
    assert anyone.hosting
    assert not anyone.draining
    assert not anyone.HasField("store")
    assert not anyone.HasField("token")
    lasting = await create_token(
        hosted.organiser, token_pb2.ROLE_PARTICIPANT, "green", comment="for the green ones"
    )
    participant = await told(hosted.client(lasting).metadata)
    assert (participant.token.team, participant.token.comment) == ("green", "")
    assert not participant.HasField("store")
    organiser = await told(hosted.organiser.metadata)
    assert (organiser.store.up, organiser.store.kind) == (True, "sqlite")
    assert organiser.store.size_bytes > 0


# --- damaged or handmade files ---------------------------------------------------------------

HEADER = BackupHeader("0.1.0", "0001", "2026-01-05T10:00:00+00:00", "dots")
ROWS: list[Row] = [
    ("benchmarks", {"id": 1, "benchmark": "dots", "definition": "{}"}),
    ("truth_batches", {"truth_revision_id": 1, "position": 0, "payload": bytes(range(256)) * 9}),
    ("truth_batches", {"truth_revision_id": 1, "position": 1, "payload": b""}),
]
FILE = b"".join(write_backup(HEADER, ROWS))


def test_a_backup_is_read_as_written() -> None:
    assert check_backup(io.BytesIO(FILE)) == HEADER
    assert list(read_rows(io.BytesIO(FILE))) == ROWS


@given(end=st.integers(0, len(FILE) - 1))
def test_a_truncated_file_is_detected(end: int) -> None:
    with pytest.raises(BackupError, match="backup: found"):
        check_backup(io.BytesIO(FILE[:end]))


@settings(max_examples=example_count(300))
@given(place=st.integers(0, len(FILE) - 1), change=st.integers(1, 255))
def test_a_changed_byte_is_detected_unless_the_content_is_the_same(place: int, change: int) -> None:
    data = bytearray(FILE)
    data[place] ^= change
    try:
        check_backup(io.BytesIO(bytes(data)))
    except BackupError:
        return
    # A few bits between the blocks of a compressed stream mean nothing.
    assert list(read_rows(io.BytesIO(bytes(data)))) == ROWS


@pytest.mark.parametrize("more", [b"\0", FILE])
def test_appended_bytes_are_detected(more: bytes) -> None:
    with pytest.raises(BackupError, match="something after its end"):
        check_backup(io.BytesIO(FILE + more))


def test_a_damaged_file_creates_no_store(tmp_path: Path) -> None:
    file = tmp_path / "backup"
    file.write_bytes(FILE[:-1])
    with pytest.raises(BackupError):
        restore(file, str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()


def made(tmp_path: Path, rows: list[Row], **header: str) -> tuple[Path, Path]:
    """A valid backup of these rows, and the path of a store that does not exist yet."""
    store = open_store(str(tmp_path / "any.db"))
    with store.read() as reader:
        schema = reader.schema()
    store.close()
    file = tmp_path / "backup"
    values = {"version": "0.1.0", "schema": schema, "time": "", "benchmark": "dots", **header}
    file.write_bytes(b"".join(write_backup(BackupHeader(**values), rows)))
    return file, tmp_path / "new.db"


def benchmark_row(**changed: object) -> Row:
    values = {
        "id": 7, "benchmark": "dots", "definition": "{}", "open_time": None, "close_time": None,
        "create_time": 1, "update_time": 1, "revision": 1, "truth_revision": 0, "board": "",
    }  # fmt: skip
    return "benchmarks", {**values, **changed}


SOUND = '{"evaluators": [{"name": "spotgeo"}]}'

STREAM: Row = (
    "streams",
    {
        "id": 1, "submission_id": 5, "stream": "default", "epoch": 1, "next_offset": 0,
        "source_position": "",
    },
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("tokens", {"token": "planted"})], "found a row of tokens, expected rows of dots alone"),
        ([benchmark_row(benchmark="other")], "expected rows of dots alone"),
        ([("nothing", {})], "expected a table of the store"),
        (
            [benchmark_row(definition=SOUND, revision="1")],
            r"benchmarks.revision: found str, expected int",
        ),
        (
            [benchmark_row(definition=SOUND, revision=1 << 63)],
            r"benchmarks.revision: found 9223372036854775808, expected a number of 64 bits",
        ),
        (
            [benchmark_row(definition=SOUND, revision=None)],
            r"benchmarks.revision: found NoneType, expected int",
        ),
        ([benchmark_row(definition=SOUND, more=1)], "benchmarks: found .*more"),
        (
            [benchmark_row(definition=SOUND), benchmark_row(definition=SOUND, id=8)],
            "backup: found a row twice, expected rows as a store has them",
        ),
        (
            [benchmark_row(definition=SOUND), STREAM],
            "submissions: found number 5, expected that of a row before",
        ),
        ([benchmark_row()], "found"),
        ([], "found no such row, expected the benchmark itself"),
    ],
)
def test_rows_that_do_not_fit_leave_the_store_unchanged(
    tmp_path: Path, rows: list[Row], message: str
) -> None:
    file, location = made(tmp_path, rows)
    with pytest.raises(InputError, match=message):
        restore(file, str(location))
    assert [table for table, _ in dumped(location)] == ["site"]


def test_a_backup_of_other_tables_names_the_version_that_can_restore_it(tmp_path: Path) -> None:
    file, location = made(tmp_path, [], schema="9999", version="7.7.7")
    with pytest.raises(BackupError, match=r"9999, of vidscore 7\.7\.7, expected revision"):
        restore(file, str(location))
    assert not location.exists()


async def test_a_restore_does_not_replace_an_existing_name(hosted: Hosted, tmp_path: Path) -> None:
    await prepare(hosted)
    file, location = tmp_path / "backup", tmp_path / "new.db"
    file.write_bytes(await export(hosted.organiser, BENCHMARK))
    assert restore(file, str(location)).benchmark == "dots"
    before = dumped(location)
    with pytest.raises(NameTakenError, match="benchmarks/dots already exists"):
        restore(file, str(location))
    assert dumped(location) == before
