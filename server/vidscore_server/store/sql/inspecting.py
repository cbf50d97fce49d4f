"""Look at a store's file without changing it, whether a server owns it or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError

from vidscore_server.store.contract import StoreError
from vidscore_server.store.sql import dumping
from vidscore_server.store.sql.migrating import migration_config, revisions, schema_of


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
        size_bytes=dumping.size_bytes(connection),
        fault="" if found == "ok" else found,
        newer=schema not in known,
    )
