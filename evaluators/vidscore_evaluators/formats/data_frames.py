"""Data frames as a source: pandas, polars, Arrow and others, by the names of their columns.

Objects with keys, such as dictionaries and pandas frames, are read directly. All others are read by
narwhals, which supports every kind of data frame; the extra ``dataframes`` installs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from vidscore_evaluators.errors import Fault, InputError, MissingExtraError

_EXPECTED = "a path, Annotations, or arrays by column name (a dictionary, a data frame)"
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
        InputError: If it has no columns, or is not yet computed.
        MissingExtraError: If narwhals is needed and not installed.
    """
    if callable(getattr(data, "keys", None)) and not isinstance(data, type):
        return {str(column): data[column] for column in data.keys()}  # noqa: SIM118 - also no Mapping
    try:
        import narwhals  # noqa: PLC0415 - an extra
    except ImportError:
        if not hasattr(data, "__arrow_c_stream__"):
            raise _refused(data, name, _EXPECTED) from None
        raise MissingExtraError(f"Data frames such as {_kind(data)}", "narwhals", _EXTRA) from None
    frame = narwhals.from_native(data, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        raise _refused(data, name, "a computed data frame", "call collect() first")
    if not isinstance(frame, narwhals.DataFrame):
        if not hasattr(data, "__arrow_c_stream__"):
            raise _refused(data, name, _EXPECTED)
        frame = narwhals.from_arrow(data, backend="pyarrow")
    return {column: _array(frame[column]) for column in frame.columns}


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
    return InputError([Fault(_kind(data), expected, source=name, advice=advice)])


def _kind(data: Any) -> str:
    """The type of an object, as its users write it: ``polars.LazyFrame``."""
    kind = type(data)
    package = kind.__module__.split(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"
