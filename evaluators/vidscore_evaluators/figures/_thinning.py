"""Lines of few points that look like lines of many."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray

MOST_POINTS = 400
"""Points of a line that is thinned, at most."""

_POINTS_PER_STRETCH = 4
_LEAST_GAP = 2.0
"""Shorter gaps are drawn over where there are too many to keep."""


def thin(x: FloatArray, y: FloatArray) -> list[IntArray]:
    """Choose the points of a line, in runs between its gaps.

    The line is cut into stretches of equal length on the picture. Of each its first point, its
    highest, its lowest and its last are kept, so that no peak is lost, however short.

    Args:
        x: (N,) positions on the picture; NaN is a gap.
        y: (N,) positions, likewise.

    Returns:
        Indices of the points of each run, ascending; together at most `MOST_POINTS` where the line
        has more.
    """
    kept = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    if not len(kept):
        return []
    steps = np.hypot(np.diff(x[kept]), np.diff(y[kept]))
    breaks = np.diff(kept) > 1
    if len(kept) > MOST_POINTS:
        stretches = MOST_POINTS // _POINTS_PER_STRETCH
        breaks = _widest(breaks, steps, stretches // 2)
        chosen = _extremes(y[kept], breaks, steps, stretches - int(breaks.sum()) - 1)
    else:
        chosen = np.arange(len(kept))
    runs = np.concatenate([[0], np.cumsum(breaks)])[chosen]
    return np.split(kept[chosen], np.flatnonzero(np.diff(runs)) + 1)


def _widest(breaks: BoolArray, steps: FloatArray, most: int) -> BoolArray:
    """The widest gaps, at most so many."""
    wide = np.flatnonzero(breaks & (steps >= _LEAST_GAP))
    if len(wide) > most:
        wide = wide[np.argsort(-steps[wide], kind="stable")[:most]]
    chosen = np.zeros(len(breaks), dtype=np.bool_)
    chosen[wide] = True
    return chosen


def _extremes(y: FloatArray, breaks: BoolArray, steps: FloatArray, stretches: int) -> IntArray:
    """(M,) first, highest, lowest and last point of each stretch of a run."""
    lengths = np.concatenate([[0.0], np.cumsum(np.where(breaks, 0.0, steps))])
    total = lengths[-1] or 1.0
    stretch = np.minimum((lengths / total * stretches).astype(np.int64), stretches - 1)
    changes = np.flatnonzero((np.diff(stretch) > 0) | breaks) + 1
    starts = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [len(y)]]) - 1
    group = np.repeat(np.arange(len(starts)), ends - starts + 1)
    order = np.lexsort((y, group))
    return np.unique(np.concatenate([starts, order[starts], order[ends], ends]))
