"""Tallies as bytes and back: for worker processes, stores and crash recovery.

A tally is a magic word, a checksum of the rest, the length of a JSON header, the header, and the
raw little-endian columns in the header's order. Equal tallies are equal bytes, because tables are
canonical and the header is written with sorted keys; bytes that are not what `tally_to_bytes`
would write are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import AnyArray, run_starts
from vidscore_evaluators.errors import TallyError
from vidscore_evaluators.exact_sums import ExactSums
from vidscore_evaluators.fingerprint import Fingerprint
from vidscore_evaluators.tally import Table, TableSchema, Tally, kept_rows

_MAGIC = b"vidscore-tally-2"
_CHECKSUM_BYTES = 16
_LENGTH = struct.Struct("<Q")
UNREADABLE = (ValueError, KeyError, TypeError, OverflowError, RecursionError, struct.error)
"""Errors of reading bytes of unknown origin."""

_HEXADECIMAL = re.compile(r"-?[0-9a-f]+")


def tally_to_bytes(tally: Tally) -> bytes:
    """Write a tally; equal tallies give equal bytes."""
    parts = {
        "tables": sorted(tally.tables.items()),
        "impression": sorted(tally.input_summary.items()),
    }
    header = {
        "evaluator": tally.evaluator,
        "truth": str(tally.truth),
        "detections": str(tally.detections),
        **{part: [_table_header(*entry) for entry in tables] for part, tables in parts.items()},
    }
    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    columns = [
        column for tables in parts.values() for _, table in tables for column in _columns(table)
    ]
    return seal(b"".join([_LENGTH.pack(len(encoded)), encoded, *columns]))


def tally_from_bytes(data: bytes) -> Tally:
    """Read what `tally_to_bytes` wrote.

    Memory is bounded by a small multiple of the length of `data`, whatever the bytes claim.

    Raises:
        TallyError: If the bytes are not a tally of this format, or are damaged.
    """
    try:
        return _read(unseal(data))
    except UNREADABLE as error:
        raise TallyError(f"these bytes are not a tally: {error}") from error


def seal(body: bytes, magic: bytes = _MAGIC) -> bytes:
    """Put magic word and checksum before a body.

    The checksum finds damage; it does not protect against deliberate forgery.
    """
    return b"".join([magic, _checksum(body), body])


def unseal(data: bytes, magic: bytes = _MAGIC) -> bytes:
    """Inverse of `seal`.

    Raises:
        ValueError: If the magic word differs, or the checksum is wrong.
    """
    start = len(magic) + _CHECKSUM_BYTES
    if not data.startswith(magic):
        raise ValueError("the first bytes are not those of a tally of this version")
    if data[len(magic) : start] != _checksum(data[start:]):
        raise ValueError("the checksum does not fit")
    return data[start:]


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECKSUM_BYTES).digest()


def _read(body: bytes) -> Tally:
    (length,) = _LENGTH.unpack_from(body)
    offset = _LENGTH.size + length
    header = json.loads(body[_LENGTH.size : offset])
    tables, offset = _read_tables(header["tables"], body, offset)
    input_summary, offset = _read_tables(header["impression"], body, offset)
    if offset != len(body):
        raise ValueError(f"{len(body) - offset} bytes are left over")
    return Tally(
        evaluator=_of(str, header["evaluator"], "evaluator"),
        tables=tables,
        truth=Fingerprint.from_hex(header["truth"]),
        detections=Fingerprint.from_hex(header["detections"]),
        input_summary=input_summary,
    )


def _read_tables(entries: Any, body: bytes, offset: int) -> tuple[dict[str, Table], int]:
    tables: dict[str, Table] = {}
    for entry in _list_of(dict, entries, "tables"):
        name = _of(str, entry["name"], "a table's name")
        if name in tables:
            raise ValueError(f"two tables are called {name!r}")
        tables[name], offset = _read_table(entry, body, offset)
    return tables, offset


def _table_header(name: str, table: Table) -> dict[str, Any]:
    schema = table.schema
    return {
        "name": name,
        "texts": schema.texts,
        "numbers": schema.numbers,
        "counts": schema.counts,
        "sums": schema.sums,
        "first": schema.first,
        "within": schema.within,
        "vocabulary": table.vocabulary,
        "rows": table.row_count,
        # Exact sums are integers of up to 2,100 bits, mostly short: hexadecimal keeps them exact.
        "exact": _hexadecimal(table),
    }


def _hexadecimal(table: Table) -> list[list[str]]:
    """Exact sums, row by row."""
    if not table.sums:
        return [[] for _ in range(table.row_count)]
    rows = zip(*(column.tolist() for column in table.sums), strict=True)
    return [[f"{value:x}" for value in row] for row in rows]


def _columns(table: Table) -> list[bytes]:
    return [
        table.text_codes.astype("<i8").tobytes(),
        table.numbers.astype("<f8").tobytes(),
        table.counts.astype("<i8").tobytes(),
    ]


def _read_table(entry: Mapping[str, Any], body: bytes, offset: int) -> tuple[Table, int]:
    texts, numbers, counts, sums = (
        _list_of(str, entry[key], key) for key in ("texts", "numbers", "counts", "sums")
    )
    schema = TableSchema(
        *(tuple(texts), tuple(numbers), tuple(counts), tuple(sums)),
        first=None if entry["first"] is None else _of(int, entry["first"], "first"),
        within=_of(int, entry["within"], "within"),
    )
    if not 0 <= schema.within <= len(texts):
        raise ValueError(f"rows are kept within {schema.within} of {len(texts)} texts")
    exact = _list_of(list, entry["exact"], "exact")
    rows = len(exact)
    if _of(int, entry["rows"], "rows") != rows:
        raise ValueError(f"the sums are of {rows} rows and not {entry['rows']}")
    codes, offset = _take(body, offset, rows, len(texts), "<i8")
    number_keys, offset = _take(body, offset, rows, len(numbers), "<f8")
    count_columns, offset = _take(body, offset, rows, len(counts), "<i8")
    vocabulary = tuple(_list_of(str, entry["vocabulary"], "vocabulary"))
    table = Table(schema, vocabulary, codes, number_keys, count_columns, _sums(exact, len(sums)))
    _check_canonical(table)
    return table, offset


def _sums(exact: list[list[Any]], width: int) -> tuple[ExactSums, ...]:
    for index, row in enumerate(exact):
        if len(row) != width or not all(_HEXADECIMAL.fullmatch(value) for value in row):
            raise ValueError(f"row {index} has no {width} sums in hexadecimal")
    return tuple(
        ExactSums.of_integers([int(row[column], 16) for row in exact]) for column in range(width)
    )


def _check_canonical(table: Table) -> None:
    """Refuse tables that would not add up: keys that repeat or are out of order."""
    codes, numbers = table.text_codes, table.numbers
    if list(table.vocabulary) != sorted(set(table.vocabulary)) or not np.array_equal(
        np.unique(codes), np.arange(len(table.vocabulary))
    ):
        raise ValueError("the vocabulary is not the texts in use, sorted")
    columns = [*codes.T, *numbers.T]
    if not columns:
        raise ValueError("a table needs a key column")
    order = np.lexsort(columns[::-1])
    if np.isnan(numbers).any() or not (
        np.array_equal(order, np.arange(len(order))) and len(run_starts(*columns)) == len(order)
    ):
        raise ValueError("the keys are not in ascending order, each once")
    if not kept_rows(table).all():
        raise ValueError("there are more rows than the table keeps")


def _take(body: bytes, offset: int, rows: int, width: int, dtype: str) -> tuple[AnyArray, int]:
    array = np.frombuffer(body, dtype=dtype, count=rows * width, offset=offset)
    native = array.astype(array.dtype.newbyteorder("="))
    return native.reshape(rows, width), offset + array.nbytes


def _of(kind: type, value: Any, name: str) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{name} is {type(value).__name__} and not {kind.__name__}")
    return value


def _list_of(kind: type, value: Any, name: str) -> list[Any]:
    return [_of(kind, entry, name) for entry in _of(list, value, name)]
