"""Transport against trying everything, a linear programme, and its own other algorithm."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from vidscore_evaluators import _solvers
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.matching import transport
from vidscore_evaluators.testing.examples import example_count


def cost_by_linear_programme(costs: FloatArray) -> float:
    """Eq. 2 with p = 1."""
    m, n = costs.shape
    rows = np.kron(np.eye(m), np.ones(n))
    columns = np.kron(np.ones(m), np.eye(n))
    solved = linprog(
        costs.ravel(),
        A_eq=np.vstack([rows, columns]),
        b_eq=np.concatenate([np.full(m, 1 / m), np.full(n, 1 / n)]),
        method="highs",
    )
    assert solved.fun is not None, solved.message
    return float(solved.fun)


@st.composite
def tables(draw: st.DrawFn, most: int = 7) -> FloatArray:
    """Costs on a coarse lattice, on which equal ones are common, or anywhere."""
    shape = draw(st.integers(1, most)), draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        return random.integers(0, 4, shape) / 4
    return random.random(shape)


def test_two_piles_and_three_holes_by_hand() -> None:
    """Half a mass each, a third each: 1/3 at 0 and 1/3 at 0, the rest, 1/6 + 1/6, at 3/4."""
    costs = np.array([[0.0, 1.0, 0.75], [1.0, 0.0, 0.75]])
    assert transport(costs).cost == 0.25


@given(st.integers(0, 2**32 - 1))
def test_two_and_three_cost_as_much_as_the_best_of_all_plans(seed: int) -> None:
    """Six grains, all of their 720 orders."""
    costs = np.random.default_rng(seed).integers(0, 9, (2, 3)) / 8
    best = min(
        sum(Fraction(costs[grain // 3, place // 2]) for grain, place in enumerate(order))
        for order in permutations(range(6))
    )
    assert transport(costs).cost == pytest.approx(float(best / 6), abs=1e-15)


@settings(max_examples=example_count(60), deadline=None)
@given(tables(), st.sampled_from([0, _solvers.MAX_ASSIGNED_UNITS]))
def test_a_linear_programme_finds_nothing_cheaper(costs: FloatArray, most_units: int) -> None:
    """With grains and with paths; HiGHS itself is exact to about 1e-9."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_solvers, "MAX_ASSIGNED_UNITS", most_units)
        assert transport(costs).cost == pytest.approx(cost_by_linear_programme(costs), abs=1e-9)


@settings(max_examples=example_count(40), deadline=None)
@given(tables(most=12))
def test_paths_cost_the_same_as_grains(costs: FloatArray) -> None:
    """The two algorithms agree to 1e-14, and so does the transposed problem."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_solvers, "MAX_ASSIGNED_UNITS", 10**6)
        by_grains = transport(costs).cost
        patch.setattr(_solvers, "MAX_ASSIGNED_UNITS", 0)
        assert transport(costs).cost == pytest.approx(by_grains, abs=1e-14)
        assert transport(costs.T).cost == pytest.approx(by_grains, abs=1e-14)


def test_many_piles_and_few_holes_are_fast_to_solve() -> None:
    """500 piles and 3 holes: 1500 grains, whose paths have three steps at most."""
    costs = np.random.default_rng(3).random((500, 3))
    assert transport(costs).cost == pytest.approx(cost_by_linear_programme(costs), abs=1e-9)


@pytest.mark.parametrize(("supplies", "demands"), [(40, 33), (33, 40), (41, 2), (2, 41)])
def test_a_linear_programme_finds_no_cheaper_way_for_many_objects(
    supplies: int, demands: int
) -> None:
    """With ties: most costs are the greatest, as of boxes that do not overlap."""
    costs = np.minimum(1.0, 3.0 * np.random.default_rng(7).random((supplies, demands)))
    found = transport(costs)
    assert found.cost == pytest.approx(cost_by_linear_programme(costs), abs=1e-9)
    units = math.lcm(supplies, demands)
    assert found.flow.sum(axis=0).tolist() == [units // demands] * demands
    assert found.flow.sum(axis=1).tolist() == [units // supplies] * supplies
    assert found.flow.min() == 0


@pytest.mark.parametrize("shape", [(41, 6), (6, 41)])
def test_infinite_costs_of_an_object_are_refused(shape: tuple[int, int]) -> None:
    costs = np.random.default_rng(2).random(shape)
    costs[3] = np.inf
    with pytest.raises(ValueError, match="not finite"):
        transport(costs)
