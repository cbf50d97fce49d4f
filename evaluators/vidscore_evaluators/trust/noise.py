"""Would the order of systems be another with slightly different annotations?

The truth is what annotators have marked, not what is there (the paper, section 3.3). Every
coordinate of every real object is moved by a uniform number of at most a stated bound, many times,
and systems are ranked anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import BOX, Annotations, ObjectFlag
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.runtime import Progress, map_in_order
from vidscore_evaluators.trust.rankings import kendall_distances
from vidscore_evaluators.trust.systems import Contest, Request, bare_report, rank_reports

TRIALS = 20


@dataclass(frozen=True, eq=False)
class NoiseEffect:
    """What annotations that are off by a little do to the order of K systems.

    Attributes:
        bound_px: How far a coordinate is moved at most.
        ranks: (K,) ranks by the annotations as they are.
        trials: (T, K) ranks by annotations that are off.
    """

    bound_px: float
    ranks: IntArray
    trials: IntArray

    @property
    def changed(self) -> float:
        """Share of the trials in which the order is another."""
        return float((self.trials != self.ranks).any(axis=1).mean())

    @property
    def distance(self) -> float:
        """Mean normalised Kendall distance from the order by the annotations as they are."""
        own = np.broadcast_to(self.ranks, self.trials.shape).astype(np.float64)
        return float(kendall_distances(own, self.trials.astype(np.float64)).mean())

    @property
    def above(self) -> FloatArray:
        """(K, K) share of the trials in which a system ranks above another; ties are half."""
        one, other = self.trials[:, :, np.newaxis], self.trials[:, np.newaxis, :]
        shares: FloatArray = ((one < other) + 0.5 * (one == other)).mean(axis=0)
        return shares


def noise_effect(
    evaluator: Evaluator[Any],
    contest: Contest,
    bound_px: float,
    *,
    trials: int = TRIALS,
    seed: int = 1,
    workers: int = 1,
    progress: Progress | None = None,
) -> NoiseEffect:
    """Rank systems by annotations that are off.

    Args:
        evaluator: The evaluator.
        contest: The systems.
        bound_px: How far a coordinate is moved at most.
        trials: Number of trials.
        seed: Seed of the noise.
        workers: Processes to use; the outcome does not depend on it.
        progress: Called with (trials done, trials in all).
    """
    systems = tuple(contest.systems.values())
    request = Request.of(evaluator)
    pieces = [
        _Trial(request, contest.truth, systems, bound_px, (seed, trial)) for trial in range(trials)
    ]
    ranked = map_in_order(_rank_trial, pieces, workers=workers, progress=progress)
    return NoiseEffect(bound_px, _rank(evaluator, contest.truth, systems), np.array(ranked))


def jittered(truth: Annotations, bound_px: float, random: np.random.Generator) -> Annotations:
    """Truth whose real objects are off by up to a bound in each coordinate; regions stay.

    What an object is moved by depends on its content, never on where it stands among the others.
    """
    moves = np.empty_like(truth.coordinates)
    moves[_order_by_content(truth)] = random.uniform(-bound_px, bound_px, moves.shape)
    moves[(truth.flags & ObjectFlag.REGION) != 0] = 0.0
    moved = truth.coordinates + moves
    if truth.arity == BOX:
        # A box that is thinner than the noise must not be turned inside out.
        low, high = np.minimum(moved[:, :2], moved[:, 2:]), np.maximum(moved[:, :2], moved[:, 2:])
        moved = np.hstack([low, high])
    return replace(truth, coordinates=moved)


def _order_by_content(truth: Annotations) -> IntArray:
    """Rows of the objects by sequence, frame, label, track and coordinates."""
    names = [
        np.array(sorted(range(len(table)), key=table.__getitem__), dtype=np.int64)
        for table in (truth.sequences, truth.labels)
    ]
    places = [np.argsort(order, kind="stable") for order in names]
    frames = truth.object_frames
    keys = (
        *truth.coordinates.T[::-1],
        truth.flags,
        truth.track_ids,
        places[1][truth.label_indices],
        truth.frame_numbers[frames],
        places[0][truth.frame_sequences[frames]],
    )
    return np.lexsort(keys)


@dataclass(frozen=True, eq=False)
class _Trial:
    request: Request
    truth: Annotations
    systems: tuple[Annotations, ...]
    bound_px: float
    seed: tuple[int, int]


def _rank_trial(trial: _Trial) -> IntArray:
    random = np.random.default_rng(trial.seed)
    truth = jittered(trial.truth, trial.bound_px, random)
    return _rank(trial.request.create(), truth, trial.systems)


def _rank(
    evaluator: Evaluator[Any], truth: Annotations, systems: Sequence[Annotations]
) -> IntArray:
    reports = [
        bare_report(evaluator, evaluator.scores(evaluator.tally(truth, detections)))
        for detections in systems
    ]
    return rank_reports(evaluator, reports)
