"""Look at a store's file without changing it, whether a server owns it or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError

from vidscore_server.store.contract import StoreError
from vidscore_server.store.sql import dumping
from vidscore_server.store.sql.migrating import migration_config, schema_of


@dataclass(frozen=True)
class StoreState:
    """What a store's file looks like.

    Attributes:
        schema: Revision of its tables.
        newest_schema: Revision that this version of vidscore brings them to.
        size_bytes: Bytes that it takes.
        fault: What SQLite finds wrong in it; empty for nothing.
    """

    schema: str
    newest_schema: str
    size_bytes: int
    fault: str


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
    found = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
    newest = ScriptDirectory.from_config(migration_config(connection)).get_current_head()
    return StoreState(
        schema, newest or "", dumping.size_bytes(connection), "" if found == "ok" else found
    )
