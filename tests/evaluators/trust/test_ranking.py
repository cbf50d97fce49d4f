"""Rankings over parameters, other annotations and other evaluators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.trust.contests import points_contest, squares_contest

from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.trust.analyses import ranking_document
from vidscore_evaluators.trust.ranking import (
    CONFIDENCE,
    Questions,
    RankingTrust,
    distances_between,
    examine,
    sweeps,
)
from vidscore_evaluators.trust.systems import rank_reports, title_of, with_both_bases
from vidscore_evaluators.trust.tables import doubt_of_draws, ranking_tables


def test_a_threshold_reverses_the_order_at_the_overlap() -> None:
    """As in the paper's Fig. 2: more objects win below their IoU of 7/13, exact ones above it."""
    [by_threshold, _] = sweeps(create_evaluator("f1"), squares_contest())
    assert by_threshold.parameter == "threshold"
    for value, ranks in zip(by_threshold.values, by_threshold.ranks.tolist(), strict=True):
        assert ranks == ([1, 2] if value <= 7 / 13 else [2, 1])
    found = by_threshold.indicators(seed=1)
    assert float(found.switches) == 1.0
    assert float(found.sensitivity) == pytest.approx(1 / 20)


def test_confidences_are_swept_if_systems_give_them() -> None:
    """Above 0.4 the unconfident system has nothing left; above 0.9 both tie at F1 0."""
    by_confidence = sweeps(create_evaluator("f1"), squares_contest())[-1]
    assert by_confidence.parameter == CONFIDENCE
    ranks = dict(zip(by_confidence.values, by_confidence.ranks.tolist(), strict=True))
    assert (ranks[0.4], ranks[0.45], ranks[0.9], ranks[0.95]) == ([1, 2], [2, 1], [2, 1], [1, 1])
    assert [sweep.parameter for sweep in sweeps(create_evaluator("spotgeo"), points_contest())] == [
        "tau",
        "epsilon",
    ]


def test_confidences_are_not_swept_if_they_do_not_matter_or_are_all_equal() -> None:
    """spotGEO takes no confidences, whatever a file says; F1 does, and gets none."""
    for name, contest, confidence, expected in (
        ("spotgeo", points_contest(), 0.5, ["tau", "epsilon"]),
        ("f1", squares_contest(), 1.0, ["threshold"]),
    ):
        systems = {
            system: replace(side, confidences=np.full_like(side.confidences, confidence))
            for system, side in contest.systems.items()
        }
        found = sweeps(create_evaluator(name), replace(contest, systems=systems))
        assert [sweep.parameter for sweep in found] == expected


def test_the_distance_of_rankings_is_the_fraction_of_reversed_pairs() -> None:
    """Of the three pairs of systems all are turned, or one is."""
    evaluator = create_evaluator("f1")
    examined = [
        RankingTrust(evaluator, np.array(ranks), {}, (), None, None)
        for ranks in ([1, 2, 3], [3, 2, 1], [1, 3, 2])
    ]
    assert distances_between(examined) == [
        [0.0, 1.0, pytest.approx(1 / 3)],
        [1.0, 0.0, pytest.approx(2 / 3)],
        [pytest.approx(1 / 3), pytest.approx(2 / 3), 0.0],
    ]


def titles(evaluators: list[Evaluator[Any]]) -> list[str]:
    return [title_of(one.name, parameter_values(one.parameters)) for one in evaluators]


def test_both_bases_are_used_if_there_is_a_choice() -> None:
    assert titles(with_both_bases(create_evaluator("f1"))) == ["f1 (iou)", "f1 (giou)"]
    assert titles(with_both_bases(create_evaluator("spotgeo"))) == ["spotgeo"]
    points = create_evaluator("f1", {"base": "euclidean"})
    assert with_both_bases(points) == [points]


def test_ranks_are_those_of_the_evaluators_own_order() -> None:
    """Undefined scores come last, equal ones share a rank."""
    evaluator = create_evaluator("spotgeo")
    contest = points_contest()
    names = ("blurred", "sharp", "sharp")
    reports = [
        evaluator.report(evaluator.tally(contest.truth, contest.systems[name])) for name in names
    ]
    assert rank_reports(evaluator, reports).tolist() == [3, 1, 1]


@pytest.mark.slow
def test_sweeps_do_not_depend_on_workers() -> None:
    contest = squares_contest()
    alone, shared = (sweeps(create_evaluator("f1"), contest, workers=workers) for workers in (1, 2))
    for one, other in zip(alone, shared, strict=True):
        assert (one.parameter, one.values, one.scores) == (
            other.parameter,
            other.values,
            other.scores,
        )
        assert np.array_equal(one.ranks, other.ranks)


@pytest.mark.slow
def test_everything_is_computed_for_each_evaluator() -> None:
    contest = points_contest()
    evaluators = [create_evaluator("spotgeo"), create_evaluator("ospa", {"base": "euclidean"})]
    questions = Questions(draws=20, noise_px=1.0, trials=3)
    examined = [examine(evaluator, contest, questions) for evaluator in evaluators]
    assert [one.ranks.tolist() for one in examined] == [[1, 2, 3], [1, 2, 3]]
    assert distances_between(examined) == [[0.0, 0.0], [0.0, 0.0]]
    document = ranking_document(contest, examined, questions)
    [first, second] = document["rankings"]
    assert first["ranks"] == {"sharp": 1, "middling": 2, "blurred": 3}
    assert {sweep["parameter"] for sweep in second["sweeps"]} == {"cutoff", "order"}
    assert first["bootstrap"]["draws"] == 20
    assert first["bootstrap"]["sequences"] == len(contest.sequences)
    assert first["noise"]["trials"] == 3
    shown = [table.title for table in ranking_tables(document)]
    assert shown[0] == "spotgeo: ranking"
    assert shown[-1].startswith("Normalised Kendall distance")


@pytest.mark.parametrize(
    ("sequences", "draws", "said"),
    [(1, 20, "There is only one sequence"), (9, 20, "9 sequences are few: "), (10, 20, None),
     (9, 0, None)],
)  # fmt: skip
def test_the_document_says_what_makes_intervals_unreliable_or_impossible(
    sequences: int, draws: int, said: str | None
) -> None:
    contest = points_contest(sequences=sequences)
    document = ranking_document(contest, [], Questions(draws=draws))
    doubt = doubt_of_draws(document)
    assert doubt is None if said is None else str(doubt).startswith(said)


def test_a_document_of_an_older_server_has_no_doubts() -> None:
    assert doubt_of_draws({"rankings": [{"bootstrap": {"draws": 20, "sequences": 9}}]}) is None


def test_a_single_sequence_has_everything_except_a_bootstrap() -> None:
    contest = points_contest(sequences=1)
    questions = Questions(draws=20)
    found = examine(create_evaluator("spotgeo"), contest, questions)
    assert found.bootstrap is None
    assert found.noise is None
    assert ranking_document(contest, [found], questions)["rankings"][0]["bootstrap"] is None


def test_a_contest_has_the_sequences_of_its_frames() -> None:
    contest = points_contest(sequences=3)
    truth = contest.truth.take_frames(contest.truth.frame_sequences != 1)
    assert [key.sequence for key in replace(contest, truth=truth).sequences] == ["1", "3"]
