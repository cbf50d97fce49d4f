"""Array types and index operations that several modules share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FlagArray = NDArray[np.uint8]
AnyArray = NDArray[Any]

LARGEST_KEY = 1 << 62
"""Upper bound of keys that combine several numbers, so that they fit int64."""


def hidden_values(values: Any) -> AnyArray | None:
    """Mask of the values that an array hides; None if it hides none or has no mask.

    Args:
        values: Anything; the arrays of `numpy.ma` have masks.
    """
    # If such an array exists, the module is loaded. numpy would take it for a plain array.
    masked = sys.modules.get("numpy.ma")
    kinds = getattr(masked, "MaskedArray", ())  # not there while another thread imports the module
    if masked is None or not isinstance(values, kinds):
        return None
    mask: AnyArray = masked.getmaskarray(values)
    return mask if mask.any() else None


def as_names(values: Any) -> Any:
    """Names as they were given; numpy would convert NaN and decimals among them to strings."""
    if isinstance(values, list | tuple):
        kinds = set(map(type, values))
        others = {kind for kind in kinds if not issubclass(kind, str | int | np.integer)}
        if (others or bool in kinds) and any(issubclass(kind, str) for kind in kinds):
            return np.array(values, dtype=np.object_)
    if getattr(getattr(values, "dtype", None), "kind", "") == "T":  # numpy's StringDType
        return values.astype(np.object_)
    return values


def starts_from_counts(counts: AnyArray) -> IntArray:
    """Offsets of consecutive runs: ``[2, 0, 3] -> [0, 2, 2, 5]``.

    Args:
        counts: (K,) run lengths.

    Returns:
        (K + 1,) offsets; run k is ``offsets[k]:offsets[k + 1]``.
    """
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.add.accumulate(counts, out=starts[1:])
    return starts


def require_groups(what: str, rows: AnyArray, starts: AnyArray, *row_shape: int) -> None:
    """Refuse rows that are not partitioned by offsets: a kernel would go out of bounds.

    Args:
        what: Name of the rows, in the plural.
        rows: (N, ...) rows.
        starts: (G + 1,) offsets of the groups.
        row_shape: Expected shape of a row.

    Raises:
        ValueError: If the groups do not cover all rows in order.
    """
    shape = rows.shape
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or shape != (starts[-1], *row_shape):
        raise ValueError(f"{what} of shape {shape} do not fall into groups {starts}")


def require(holds: AnyArray | bool) -> None:
    """Raise a ValueError unless everything holds."""
    if not np.all(holds):
        raise ValueError


def expand_runs(starts: AnyArray, counts: AnyArray, offsets: IntArray | None = None) -> IntArray:
    """Row indices of runs, one after the other: ``starts [5, 1], counts [2, 1] -> [5, 6, 1]``.

    Args:
        starts: (K,) first row of each run.
        counts: (K,) rows in each run.
        offsets: `starts_from_counts(counts)`, if the caller has it.

    Returns:
        (sum of counts,) row indices.
    """
    before = starts_from_counts(counts) if offsets is None else offsets
    rows = np.arange(int(before[-1]), dtype=np.int64)
    rows += (starts - before[:-1]).repeat(counts)
    return rows


def marked(count: int, rows: IntArray) -> BoolArray:
    """(count,) mask of `rows`."""
    mask = np.zeros(count, dtype=np.bool_)
    mask[rows] = True
    return mask


def run_starts(*sorted_columns: AnyArray) -> IntArray:
    """First row of each group of equal rows in sorted columns.

    Args:
        sorted_columns: (N,) arrays, at least one.

    Returns:
        (G,) ascending row indices; empty where N = 0.
    """
    return begin_runs(*sorted_columns).nonzero()[0]


def begin_runs(*sorted_columns: AnyArray) -> BoolArray:
    """(N,) mask of the rows that `run_starts` gives."""
    begin = np.zeros(len(sorted_columns[0]), dtype=np.bool_)
    begin[:1] = True
    for column in sorted_columns:
        begin[1:] |= column[1:] != column[:-1]
    return begin


def defined(value: AnyArray | float) -> float | None:
    """A number; None if it is NaN."""
    return None if np.isnan(value) else float(value)


def distinct(values: AnyArray) -> AnyArray:
    """The distinct numbers of an array, in ascending order.

    `numpy.unique` would import numpy's masked arrays, which takes a tenth of a short process.
    """
    ordered = np.sort(values, axis=None)
    found: AnyArray = ordered[run_starts(ordered)]
    return found


def batch_by_shape(
    heights: IntArray, widths: IntArray, cells_per_batch: int
) -> Iterator[tuple[IntArray, int, int]]:
    """Batch groups of equal shape.

    Args:
        heights: (G,) rows of each group.
        widths: (G,) columns of each group.
        cells_per_batch: Maximum number of cells of a batch, unless a single group has more.

    Yields:
        Indices of groups, their height and their width; each group once.
    """
    order = np.lexsort((widths, heights))
    heights, widths = heights[order], widths[order]
    bounds = np.append(run_starts(heights, widths), len(order)).tolist()
    for first, last in pairwise(bounds):
        height, width = int(heights[first]), int(widths[first])
        step = max(1, cells_per_batch // max(1, height * width))
        for start in range(first, last, step):
            yield order[start : min(last, start + step)], height, width
