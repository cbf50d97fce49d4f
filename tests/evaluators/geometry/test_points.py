"""Distances between points."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.geometry.points import point_distances

COORDINATES = st.floats(-1e9, 1e9)
POINTS = st.lists(st.tuples(COORDINATES, COORDINATES), min_size=1, max_size=20)


def test_the_sides_of_a_right_triangle_give_its_hypotenuse_exactly() -> None:
    left = np.array([[0.0, 0.0], [1.0, 1.0]])
    right = np.array([[3.0, 4.0], [1.0, 1.0], [13.0, 6.0]])
    found = point_distances(left.T, right.T, np.array([0, 1, 1]), np.array([0, 1, 2]))
    assert found.tolist() == [5.0, 0.0, 13.0]


@given(POINTS, POINTS)
def test_a_distance_is_that_of_its_own_two_points_to_the_last_bit(
    left: list[tuple[float, float]], right: list[tuple[float, float]]
) -> None:
    rows = np.array([(i, j) for i in range(len(left)) for j in range(len(right))])
    found = point_distances(np.array(left).T, np.array(right).T, rows[:, 0], rows[:, 1])
    expected = [math.sqrt((x - u) * (x - u) + (y - v) * (y - v)) for x, y in left for u, v in right]
    assert found.tolist() == expected
