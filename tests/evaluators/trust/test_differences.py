"""Differences of systems have the intervals that an independent bootstrap gives them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.varieties import mostly_nightly

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.detection.f1 import F1
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, OutcomeBuilder, Outcomes
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.testing.examples import example_count
from vidscore_evaluators.trust import draws
from vidscore_evaluators.trust.comparisons import Comparison, compare_systems
from vidscore_evaluators.trust.differences import (
    Difference,
    FrameDifference,
    SequenceDifference,
    SystemPair,
    Verdict,
)
from vidscore_evaluators.trust.resampling import draw_sequences
from vidscore_evaluators.trust.systems import Contest

Counts = list[tuple[int, int, int]]
"""For each sequence: objects found, objects missed, false positives."""


def box(x: float, label: str = "car", confidence: float = 1.0) -> Thing:
    return Thing((x, 0.0, x + 10.0, 10.0), label, confidence)


def key(row: int) -> tuple[str, str]:
    return ("even" if row % 2 == 0 else "odd", f"{row:02d}")


def detections(counts: Counts, label: str = "car") -> Annotations:
    """Detections of a system: one object per frame, and false positives in frame 0."""
    sequences = {}
    for row, (found, missed, alarms) in enumerate(counts):
        frames = {number: [box(0, label)] * (number < found) for number in range(found + missed)}
        frames[0] = [*frames.get(0, []), *(box(100 + 20 * extra, label) for extra in range(alarms))]
        sequences[key(row)] = frames
    return make_annotations(sequences, arity=4)


def truth(counts: Counts, label: str = "car") -> Annotations:
    """An object in each frame of each sequence."""
    return make_annotations(
        {
            key(row): {number: [box(0, label)] for number in range(found + missed)}
            for row, (found, missed, _) in enumerate(counts)
        },
        arity=4,
    )


def contest(**systems: Counts) -> Contest:
    return Contest.of(
        truth(next(iter(systems.values()))),
        {name: detections(counts) for name, counts in systems.items()},
    )


def f1_of(counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """F1 of (..., 3) counts: 2 TP / (objects + detections)."""
    found, missed, alarms = np.moveaxis(counts, -1, 0)
    scores: np.ndarray[Any, Any] = 2 * found / (2 * found + missed + alarms)
    return scores


def compared(
    evaluator: str = "f1", parameters: Mapping[str, Any] | None = None, **options: Any
) -> Callable[..., Comparison]:
    created = create_evaluator(evaluator, parameters or {})

    def run(**systems: Counts) -> Comparison:
        return compare_systems(created, contest(**systems), **options)

    return run


def pair_of(one: Comparison) -> SystemPair:
    [pair] = one.pairs
    return pair


A: Counts = [(6, 4, 1), (5, 5, 2), (8, 2, 0), (7, 3, 3), (4, 6, 1), (9, 1, 2)] * 2
B: Counts = [(8, 2, 1), (7, 3, 1), (9, 1, 1), (7, 3, 1), (8, 2, 1), (9, 1, 0)] * 2


@pytest.mark.slow
@pytest.mark.parametrize("coverage", mostly_nightly([0.95, 0.8]))
def test_intervals_equal_those_of_a_plain_bootstrap_over_the_same_draws(coverage: float) -> None:
    """Between the percentiles that few sequences ask for, by scipy's distributions."""
    pair = pair_of(compared(draws=300, coverage=coverage, seed=7)(a=A, b=B))
    order = sorted(range(len(A)), key=key)
    keys = [SequenceKey(*key(row)) for row in order]
    times = draw_sequences(keys, 300, 7)
    first, second = (np.array(counts)[order] for counts in (A, B))
    drawn = f1_of(times @ second) - f1_of(times @ first)
    sizes = [len(list(own)) for _, own in groupby(keys, lambda one: one.domain)]
    stretch = math.sqrt(min(sizes) / (min(sizes) - 1))
    student = scipy.stats.t(sum(sizes) - len(sizes))
    ends = [(1 - coverage) / 2, (1 + coverage) / 2]
    low, high = np.quantile(drawn, scipy.stats.norm.cdf(stretch * student.ppf(ends)))

    found = pair.overall
    assert found.first == pytest.approx(f1_of(first.sum(axis=0)), abs=1e-12)
    assert found.second == pytest.approx(f1_of(second.sum(axis=0)), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-12)
    wins = float((drawn > 1e-12).sum() + 0.5 * (abs(drawn) <= 1e-12).sum())
    probability = student.cdf(scipy.stats.norm.ppf((wins + 1) / 302) / stretch)
    assert found.probability_better == pytest.approx(probability, abs=1e-12)
    assert pair.verdict is Verdict.BETTER


