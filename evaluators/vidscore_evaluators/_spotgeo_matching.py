"""Match and tally spotGEO frames: true positives, and the counts and errors of each sequence.

A compiled loop matches frames of few points if sums of distances decide. Any other frame is matched
by its whole cost matrix or, if it is huge, by its candidate pairs. Either way the result depends on
the frame alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, replace

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import FrameFlag, are_flagged, key_columns
from vidscore_evaluators.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.geometry import (
    GroupedPoints,
    NearPoints,
    SortedPoints,
    greatest_square,
    match_few_points,
    near_points,
    sorted_points,
)
from vidscore_evaluators.matching import (
    MAX_MATRIX_CELLS,
    CostBlocks,
    forbidden_costs,
    match_minimum_cost,
)
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.tally import Table, TableSchema, build_table

ErrorsOf = Callable[[FloatArray], FloatArray]
"""Regression errors of (K,) true positives, from their (K,) distances in pixels."""

TIE_WEIGHT = 1e-9
"""Weight of e / tau^2 in a pair's cost: it only decides between equal sums of distances."""

CELLS_PER_CHUNK = 1 << 18
"""Maximum number of cells (objects times detections) of frames that are matched together."""

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
        errors_of: Regression errors of true positives, from their distances (eq. 11).
    """
    evaluated = evaluated_frames(aligned)
    left_out = _left_out_table(aligned, evaluated)
    if not evaluated.all():
        aligned = aligned.take_frames(evaluated)
    parts = _match(aligned, tau_px, errors_of)
    frames, errors = zip(*((part.frames, part.errors) for part in parts), strict=True)
    of_sequences = _sequence_table(aligned, np.concatenate(frames), np.concatenate(errors))
    return {SEQUENCES: of_sequences, LEFT_OUT: left_out}


def evaluated_frames(aligned: Aligned) -> BoolArray:
    """(F,) whether each frame is scored: those that the truth lists, except don't-care frames."""
    evaluated: BoolArray = aligned.listed & ~are_flagged(
        aligned.truth.frame_flags, FrameFlag.DONT_CARE
    )
    return evaluated


class Matches(Struct, frozen=True, eq=False):
    """K true positives of an aligned input.

    Attributes:
        frames: (K,) frame of each.
        truth: (K,) row of the object.
        detections: (K,) row of its detection.
        distances_px: (K,) distance between the two.
        errors: (K,) regression error.
    """

    frames: IntArray
    truth: IntArray
    detections: IntArray
    distances_px: FloatArray
    errors: FloatArray


def match_frames(aligned: Aligned, tau_px: float, errors_of: ErrorsOf) -> Matches:
    """The pairs that `tally_frames` counts as true positives; it takes the same arguments."""
    evaluated = evaluated_frames(aligned)
    kept = aligned if evaluated.all() else aligned.take_frames(evaluated)
    parts = map(astuple, _match(kept, tau_px, errors_of))
    found = Matches(*map(np.concatenate, zip(*parts, strict=True)))
    truth, detections = (
        np.flatnonzero(evaluated.repeat(side.object_counts))
        for side in (aligned.truth, aligned.detections)
    )
    return replace(
        found,
        frames=np.flatnonzero(evaluated)[found.frames],
        truth=truth[found.truth],
        detections=detections[found.detections],
    )


def _left_out_table(aligned: Aligned, evaluated: BoolArray) -> Table:
    """Per sequence: don't-care frames, and detections in frames that the truth does not list."""
    rows = (~evaluated).nonzero()[0]
    if len(rows) == 0:  # the usual case
        return build_table(_LEFT_OUT_SCHEMA, (), [rows, rows])
    dont_care = are_flagged(aligned.truth.frame_flags[rows], FrameFlag.DONT_CARE)
    unevaluated = np.where(aligned.listed[rows], 0, aligned.detections.object_counts[rows])
    counted = (dont_care | (unevaluated > 0)).nonzero()[0]
    return build_table(
        _LEFT_OUT_SCHEMA,
        *_sequence_keys(aligned, aligned.truth.frame_sequences[rows[counted]]),
        counts=[dont_care[counted].astype(np.int64), unevaluated[counted]],
    )


def _sequence_table(aligned: Aligned, frames: IntArray, errors: FloatArray) -> Table:
    """Counts and errors per evaluated sequence, given frames and errors of true positives."""
    sequences = aligned.truth.frame_sequences  # ascending
    first = run_starts(sequences)
    bounds = np.concatenate([first, [len(sequences)]])
    of_frames = np.arange(len(first)).repeat(bounds[1:] - bounds[:-1])
    of_found = of_frames[frames]
    true_positives = np.bincount(of_found, minlength=len(first))
    ends_of_sides = (side.frame_starts[bounds] for side in (aligned.truth, aligned.detections))
    objects, detections = (ends[1:] - ends[:-1] for ends in ends_of_sides)
    return build_table(
        _SEQUENCE_SCHEMA,
        *_sequence_keys(aligned, sequences[first]),
        counts=[true_positives, objects - true_positives, detections - true_positives],
        sums=[errors],
        sum_rows=of_found,
    )


