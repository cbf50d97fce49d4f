"""The Ladder mechanism, worked by hand from algorithm 1 of Blum and Hardt (2015)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.measures import Direction
from vidscore_server.hosting.ladder import Values, release, round_to_step

UP = (Direction.HIGHER,)
UP_DOWN = (Direction.HIGHER, Direction.LOWER)


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
def test_a_score_is_released_only_where_it_is_better_by_a_step(
    best: Values | None, new: Values, released: Values | None
) -> None:
    assert release(best, new, UP, 0.01) == released


@pytest.mark.parametrize(("new", "released"), [(9.4, None), (8.6, (9.0,)), (11.0, None)])
def test_where_lower_is_better_a_step_down_counts(new: float, released: Values | None) -> None:
    assert release((10.0,), (new,), (Direction.LOWER,), 1.0) == released


def test_a_tie_break_alone_releases_nothing() -> None:
    assert release((0.5, 900.0), (0.5, 1.0), UP_DOWN, 0.01) is None


def test_a_tie_break_is_released_with_the_score_to_as_many_digits_as_the_step_has() -> None:
    assert release(None, (0.5, 33838.25), UP_DOWN, 0.01) == (0.5, 34000.0)
    assert release(None, (0.5, 71.43), UP_DOWN, 0.01) == (0.5, 71.0)
    assert release(None, (0.5, 0.4321), UP_DOWN, 0.01) == (0.5, 0.43)
    assert release(None, (0.5, None), UP_DOWN, 0.01) == (0.5, None)


@given(st.lists(st.floats(0.0, 1.0), max_size=200))
def test_whatever_a_team_submits_it_sees_at_most_one_value_a_step(scores: list[float]) -> None:
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
