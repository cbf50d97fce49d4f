"""Ranks, distances of rankings and indicators, against hand calculation and scipy's tau-b."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from vidscore_evaluators.trust.systems import (
    indicators,
    kendall_distances,
    ranking_errors,
    ranks_with_random_ties,
)

NAN = math.nan

few_values = st.lists(st.integers(0, 4), min_size=2, max_size=8)


def test_random_ties_put_equal_systems_on_each_of_their_ranks() -> None:
    """Of three systems, the best is always first; the two that tie are 2 and 3 in either order."""
    dissimilarities = np.broadcast_to(np.array([0.7, 0.2, 0.7]), (50, 3))
    placed = ranks_with_random_ties(dissimilarities, np.random.default_rng(3))
    assert set(map(tuple, placed.tolist())) == {(2, 1, 3), (3, 1, 2)}


@pytest.mark.parametrize(
    ("dissimilarities", "error"),
    [
        ([1, 2, 3], 0.0),
        ([3, 2, 1], 1.0),
        ([1, 1, 1], 0.5),
        # n0 = 3, T = 0, Q = 1: (1 - 1/3) / 2
        ([2, 1, 3], 1 / 3),
        # n0 = 3, T = 1, Q = 0: (1 - 2 / sqrt(6)) / 2
        ([1, 1, 3], (1 - 2 / math.sqrt(6)) / 2),
        ([1, NAN, 2], 1 / 3),
        ([NAN, NAN, NAN], 0.5),
    ],
)
def test_ranking_errors_equal_the_formula(dissimilarities: list[float], error: float) -> None:
    assert ranking_errors(np.array(dissimilarities, dtype=float)) == pytest.approx(error)


@given(few_values)
def test_ranking_errors_are_those_of_tau_b(values: list[int]) -> None:
    """scipy's tau-b of the scores and the true order, where it is defined."""
    error = float(ranking_errors(np.array(values, dtype=float)))
    tau = kendalltau(values, range(len(values)), variant="b").statistic
    assert error == pytest.approx(0.5 if math.isnan(tau) else (1 - tau) / 2)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_kendall_distances_are_those_of_tau_b(pairs: list[tuple[int, int]]) -> None:
    """scipy's tau-b of two scores; 0 where both tie everything, 0.5 where one does."""
    first, second = (np.array(values, dtype=float) for values in zip(*pairs, strict=True))
    tau = kendalltau(first, second, variant="b").statistic
    both = len(set(first)) == len(set(second)) == 1
    expected = (0.0 if both else 0.5) if math.isnan(tau) else (1 - tau) / 2
    assert float(kendall_distances(first, second)) == pytest.approx(expected)


def test_indicators_of_three_systems_at_three_thresholds() -> None:
    """Ranks A 1, 1, 2; B 2, 2, 1; C 3, 3, 3: worked by hand."""
    table = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3]])
    found = indicators(table, seed=0)
    assert float(found.switches) == pytest.approx(2 / 3)
    # The standard deviation of 1, 1, 2 is sqrt(2)/3.
    assert float(found.distortion) == pytest.approx(2 * (math.sqrt(2) / 3) / 3)
    # One change by 1 in two steps, of two systems out of three.
    assert float(found.sensitivity) == pytest.approx(1 / 3)


def test_a_ranking_that_never_changes_has_all_indicators_zero() -> None:
    table = np.array([[0.1, 0.2, 0.3]] * 4)
    found = indicators(table, seed=0)
    assert [found.switches, found.distortion, found.sensitivity] == [0.0, 0.0, 0.0]


def test_ties_are_broken_at_random_at_each_threshold_and_by_the_seed() -> None:
    """Twenty systems that tie everywhere switch ranks at every threshold, alike for one seed."""
    table = np.zeros((21, 20))
    found = indicators(table, seed=5)
    assert float(found.switches) > 5.0
    assert float(found.switches) == float(indicators(table, seed=5).switches)
    assert float(found.switches) != float(indicators(table, seed=6).switches)


def test_families_are_judged_separately() -> None:
    still, moving = [[0.1, 0.2], [0.1, 0.2]], [[0.1, 0.2], [0.2, 0.1]]
    found = indicators(np.array([still, moving]), seed=0)
    assert found.switches.tolist() == [0.0, 1.0]
