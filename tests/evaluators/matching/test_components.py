"""Connected components of the graph of pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.pairs import Pairs, connected_components

SIDE = 6
EDGES = st.sets(st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1)), max_size=14)
Edge = tuple[int, int]


def make_pairs(edges: list[Edge]) -> Pairs:
    rows = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Pairs(rows[:, 0].copy(), rows[:, 1].copy())


def components_by_hand(edges: list[Edge]) -> list[set[Edge]]:
    """Grow each component from an edge until no further edge shares an object with it."""
    rest, found = set(edges), []
    while rest:
        component = {rest.pop()}
        while more := {
            edge for edge in rest if any(edge[0] == i or edge[1] == j for i, j in component)
        }:
            component |= more
            rest -= more
        found.append(component)
    return found


@given(EDGES)
def test_components_are_those_that_growing_from_each_pair_finds(chosen: set[Edge]) -> None:
    edges = sorted(chosen)
    components = connected_components(make_pairs(edges), SIDE, SIDE)
    groups: dict[int, set[Edge]] = {}
    for edge, number in zip(edges, components.of_pairs.tolist(), strict=True):
        groups.setdefault(number, set()).add(edge)
    expected = components_by_hand(edges)
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, expected))
    assert sorted(groups) == list(range(components.count))
    for number, group in groups.items():
        assert components.left_counts[number] == len({i for i, _ in group})
        assert components.right_counts[number] == len({j for _, j in group})
        assert components.pair_counts[number] == len(group)


def test_a_star_is_one_component_around_either_side() -> None:
    pairs = make_pairs([(0, 0), (0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    components = connected_components(pairs, 4, 5)
    assert components.of_pairs[:3].tolist() == [components.of_pairs[0]] * 3
    assert components.of_pairs[3] == components.of_pairs[4]
    assert sorted(components.pair_counts.tolist()) == [1, 2, 3]