@pytest.mark.parametrize("draws_per_job", [7, 50])
def test_a_sequence_contributes_the_change_from_exchanging_it_alone(
    draws_per_job: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draws, "DRAWS_PER_JOB", draws_per_job)
    pair = pair_of(compared(draws=10, top=12)(a=A, b=B))
    first, second = np.array(A), np.array(B)
    expected = {}
    for row in range(len(A)):
        nearly_first, nearly_second = first.copy(), second.copy()
        nearly_first[row], nearly_second[row] = second[row], first[row]
        rises = f1_of(nearly_first.sum(axis=0)) - f1_of(first.sum(axis=0))
        falls = f1_of(second.sum(axis=0)) - f1_of(nearly_second.sum(axis=0))
        expected[key(row)] = (rises + falls) / 2
    assert {one.key: one.contribution for one in pair.sequences} == pytest.approx(expected)
    sizes = [abs(one.contribution or 0.0) for one in pair.sequences]
    assert sizes == sorted(sizes, reverse=True)
    alone = {one.key: (one.first, one.second) for one in pair.sequences}
    assert alone[SequenceKey(*key(4))] == pytest.approx((f1_of(first[4]), f1_of(second[4])))


def test_a_sequence_on_which_systems_are_equal_makes_no_difference() -> None:
    other = [*A[:2], (10, 0, 0), *A[3:]]
    pair = pair_of(compared(draws=10)(a=A, b=other))
    assert [one.key for one in pair.sequences] == [key(2)]
    assert pair.sequences[0].contribution == pytest.approx(pair.overall.value)


def test_domains_and_labels_are_listed_by_their_difference() -> None:
    pair = pair_of(compared(draws=10)(a=A, b=B))
    even = f1_of(np.array(B)[::2].sum(axis=0)) - f1_of(np.array(A)[::2].sum(axis=0))
    odd = f1_of(np.array(B)[1::2].sum(axis=0)) - f1_of(np.array(A)[1::2].sum(axis=0))
    assert even > odd > 0
    assert [(one.domain, one.label) for one in pair.domains(5)] == [("even", None), ("odd", None)]
    assert [one.value for one in pair.domains(5)] == pytest.approx([even, odd])
    assert [one.label for one in pair.labels(5)] == ["car"]
    assert pair.domains(1) == pair.domains(5)[:1]
    assert pair.domains(0) == []
    # With the first sequence at the end, the two domains are exchanged.
    turned = pair_of(compared(draws=10)(a=[*A[1:], A[0]], b=[*B[1:], B[0]]))
    assert [one.domain for one in turned.domains(5)] == ["odd", "even"]


counts = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)).filter(
    lambda one: one[0] + one[1] > 0
)


