"""The indicators of appendix 2, against hand calculation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from vidscore_evaluators.trust.indicators import indicators


def test_indicators_of_three_systems_at_three_thresholds() -> None:
    """Ranks A 1, 1, 2; B 2, 2, 1; C 3, 3, 3: worked by hand."""
    table = np.array([[0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.2, 0.1, 0.3]])
    found = indicators(table, seed=0)
    assert float(found.switches) == pytest.approx(2 / 3)
    # The standard deviation of 1, 1, 2 is sqrt(2)/3.
    assert float(found.distortion) == pytest.approx(2 * (math.sqrt(2) / 3) / 3)
    # One change by 1 in two steps, of two systems out of three.
    assert float(found.sensitivity) == pytest.approx(1 / 3)


def test_a_ranking_that_never_changes_has_no_indicator_above_zero() -> None:
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


def test_families_are_judged_each_for_itself() -> None:
    still, moving = [[0.1, 0.2], [0.1, 0.2]], [[0.1, 0.2], [0.2, 0.1]]
    found = indicators(np.array([still, moving]), seed=0)
    assert found.switches.tolist() == [0.0, 1.0]
