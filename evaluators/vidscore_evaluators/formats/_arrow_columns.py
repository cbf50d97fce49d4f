"""Columns of Arrow as typed columns of rows; values that do not fit are faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray
from vidscore_evaluators.formats._table import (
    EMPTY,
    EXPECTED_STRING,
    GREATEST_EXACT,
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    parse_string,
)

_GREATEST = 2**63 - 1
_EXPECTED_NUMBER = "a finite number, or null for none"
_ADVICE = "write null for missing values"
_TYPES = {
    Kind.NUMBER: "integers or floating-point numbers",
    Kind.INTEGER: "integers",
    Kind.STRING: "strings or integers",
}


def expected_type(kind: Kind, found: Any) -> str | None:
    """Expected type of a column; None if its type is suitable.

    Args:
        kind: Kind of its fields.
        found: Its `pyarrow.DataType`.
    """
    from pyarrow import types  # noqa: PLC0415 - an extra

    if types.is_dictionary(found) and kind is Kind.STRING:
        found = found.value_type
    is_text = any(is_kind(found) for is_kind in _text_kinds())
    is_number = types.is_integer(found) or (types.is_floating(found) and kind is not Kind.STRING)
    fits = types.is_null(found) or (is_text if kind is Kind.STRING else False) or is_number
    return None if fits else f"a column of {_TYPES[kind]}"


def rows_of(
    arrays: Sequence[Any],
    names: Sequence[str],
    kinds: Sequence[Kind],
    source: str,
    places: IntArray,
) -> tuple[RowTable, RowChecks]:
    """The rows of some arrays, and their faults.

    Args:
        arrays: (N,) arrays of pyarrow, at least one, of suitable types.
        names: Their names.
        kinds: Kinds of their fields.
        source: Name of the file.
        places: (N,) number of each row in the file, from 0.
    """
    columns: list[tuple[str, Kind, Any]] = []
    wrong: list[tuple[BoolArray, str, AnyArray | StringColumn | str, str, str | None]] = []
    for array, name, kind in zip(arrays, names, kinds, strict=True):
        values, faults = _READERS[kind](array)
        columns.append((name, kind, values))
        wrong.extend((fault[0], name, *fault[1:]) for fault in faults if fault[0].any())
    table = RowTable.of(columns, source, places, "entry")
    checks = RowChecks(table)
    for fault in wrong:
        checks.refuse(*fault)
    return table, checks


_Fault = tuple[BoolArray, AnyArray | StringColumn | str, str, str | None]
"""Rows, the found values, the expectation, and advice."""


def _numbers(array: Any) -> tuple[FloatArray, Sequence[_Fault]]:
    values, missing = _values(array)
    numbers = values.astype(np.float64)
    faults: list[_Fault] = [
        (np.isnan(numbers), "NaN", _EXPECTED_NUMBER, _ADVICE),
        (np.isinf(numbers), "an infinite number", _EXPECTED_NUMBER, None),
    ]
    numbers[missing] = np.nan
    return numbers, faults


def _integers(array: Any) -> tuple[IntArray, Sequence[_Fault]]:
    values, missing = _values(array)
    expected = f"{Kind.INTEGER.value}, or null for none"
    if values.dtype.kind == "f":
        values, faults = _numbers(array)
        whole = (values == np.floor(values)) & (np.abs(values) <= GREATEST_EXACT)
        fraction = ~whole & np.isfinite(values) & ~missing
        faults = [*faults, (fraction, values, expected, None)]
        integers = np.where(whole, values, 0.0).astype(np.int64)
    else:
        large = values > np.uint64(_GREATEST) if values.dtype == np.uint64 else missing & False
        faults = [(large, values, expected, None)]
        integers = values.astype(np.int64)
    integers[missing] = EMPTY
    return integers, faults


def _strings(array: Any) -> tuple[StringColumn, Sequence[_Fault]]:
    from pyarrow import types  # noqa: PLC0415 - an extra

    if types.is_dictionary(array.type) and not holds_texts(array.type):
        array = array.dictionary_decode()
    if types.is_integer(array.type) or types.is_null(array.type):
        values, missing = _values(array)
        digits = StringColumn.of_integers(values)
        codes = np.where(missing, len(digits.values), digits.codes)
        return StringColumn(codes, (*digits.values, "")), ()
    encoded = _as_dictionary(array)
    raw = [*_texts(encoded.dictionary), ""]
    places = encoded.indices.fill_null(len(raw) - 1)
    codes = places.to_numpy(zero_copy_only=False).astype(np.int64)
    parsed = [parse_string(text) for text in raw]
    table: dict[str, int] = {}
    of_raw = np.array([table.setdefault(text or "", len(table)) for text in parsed], dtype=np.int64)
    bad = np.array([text is None for text in parsed], dtype=np.bool_)[codes]
    faults: list[_Fault] = [(bad, StringColumn(codes, tuple(raw)), EXPECTED_STRING, None)]
    return StringColumn(of_raw[codes], tuple(table)), faults


def _texts(dictionary: Any) -> Iterator[str]:
    """Strings of a file; bytes that are not UTF-8 become characters that no name may have."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    for data in dictionary.cast(pa.large_binary()).to_pylist():
        yield "" if data is None else data.decode("utf-8", errors="surrogateescape")


