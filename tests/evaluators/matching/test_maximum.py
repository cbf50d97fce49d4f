"""Maximum matchings of every prefix at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from vidscore_evaluators.matching import match_maximum, match_maximum_in_stages
from vidscore_evaluators.pairs import Pairs


def pairs_of(edges: list[tuple[int, int]]) -> Pairs:
    ordered = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return Pairs(ordered[:, 0], ordered[:, 1])


def gains_of(edges: list[tuple[int, int]], priorities: list[float]) -> list[bool]:
    left_count = 1 + max(left for left, _ in edges)
    found = match_maximum(pairs_of(edges), left_count, len(priorities), np.array(priorities))
    return [bool(gain) for gain in found.tolist()]


def maximum_size(edges: list[tuple[int, int]], left_count: int, right_count: int) -> int:
    """Size of a maximum matching, by an independent algorithm."""
    table = np.zeros((left_count, right_count), dtype=np.int8)
    for left, right in edges:
        table[left, right] = 1
    return int((maximum_bipartite_matching(csr_array(table)) >= 0).sum())


@pytest.mark.parametrize(
    ("edges", "priorities", "expected"),
    [
        pytest.param([(0, 0)], [0.5], [True], id="a single pair"),
        pytest.param([(0, 0)], [0.5, 0.9], [True, False], id="one without a partner"),
        pytest.param([(0, 0), (0, 1)], [0.5, 0.9], [False, True], id="the surer takes the object"),
        pytest.param(
            [(0, 0), (0, 1)], [0.5, 0.5], [True, False], id="the first of equals takes it"
        ),
        pytest.param([(0, 0), (1, 0)], [0.5], [True], id="one for two objects"),
        # 1 comes first and could have either object; 0 and 2 have one each. 0 makes 1 move on to
        # object 1, and 2 finds nothing.
        pytest.param(
            [(0, 0), (0, 1), (1, 1), (1, 2)], [0.8, 0.9, 0.7], [True, True, False], id="a path"
        ),
        pytest.param(
            [(0, 0), (0, 1), (1, 1), (1, 2)], [0.7, 0.9, 0.8], [False, True, True], id="from below"
        ),
        pytest.param(
            list(product(range(2), range(3))),
            [0.1, 0.2, 0.3],
            [False, True, True],
            id="all fit all",
        ),
    ],
)
def test_gains_worked_by_hand(
    edges: list[tuple[int, int]], priorities: list[float], expected: list[bool]
) -> None:
    assert gains_of(edges, priorities) == expected


def test_without_pairs_there_are_no_gains() -> None:
    assert not match_maximum(pairs_of([]), 3, 2).any()
    assert match_maximum(pairs_of([]), 0, 0).tolist() == []


LEFT, RIGHT = 6, 6
graphs = st.sets(st.tuples(st.integers(0, LEFT - 1), st.integers(0, RIGHT - 1))).map(list)
priority_lists = st.lists(st.sampled_from((0.1, 0.5, 0.9)), min_size=RIGHT, max_size=RIGHT)


@given(graphs, priority_lists)
def test_gains_add_up_to_the_maximum_matching_at_every_threshold(
    edges: list[tuple[int, int]], priorities: list[float]
) -> None:
    gains = match_maximum(pairs_of(edges), LEFT, RIGHT, np.array(priorities))
    for threshold in (0.1, 0.5, 0.9):
        let_through = [edge for edge in edges if priorities[edge[1]] >= threshold]
        size = int(gains[np.array(priorities) >= threshold].sum())
        assert size == maximum_size(let_through, LEFT, RIGHT)


@given(graphs, priority_lists, st.sets(st.integers(0, LEFT - 1)))
def test_both_stages_have_the_sizes_of_their_own_maximum_matchings(
    edges: list[tuple[int, int]], priorities: list[float], second: set[int]
) -> None:
    pairs = pairs_of(edges)
    is_second = np.isin(pairs.left, sorted(second))
    gains = match_maximum_in_stages(pairs, is_second, LEFT, RIGHT, np.array(priorities))
    first = [edge for edge in edges if edge[0] not in second]
    assert int(gains.first.sum()) == maximum_size(first, LEFT, RIGHT)
    assert int(gains.both.sum()) == maximum_size(edges, LEFT, RIGHT)


@pytest.mark.parametrize("density", [0.01, 0.03, 0.1, 0.5])
def test_large_components_are_matched_like_small_ones(density: float) -> None:
    """120 x 150 objects in one component: every tenth prefix has the maximum size."""
    random = np.random.default_rng(7)
    table = random.random((120, 150)) < density
    priorities = random.random(150)
    edges = [(int(left), int(right)) for left, right in np.argwhere(table)]
    gains = match_maximum(pairs_of(edges), 120, 150, priorities)
    for threshold in np.sort(priorities)[::10].tolist():
        chosen = priorities >= threshold
        size = maximum_size([edge for edge in edges if chosen[edge[1]]], 120, 150)
        assert int(gains[chosen].sum()) == size


@pytest.mark.parametrize("last", [0, 1000, 2000])
def test_in_a_long_chain_all_but_the_last_gain(last: int) -> None:
    """2,000 objects, each with two neighbours in a row of 2,001: any 2,000 of these can be matched.

    They come from one end on, so each may push all before it along.
    """
    count = 2000
    edges = [(left, right) for left in range(count) for right in (left, left + 1)]
    priorities = np.linspace(1.0, 0.5, count + 1)
    priorities[last] = 0.0
    for order in (priorities, priorities[::-1]):
        gains = match_maximum(pairs_of(edges), count, count + 1, order)
        assert np.flatnonzero(~gains).tolist() == [int(order.argmin())]
