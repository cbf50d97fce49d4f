"""Connected components, beside a plain search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.pairs import component_labels

Edge = tuple[int, int]


def ends(edges: list[Edge]) -> tuple[IntArray, IntArray]:
    both = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def searched(edges: list[Edge], node_count: int) -> list[int]:
    """By going from the least node of each component to its neighbours, and to theirs."""
    least = [-1] * node_count
    for start in range(node_count):
        waiting = [start] if least[start] < 0 else []
        while waiting:
            node = waiting.pop()
            if least[node] < 0:
                least[node] = start
                waiting += [b for a, b in edges if a == node] + [a for a, b in edges if b == node]
    return least


@given(st.integers(1, 12), st.data())
def test_each_node_gets_the_least_of_its_component(node_count: int, data: st.DataObject) -> None:
    nodes = st.integers(0, node_count - 1)
    edges = data.draw(st.lists(st.tuples(nodes, nodes), max_size=14))
    assert component_labels(*ends(edges), node_count).tolist() == searched(edges, node_count)


def test_no_nodes_have_no_components() -> None:
    assert component_labels(*ends([]), 0).tolist() == []


@pytest.mark.parametrize("backwards", [False, True])
def test_a_long_chain_is_one_component_whichever_way_it_is_given(backwards: bool) -> None:
    chain = [(node, node + 1) for node in range(100_000)]
    assert not component_labels(*ends(chain[::-1] if backwards else chain), 100_001).any()


@pytest.mark.parametrize("edge", [(0, 3), (-1, 0), (3, 3)])
def test_an_edge_to_a_node_that_is_not_there_is_refused(edge: Edge) -> None:
    with pytest.raises(ValueError, match="edges do not join nodes from 0 to 2"):
        component_labels(*ends([edge]), 3)


def test_edges_that_lack_an_end_are_refused() -> None:
    with pytest.raises(ValueError, match="edges do not join nodes"):
        component_labels(np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64), 3)
