"""Connected components of the graph of candidate pairs, over all frames at once.

Objects are the nodes, pairs the edges. A matching of the whole is a matching of each component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.compiled.components import least_nodes
from vidscore_evaluators.compiled.numbering import numbered
from vidscore_evaluators.matching.gating import Pairs


@dataclass(frozen=True, eq=False)
class Components:
    """C components of P pairs; an object without a pair belongs to none.

    Attributes:
        of_pairs: (P,) component of each pair.
        left_counts: (C,) left objects in each component.
        right_counts: (C,) right objects in each component.
        pair_counts: (C,) pairs in each component.
    """

    of_pairs: IntArray
    left_counts: IntArray
    right_counts: IntArray
    pair_counts: IntArray

    @property
    def count(self) -> int:
        """Number of components C."""
        return len(self.pair_counts)


def connected_components(pairs: Pairs, left_count: int, right_count: int) -> Components:
    """Split pairs into connected components.

    Args:
        pairs: Pairs of any frames.
        left_count: Objects on the left side.
        right_count: Objects on the right side.

    Returns:
        The components; each pair's follows from the pairs of its own frame alone, their numbers
        from the order of the pairs.
    """
    labels = least_nodes(pairs.left, left_count + pairs.right, left_count + right_count)
    return _counted(pairs, labels[pairs.left], left_count, right_count)


def _counted(pairs: Pairs, labels: IntArray, left_count: int, right_count: int) -> Components:
    """Number the labels in use from 0 and count what is in each."""
    in_use, of_pairs, pair_counts = numbered(labels)
    count = len(in_use)
    left_component = np.full(left_count, count, dtype=np.int64)
    right_component = np.full(right_count, count, dtype=np.int64)
    left_component[pairs.left] = of_pairs
    right_component[pairs.right] = of_pairs
    return Components(
        of_pairs=of_pairs,
        left_counts=np.bincount(left_component, minlength=count + 1)[:count],
        right_counts=np.bincount(right_component, minlength=count + 1)[:count],
        pair_counts=pair_counts,
    )
