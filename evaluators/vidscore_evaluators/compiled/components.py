"""Connected components of a graph."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.compiled.library import compiled

_least_nodes = compiled("least_nodes", np.int64, np.int64, int, int, np.int64)


def least_nodes(left: IntArray, right: IntArray, node_count: int) -> IntArray:
    """Find what hangs together.

    Args:
        left: (E,) node at the one end of each edge.
        right: (E,) node at the other end.
        node_count: Number of nodes N.

    Returns:
        (N,) the least node of the component that each node is in.

    Raises:
        ValueError: If there is no such edge in a graph of N nodes.
    """
    for ends in (left, right):
        least, greatest = ends.min(initial=0), ends.max(initial=-1)
        if len(left) != len(right) or least < 0 or greatest >= node_count:
            raise ValueError(f"edges do not join nodes from 0 to {node_count - 1}")
    least_of_nodes = np.empty(node_count, dtype=np.int64)
    _least_nodes(left, right, len(left), node_count, least_of_nodes)
    return least_of_nodes
