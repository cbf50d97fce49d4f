"""Data frames made of columns, with pandas, polars or pyarrow.

Strings are categories, so that no row has a Python object. Missing values are null, but NaN in
float columns of pandas.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from vidscore_evaluators.arrays import AnyArray, BoolArray
from vidscore_evaluators.errors import Fault, MissingExtraError, ParameterError
from vidscore_evaluators.names import name_advice

Backend = Literal["pandas", "polars", "pyarrow"]
"""The library of the data frame."""


class Column(Struct, frozen=True, eq=False):
    """One column of N values.

    Attributes:
        values: (N,) numbers, or indices into `texts`.
        missing: (N,) whether a value is missing; None if none is.
        texts: The strings that the values index; None for a column of numbers.
    """

    values: AnyArray
    missing: BoolArray | None = None
    texts: Sequence[str] | None = None

    def take(self, rows: slice) -> Column:
        """Some of its rows."""
        missing = None if self.missing is None else self.missing[rows]
        return Column(self.values[rows], missing, self.texts)

    def categories(self) -> tuple[NDArray[np.int32], list[str]]:
        """Each string once, and (N,) the index of each row's string, -1 without one."""
        places: dict[str, int] = {}
        of_text = [places.setdefault(str(text), len(places)) for text in self.texts or ()]
        # A row without a string may have any index, even if there are no strings at all.
        codes = np.array([*of_text, -1], dtype=np.int32)[self.values]
        if self.missing is not None:
            codes[self.missing] = -1
        return codes, list(places)


def data_frame(columns: Mapping[str, Column], backend: str) -> Any:
    """A data frame.

    Args:
        columns: Columns of one length by name.
        backend: One of `Backend`.

    Returns:
        A `pandas.DataFrame`, `polars.DataFrame` or `pyarrow.Table`.

    Raises:
        MissingExtraError: If the library is not installed.
        ParameterError: If the backend is not one of these.
    """
    if backend not in _FRAMES:
        advice = name_advice(str(backend), _FRAMES)
        raise ParameterError([Fault(repr(backend), "a backend", field="backend", advice=advice)])
    try:
        library = import_module(backend)
    except ImportError:
        extra = "parquet" if backend == "pyarrow" else None
        raise MissingExtraError(f"Data frames of {backend}", backend, extra) from None
    return _FRAMES[backend](library, columns)


def _pandas(pandas: Any, columns: Mapping[str, Column]) -> Any:
    def array(column: Column) -> Any:
        if column.texts is not None:
            return pandas.Categorical.from_codes(*column.categories())
        if column.missing is None:
            return column.values
        kind = column.values.dtype.kind
        if kind == "f":
            return np.where(column.missing, np.nan, column.values)
        arrays = pandas.arrays
        masked = arrays.BooleanArray if kind == "b" else arrays.IntegerArray
        return masked(column.values.copy(), column.missing.copy())

    return pandas.DataFrame({name: array(column) for name, column in columns.items()})


def _polars(polars: Any, columns: Mapping[str, Column]) -> Any:
    def series(name: str, column: Column) -> Any:
        if column.texts is not None:
            codes, names = column.categories()
            table = polars.Series(name, [*names, None], dtype=polars.Enum(names))
            return table.gather(np.where(codes < 0, len(names), codes))
        made = polars.Series(name, column.values)
        if column.missing is None or not column.missing.any():
            return made
        return made.to_frame().select(polars.when(~polars.Series(column.missing)).then(made))[name]

    return polars.DataFrame([series(name, column) for name, column in columns.items()])


def _pyarrow(pyarrow: Any, columns: Mapping[str, Column]) -> Any:
    def array(column: Column) -> Any:
        if column.texts is None:
            return pyarrow.array(column.values, mask=column.missing)
        codes, names = column.categories()
        places = pyarrow.array(codes, mask=codes < 0)
        texts = pyarrow.array(names, type=pyarrow.string())
        return pyarrow.DictionaryArray.from_arrays(places, texts)

    arrays = [array(column) for column in columns.values()]
    return pyarrow.table(arrays, names=list(columns))


_FRAMES: Mapping[str, Callable[[Any, Mapping[str, Column]], Any]] = {
    "pandas": _pandas,
    "polars": _polars,
    "pyarrow": _pyarrow,
}
