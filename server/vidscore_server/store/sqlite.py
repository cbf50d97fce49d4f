"""SQLite: one file, owned by one process, every commit on the disk before it counts.

WAL lets readers go on beside the writer; full synchronisation makes a commit outlive a power cut.
Network file systems cannot promise either, so they are refused, as far as they can be told.

One process owns the file, because only one may lease work and bring the schema up to date. Another
one on the same machine may still read and write beside it, as `vidscore init` does: whoever writes
asks SQLite for the right to before it reads anything, so each waits for the other's commit, and
neither decides by a state that the other has changed meanwhile.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, delete, event
from sqlalchemy.exc import DBAPIError

from vidscore_server.store import dump
from vidscore_server.store.errors import (
    StoreError,
    StoreInUseError,
    StoreLostError,
    StoreMissingError,
)
from vidscore_server.store.migrations import (
    migration_config,
    refuse_other_schema,
    revisions,
    schema_of,
    upgrade,
)
from vidscore_server.store.sql_store import MAXIMUM_GROUP, Sharing, SqlStore, lock_nothing
from vidscore_server.store.tables import leases

BUSY_TIMEOUT_MS = 10_000

WAL_BYTES = 16 << 20
"""What the log of the newest commits is cut to once they stand in the file itself.

SQLite moves them there about every 4 MB, and would leave the log as large as it ever was.
"""

NETWORK_FILE_SYSTEMS = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "gfs2", "gpfs",
     "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3", "smbfs"}
)  # fmt: skip

_WRITES = "vidscore_writes"
"""Option of connections whose transactions write."""

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    f"PRAGMA journal_size_limit={WAL_BYTES}",
    "PRAGMA foreign_keys=ON",
    f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}",
)


def open_sqlite_store(
    path: Path, mounts: Path = Path("/proc/mounts"), *, must_exist: bool = False
) -> SqlStore:
    """Open a store in a file, made where it is not there, and bring its schema up to date.

    Args:
        path: The file; its folder must be there.
        mounts: The system's table of mounted file systems.
        must_exist: Whether a file that is not there, or holds no store, is refused.

    Raises:
        StoreMissingError: If it was to exist and does not.
        StoreInUseError: If another process owns the store.
        StoreError: If the folder is missing or on a network file system, or the file cannot be
            opened: it is no database, or the disk is full.
    """
    if must_exist and not path.exists():
        raise StoreMissingError.at(str(path))
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist: make it, or choose another")
    _refuse_network(path, mounts)
    try:
        return _open(path, must_exist=must_exist)
    except (DBAPIError, OSError) as error:
        raise _cannot_open(path, error) from error


def open_sqlite_beside(path: Path, mounts: Path = Path("/proc/mounts")) -> SqlStore:
    """Open a store that another process owns, to add to it; leases and schema stay the owner's.

    Args:
        path: The file.
        mounts: The system's table of mounted file systems.

    Raises:
        StoreError: If it cannot be opened, or was made by another version of vidscore.
    """
    _refuse_network(path, mounts)
    try:
        engine = _engine(path)
        try:
            with engine.begin() as connection:
                refuse_other_schema(connection)
        except BaseException:
            engine.dispose()
            raise
    except (DBAPIError, OSError) as error:
        raise _cannot_open(path, error) from error
    return _store(engine)


def _open(path: Path, *, must_exist: bool) -> SqlStore:
    release = _lock(path)
    try:
        # Made before SQLite does, so that nobody else can read it at any time.
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        engine = _engine(path)
        try:
            with _writing(engine).begin() as connection:
                if must_exist and schema_of(connection) is None:
                    raise StoreMissingError.at(str(path))
                upgrade(connection)
                # Nobody else works here any more: what is leased is to be taken up again.
                connection.execute(delete(leases))
        except BaseException:
            engine.dispose()
            raise
    except BaseException:
        release()
        raise
    return _store(engine, release, _presence(path))


def _store(
    engine: Engine,
    release: Callable[[], None] = lambda: None,
    check: Callable[[], None] = lambda: None,
) -> SqlStore:
    sharing = Sharing(lock_nothing, engine, MAXIMUM_GROUP, shared=False)
    return SqlStore(_writing(engine), sharing, release, check)


def _writing(engine: Engine) -> Engine:
    """The same engine, with transactions that wait for the right to write before they begin."""
    return engine.execution_options(**{_WRITES: True})


def _presence(path: Path) -> Callable[[], None]:
    """A check that the file, and the log of its newest commits beside it, are still in place.

    An open file outlives its name: without a look, frames would be acknowledged into nothing.
    """
    log = Path(f"{path}-wal")
    opened = path.stat()

    def check() -> None:
        try:
            present = os.path.samestat(path.stat(), opened) and log.exists()
        except OSError:
            present = False
        if not present:
            raise StoreLostError(
                f"the store's file {path}, or {log.name} beside it, was moved, deleted or replaced "
                "while the server ran: put it back, or restore a backup, and start again"
            )

    return check


def _cannot_open(path: Path, error: DBAPIError | OSError) -> StoreError:
    reason = error.strerror if isinstance(error, OSError) else error.orig
    # SQLite says "I/O error" where there is no room for the memory that its readers share.
    free = os.statvfs(path.parent).f_bavail
    hint = "" if free else "; the disk is full: make room, then try again"
    return StoreError(f"the store {path} cannot be opened: {reason}{hint}")


def _engine(path: Path) -> Engine:
    engine = create_engine(f"sqlite:///{path}")

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: object) -> None:
        # The driver would begin transactions late and end them at savepoints; we do it ourselves.
        connection.isolation_level = None
        for pragma in _PRAGMAS:
            connection.execute(pragma)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _lock(path: Path) -> Callable[[], None]:
    """Own the store; gives what lets go of it. The lock ends with the process, however it ends."""
    lock_path = path.with_name(path.name + ".lock")
    descriptor = os.open(lock_path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise StoreInUseError(
            f"another server owns {path}: stop it, or give this one a store of its own"
        ) from None
    return lambda: os.close(descriptor)


def _refuse_network(path: Path, mounts: Path) -> None:
    folder = path.parent.resolve()
    best, kind = Path("/"), ""
    for line in mounts.read_text().splitlines() if mounts.exists() else []:
        _, place, file_system, *_rest = line.split(" ")
        mounted = Path(place.replace("\\040", " "))
        if folder.is_relative_to(mounted) and len(mounted.parts) >= len(best.parts):
            best, kind = mounted, file_system
    if kind in NETWORK_FILE_SYSTEMS:
        raise StoreError(
            f"{folder} is on a network file system ({kind}), where SQLite cannot promise that an "
            "acknowledged frame is kept: choose a folder on a local disk"
        )


# --- Look at a store's file without changing it, whether a server owns it or not.


@dataclass(frozen=True)
class StoreState:
    """What a store's file looks like.

    Attributes:
        schema: Revision of its tables.
        newest_schema: Revision that this version of vidscore brings them to.
        size_bytes: Bytes that it takes.
        fault: What SQLite finds wrong in it; empty for nothing.
        newer: Whether a newer version of vidscore has written it, which this one cannot serve.
    """

    schema: str
    newest_schema: str
    size_bytes: int
    fault: str
    newer: bool


def inspect_store(path: Path) -> StoreState:
    """Look at a store.

    Raises:
        StoreError: If it is none, or cannot be read.
    """
    if not path.is_file():
        raise StoreError(f"{path} does not exist: `vidscore init --store {path}` makes it")
    engine = create_engine(f"sqlite:///file:{quote(str(path.resolve()))}?mode=ro&uri=true")
    try:
        with engine.connect() as connection:
            return _state(path, connection)
    except DBAPIError as error:
        raise StoreError(f"{path} cannot be read: {error.orig}") from error
    finally:
        engine.dispose()


def _state(path: Path, connection: Connection) -> StoreState:
    schema = schema_of(connection)
    if schema is None:
        raise StoreError(f"{path} is a database, but no store of vidscore")
    found = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one())
    known = [script.revision for script in revisions(migration_config(connection))]
    return StoreState(
        schema,
        newest_schema=known[0],
        size_bytes=dump.size_bytes(connection),
        fault="" if found == "ok" else found,
        newer=schema not in known,
    )