def holds_texts(found: Any) -> bool:
    """Whether a `pyarrow.DataType` is of strings or bytes, or null."""
    from pyarrow import types  # noqa: PLC0415 - an extra

    if types.is_dictionary(found):
        found = found.value_type
    kinds = (*_text_kinds(), types.is_binary, types.is_large_binary, types.is_null)
    return any(is_kind(found) for is_kind in kinds)


def _as_dictionary(array: Any) -> Any:
    """Strings as a dictionary array; they may already be one."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if pa.types.is_dictionary(array.type):
        return array
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.large_binary())
    return array.dictionary_encode()


def _text_kinds() -> Sequence[Callable[[Any], bool]]:
    from pyarrow import types  # noqa: PLC0415 - an extra

    return types.is_string, types.is_large_string, types.is_string_view


def checked_array(array: Any) -> Any:
    """Check an array from a foreign memory layout; its strings are bytes, and may be invalid UTF-8.

    Raises:
        ValueError: If it refers to memory outside its own.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if pa.types.is_dictionary(array.type):
        array.indices.validate(full=True)
        return pa.DictionaryArray.from_arrays(array.indices, checked_array(array.dictionary))
    if pa.types.is_string(array.type):
        array = array.view(pa.binary())
    elif pa.types.is_large_string(array.type):
        array = array.view(pa.large_binary())
    array.validate(full=True)
    return array.cast(pa.large_binary()) if pa.types.is_string_view(array.type) else array


def coded_texts(array: Any) -> tuple[Any, IntArray]:
    """Distinct strings of (N,) strings as a bytes array, and (N,) index of each one's, -1 for none.

    Args:
        array: An array of pyarrow whose type `holds_texts`.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    if pa.types.is_null(array.type):
        array = array.cast(pa.string())
    encoded = _as_dictionary(array)
    texts = encoded.dictionary.cast(pa.large_binary())
    codes = encoded.indices.cast(pa.int64()).fill_null(len(texts)).to_numpy(zero_copy_only=False)
    absent = texts.is_null().to_numpy(zero_copy_only=False)
    return texts, np.where(np.append(absent, [True])[codes], -1, codes)


def _values(array: Any) -> tuple[AnyArray, BoolArray]:
    """(N,) numbers, 0 if missing, and the mask of missing ones."""
    from pyarrow import types  # noqa: PLC0415 - an extra

    count = len(array)
    if types.is_null(array.type):
        return np.zeros(count, dtype=np.int64), np.ones(count, dtype=np.bool_)
    if not array.null_count:
        return np.array(array.to_numpy(zero_copy_only=False)), np.zeros(count, dtype=np.bool_)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return np.array(array.fill_null(0).to_numpy(zero_copy_only=False)), missing


_READERS = {Kind.NUMBER: _numbers, Kind.INTEGER: _integers, Kind.STRING: _strings}
