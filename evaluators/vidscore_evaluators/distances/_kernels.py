"""Distances of two sets, out of the distances of their elements, and their parameters.

Source: the trustworthiness paper, section 4.2, eq. 1 (Hausdorff), eq. 2 (Wasserstein; of order 1,
the earth mover's distance) and eq. 3, and its appendix 3.2, eq. 5 (OSPA). Elements may be boxes,
points or tracks: these functions see a matrix of base distances in [0, 1] and nothing else.

Each takes one (m, n) matrix or any batch of them, (..., m, n), and gives (...) values. A value
depends on its own matrix alone, to the last bit, and never on the other matrices of a batch.

Empty sets, as section 4.2 has them: two are at a distance of 0; one and any other set are at the
greatest distance there is, which is 1, and c for OSPA.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.matching import assign, transport_cost
from vidscore_evaluators.parameters import GRID_STEPS, parameter
from vidscore_evaluators.similarity import Similarity


@dataclass(frozen=True, eq=False)
class Ospa:
    """OSPA distances and their parts, each of shape (...).

    With order p, distance^p = localisation^p + cardinality^p.

    Attributes:
        distance: The distance, in [0, c].
        localisation: Its part due to the distances of paired elements.
        cardinality: Its part due to elements without a partner.
    """

    distance: FloatArray
    localisation: FloatArray
    cardinality: FloatArray


def hausdorff(distances: FloatArray) -> FloatArray:
    """Hausdorff distance (eq. 1): how far the loneliest element of either set is from the other.

    Args:
        distances: (..., m, n) base distances in [0, 1].

    Returns:
        (...) distances in [0, 1].
    """
    if 0 in distances.shape[-2:]:
        return _of_empty(distances, 1.0)
    of_rows = distances.min(axis=-1).max(axis=-1)
    of_columns = distances.min(axis=-2).max(axis=-1)
    greatest: FloatArray = np.maximum(of_rows, of_columns)
    return greatest


def emd(distances: FloatArray, order: float = 1.0) -> FloatArray:
    """Wasserstein distance (eq. 2) of sets whose elements have the masses 1/m and 1/n.

    Args:
        distances: (..., m, n) base distances in [0, 1].
        order: Order p, at least 1.

    Returns:
        (...) distances in [0, 1].
    """
    rows, columns = distances.shape[-2:]
    if 0 in (rows, columns):
        return _of_empty(distances, 1.0)
    costs = _powers(distances, order).reshape(-1, rows, columns)
    if rows == columns:
        means = _assignment_sums(costs) / rows
    elif 1 in (rows, columns):
        means = _in_turn(costs.reshape(len(costs), -1)) / (rows * columns)
    else:
        means = np.array([transport_cost(table) for table in costs], dtype=np.float64)
    return np.minimum(_roots(means, order), 1.0).reshape(distances.shape[:-2])


def ospa(distances: FloatArray, cutoff: float = 1.0, order: float = 1.0) -> Ospa:
    """OSPA distance (eq. 5), not divided by the cut-off.

    Args:
        distances: (..., m, n) base distances in [0, 1].
        cutoff: Cut-off c, above 0: a base distance counts as c at most, an element without a
            partner as c.
        order: Order p, at least 1.

    Returns:
        The distances and their parts.
    """
    rows, columns = distances.shape[-2:]
    if 0 in (rows, columns):
        whole = _of_empty(distances, cutoff)
        return Ospa(whole, np.zeros_like(whole), whole.copy())
    costs = _powers(np.minimum(distances, cutoff), order).reshape(-1, rows, columns)
    sums = _assignment_sums(costs)
    size, alone = max(rows, columns), abs(rows - columns)
    lonely = np.full_like(sums, _powers(np.array(cutoff), order) * alone)

    def mean(total: FloatArray) -> FloatArray:
        # All at the cut-off is just the cut-off, whatever the rounding of a sum.
        return np.minimum(_roots(total / size, order), cutoff).reshape(distances.shape[:-2])

    return Ospa(mean(sums + lonely), mean(sums), mean(lonely))


def _of_empty(distances: FloatArray, greatest: float) -> FloatArray:
    """Distances where a set is empty: 0 where both are."""
    both = distances.shape[-2:] == (0, 0)
    return np.full(distances.shape[:-2], 0.0 if both else greatest)


def _assignment_sums(costs: FloatArray) -> FloatArray:
    """Least sums of one-to-one assignments of all elements of the smaller set.

    Args:
        costs: (K, m, n) costs, neither m nor n 0.

    Returns:
        (K,) sums, each added up in the order of the smaller set's elements.
    """
    if costs.shape[1] > costs.shape[2]:
        costs = costs.transpose(0, 2, 1)
    chosen = assign(costs)
    return _in_turn(np.take_along_axis(costs, chosen[:, :, None], axis=2)[:, :, 0])


def _in_turn(values: FloatArray) -> FloatArray:
    """(K,) sums of the rows of (K, L) values, each added from left to right."""
    totals = np.zeros(len(values))
    for column in values.T:
        totals += column
    return totals


def _powers(values: FloatArray, order: float) -> FloatArray:
    return values if order == 1.0 else values * values if order == 2.0 else values**order


def _roots(values: FloatArray, order: float) -> FloatArray:
    if order == 1.0:
        return values
    roots: FloatArray = np.sqrt(values) if order == 2.0 else values ** (1.0 / order)
    return roots


GREATEST_ORDER = 20.0
"""The power of this order of a base distance of 1e-15 is still no subnormal number."""


def order_parameter() -> Any:
    """Declare the order p of a distance."""
    return parameter(
        1.0,
        "Order p of the distance: the larger, the more the worst pairs count.",
        minimum=1.0,
        maximum=GREATEST_ORDER,
        grid=(1.0, 2.0, 3.0, 4.0),
    )


def cutoff_parameter() -> Any:
    """Declare the cut-off c of OSPA."""
    return parameter(
        1.0,
        "Cut-off c: a base distance counts as c at most, and what has no partner as c.",
        exclusive_minimum=0.0,
        maximum=1.0,
        grid=cutoff_grid(Similarity()),
    )


def cutoff_grid(similarity: Similarity) -> tuple[float, ...]:
    """The cut-offs that belong to the thresholds of a similarity, without 0, ascending.

    Threshold t has the cut-off 1 - t, for GIoU (1 - t)/2 (appendix 4.3 of the paper).
    """
    steps = GRID_STEPS * round(1.0 - similarity.minimum)
    return tuple(step / steps for step in range(1, steps + 1))
