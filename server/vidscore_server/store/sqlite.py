"""SQLite: one file, owned by one process, every commit on the disk before it counts.

WAL lets readers run beside the writer; full synchronisation makes a commit survive a power cut.
Network file systems guarantee neither, so known ones are refused.

One process owns the file, because only one may lease work and migrate the schema. Another one on
the same machine may still read and write beside it, as `vidscore init` does: a writing transaction
takes SQLite's write lock before it reads, so neither decides by a state that the other has changed
meanwhile.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct
from sqlalchemy import URL, Connection, Engine, create_engine, delete, event, text
from sqlalchemy.exc import DBAPIError

from vidscore_server.store import dump
from vidscore_server.store.errors import (
    StoreError,
    StoreInUseError,
    StoreLostError,
    StoreMissingError,
)
from vidscore_server.store.migrations import refuse_other_schema, revisions, schema_of, upgrade
from vidscore_server.store.prepared import Prepared
from vidscore_server.store.sql_store import MAXIMUM_GROUP, Sharing, SqlStore, lock_nothing
from vidscore_server.store.tables import leases

BUSY_TIMEOUT_MS = 10_000

WAL_BYTES = 16 << 20
"""Size to which the write-ahead log is truncated after a checkpoint.

SQLite checkpoints about every 4 MB, and would leave the log at its largest size.
"""

NETWORK_FILE_SYSTEMS = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "gfs2", "gpfs",
     "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3", "smbfs"}
)  # fmt: skip

MOUNTS = Path("/proc/mounts")
"""The system's table of mounted file systems."""

_WRITES = "vidscore_writes"
"""Execution option of connections whose transactions write."""

_BEGIN = Prepared(lambda _: text("BEGIN"))
_BEGIN_TO_WRITE = Prepared(lambda _: text("BEGIN IMMEDIATE"))
"""The driver runs these directly: through SQLAlchemy, one takes a third of an empty transaction."""

_FIRST_BYTES = b"SQLite format 3\0"
_VERSION_TABLE = "alembic_version"

_FAILURES = (DBAPIError, sqlite3.Error, OSError, UnicodeDecodeError)
"""Errors of opening a file; the last one comes from damaged names of tables."""

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    f"PRAGMA journal_size_limit={WAL_BYTES}",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
)


def open_sqlite_store(path: Path, mounts: Path = MOUNTS, *, must_exist: bool = False) -> SqlStore:
    """Open a store in a file, created if it is missing, and migrate its schema.

    Args:
        path: The file; its folder must exist.
        mounts: The system's table of mounted file systems.
        must_exist: Whether a missing or empty file is an error.

    Raises:
        StoreMissingError: If it must exist and does not.
        StoreInUseError: If another process owns the store.
        StoreError: If the folder is missing or on a network file system, the file has several
            names, or it cannot be opened: it is not a database, it belongs to another program, or
            the disk is full.
    """
    if must_exist and not path.exists():
        raise StoreMissingError.at(str(path))
    path = _itself(path)
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist: make it, or choose another")
    _refuse_network(path, mounts)
    _refuse_names(path, mounts)
    try:
        _refuse_other_files(path)
        return _open(path, must_exist=must_exist)
    except _FAILURES as error:
        raise _cannot_open(path, error) from error


def open_sqlite_beside(path: Path) -> SqlStore:
    """Open a store that another process owns; leases and schema remain the owner's.

    Raises:
        StoreError: If it cannot be opened, or was created by another version of vidscore.
    """
    path = _itself(path)
    _refuse_network(path, MOUNTS)
    _refuse_names(path, MOUNTS)
    try:
        engine = _engine(path)
        try:
            with engine.begin() as connection:
                refuse_other_schema(connection)
        except BaseException:
            engine.dispose()
            raise
    except _FAILURES as error:
        raise _cannot_open(path, error) from error
    return _store(engine, path)


