"""Distances of sets by hand, against brute force, and by the axioms of a metric."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluators.detection.oracle import iou
from tests.evaluators.matching.test_transport import cost_by_linear_programme

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.distances._kernels import emd, hausdorff, ospa
from vidscore_evaluators.testing.examples import example_count

Distance = Callable[[FloatArray], FloatArray]

DISTANCES: dict[str, Distance] = {
    "hausdorff": hausdorff,
    "emd": emd,
    "emd of order 2": lambda matrix: emd(matrix, 2.0),
    "emd of order 3.5": lambda matrix: emd(matrix, 3.5),
    "ospa": lambda matrix: ospa(matrix).distance,
    "ospa with c 0.4": lambda matrix: ospa(matrix, 0.4).distance,
    "ospa of order 2": lambda matrix: ospa(matrix, 1.0, 2.0).distance,
    "ospa of order 3.5 with c 0.7": lambda matrix: ospa(matrix, 0.7, 3.5).distance,
}

each_distance = pytest.mark.parametrize("distance", DISTANCES.values(), ids=DISTANCES.keys())


@st.composite
def matrices(draw: st.DrawFn, count: int = 1, fewest: int = 1) -> FloatArray:
    """(count, m, n) base distances, many of them equal or 1."""
    shape = count, draw(st.integers(fewest, 5)), draw(st.integers(fewest, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = random.random(shape) if draw(st.booleans()) else random.integers(0, 5, shape) / 4
    return np.where(random.random(shape) < 0.3, 1.0, values)


# --- by hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        ([[0.25, 1, 1], [1, 0.25, 1], [1, 1, 0.25]], (0.25, 0.25, 0.25)),
        ([[0.7]], (0.70, 0.70, 0.70)),
        ([[0.7, 1.0]], (0.85, 0.85, 1.0)),
    ],
    ids="ABC",
)
def test_paper_figure_3(matrix: list[list[float]], expected: tuple[float, float, float]) -> None:
    """Detectors A, B and C; C is B with a spurious detection: OSPA, EMD, Hausdorff."""
    table = np.array(matrix)
    found = [float(value) for value in (ospa(table).distance, emd(table), hausdorff(table))]
    assert found == pytest.approx(expected, abs=1e-15)


def test_ospa_and_its_parts_by_hand() -> None:
    """One at 0.3, one beyond the cut-off of 0.5, one without a partner: eq. 5 with p = 2."""
    found = ospa(np.array([[0.3, 1, 1], [1, 0.9, 1]]), 0.5, 2.0)
    assert float(found.distance) == pytest.approx(math.sqrt((0.09 + 0.25 + 0.25) / 3))
    assert float(found.localisation) == pytest.approx(math.sqrt((0.09 + 0.25) / 3))
    assert float(found.cardinality) == pytest.approx(math.sqrt(0.25 / 3))


def test_ospa_may_give_the_nearest_partner_to_another_row() -> None:
    """0.1 + 0.9 is more than 0.3 + 0.3."""
    assert float(ospa(np.array([[0.1, 0.3], [0.3, 0.9]])).distance) == 0.3


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_sets(shape: tuple[int, int]) -> None:
    """Section 4.2: 0 if both are empty, else 1; OSPA: c, all of it cardinality."""
    matrix = np.zeros(shape)
    greatest = 0.0 if shape == (0, 0) else 1.0
    assert float(hausdorff(matrix)) == float(emd(matrix)) == greatest
    found = ospa(matrix, 0.4, 2.0)
    assert float(found.distance) == float(found.cardinality) == 0.4 * greatest
    assert float(found.localisation) == 0.0


# --- against brute force ---------------------------------------------------------------------


def ospa_by_definition(matrix: FloatArray, cutoff: float, order: float) -> float:
    """Eq. 5: all permutations of the larger set."""
    m, n = matrix.shape
    if m > n:
        return ospa_by_definition(matrix.T, cutoff, order)
    least = min(
        sum(min(cutoff, matrix[row, column]) ** order for row, column in enumerate(chosen))
        for chosen in permutations(range(n), m)
    )
    return float(((least + cutoff**order * (n - m)) / n) ** (1 / order))


@settings(max_examples=example_count(80), deadline=None)
@given(matrices(), st.sampled_from([1.0, 0.5, 0.3]), st.sampled_from([1.0, 2.0, 1.5, 4.0]))
def test_ospa_is_the_best_of_all_permutations(
    stack: FloatArray, cutoff: float, order: float
) -> None:
    [matrix] = stack
    found = ospa(matrix, cutoff, order)
    expected = ospa_by_definition(matrix, cutoff, order)
    assert float(found.distance) == pytest.approx(expected, abs=1e-13)
    parts = float(found.localisation) ** order + float(found.cardinality) ** order
    assert parts == pytest.approx(expected**order, abs=1e-13)


@settings(max_examples=example_count(60), deadline=None)
@given(matrices(), st.sampled_from([1.0, 2.0, 3.5]))
def test_emd_is_the_optimum_of_a_linear_programme(stack: FloatArray, order: float) -> None:
    [matrix] = stack
    expected = cost_by_linear_programme(matrix**order)
    assert float(emd(matrix, order)) ** order == pytest.approx(expected, abs=1e-9)


@given(matrices())
def test_hausdorff_equals_its_definition(stack: FloatArray) -> None:
    """Eq. 1 in plain loops."""
    rows = stack[0].tolist()
    columns = list(zip(*rows, strict=True))
    assert float(hausdorff(stack[0])) == max(min(line) for line in (*rows, *columns))


# --- batches ---------------------------------------------------------------------------------


@each_distance
@settings(max_examples=example_count(25), deadline=None)
@given(stack=matrices(count=9, fewest=0))
def test_a_value_does_not_depend_on_its_neighbours(distance: Distance, stack: FloatArray) -> None:
    """A matrix alone, in a batch, and in a batch of any shape gives the same bits."""
    together = distance(stack)
    assert together.shape == (9,)
    assert together.tolist() == [float(distance(matrix)) for matrix in stack]
    assert distance(stack.reshape(3, 3, *stack.shape[1:])).reshape(9).tolist() == together.tolist()
    assert distance(stack[4:]).tolist() == together[4:].tolist()


@each_distance
def test_an_empty_batch_has_no_distances(distance: Distance) -> None:
    assert distance(np.zeros((0, 3, 2))).shape == (0,)


# --- axioms ----------------------------------------------------------------------------------

Element = tuple[float, ...]


def point_distance(first: Element, second: Element) -> float:
    return min(1.0, math.dist(first, second) / 4)


def box_distance(first: Element, second: Element) -> float:
    return 1.0 - iou(first, second)


@st.composite
def three_sets(draw: st.DrawFn) -> tuple[Callable[..., float], list[list[Element]]]:
    """Three sets of distinct points or boxes on a lattice, and their base distance."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    boxes = draw(st.booleans())

    def element() -> Element:
        x, y, width, height = (int(number) for number in random.integers(1, 6, 4))
        return (x, y, x + width, y + height) if boxes else (x, y)

    sets = [sorted({element() for _ in range(draw(st.integers(0, 5)))}) for _ in range(3)]
    return (box_distance if boxes else point_distance), sets


@each_distance
@settings(max_examples=example_count(60), deadline=None)
@given(drawn=three_sets())
def test_distances_of_sets_are_metrics(
    distance: Distance, drawn: tuple[Callable[..., float], list[list[Element]]]
) -> None:
    """Identity, symmetry and the triangle inequality, empty sets included."""
    base, sets = drawn

    def between(left: list[Element], right: list[Element]) -> float:
        matrix = np.array([[base(a, b) for b in right] for a in left])
        return float(distance(matrix.reshape(len(left), len(right))))

    first, second, third = sets
    assert between(first, first) == 0.0
    assert (between(first, second) == 0.0) == (first == second)
    assert between(first, second) == pytest.approx(between(second, first), abs=1e-14)
    assert between(first, third) <= between(first, second) + between(second, third) + 1e-12
