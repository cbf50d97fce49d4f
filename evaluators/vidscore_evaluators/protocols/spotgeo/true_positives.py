"""True positives of spotGEO: which detections are matched to objects, and how far off they are.

A frame of few objects is matched by lists of pairs, most of which closed forms settle; a crowded
one by its whole cost matrix. Either way the answer follows from the frame alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import (
    FloatArray,
    IntArray,
    equal_shapes,
    expand_runs,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.geometry.points import point_distances, squared_lengths
from vidscore_evaluators.matching.assignment import least_cost_columns
from vidscore_evaluators.matching.gating import Extents, Pairs, gated_pairs
from vidscore_evaluators.matching.least_cost import (
    LARGE_FRAME_CELLS,
    Objects,
    forbidden_costs,
    least_cost_matching,
)
from vidscore_evaluators.protocols.spotgeo.parameters import (
    SpotGeoParameters,
    greatest_cost,
    matching_costs,
    regression_errors,
)

PAIRS_A_CHUNK = 1 << 18
"""Objects times detections of the frames that are matched by pairs in one go."""

CROWDED_FRAME_CELLS = 1 << 8
"""Objects times detections of a frame above which its whole matrix costs less than its pairs."""

CELLS_A_PART = 1 << 16
"""Cells of whole matrices that are computed at a time: few enough for the processor's cache."""


@dataclass(frozen=True, eq=False)
class TruePositives:
    """K true positives.

    Attributes:
        frames: (K,) frame of each.
        errors: (K,) regression error of each.
    """

    frames: IntArray
    errors: FloatArray


@dataclass(frozen=True, eq=False)
class _Points:
    """N points of one side in F frames.

    Attributes:
        counts: (F,) points of each frame.
        starts: (F + 1,) offsets into the points.
        coordinates: (2, N) in pixels, axis by axis.
    """

    counts: IntArray
    starts: IntArray
    coordinates: FloatArray

    @classmethod
    def of(cls, side: Annotations) -> _Points:
        """The points of a side."""
        counts, coordinates = side.object_counts, np.ascontiguousarray(side.coordinates.T)
        return cls(counts, side.frame_starts, coordinates)

    @property
    def objects(self) -> Objects:
        """The points for matching, known by x and y wherever their rows stand."""
        frames = np.repeat(np.arange(len(self.counts), dtype=np.int64), self.counts)
        return Objects(frames, (self.coordinates[0], self.coordinates[1]))

    def take(self, frames: IntArray) -> _Points:
        """Some of the frames, given in ascending order."""
        if len(frames) == len(self.counts):
            return self
        counts = self.counts[frames]
        rows = expand_runs(self.starts[frames], counts)
        return _Points(counts, starts_from_counts(counts), self.coordinates.take(rows, axis=1))

    def stack(self, frames: IntArray) -> FloatArray:
        """(2, K, n) points of K frames of n points each, in the order of x, then of y."""
        starts, count = self.starts[frames][:, None], int(self.counts[frames[0]])
        order = self.coordinates[0].take(starts + np.arange(count)).argsort(axis=1)
        stacked: FloatArray = self.coordinates.take(starts + order, axis=1)
        tied = np.flatnonzero((stacked[0, :, 1:] == stacked[0, :, :-1]).any(axis=1))
        if len(tied):
            again = np.lexsort((stacked[1, tied], stacked[0, tied]), axis=1)
            stacked[:, tied] = np.take_along_axis(stacked[:, tied], again[None], axis=2)
        return stacked


