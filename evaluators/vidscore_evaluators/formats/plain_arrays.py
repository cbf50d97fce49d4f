"""Plain arrays as a source: the columns of a generic CSV file, in a dictionary or data frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.generic_csv import column_kinds, read_table
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.formats.table import EMPTY, Kind, Table, TextColumn
from vidscore_evaluators.formats.texts import EXPECTED_TEXT, clean_text


def read_arrays(columns: Mapping[str, Any], name: str) -> Source:
    """Read columns.

    Args:
        columns: (N,) arrays or sequences by the column names of generic CSV. None and NaN are
            empty fields.
        name: What to call the whole in messages.

    Raises:
        InputError: With every fault; ``entry`` is the row.
    """
    kinds = column_kinds(list(columns), name)
    readers = {Kind.NUMBER: _numbers, Kind.WHOLE: _wholes, Kind.TEXT: _texts}
    faults: list[Fault] = []
    read: dict[Kind, dict[str, Any]] = {kind: {} for kind in Kind}
    lengths = {}
    for column, kind in kinds.items():
        try:
            array = _one_dimension(columns[column])
            lengths[column] = len(array)
            read[kind][column] = readers[kind](array)
        except (ValueError, TypeError, OverflowError) as error:
            found = str(error) or "something else"
            expected = f"an array, each entry {_expected(kind)}"
            faults.append(Fault(found, expected, source=name, field=f"column {column}"))
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{column}: {length}" for column, length in lengths.items())
        faults.append(Fault(f"lengths {found}", "columns of one length", source=name))
    if faults:
        raise InputError(faults)
    reading = read_table(_table(read, next(iter(lengths.values())), name), name, None)
    if reading.faults:
        raise InputError(reading.faults.listed())
    return reading.source


def _table(read: Mapping[Kind, dict[str, Any]], count: int, name: str) -> Table:
    return Table(
        numbers=read[Kind.NUMBER],
        wholes=read[Kind.WHOLE],
        texts=read[Kind.TEXT],
        sources=(name,),
        source_of_row=np.zeros(count, dtype=np.int64),
        positions=np.arange(count, dtype=np.int64),
        position_name="entry",
    )


def _one_dimension(values: Any) -> AnyArray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"an array of {array.ndim} dimensions")
    return array


def _numbers(array: AnyArray) -> FloatArray:
    if array.dtype.kind not in "iufO" and array.size:
        raise ValueError(f"values of type {array.dtype}")
    numbers = array.astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"{numbers[np.isinf(numbers)][0]}")
    return numbers


def _wholes(array: AnyArray) -> IntArray:
    if array.dtype.kind in "iu":
        wholes = array.astype(np.int64)
        if not np.array_equal(wholes, array):
            raise ValueError("a number of more than 63 bits")
        return wholes
    numbers = _numbers(array)
    empty = np.isnan(numbers)
    wholes = np.where(empty, 0.0, numbers)
    if (np.abs(wholes) > 2.0**53).any() or (wholes != np.floor(wholes)).any():
        raise ValueError("a number with a fraction, or too large")
    return np.where(empty, EMPTY, wholes.astype(np.int64))


def _texts(array: AnyArray) -> TextColumn:
    """Texts; whole numbers are texts too, since sequences are often numbered."""
    if array.dtype.kind not in "iuUO" and array.size:
        raise ValueError(f"values of type {array.dtype}")
    values = ["" if value is None or value != value else value for value in array.tolist()]  # noqa: PLR0124 - NaN alone differs from itself
    if not all(isinstance(value, str | int) for value in values):
        raise ValueError("something that is no text")
    table: dict[str, int] = {}
    codes = []
    for value in values:
        text = clean_text(str(value))
        if text is None:
            raise ValueError(f"the text {str(value)[:80]!r}")
        codes.append(table.setdefault(text, len(table)))
    return TextColumn(np.array(codes, dtype=np.int64), tuple(table))


def _expected(kind: Kind) -> str:
    return EXPECTED_TEXT if kind is Kind.TEXT else kind.value
