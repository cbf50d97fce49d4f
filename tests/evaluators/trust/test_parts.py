"""Frames are drawn as sequences are: each draw is scored as the data that it stands for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
from tests.evaluators.trust.contests import scores_of_draw

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.trust.comparisons import Comparison, compare_systems
from vidscore_evaluators.trust.differences import Verdict
from vidscore_evaluators.trust.drawn_tallies import pack_parts
from vidscore_evaluators.trust.draws import score_draws, scores_by_key, sequence_tallies
from vidscore_evaluators.trust.parts import drawn_parts, sides_of_parts
from vidscore_evaluators.trust.resampling import draw_sequences
from vidscore_evaluators.trust.systems import Contest, Drawn

Counts = np.ndarray[Any, Any]
"""(F, 2) objects of each frame, and how many of them a system finds."""


def counts(frames: int, rate: float, seed: int) -> Counts:
    random = np.random.default_rng(seed)
    objects = np.random.default_rng(0).integers(1, 6, frames)
    return np.stack([objects, random.binomial(objects, rate)], axis=1)


def images(numbers: np.ndarray[Any, Any], label: str = "car") -> Annotations:
    """A sequence with so many objects in each frame; frame numbers have gaps, as ids of images."""
    return make_annotations(
        {
            ("", "images"): {
                3 * row: [
                    Thing((20.0 * one, 0.0, 20.0 * one + 10.0, 10.0), label, 0.9 - 0.1 * one)
                    for one in range(number)
                ]
                for row, number in enumerate(numbers.tolist())
            }
        },
        arity=4,
    )


def contest(a: Counts, b: Counts) -> Contest:
    systems = {"a": images(a[:, 1]), "b": images(b[:, 1])}
    return Contest.of(images(a[:, 0]), systems, drawn=Drawn.FRAMES)


def compared(frames: int, **options: Any) -> tuple[Comparison, Counts, Counts]:
    a, b = counts(frames, 0.5, 1), counts(frames, 0.8, 2)
    return compare_systems(create_evaluator("f1"), contest(a, b), **options), a, b


def f1_of(counts: Counts) -> np.ndarray[Any, Any]:
    """F1 of (..., 2) counts: 2 TP / (objects + detections); each detection is right."""
    scores: np.ndarray[Any, Any] = 2 * counts[..., 1] / counts.sum(axis=-1)
    return scores


def quantiles(parts: int) -> list[float]:
    """Those of the draws of so many parts of one domain that are the ends of a 95 % interval."""
    ends = math.sqrt(parts / (parts - 1)) * scipy.stats.t(parts - 1).ppf([0.025, 0.975])
    return list(scipy.stats.norm.cdf(ends))


def test_intervals_equal_those_of_a_plain_bootstrap_over_frames() -> None:
    one, a, b = compared(30, draws=200, seed=4)
    times = draw_sequences([SequenceKey("", "images")] * 30, 200, 4)
    drawn = f1_of(times @ b) - f1_of(times @ a)
    [pair] = one.pairs
    assert pair.overall.value == pytest.approx(f1_of(b.sum(axis=0)) - f1_of(a.sum(axis=0)))
    expected = np.quantile(drawn, quantiles(30))
    assert (pair.overall.low, pair.overall.high) == pytest.approx(tuple(expected), abs=1e-12)
    assert pair.verdict is Verdict.BETTER
    assert pair.sequences == ()
    assert one.to_dict()["drawn"] == "frames"
    assert one.notes == [
        "In brackets: the 95 % interval of the difference over 200 draws of the 30 frames, seed 4.",
        "Draws of frames say how far other frames would differ, not other sequences.",
    ]


def test_many_frames_are_drawn_in_runs_of_neighbours() -> None:
    """250 frames are 83 runs of three and a last one of one."""
    one, a, b = compared(250, draws=50, seed=4)
    first, second = (
        np.array([part.sum(axis=0) for part in np.split(side, range(3, 250, 3))]) for side in (a, b)
    )
    times = draw_sequences([SequenceKey("", "images")] * 84, 50, 4)
    drawn = f1_of(times @ second) - f1_of(times @ first)
    [pair] = one.pairs
    expected = np.quantile(drawn, quantiles(84))
    assert (pair.overall.low, pair.overall.high) == pytest.approx(tuple(expected), abs=1e-12)
    assert "50 draws of the 250 frames in 84 runs, seed 4." in one.notes[0]


@pytest.mark.parametrize("name", ["f1", "map", "coco", "log-amr", "errors", "ospa", "neovision2"])
def test_a_draw_of_each_frame_once_has_the_scores_of_all(name: str) -> None:
    """And one with each frame twice has those of the same images under two numbers each."""
    a, b = counts(30, 0.5, 1), counts(30, 0.8, 2)
    evaluator, whole = create_evaluator(name), contest(a, b)
    tallies = list(map(pack_parts, sequence_tallies(evaluator, whole)))
    times = np.array([[1] * 30, [2] * 30])
    drawn = score_draws(evaluator, tallies, times, drawn=Drawn.FRAMES)
    doubled = contest(np.concatenate([a, a]), np.concatenate([b, b]))
    for system, draws in zip(("a", "b"), drawn, strict=True):
        for row, data in enumerate((whole, doubled)):
            scores = evaluator.scores(evaluator.tally(data.truth, data.systems[system]))
            assert scores_of_draw(draws, row) == scores_by_key(scores)


def test_frames_that_only_detections_have_are_in_a_part() -> None:
    truth = images(np.array([1, 1, 1, 1]))
    parts = drawn_parts(Contest.of(truth, {}, drawn=Drawn.FRAMES))
    more = make_annotations(
        {("", "images"): {number: [Thing((0.0, 0.0, 9.0, 9.0))] for number in range(12)}}, arity=4
    )
    numbers = [part.frame_numbers.tolist() for part in sides_of_parts(parts, more)]
    assert numbers == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def test_few_frames_and_rare_labels_are_named() -> None:
    few = compared(4, draws=20)[0]
    assert few.notes[1].startswith("4 frames are too few to call a system better. At least 6 are")
    truth = images(np.array([1] * 20))
    rare = make_annotations(
        {
            ("", "images"): {
                3 * row: [Thing((0.0, 0.0, 9.0, 9.0), "dog" if row < 3 else "car")]
                for row in range(20)
            }
        },
        arity=4,
    )
    both = Contest.of(rare, {"a": rare, "b": truth}, drawn=Drawn.FRAMES)
    notes = compare_systems(create_evaluator("f1"), both, draws=20).notes
    assert [note[:35] for note in notes if "label" in note] == [
        "Few frames have the label dog (3): "
    ]


def test_frames_of_a_tracker_cannot_be_drawn() -> None:
    a, b = counts(6, 0.5, 1), counts(6, 0.8, 2)
    with pytest.raises(ParameterError, match="draw: found clear, which judges whole sequences"):
        compare_systems(create_evaluator("clear"), contest(a, b), draws=5)
