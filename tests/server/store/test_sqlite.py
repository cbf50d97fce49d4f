"""SQLite fulfils the contract of stores, and its own guarantees about the file."""

from __future__ import annotations

import os
import pwd
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import text
from tests.server.store import records as r
from tests.server.store.commands import populate, put, truth
from tests.server.store.contract import StoreContract
from tests.server.store.sharing import SharingContract

from vidscore_server.store import SqlStore, Transaction
from vidscore_server.store.errors import StoreError, StoreInUseError, StoreMissingError
from vidscore_server.store.records import ServingRecord
from vidscore_server.store.sqlite import (
    WAL_BYTES,
    inspect_store,
    open_sqlite_beside,
    open_sqlite_store,
)

REOPEN = """
import sys
from pathlib import Path
from vidscore_server.store.errors import StoreInUseError
from vidscore_server.store.sqlite import open_sqlite_store
try:
    open_sqlite_store(Path(sys.argv[1]))
except StoreInUseError:
    sys.exit(3)
"""

ADD_TOKEN = """
import sys
from vidscore_server.domain.administration import initialise
initialise(sys.argv[1])
"""

LONG_ENOUGH_S = 0.2
"""Time in which a commit completes if nothing blocks it."""


class TestSqliteStore(StoreContract, SharingContract):
    """The contract."""


def test_rows_are_there_when_the_file_is_opened_again(path: Path) -> None:
    first = open_sqlite_store(path)
    put(first, populate)
    with first.read() as reader:
        secret = reader.secret()
    first.close()
    second = open_sqlite_store(path)
    with second.read() as reader:
        assert reader.submission("b", "s") == r.submission()
        assert reader.secret() == secret
    second.close()


def test_commits_of_a_dead_server_are_synchronised_before_they_are_shown(
    path: Path, tmp_path: Path
) -> None:
    """A commit may be in the log although its writer died before it was synchronised.

    A checkpoint synchronises the log and then the file, which holds the commit from then on.
    """
    left = tmp_path / "left"
    left.mkdir()
    with closing(open_sqlite_store(path)) as store:
        put(store, populate)
        for file in path.parent.glob(f"{path.name}*"):
            (left / file.name).write_bytes(file.read_bytes())
    with closing(open_sqlite_store(left / path.name)):
        copied = tmp_path / "copied.db"
        copied.write_bytes((left / path.name).read_bytes())
    with closing(sqlite3.connect(copied)) as alone:
        assert alone.execute("SELECT count(*) FROM submissions").fetchone() > (0,)


def test_a_missing_store_is_refused_and_not_created(path: Path) -> None:
    """A typing mistake, or a file that was moved away with its lock, must not look like a site."""
    with pytest.raises(StoreMissingError, match=f"vidscore init --store {path}"):
        open_sqlite_store(path, must_exist=True)
    assert list(path.parent.iterdir()) == []


def test_a_file_without_tables_is_not_a_store(path: Path) -> None:
    path.touch()
    with pytest.raises(StoreMissingError):
        open_sqlite_store(path, must_exist=True)
    open_sqlite_store(path).close()
    open_sqlite_store(path, must_exist=True).close()


@pytest.mark.slow
def test_a_second_process_is_refused(store: SqlStore, path: Path) -> None:
    put(store, populate)
    assert subprocess.run([sys.executable, "-c", REOPEN, str(path)]).returncode == 3


@pytest.mark.slow
def test_rows_added_by_another_process_are_read_by_the_owner_at_once(
    store: SqlStore, path: Path
) -> None:
    """The other process is like `vidscore init` beside a server."""
    made = subprocess.run([sys.executable, "-c", ADD_TOKEN, str(path)], capture_output=True)
    assert made.returncode == 0, made.stderr
    with store.read() as reader:
        assert [token.comment for token in reader.tokens(None, 9)] == ["made by vidscore init"]


def test_a_second_writer_waits_for_the_running_command_and_neither_fails(
    store: SqlStore, path: Path
) -> None:
    """The owner's command reads before it writes; what it has read is valid until it commits."""
    beside = open_sqlite_beside(path)
    added: list[Future[None]] = []

    def command(transaction: Transaction) -> list[str]:
        before = [token.token for token in transaction.tokens(None, 9)]
        added.append(beside.submit(lambda other: other.insert_token(r.token("beside"))))
        wait(added, timeout=LONG_ENOUGH_S)
        transaction.insert_token(r.token("owner"))
        assert [token.token for token in transaction.tokens(None, 9)] == [*before, "owner"]
        return before

    assert store.submit(command).result() == []
    added[0].result()
    beside.close()
    with store.read() as reader:
        assert {token.token for token in reader.tokens(None, 9)} == {"owner", "beside"}


def test_the_state_number_changes_after_each_commit_of_any_process(
    store: SqlStore, path: Path
) -> None:
    beside = open_sqlite_beside(path)
    numbers = [store.state_number()]
    for writer, token in ((store, "owner"), (beside, "beside"), (store, "again")):
        put(writer, lambda transaction, token=token: transaction.insert_token(r.token(token)))  # type: ignore[misc]
        numbers.append(store.state_number())
    beside.close()
    assert None not in numbers
    assert len(set(numbers)) == 4