def _itself(path: Path) -> Path:
    """The target of a link, because SQLite keeps its log beside the file, not beside the link.

    Raises:
        StoreError: If there is none: links form a cycle, or a name is too long.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise StoreError(f"the store {path} cannot be opened: {_reason(error)}") from error
    return Path(os.path.realpath(path))  # `resolve` differs before Python 3.13


def _open(path: Path, *, must_exist: bool) -> SqlStore:
    release = _lock(path)
    try:
        # Created before SQLite does it, so that it is never readable for others.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        engine = _engine(path)
        try:
            _synchronise(engine)
            with _writing(engine).begin() as connection:
                if must_exist and schema_of(connection) is None:
                    raise StoreMissingError.at(str(path))
                upgrade(connection)
                # This process is the only owner: old leases belong to dead servers.
                connection.execute(delete(leases))
        except BaseException:
            engine.dispose()
            raise
    except BaseException:
        release()
        raise
    return _store(engine, path, release, _presence(path))


def _synchronise(engine: Engine) -> None:
    """Make the log durable: its writer may have died before it was synchronised.

    Otherwise readers would see data that a power cut could still remove.
    """
    with closing(engine.raw_connection()) as connection:
        connection.cursor().execute("PRAGMA wal_checkpoint(PASSIVE)")


def _store(
    engine: Engine,
    path: Path,
    release: Callable[[], None] = lambda: None,
    check: Callable[[], None] = lambda: None,
) -> SqlStore:
    counter = _CommitCounter(path)

    def release_all() -> None:
        counter.close()
        release()

    sharing = Sharing(
        lock_nothing, engine, MAXIMUM_GROUP, shared=False, state_number=counter.number
    )
    return SqlStore(_writing(engine), sharing, release_all, check)


class _CommitCounter:
    """Reads SQLite's own counter of commits to a file by other connections.

    It has its own connection, because a connection's own commits are not counted.
    """

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(
            path, timeout=0, isolation_level=None, check_same_thread=False
        )

    def number(self) -> int | None:
        """The counter; None if the file is locked at the moment, or closed."""
        try:
            # All rows: a statement that is not at its end would keep the log from being reset.
            [(number,)] = self._connection.execute("PRAGMA data_version").fetchall()
        except sqlite3.Error:
            return None
        return int(number)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _writing(engine: Engine) -> Engine:
    """The engine, with transactions that take the write lock at their start."""
    return engine.execution_options(**{_WRITES: True})


def _presence(path: Path) -> Callable[[], None]:
    """A check that the file, its write-ahead log and its lock still exist under their names.

    An open file survives its name: frames would be acknowledged into a deleted file, and without
    its lock a second server could own the store.
    """
    log, lock = Path(f"{path}-wal"), _lock_of(path)
    opened = {file: file.stat() for file in (path, lock)}

    def check() -> None:
        try:
            same = (os.path.samestat(file.stat(), before) for file, before in opened.items())
            present = log.exists() and all(same)
        except OSError:
            present = False
        if not present:
            raise StoreLostError(
                f"the store's file {path}, or {log.name} or {lock.name} beside it, was moved, "
                "deleted or replaced while the server ran: put it back (a lock is made anew), or "
                "restore a backup, and start again"
            )

    return check


def _cannot_open(path: Path, error: Exception) -> StoreError:
    return _about_disk(path, f"the store {path} cannot be opened: {_reason(error)}")


def _about_disk(path: Path, text: str) -> StoreError:
    """The error of a file, with advice if its disk or its owner may be the cause."""
    disk = os.statvfs(path.parent)
    if disk.f_flag & os.ST_RDONLY:
        return StoreError(f"{text}; mount the disk for writing, then try again")
    # SQLite reports an I/O error if there is no room for its shared-memory file.
    if not disk.f_bavail:
        return StoreError(f"{text}; the disk is full: make room, then try again")
    if disk.f_files and not disk.f_favail:
        few = "the disk has no room for another file: delete some, then try again"
        return StoreError(f"{text}; {few}")
    return StoreError(f"{text}{_forbidden(path)}")


def _forbidden(path: Path) -> str:
    """A hint at files of the store that belong to another user, as after a move."""
    files = (path.parent, *(Path(f"{path}{ending}") for ending in ("", "-wal", "-shm", ".lock")))
    wanted = os.R_OK | os.W_OK
    found = [
        str(file)
        for file in files
        if file.exists() and not os.access(file, wanted, effective_ids=True)
    ]
    if not found:
        return ""
    advice = "be their owner, or give them to this user (chown)"
    return f"; this user may not read and write {' and '.join(found)}: {advice}"


_ADVICE = {
    "file is not a database": ": name the store's file, or, if it was one, restore a backup",
    "database disk image is malformed": ": restore a backup into a new store: vidscore restore",
}
"""What to do, by what SQLite says."""


def _reason(error: Exception) -> str:
    match error:
        case UnicodeDecodeError():
            return "its tables are damaged: restore a backup"
        case OSError():
            return str(error.strerror)
        case DBAPIError():
            text = str(error.orig)
        case _:
            text = str(error)
    return text + _ADVICE.get(text, "")


def _engine(path: Path) -> Engine:
    # In a URL as text, a file name with ? or % would name another file.
    engine = create_engine(URL.create("sqlite", database=str(path)))

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: object) -> None:
        # The driver would begin transactions late and end them at savepoints: control them here.
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(pragma)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        (_BEGIN_TO_WRITE if writes else _BEGIN).run(connection, {})

    return engine


def _lock_of(path: Path) -> Path:
    return path.with_name(path.name + ".lock")


def _lock(path: Path) -> Callable[[], None]:
    """Lock the store's file, and return its release. The lock ends with the process in any case."""
    descriptor = os.open(_lock_of(path), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise StoreInUseError(
            f"another server owns {path}: stop it, or give this one a store of its own (the lock "
            "ends with that server: deleting its file does not help)"
        ) from None
    return lambda: os.close(descriptor)


def _mounted(mounts: Path) -> Iterator[tuple[Path, str]]:
    """Mount point and type of every mounted file system or file."""
    for line in mounts.read_text().splitlines() if mounts.exists() else []:
        _, place, kind, *_rest = line.split(" ")
        yield Path(place.replace("\\040", " ")), kind


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise StoreError(f"{path} is a folder: name the store's file in it, as {path / 'site.db'}")


def _refuse_names(path: Path, mounts: Path) -> None:
    """Refuse a file with several names, because lock and log lie beside one name only.

    Servers at two names would not see each other, and each would lose the other's acknowledged
    data.
    """
    _refuse_folder(path)
    if path.exists() and (names := path.stat().st_nlink) > 1:
        raise StoreError(
            f"{path} has {names} names (hard links), each of which would have a log of its own: "
            "remove the others"
        )
    if any(place == path for place, _ in _mounted(mounts)):
        raise StoreError(
            f"{path} is mounted as a single file: its log would lie in another folder than under "
            "its other names; mount its folder"
        )


def _refuse_other_files(path: Path) -> None:
    """Refuse a file of another program, before anything is written into it or beside it."""
    if not path.is_file() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        if file.read(len(_FIRST_BYTES)) != _FIRST_BYTES:
            raise sqlite3.DatabaseError("file is not a database")
    # Immutable: without the log and its locks, which may belong to another server.
    address = f"file:{quote(os.fsencode(path))}?immutable=1"
    with suppress(sqlite3.Error), closing(sqlite3.connect(address, uri=True)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if names and _VERSION_TABLE not in names:
            raise StoreError(f"{path} is the database of another program: name another file")


def _refuse_network(path: Path, mounts: Path) -> None:
    folder = path.parent
    best, kind = Path("/"), ""
    for mounted, file_system in _mounted(mounts):
        if folder.is_relative_to(mounted) and len(mounted.parts) >= len(best.parts):
            best, kind = mounted, file_system
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreError(
            f"{folder} is on a network file system ({kind}), where SQLite cannot promise that an "
            "acknowledged frame is kept: choose a folder on a local disk"
        )


class StoreState(Struct, frozen=True):
    """The state of a store's file.

    Attributes:
        schema: Revision of its tables.
        newest_schema: Newest revision that this version of vidscore knows.
        size_bytes: Size of the database.
        fault: The first fault that SQLite's integrity check finds; empty for none.
        newer: Whether a newer version of vidscore has written it; then this one cannot serve it.
    """

    schema: str
    newest_schema: str
    size_bytes: int
    fault: str
    newer: bool


def inspect_store(path: Path) -> StoreState:
    """Inspect a store's file read-only, whether a server owns it or not.

    Raises:
        StoreError: If it is not a store, or cannot be read.
    """
    _refuse_folder(path)
    if not path.is_file():
        raise StoreError(f"{path} does not exist: `vidscore init --store {path}` makes it")
    own = path.resolve()
    query = {"mode": "ro", "uri": "true"}
    if not Path(f"{own}-wal").exists():
        query["immutable"] = "true"  # nobody writes it; a full or read-only disk is no hindrance
    database = f"file:{quote(os.fsencode(own))}"
    engine = create_engine(URL.create("sqlite", database=database, query=query))
    try:
        with engine.connect() as connection:
            return _state(path, connection)
    except (DBAPIError, UnicodeDecodeError) as error:
        raise _about_disk(path, f"{path} cannot be read: {_reason(error)}") from error
    finally:
        engine.dispose()


def _state(path: Path, connection: Connection) -> StoreState:
    schema = schema_of(connection)
    if schema is None:
        raise StoreError(
            f"{path} is a database, but not a store of vidscore: name the store's file"
        )
    found = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one())
    known = revisions()
    return StoreState(
        schema,
        newest_schema=known[0],
        size_bytes=dump.size_bytes(connection),
        fault="" if found == "ok" else found,
        newer=schema not in known,
    )
