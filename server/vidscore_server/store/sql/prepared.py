"""Statements of the hot path: compiled once for a dialect, then run by the driver.

Running a statement through SQLAlchemy costs several times what SQLite needs for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Dialect, Executable
from sqlalchemy.exc import DBAPIError

Row = Mapping[str, Any]

LARGEST_BLOCK = 64
"""Rows of one statement: more would gain nothing, and take long to compile."""


class Prepared:
    """A statement with named parameters and no types that need converting.

    Args:
        build: Makes the statement; given the dialect's name.
    """

    def __init__(self, build: Callable[[str], Executable]) -> None:
        """Compile nothing yet."""
        self._build = build
        self._compiled: dict[str, tuple[str, tuple[str, ...] | None]] = {}

    def first(self, connection: Connection, row: Row) -> tuple[Any, ...] | None:
        """Run a query, and give the first row of its result.

        Args:
            connection: Where.
            row: Parameters by name.

        Raises:
            DBAPIError: As SQLAlchemy would raise it, but without the parameters.
        """
        text, names = self._for(connection.dialect)
        with _cursor(connection, text) as cursor:
            cursor.execute(text, _ordered(row, names))
            found: tuple[Any, ...] | None = cursor.fetchone()
            return found

    def run(self, connection: Connection, row: Row) -> None:
        """Run it.

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


class PreparedBlocks:
    """A statement over many rows at once.

    The driver lets go of the interpreter's lock at every row of every statement, and may wait for
    it longer than the row took. So it is given blocks of rows, of as many as powers of two say:
    few statements are compiled, and few are run.

    Args:
        build: Makes the statement over so many rows; parameter ``name`` of row 3 is ``name_3``.
        names: The parameters of a row, in the order in which the statement has them.
    """

    def __init__(self, build: Callable[[int], Executable], names: Sequence[str]) -> None:
        """Compile nothing yet."""
        self._build = build
        self._names = tuple(names)
        self._compiled: dict[tuple[str, int], tuple[str, tuple[str, ...] | None]] = {}

    def run(self, connection: Connection, rows: Sequence[Sequence[Any]]) -> None:
        """Run it over some rows.

        Args:
            connection: Where.
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
        """Run a query over some rows, and give all rows of its results.

        Args:
            connection: Where.
            rows: Parameters of each row, in order.
            common: Parameters that come once, before those of the rows.

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
        """Statements, each with the parameters of a block of rows."""
        start, size = 0, LARGEST_BLOCK
        while start < len(rows):
            while size > len(rows) - start:
                size //= 2
            text, names = self._for(dialect, size, common)
            values = [*common.values(), *chain.from_iterable(rows[start : start + size])]
            yield text, values if names is None else dict(zip(names, values, strict=True))
            start += size

    def _for(self, dialect: Dialect, size: int, common: Row) -> tuple[str, tuple[str, ...] | None]:
        """The statement over a block, and its parameters' names where the driver wants them."""
        found = self._compiled.get((dialect.name, size))
        if found is None:
            text, positions = _compiled(self._build(size), dialect)
            names = (*common, *(f"{name}_{row}" for row in range(size) for name in self._names))
            if positions not in {None, names}:
                raise ValueError(f"the statement has {positions}, expected {names}")
            found = text, None if positions else names
            self._compiled[dialect.name, size] = found
        return found


def _compiled(statement: Any, dialect: Dialect) -> tuple[str, tuple[str, ...] | None]:
    """A statement's text, and its parameters in order where the driver takes no names."""
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
