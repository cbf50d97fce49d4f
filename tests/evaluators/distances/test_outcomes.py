"""Outcomes of OSPA, EMD and Hausdorff: frames by hand, and plans against scipy and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from tests.evaluators.distances.test_sets import VIDEO, Frames, narrowed, squares
from tests.evaluators.matching.test_transport import cost_by_linear_programme

from vidscore_evaluators import _solvers
from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.distances._plans import apportioned, plan_emd, plan_hausdorff, plan_ospa
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.matching import transport
from vidscore_evaluators.outcome_table import (
    NO_PARTNER,
    OUTCOMES,
    OperatingPoint,
    Outcome,
    Outcomes,
)
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.testing.examples import example_count

TP, FP, FN = Outcome.TRUE_POSITIVE, Outcome.FALSE_POSITIVE, Outcome.FALSE_NEGATIVE
NAMES = ("ospa", "emd", "hausdorff")


def outcomes_of(name: str, truth: Frames, found: Frames, **parameters: object) -> Outcomes:
    evaluator = create_evaluator(name, parameters)
    sides = (make_annotations({VIDEO: frames}, arity=4) for frames in (truth, found))
    return evaluator.outcomes(align(*sides))


def of_frame(
    name: str, truth: list[Thing], found: list[Thing], **parameters: object
) -> tuple[list[Outcome], list[int], list[float]]:
    """Outcomes, partners and shares of one frame, the truth first."""
    table = outcomes_of(name, {0: truth}, {0: found}, **parameters)
    outcomes = [OUTCOMES[code] for code in table.outcomes]
    return outcomes, table.partners.tolist(), table.shares.tolist()


AWAY = Thing((500.0, 500.0, 510.0, 510.0), confidence=0.5)


# --- ospa ----------------------------------------------------------------------------------


def test_a_pair_of_ospa_shares_its_distance_and_unmatched_rows_have_their_own() -> None:
    """A pair at 1/4 and a spurious detection: (1/4 + 1) / 2, a half of which is 1/2."""
    found = of_frame("ospa", squares(1), [AWAY, *narrowed(1, 0.75)])
    assert found == ([TP, FP, TP], [1, NO_PARTNER, 0], [1 / 16, 1 / 2, 1 / 16])
    table = outcomes_of("ospa", {0: squares(1)}, {0: [AWAY, *narrowed(1, 0.75)]})
    assert table.columns["localisation"].tolist() == [1 / 16, 0, 1 / 16]
    assert table.columns["cardinality"].tolist() == [0, 1 / 2, 0]
    assert table.similarities.tolist()[::2] == [0.75, 0.75]


def test_unmatched_rows_share_the_cutoff_that_they_cost() -> None:
    """A pair at 1/4 and a spurious detection at the cut-off 1/2, or 1/16 and 1/4 with order 2."""
    found = [AWAY, *narrowed(1, 0.75)]
    _, _, shares = of_frame("ospa", squares(1), found, cutoff=0.5)
    assert shares == [1 / 16, 1 / 4, 1 / 16]
    _, _, shares = of_frame("ospa", squares(1), found, cutoff=0.5, order=2)
    distance = (5 / 32) ** 0.5
    assert shares == pytest.approx([distance / 10, distance * 4 / 5, distance / 10], abs=1e-15)


def test_at_the_cutoff_a_pair_of_ospa_becomes_an_object_and_a_detection() -> None:
    """At 1/4 with a cut-off of 1/4: paired, but at the cost of the cut-off."""
    found = of_frame("ospa", squares(1), narrowed(1, 0.75), cutoff=0.25)
    assert found == ([FN, FP], [0, 0], [1 / 8, 1 / 8])
    assert of_frame("ospa", squares(1), narrowed(1, 0.75), cutoff=0.5)[0] == [TP, TP]


def test_shares_under_an_order_divide_the_distance_by_costs() -> None:
    """Pairs at 1/2 and at 0, order 2: the root of (1/4) / 2, all of it from the first."""
    found = [*narrowed(1, 0.5), squares(2)[1]]
    outcomes, partners, shares = of_frame("ospa", squares(2), found, order=2)
    assert (outcomes, partners) == ([TP] * 4, [0, 1, 0, 1])
    assert shares == pytest.approx([0.125**0.5 / 2, 0, 0.125**0.5 / 2, 0], abs=1e-15)
    assert sum(shares) == 0.125**0.5


@pytest.mark.parametrize(("name", "greatest"), [("ospa", 0.5), ("emd", 1.0), ("hausdorff", 1.0)])
def test_if_one_side_is_empty_the_other_shares_the_maximum_distance(
    name: str, greatest: float
) -> None:
    parameters = {"cutoff": 0.5} if name == "ospa" else {}
    alone = [NO_PARTNER] * 4
    missed = of_frame(name, squares(4), [], **parameters)
    assert missed == ([FN] * 4, alone, [greatest / 4] * 4)
    made_up = of_frame(name, [], squares(4), **parameters)
    assert made_up == ([FP] * 4, alone, [greatest / 4] * 4)
    assert of_frame(name, squares(1), [], **parameters) == ([FN], [NO_PARTNER], [greatest])


# --- emd -----------------------------------------------------------------------------------


def test_split_mass_belongs_to_the_partner_that_gets_most() -> None:
    """Two objects found exactly, and AWAY: a third each stays, a sixth of each goes away at 1."""
    outcomes, partners, shares = of_frame("emd", squares(2), [AWAY, *squares(2)])
    assert (outcomes, partners[1:2], partners[3:]) == ([TP, TP, FP, TP, TP], [2], [0, 1])
    assert partners[0] == 1
    assert shares == pytest.approx([1 / 12, 1 / 12, 1 / 6, 0, 0], abs=1e-15)
    assert sum(shares) == 1 / 3


def test_among_equal_flows_the_nearest_is_the_partner() -> None:
    """One object, half of whose mass goes to AWAY and half to the detection on it."""
    found = of_frame("emd", squares(1), [AWAY, *squares(1)])
    assert found == ([TP, FP, TP], [1, 0, 0], [1 / 4, 1 / 4, 0])


def test_rows_without_anything_in_common_are_not_true_positives() -> None:
    """Moved from one end of the image to the other: partners, and both wrong."""
    for name in ("emd", "ospa", "hausdorff"):
        assert of_frame(name, squares(1), [AWAY]) == ([FN, FP], [0, 0], [1 / 2, 1 / 2])


# --- hausdorff -----------------------------------------------------------------------------


def test_the_pair_that_decides_shares_the_hausdorff_distance() -> None:
    """Pairs at 1/4, 1/2 and 0: the second decides."""
    first, second = narrowed(1, 0.75), [Thing((32.0, 0.0, 37.0, 10.0))]
    found = of_frame("hausdorff", squares(3), [*first, *second, squares(3)[2]])
    assert found == ([TP] * 6, [0, 1, 2, 0, 1, 2], [0, 1 / 4, 0, 0, 1 / 4, 0])


def test_a_spurious_detection_decides_with_the_object_nearest_to_it() -> None:
    """GIoU finds it: the second square, although its own detection is on it."""
    found = of_frame("hausdorff", squares(2), [*squares(2), AWAY], base="giou")
    outcomes, partners, shares = found
    assert outcomes == [TP, TP, TP, TP, FP]
    assert partners == [0, 1, 0, 1, 1]
    assert [share > 0 for share in shares] == [False, True, False, False, True]
    assert shares[1] == pytest.approx(shares[4], abs=1e-15)


def test_of_two_rows_at_the_same_distance_the_object_decides() -> None:
    """The first object is 1/2 from its nearest, and so is the second detection, of other pairs."""
    plan = plan_hausdorff(np.array([[[0.5, 1.0], [0.0, 0.5]]]))
    assert plan.shares.tolist() == [[[0.25, 0.0, 0.25, 0.0]]]


# --- all of them ---------------------------------------------------------------------------


def test_an_empty_frame_has_no_shares() -> None:
    nothing = np.zeros((2, 0, 0))
    for plan in (plan_hausdorff(nothing), plan_emd(nothing, 1.0), plan_ospa(nothing, 1.0, 1.0)):
        assert plan.shares.shape[1:] == (2, 0)


@pytest.mark.parametrize("name", NAMES)
def test_partners_are_rows_of_their_own_frame(name: str) -> None:
    """Two squares in each of two frames, found in the other order in the second."""
    first, second = squares(2)
    table = outcomes_of(
        name, {0: [first, second], 1: [first, second]}, {0: [first, second], 1: [second, first]}
    )
    assert table.partners.tolist() == [0, 1, 0, 1, 1, 0, 1, 0]
    assert {OUTCOMES[code] for code in table.outcomes} == {TP}


@pytest.mark.parametrize("name", NAMES)
def test_empty_frames_count_in_the_means(name: str) -> None:
    """Pairs at 1/2 and at 0; two of four frames are empty: 1/8; over occupied ones, 1/4."""
    truth: Frames = {0: squares(1), 1: [], 2: [], 3: squares(1)}
    found: Frames = {0: narrowed(1, 0.5), 3: squares(1)}
    for frames, mean in (("all", 1 / 8), ("occupied", 1 / 4)):
        table = outcomes_of(name, truth, found, frames=frames)
        figures = create_evaluator(name, {"frames": frames}).outcome_figures(table)
        assert (figures[name], figures["frames"]) == (mean, 4)
        assert (figures["references"], figures["predictions"]) == (2, 2)


@pytest.mark.parametrize("name", NAMES)
def test_a_distance_has_no_operating_points(name: str) -> None:
    aligned = align(*(make_annotations({VIDEO: {0: squares(1)}}) for _ in Side))
    with pytest.raises(ParameterError, match="has no thresholds"):
        create_evaluator(name).outcomes(aligned, OperatingPoint(0.5))


# --- plans ---------------------------------------------------------------------------------


@st.composite
def tables(draw: st.DrawFn, most: int = 7) -> FloatArray:
    """(1, m, n) distances in [0, 1], on a lattice, where many are equal, or anywhere."""
    shape = 1, draw(st.integers(1, most)), draw(st.integers(1, most))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        return random.integers(0, 5, shape) / 4
    return random.random(shape)


@settings(max_examples=example_count(60), deadline=None)
@given(tables(), st.sampled_from([0.3, 1.0]), st.sampled_from([1.0, 2.0, 3.5]))
def test_the_pairs_of_ospa_have_the_minimum_cost(
    distances: FloatArray, cutoff: float, order: float
) -> None:
    """scipy's assignment costs the same, and shares are made of the costs of these pairs."""
    plan = plan_ospa(distances, cutoff, order)
    [costs] = np.minimum(distances, cutoff) ** order
    rows, columns = linear_sum_assignment(costs)
    paired = np.flatnonzero(plan.of_rows[0] != NO_PARTNER)
    assert len(paired) == min(costs.shape)
    assert costs[paired, plan.of_rows[0][paired]].sum() == pytest.approx(costs[rows, columns].sum())
    assert plan.of_columns[0][plan.of_rows[0][paired]].tolist() == paired.tolist()
    lonely = abs(costs.shape[0] - costs.shape[1]) * cutoff**order
    least = (costs[rows, columns].sum() + lonely) / max(costs.shape)
    assert plan.shares[0].sum() == pytest.approx(min(least ** (1 / order), cutoff))


