"""Arrays as a source: the columns of a generic CSV file, in a dictionary or data frame.

Objects with keys, such as dictionaries and pandas frames, are read directly. All others are read by
narwhals, which supports every kind of data frame; the extra ``dataframes`` installs it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import POINT, QUADRILATERAL
from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    as_names,
    hidden_values,
)
from vidscore_evaluators.errors import Fault, InputError, MissingExtraError
from vidscore_evaluators.formats._table import (
    EMPTY,
    EXPECTED_STRING,
    Kind,
    RowChecks,
    RowTable,
    StringColumn,
    parse_string,
)
from vidscore_evaluators.formats.generic import (
    ALIASES,
    COORDINATES,
    KINDS,
    named_columns,
    read_table,
)
from vidscore_evaluators.formats.source import FaultList, Source

_EXPECTED_DATA = "a path, Annotations, or arrays by column name (a dictionary, a data frame)"
_EXTRA = "dataframes"


class DataFrame(Protocol):
    """A data frame of any library, by Arrow's common interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns, for other libraries."""


def columns_of(data: Any, name: str) -> Mapping[str, Any]:
    """The columns of a dictionary of arrays or of a data frame.

    Args:
        data: (N,) arrays by name, a `pandas.DataFrame`, or anything that narwhals reads: data
            frames of polars, tables and record batches of Arrow, and more.
        name: Name of the source in messages.

    Returns:
        (N,) arrays or sequences by name. Missing values are None or NaN.

    Raises:
        InputError: If it has no columns, or two of one name, or is not yet computed.
        MissingExtraError: If narwhals is needed and not installed.
    """
    if callable(getattr(data, "keys", None)) and not isinstance(data, type):
        found: dict[str, Any] = {}
        for column in data.keys():  # noqa: SIM118 - also no Mapping
            if str(column) in found:
                raise _repeated(name, f"column {column}")
            found[str(column)] = data[column]
        _refuse_index(data, found, name)
        return found
    try:
        import narwhals  # noqa: PLC0415 - an extra
    except ImportError:
        if not hasattr(data, "__arrow_c_stream__"):
            raise _refused(data, name, _EXPECTED_DATA) from None
        raise MissingExtraError(
            f"Data frames such as {_type_name(data)}", "narwhals", _EXTRA
        ) from None
    try:
        frame = narwhals.from_native(data, pass_through=True)
    except narwhals.exceptions.DuplicateError:
        raise _repeated(name) from None
    if isinstance(frame, narwhals.LazyFrame):
        raise _refused(data, name, "a computed data frame", "call collect() first")
    if not isinstance(frame, narwhals.DataFrame):
        if not hasattr(data, "__arrow_c_stream__"):
            raise _refused(data, name, _EXPECTED_DATA)
        frame = narwhals.from_arrow(data, backend="pyarrow")
    return {column: _array(frame[column]) for column in frame.columns}


def _refuse_index(data: Any, columns: Collection[str], name: str) -> None:
    """Refuse a pandas frame whose index holds columns: it is no column, and would be lost."""
    names = getattr(getattr(data, "index", None), "names", ())
    lost = [one for one in names if one in (*KINDS, *ALIASES) and one not in columns]
    if lost:
        found, advice = f"{', '.join(lost)} in the index", "call reset_index() first"
        raise InputError([Fault(found, "all columns beside it", source=name, advice=advice)])


def _array(series: Any) -> Any:
    """The values of a column as an array; categories as their names."""
    import narwhals  # noqa: PLC0415 - an extra

    # Arrow's dictionaries lose their nulls if they are converted to arrays directly.
    if isinstance(series.dtype, narwhals.Categorical | narwhals.Enum):
        series = series.cast(narwhals.String)
    if isinstance(series.dtype, narwhals.Int128 | narwhals.UInt128):
        return series.to_list()  # numpy has no 128-bit numbers
    return series.to_numpy()


def _refused(data: Any, name: str, expected: str, advice: str | None = None) -> InputError:
    return InputError([Fault(_type_name(data), expected, source=name, advice=advice)])


def _repeated(name: str, field: str | None = None) -> InputError:
    return InputError([Fault("a column twice", "each column once", source=name, field=field)])


