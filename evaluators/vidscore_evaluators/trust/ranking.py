"""How far the ranking of a set of systems can be relied on, for each evaluator.

`examine` tests whether the order would change with another threshold (`sweeps`, here), with other
sequences, or with slightly different annotations (`vidscore_evaluators.trust.resampling`).

Source: the paper, sections 3.1 and 6 and appendix 2. Sweeps cover the grid of every parameter that
declares one, with the other parameters unchanged, and the minimum confidence of detections, if
systems have confidences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Evaluator, RankKey
from vidscore_evaluators.jobs import sweep
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Number
from vidscore_evaluators.runtime import Progress, map_in_order
from vidscore_evaluators.trust.criterion import MOST_SEED
from vidscore_evaluators.trust.dissimilarities import swept_parameters, usable_grid
from vidscore_evaluators.trust.noise import TRIALS, NoiseEffect, noise_effect
from vidscore_evaluators.trust.resampling import (
    COVERAGE,
    DRAWS,
    Bootstrap,
    bootstrap,
    possible_draws,
)
from vidscore_evaluators.trust.systems import (
    Contest,
    Indicators,
    Request,
    bare_report,
    indicators,
    kendall_distances,
    rank_reports,
    ranks_of_keys,
)

CONFIDENCE = "least confidence"
"""Name of the sweep over confidences; no parameter name can contain a space."""

CONFIDENCES = tuple(step / 20 for step in range(20))


class Sweep(Struct, frozen=True, eq=False):
    """Ranks of K systems at V values of a parameter.

    Attributes:
        parameter: The parameter.
        values: (V,) its values.
        ranks: (V, K) ranks, 1 for the best.
        scores: For each ranking measure, V rows of K scores.
    """

    parameter: str
    values: tuple[float, ...]
    ranks: IntArray
    scores: Mapping[str, list[list[Number]]]

    def indicators(self, seed: int) -> Indicators:
        """How much ranks depend on the parameter (appendix 2)."""
        return indicators(self.ranks.astype(np.float64), seed)


def sweeps(
    evaluator: Evaluator[Any],
    contest: Contest,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> tuple[Sweep, ...]:
    """Rank systems at every value of every grid.

    Args:
        evaluator: The evaluator, with the other parameters.
        contest: The systems.
        workers: Processes to use; the result does not depend on it.
        progress: Called with (grids of single systems done, grids in all).

    Returns:
        A sweep for each parameter that declares a grid, and one over confidences.
    """
    grids = {name: usable_grid(evaluator, name) for name in swept_parameters(evaluator)}
    if evaluator.needs.confidences and _have_confidences(contest):
        grids[CONFIDENCE] = CONFIDENCES
    request = Request.of(evaluator)
    jobs = [
        _SweepJob(request, parameter, values, contest.truth, detections)
        for parameter, values in grids.items()
        for detections in contest.systems.values()
    ]
    columns = iter(map_in_order(_judge, jobs, workers=workers, progress=progress))
    return tuple(
        _sweep(parameter, values, [next(columns) for _ in contest.systems])
        for parameter, values in grids.items()
    )


class _SweepJob(Struct, frozen=True, eq=False):
    """One system, to be scored at every value of a grid."""

    request: Request
    parameter: str
    values: tuple[float, ...]
    truth: Annotations
    detections: Annotations


class _Judged(Struct, frozen=True):
    """A system at one value: its rank key, and its ranking measures."""

    rank_key: RankKey
    scores: Mapping[str, Number]


def _judge(job: _SweepJob) -> list[_Judged]:
    evaluator = job.request.create()
    if job.parameter == CONFIDENCE:
        scored = [
            evaluator.scores(evaluator.tally(job.truth, _surer(job.detections, value)))
            for value in job.values
        ]
    else:
        found = sweep(evaluator, job.parameter, job.truth, job.detections, job.values)
        scored = list(found.values())
    reports = [bare_report(evaluator, scores) for scores in scored]
    return [
        _Judged(
            evaluator.rank_key(report),
            {measure: report.value(measure) for measure in evaluator.ranking},
        )
        for report in reports
    ]


def _surer(detections: Annotations, least: float) -> Annotations:
    return detections.take_objects(detections.confidences >= least)


def _have_confidences(contest: Contest) -> bool:
    return any(bool((side.confidences != 1.0).any()) for side in contest.systems.values())


def _sweep(parameter: str, values: tuple[float, ...], columns: list[list[_Judged]]) -> Sweep:
    """Rank systems at each value."""
    rows = list(zip(*columns, strict=True))
    return Sweep(
        parameter,
        values,
        np.array([ranks_of_keys([judged.rank_key for judged in row]) for row in rows]),
        {
            measure: [[judged.scores[measure] for judged in row] for row in rows]
            for measure in columns[0][0].scores
        },
    )


# --- all questions ---------------------------------------------------------------------------

MOST_DRAWS = 100_000
MOST_TRIALS = 10_000
MOST_NOISE_PX = 1000.0


@dataclass(frozen=True)
class Questions:
    """What to examine; `parse_parameters` checks values from outside.

    Attributes:
        draws: Number of draws of sequences; 0 for no bootstrap.
        coverage: Probability that an interval covers a figure on other sequences.
        noise_px: Bound on the noise of annotations; 0 for none.
        trials: Number of trials with noise.
        seed: Seed of all random draws.
    """

    draws: int = parameter(
        DRAWS, "Draws of sequences; 0: no bootstrap.", minimum=0, maximum=MOST_DRAWS
    )
    coverage: float = parameter(
        COVERAGE,
        "Probability that an interval covers a figure on other sequences.",
        minimum=0.5,
        maximum=0.999,
    )
    noise_px: float = parameter(
        0.0, "Bound of the noise; 0: none.", unit="px", minimum=0.0, maximum=MOST_NOISE_PX
    )
    trials: int = parameter(TRIALS, "Trials with noise.", minimum=1, maximum=MOST_TRIALS)
    seed: int = parameter(1, "Seed of all random draws.", minimum=0, maximum=MOST_SEED)


class RankingTrust(Struct, frozen=True, eq=False):
    """The ranking of K systems by one evaluator, and how far it can be relied on.

    Attributes:
        evaluator: The evaluator.
        ranks: (K,) ranks, 1 for the best.
        scores: K scores for each ranking measure.
        sweeps: Ranks over the grids of its parameters.
        bootstrap: Ranks by other sequences; None if not asked for, or if no draw could differ.
        noise: Ranks by other annotations; None if not asked for.
    """

    evaluator: Evaluator[Any]
    ranks: IntArray
    scores: Mapping[str, list[Number]]
    sweeps: tuple[Sweep, ...]
    bootstrap: Bootstrap | None
    noise: NoiseEffect | None


def examine(
    evaluator: Evaluator[Any],
    contest: Contest,
    questions: Questions = Questions(),
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> RankingTrust:
    """Examine the ranking by one evaluator.

    Args:
        evaluator: The evaluator.
        contest: The systems.
        questions: What to examine.
        workers: Processes to use; the result does not depend on it.
        progress: Called with (steps done, steps in all), for one question after another.
    """
    reports = [
        bare_report(evaluator, evaluator.scores(evaluator.tally(contest.truth, detections)))
        for detections in contest.systems.values()
    ]
    drawn = noisy = None
    if possible_draws(contest.sequences, questions.draws):
        drawn = bootstrap(
            evaluator,
            contest,
            draws=questions.draws,
            coverage=questions.coverage,
            seed=questions.seed,
            workers=workers,
            progress=progress,
        )
    if questions.noise_px:
        noisy = noise_effect(
            evaluator,
            contest,
            questions.noise_px,
            trials=questions.trials,
            seed=questions.seed,
            workers=workers,
            progress=progress,
        )
    return RankingTrust(
        evaluator,
        rank_reports(evaluator, reports),
        {measure: [report.value(measure) for report in reports] for measure in evaluator.ranking},
        sweeps(evaluator, contest, workers=workers, progress=progress),
        drawn,
        noisy,
    )


def distances_between(examined: Sequence[RankingTrust]) -> list[list[float]]:
    """Normalised Kendall distance between the rankings by each two evaluators."""
    ranks = np.array([one.ranks for one in examined], dtype=np.float64)
    distances = kendall_distances(ranks[:, np.newaxis], ranks[np.newaxis])
    table: list[list[float]] = distances.tolist()
    return table
