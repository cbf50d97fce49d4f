"""What spotGEO keeps of some frames: counts and the exact error of each sequence."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import FrameFlag
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.protocols.spotgeo.parameters import SpotGeoParameters
from vidscore_evaluators.protocols.spotgeo.true_positives import TruePositives, find_true_positives
from vidscore_evaluators.tally import Table, TableSchema, build_table

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


def tally_frames(parameters: SpotGeoParameters, aligned: Aligned) -> dict[str, Table]:
    """Tally whole frames (metric document, eqs. 1 to 12)."""
    dont_care = (aligned.truth.frame_flags & FrameFlag.DONT_CARE) != 0
    evaluated = aligned.listed & ~dont_care
    left_out = _left_out_table(aligned)
    if not evaluated.all():
        aligned = aligned.take_frames(evaluated)
    return {
        SEQUENCES: _sequence_table(aligned, find_true_positives(parameters, aligned)),
        LEFT_OUT: left_out,
    }


def _sequence_table(aligned: Aligned, found: TruePositives) -> Table:
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
    # Names of which no row tells are not worth sorting.
    keys = aligned.truth.sequences if len(sequences) else ()
    domains = {domain: code for code, domain in enumerate(sorted({key.domain for key in keys}))}
    domain_codes = np.array([domains[key.domain] for key in keys], dtype=np.int64)
    codes = [domain_codes[sequences], len(domains) + sequences]
    vocabulary = (*domains, *(key.sequence for key in keys))
    return build_table(schema, vocabulary, codes, counts=counts, sums=sums or [])


def _per_sequence(object_counts: IntArray, sequences: IntArray, count: int) -> IntArray:
    """Objects of each sequence; weights are exact in binary64 up to 2**53 objects."""
    return np.bincount(sequences, weights=object_counts, minlength=count).astype(np.int64)