@pytest.mark.slow
@settings(max_examples=example_count(20), deadline=None)
@given(st.data(), st.integers(1, 4))
def test_one_system_is_better_by_as_much_as_the_other_is_worse(
    data: st.DataObject, size: int
) -> None:
    first = data.draw(st.lists(counts, min_size=size, max_size=size))
    # The other system has the same objects, of which it finds others.
    second = []
    for found, missed, _ in first:
        hits = data.draw(st.integers(0, found + missed))
        second.append((hits, found + missed - hits, data.draw(st.integers(0, 2))))
    forth = pair_of(compared(draws=20)(a=first, b=second))
    back = pair_of(compared(draws=20)(b=second, a=first))
    for one, other in zip(forth.differences, back.differences, strict=True):
        assert (one.first, one.second) == (other.second, other.first)
        if one.value is not None:
            assert other.value == -one.value
        if one.low is not None and one.high is not None:
            assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
            assert one.low <= one.high
        if one.probability_better is not None:
            assert 0.0 < one.probability_better < 1.0
            assert other.probability_better == pytest.approx(1.0 - one.probability_better)
    opposite = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
    assert back.verdict == opposite.get(forth.verdict, forth.verdict)


def test_equal_systems_cannot_be_told_apart() -> None:
    one = compared(draws=20)(a=A, b=A)
    pair = pair_of(one)
    assert (pair.overall.low, pair.overall.high, pair.overall.value) == (0.0, 0.0, 0.0)
    assert pair.overall.probability_better == 0.5
    assert pair.verdict is Verdict.UNDECIDED
    assert pair.sequences == ()
    assert one.answers == ["b and a cannot be told apart in f1: b has the same [0, 0]"]


@pytest.mark.slow
def test_the_answer_is_a_sentence_for_each_later_system() -> None:
    # Of each 60 objects 39 are found with 9 false alarms, and 48 with 5: 96 / 113 - 78 / 108.
    one = compared(draws=300, seed=7)(a=A, b=B, c=A)
    assert one.systems == ("a", "b", "c")
    better, alike = one.answers
    assert better.startswith("b is better than a in f1 by 0.1273 [0.")
    assert alike.startswith("c and a cannot be told apart")
    [worse] = compared(draws=300, seed=7)(b=B, a=A).answers
    assert worse.startswith("a is worse than b in f1 by 0.1273 [0.")
    assert str(one) == f"{better}\n{alike}"
    assert one.pair("c").first == "a"
    with pytest.raises(KeyError, match="no system 'd'"):
        one.pair("d")


def test_for_a_distance_less_is_better() -> None:
    """The better system has the lower OSPA, and is said to be better by a positive number."""
    one = compared("ospa", draws=100)(a=A, b=B)
    pair = pair_of(one)
    assert pair.lower_is_better
    assert pair.overall.value is not None
    assert pair.overall.value < 0.0
    assert pair.overall.high is not None
    assert pair.overall.high < 0.0
    assert pair.verdict is Verdict.BETTER
    assert one.answers[0].startswith("b is better than a in ospa by 0.")
    assert " [0." in one.answers[0]


def test_with_a_single_sequence_no_system_is_called_better() -> None:
    one = compared(draws=20)(a=[(1, 9, 0)], b=[(10, 0, 0)])
    pair = pair_of(one)
    assert (one.draws, one.sequence_count) == (0, 1)
    assert (pair.overall.low, pair.overall.probability_better) == (None, None)
    assert pair.verdict is Verdict.UNDECIDED
    assert pair.sequences[0].contribution == pair.overall.value
    few = "with so few sequences"
    assert one.answers == [f"b and a cannot be told apart in f1 {few}: b has 0.8182 more"]
    assert one.notes[0] == (
        "There is only one sequence, so nothing can be said about others: no interval, and no "
        "system is called better. At least 6 are needed: add some. If frames are independent "
        "images, as in COCO, draw them: vidscore compare --draw frames."
    )


def test_with_one_sequence_in_each_domain_no_system_is_called_better() -> None:
    """Every draw has the same two sequences, so draws do not say how far others would differ."""
    one = compared(draws=20)(a=[(1, 9, 0), (2, 8, 0)], b=[(10, 0, 0), (9, 1, 0)])
    pair = pair_of(one)
    assert (one.draws, one.sequence_count) == (0, 2)
    assert (pair.overall.low, pair.overall.probability_better) == (None, None)
    assert pair.verdict is Verdict.UNDECIDED
    assert one.notes[0].startswith("Each domain has only one sequence, so nothing can be said")


