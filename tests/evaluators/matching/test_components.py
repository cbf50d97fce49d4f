"""Connected components of the graph of pairs, stars, and peeling."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.matching.components import connected_components, peel
from vidscore_evaluators.matching.gating import Pairs

SIDE = 6
EDGES = st.sets(st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1)), max_size=14)
Edge = tuple[int, int]


def make_pairs(edges: list[Edge]) -> Pairs:
    rows = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Pairs(rows[:, 0], rows[:, 1])


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


def most_pairs(edges: list[Edge]) -> int:
    """Size of a maximum matching, by trying everything."""
    if not edges:
        return 0
    (left, right), rest = edges[0], edges[1:]
    without = [(i, j) for i, j in rest if i != left and j != right]
    return max(most_pairs(rest), 1 + most_pairs(without))


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


@given(EDGES, st.integers(0, 8))
def test_peeling_loses_no_pair_of_a_maximum_matching(chosen: set[Edge], rounds: int) -> None:
    edges = sorted(chosen)
    matched, remaining = peel(make_pairs(edges), SIDE, SIDE, rounds)
    taken = [edge for edge, is_taken in zip(edges, matched, strict=True) if is_taken]
    rest = [edge for edge, remains in zip(edges, remaining, strict=True) if remains]
    assert len({i for i, _ in taken}) == len({j for _, j in taken}) == len(taken)
    assert all(i != m and j != n for i, j in rest for m, n in taken)
    assert len(taken) + most_pairs(rest) == most_pairs(edges)


def test_peeling_solves_a_chain_from_both_ends() -> None:
    """A chain 0-0-1-1-2-2 of five pairs has three disjoint ones, found in two rounds."""
    edges = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2)]
    matched, remaining = peel(make_pairs(edges), 3, 3, rounds=2)
    assert matched.tolist() == [True, False, True, False, True]
    assert not remaining.any()


def test_a_cycle_has_no_leaf_to_peel() -> None:
    edges = [(0, 0), (0, 1), (1, 0), (1, 1)]
    matched, remaining = peel(make_pairs(edges), 2, 2, rounds=9)
    assert not matched.any()
    assert remaining.all()