def test_the_state_keeps_its_number_while_nothing_is_committed(store: SqlStore) -> None:
    def failing(_: Transaction) -> None:
        raise ValueError("no")

    put(store, populate)
    number = store.state_number()
    with store.read() as reader:
        assert reader.submission("b", "s") is not None
    with pytest.raises(ValueError, match="no"):
        put(store, failing)
    assert store.state_number() == number


def test_a_closed_store_has_no_state_number(path: Path) -> None:
    opened = open_sqlite_store(path)
    opened.close()
    assert opened.state_number() is None


def test_opening_beside_the_owner_does_not_end_its_leases(store: SqlStore, path: Path) -> None:
    put(store, lambda transaction: transaction.take_lease("work", "me", timedelta(hours=1)))
    open_sqlite_beside(path).close()
    with store.read() as reader:
        assert [lease.work for lease in reader.leases()] == ["work"]


def test_opening_beside_the_owner_leaves_a_store_of_another_version_unchanged(
    store: SqlStore, path: Path
) -> None:
    del store
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
    with pytest.raises(StoreError, match="stop the server first"):
        open_sqlite_beside(path)


def test_a_second_store_in_the_same_process_is_refused(store: SqlStore, path: Path) -> None:
    del store
    with pytest.raises(StoreInUseError):
        open_sqlite_store(path)


def test_other_users_may_not_read_the_file(store: SqlStore, path: Path) -> None:
    put(store, populate)
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file


def test_a_missing_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="missing"):
        open_sqlite_store(tmp_path / "missing" / "store.db")


def test_a_file_that_is_not_a_database_is_an_error_that_names_it(path: Path) -> None:
    path.write_text("notes about a benchmark\n" * 100)
    said = f"{path.name} cannot be opened: file is not a database: name the store's file"
    with pytest.raises(StoreError, match=said):
        open_sqlite_store(path)
    assert path.read_text().startswith("notes")


@pytest.mark.parametrize("must_exist", [False, True])
def test_the_file_of_another_program_is_refused_and_left_unchanged(
    tmp_path: Path, must_exist: bool
) -> None:
    text, foreign = tmp_path / "notes.txt", tmp_path / "foreign.db"
    text.write_text("These are notes of mine.")
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE mine (a)")
    before = {path: path.read_bytes() for path in (text, foreign)}
    for path, said in ((text, "file is not a database"), (foreign, "of another program")):
        with pytest.raises(StoreError, match=said):
            open_sqlite_store(path, must_exist=must_exist)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_damaged_table_names_are_an_error_that_names_the_file(path: Path) -> None:
    open_sqlite_store(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        connection.execute(
            "UPDATE sqlite_master SET name = CAST(x'62b3' AS TEXT), sql = 'CREATE TABLE' "
            "WHERE name = 'benchmarks'"
        )
    for opened in (open_sqlite_store, open_sqlite_beside, inspect_store):
        with pytest.raises(StoreError, match=f"{path.name} cannot be .*tables are damaged"):
            opened(path)


@pytest.mark.parametrize("opened", [open_sqlite_store, inspect_store])
def test_a_damaged_file_is_an_error_that_says_to_restore_a_backup(
    path: Path, opened: Callable[[Path], object]
) -> None:
    open_sqlite_store(path).close()
    with path.open("r+b") as file:
        file.seek(100)  # the first page of tables, after the header
        file.write(b"\xff" * 400)
    with pytest.raises(StoreError, match=r"malformed: restore a backup into a new store"):
        opened(path)


@pytest.mark.parametrize(
    ("free", "said"),
    [
        ({"f_bavail": 0}, "the disk is full: make room"),
        ({"f_favail": 0}, "the disk has no room for another file: delete some"),
        ({"f_favail": 0, "f_files": 0}, "unable to open database file$"),
    ],
)
def test_a_disk_without_room_for_the_log_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch, free: dict[str, int], said: str
) -> None:
    """Some file systems, such as btrfs, do not count files: all their counts are 0."""
    open_sqlite_store(path).close()
    real = os.statvfs(path.parent)
    names = [name for name in dir(real) if name.startswith("f_")]
    disk = SimpleNamespace(**{name: getattr(real, name) for name in names} | free)
    monkeypatch.setattr("os.statvfs", lambda _: disk)
    Path(f"{path}-wal").mkdir()
    with pytest.raises(StoreError, match=said):
        open_sqlite_store(path)


def test_a_lock_that_cannot_be_created_is_an_error_that_names_the_store(path: Path) -> None:
    path.with_name(path.name + ".lock").mkdir()
    with pytest.raises(StoreError, match=f"{path.name} cannot be opened: Is a directory"):
        open_sqlite_store(path)


def test_a_network_file_system_is_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/x / ext4 rw 0 0\nserver:/x {tmp_path} nfs4 rw 0 0\n")
    with pytest.raises(StoreError, match="nfs4"):
        open_sqlite_store(tmp_path / "store.db", mounts)


