"""Match and tally spotGEO frames: true positives, and the counts and errors of each sequence.

A crowded frame is matched by its whole cost matrix, a frame of few objects by its candidate pairs,
most of which have closed forms. Either way the result depends on the frame alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from msgspec import Struct

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, FrameFlag, are_flagged, key_columns
from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.geometry import NearPoints, SortedPoints, near_points, sorted_rows
from vidscore_evaluators.matching import (
    MAX_MATRIX_CELLS,
    CostBlocks,
    forbidden_costs,
    match_minimum_cost,
)
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.tally import Table, TableSchema, build_table

ErrorsOf = Callable[[FloatArray], FloatArray]
"""Regression errors of (K,) true positives, of their (K,) distances in pixels."""

TIE_WEIGHT = 1e-9
"""Weight of e / tau^2 in a pair's cost: decides between equal sums of distances, and no more."""

CELLS_PER_CHUNK = 1 << 18
"""Objects times detections of the frames that are matched in one go."""

CROWDED_FRAME_CELLS = 1 << 8
"""Objects times detections of a frame above which its whole matrix costs less than its pairs."""

SEQUENCES = "sequences"
LEFT_OUT = "left_out"

_SEQUENCE_SCHEMA = TableSchema(
    texts=("domain", "sequence"),
    counts=("true_positives", "false_negatives", "false_positives"),
    sums=("regression_error",),
)
_LEFT_OUT_SCHEMA = TableSchema(
    texts=("domain", "sequence"), counts=("dont_care_frames", "unevaluated_detections")
)


def tally_frames(aligned: Aligned, tau_px: float, errors_of: ErrorsOf) -> dict[str, Table]:
    """Tally whole frames (metric document, eqs. 1 to 12).

    Args:
        aligned: Points of both sides.
        tau_px: Greatest distance of a true positive.
        errors_of: Regression errors of true positives at some distances (eq. 11).
    """
    dont_care = are_flagged(aligned.truth.frame_flags, FrameFlag.DONT_CARE)
    evaluated = evaluated_frames(aligned)
    unevaluated = np.where(aligned.listed, 0, aligned.detections.object_counts)
    rows = (dont_care | (unevaluated > 0)).nonzero()[0]
    left_out = build_table(
        _LEFT_OUT_SCHEMA,
        *_sequence_keys(aligned, aligned.truth.frame_sequences[rows]),
        counts=[dont_care[rows].astype(np.int64), unevaluated[rows]],
    )
    if not evaluated.all():
        aligned = aligned.take_frames(evaluated)
    sequences, counts, errors = _sequence_rows(
        aligned, _find_true_positives(aligned, tau_px, errors_of)
    )
    of_sequences = build_table(
        _SEQUENCE_SCHEMA, *_sequence_keys(aligned, sequences), counts=counts, sums=[errors]
    )
    return {SEQUENCES: of_sequences, LEFT_OUT: left_out}


def evaluated_frames(aligned: Aligned) -> BoolArray:
    """(F,) which frames are scored: those that the truth lists, but for don't-care frames."""
    evaluated: BoolArray = aligned.listed & ~are_flagged(
        aligned.truth.frame_flags, FrameFlag.DONT_CARE
    )
    return evaluated


class Matches(Struct, frozen=True, eq=False):
    """K true positives of an aligned input.

    Attributes:
        truth: (K,) row of each object.
        detections: (K,) row of its detection.
        distances_px: (K,) distance between the two.
        errors: (K,) regression error.
    """

    truth: IntArray
    detections: IntArray
    distances_px: FloatArray
    errors: FloatArray


