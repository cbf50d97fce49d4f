"""The sanity test with a reference that approximates the truth (the paper, Table 1).

The paper moves boxes of the truth by "small random dislocations" such that the overlap of a box and
its approximation is at least 0.9; it does not say how they are drawn. Here a box is moved in each
direction by a uniformly drawn fraction of its size. At the largest fraction the overlap is 0.9.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.runtime import map_in_order
from vidscore_evaluators.trust.criterion import Candidate, Plan, paper_candidates
from vidscore_evaluators.trust.dissimilarities import Judge, declared_measure
from vidscore_evaluators.trust.sanity import SANITY_TESTS
from vidscore_evaluators.trust.sanity.families import Draw
from vidscore_evaluators.trust.systems import ranking_errors

TEST = "multiclass-detection"
CRITERIA = ("hausdorff", "emd", "ospa")
LEAST_OVERLAP = 0.9

LARGEST_FRACTION = 1.0 - float(np.sqrt(2.0 * LEAST_OVERLAP / (1.0 + LEAST_OVERLAP)))
"""A box that is moved by this fraction of its size in both directions has an overlap of 0.9."""

PAPER = {
    "truth": ((7.75, 4.62), (9.36, 4.79), (4.16, 3.64), (5.45, 4.33), (3.06, 3.35), (4.20, 3.80)),
    "approximate truth": (
        (7.94, 4.58), (9.48, 4.80), (4.48, 3.66), (5.61, 4.25), (3.37, 3.34), (4.41, 3.92),
    ),
}  # fmt: skip
"""Table 1: mean and standard deviation by reference, in the order of `candidates`."""

Figures = tuple[float, float]


def candidates() -> list[Candidate]:
    """Hausdorff, EMD and OSPA, each with IoU and GIoU."""
    found = {(one.name, one.base): one for one in paper_candidates(TEST, CRITERIA)}
    return [found[name, base] for name in CRITERIA for base in ("iou", "giou")]


def approximate(truth: Annotations, random: np.random.Generator) -> Annotations:
    """The boxes, each moved by up to `LARGEST_FRACTION` of its size."""
    corners = truth.coordinates
    sizes = corners[:, 2:] - corners[:, :2]
    moves = random.uniform(-LARGEST_FRACTION, LARGEST_FRACTION, sizes.shape) * sizes
    return replace(truth, coordinates=corners + np.hstack([moves, moves]))


def errors(plan: Plan, workers: int) -> dict[str, list[Figures]]:
    """Mean and deviation of the ranking error in 1e-2, by reference, for each candidate."""
    judged = map_in_order(_judge, plan.draws(SANITY_TESTS[TEST]), workers=workers)
    table = 100.0 * np.array(judged)  # families, references, candidates
    return {
        reference: [
            (float(mean), float(std))
            for mean, std in zip(found.mean(axis=0), found.std(axis=0, ddof=1), strict=True)
        ]
        for reference, found in zip(PAPER, table.transpose(1, 0, 2), strict=True)
    }


def _judge(draw: Draw) -> list[list[float]]:
    """Ranking errors of a family for each reference and each candidate."""
    scenes = SANITY_TESTS[TEST].draw_family(draw).scenes
    near = approximate(scenes[0][0], np.random.default_rng([draw.seed, draw.stratum, 1]))
    references = (scenes, [(near, detections) for _, detections in scenes])
    found = []
    for reference in references:
        row = []
        for candidate in candidates():
            evaluator = candidate.create()
            measure = declared_measure(evaluator, candidate.measure)
            judge = Judge.of(evaluator, measure, reference[::5])
            row.append(float(ranking_errors(judge.judge(reference))))
        found.append(row)
    return found
