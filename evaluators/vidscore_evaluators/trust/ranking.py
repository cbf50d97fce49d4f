"""How far the ranking of a set of systems can be relied on: everything about it in one place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Number
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.trust.bootstrap import COVERAGE, DRAWS, Bootstrap, bootstrap
from vidscore_evaluators.trust.criterion_test import MOST_SEED
from vidscore_evaluators.trust.noise import TRIALS, NoiseEffect, noise_effect
from vidscore_evaluators.trust.ranking_sweep import Sweep, sweeps
from vidscore_evaluators.trust.rankings import kendall_distances
from vidscore_evaluators.trust.systems import Contest, bare_report, rank_reports

MOST_DRAWS = 100_000
MOST_TRIALS = 10_000
MOST_NOISE_PX = 1000.0


@dataclass(frozen=True)
class Questions:
    """What is asked of a ranking; values from outside are checked by `parse_parameters`.

    Attributes:
        draws: Draws of sequences; 0 for no bootstrap.
        coverage: Share of the draws that an interval holds.
        noise_px: Bound of the noise of annotations; 0 for none.
        trials: Trials with noise.
        seed: Seed of all chance.
    """

    draws: int = parameter(
        DRAWS, "Draws of sequences; 0: no bootstrap.", minimum=0, maximum=MOST_DRAWS
    )
    coverage: float = parameter(
        COVERAGE, "Share of the draws that an interval holds.", minimum=0.5, maximum=0.999
    )
    noise_px: float = parameter(
        0.0, "Bound of the noise; 0: none.", unit="px", minimum=0.0, maximum=MOST_NOISE_PX
    )
    trials: int = parameter(TRIALS, "Trials with noise.", minimum=1, maximum=MOST_TRIALS)
    seed: int = parameter(1, "Seed of all chance.", minimum=0, maximum=MOST_SEED)


@dataclass(frozen=True, eq=False)
class RankingTrust:
    """What one evaluator says of K systems, and how far it can be relied on.

    Attributes:
        evaluator: The evaluator.
        ranks: (K,) ranks, 1 for the best.
        scores: K scores for each measure that ranks.
        sweeps: Ranks over the grids of its parameters.
        bootstrap: What other sequences would say; None where that was not asked, or there is one
            sequence alone.
        noise: What other annotations would say; None where that was not asked.
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
    """Ask everything of the ranking by one evaluator.

    Args:
        evaluator: The evaluator.
        contest: The systems.
        questions: What is asked.
        workers: Processes to use; no answer depends on it.
        progress: Called with (pieces of work done, pieces in all), for one question after another.
    """
    reports = [
        bare_report(evaluator, evaluator.scores(evaluator.tally(contest.truth, detections)))
        for detections in contest.systems.values()
    ]
    drawn = noisy = None
    if questions.draws and len(contest.sequences) > 1:
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
    """Normalised Kendall distance between the rankings of each two evaluators."""
    ranks = np.array([one.ranks for one in examined], dtype=np.float64)
    distances = kendall_distances(ranks[:, np.newaxis], ranks[np.newaxis])
    table: list[list[float]] = distances.tolist()
    return table
