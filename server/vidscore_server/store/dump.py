"""All rows of a store or of one benchmark: dumped, loaded, digested, copied to another store.

Row numbers are private to a database: rows get new ones as they are loaded, and their children
follow. A digest uses a row's position in its table instead of its number, so that it is the same in
every database.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.store import Reader, SqlStore, Transaction
from vidscore_server.store import tables as t
from vidscore_server.store.errors import AlreadyExistsError, CopyDiffersError, StoreNotEmptyError
from vidscore_server.store.records import Row, RowNumbers

ROWS_AT_ONCE = 64
"""Rows per fetch or insertion; some rows have megabytes."""

LARGEST = 1 << 63
"""Databases store integers in 64 bits."""

TABLES = {table.name: table for table in t.metadata.sorted_tables if table is not t.leases}
"""Tables, parents first; without leases, which are valid only here."""

_PARENTS = {key.column.table for table in TABLES.values() for key in table.foreign_keys}


def dump_rows(connection: Connection, benchmark: str | None) -> Iterator[Row]:
    """Every row except those of hidden benchmarks, or the rows of one benchmark, parents first."""
    for table in TABLES.values():
        named = t.IS_HIDDEN if benchmark is None else t.benchmarks.c.benchmark == benchmark
        of_named = belongs_to(table, t.benchmarks, named)
        if benchmark is not None and of_named is None:
            continue
        query = select(table).order_by(*table.primary_key.columns)
        if of_named is not None:
            query = query.where(~of_named if benchmark is None else of_named)
        rows = connection.execute(query.execution_options(yield_per=ROWS_AT_ONCE))
        for row in rows.mappings():
            yield table.name, {str(name): _plain(value) for name, value in row.items()}


def load_rows(connection: Connection, rows: Iterable[Row], numbers: RowNumbers) -> None:
    """Add rows as `dump_rows` returns them; see `Transaction.load`.

    Raises:
        InputError: If a row does not fit its table, or precedes its parent.
        AlreadyExistsError: If a row already exists.
    """
    loader = _Loader(connection, numbers)
    try:
        for name, values in rows:
            loader.add(name, values)
        loader.flush()
    except IntegrityError as error:
        raise AlreadyExistsError("a row of the backup") from error


def is_empty(connection: Connection) -> bool:
    """Whether the store has only the site's secret."""
    kept = [table for table in TABLES.values() if table is not t.site]
    return all(connection.execute(select(table).limit(1)).first() is None for table in kept)


def size_bytes(connection: Connection) -> int:
    """Size of the database."""
    if connection.dialect.name == "postgresql":
        query = select(func.pg_database_size(func.current_database()))
        return int(connection.execute(query).scalar_one())
    pages, page_bytes = (
        int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
        for name in ("page_count", "page_size")
    )
    return pages * page_bytes


def belongs_to(
    table: Table, root: Table, wanted: ColumnElement[bool]
) -> ColumnElement[bool] | None:
    """Condition for rows that belong to `wanted` rows of `root`, or are such rows.

    None for a table without any.
    """
    if table is root:
        return wanted
    for key in table.foreign_keys:
        of_parent = belongs_to(key.column.table, root, wanted)
        if of_parent is not None:
            return key.parent.in_(select(key.column).where(of_parent))
    return None


class _Loader:
    """Inserts rows, in batches if no table refers to them."""

    def __init__(self, connection: Connection, numbers: RowNumbers) -> None:
        self._connection = connection
        self._new_numbers = numbers
        self._waiting: list[dict[str, Any]] = []
        self._table = t.site

    def add(self, name: str, values: dict[str, Any]) -> None:
        table = TABLES.get(name)
        if table is None:
            raise InputError([Fault(repr(name)[:80], "a table of the store", field="table")])
        row = _checked(table, values)
        for key in table.foreign_keys:
            row[key.parent.name] = self._new_number(key.column.table, row[key.parent.name])
        numbered = table.autoincrement_column
        old = 0 if numbered is None else int(row.pop(numbered.name))
        if table in _PARENTS:
            key_of_row = self._connection.execute(insert(table), row).inserted_primary_key
            assert key_of_row is not None  # noqa: S101 - a row that was inserted has a key
            self._new_numbers[table.name, old] = int(key_of_row[0])
        else:
            self._add_later(table, row)

    def flush(self) -> None:
        if self._waiting:
            self._connection.execute(insert(self._table), self._waiting)
            self._waiting = []

    def _add_later(self, table: Table, row: dict[str, Any]) -> None:
        if table is not self._table or len(self._waiting) >= ROWS_AT_ONCE:
            self.flush()
            self._table = table
        if table is t.site:
            self._connection.execute(delete(table).where(table.c.name == row["name"]))
        self._waiting.append(row)

    def _new_number(self, parent: Table, old: int) -> int:
        new = self._new_numbers.get((parent.name, old))
        if new is None:
            raise InputError([Fault(f"number {old}", "that of a row before", field=parent.name)])
        return new


