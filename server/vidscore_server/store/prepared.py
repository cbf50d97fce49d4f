"""Statements that are compiled once per dialect, then run by the driver.

Running a statement through SQLAlchemy takes several times as long as SQLite itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from sqlalchemy import BindParameter, Connection, Dialect, Executable, Table, bindparam
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

Row = Mapping[str, Any]

LARGEST_BLOCK = 64
"""Maximum rows of one statement: more gain nothing, and take long to compile."""


class Prepared:
    """A statement with named parameters, of types that need no conversion.

    Args:
        build: Builds the statement for a named dialect.
    """

    def __init__(self, build: Callable[[str], Executable]) -> None:
        self._build = build
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def first(self, connection: Connection, row: Row) -> tuple[Any, ...] | None:
        """Run a query, and return the first row of its result.

        Args:
            connection: Connection, in a transaction.
            row: Parameters by name.

        Raises:
            DBAPIError: As SQLAlchemy would raise it, but without the parameters.
        """
        text, names = self._for(connection.dialect)
        with _cursor(connection, text) as cursor:
            cursor.execute(text, _ordered(row, names))
            found: tuple[Any, ...] | None = cursor.fetchone()
            return found

    def all(self, connection: Connection, row: Row) -> list[tuple[Any, ...]]:
        """Run a query, and return all rows of its result.

        Raises:
            DBAPIError: As `first` does.
        """
        text, names = self._for(connection.dialect)
        with _cursor(connection, text) as cursor:
            cursor.execute(text, _ordered(row, names))
            found: list[tuple[Any, ...]] = cursor.fetchall()
            return found

    def run(self, connection: Connection, row: Row) -> None:
        """Run the statement.

        Raises:
            DBAPIError: As `first` does.
        """
        text, names = self._for(connection.dialect)
        with _cursor(connection, text) as cursor:
            cursor.execute(text, _ordered(row, names))

    def _for(self, dialect: Dialect) -> tuple[str, tuple[str, ...] | None]:
        found = self._compiled.get(dialect.name)
        if found is None:
            found = self._compiled[dialect.name] = _compiled(self._build(dialect.name), dialect)
        return found


def put_row(table: Table, names: Sequence[str]) -> Callable[[str], Executable]:
    """Builds the statement that adds a row, or replaces the one that has its key.

    Args:
        table: The table.
        names: Its columns, each with a parameter of its name.
    """

    def build(dialect: str) -> Executable:
        insert = postgresql.insert if dialect == "postgresql" else sqlite.insert
        added = insert(table).values({name: bindparam(name) for name in names})
        keys = list(table.primary_key.columns)
        changed = {name: added.excluded[name] for name in names if table.c[name] not in keys}
        return added.on_conflict_do_update(index_elements=keys, set_=changed)

    return build


class PreparedBlocks:
    """A statement over many rows at once.

    The driver releases the GIL for every statement, and may wait for it longer than the statement
    takes. So rows are sent in blocks whose sizes are powers of two: few statements are compiled,
    and few are run.

    Args:
        build: Builds the statement for a number of rows; parameter ``name`` of row 3 is ``name_3``.
        names: Parameters of a row, in the statement's order.
    """

    def __init__(self, build: Callable[[int], Executable], names: Sequence[str]) -> None:
        self._build = build
        self._names = tuple(names)
        self._compiled: dict[tuple[str, int], tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
        """Run the statement over rows.

        Args:
            connection: Connection, in a transaction.
            rows: Parameters of each row, in order.

        Raises:
            DBAPIError: As SQLAlchemy would raise it, but without the parameters.
        """
        for text, values in self._blocks(connection.dialect, rows, {}):
            with _cursor(connection, text) as cursor:
                cursor.execute(text, values)

    def all(
        self, connection: Connection, rows: Sequence[Sequence[Any]], common: Row
    ) -> list[tuple[Any, ...]]:
        """Run a query over rows, and return all rows of its results.

        Args:
            connection: Connection, in a transaction.
            rows: Parameters of each row, in order.
            common: Common parameters, before those of the rows.

        Raises:
            DBAPIError: As `run` does.
        """
        found: list[tuple[Any, ...]] = []
        for text, values in self._blocks(connection.dialect, rows, common):
            with _cursor(connection, text) as cursor:
                cursor.execute(text, values)
                found.extend(cursor.fetchall())
        return found

    def _blocks(
        self, dialect: Dialect, rows: Sequence[Sequence[Any]], common: Row
    ) -> Iterator[tuple[str, Any]]:
        """Statements with the parameters of a block of rows each."""
        start, size = 0, LARGEST_BLOCK
        while start < len(rows):
            while size > len(rows) - start:
                size //= 2
            text, names = self._for(dialect, size, common)
            values = [*common.values(), *chain.from_iterable(rows[start : start + size])]
            yield text, values if names is None else dict(zip(names, values, strict=True))
            start += size

    def _for(self, dialect: Dialect, size: int, common: Row) -> tuple[str, tuple[str, ...] | None]:
        """The statement over a block, and its parameters' names if the driver takes names."""
        found = self._compiled.get((dialect.name, size))
        if found is None:
            text, positions = _compiled(self._build(size), dialect)
            names = (*common, *(f"{name}_{row}" for row in range(size) for name in self._names))
            if positions not in {None, names}:
                raise ValueError(f"the statement has {positions}, expected {names}")
            found = text, None if positions else names
            self._compiled[dialect.name, size] = found
        return found


def numbered(name: str, count: int) -> list[BindParameter[Any]]:
    """Names of a parameter in each of the given number of rows, for `PreparedBlocks`."""
    return [bindparam(f"{name}_{row}") for row in range(count)]


def _compiled(statement: Any, dialect: Dialect) -> tuple[str, tuple[str, ...] | None]:
    """A statement's text, and its parameters in order if the driver takes no names."""
    compiled = statement.compile(dialect=dialect)
    return str(compiled), tuple(compiled.positiontup) if compiled.positiontup else None


@contextmanager
def _cursor(connection: Connection, text: str) -> Iterator[Any]:
    cursor = connection.connection.cursor()
    try:
        yield cursor
    except Exception as error:
        raise _wrapped(error, text, connection) from error
    finally:
        cursor.close()


@contextmanager
def sent_together(connection: Connection) -> Iterator[None]:
    """Send statements without results, without waiting for each.

    PostgreSQL answers all of them together at the end, so that a server that holds locks waits
    once.

    Args:
        connection: Connection, in a transaction.

    Raises:
        DBAPIError: As from `Prepared.run`, for any of them, inside or at the end.
    """
    if connection.dialect.name != "postgresql":
        yield
        return
    driver: Any = connection.connection.driver_connection
    try:
        with driver.pipeline():
            yield
    except Exception as error:
        raise _wrapped(error, "", connection) from error


def _ordered(row: Row, names: tuple[str, ...] | None) -> Any:
    return row if names is None else [row[name] for name in names]


def _wrapped(error: Exception, text: str, connection: Connection) -> BaseException:
    dialect = connection.dialect
    driver_error: type[Exception] = dialect.loaded_dbapi.Error
    if not isinstance(error, driver_error):
        return error
    lost = dialect.is_disconnect(error, connection.connection.driver_connection, None)  # type: ignore[arg-type] # SQLAlchemy names its own protocol of drivers' connections
    return DBAPIError.instance(
        text, None, error, driver_error, hide_parameters=True, connection_invalidated=lost
    )
