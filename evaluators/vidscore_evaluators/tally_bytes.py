"""Tallies as bytes and back: for worker processes, stores and crash recovery.

A tally is a magic word, the length of a JSON header, the header, and the raw little-endian
columns in the header's order. Equal tallies are equal bytes, because tables are canonical and
the header is written with sorted keys.
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.errors import TallyError
from vidscore_evaluators.fingerprint import Fingerprint
from vidscore_evaluators.tally import Table, TableSchema, Tally

_MAGIC = b"vidscore-tally-1"
_LENGTH = struct.Struct("<Q")


def tally_to_bytes(tally: Tally) -> bytes:
    """Write a tally; equal tallies give equal bytes."""
    names = sorted(tally.tables)
    header = {
        "evaluator": tally.evaluator,
        "truth": str(tally.truth),
        "detections": str(tally.detections),
        "tables": [_table_header(name, tally.tables[name]) for name in names],
    }
    encoded = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    columns = [column for name in names for column in _columns(tally.tables[name])]
    return b"".join([_MAGIC, _LENGTH.pack(len(encoded)), encoded, *columns])


def tally_from_bytes(data: bytes) -> Tally:
    """Read what `tally_to_bytes` wrote.

    Raises:
        TallyError: If the bytes are no tally of this format.
    """
    try:
        return _read(data)
    except (ValueError, KeyError, TypeError, IndexError, struct.error) as error:
        raise TallyError(f"these bytes are no tally: {error}") from error


def _read(data: bytes) -> Tally:
    if not data.startswith(_MAGIC):
        raise ValueError("the first bytes are not those of a tally")
    start = len(_MAGIC) + _LENGTH.size
    (length,) = _LENGTH.unpack_from(data, len(_MAGIC))
    header = json.loads(data[start : start + length])
    offset = start + length
    tables: dict[str, Table] = {}
    for entry in header["tables"]:
        tables[entry["name"]], offset = _read_table(entry, data, offset)
    if offset != len(data):
        raise ValueError(f"{len(data) - offset} bytes are left over")
    return Tally(
        evaluator=header["evaluator"],
        tables=tables,
        truth=Fingerprint.from_bytes(bytes.fromhex(header["truth"])),
        detections=Fingerprint.from_bytes(bytes.fromhex(header["detections"])),
    )


def _table_header(name: str, table: Table) -> dict[str, Any]:
    schema = table.schema
    return {
        "name": name,
        "texts": schema.texts,
        "numbers": schema.numbers,
        "counts": schema.counts,
        "sums": schema.sums,
        "vocabulary": table.vocabulary,
        "rows": table.row_count,
        # Exact sums are integers of up to 2,100 bits, mostly short: hexadecimal keeps them exact.
        "exact": [[f"{value:x}" for value in row] for row in table.sums.tolist()],
    }


def _columns(table: Table) -> list[bytes]:
    return [
        table.text_codes.astype("<i8").tobytes(),
        table.numbers.astype("<f8").tobytes(),
        table.counts.astype("<i8").tobytes(),
    ]


def _read_table(entry: dict[str, Any], data: bytes, offset: int) -> tuple[Table, int]:
    schema = TableSchema(*(tuple(entry[key]) for key in ("texts", "numbers", "counts", "sums")))
    rows = entry["rows"]
    codes, offset = _take(data, offset, rows, len(schema.texts), "<i8")
    numbers, offset = _take(data, offset, rows, len(schema.numbers), "<f8")
    counts, offset = _take(data, offset, rows, len(schema.counts), "<i8")
    vocabulary = tuple(entry["vocabulary"])
    if codes.size and not 0 <= codes.min() <= codes.max() < len(vocabulary):
        raise ValueError("a text code points outside the vocabulary")
    sums = np.empty((rows, len(schema.sums)), dtype=np.object_)
    for index, row in enumerate(entry["exact"]):
        sums[index, :] = [int(value, 16) for value in row]
    table = Table(schema, vocabulary, codes, numbers, counts, sums)
    return table, offset


def _take(data: bytes, offset: int, rows: int, width: int, dtype: str) -> tuple[AnyArray, int]:
    count = rows * width
    array = np.frombuffer(data, dtype=dtype, count=count, offset=offset)
    native = array.astype(array.dtype.newbyteorder("="))
    return native.reshape(rows, width), offset + array.nbytes