def match_frames(aligned: Aligned, tau_px: float, errors_of: ErrorsOf) -> Matches:
    """The pairs that `tally_frames` counts as true positives; its arguments."""
    evaluated = evaluated_frames(aligned)
    kept = aligned if evaluated.all() else aligned.take_frames(evaluated)
    truth, detections = (
        _Rows.of(side, np.flatnonzero(np.repeat(evaluated, whole.object_counts)))
        for side, whole in ((kept.truth, aligned.truth), (kept.detections, aligned.detections))
    )
    none = np.zeros(0, dtype=np.int64)
    columns = [(none, none, np.zeros(0), np.zeros(0))]
    for part in _match(kept, tau_px, errors_of):
        frames, chosen = part.pair_frames, part.chosen
        columns.append(
            (
                truth.at(frames, part.near.left[chosen]),
                detections.at(frames, part.near.right[chosen]),
                part.distances_px[chosen],
                part.errors[chosen],
            )
        )
    return Matches(*map(np.concatenate, zip(*columns, strict=True)))


class _Rows(Struct, frozen=True, eq=False):
    """Which row of the input each sorted point of a side is.

    Attributes:
        starts: (F + 1,) offsets of the frames.
        rows: (N,) row of each point, in the order of `SortedPoints`.
    """

    starts: IntArray
    rows: IntArray

    @classmethod
    def of(cls, side: Annotations, rows: IntArray) -> _Rows:
        """Rows of the points of a side, given those of its objects."""
        return cls(side.frame_starts, rows[sorted_rows(side.coordinates, side.frame_starts)])

    def at(self, frames: IntArray, places: IntArray) -> IntArray:
        """(K,) rows of the points at some places of their frames."""
        rows: IntArray = self.rows[self.starts[frames] + places]
        return rows


def _sequence_rows(
    aligned: Aligned, found: _TruePositives
) -> tuple[IntArray, list[IntArray], FloatArray]:
    """Sequence, counts and error of rows: one for each evaluated sequence, and for each error."""
    sequences = aligned.truth.frame_sequences
    count = len(aligned.truth.sequences)
    present = np.bincount(sequences, minlength=count).nonzero()[0]
    true_positives = np.bincount(sequences[found.frames], minlength=count)
    objects = _per_sequence(aligned.truth.object_counts, sequences, count)
    detections = _per_sequence(aligned.detections.object_counts, sequences, count)
    nonzero = found.errors.nonzero()[0]
    nothing = np.zeros(len(nonzero), dtype=np.int64)
    counts = (true_positives, objects - true_positives, detections - true_positives)
    return (
        np.concatenate([present, sequences[found.frames[nonzero]]]),
        [np.concatenate([column[present], nothing]) for column in counts],
        np.concatenate([np.zeros(len(present)), found.errors[nonzero]]),
    )


def _sequence_keys(aligned: Aligned, sequences: IntArray) -> tuple[list[str], list[IntArray]]:
    """Vocabulary and codes of the keys domain and sequence of rows that each belong to one."""
    # Names that no row refers to are not worth sorting.
    keys = aligned.truth.sequences if len(sequences) else ()
    of_keys, names = key_columns(keys)
    domains = {domain: code for code, domain in enumerate(sorted(set(of_keys)))}
    domain_codes = np.fromiter(map(domains.__getitem__, of_keys), np.int64, len(keys))
    codes = [domain_codes[sequences], len(domains) + sequences]
    return [*domains, *names], codes


def _per_sequence(object_counts: IntArray, sequences: IntArray, count: int) -> IntArray:
    """Objects of each sequence; weights are exact in binary64 up to 2**53 objects."""
    return np.bincount(sequences, weights=object_counts, minlength=count).astype(np.int64)


class _TruePositives(Struct, frozen=True, eq=False):
    """K true positives.

    Attributes:
        frames: (K,) frame of each.
        errors: (K,) regression error of each.
    """

    frames: IntArray
    errors: FloatArray


def _find_true_positives(aligned: Aligned, tau_px: float, errors_of: ErrorsOf) -> _TruePositives:
    """Match every frame and keep what is counted."""
    found = [_TruePositives(np.zeros(0, dtype=np.int64), np.zeros(0))]
    found.extend(
        _TruePositives(part.pair_frames, part.errors[part.chosen])
        for part in _match(aligned, tau_px, errors_of)
    )
    return _TruePositives(
        np.concatenate([part.frames for part in found]),
        np.concatenate([part.errors for part in found]),
    )


