"""Whole cost matrices, those of equal shape in one stack.

Where most pairs of a frame come into question, its whole matrix costs less than a list of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from vidscore_evaluators.arrays import FloatArray, IntArray, run_starts


def equal_shapes(
    heights: IntArray, widths: IntArray, cells_a_part: int
) -> Iterator[tuple[IntArray, int, int]]:
    """Bring groups of equal shape together.

    Args:
        heights: (G,) rows of each group.
        widths: (G,) columns of each group.
        cells_a_part: Most cells that groups given together have, unless one alone has more.

    Yields:
        Numbers of groups, and their height and width; each group once, a part at a time.
    """
    order = np.lexsort((widths, heights))
    heights, widths = heights[order], widths[order]
    bounds = np.append(run_starts(heights, widths), len(order)).tolist()
    for first, last in pairwise(bounds):
        height, width = int(heights[first]), int(widths[first])
        step = max(1, cells_a_part // max(1, height * width))
        for start in range(first, last, step):
            yield order[start : min(last, start + step)], height, width


def least_cost_columns(costs: FloatArray) -> IntArray:
    """Give every row a column of its own, at the least sum of costs.

    Args:
        costs: (K, m, n) finite costs of K problems, m from 1 to n.

    Returns:
        (K, m) column of each row. It depends on its own matrix alone, ties included.
    """
    columns = np.empty(costs.shape[:2], dtype=np.int64)
    for index, matrix in enumerate(costs):
        columns[index] = linear_sum_assignment(matrix)[1]
    return columns