def test_scores_that_a_single_sequence_has_have_no_interval() -> None:
    """Of three sequences of a domain, one has persons, and another domain has one with cars."""
    keys = [("day", "1"), ("day", "2"), ("day", "3"), ("night", "4")]
    labels = ["car", "car", "person", "car"]

    def side(*found: int) -> Annotations:
        return make_annotations(
            {
                key: {frame: [box(0, label)] * (frame < count) for frame in range(10)}
                for key, label, count in zip(keys, labels, found, strict=True)
            },
            arity=4,
        )

    systems = {"a": side(5, 6, 4, 3), "b": side(6, 6, 8, 9)}
    one = compare_systems(
        create_evaluator("f1"), Contest.of(side(10, 10, 10, 10), systems), draws=50
    )
    pair = pair_of(one)
    known = {
        (found.domain, found.label): found.low is not None
        for found in pair.differences
        if found.measure == "f1"
    }
    assert known == {
        (None, None): True, ("day", None): True, ("night", None): False,
        (None, "car"): True, (None, "person"): False,
        ("day", "car"): True, ("day", "person"): False, ("night", "car"): False,
    }  # fmt: skip
    alone = next(found for found in pair.differences if found.label == "person")
    assert (alone.value, alone.high, alone.probability_better) == (16 / 18 - 8 / 14, None, None)


def test_with_few_sequences_the_answer_says_how_little_they_mean() -> None:
    few = compared(draws=5)(a=A, b=B).notes
    assert few[0] == (
        "In brackets: the 95 % interval of the difference over 5 draws of the 12 sequences, seed 1."
    )
    assert few[1].startswith("6 sequences in a domain are few: intervals from fewer than 10")
    many = compared(draws=5)(a=A * 2, b=B * 2).notes
    assert not [note for note in many if "are few" in note or "too few" in note]


def test_a_score_that_is_undefined_decides_nothing() -> None:
    nothing = make_annotations({("", "s"): {0: []}, ("", "t"): {0: []}}, arity=4)
    some = make_annotations({("", "s"): {0: [box(0)]}}, arity=4)
    one = compare_systems(
        create_evaluator("map"), Contest.of(nothing, {"a": nothing, "b": some}), draws=5
    )
    assert one.pairs[0].verdict is Verdict.UNDEFINED
    assert one.answers == ["ap is undefined for a and b"]


def precision_of(pair: SystemPair) -> Difference:
    """The difference of precision over everything."""
    everything = (None, None, "precision")
    [found] = [
        one for one in pair.differences if (one.domain, one.label, one.measure) == everything
    ]
    return found


def test_draws_with_an_undefined_score_do_not_count() -> None:
    """All detections of b are in the first of three sequences; without it b has no precision."""
    sure: Counts = [(10, 0, 0)] * 3
    precision = precision_of(
        pair_of(compared(draws=50)(a=sure, b=[sure[0], (0, 10, 0), (0, 10, 0)]))
    )
    assert (precision.first, precision.second) == (1.0, 1.0)
    assert (precision.low, precision.high, precision.probability_better) == (0.0, 0.0, 0.5)


def test_a_score_that_one_system_lacks_has_no_difference() -> None:
    """Without a detection there is no precision."""
    nothing: Counts = [(0, 10, 0), (0, 10, 0)]
    pair = pair_of(compared(draws=20)(a=nothing, b=[(10, 0, 0), (0, 10, 0)]))
    precision = precision_of(pair)
    assert (precision.first, precision.second, precision.value) == (None, 1.0, None)
    assert (precision.low, precision.probability_better) == (None, None)
    [f1] = [one for one in pair.sequences if one.key == key(0)]
    assert f1.value == 1.0
    assert SequenceDifference(f1.key, None, 0.5, None).value is None
    assert SequenceDifference(f1.key, 0.5, None, None).value is None
    assert SequenceDifference(f1.key, 0.75, 0.5, None).value == -0.25


