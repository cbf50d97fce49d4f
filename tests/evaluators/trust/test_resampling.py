"""The bootstrap scores a draw as if it were a separate data set."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.trust.contests import points_contest, scores_of_draw

from vidscore_evaluators.annotations import Annotations, SequenceKey, concatenate
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report, Scores
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.trust import draws
from vidscore_evaluators.trust.drawn_tallies import DrawnTallies, pack_parts
from vidscore_evaluators.trust.draws import Draws, Key, score_draws, scores_by_key, sequence_tallies
from vidscore_evaluators.trust.ranking import examine
from vidscore_evaluators.trust.resampling import (
    Interval,
    alike_groups,
    bootstrap,
    draw_sequences,
    percentile_intervals,
)
from vidscore_evaluators.trust.systems import Contest, Drawn, bare_report, by_sequence

KEYS = [SequenceKey("", str(number)) for number in range(1, 6)]


def as_data_set(side: Annotations, times: list[int]) -> Annotations:
    """The sequences as often as they were drawn, each copy with its own name."""
    parts = []
    for key, count in zip(KEYS, times, strict=True):
        for number in range(count):
            [part] = by_sequence(side, [key])
            parts.append(replace(part, sequences=(SequenceKey("", f"{key.sequence} #{number}"),)))
    return concatenate(parts)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("spotgeo", {}),
        ("spotgeo", {"profile": "kelvins"}),
        ("f1", {"base": "euclidean"}),
        ("ospa", {"base": "euclidean"}),
        ("map", {"base": "euclidean"}),
    ],
)
def test_a_draw_is_scored_as_the_data_set_that_it_stands_for(
    name: str, parameters: dict[str, object]
) -> None:
    """Also where scores are means over sequences, in which one that is drawn twice counts twice."""
    contest = points_contest()
    evaluator = create_evaluator(name, parameters)
    detections = contest.systems["middling"]
    tallies = list(
        map(evaluator.tally, by_sequence(contest.truth, KEYS), by_sequence(detections, KEYS))
    )
    rows = draw_sequences(KEYS, 5, seed=2)
    most = int(rows.max())
    drawn = DrawnTallies(pack_parts(tallies), most, Drawn.SEQUENCES, adds_sequences=False)
    for times in rows:
        expected = evaluator.tally(
            as_data_set(contest.truth, times.tolist()), as_data_set(detections, times.tolist())
        )
        assert evaluator.scores(drawn.tally(times)) == evaluator.scores(expected)


@pytest.mark.parametrize("ties", ["step", "row"])
def test_draws_rank_equal_confidences_as_their_data_set_does(ties: str) -> None:
    """Ties by row need the names of the sequences, so that these may not be added."""
    contest = points_contest()
    evaluator = create_evaluator("map", {"base": "euclidean", "ties": ties})
    detections = contest.systems["middling"]
    place = list(contest.systems).index("middling")
    times = draw_sequences(KEYS, 5, seed=2)
    packed = pack_parts(sequence_tallies(evaluator, contest)[place])
    [drawn] = score_draws(evaluator, [packed], times)
    for row, count in enumerate(times.tolist()):
        sides = (as_data_set(side, count) for side in (contest.truth, detections))
        expected = scores_by_key(evaluator.scores(evaluator.tally(*sides)))
        assert scores_of_draw(drawn, row) == expected


def test_equal_draws_are_scored_once_and_stay_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = create_evaluator("spotgeo")
    contest = points_contest()
    tallies = list(map(pack_parts, sequence_tallies(evaluator, contest)))
    times = np.array([[2, 0, 1, 1, 1], [1, 1, 1, 1, 1], [2, 0, 1, 1, 1], [0, 5, 0, 0, 0]])
    one_by_one = [score_draws(evaluator, tallies, times[row : row + 1]) for row in range(4)]
    scored: list[Scores] = []

    def noted(evaluator: Evaluator[Any], scores: Scores) -> Report:
        scored.append(scores)
        return bare_report(evaluator, scores)

    monkeypatch.setattr(draws, "bare_report", noted)
    found = score_draws(evaluator, tallies, times)
    for system, own in enumerate(found):
        alone = [one[system] for one in one_by_one]
        assert own.rank_keys == [key for one in alone for key in one.rank_keys]
        assert [scores_of_draw(own, row) for row in range(4)] == [
            scores_of_draw(one, 0) for one in alone
        ]
    assert len(scored) == 3 * len(tallies)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("f1", "detection.f1"),
        ("log-amr", "detection.log_average_miss_rate"),
        ("map", "detection.average_precision"),
    ],
)
def test_draws_compute_no_curves(name: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With many labels, curves take longer than all scores, and nobody reads those of a draw."""
    evaluator, contest = create_evaluator(name, {"base": "euclidean"}), points_contest()
    tallies = list(map(pack_parts, sequence_tallies(evaluator, contest)))

    def refused(*arguments: object) -> None:
        raise AssertionError(f"a curve of {arguments}")

    monkeypatch.setattr(f"vidscore_evaluators.{module}.Curve", refused)
    found = score_draws(evaluator, tallies, np.ones((1, 5), dtype=np.int64))
    assert len(found) == len(contest.systems)
    with pytest.raises(AssertionError, match="a curve of"):
        evaluator.report(evaluator.tally(contest.truth, contest.systems["sharp"]))


