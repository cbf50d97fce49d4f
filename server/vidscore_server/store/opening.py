"""Open a store by where it is: a file, or the address of a database."""

from __future__ import annotations

from pathlib import Path

from vidscore_server.store.contract import Store, StoreError, StoreInUseError
from vidscore_server.store.locations import is_address
from vidscore_server.store.sql.sqlite import open_sqlite_beside, open_sqlite_store

MAXIMUM_CONNECTIONS = 10


def open_store(
    location: str, maximum_connections: int = MAXIMUM_CONNECTIONS, *, must_exist: bool = False
) -> Store:
    """Open a store, made where it is not there, and bring its schema up to date.

    Args:
        location: A file, or the address of a PostgreSQL database.
        maximum_connections: Connections to a database at most, one of them for writing.
        must_exist: Whether one that was never made is refused, and nothing made.

    Raises:
        StoreMissingError: If it was to exist and does not.
        StoreError: If it cannot be opened.
    """
    if not is_address(location):
        return open_sqlite_store(Path(location), must_exist=must_exist)
    try:
        from vidscore_server.store.sql.postgresql import (  # noqa: PLC0415 - an extra
            open_postgresql_store,
        )
    except ImportError:
        raise StoreError(
            "a store in PostgreSQL needs psycopg: install vidscore[postgresql]"
        ) from None
    return open_postgresql_store(location, maximum_connections, must_exist=must_exist)


def open_store_beside(location: str) -> Store:
    """The same, beside the server that may own a file: to add what its leases have no part in.

    Raises:
        StoreError: If it cannot be opened, or a server of another version owns it.
    """
    try:
        return open_store(location)
    except StoreInUseError:
        return open_sqlite_beside(Path(location))
