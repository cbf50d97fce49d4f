"""The Ladder mechanism, worked out by hand from algorithm 1 of Blum and Hardt (2015)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.evaluator import Direction
from vidscore_server.domain.ladder import (
    Scale,
    Values,
    release,
    round_digits,
    round_to_step,
    shown,
)

UP = (Scale(Direction.HIGHER),)
UP_DOWN = (*UP, Scale(Direction.LOWER, 0.0, None))


@pytest.mark.parametrize(
    ("best", "new", "released"),
    [
        (None, (0.437,), (0.44,)),
        ((0.44,), (0.445,), None),
        ((0.44,), (0.43,), None),
        ((0.44,), (0.456,), (0.46,)),
        ((0.44,), (0.44,), None),
        ((0.44,), (None,), None),
        (None, (None,), None),
        ((None,), (0.1,), (0.1,)),
    ],
)
def test_a_score_is_released_only_if_it_is_better_by_a_step(
    best: Values | None, new: Values, released: Values | None
) -> None:
    assert release(best, new, UP, 0.01) == released


@pytest.mark.parametrize(("new", "released"), [(9.4, None), (8.6, (9.0,)), (11.0, None)])
def test_if_lower_is_better_a_step_down_counts(new: float, released: Values | None) -> None:
    assert release((10.0,), (new,), (Scale(Direction.LOWER, 0.0, 100.0),), 1.0) == released


def test_an_improvement_of_the_tie_break_alone_releases_nothing() -> None:
    assert release((0.5, 900.0), (0.5, 1.0), UP_DOWN, 0.01) is None


def test_a_tie_break_is_released_with_the_score_with_as_many_digits_as_the_step() -> None:
    assert release(None, (0.5, 33838.25), UP_DOWN, 0.01) == (0.5, 34000.0)
    assert release(None, (0.5, 71.43), UP_DOWN, 0.01) == (0.5, 71.0)
    assert release(None, (0.5, 0.4321), UP_DOWN, 0.01) == (0.5, 0.43)
    assert release(None, (0.5, None), UP_DOWN, 0.01) == (0.5, None)


@given(st.lists(st.floats(0.0, 1.0), max_size=200))
def test_a_team_sees_at_most_one_value_per_step_whatever_it_submits(scores: list[float]) -> None:
    seen = []
    best: Values | None = None
    for score in scores:
        released = release(best, (score,), UP, 0.1)
        if released is not None:
            best = released
            seen.append(released[0])
    assert len(seen) <= 11
    assert seen == sorted(set(seen))  # type: ignore[type-var] # no score is undefined
    assert all(value == round_to_step(value, 0.1) for value in seen if value is not None)


MOTA = (Scale(Direction.HIGHER, 0.0, 1.0),)
"""Recognised as 1 - errors / objects, which has no lower bound of its own."""


@given(st.lists(st.floats(-1000.0, 0.0), min_size=1, max_size=50))
def test_scores_below_the_range_are_released_once_as_its_end(scores: list[float]) -> None:
    seen = []
    best: Values | None = None
    for score in scores:
        best = release(best, (score,), MOTA, 0.01) or best
        seen.append(best)
    assert seen == [(0.0,)] * len(scores)


def test_a_best_score_released_below_the_range_counts_as_the_end_of_the_range() -> None:
    """As a server of an earlier version stored it."""
    assert release((-997.0,), (-0.5,), MOTA, 0.01) is None
    assert release((-997.0,), (0.02,), MOTA, 0.01) == (0.02,)


def test_a_tie_break_is_clipped_too() -> None:
    scales = (*UP, Scale(Direction.LOWER, 0.0, 100.0))
    assert release(None, (0.5, 123.0), scales, 0.01) == (0.5, 100.0)


@given(st.lists(st.floats(0.0, 1e9), max_size=200))
def test_a_measure_without_a_range_is_released_at_most_once_per_step(scores: list[float]) -> None:
    """x / (1 + x) goes from 0 to 1 in ten steps; the first release is extra."""
    seen = 0
    best: Values | None = None
    for score in sorted(scores, reverse=True):
        released = release(best, (score,), (Scale(Direction.LOWER, 0.0, None),), 0.1)
        if released is not None:
            best, seen = released, seen + 1
    assert seen <= 11


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (33838.25, 0.01, 34000.0),
        (-997.32, 0.01, -1000.0),
        (1.0, 0.25, 1.0),
        (54.3, 5.0, 50.0),
        (54.3, 1.0, 50.0),
        (0.44, 5.0, 0.4),
        (0.4321, 0.001, 0.432),
    ],
)
def test_other_measures_have_as_many_digits_as_the_step(
    value: float, step: float, expected: float
) -> None:
    assert round_digits(value, step) == expected


@pytest.mark.parametrize(
    ("scale", "span"),
    [
        (Scale(Direction.LOWER, 0.0, 100.0), 100.0),
        (Scale(Direction.HIGHER, -1.0, 1.0), 2.0),
        (Scale(Direction.LOWER, 0.0, None), 1.0),
        (Scale(Direction.HIGHER, None, 1.0), 1.0),
    ],
)
def test_a_range_is_the_distance_from_worst_to_best_or_1_if_either_is_infinite(
    scale: Scale, span: float
) -> None:
    assert scale.span == span


@pytest.mark.parametrize(
    ("scale", "value", "expected"),
    [
        (Scale(Direction.LOWER, 0.0, 100.0), 33.876, 33.88),
        (Scale(Direction.LOWER, 0.0, None), 33838.25, 34000.0),
        (Scale(Direction.LOWER, 0.0, None), 33.876, 34.0),
        (Scale(Direction.HIGHER, 0.0, 1.0), 12.345, 12.0),
    ],
)
def test_a_score_is_rounded_to_the_step_in_its_range_and_to_its_digits_elsewhere(
    scale: Scale, value: float, expected: float
) -> None:
    assert shown(value, scale, 0.01) == expected


def test_without_a_step_every_improvement_is_released_exactly_and_nothing_else() -> None:
    assert release(None, (0.123456, 33838.25), UP_DOWN, 0.0) == (0.123456, 33838.25)
    assert release((0.5, 9.0), (0.5, 1.0), UP_DOWN, 0.0) is None


def test_without_a_range_a_gain_is_measured_on_x_over_1_plus_x() -> None:
    """3 is 0.75 and 1 is 0.5; 1000 and 500 are 0.001 apart."""
    scale = Scale(Direction.LOWER, 0.0, None)
    assert scale.gain(3.0, 1.0) == pytest.approx(0.25)
    assert scale.gain(1000.0, 500.0) == pytest.approx(1000 / 1001 - 500 / 501)
    assert release((3.0,), (1.0,), (scale,), 0.25) == (1.0,)
    assert release((1000.0,), (500.0,), (scale,), 0.01) is None


@pytest.mark.parametrize(("least", "greatest"), [(None, 1.0), (-3.0, None)])
def test_with_one_bound_only_a_gain_is_also_measured_on_x_over_1_plus_x(
    least: float | None, greatest: float | None
) -> None:
    """From -1 to 1: -1/2 becomes 1/2."""
    assert Scale(Direction.HIGHER, least, greatest).gain(-1.0, 1.0) == 1.0
    assert Scale(Direction.LOWER, least, greatest).gain(-1.0, 1.0) == -1.0
