"""What a store's tables hold, as a digest each: the same in every database.

Numbers that a database gave to rows are its own, so that rows are counted instead: the second
submission is the second one here and there, and what belongs to it says so.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Table

from vidscore_server.store.contract import Row
from vidscore_server.store.sql.dumping import TABLES

_LENGTH_BYTES = 8


class TableDigest(NamedTuple):
    """What a table holds, but for the numbers that the database gave to its rows."""

    row_count: int
    sha256: str


def table_digests(rows: Iterable[Row]) -> dict[str, TableDigest]:
    """Digest rows as `vidscore_server.store.sql.dumping.dump_rows` gives them, table by table."""
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
    """The numbers of a row, each as the place of the row that has it."""
    placed = {
        key.parent.name: places[key.column.table.name, values[key.parent.name]]
        for key in table.foreign_keys
    }
    own = table.autoincrement_column
    if own is not None:
        placed[own.name] = places[table.name, values[own.name]]
    return placed


def _encoded(value: Any) -> bytes:
    """A value as bytes that no other value has, even beside others."""
    data = value if isinstance(value, bytes) else str(value).encode()
    kind = type(value).__name__[:1].encode()
    return kind + len(data).to_bytes(_LENGTH_BYTES, "big") + data
