"""Whole cost matrices, those of equal shape in one stack.

Where most pairs of a frame come into question, its whole matrix costs less than a list of pairs.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from vidscore_evaluators.arrays import FloatArray, IntArray


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
