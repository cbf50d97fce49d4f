"""What spotGEO keeps of some frames: counts and the exact error of each sequence."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import FrameFlag
from vidscore_evaluators.arrays import (
    FloatArray,
    IntArray,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.geometry.points import point_distances
from vidscore_evaluators.matching.gating import Extents, Pairs, gated_pairs
from vidscore_evaluators.matching.least_cost import Objects, least_cost_matching
from vidscore_evaluators.protocols.spotgeo.parameters import (
    SpotGeoParameters,
    matching_costs,
    regression_errors,
)
from vidscore_evaluators.tally import Table, TableSchema, build_table

PAIRS_A_CHUNK = 1 << 18
"""Objects times detections of the frames that are matched in one go."""

SEQUENCES = "sequences"
LEFT_OUT = "left_out"

SEQUENCE_SCHEMA = TableSchema(
    texts=("domain", "sequence"),
    counts=("true_positives", "false_negatives", "false_positives"),
    sums=("regression_error",),
)
LEFT_OUT_SCHEMA = TableSchema(
    texts=("domain", "sequence"), counts=("dont_care_frames", "unevaluated_detections")
)


@dataclass(frozen=True, eq=False)
class _Points:
    """N points of one side in F frames.

    Attributes:
        frame_starts: (F + 1,) offsets into `coordinates`.
        coordinates: (N, 2) in pixels.
    """

    frame_starts: IntArray
    coordinates: FloatArray

    @property
    def objects(self) -> Objects:
        """The points for matching, known by x and y wherever their rows stand."""
        counts = np.diff(self.frame_starts)
        frames = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
        return Objects(frames, (self.coordinates[:, 0], self.coordinates[:, 1]))

    def take(self, start: int, stop: int) -> _Points:
        """The frames from `start` to before `stop`."""
        starts = self.frame_starts[start : stop + 1]
        return _Points(starts - starts[0], self.coordinates[starts[0] : starts[-1]])


@dataclass(frozen=True, eq=False)
class _TruePositives:
    """K true positives.

    Attributes:
        frames: (K,) frame of each.
        errors: (K,) regression error of each.
    """

    frames: IntArray
    errors: FloatArray


def tally_frames(parameters: SpotGeoParameters, aligned: Aligned) -> dict[str, Table]:
    """Tally whole frames (metric document, eqs. 1 to 12)."""
    dont_care = (aligned.truth.frame_flags & FrameFlag.DONT_CARE) != 0
    evaluated = aligned.listed & ~dont_care
    left_out = _left_out_table(aligned)
    if not evaluated.all():
        aligned = aligned.take_frames(evaluated)
    return {
        SEQUENCES: _sequence_table(aligned, _true_positives(parameters, aligned)),
        LEFT_OUT: left_out,
    }


def _true_positives(parameters: SpotGeoParameters, aligned: Aligned) -> _TruePositives:
    """True positives of all frames, some frames at a time so that memory stays bounded."""
    truth = _Points(aligned.truth.frame_starts, aligned.truth.coordinates)
    detections = _Points(aligned.detections.frame_starts, aligned.detections.coordinates)
    work = aligned.truth.object_counts * aligned.detections.object_counts
    first_frames = run_starts(starts_from_counts(work)[:-1] // PAIRS_A_CHUNK).tolist()
    found = [
        _match(parameters, truth.take(start, stop), detections.take(start, stop), start)
        for start, stop in pairwise([*first_frames, len(work)])
    ]
    return _TruePositives(
        np.concatenate([np.zeros(0, dtype=np.int64), *(part.frames for part in found)]),
        np.concatenate([np.zeros(0), *(part.errors for part in found)]),
    )


def _match(
    parameters: SpotGeoParameters, truth: _Points, detections: _Points, first_frame: int
) -> _TruePositives:
    """Match every frame (eqs. 3 to 5) and measure what is matched (eq. 11)."""
    pairs = _pairs_within(parameters.tau, truth, detections)
    distances = point_distances(truth.coordinates, detections.coordinates, pairs.left, pairs.right)
    errors = regression_errors(parameters, distances)
    costs = matching_costs(parameters, distances, errors)
    objects = truth.objects
    matched = least_cost_matching(pairs, costs, objects, detections.objects)
    return _TruePositives(first_frame + objects.frames[pairs.left[matched]], errors[matched])


def _pairs_within(tau: float, truth: _Points, detections: _Points) -> Pairs:
    """All pairs of an object and a detection of its frame with d <= tau, without tolerance."""
    objects, found = truth.coordinates, detections.coordinates
    # Wider than tau by more than the rounding of any coordinate: the gate alone decides.
    reach = tau + 1e-6 * (1.0 + tau)
    return gated_pairs(
        Extents(truth.frame_starts, objects[:, 0] - reach, objects[:, 0] + reach),
        Extents(detections.frame_starts, found[:, 0], found[:, 0]),
        lambda left, right: point_distances(objects, found, left, right) <= tau,
    )


def _sequence_table(aligned: Aligned, found: _TruePositives) -> Table:
    """A row for each sequence with an evaluated frame."""
    sequences = aligned.truth.frame_sequences
    count = len(aligned.truth.sequences)
    present = np.flatnonzero(np.bincount(sequences, minlength=count))
    true_positives = np.bincount(sequences[found.frames], minlength=count)
    objects = _per_sequence(aligned.truth.object_counts, sequences, count)
    detections = _per_sequence(aligned.detections.object_counts, sequences, count)
    # Rows of counts first, then one row for each error; those of 0 add nothing.
    nonzero = np.flatnonzero(found.errors)
    error_rows = sequences[found.frames[nonzero]]
    nothing = np.zeros(len(nonzero), dtype=np.int64)
    counts = (true_positives, objects - true_positives, detections - true_positives)
    return _keyed_table(
        SEQUENCE_SCHEMA,
        aligned,
        np.concatenate([present, error_rows]),
        counts=[np.concatenate([column[present], nothing]) for column in counts],
        sums=[np.concatenate([np.zeros(len(present)), found.errors[nonzero]])],
    )


def _left_out_table(aligned: Aligned) -> Table:
    """A row for each sequence with something that is not evaluated."""
    dont_care = (aligned.truth.frame_flags & FrameFlag.DONT_CARE) != 0
    unevaluated = np.where(aligned.listed, 0, aligned.detections.object_counts)
    rows = np.flatnonzero(dont_care | (unevaluated > 0))
    return _keyed_table(
        LEFT_OUT_SCHEMA,
        aligned,
        aligned.truth.frame_sequences[rows],
        counts=[dont_care[rows].astype(np.int64), unevaluated[rows]],
    )


def _keyed_table(
    schema: TableSchema,
    aligned: Aligned,
    sequences: IntArray,
    counts: list[IntArray],
    sums: list[FloatArray] | None = None,
) -> Table:
    """A table by domain and sequence out of rows that each belong to a sequence."""
    keys = aligned.truth.sequences
    domains = {domain: code for code, domain in enumerate(sorted({key.domain for key in keys}))}
    domain_codes = np.array([domains[key.domain] for key in keys], dtype=np.int64)
    codes = [domain_codes[sequences], len(domains) + sequences]
    vocabulary = (*domains, *(key.sequence for key in keys))
    return build_table(schema, vocabulary, codes, counts=counts, sums=sums or [])


def _per_sequence(object_counts: IntArray, sequences: IntArray, count: int) -> IntArray:
    """Objects of each sequence; weights are exact in binary64 up to 2**53 objects."""
    return np.bincount(sequences, weights=object_counts, minlength=count).astype(np.int64)