@pytest.mark.parametrize("draws_per_job", [1, 3])
def test_no_score_depends_on_which_draws_are_scored_together(
    draws_per_job: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A draw of a sequence alone, of one alone several times, and of each once."""
    evaluator, contest = create_evaluator("spotgeo"), points_contest()
    tallies = list(map(pack_parts, sequence_tallies(evaluator, contest)))
    times = np.array([[0, 0, 1, 0, 0], [0, 0, 0, 0, 7], [1, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    expected = score_draws(evaluator, tallies, times)
    monkeypatch.setattr(draws, "DRAWS_PER_JOB", draws_per_job)
    found = score_draws(evaluator, tallies, times)
    for detections, own, other in zip(contest.systems.values(), expected, found, strict=True):
        assert own.rank_keys == other.rank_keys
        assert [scores_of_draw(own, row) for row in range(4)] == [
            scores_of_draw(other, row) for row in range(4)
        ]
        whole = scores_by_key(evaluator.scores(evaluator.tally(contest.truth, detections)))
        assert scores_of_draw(own, 3) == whole


def test_a_score_that_some_draws_lack_is_undefined_in_these() -> None:
    first, second, both = ((None, label, "f1") for label in ("car", "dog", None))
    one = Draws([()], {both: 0, first: 1}, np.array([[0.5, 0.25]]))
    other = Draws([()], {second: 0, both: 1}, np.array([[1.0, 0.75]]))
    joined = Draws.of([one, other])
    assert joined.score(both).tolist() == [0.5, 0.75]
    np.testing.assert_array_equal(joined.score(first), [0.25, np.nan])
    np.testing.assert_array_equal(joined.score(second), [np.nan, 1.0])
    np.testing.assert_array_equal(joined.score((None, "cat", "f1")), [np.nan, np.nan])
    assert joined.take([1, 1, 0]).score(both).tolist() == [0.75, 0.75, 0.5]


def test_draws_have_as_many_sequences_as_there_are_in_each_domain() -> None:
    keys = [SequenceKey("a", "1"), SequenceKey("a", "2"), SequenceKey("b", "1")]
    times = draw_sequences(keys, 200, seed=1)
    assert (times[:, :2].sum(axis=1) == 2).all()
    assert (times[:, 2] == 1).all()
    assert {tuple(row) for row in times[:, :2].tolist()} == {(2, 0), (1, 1), (0, 2)}


def test_clearly_different_systems_are_distinguished() -> None:
    """The sharp system is above the others in every draw, and its score lies in its interval."""
    found = bootstrap(create_evaluator("spotgeo"), points_contest(sequences=8), draws=60)
    assert found.above[0].tolist() == [0.5, 1.0, 1.0]
    assert found.groups[0] == (0,)
    for intervals in found.intervals:
        interval = intervals[None, None, "f1"]
        assert interval.low is not None
        assert interval.high is not None
        assert isinstance(interval.value, float)
        assert interval.low <= interval.value <= interval.high


def test_with_fewer_than_six_sequences_no_systems_are_distinguished() -> None:
    """Though the sharp system is above the others in every draw."""
    found = bootstrap(create_evaluator("spotgeo"), points_contest(sequences=5), draws=60)
    assert found.above[0].tolist() == [0.5, 1.0, 1.0]
    assert found.groups == ((0, 1, 2),)


def test_the_same_system_under_two_names_cannot_be_distinguished() -> None:
    contest = points_contest()
    twins = {"one": contest.systems["sharp"], "other": contest.systems["sharp"]}
    found = bootstrap(create_evaluator("spotgeo"), replace(contest, systems=twins), draws=20)
    assert found.above.tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert found.groups == ((0, 1),)


@pytest.mark.slow
def test_workers_do_not_matter() -> None:
    contest = points_contest()
    evaluator = create_evaluator("spotgeo")
    alone = bootstrap(evaluator, contest, draws=60)
    shared = bootstrap(evaluator, contest, draws=60, workers=2)
    assert alone.intervals == shared.intervals
    assert np.array_equal(alone.above, shared.above)


def in_domains_of_their_own(contest: Contest) -> Contest:
    """The contest with each sequence in another domain."""

    def moved(side: Annotations) -> Annotations:
        keys = tuple(SequenceKey(f"site {key.sequence}", key.sequence) for key in side.sequences)
        return replace(side, sequences=keys)

    systems = {name: moved(side) for name, side in contest.systems.items()}
    return replace(contest, truth=moved(contest.truth), systems=systems)


def test_a_ranking_with_one_sequence_in_each_domain_has_no_bootstrap() -> None:
    contest = in_domains_of_their_own(points_contest(sequences=3))
    assert examine(create_evaluator("spotgeo"), contest).bootstrap is None


@pytest.mark.parametrize("sequences", [1, 3])
def test_a_single_sequence_in_each_domain_is_too_few(sequences: int) -> None:
    contest = in_domains_of_their_own(points_contest(sequences=sequences))
    with pytest.raises(InputError, match="two or more for a bootstrap"):
        bootstrap(create_evaluator("spotgeo"), contest)


def test_one_system_cannot_be_ranked() -> None:
    contest = points_contest()
    with pytest.raises(InputError, match="at least two"):
        Contest.of(contest.truth, {"sharp": contest.systems["sharp"]}).check([])


def test_groups_are_the_longest_runs_of_systems_that_cannot_be_distinguished() -> None:
    """Four systems: 0 and 1 alike, 1 and 2 alike, but 0 above 2; 3 below all."""
    above = np.array(
        [
            [0.5, 0.7, 0.97, 1.0],
            [0.3, 0.5, 0.8, 1.0],
            [0.03, 0.2, 0.5, 0.99],
            [0.0, 0.0, 0.01, 0.5],
        ]
    )
    assert alike_groups(above, 0.95) == ((0, 1), (1, 2), (3,))
    assert alike_groups(above, 0.6) == ((0,), (1,), (2,), (3,))


def test_systems_are_distinguished_from_the_coverage_on_whichever_is_above() -> None:
    """The second is above the first in 96 of 100 draws, though its mean rank is behind; the third
    is above the second in just 95."""
    above = np.array([[0.5, 0.04, 1.0], [0.96, 0.5, 0.05], [0.0, 0.95, 0.5]])
    assert alike_groups(above, 0.95) == ((0,), (1,), (2,))
    assert alike_groups(above, 0.97) == ((0, 1), (1, 2))


def test_an_interval_lies_between_percentiles_of_the_draws_that_define_its_score() -> None:
    """Of 0 to 100 the middle half is 25 to 75; draws without the score do not count.

    A domain with a single sequence, and what no sequence has, are as without a correction.
    """
    key: Key = ("b", None, "f1")
    other: Key = (None, "car", "f1")
    columns = {key: np.array([*range(101), np.nan]), other: np.array([np.nan] * 102)}
    truth = make_annotations(
        {("a", "1"): {1: []}, ("a", "2"): {1: []}, ("b", "1"): {1: []}}, arity=2
    )
    contest = Contest.of(truth, {})
    found = percentile_intervals({key: 40.0, other: 0.5}, columns.__getitem__, 0.5, contest)
    assert found[key] == Interval(40.0, 25.0, 75.0)
    assert found[other] == Interval(0.5, None, None)


def test_the_interval_of_a_domain_or_label_is_that_of_its_number_of_sequences() -> None:
    """Ten sequences are in domain a, five in b; a label is in five, and one in all.

    By tables of Student's t with 9, 4 and 13 degrees of freedom, 2.262, 2.776 and 2.160, times the
    root of 10/9 and 5/4, 2.385, 3.104 and 2.415: 0.855, 0.0954 and 0.786 % are left out.
    """
    things = [Thing((float(x), 0.0), label) for x, label in enumerate(("all", "some"))]
    truth = make_annotations(
        {("a", f"{row}"): {1: things[: 1 + (row < 5)]} for row in range(10)}
        | {("b", f"{row}"): {1: things[:1]} for row in range(5)}
    )
    contest = Contest.of(truth, {})
    left_out = {
        ("a", None): 0.855,
        ("b", None): 0.0954,
        (None, None): 0.786,
        (None, "some"): 0.0954,
        ("a", "some"): 0.0954,
        (None, "all"): 0.786,
    }
    column = np.arange(100_001) / 1000.0
    keys = {(*key, "f1"): 50.0 for key in left_out}
    found = percentile_intervals(keys, lambda _: column, 0.95, contest)
    for key, percent in left_out.items():
        interval = found[*key, "f1"]
        assert interval.low == pytest.approx(percent, rel=0.01)
        assert interval.high == pytest.approx(100.0 - percent, abs=0.01)


def test_two_sequences_are_enough_for_draws() -> None:
    found = bootstrap(create_evaluator("spotgeo"), points_contest(sequences=2), draws=5)
    assert (found.draws, found.sequence_count) == (5, 2)