def test_two_sequences_of_a_domain_are_enough_for_the_difference() -> None:
    one = compared(draws=20)(a=A[:3], b=B[:3])
    assert (one.draws, one.sequence_count) == (20, 3)
    assert pair_of(one).overall.low is not None


def test_an_id_switch_is_one_mistake_of_its_frame() -> None:
    """The object of three frames has another track from frame 1 on."""

    def tracked(*tracks: int) -> Annotations:
        frames = {
            frame: [Thing((0.0, 0.0, 10.0, 10.0), "car", track_id=track)]
            for frame, track in enumerate(tracks)
        }
        return make_annotations({("", "s"): frames}, arity=4)

    systems = {"a": tracked(7, 7, 7), "b": tracked(7, 8, 8)}
    one = compare_systems(create_evaluator("clear"), Contest.of(tracked(1, 1, 1), systems))
    assert pair_of(one).frames == (FrameDifference(SequenceKey("", "s"), 1, 0, 1),)


@pytest.mark.slow
def test_workers_give_the_same_as_this_process() -> None:
    here = compared(draws=60)(a=A, b=B)
    there = compared(draws=60, workers=2)(a=A, b=B)
    assert there.to_dict() == here.to_dict()


def test_frames_are_listed_by_the_difference_in_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    def outcomes(_: F1, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """A detection at x = 0 finds the object of its frame; any other is a false positive."""
        del at
        builder = OutcomeBuilder(aligned)
        hits = aligned.detections.coordinates[:, 0] == 0.0
        found = np.isin(aligned.truth.object_frames, aligned.detections.object_frames[hits])
        builder.set(Side.TRUTH, ~found, Outcome.FALSE_NEGATIVE)
        builder.match(np.flatnonzero(found), np.flatnonzero(hits))
        builder.set(Side.DETECTIONS, ~hits, Outcome.FALSE_POSITIVE)
        return builder.build()

    monkeypatch.setattr(F1, "outcomes", outcomes)
    first: Counts = [(2, 1, 3), (0, 2, 0)]
    second: Counts = [(3, 0, 1), (1, 1, 0)]
    pair = pair_of(compared(draws=5, top=2)(a=first, b=second))
    assert pair.frames is not None
    # In frame 0 of the first sequence 3 and 1 false alarms; in frame 2 of it a miss of the first
    # system alone, and so in frame 0 of the second.
    assert [(*one.key, one.frame, one.first, one.second) for one in pair.frames] == [
        ("even", "00", 0, 3, 1),
        ("even", "00", 2, 1, 0),
    ]
    assert pair_of(compared(draws=5)(a=A, b=A)).frames == ()


@pytest.mark.parametrize(("first", "second", "more"), [(5, 4, -1), (0, 3, 3), (2, 0, -2)])
def test_the_difference_of_a_frame_is_that_of_the_mistakes_of_both_systems(
    first: int, second: int, more: int
) -> None:
    assert FrameDifference(SequenceKey("", "a"), 0, first, second).value == more


def test_without_outcomes_frames_are_left_out_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(F1, "has_outcomes", False)
    one = compared(draws=5)(a=A, b=B)
    assert pair_of(one).frames is None
    assert "f1 does not say what became of objects, so no frames are listed." in one.notes


def test_the_document_holds_all_of_it() -> None:
    one = compared(draws=5, seed=3)(a=A, b=B)
    document = one.to_dict()
    [pair] = document["comparisons"]
    assert document["systems"] == ["a", "b"]
    assert (document["draws"], document["seed"], document["coverage"]) == (5, 3, 0.95)
    assert document["answers"] == one.answers
    assert "selection" not in document
    assert pair["verdict"] == pair_of(one).verdict.value
    assert pair["differences"][0] == {
        "domain": None, "label": None, "measure": "f1",
        "first": pair_of(one).overall.first, "second": pair_of(one).overall.second,
        "difference": pair_of(one).overall.value,
        "low": pair_of(one).overall.low, "high": pair_of(one).overall.high,
        "probability_better": pair_of(one).overall.probability_better,
    }  # fmt: skip
