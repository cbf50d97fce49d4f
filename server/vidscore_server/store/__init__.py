"""The durable state of a hosting server: one `SqlStore` over SQLite or PostgreSQL.

The classes are named here only for annotations. Their modules import SQLAlchemy, which a server
without a store never loads: `open_store` imports it when it is called.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vidscore_evaluators.errors import MissingExtraError
from vidscore_server.store.errors import StoreInUseError

if TYPE_CHECKING:
    from vidscore_server.store.reader import Reader
    from vidscore_server.store.sql_store import SqlStore
    from vidscore_server.store.transaction import Transaction
else:
    Reader = SqlStore = Transaction = Any

__all__ = [
    "Reader",
    "SqlStore",
    "Transaction",
    "is_address",
    "open_store",
    "open_store_beside",
    "shown_location",
]

MAXIMUM_CONNECTIONS = 10

_ADDRESS = re.compile(r"postgres(?:ql)?://")
_SHOWN = re.compile(
    r"postgres(?:ql)?://(?:[^/?@]*@)?(?P<host>[^/?@]*)(?P<database>/[^?@]*)?(?:\?[^@]*)?"
)


def is_address(location: str) -> bool:
    """Whether a location is the address of a database."""
    return _ADDRESS.match(location) is not None


def shown_location(location: str) -> str:
    """A location without secrets: of an address, only the host and the database."""
    if not is_address(location):
        return location
    match = _SHOWN.fullmatch(location)
    return f"postgresql://{match['host']}{match['database'] or ''}" if match else "postgresql://"


def open_store(
    location: str, maximum_connections: int = MAXIMUM_CONNECTIONS, *, must_exist: bool = False
) -> SqlStore:
    """Open a store, created if it is missing, and migrate its schema.

    Args:
        location: A file, or the address of a PostgreSQL database.
        maximum_connections: Maximum number of connections to a database, one of them for writing.
        must_exist: Whether a missing store is an error.

    Raises:
        StoreMissingError: If it must exist and does not.
        StoreError: If it cannot be opened.
        MissingExtraError: If it is an address, and psycopg is not installed.
    """
    if not is_address(location):
        from vidscore_server.store.sqlite import open_sqlite_store  # noqa: PLC0415 - see above

        return open_sqlite_store(Path(location), must_exist=must_exist)
    try:
        from vidscore_server.store.postgresql import open_postgresql_store  # noqa: PLC0415 - see above; an extra
    except ImportError:
        raise MissingExtraError("stores in PostgreSQL", "psycopg", "postgresql") from None
    return open_postgresql_store(location, maximum_connections, must_exist=must_exist)


def open_store_beside(location: str) -> SqlStore:
    """Open a store even if a server owns its file, to add records that need no lease.

    Raises:
        StoreError: If it cannot be opened, or a server of another version owns it.
    """
    try:
        return open_store(location)
    except StoreInUseError:
        from vidscore_server.store.sqlite import open_sqlite_beside  # noqa: PLC0415 - see above

        return open_sqlite_beside(Path(location))
