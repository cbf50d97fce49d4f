"""The two matchings against processing detections one by one and trying every matching."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from vidscore_evaluators import matching
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.matching import match_greedy, match_maximum_weight
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.similarity import Candidates


def all_pairs(similarities: FloatArray) -> Candidates:
    """Every cell of a table of detections by targets as a candidate."""
    rows, columns = np.indices(similarities.shape)
    return Candidates(rows.reshape(-1), columns.reshape(-1), similarities.reshape(-1))


def one_by_one(
    similarities: FloatArray, at_least: float, second: list[bool], reusable: list[bool]
) -> dict[int, int]:
    """The greedy matching as its definition reads."""
    free = set(range(similarities.shape[1]))
    matched: dict[int, int] = {}
    for detection, row in enumerate(similarities.tolist()):
        options = [target for target in sorted(free) if row[target] >= at_least]
        if options:
            best = max(options, key=lambda target: (not second[target], row[target], -target))
            matched[detection] = best
            if not reusable[best]:
                free.remove(best)
    return matched


lattice = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@st.composite
def tables(draw: st.DrawFn, largest: int = 6) -> FloatArray:
    rows, columns = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    cells = draw(st.lists(lattice, min_size=rows * columns, max_size=rows * columns))
    return np.array(cells).reshape(rows, columns)


def greedily(
    similarities: FloatArray, at_least: float, second: list[bool], reusable: list[bool]
) -> dict[int, int]:
    pairs = all_pairs(similarities)
    pairs = pairs.ordered(np.array(second)[pairs.targets])
    rows = pairs.greedily_matched(np.array(reusable), at_least)
    return dict(zip(pairs.detections[rows].tolist(), pairs.targets[rows].tolist(), strict=True))


@given(tables(), lattice, st.data())
def test_greedy_matching_equals_its_definition(
    similarities: FloatArray, at_least: float, data: st.DataObject
) -> None:
    """For any secondary and reusable targets, each detection gets the same target."""
    width = similarities.shape[1]
    flags = st.lists(st.booleans(), min_size=width, max_size=width)
    second, reusable = data.draw(flags), data.draw(flags)
    expected = one_by_one(similarities, at_least, second, reusable)
    assert greedily(similarities, at_least, second, reusable) == expected


@pytest.mark.parametrize("seed", range(4))
def test_many_detections_get_the_targets_of_the_definition(seed: int) -> None:
    """A sparse table of 400 detections, with ties, as by processing one by one."""
    random = np.random.default_rng(seed)
    similarities = np.round(random.random((400, 300)), 2)
    similarities[random.random((400, 300)) > 0.01] = 0.0
    second, reusable = (random.random((2, 300)) < 0.1).tolist()
    expected = one_by_one(similarities, 0.1, second, reusable)
    assert greedily(similarities, 0.1, second, reusable) == expected
    assert len(expected) > 200


def test_a_chain_of_detections_that_wait_for_one_another_is_resolved() -> None:
    """Detection k prefers target k, then k - 1: the first takes 0, and each later one its own."""
    count = 200
    similarities = np.zeros((count, count))
    similarities[np.arange(count), np.arange(count)] = 0.9
    similarities[np.arange(1, count), np.arange(count - 1)] = 0.8
    none = [False] * count
    assert greedily(similarities, 0.5, none, none) == {k: k for k in range(count)}


def test_empty_input_has_no_matches() -> None:
    """No pairs give no matches, of either kind."""
    empty = np.zeros(0, dtype=np.int64)
    none = Candidates(empty, empty, np.zeros(0))
    assert len(none.greedily_matched(np.zeros(3, dtype=np.bool_), 0.5)) == 0
    assert len(match_maximum_weight(none.pairs, np.zeros(0), 2, 3)) == 0


@pytest.mark.parametrize(("detection", "target"), [(2, 0), (0, 3), (-1, 0), (0, -1)])
def test_pairs_of_missing_rows_are_refused(detection: int, target: int) -> None:
    """Two detections and three targets are numbered from 0, and other numbers are invalid."""
    pair = Candidates(np.array([detection]), np.array([target]), np.array([0.9]))
    with pytest.raises(ValueError, match="pairs reach beyond 2 left and 3 right objects"):
        match_maximum_weight(pair.pairs, pair.similarities, 2, 3)
    if not 0 <= target < 3:
        with pytest.raises(ValueError, match="a pair reaches beyond 3 right objects"):
            pair.greedily_matched(np.zeros(3, dtype=np.bool_), 0.5)


def test_columns_of_other_lengths_are_refused() -> None:
    """Two pairs have two weights."""
    rows = np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="2 pairs have 3 weights"):
        match_maximum_weight(Pairs(rows, rows), np.zeros(3), 1, 1)
    with pytest.raises(ValueError, match="2 pairs have 1 weights"):
        match_greedy(Pairs(rows, rows), np.zeros(1), np.zeros(1, dtype=np.bool_), 0.5)


@pytest.mark.parametrize("weight", [0.0, -0.0, -1.0, -np.inf, np.nan])
def test_a_pair_without_weight_is_never_matched(weight: float) -> None:
    """It does not block others either: of a row of three the other two are matched."""
    similarities = np.array([[0.5, weight], [weight, weight], [0.0, 0.25]])
    pairs = all_pairs(similarities)
    chosen = match_maximum_weight(pairs.pairs, pairs.similarities, 3, 2)
    assert pairs.similarities[chosen].tolist() == [0.5, 0.25]


def test_each_dominant_pair_may_make_another_dominant() -> None:
    """In a chain of 60, each three times as heavy as the one before, every other is matched."""
    count = 60
    detections = np.arange(1, count + 1) // 2
    targets = np.arange(count) // 2
    weights = np.power(3.0, np.arange(count), dtype=np.float64)
    chosen = match_maximum_weight(Pairs(detections, targets), weights, 31, 30)
    assert np.flatnonzero(chosen).tolist() == list(range(1, count, 2))


@given(tables(largest=4))
def test_the_optimal_matching_has_the_maximum_sum(similarities: FloatArray) -> None:
    """No permutation of the larger side has a greater sum; pairs of weight 0 are never matched."""
    pairs = all_pairs(similarities)
    chosen = match_maximum_weight(pairs.pairs, pairs.similarities, *similarities.shape)
    rows: IntArray = pairs.detections[chosen]
    columns: IntArray = pairs.targets[chosen]
    assert len(set(rows.tolist())) == len(rows)
    assert len(set(columns.tolist())) == len(columns)
    assert (similarities[rows, columns] > 0).all()
    short = similarities if similarities.shape[0] <= similarities.shape[1] else similarities.T
    best = max(
        sum(short[row, column] for row, column in enumerate(order))
        for order in permutations(range(short.shape[1]), short.shape[0])
    )
    assert similarities[rows, columns].sum() == best


def test_components_are_solved_separately_with_the_same_result_as_alone() -> None:
    """A 2 x 2 block beside a star: 0.6 + 0.7 beats 0.9 + 0.1; the star keeps its best pair."""
    similarities = np.zeros((3, 5))
    similarities[:2, :2] = [[0.9, 0.6], [0.7, 0.1]]
    similarities[2, 2:] = [0.3, 0.5, 0.5]
    pairs = all_pairs(similarities)
    chosen = match_maximum_weight(pairs.pairs, pairs.similarities, 3, 5)
    matched = list(zip(pairs.detections[chosen], pairs.targets[chosen], strict=True))
    assert matched == [(0, 1), (1, 0), (2, 3)]
    assert similarities[0, 1] + similarities[1, 0] == pytest.approx(1.3)


@pytest.mark.parametrize("largest_table", [1 << 22, 1])
@pytest.mark.parametrize("seed", range(6))
def test_dominant_pairs_and_conflict_components_together_reach_the_maximum_sum(
    seed: int, largest_table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """60 x 50 objects with one partner each and weak rivals: equal to one table solved at once."""
    monkeypatch.setattr(matching, "MAX_COMPONENT_CELLS", largest_table)
    random = np.random.default_rng(seed)
    similarities = np.where(random.random((60, 50)) < 0.05, random.random((60, 50)), 0.0)
    similarities[np.arange(50), np.arange(50)] = random.random(50)
    pairs = all_pairs(similarities)
    chosen = match_maximum_weight(pairs.pairs, pairs.similarities, 60, 50)
    best = similarities[linear_sum_assignment(similarities, maximize=True)].sum()
    assert pairs.similarities[chosen].sum() == pytest.approx(best, abs=1e-12)
    assert len(np.unique(pairs.detections[chosen])) == chosen.sum()
    assert len(np.unique(pairs.targets[chosen])) == chosen.sum()
