"""Distances of two sets, from the distances of their elements, and their parameters.

Source: the trustworthiness paper, section 4.2, eq. 1 (Hausdorff), eq. 2 (Wasserstein; of order 1,
the earth mover's distance) and eq. 3, and its appendix 3.2, eq. 5 (OSPA). Elements may be boxes,
points or tracks: these functions only see a matrix of base distances in [0, 1].

Each takes one (m, n) matrix or a batch of any shape, (..., m, n), and returns (...) values. A value
depends on its own matrix only, to the last bit, never on the other matrices of a batch.

Empty sets, as in section 4.2: the distance of two empty sets is 0; that of one empty set and
another is the greatest possible, which is 1, and c for OSPA.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.matching import assign, transport
from vidscore_evaluators.parameters import GRID_STEPS, parameter
from vidscore_evaluators.similarity import Similarity


class Ospa(Struct, frozen=True, eq=False):
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
    """Hausdorff distance (eq. 1): the largest distance of an element to the other set.

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
    means = transported(powers(distances, order).reshape(-1, rows, columns))
    return emd_of_means(means, order).reshape(distances.shape[:-2])


def emd_of_means(means: FloatArray, order: float) -> FloatArray:
    """Distances from least mean costs, which are distances to the power of `order`."""
    return np.minimum(_roots(means, order), 1.0)


def transported(costs: FloatArray, flows: IntArray | None = None) -> FloatArray:
    """Least costs of moving the masses 1/m of the rows to the masses 1/n of the columns.

    Args:
        costs: (K, m, n) costs, neither m nor n 0.
        flows: (K, m, n) zeros that become the units moved from each row to each column.

    Returns:
        (K,) costs.
    """
    rows, columns = costs.shape[1:]
    if rows == columns:
        chosen = assign(costs)
        if flows is not None:
            np.put_along_axis(flows, chosen[:, :, None], 1, axis=2)
        return _sums_of_chosen(costs, chosen) / float(rows)
    if 1 in (rows, columns):
        if flows is not None:
            flows[:] = 1
        return _in_turn(costs.reshape(len(costs), -1)) / float(rows * columns)
    means = np.empty(len(costs))
    for number, table in enumerate(costs):
        found = transport(table)
        means[number] = found.cost
        if flows is not None:
            flows[number] = found.flow
    return means


def ospa(distances: FloatArray, cutoff: float = 1.0, order: float = 1.0) -> Ospa:
    """OSPA distance (eq. 5), not divided by the cut-off.

    Args:
        distances: (..., m, n) base distances in [0, 1].
        cutoff: Cut-off c, above 0: a base distance counts as at most c, an element without a
            partner as c.
        order: Order p, at least 1.

    Returns:
        The distances and their parts.
    """
    return assigned_ospa(distances, cutoff, order)[0]


def assigned_ospa(distances: FloatArray, cutoff: float, order: float) -> tuple[Ospa, IntArray]:
    """The same, with the partner of each element of the smaller set.

    Returns:
        The distances and their parts; and for K matrices, (K, min(m, n)) element of the larger set
        (the columns if both are equal) for each element of the smaller one.
    """
    rows, columns = distances.shape[-2:]
    if 0 in (rows, columns):
        whole = _of_empty(distances, cutoff)
        nobody = np.zeros((whole.size, 0), dtype=np.int64)
        return Ospa(whole, np.zeros_like(whole), whole.copy()), nobody
    costs = powers(np.minimum(distances, cutoff), order).reshape(-1, rows, columns)
    if rows > columns:
        costs = costs.transpose(0, 2, 1)
    chosen = assign(costs)
    sums = _sums_of_chosen(costs, chosen)
    size, alone = max(rows, columns), abs(rows - columns)
    lonely = np.full_like(sums, powers(np.array(cutoff), order) * alone)

    def mean(total: FloatArray) -> FloatArray:
        # If all are at the cut-off, the mean is exactly the cut-off, whatever a sum rounds to.
        return np.minimum(_roots(total / size, order), cutoff).reshape(distances.shape[:-2])

    return Ospa(mean(sums + lonely), mean(sums), mean(lonely)), chosen


def _of_empty(distances: FloatArray, greatest: float) -> FloatArray:
    """Distances if a set is empty: 0 if both are."""
    both = distances.shape[-2:] == (0, 0)
    return np.full(distances.shape[:-2], 0.0 if both else greatest)


def _sums_of_chosen(costs: FloatArray, chosen: IntArray) -> FloatArray:
    """(K,) sums of the costs at (K, m) chosen columns of (K, m, n), added in order of rows."""
    return _in_turn(np.take_along_axis(costs, chosen[:, :, None], axis=2)[:, :, 0])


def _in_turn(values: FloatArray) -> FloatArray:
    """(K,) sums of the rows of (K, L) values, each added from left to right."""
    totals = np.zeros(len(values))
    for column in values.T:
        totals += column
    return totals


def powers(values: FloatArray, order: float) -> FloatArray:
    """Values to the power of an order."""
    return values if order == 1.0 else values * values if order == 2.0 else values**order


def _roots(values: FloatArray, order: float) -> FloatArray:
    if order == 1.0:
        return values
    roots: FloatArray = np.sqrt(values) if order == 2.0 else values ** (1.0 / order)
    return roots


GREATEST_ORDER = 20.0
"""Upper bound on the order: a base distance of 1e-15 to this power is not yet subnormal."""


def order_parameter() -> Any:
    """Declare the order p of a distance."""
    return parameter(
        1.0,
        "Order p of the distance: with a larger p, the worst pairs weigh more.",
        minimum=1.0,
        maximum=GREATEST_ORDER,
        grid=(1.0, 2.0, 3.0, 4.0),
    )


def cutoff_parameter() -> Any:
    """Declare the cut-off c of OSPA."""
    return parameter(
        1.0,
        "Cut-off c: a base distance counts as at most c, and a missing partner as c.",
        exclusive_minimum=0.0,
        maximum=1.0,
        grid=cutoff_grid(Similarity()),
    )


def cutoff_grid(similarity: Similarity) -> tuple[float, ...]:
    """The cut-offs that correspond to the thresholds of a similarity, without 0, ascending.

    Threshold t has the cut-off 1 - t, for GIoU (1 - t)/2 (appendix 4.3 of the paper).
    """
    steps = GRID_STEPS * round(1.0 - similarity.minimum)
    return tuple(step / steps for step in range(1, steps + 1))