def _type_name(data: Any) -> str:
    """The type of an object, as its users write it: ``polars.LazyFrame``."""
    kind = type(data)
    package = kind.__module__.split(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"


def read_arrays(columns: Mapping[str, Any], name: str) -> Source:
    """Read columns.

    Args:
        columns: (N,) arrays or sequences by the column names of generic CSV. None, NaN and values
            that a mask hides are empty fields.
        name: Name of the source in messages.

    Raises:
        InputError: With every fault; ``entry`` is the row.
    """
    named = named_columns(list(columns), name)
    readers = {Kind.NUMBER: _numbers, Kind.INTEGER: _integers, Kind.STRING: _strings}
    faults: list[Fault] = []
    read: list[tuple[str, Kind, Any]] = []
    lengths = {}
    for own, (typed, values), kind in zip(named.names, columns.items(), named.kinds, strict=True):
        try:
            array = _one_dimension(as_names(values) if kind is Kind.STRING else values)
            lengths[typed] = len(array)
            read.append((own, kind, readers[kind](array)))
        except (ValueError, TypeError, OverflowError, RuntimeError) as error:  # as of a tensor
            found = str(error) or "something else"
            expected = f"an array, each entry {_expected(kind)}"
            faults.append(Fault(found, expected, source=name, field=f"column {typed}"))
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{column}: {length}" for column, length in lengths.items())
        faults.append(Fault(f"lengths {found}", "columns of one length", source=name))
    if faults:
        raise InputError([*map(named.as_typed, faults)])
    rows = np.arange(next(iter(lengths.values())), dtype=np.int64)
    table = RowTable.of(read, name, rows, "entry")
    reading = read_table(table, name, None)
    if "class" in table.strings:
        labels = columns[named.typed.get("class", "class")]
        reading.faults.absorb(_unlabelled(table, _missing(_one_dimension(as_names(labels)))))
    if reading.faults:
        raise InputError(reading.faults.relocated(named.as_typed).listed())
    return replace(reading.source, warnings=(*named.notes, *reading.source.warnings))


def _unlabelled(table: RowTable, missing: BoolArray) -> FaultList:
    """Faults for objects without a class beside a column of classes: surely a mistake in arrays."""
    checks = RowChecks(table)
    if missing.any():
        names = [name for name in COORDINATES[QUADRILATERAL] if name in table.numbers]
        columns = [table.numbers[name] for name in names or COORDINATES[POINT]]
        is_object = ~np.isnan(columns).all(axis=0)
        checks.refuse(is_object & missing, "class", "a missing value", "a class")
    return checks.faults


def _one_dimension(values: Any) -> AnyArray:
    try:
        array = np.asarray(values)
    except ValueError:  # some entries are sequences, others are not
        array = np.array(values, dtype=np.object_)
    if not array.ndim:
        raise ValueError(type(values).__name__)
    if array.ndim != 1:
        raise ValueError(f"an array of {array.ndim} dimensions")
    hidden = hidden_values(values)
    if hidden is not None:
        array = array.astype(np.object_)
        array[hidden] = None
    return array


def _numbers(array: AnyArray) -> FloatArray:
    if array.dtype.kind not in "iufO" and array.size:
        raise ValueError(f"values of type {array.dtype}")
    try:
        numbers = array.astype(np.float64)
    except (ValueError, TypeError, OverflowError):
        raise ValueError(_no_number(array)) from None
    if np.isinf(numbers).any():
        raise ValueError(f"{numbers[np.isinf(numbers)][0]}")
    return numbers


def _no_number(array: AnyArray) -> str:
    """The first object that numpy cannot convert to a number, and its place."""
    for row in range(len(array)):
        try:
            array[row : row + 1].astype(np.float64)
        except (ValueError, TypeError, OverflowError):
            return f"{repr(array[row])[:80]} in entry {row}"
    return "something else"


def _integers(array: AnyArray) -> IntArray:
    if array.dtype.kind in "iu":
        integers = array.astype(np.int64)
        if not np.array_equal(integers, array):
            raise ValueError("a number of more than 63 bits")
        return integers
    numbers = _numbers(array)
    empty = np.isnan(numbers)
    integers = np.where(empty, 0.0, numbers)
    if (np.abs(integers) >= 2.0**53).any() or (integers != np.floor(integers)).any():
        raise ValueError("a number with a fraction, or too large")
    return np.where(empty, EMPTY, integers.astype(np.int64))


def _strings(array: AnyArray) -> StringColumn:
    """Strings; integers are strings too, since sequences and classes are often numbered."""
    if array.dtype.kind not in "iuUOf" and array.size:
        raise ValueError(f"values of type {array.dtype}")
    values, codes = _distinct(array)
    table: dict[str, int] = {}
    rows = []
    for value in values:
        text = parse_string(_as_string(value))
        if text is None:
            raise ValueError(f"the string {str(value)[:80]!r}")
        rows.append(table.setdefault(text, len(table)))
    return StringColumn(np.array(rows, dtype=np.int64)[codes], tuple(table))


def _distinct(array: AnyArray) -> tuple[Sequence[Any], IntArray]:
    """The distinct values of an array, and for each entry the index of its value."""
    if array.dtype.kind in "iuf":
        found, codes = np.unique(array, return_inverse=True)
        return found.tolist(), codes.reshape(-1).astype(np.int64)
    rows: dict[Any, int] = {}
    # 1 and True are equal, and would be one key.
    keys = [(type(value), value) for value in array.tolist()]
    indices = [rows.setdefault(key, len(rows)) for key in keys]
    return [value for _, value in rows], np.array(indices, dtype=np.int64)


def _missing(array: AnyArray) -> BoolArray:
    """(N,) whether each entry is None, NaN or the like."""
    if array.dtype.kind == "f":
        return np.isnan(array)
    if array.dtype.kind != "O":
        return np.zeros(len(array), dtype=np.bool_)
    return np.array([_is_missing(value) for value in array.tolist()], dtype=np.bool_)


def _is_missing(value: Any) -> bool:
    # Missing values of data frames differ from themselves, or cannot be compared at all.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)  # noqa: PLR0124


def _as_string(value: Any) -> str:
    """A string, or the digits of an integer; a missing value is an empty string."""
    if isinstance(value, str):
        return value
    if _is_missing(value):
        return ""
    is_number = isinstance(value, int | float | np.integer | np.floating)
    if not is_number or isinstance(value, bool) or value != int(value):
        raise ValueError(f"{str(value)[:80]!r}, which is neither a string nor an integer")
    return str(int(value))


def _expected(kind: Kind) -> str:
    return EXPECTED_STRING if kind is Kind.STRING else kind.value