def test_a_symbolic_link_opens_its_target(path: Path, tmp_path: Path) -> None:
    """So are its lock and log; otherwise a second server would end the leases of the first."""
    link = tmp_path / "links" / "store.db"
    link.parent.mkdir()
    link.symlink_to(path)
    opened = open_sqlite_store(link)
    put(opened, populate)
    with pytest.raises(StoreInUseError):
        open_sqlite_store(path)
    assert [entry.name for entry in link.parent.iterdir()] == [link.name]
    opened.close()
    again = open_sqlite_store(path)
    with pytest.raises(StoreInUseError):
        open_sqlite_store(link)
    again.close()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("loop", "Too many levels of symbolic links"),
        ("loop/store.db", "Too many levels of symbolic links"),
        ("x" * 256, "File name too long"),
    ],
)
def test_an_impossible_path_is_an_error_that_names_it(
    tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "loop").symlink_to("back")
    (tmp_path / "back").symlink_to("loop")
    with pytest.raises(StoreError, match=f"{name} cannot be opened: {reason}"):
        open_sqlite_store(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["back", "loop"]


def test_a_file_with_a_second_hard_link_is_refused(store: SqlStore, path: Path) -> None:
    """Its lock and log would differ: both servers would serve, and one would lose its writes."""
    del store
    other = path.with_name("other.db")
    other.hardlink_to(path)
    for opened in (open_sqlite_store, open_sqlite_beside):
        with pytest.raises(StoreError, match=r"other\.db has 2 names \(hard links\)"):
            opened(other)
    assert not other.with_name("other.db.lock").exists()


@pytest.mark.parametrize("opened", [open_sqlite_store, open_sqlite_beside, inspect_store])
def test_a_folder_is_refused_as_a_folder(tmp_path: Path, opened: Callable[[Path], object]) -> None:
    """And not as a file with a second hard link, although subfolders link to it."""
    (tmp_path / "site").mkdir()
    with pytest.raises(StoreError, match=r"site is a folder: name the store's file in it"):
        opened(tmp_path / "site")
    assert [entry.name for entry in tmp_path.iterdir()] == ["site"]


def test_a_file_that_is_a_mount_point_is_refused(path: Path, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/x / ext4 rw 0 0\n/dev/x {path} ext4 rw 0 0\n")
    with pytest.raises(StoreError, match="mount its folder"):
        open_sqlite_store(path, mounts)


@pytest.mark.parametrize(
    "name", ["my?site.db", "my%41site.db", "my#site.db", "my site.db", "my\udcffsite.db"]
)
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    opened = open_sqlite_store(tmp_path / name)
    put(opened, populate)
    opened.close()
    open_sqlite_store(tmp_path / name, must_exist=True).close()
    assert inspect_store(tmp_path / name).fault == ""
    assert all(entry.name.startswith(name) for entry in tmp_path.iterdir())


def test_a_full_disk_fails_the_command_and_loses_nothing_that_was_acknowledged(path: Path) -> None:
    store = open_sqlite_store(path)
    put(store, populate)
    with store.read() as reader:
        pages = reader._connection.execute(text("PRAGMA page_count")).scalar_one()
    put(
        store,
        lambda t: t._connection.execute(text(f"PRAGMA max_page_count = {pages + 5}")),
    )
    large = b"x" * 100_000
    refused = store.submit(truth(large))
    assert "disk is full" in str(refused.exception(10))
    with store.read() as reader:
        assert reader.submission("b", "s") == r.submission()
        assert reader.truth_revision("b", 1) is None
    put(
        store,
        lambda t: t._connection.execute(text("PRAGMA max_page_count = 1000000")),
        truth(large),
    )
    store.close()


def test_the_log_is_truncated_after_many_writes_while_the_store_is_open(path: Path) -> None:
    with closing(open_sqlite_store(path)) as store:
        log = Path(f"{path}-wal")
        large = [b"x" * (1 << 20)] * (2 * WAL_BYTES >> 20)
        put(store, populate, truth(*large))
        assert log.stat().st_size > 2 * WAL_BYTES
        beat = ServingRecord(r.NOON, r.later(1))
        put(store, lambda t: t.put_serving(beat), lambda t: t.put_serving(beat))
        assert log.stat().st_size <= WAL_BYTES


@pytest.mark.parametrize("ending", ["", "-wal", ".lock"])
def test_a_file_of_another_user_is_named(ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder, _unprivileged_in(Path(folder)):
        path = Path(folder, "store.db")
        open_sqlite_store(path).close()
        file = Path(f"{path}{ending}")
        file.touch()
        file.chmod(0)
        said = (
            f"store {path} cannot be opened: .*; this user may not read and write {file}: be "
            r"their owner, or give them to this user \(chown\)$"
        )
        with pytest.raises(StoreError, match=said):
            open_sqlite_store(path)


@contextmanager
def _unprivileged_in(folder: Path) -> Iterator[None]:
    """Without the rights of root in a folder, if we have them."""
    if os.geteuid() != 0:
        yield
        return
    open_sqlite_store(folder / "first.db").close()  # imports what only root may read
    folder.chmod(0o777)
    os.seteuid(pwd.getpwnam("nobody").pw_uid)
    try:
        yield
    finally:
        os.seteuid(0)
