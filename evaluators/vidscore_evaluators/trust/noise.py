"""Noise: whether the order of systems would change with slightly different annotations.

The truth is what annotators have marked, not what is there (the paper, section 3.3). Every
coordinate of every real object is moved by a uniform number within a stated bound, many times, and
the systems are ranked again. A mask is moved and stretched like its bounding box, to whole pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import BOX, BOX_AREA, Annotations, ObjectFlag
from vidscore_evaluators.arrays import FloatArray, IntArray, expand_runs
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.mask_outlines import column_pieces
from vidscore_evaluators.masks import Masks, masks_of_spans
from vidscore_evaluators.runtime import Progress, map_in_order
from vidscore_evaluators.trust.systems import (
    Contest,
    Request,
    bare_report,
    kendall_distances,
    rank_reports,
)

TRIALS = 20


class NoiseEffect(Struct, frozen=True, eq=False):
    """Effect of slightly wrong annotations on the order of K systems.

    Attributes:
        bound_px: Greatest displacement of a coordinate.
        ranks: (K,) ranks by the given annotations.
        trials: (T, K) ranks by annotations with noise.
    """

    bound_px: float
    ranks: IntArray
    trials: IntArray

    @property
    def changed(self) -> float:
        """Fraction of the trials in which the order changes."""
        return float((self.trials != self.ranks).any(axis=1).mean())

    @property
    def distance(self) -> float:
        """Mean normalised Kendall distance from the order by the given annotations."""
        own = np.broadcast_to(self.ranks, self.trials.shape).astype(np.float64)
        return float(kendall_distances(own, self.trials.astype(np.float64)).mean())

    @property
    def above(self) -> FloatArray:
        """(K, K) fraction of the trials in which a system ranks above another; ties count half."""
        one, other = self.trials[:, :, np.newaxis], self.trials[:, np.newaxis, :]
        shares: FloatArray = ((one < other) + 0.5 * (one == other)).mean(axis=0)
        return shares


def noise_effect(
    evaluator: Evaluator[Any],
    contest: Contest,
    bound_px: float,
    *,
    trials: int,
    seed: int = 1,
    workers: int = 1,
    progress: Progress | None = None,
) -> NoiseEffect:
    """Rank systems by annotations with noise.

    Args:
        evaluator: The evaluator.
        contest: The systems.
        bound_px: Greatest displacement of a coordinate.
        trials: Number of trials.
        seed: Seed of the noise.
        workers: Processes to use; the result does not depend on it.
        progress: Called with (trials done, trials in all).
    """
    systems = tuple(contest.systems.values())
    request = Request.of(evaluator)
    jobs = [
        _Trial(request, contest.truth, systems, bound_px, (seed, trial)) for trial in range(trials)
    ]
    ranked = map_in_order(_rank_trial, jobs, workers=workers, progress=progress)
    return NoiseEffect(bound_px, _rank(evaluator, contest.truth, systems), np.array(ranked))


def jittered(truth: Annotations, bound_px: float, random: np.random.Generator) -> Annotations:
    """The truth with bounded noise on each coordinate of its real objects; regions stay.

    The noise of an object depends on its content, never on its position among the others.
    """
    moves = np.empty_like(truth.coordinates)
    moves[_order_by_content(truth)] = random.uniform(-bound_px, bound_px, moves.shape)
    moves[(truth.flags & ObjectFlag.REGION) != 0] = 0.0
    # The areas of boxes that a file states do not apply to moved boxes.
    columns = {name: column for name, column in truth.columns.items() if name != BOX_AREA}
    moved, masks = truth.coordinates + moves, truth.masks
    if truth.arity == BOX:
        moved = _right_way_round(moved)
    if masks is not None:
        masks = _fitted(masks, _right_way_round(masks.boxes() + moves))
    return replace(truth, coordinates=moved, columns=columns, masks=masks)


def _right_way_round(boxes: FloatArray) -> FloatArray:
    """Boxes with their corners swapped back, if the noise exceeds their size."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    return np.hstack([low, high])


def _fitted(masks: Masks, boxes: FloatArray) -> Masks:
    """Masks moved and stretched to other bounding boxes, to whole pixels.

    A pixel is in the moved mask if its centre comes from a pixel of the mask. Boxes are cut at the
    edges of the image and are at least a pixel wide and high.

    Args:
        masks: N masks.
        boxes: (N, 4) boxes.
    """
    own, ends = masks.boxes(), masks.sizes[:, ::-1].astype(np.float64)
    low = np.clip(boxes[:, :2], 0.0, ends - 1.0)
    high = np.clip(boxes[:, 2:], low + 1.0, ends)
    pieces = column_pieces(masks)
    rows = pieces.masks

    def moved(axis: int, edges: IntArray) -> IntArray:
        """The first pixel along an axis whose centre is not before an edge."""
        sizes = (own[rows, axis + 2] - own[rows, axis], (high - low)[rows, axis])
        places = low[rows, axis] + (edges - own[rows, axis]) / sizes[0] * sizes[1]
        first: IntArray = np.ceil(places - 0.5).astype(np.int64)
        return first

    first, last = moved(0, pieces.columns), moved(0, pieces.columns + 1)
    tops, bottoms = moved(1, pieces.tops), moved(1, pieces.bottoms)
    widths = np.where(tops < bottoms, last - first, 0)
    rows, tops, bottoms = (np.repeat(each, widths) for each in (rows, tops, bottoms))
    above = expand_runs(first, widths) * masks.sizes[rows, 0]
    return masks_of_spans(rows, above + tops, above + bottoms, masks.sizes)


def _order_by_content(truth: Annotations) -> IntArray:
    """Rows of the objects by sequence, frame, label, track, coordinates and masks."""
    names = [
        np.array(sorted(range(len(table)), key=table.__getitem__), dtype=np.int64)
        for table in (truth.sequences, truth.labels)
    ]
    places = [np.argsort(order, kind="stable") for order in names]
    frames = truth.object_frames
    keys = (
        *([] if truth.masks is None else [truth.masks.digests()]),
        *truth.coordinates.T[::-1],
        truth.flags,
        truth.track_ids,
        places[1][truth.label_indices],
        truth.frame_numbers[frames],
        places[0][truth.frame_sequences[frames]],
    )
    return np.lexsort(keys)


class _Trial(Struct, frozen=True, eq=False):
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
