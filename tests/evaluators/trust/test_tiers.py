"""Tiers and probabilities of being first, by hand and against a plain oracle."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluators.trust.contests import points_contest

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.evaluator import Direction
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.trust.drawn_tallies import pack_parts
from vidscore_evaluators.trust.draws import sequence_tallies
from vidscore_evaluators.trust.resampling import bootstrap, draw_sequences
from vidscore_evaluators.trust.tiers import (
    DrawsJob,
    find_tiers,
    losses_of,
    resample_count,
    run_draws_job,
    share_apart,
)

MANY = 10**6


def losses(*systems: Sequence[float] | FloatArray) -> FloatArray:
    """One measure of some systems in each draw."""
    return np.array(systems, dtype=np.float64)[:, :, np.newaxis]


def oracle(
    drawn: FloatArray, ranks: Sequence[int], resamples: int, apart: float
) -> tuple[list[int], list[float]]:
    """Tiers and probabilities by loops over systems and draws, as the words say."""
    systems, draws, _ = drawn.shape
    n = min(draws, resamples)
    firsts: Counter[int] = Counter()
    for draw in range(draws):
        keys = [
            tuple((math.isnan(x), x) if not math.isnan(x) else (True, 0.0) for x in drawn[s, draw])
            for s in range(systems)
        ]
        best = [s for s in range(systems) if keys[s] == min(keys)]
        for s in best:
            firsts[s] += 1 / len(best)  # type: ignore[assignment]
    probabilities = [(firsts[s] / draws * n + 2 / systems) / (n + 2) for s in range(systems)]

    def worse(other: int, best: int) -> float:
        pairs = [
            (drawn[other, d, 0], drawn[best, d, 0])
            for d in range(draws)
            if not (math.isnan(drawn[other, d, 0]) or math.isnan(drawn[best, d, 0]))
        ]
        if not pairs:
            return 0.5
        share = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)
        held = min(n, len(pairs))
        return float((share * held + 1) / (held + 2))

    tiers, tier = [0] * systems, 0
    rest = set(range(systems))
    while rest:
        tier += 1
        top = min(ranks[s] for s in rest)
        leaders = {s for s in rest if ranks[s] == top}
        taken = leaders | {s for s in rest if any(worse(s, b) < apart for b in leaders)}
        for s in taken:
            tiers[s] = tier
        rest -= taken
    return tiers, probabilities


def test_a_system_that_is_worse_in_nearly_all_draws_begins_the_next_tier() -> None:
    """Of 998 draws 974 give (974 + 1) / 1000 = 0.975, and 973 give 0.974, which is less."""
    best = [0.0] * 998
    for wins, tier in ((974, 2), (973, 1)):
        other = [1.0] * wins + [-1.0] * (998 - wins)
        assert find_tiers(losses(best, other), [1, 2], MANY).numbers == (1, tier)


def test_draws_in_which_two_are_equal_count_half() -> None:
    """974 and two halves are 0.976 of 998 draws and two more; 972 and two halves are 0.974."""
    best = [0.0] * 998
    for wins, tier in ((974, 2), (972, 1)):
        other = [1.0] * wins + [0.0] * 2 + [-1.0] * (996 - wins)
        assert find_tiers(losses(best, other), [1, 2], MANY).numbers == (1, tier)


def test_a_tier_is_compared_only_with_its_best_system() -> None:
    """The third is not told from the second, but from the first; a noisy fourth joins the first."""
    steps = np.arange(100.0)
    noisy: FloatArray = np.where(steps % 2 == 0, -5.0, 9.0)
    second: FloatArray = np.where(steps < 90, 1.0, -1.0)
    found = find_tiers(losses(np.zeros(100), second, np.full(100, 2.0), noisy), [1, 2, 3, 4], MANY)
    assert found.numbers == (1, 1, 2, 1)


def test_the_probability_of_being_first_is_a_fraction_of_the_draws_plus_two() -> None:
    """Of eight draws the first leads six and shares one: (6.5 + 1) / 10."""
    found = find_tiers(losses([0] * 8, [1, 1, 1, 1, 1, 1, 0, -1]), [1, 2], MANY)
    assert found.first_probabilities == pytest.approx((0.75, 0.25), abs=1e-15)


def test_later_measures_break_ties_of_the_first_place() -> None:
    drawn = np.array([[[0.0, 2.0]] * 4, [[0.0, 1.0]] * 4, [[1.0, 0.0]] * 4])
    found = find_tiers(drawn, [2, 1, 3], MANY)
    assert found.first_probabilities == pytest.approx((1 / 9, 7 / 9, 1 / 9), abs=1e-15)


def test_two_sequences_give_at_most_four_fifths_and_distinguish_nothing() -> None:
    """They have three different draws: (3 + 1) / (3 + 2)."""
    assert resample_count([2]) == 3
    found = find_tiers(losses([0.0] * 1000, [1.0] * 1000), [1, 2], 3)
    assert found.first_probabilities == pytest.approx((0.8, 0.2), abs=1e-15)
    assert found.numbers == (1, 1)


@pytest.mark.parametrize(
    ("sizes", "told_apart"),
    [((3,), False), ((5,), False), ((6,), True), ((5, 5), False), ((6, 5), False), ((6, 6), True)],
)
def test_fewer_than_six_sequences_of_a_domain_distinguish_no_two_systems(
    sizes: tuple[int, ...], told_apart: bool
) -> None:
    """The smallest domain decides: two of five have 126 * 126 different draws, and yet no tiers."""
    drawn = losses([0.0] * 1000, [1.0] * 1000)
    found = find_tiers(drawn, [1, 2], resample_count(sizes), share_apart(sizes))
    assert found.numbers == (1, 2 if told_apart else 1)


def test_few_sequences_need_more_draws_in_which_a_system_is_worse() -> None:
    """Of ten sequences 97.5 % become Phi(2.262 * 1.0541) = Phi(2.3846) = 0.99145, by tables."""
    apart = share_apart([10])
    assert apart == pytest.approx(0.99145, abs=2e-5)
    best = [0.0] * 9998
    for wins, tier in ((9914, 2), (9912, 1)):  # and one more, of 10,000: 0.9915 and 0.9913
        other = [1.0] * wins + [-1.0] * (9998 - wins)
        assert find_tiers(losses(best, other), [1, 2], MANY, apart).numbers == (1, tier)


def test_numbers_of_different_draws_of_domains_multiply() -> None:
    assert resample_count([2, 1]) == 3 * 1


def test_an_undefined_score_is_first_only_if_all_are_undefined() -> None:
    nothing = [math.nan] * 4
    found = find_tiers(losses(nothing, [1.0, 1.0, math.nan, 1.0]), [2, 1], MANY)
    assert found.first_probabilities == pytest.approx((1.5 / 6, 4.5 / 6), abs=1e-15)
    assert found.numbers == (1, 1)  # No draw has both.


def test_systems_of_one_rank_are_in_one_tier() -> None:
    drawn = losses([0.0] * 99, [1.0] * 99, [0.5] * 99, [2.0] * 99)
    assert find_tiers(drawn, [1, 1, 3, 4], MANY).numbers == (1, 1, 1, 2)


def test_directions_turn_measures_into_losses() -> None:
    directions = {"f1": Direction.HIGHER, "mse": Direction.LOWER}
    found = losses_of(np.array([[0.5, 4.0]]), directions)
    assert found.tolist() == [[-0.5, 4.0]]


def test_draws_are_those_of_the_bootstrap() -> None:
    """Shares of the draws in which a system is above another, out of the jobs of each."""
    contest, evaluator = points_contest(sequences=4), create_evaluator("spotgeo")
    tallies = list(map(pack_parts, sequence_tallies(evaluator, contest)))
    times = draw_sequences(contest.sequences, 60, 1)
    keys = [
        [(-f1, mse) for f1, mse in run_draws_job(job).tolist()]
        for job in (DrawsJob.of(evaluator, one, times, ["f1", "mse"]) for one in tallies)
    ]
    whole = bootstrap(evaluator, contest, draws=60, seed=1)
    for row, one in enumerate(keys):
        for column, other in enumerate(keys):
            wins = sum(2 * (a < b) + (a == b) for a, b in zip(one, other, strict=True))
            assert whole.above[row, column] == wins / 120


@st.composite
def contests(draw: st.DrawFn) -> tuple[FloatArray, list[int], int, float]:
    systems, draws = draw(st.integers(1, 6)), draw(st.integers(1, 60))
    measures = draw(st.integers(1, 2))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    drawn = random.integers(0, 6, (systems, draws, measures)).astype(np.float64)
    drawn += draw(st.sampled_from([0.0, 0.5, 4.0])) * np.arange(systems)[:, None, None]
    drawn[random.random(drawn.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    ranks = sorted(draw(st.lists(st.integers(1, 4), min_size=systems, max_size=systems)))
    apart = draw(st.sampled_from([0.7, 0.95, 0.975, 0.99, 1.0]))
    return drawn, ranks, draw(st.sampled_from([3, 10, 126, MANY])), apart


@given(contests())
@settings(deadline=None)
def test_tiers_equal_those_of_a_plain_oracle(
    contest: tuple[FloatArray, list[int], int, float],
) -> None:
    found, (numbers, probabilities) = find_tiers(*contest), oracle(*contest)
    assert list(found.numbers) == numbers
    assert found.first_probabilities == pytest.approx(probabilities, abs=1e-12)
    assert sum(found.first_probabilities) == pytest.approx(1.0, abs=1e-12)
    assert len(numbers) == 1 or max(found.first_probabilities) < 1.0


@given(contests(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_systems_makes_no_difference(
    contest: tuple[FloatArray, list[int], int, float], random: object
) -> None:
    drawn, ranks, resamples, apart = contest
    order = list(range(len(ranks)))
    random.shuffle(order)  # type: ignore[attr-defined]
    found = find_tiers(drawn, ranks, resamples, apart)
    moved = find_tiers(drawn[order], [ranks[row] for row in order], resamples, apart)
    assert moved.numbers == tuple(found.numbers[row] for row in order)
    assert moved.first_probabilities == tuple(found.first_probabilities[row] for row in order)


def test_the_same_input_gives_the_same_bits() -> None:
    drawn = np.random.default_rng(3).normal(size=(5, 200, 2))
    assert find_tiers(drawn, [1, 2, 3, 4, 5], 126) == find_tiers(drawn.copy(), [1, 2, 3, 4, 5], 126)