def _sequence_keys(aligned: Aligned, sequences: IntArray) -> tuple[list[str], list[IntArray]]:
    """Vocabulary and codes of the domain and sequence keys of rows, given the sequence of each."""
    # Without rows, sorting the names is not worth it.
    keys = aligned.truth.sequences if len(sequences) else ()
    of_keys, names = key_columns(keys)
    domains = {domain: code for code, domain in enumerate(sorted(set(of_keys)))}
    domain_codes = np.zeros(len(keys), dtype=np.int64)
    if len(domains) > 1:
        domain_codes[:] = [domains[domain] for domain in of_keys]
    codes = [domain_codes[sequences], len(domains) + sequences]
    return [*domains, *names], codes


def _match(aligned: Aligned, tau_px: float, errors_of: ErrorsOf) -> Iterator[Matches]:
    """Match every frame (eqs. 3 to 5), without tolerance, and measure the pairs (eq. 11)."""
    rules = _Rules(tau_px, greatest_square(tau_px), errors_of)
    truth, detections = (
        GroupedPoints.of(side.coordinates, side.frame_starts)
        for side in (aligned.truth, aligned.detections)
    )
    few = match_few_points(truth, detections, rules.greatest_square, _doubt(tau_px))
    pair_frames = np.arange(len(few.counts)).repeat(np.maximum(few.counts, 0))
    distances = np.sqrt(few.squares)
    yield Matches(pair_frames, few.left, few.right, distances, errors_of(distances))
    rest = (few.counts < 0).nonzero()[0]
    if len(rest) == 0:
        return
    cells = truth.counts[rest] * detections.counts[rest]
    are_matrices = cells <= MAX_MATRIX_CELLS
    for chosen, match in ((are_matrices, rules.by_matrices), (~are_matrices, _by_pairs)):
        frames = rest[chosen]
        if len(frames):
            sides = sorted_points(truth, frames), sorted_points(detections, frames)
            for chunk in _chunks(cells[chosen]):
                yield rules.matched(frames, *sides, chunk, match)


def _doubt(tau_px: float) -> float:
    """Smallest difference of two sums of distances, in pixels, that surely decides.

    For the few pairs of the compiled loop: above it, neither the error terms of the costs nor
    rounding can change which sum is smaller.
    """
    return 10.0 * TIE_WEIGHT * (tau_px + 1.0 / tau_px)


def _chunks(cells: IntArray) -> list[IntArray]:
    """Split positions of frames into runs, so that memory stays bounded."""
    places = np.arange(len(cells), dtype=np.int64)
    first = run_starts(starts_from_counts(cells)[:-1] // CELLS_PER_CHUNK)
    return np.split(places, first[1:])


class _Candidates(Struct, frozen=True, eq=False):
    """Candidate pairs of some frames, and their costs.

    Attributes:
        truth: Objects.
        detections: Detections of the same frames.
        places: Positions of these frames among the groups of both sides.
        near: The pairs.
        costs: (P,) cost of each pair.
    """

    truth: SortedPoints
    detections: SortedPoints
    places: IntArray
    near: NearPoints
    costs: FloatArray


_Match = Callable[[_Candidates], BoolArray]
"""(P,) whether each candidate pair is matched."""


class _Rules(Struct, frozen=True, eq=False):
    """The rules by which objects and detections are matched."""

    tau_px: float
    greatest_square: float
    errors_of: ErrorsOf

    def matched(
        self,
        frames: IntArray,
        truth: SortedPoints,
        detections: SortedPoints,
        places: IntArray,
        match: _Match,
    ) -> Matches:
        """Match the frames at some positions."""
        near = near_points(truth, detections, places, self.greatest_square)
        distances = np.sqrt(near.squares)
        errors = self.errors_of(distances)
        costs = distances + TIE_WEIGHT * (errors / (self.tau_px * self.tau_px))
        chosen = match(_Candidates(truth, detections, places, near, costs))
        of_pairs = places.repeat(near.counts)[chosen]
        return Matches(
            frames[of_pairs],
            truth.rows[truth.starts[of_pairs] + near.left[chosen]],
            detections.rows[detections.starts[of_pairs] + near.right[chosen]],
            distances[chosen],
            errors[chosen],
        )

    def by_matrices(self, pairs: _Candidates) -> BoolArray:
        """Match frames by whole matrices; one pair too far apart costs more than all others."""
        near, places = pairs.near, pairs.places
        heights, widths = pairs.truth.counts[places], pairs.detections.counts[places]
        # Upper bound on the cost of a pair: distance tau, with the greatest possible error.
        greatest = np.full(len(places), self.tau_px + TIE_WEIGHT * max(1.0, 1.0 / self.tau_px))
        blocks = CostBlocks(starts_from_counts(near.counts), near.left, near.right, heights, widths)
        return blocks.assign(pairs.costs, forbidden_costs(greatest, np.minimum(heights, widths)))


def _by_pairs(pairs: _Candidates) -> BoolArray:
    """Match frames by their candidate pairs alone."""
    near, truth, detections = pairs.near, pairs.truth, pairs.detections
    of_pairs = pairs.places.repeat(near.counts)
    rows = Pairs(near.left + truth.starts[of_pairs], near.right + detections.starts[of_pairs])
    sizes = len(truth.rows), len(detections.rows)
    return match_minimum_cost(rows, pairs.costs, of_pairs, *sizes)
