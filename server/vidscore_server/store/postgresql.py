"""PostgreSQL: one database that several servers read and write.

The address is libpq's own, ``postgresql://user:password@host:port/database?sslmode=verify-full``,
with all of libpq's parameters; defaults are added that bound every wait.

Groups of commands are isolated by advisory locks, keyed by the site's secret: one for the site,
shared by groups whose commands all name their submissions, and one for each of these submissions.
All locks are taken together, in order, before the first command reads.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError

from vidscore_server.store import shown_location
from vidscore_server.store.errors import StoreError, StoreMissingError
from vidscore_server.store.migrations import schema_of, upgrade
from vidscore_server.store.prepared import sent_together
from vidscore_server.store.reader import Reader
from vidscore_server.store.records import SubmissionKey
from vidscore_server.store.sql_store import Lock, Sharing, SqlStore

MINIMUM_VERSION = 14
MAXIMUM_GROUP = 64
"""Maximum savepoints that PostgreSQL keeps in memory; more would slow down all transactions."""

POOL_TIMEOUT_S = 30
"""Longest wait for a connection."""

_CONNECTING = {
    "application_name": "vidscore",
    "client_encoding": "UTF8",
    "connect_timeout": "10",
    # A machine that vanished is noticed within half a minute.
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "4",
    "tcp_user_timeout": "30000",
}
"""Defaults of libpq parameters that the address does not set."""

_SESSION = {
    "idle_in_transaction_session_timeout": "60s",
    "lock_timeout": "60s",
    "statement_timeout": "300s",
    # Of a stricter one, the snapshot would be older than the locks that its first statement takes.
    "default_transaction_isolation": "read committed",
    # The same on the database's side, to release the locks of a server that vanished.
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "4",
}

_READING = {**_SESSION, "idle_in_transaction_session_timeout": "0"}
"""The same for readers: they keep no locks, and may wait for the client of a backup, which has the
server's `idle_timeout_s`."""

_OPENING_KEY = 0x7669_6473_636F_7265  # "vidscore": one server at a time migrates the schema

_LOCK_SITE = text("SELECT pg_advisory_xact_lock(:site)")
_LOCK_SUBMISSIONS = text(
    "SELECT pg_advisory_xact_lock_shared(:site) UNION ALL "
    "SELECT pg_advisory_xact_lock(key) FROM unnest(CAST(:keys AS bigint[])) AS key"
)


def open_postgresql_store(address: str, maximum_connections: int, *, must_exist: bool) -> SqlStore:
    """Open a store in a database, and migrate its schema.

    Args:
        address: The database's address.
        maximum_connections: Maximum number of connections, one of them for writing.
        must_exist: Whether a database without a store is an error.

    Raises:
        StoreMissingError: If it must have a store and has none.
        StoreError: If the address is invalid, the database cannot be reached or is too old, or its
            role may not create tables.
    """
    connect = _connector(address)
    engine = _engine(connect, 1)
    try:
        with engine.begin() as connection:
            connection.execute(_LOCK_SITE, {"site": _OPENING_KEY})
            if must_exist and schema_of(connection) is None:
                raise StoreMissingError.at(shown_location(address))
            upgrade(connection)
            secret = Reader(connection).secret()
    except (SQLAlchemyError, psycopg.Error) as error:
        engine.dispose()
        raise _cannot_open(address, error) from error
    except BaseException:
        engine.dispose()
        raise
    readers = _engine(connect, maximum_connections - 1, reads=True).execution_options(
        isolation_level="REPEATABLE READ", postgresql_readonly=True
    )
    return SqlStore(engine, Sharing(locker(secret), readers, MAXIMUM_GROUP))


def locker(secret: bytes) -> Lock:
    """The lock against other servers of a site; see `vidscore_server.store.sql_store.Lock`."""

    def key_of(*names: str) -> int:
        digest = hashlib.sha256(secret + "/".join(names).encode()).digest()
        return int.from_bytes(digest[:8], "big", signed=True)

    site = key_of()

    def lock(connection: Connection, submissions: Collection[SubmissionKey] | None) -> None:
        with sent_together(connection):  # sent together with BEGIN
            if submissions is None:
                connection.execute(_LOCK_SITE, {"site": site})
            else:
                keys = sorted({key_of(*submission) for submission in submissions})
                connection.execute(_LOCK_SUBMISSIONS, {"site": site, "keys": keys})

    return lock


def _connector(address: str) -> Callable[[], Any]:
    try:
        parameters = {**_CONNECTING, **conninfo_to_dict(address)}
    except psycopg.Error:
        # The message of libpq quotes the address with its password.
        raise StoreError(
            "the store's address is invalid: expected "
            "postgresql://user:password@host:port/database?parameter=value"
        ) from None

    def connect() -> psycopg.Connection[Any]:
        connection = psycopg.connect(**parameters)  # type: ignore[arg-type] # libpq takes them as text
        try:
            _refuse_unfit(connection.info)
        except StoreError:
            connection.close()
            raise
        return connection

    return connect


def _engine(connect: Callable[[], Any], connections: int, *, reads: bool = False) -> Engine:
    engine = create_engine(
        "postgresql+psycopg://",
        creator=connect,
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_S,
        pool_pre_ping=reads,  # the database may have been restarted
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: object) -> None:
        for name, value in (_READING if reads else _SESSION).items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        # If it is off, acknowledged frames could be lost.
        connection.execute(
            "SELECT set_config('synchronous_commit', 'on', false) "
            "WHERE current_setting('synchronous_commit') = 'off'"
        )
        connection.commit()

    return engine


def _refuse_unfit(info: psycopg.ConnectionInfo) -> None:
    version = info.server_version // 10_000
    if version < MINIMUM_VERSION:
        raise StoreError(f"PostgreSQL {version} is too old: expected {MINIMUM_VERSION} or later")
    encoding = info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(f"the database is encoded in {encoding}: make one with ENCODING 'UTF8'")
    if info.parameter_status("in_hot_standby") == "on":
        raise StoreError("the database is a standby, which cannot be written to: name the primary")


def _cannot_open(address: str, error: Exception) -> StoreError:
    original = getattr(error, "orig", None) or error
    lines = " ".join(str(original).split())
    return StoreError(f"the store {shown_location(address)} cannot be opened: {lines[:500]}")