@settings(max_examples=example_count(60), deadline=None)
@given(tables(), st.sampled_from([0, _solvers.MAX_ASSIGNED_UNITS]))
def test_a_flow_moves_all_mass_at_the_minimum_cost(distances: FloatArray, most_units: int) -> None:
    """Sums of rows and columns are the masses, by assigned units and by saturated nodes alike."""
    [costs] = distances
    m, n = costs.shape
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_solvers, "MAX_ASSIGNED_UNITS", most_units)
        flow = transport(costs).flow
    units = np.lcm(m, n)
    assert (flow >= 0).all()
    assert flow.sum(axis=1).tolist() == [units // m] * m
    assert flow.sum(axis=0).tolist() == [units // n] * n
    assert (flow * costs).sum() / units == pytest.approx(cost_by_linear_programme(costs), abs=1e-9)


@settings(max_examples=example_count(60), deadline=None)
@given(tables(), st.sampled_from([1.0, 2.0, 20.0]))
def test_shares_of_a_frame_are_its_distance_exactly(distances: FloatArray, order: float) -> None:
    """As fractions, and as floats in any order."""
    for plan, name in (
        (plan_emd(distances, order), "emd"),
        (plan_ospa(distances, 0.7, order), "ospa"),
        (plan_hausdorff(distances), "hausdorff"),
    ):
        given_order = {} if name == "hausdorff" else {"order": order}
        cutoff = {"cutoff": 0.7} if name == "ospa" else {}
        parts = create_evaluator(name, given_order | cutoff).distances(distances)  # type: ignore[attr-defined]
        for shares, [part] in zip(plan.shares[:, 0], parts, strict=True):
            assert sum(map(Fraction, shares.tolist())) == Fraction(float(part))
            assert sum(shares.tolist()) == sum(shares.tolist()[::-1]) == part
            assert (shares >= 0).all()


@given(
    st.floats(0, 1),
    st.lists(st.floats(0, 1e6), min_size=1, max_size=9).filter(lambda found: sum(found) > 0),
)
def test_shares_are_apportioned_by_weight_and_add_up(total: float, weights: list[float]) -> None:
    [shares] = apportioned(np.array([total]), np.array([weights]))
    assert sum(map(Fraction, shares.tolist())) == Fraction(total)
    # As fractions, because a product of small floats is 0.
    whole = sum(map(Fraction, weights))
    expected = [float(Fraction(total) * Fraction(weight) / whole) for weight in weights]
    assert shares == pytest.approx(expected, abs=2e-15)
