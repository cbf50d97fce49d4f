"""Few sequences decide nothing, and the answer says so and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import scipy.stats

from vidscore_evaluators.annotations import Annotations, ObjectFlag, SequenceKey
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.trust.analyses import RankingAnalysis
from vidscore_evaluators.trust.comparisons import compare_systems
from vidscore_evaluators.trust.differences import Verdict
from vidscore_evaluators.trust.doubts import doubts_of_draws
from vidscore_evaluators.trust.few_sequences import interval_of, probabilities_of, share_of
from vidscore_evaluators.trust.ranking import Questions
from vidscore_evaluators.trust.resampling import alike_groups, draw_sequences
from vidscore_evaluators.trust.systems import Contest, Request


def box(x: float, label: str = "car") -> Thing:
    return Thing((x, 0.0, x + 10.0, 10.0), label)


def in_domains(sizes: Sequence[int], found: int) -> Annotations:
    """An object in the first `found` of four frames of each sequence of domains of these sizes."""
    return make_annotations(
        {
            (f"domain {domain}", str(row)): {
                frame: [box(0)] * (frame < found) for frame in range(4)
            }
            for domain, size in enumerate(sizes)
            for row in range(size)
        },
        arity=4,
    )


@pytest.mark.parametrize(
    ("sizes", "verdict"),
    [
        ((2,), Verdict.UNDECIDED),
        ((5,), Verdict.UNDECIDED),
        ((6,), Verdict.BETTER),
        ((6, 5), Verdict.UNDECIDED),
        ((50, 1), Verdict.UNDECIDED),
        ((6, 6), Verdict.BETTER),
    ],
)
def test_with_fewer_than_six_sequences_in_a_domain_no_system_is_called_better(
    sizes: tuple[int, ...], verdict: Verdict
) -> None:
    """Though b finds all and a half of the objects of each sequence, so that no draw differs."""
    contest = Contest.of(
        in_domains(sizes, 4), {"a": in_domains(sizes, 2), "b": in_domains(sizes, 4)}
    )
    one = compare_systems(create_evaluator("f1"), contest, draws=20)
    [pair] = one.pairs
    assert (pair.overall.low, pair.overall.high) == pytest.approx((1 / 3, 1 / 3))
    assert pair.verdict is verdict
    said = "with so few sequences: b has 0.3333 more [0.3333, 0.3333]"
    assert one.answers[0].endswith(said) == (verdict is Verdict.UNDECIDED)
    few = [note for note in one.notes if "too few to call a system better" in note]
    assert len(few) == (verdict is Verdict.UNDECIDED)


@pytest.mark.parametrize(
    ("sizes", "share", "freedom"),
    [
        ((2,), 4 / 5, 1),
        ((3,), 11 / 12, 2),
        ((2, 2), 10 / 11, 2),
        ((7,), 101 / 102, 6),
        ((9, 3), 101 / 102, 10),
        ((9, 1), 101 / 102, 8),
    ],
)
def test_the_probability_of_being_better_counts_no_more_draws_than_differ(
    sizes: tuple[int, ...], share: float, freedom: int
) -> None:
    """There are 3, 10 and 3 * 3 of them, or 100 are drawn: b is better in all, and in one of two
    more.

    The probability is that of Student's t, with the smallest domain of several sequences.
    """
    contest = Contest.of(
        in_domains(sizes, 4), {"a": in_domains(sizes, 2), "b": in_domains(sizes, 4)}
    )
    [pair] = compare_systems(create_evaluator("f1"), contest, draws=100).pairs
    fewest = min(size for size in sizes if size > 1)
    score = scipy.stats.norm.ppf(share) / math.sqrt(fewest / (fewest - 1))
    probability = scipy.stats.t(freedom).cdf(score)
    assert pair.overall.probability_better == pytest.approx(probability, abs=1e-12)


@pytest.mark.parametrize(
    ("sizes", "share"),
    [
        ((5,), 0.000954),
        ((10,), 0.00855),
        ((40,), 0.02026),
        ((10, 1), 0.00855),
        ((5, 5), 0.00497),
        ((1,), 0.025),
        ((), 0.025),
    ],
)
def test_percentiles_of_few_sequences_are_further_out(sizes: tuple[int, ...], share: float) -> None:
    """By tables: Student's t at 97.5 % is 2.776 with 4 degrees of freedom, 2.306 with 8, 2.262 with
    9 and 2.0227 with 39; times the root of 5/4, 10/9 or 40/39, in a table of the normal."""
    assert share_of(0.025, sizes) == pytest.approx(share, rel=0.003)
    assert share_of(0.975, sizes) == pytest.approx(1.0 - share, abs=2e-5)
    [back] = probabilities_of(np.array([share_of(0.025, sizes)]), sizes)
    assert back == pytest.approx(0.025, abs=1e-12)


def normal(random: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return random.normal(size=size)


def skewed(random: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return random.exponential(size=size) - 1.0


def with_outliers(random: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return random.standard_t(3, size=size)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("differences", "sequences", "fraction", "of_letters"),
    [
        (normal, 5, 0.09, 0.12),
        (normal, 6, 0.07, 0.11),
        (normal, 10, 0.05, 0.10),
        (normal, 100, 0.05, 0.10),
        (skewed, 6, 0.12, 0.16),
        (skewed, 30, 0.07, 0.12),
        (with_outliers, 6, 0.08, 0.12),
    ],
)
def test_how_often_equal_systems_are_told_apart(
    differences: Callable[[np.random.Generator, tuple[int, int]], FloatArray],
    sequences: int,
    fraction: float,
    of_letters: float,
) -> None:
    """The figures of docs/trust.md, of which that of five is why there is no verdict there.

    In each of 6000 pairs, the difference of each sequence is drawn from one distribution, whose
    mean is 0. Ten seeds of the draws have 600 pairs each.
    """
    random = np.random.default_rng(sequences)
    keys = [SequenceKey("", f"{row:02d}") for row in range(sequences)]
    drawn = np.concatenate(
        [
            differences(random, (600, sequences)) @ draw_sequences(keys, 1000, seed=seed).T
            for seed in range(10)
        ]
    )
    intervals = [interval_of(means, 0.95, [sequences]) for means in drawn]
    wrong = np.mean([low > 0 or high < 0 for low, high in intervals])
    assert wrong == pytest.approx(fraction, abs=0.015)
    above = (drawn > 0).mean(axis=1).tolist()
    share = share_of(0.95, [sequences])
    groups = [alike_groups(np.array([[0.5, one], [1 - one, 0.5]]), share) for one in above]
    apart = np.mean([len(found) == 2 for found in groups])
    assert apart == pytest.approx(of_letters, abs=0.015)


LITTLE = (
    "intervals from fewer than 10 say little about other sequences, "
    "and are too narrow if a few are unlike the rest."
)


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"car": 12, "person": 9}, f"Few sequences have the label person (9): {LITTLE}"),
        ({"car": 12, "person": 10}, None),
        (
            {"car": 12, "dog": 2, "bus": 5},
            f"Few sequences have the labels dog (2), bus (5): {LITTLE}",
        ),
        ({"car": 12, "person": 1}, None),
        ({"car": 6, "person": 6}, None),
        (
            {"car": 12} | {f"label {size}": size for size in range(2, 10)},
            (
                "Few sequences have the labels label 2 (2), label 3 (3), label 4 (4), label 5 (5), "
                f"label 6 (6) and 3 more: {LITTLE}"
            ),
        ),
    ],
)
def test_labels_that_few_sequences_have_are_named(sizes: dict[str, int], said: str | None) -> None:
    """A label of a single sequence has no interval; if all have a label, it is not about labels."""
    sequences = {
        ("", f"{row:02d}"): {
            0: [box(20 * at, name) for at, (name, size) in enumerate(sizes.items()) if row < size]
        }
        for row in range(sizes["car"])
    }
    truth = make_annotations(sequences, arity=4)
    contest = Contest.of(truth, {"a": truth, "b": truth})
    one = compare_systems(create_evaluator("f1"), contest, draws=30)
    assert [note for note in one.notes if "label" in note] == ([] if said is None else [said])


def test_a_ranking_names_labels_that_few_sequences_have() -> None:
    """An ignored object does not count as one of the label."""
    ignored = Thing((0.0, 0.0, 10.0, 10.0), "person", flags=ObjectFlag.IGNORE)
    sequences = {
        ("", f"{row:02d}"): {0: [box(50), box(0, "person") if row < 3 else ignored]}
        for row in range(12)
    }
    truth = make_annotations(sequences, arity=4)
    contest = Contest.of(truth, {"a": truth, "b": truth})
    analysis = RankingAnalysis((Request("f1", {}, BenchmarkSpec()),), contest, Questions(draws=20))
    assert analysis.run()["notes"] == [f"Few sequences have the label person (3): {LITTLE}"]


def videos(*lengths: int) -> Annotations:
    """Sequences of a moving object; of equal lengths, they have the same ground truth."""
    return make_annotations(
        {
            ("", f"v{row}"): {frame: [box(frame)] for frame in range(length)}
            for row, length in enumerate(lengths)
        },
        arity=4,
    )


@pytest.mark.parametrize(
    ("lengths", "found"),
    [
        ((20, 21, 22), None),
        ((19, 19), None),
        ((20, 21, 20), "v0, v2 have the same ground truth: "),
        ((20, 20, 30, 30), "v0, v1 have the same ground truth (likewise 1 other group): "),
    ],
)
def test_copies_of_a_video_are_named(lengths: tuple[int, ...], found: str | None) -> None:
    """As of MOT17, whose videos come three times; of fewer than twenty objects chance may do it."""
    truth = videos(*lengths)
    contest = Contest.of(truth, {"a": truth, "b": truth})
    one = compare_systems(create_evaluator("f1"), contest, draws=5)
    said = [note for note in one.notes if "the same ground truth" in note]
    assert [note[: len(found or "")] for note in said] == ([] if found is None else [found])


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ((9,), "9 sequences are few: "),
        ((10,), None),
        ((4,), "4 sequences are too few to call a system better. At least 6 are needed: add"),
        ((1, 50), "1 sequence in a domain is too few to call a system better. At least 6 in each"),
        ((10, 9), "9 sequences in a domain are few: "),
        ((10, 10), None),
    ],
)
def test_the_smallest_domain_decides_whether_sequences_are_few(
    sizes: tuple[int, ...], found: str | None
) -> None:
    sequences = {
        (f"domain {domain}", str(row)): {0: [box(0)]}
        for domain, size in enumerate(sizes)
        for row in range(size)
    }
    truth = make_annotations(sequences, arity=4)
    doubts = doubts_of_draws(Contest.of(truth, {"a": truth, "b": truth}))
    assert [doubt[: len(found or "")] for doubt in doubts] == ([] if found is None else [found])
