"""True positives of spotGEO: which detections are matched to objects, and how far off they are.

A crowded frame is matched by its whole cost matrix; a frame of few objects by its pairs, most of
which closed forms settle. Either way the answer follows from the frame alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.geometry import NearPoints, SortedPoints, near_points
from vidscore_evaluators.matching import (
    MAX_MATRIX_CELLS,
    CostBlocks,
    forbidden_costs,
    match_minimum_cost,
)
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.protocols.spotgeo.parameters import (
    SpotGeoParameters,
    greatest_cost,
    matching_costs,
    regression_errors,
)

CELLS_A_CHUNK = 1 << 18
"""Objects times detections of the frames that are matched in one go."""

CROWDED_FRAME_CELLS = 1 << 8
"""Objects times detections of a frame above which its whole matrix costs less than its pairs."""


@dataclass(frozen=True, eq=False)
class TruePositives:
    """K true positives.

    Attributes:
        frames: (K,) frame of each.
        errors: (K,) regression error of each.
    """

    frames: IntArray
    errors: FloatArray


def find_true_positives(parameters: SpotGeoParameters, aligned: Aligned) -> TruePositives:
    """Match every frame (eqs. 3 to 5) and measure what is matched (eq. 11).

    Some frames at a time, so that memory stays bounded.
    """
    matching = _Matching(parameters, _points(aligned.truth), _points(aligned.detections))
    cells = matching.truth.counts * matching.detections.counts
    crowded = (cells > CROWDED_FRAME_CELLS) & (cells <= MAX_MATRIX_CELLS)
    found = [TruePositives(np.zeros(0, dtype=np.int64), np.zeros(0))]
    for frames, match in (
        (np.flatnonzero(~crowded & (cells > 0)), matching.by_pairs),
        (np.flatnonzero(crowded), matching.by_matrices),
    ):
        first = run_starts(starts_from_counts(cells[frames])[:-1] // CELLS_A_CHUNK).tolist()
        bounds = pairwise([*first, len(frames)])
        found.extend(matching.matched(frames[start:stop], match) for start, stop in bounds)
    return TruePositives(
        np.concatenate([part.frames for part in found]),
        np.concatenate([part.errors for part in found]),
    )


def _points(side: Annotations) -> SortedPoints:
    return SortedPoints.of(side.coordinates, side.frame_starts)


Match = Callable[[IntArray, NearPoints, FloatArray], BoolArray]
"""Says of the pairs of some frames, with their costs, which are matched."""


@dataclass(frozen=True, eq=False)
class _Matching:
    """Both sides, and the rules that they are matched by."""

    parameters: SpotGeoParameters
    truth: SortedPoints
    detections: SortedPoints

    def matched(self, frames: IntArray, match: Match) -> TruePositives:
        """Match some frames by the pairs that come into question: d <= tau, without tolerance."""
        tau = self.parameters.tau
        # A little more than can count: the root alone decides.
        near = near_points(self.truth, self.detections, frames, (1.0 + 1e-9) * tau**2)
        distances = np.sqrt(near.squares)
        if len(distances) and distances.max() > tau:
            near, distances = near.take(distances <= tau), distances[distances <= tau]
        errors = regression_errors(self.parameters, distances)
        chosen = match(frames, near, matching_costs(self.parameters, distances, errors))
        return TruePositives(np.repeat(frames, near.counts)[chosen], errors[chosen])

    def by_pairs(self, frames: IntArray, near: NearPoints, costs: FloatArray) -> BoolArray:
        """Match frames by their pairs alone."""
        left = near.left + np.repeat(self.truth.starts[frames], near.counts)
        right = near.right + np.repeat(self.detections.starts[frames], near.counts)
        return match_minimum_cost(
            Pairs(left, right),
            costs,
            np.repeat(frames, near.counts),
            len(self.truth),
            len(self.detections),
        )

    def by_matrices(self, frames: IntArray, near: NearPoints, costs: FloatArray) -> BoolArray:
        """Match frames by whole matrices, in which one pair too far apart outweighs all others."""
        heights, widths = self.truth.counts[frames], self.detections.counts[frames]
        greatest = np.full(len(frames), greatest_cost(self.parameters))
        blocks = CostBlocks(starts_from_counts(near.counts), near.left, near.right, heights, widths)
        return blocks.assign(costs, forbidden_costs(greatest, np.minimum(heights, widths)))
