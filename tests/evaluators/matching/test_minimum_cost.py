"""Matching with the maximum number of pairs, then the minimum cost, against trying everything."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators import matching
from vidscore_evaluators.matching import match_minimum_cost
from vidscore_evaluators.pairs import Pairs

Edges = dict[tuple[int, int], float]
"""Cost of each pair of a left and a right object of one frame."""

MOST = 4
WHOLE_COSTS = st.integers(0, 6).map(float)
COSTS = st.one_of(WHOLE_COSTS, WHOLE_COSTS, st.floats(0, 10))
FRAME = st.dictionaries(
    st.tuples(st.integers(0, MOST - 1), st.integers(0, MOST - 1)), COSTS, max_size=12
)


def matchings(edges: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Every one-to-one matching on some pairs."""
    if not edges:
        yield []
        return
    (left, right), rest = edges[0], edges[1:]
    yield from matchings(rest)
    free = [(i, j) for i, j in rest if i != left and j != right]
    yield from ([(left, right), *more] for more in matchings(free))


def best(edges: Edges) -> tuple[int, Fraction]:
    """The maximum number of pairs, and the minimum exact sum of costs for that number."""
    found = min(
        (-len(chosen), sum((Fraction(edges[edge]) for edge in chosen), Fraction(0)))
        for chosen in matchings(sorted(edges))
    )
    return -found[0], found[1]


def match(frames: list[Edges]) -> list[list[tuple[int, int]]]:
    """Match several frames in one call; left and right objects are numbered frame by frame."""
    keys = [(frame, edge) for frame, edges in enumerate(frames) for edge in sorted(edges)]
    pairs = Pairs(
        np.array([frame * MOST + left for frame, (left, _) in keys], dtype=np.int64),
        np.array([frame * MOST + right for frame, (_, right) in keys], dtype=np.int64),
    )
    costs = np.array([frames[frame][edge] for frame, edge in keys])
    numbers = np.array([frame for frame, _ in keys], dtype=np.int64)
    count = MOST * len(frames)
    matched = match_minimum_cost(pairs, costs, numbers, count, count)
    found: list[list[tuple[int, int]]] = [[] for _ in frames]
    for (frame, edge), is_matched in zip(keys, matched, strict=True):
        if is_matched:
            found[frame].append(edge)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("large", [1, 1 << 12], ids=["by component", "by frame"])
@given(frames=st.lists(FRAME, max_size=4))
def test_every_frame_gets_a_best_matching(large: int, frames: list[Edges]) -> None:
    """As many pairs as any matching has, and no matching with as many costs less."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "MAX_MATRIX_CELLS", large)
        found = match(frames)
    for edges, chosen in zip(frames, found, strict=True):
        assert len({i for i, _ in chosen}) == len({j for _, j in chosen}) == len(chosen)
        count, cost = best(edges)
        assert len(chosen) == count
        assert float(sum(Fraction(edges[edge]) for edge in chosen) - cost) <= 1e-13


@given(st.lists(FRAME, min_size=1, max_size=5))
def test_other_frames_have_no_influence(frames: list[Edges]) -> None:
    """With ties too, a frame alone is matched as among others."""
    assert match(frames) == [match([edges])[0] for edges in frames]


@given(FRAME, st.randoms(use_true_random=False))
def test_the_order_of_an_objects_pairs_has_no_influence(edges: Edges, random: Random) -> None:
    """With ties too: pairs of one left object may be in any order."""
    keys = sorted(edges, key=lambda edge: (edge[0], random.random()))
    pairs = Pairs(
        np.array([left for left, _ in keys], dtype=np.int64),
        np.array([right for _, right in keys], dtype=np.int64),
    )
    costs = np.array([edges[edge] for edge in keys])
    frames = np.zeros(len(keys), dtype=np.int64)
    matched = match_minimum_cost(pairs, costs, frames, MOST, MOST)
    found = [edge for edge, is_matched in zip(keys, matched, strict=True) if is_matched]
    assert sorted(found) == match([edges])[0]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        pytest.param({(0, 0): 5.0}, [(0, 0)], id="one pair"),
        pytest.param({(0, 0): 5.0, (0, 1): 4.0}, [(0, 1)], id="one with two: the nearer"),
        pytest.param({(0, 0): 5.0, (1, 0): 4.0}, [(1, 0)], id="two with one: the nearer"),
        pytest.param(
            {(0, 0): 1.0, (0, 1): 9.0, (1, 0): 9.0}, [(0, 1), (1, 0)], id="two pairs before one"
        ),
        pytest.param(
            {(0, 0): 1.0, (0, 1): 2.0, (1, 0): 2.0, (1, 1): 4.0},
            [(0, 1), (1, 0)],
            id="two by two, crossed: 2 + 2 < 1 + 4",
        ),
        pytest.param(
            {(0, 0): 1.0, (0, 1): 2.0, (1, 0): 3.0, (1, 1): 3.5},
            [(0, 0), (1, 1)],
            id="two by two, straight: 1 + 3.5 < 2 + 3",
        ),
        pytest.param(
            {(i, j): abs(i - j - 0.5) for i in range(3) for j in range(3)},
            [(0, 0), (1, 1), (2, 2)],
            id="three in a row, each half a step off",
        ),
        pytest.param(
            {(0, 0): 1.0, (1, 0): 1.5, (1, 1): 3.0, (2, 1): 1.0, (2, 2): 9.0},
            [(0, 0), (1, 1), (2, 2)],
            id="a chain: three pairs at any cost",
        ),
    ],
)
def test_small_frames_worked_by_hand(edges: Edges, expected: list[tuple[int, int]]) -> None:
    assert match([edges])[0] == expected


def test_one_more_pair_outweighs_any_cost_in_a_large_frame() -> None:
    """A chain of 100 + 100 objects has one perfect matching, that of its expensive pairs."""
    count = 100
    rows = np.arange(count)
    left = np.concatenate([rows, rows[1:]])
    right = np.concatenate([rows, rows[:-1]])
    costs = np.concatenate([np.full(count, 1e6), np.zeros(count - 1)])
    order = np.argsort(left, kind="stable")
    pairs, frames = Pairs(left[order], right[order]), np.zeros(len(order), dtype=np.int64)
    matched = match_minimum_cost(pairs, costs[order], frames, count, count)
    assert costs[order][matched].tolist() == [1e6] * count


def test_nothing_is_matched_without_pairs() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert match_minimum_cost(Pairs(none, none), np.zeros(0), none, 2, 3).tolist() == []
