"""Statements of the hot path: compiled once for a dialect, then run by the driver.

Running a statement through SQLAlchemy costs several times what SQLite needs for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Dialect, Executable
from sqlalchemy.exc import DBAPIError

Row = Mapping[str, Any]


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
        with self._cursor(connection) as (cursor, text, names):
            cursor.execute(text, _ordered(row, names))
            found: tuple[Any, ...] | None = cursor.fetchone()
            return found

    def run(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Run it once for each of some rows.

        Raises:
            DBAPIError: As `first` does.
        """
        with self._cursor(connection) as (cursor, text, names):
            cursor.executemany(text, [_ordered(row, names) for row in rows])

    def run_columns(self, connection: Connection, columns: Mapping[str, Sequence[Any]]) -> None:
        """Run it once for each row of some columns, without a mapping for each.

        Raises:
            DBAPIError: As `first` does.
        """
        with self._cursor(connection) as (cursor, text, names):
            rows = zip(*(columns[name] for name in names or columns), strict=True)
            if names is None:
                cursor.executemany(text, [dict(zip(columns, row, strict=True)) for row in rows])
            else:
                cursor.executemany(text, rows)

    @contextmanager
    def _cursor(self, connection: Connection) -> Iterator[tuple[Any, str, tuple[str, ...] | None]]:
        text, names = self._for(connection.dialect)
        cursor = connection.connection.cursor()
        try:
            yield cursor, text, names
        except Exception as error:
            raise _wrapped(error, text, connection) from error
        finally:
            cursor.close()

    def _for(self, dialect: Dialect) -> tuple[str, tuple[str, ...] | None]:
        found = self._compiled.get(dialect.name)
        if found is None:
            compiled = self._build(dialect.name).compile(dialect=dialect)  # type: ignore[attr-defined] # every statement of ours
            positions = tuple(compiled.positiontup) if compiled.positiontup else None
            found = self._compiled[dialect.name] = (str(compiled), positions)
        return found


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