def _checked(table: Table, values: dict[str, Any]) -> dict[str, Any]:
    """A copy of a row that has exactly the table's columns, with values of their types.

    Raises:
        InputError: If it does not.
    """
    names = [column.name for column in table.columns]
    if sorted(values) != sorted(names):
        found = ", ".join(sorted(map(str, values)))[:200]
        raise InputError([Fault(found, ", ".join(sorted(names)), field=table.name)])
    for column in table.columns:
        value = values[column.name]
        wanted = column.type.python_type
        fits = column.nullable if value is None else type(value) is wanted
        found, expected = type(value).__name__, wanted.__name__
        if fits and isinstance(value, int) and not -LARGEST <= value < LARGEST:
            fits, found, expected = False, str(value), "a number of 64 bits"
        if not fits:
            raise InputError([Fault(found, expected, field=f"{table.name}.{column.name}")])
    return dict(values)


def _plain(value: Any) -> Any:
    """A plain value, because psycopg returns bytes as a view of its buffer."""
    return bytes(value) if isinstance(value, memoryview) else value


_LENGTH_BYTES = 8


class TableDigest(NamedTuple):
    """The content of a table, independent of its database's row numbers."""

    row_count: int
    sha256: str


def table_digests(rows: Iterable[Row]) -> dict[str, TableDigest]:
    """Digest rows as `dump_rows` returns them, table by table."""
    hashes = {name: hashlib.sha256() for name in TABLES}
    counts: Counter[str] = Counter()
    places: dict[tuple[str, int], int] = {}
    for name, values in rows:
        table = TABLES[name]
        counts[name] += 1
        own = table.autoincrement_column
        if own is not None:
            places[name, values[own.name]] = counts[name]
        canonical = values | _placed(table, values, places)
        for column in table.columns:
            hashes[name].update(_encoded(canonical[column.name]))
    return {name: TableDigest(counts[name], hashes[name].hexdigest()) for name in TABLES}


def _placed(
    table: Table, values: dict[str, Any], places: dict[tuple[str, int], int]
) -> dict[str, int]:
    """The row numbers of a row, each replaced by the position of the row that has it."""
    placed = {
        key.parent.name: places[key.column.table.name, values[key.parent.name]]
        for key in table.foreign_keys
    }
    own = table.autoincrement_column
    if own is not None:
        placed[own.name] = places[table.name, values[own.name]]
    return placed


def _encoded(value: Any) -> bytes:
    """An injective encoding of a value, also when encodings are concatenated."""
    data = value if isinstance(value, bytes) else str(value).encode()
    kind = type(value).__name__[:1].encode()
    return kind + len(data).to_bytes(_LENGTH_BYTES, "big") + data


Progress = Callable[[str, int, int], None]
"""Called with (step, rows done, rows in all)."""

ROWS_PER_STEP = 1_000


def copy_store(source: SqlStore, target: SqlStore, progress: Progress) -> dict[str, TableDigest]:
    """Copy all but leases into an empty store, in one transaction, and verify the digests.

    Args:
        source: The store to copy.
        target: An empty store.
        progress: Called with the progress.

    Returns:
        Number of rows and digest of each table, the same in both.

    Raises:
        StoreNotEmptyError: If the target is not empty.
        CopyDiffersError: If the copy has other digests; then nothing is copied.
        StoreError: If a store fails.
    """
    with target.read() as reader:
        _refuse_full(reader)
    with source.read() as reader:
        found = table_digests(_counted(reader.dump(None), "reading", 0, progress))
        total = sum(digest.row_count for digest in found.values())

        def command(transaction: Transaction) -> None:
            _refuse_full(transaction)
            transaction.load(_counted(reader.dump(None), "copying", total, progress), {})
            written = _counted(transaction.dump(None), "checking", total, progress)
            _refuse_other(found, table_digests(written))

        target.submit(command).result()
    return found


def _refuse_full(reader: Reader) -> None:
    if not reader.is_empty():
        raise StoreNotEmptyError("the target is not empty: name a new store")


def _refuse_other(expected: dict[str, TableDigest], found: dict[str, TableDigest]) -> None:
    differing = [name for name in expected if expected[name] != found[name]]
    if differing:
        raise CopyDiffersError(
            f"what was written to {', '.join(differing)} is not what was read; nothing was kept"
        )


def _counted(rows: Iterable[Row], what: str, total: int, progress: Progress) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number % ROWS_PER_STEP == 0:
            progress(what, number, total)
        yield row
