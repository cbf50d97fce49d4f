"""Which failures the writer of a store survives, and which end it; no wait is endless."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.server.store import records as r
from tests.server.store.commands import populate, put

from vidscore_server.store import SqlStore, Transaction, open_store, postgresql, sql_store
from vidscore_server.store.errors import StoreError, StoreLostError

TIMEOUT_S = 60

SYNC_COUNTER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>

static int counted(const char *name, int descriptor) {
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    int log = open(getenv("SYNC_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    write(log, "s", 1);
    close(log);
    return real(descriptor);
}
int fsync(int descriptor) { return counted("fsync", descriptor); }
int fdatasync(int descriptor) { return counted("fdatasync", descriptor); }
"""

COMMIT_AND_COUNT = """
import os, sys
from pathlib import Path
from tests.server.store import records as r
from tests.server.store.commands import populate, put
from vidscore_server.store.sqlite import open_sqlite_store

log = Path(os.environ["SYNC_LOG"])
store = open_sqlite_store(Path(sys.argv[1]))
put(store, populate)
for number in range(5):
    before = log.stat().st_size
    put(store, lambda t: t.insert_submission(r.submission(f"s{number}x")))
    print(log.stat().st_size - before)
store.close()
"""


@pytest.fixture
def store(store: SqlStore) -> SqlStore:
    put(store, populate)
    return store


def add(name: str) -> Callable[[Transaction], None]:
    """A command that adds a submission."""
    return lambda transaction: transaction.insert_submission(r.submission(name))


def failing_once(error: BaseException) -> Callable[[str], None]:
    """A replacement for failpoints: fails one commit with an unexpected error."""
    errors = [error]

    def fail(name: str) -> None:
        if name == "before_commit" and errors:
            raise errors.pop()

    return fail


def test_the_writer_continues_after_an_unexpected_error(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_store, "failpoint", failing_once(ZeroDivisionError()))
    refused = store.submit(add("s2")).exception(TIMEOUT_S)
    assert isinstance(refused, StoreError)
    assert "ZeroDivisionError" in str(refused)
    put(store, add("s3"))
    assert not store.lost.done()
    with store.read() as reader:
        assert reader.submission("b", "s2") is None
        assert reader.submission("b", "s3") is not None


def test_the_writer_continues_after_its_database_was_a_standby(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(database)
    put(store, populate)

    def refuse(_: object) -> None:
        raise StoreError("the database is a standby, which cannot be written to")

    with monkeypatch.context() as patch:
        patch.setattr(postgresql, "_refuse_unfit", refuse)
        store._leave_connection()
        store._engine.dispose()  # The writer has to reconnect.
        refused = store.submit(add("s2")).exception(TIMEOUT_S)
    assert "standby" in str(refused)
    put(store, add("s2"))
    store.close()


def test_a_writer_that_ends_fails_all_waiting_and_later_commands(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_store, "failpoint", failing_once(SystemExit(1)))
    refused = store.submit(add("s2")).exception(TIMEOUT_S)
    assert "SystemExit" in str(refused)
    assert store.lost.result(TIMEOUT_S) is refused
    with pytest.raises(StoreLostError):
        store.submit(add("s3"))
    store.close()  # This does not wait for the thread that has ended.


@pytest.mark.parametrize(
    "how", ["deleted", "moved", "replaced by an older copy", "log deleted", "lock deleted"]
)
def test_nothing_is_acknowledged_if_the_file_was_replaced(
    store: SqlStore, path: Path, tmp_path: Path, how: str
) -> None:
    if how == "deleted":
        path.unlink()
    elif how == "moved":
        path.rename(tmp_path / "elsewhere.db")
    elif how == "log deleted":
        Path(f"{path}-wal").unlink()
    elif how == "lock deleted":
        Path(f"{path}.lock").unlink()
    else:
        copy = tmp_path / "copy.db"
        shutil.copyfile(path, copy)
        copy.replace(path)
    refused = store.submit(add("s2")).exception(TIMEOUT_S)
    assert isinstance(refused, StoreLostError)
    assert str(path) in str(refused)
    assert store.lost.result(TIMEOUT_S) is refused


def test_a_server_over_the_store_of_another_one_whose_lock_was_deleted_is_the_only_one(
    store: SqlStore, path: Path
) -> None:
    """As if somebody took the lock for a remainder of a dead server."""
    Path(f"{path}.lock").unlink()
    second = open_store(str(path))
    assert isinstance(store.submit(add("s2")).exception(TIMEOUT_S), StoreLostError)
    second.submit(add("s3")).result(TIMEOUT_S)
    second.close()


@pytest.mark.nightly
def test_every_commit_is_synchronised_before_it_is_acknowledged(path: Path, tmp_path: Path) -> None:
    source, library, log = (tmp_path / name for name in ("sync.c", "sync.so", "log"))
    source.write_text(SYNC_COUNTER)
    compiler = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-ldl"]
    caches = {f"ZIG_{which}_CACHE_DIR": str(tmp_path / "zig") for which in ("GLOBAL", "LOCAL")}
    subprocess.run(
        [*compiler, "-o", str(library), str(source)], check=True, env=os.environ | caches
    )
    log.touch()
    counted = subprocess.run(
        [sys.executable, "-c", COMMIT_AND_COUNT, str(path)],
        env=os.environ | {"LD_PRELOAD": str(library), "SYNC_LOG": str(log), "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    )
    syncs = [int(line) for line in counted.stdout.split()]
    assert len(syncs) == 5
    assert min(syncs) >= 1


def test_a_connection_to_the_file_synchronises_fully_and_uses_a_log(store: SqlStore) -> None:
    def ask(pragma: str) -> Callable[[Transaction], object]:
        query = text(f"PRAGMA {pragma}")
        return lambda t: t._connection.execute(query).scalar()

    told = [store.submit(ask(name)).result(TIMEOUT_S) for name in ("synchronous", "journal_mode")]
    assert told == [2, "wal"]