class _Matched(Struct, frozen=True, eq=False):
    """Some frames, their P candidate pairs, and K of these that are matched.

    Attributes:
        frames: The frames.
        near: The pairs.
        distances_px: (P,) distance of each pair.
        errors: (P,) regression error of each.
        chosen: (P,) whether it is matched.
    """

    frames: IntArray
    near: NearPoints
    distances_px: FloatArray
    errors: FloatArray
    chosen: BoolArray

    @property
    def pair_frames(self) -> IntArray:
        """(K,) frame of each matched pair."""
        return self.frames.repeat(self.near.counts)[self.chosen]


def _match(aligned: Aligned, tau_px: float, errors_of: ErrorsOf) -> Iterator[_Matched]:
    """Match every frame (eqs. 3 to 5) and measure what is matched (eq. 11).

    Some frames at a time, so that memory stays bounded.
    """
    truth, detections = map(_points, (aligned.truth, aligned.detections))
    matching = _Matching(tau_px, errors_of, truth, detections)
    cells = matching.truth.counts * matching.detections.counts
    crowded = (cells > CROWDED_FRAME_CELLS) & (cells <= MAX_MATRIX_CELLS)
    for frames, match in (
        ((~crowded & (cells > 0)).nonzero()[0], matching.by_pairs),
        (crowded.nonzero()[0], matching.by_matrices),
    ):
        first = run_starts(starts_from_counts(cells[frames])[:-1] // CELLS_PER_CHUNK).tolist()
        for start, stop in pairwise([*first, len(frames)]):
            yield matching.matched(frames[start:stop], match)


def _points(side: Annotations) -> SortedPoints:
    return SortedPoints.of(side.coordinates, side.frame_starts)


_Match = Callable[[IntArray, NearPoints, FloatArray], BoolArray]
"""Which of the pairs of some frames, of given costs, are matched."""


class _Matching(Struct, frozen=True, eq=False):
    """Both sides, and the rules that they are matched by."""

    tau_px: float
    errors_of: ErrorsOf
    truth: SortedPoints
    detections: SortedPoints

    def matched(self, frames: IntArray, match: _Match) -> _Matched:
        """Match some frames by their candidate pairs: d <= tau, without tolerance."""
        tau = self.tau_px
        # A little more than can count: the root alone decides.
        near = near_points(self.truth, self.detections, frames, (1.0 + 1e-9) * tau**2)
        distances = np.sqrt(near.squares)
        if len(distances) and distances.max() > tau:
            near, distances = near.take(distances <= tau), distances[distances <= tau]
        errors = self.errors_of(distances)
        chosen = match(frames, near, distances + TIE_WEIGHT * (errors / (tau * tau)))
        return _Matched(frames, near, distances, errors, chosen)

    def by_pairs(self, frames: IntArray, near: NearPoints, costs: FloatArray) -> BoolArray:
        """Match frames by their pairs alone; what shares no point is in every best matching."""
        chosen = near.are_isolated()
        rest = np.flatnonzero(~chosen)
        if len(rest):
            of_pairs = frames.repeat(near.counts)[rest]
            left = near.left[rest] + self.truth.starts[of_pairs]
            right = near.right[rest] + self.detections.starts[of_pairs]
            sizes = len(self.truth), len(self.detections)
            chosen[rest] = match_minimum_cost(Pairs(left, right), costs[rest], of_pairs, *sizes)
        return chosen

    def by_matrices(self, frames: IntArray, near: NearPoints, costs: FloatArray) -> BoolArray:
        """Match frames by whole matrices, in which one pair too far apart outweighs all others."""
        heights, widths = self.truth.counts[frames], self.detections.counts[frames]
        # No cost is above that of a distance of tau with the greatest error there is.
        greatest = np.full(len(frames), self.tau_px + TIE_WEIGHT * max(1.0, 1.0 / self.tau_px))
        blocks = CostBlocks(starts_from_counts(near.counts), near.left, near.right, heights, widths)
        return blocks.assign(costs, forbidden_costs(greatest, np.minimum(heights, widths)))