def find_true_positives(parameters: SpotGeoParameters, aligned: Aligned) -> TruePositives:
    """Match every frame (eqs. 3 to 5) and measure what is matched (eq. 11).

    Some frames at a time, so that memory stays bounded.
    """
    truth, detections = _Points.of(aligned.truth), _Points.of(aligned.detections)
    cells = truth.counts * detections.counts
    crowded = (cells > CROWDED_FRAME_CELLS) & (cells <= LARGE_FRAME_CELLS)
    others = np.flatnonzero(~crowded)
    first = run_starts(starts_from_counts(cells[others])[:-1] // PAIRS_A_CHUNK).tolist()
    found = [
        _by_pairs(parameters, truth, detections, others[start:stop])
        for start, stop in pairwise([*first, len(others)])
    ]
    found.extend(_by_matrices(parameters, truth, detections, np.flatnonzero(crowded)))
    return TruePositives(
        np.concatenate([np.zeros(0, dtype=np.int64), *(part.frames for part in found)]),
        np.concatenate([np.zeros(0), *(part.errors for part in found)]),
    )


def _by_pairs(
    parameters: SpotGeoParameters, truth: _Points, detections: _Points, frames: IntArray
) -> TruePositives:
    """Match some frames by the pairs that come into question."""
    truth, detections = truth.take(frames), detections.take(frames)
    pairs = _pairs_within(parameters.tau, truth, detections)
    distances = point_distances(truth.coordinates, detections.coordinates, pairs.left, pairs.right)
    errors = regression_errors(parameters, distances)
    costs = matching_costs(parameters, distances, errors)
    objects = truth.objects
    matched = least_cost_matching(pairs, costs, objects, detections.objects)
    return TruePositives(frames[objects.frames[pairs.left[matched]]], errors[matched])


def _pairs_within(tau: float, truth: _Points, detections: _Points) -> Pairs:
    """All pairs of an object and a detection of its frame with d <= tau, without tolerance."""
    objects, found = truth.coordinates, detections.coordinates
    # Wider than tau by more than the rounding of any coordinate: the gate alone decides.
    reach = tau + 1e-6 * (1.0 + tau)
    return gated_pairs(
        Extents(truth.starts, np.concatenate([objects - reach, objects + reach]).T),
        Extents(detections.starts, np.concatenate([found, found]).T),
        lambda left, right: point_distances(objects, found, left, right) <= tau,
    )


def _by_matrices(
    parameters: SpotGeoParameters, truth: _Points, detections: _Points, frames: IntArray
) -> Iterator[TruePositives]:
    """Match some frames by whole matrices, those of one shape together."""
    shapes = equal_shapes(truth.counts[frames], detections.counts[frames], CELLS_A_PART)
    for places, height, width in shapes:
        group = frames[places]
        rows, columns = truth.stack(group), detections.stack(group)
        if height > width:
            rows, columns = columns, rows
        x, y = (
            mine[:, :, None] - others[:, None, :]
            for mine, others in zip(rows, columns, strict=True)
        )
        squares = squared_lengths(x, y)
        chosen = least_cost_columns(_costs(parameters, squares))[:, :, None]
        distances = np.sqrt(np.take_along_axis(squares, chosen, axis=2)[:, :, 0])
        of_frames, of_rows = np.nonzero(distances <= parameters.tau)
        errors = regression_errors(parameters, distances[of_frames, of_rows])
        yield TruePositives(group[of_frames], errors)


def _costs(parameters: SpotGeoParameters, squares: FloatArray) -> FloatArray:
    """Costs of all pairs of a stack; one pair that is too far apart outweighs all others.

    Args:
        parameters: The parameters.
        squares: (K, m, n) squared distances.
    """
    most_pairs = np.array(min(squares.shape[1:]))
    forbidden = forbidden_costs(np.array(greatest_cost(parameters)), most_pairs)
    costs = np.full(squares.size, forbidden)
    # A little more than can count, so that roots are drawn of few; they alone decide.
    near = np.flatnonzero(squares <= (1.0 + 1e-9) * parameters.tau**2)
    distances = np.sqrt(squares.reshape(-1)[near])
    errors = regression_errors(parameters, distances)
    costs[near] = np.where(
        distances <= parameters.tau, matching_costs(parameters, distances, errors), forbidden
    )
    return costs.reshape(squares.shape)
