"""Code shared by the outcomes of tracking criteria."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vidscore_evaluators._scene_outcomes import ScoredRows
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import NO_TRACK, Side
from vidscore_evaluators.arrays import AnyArray, IntArray
from vidscore_evaluators.scene import Items
from vidscore_evaluators.tracking._tracks import TrackSet

PARTNER_TRACK = "partner_track"
"""Column of the track on the other side that a row is matched with."""


def partner_tracks(
    aligned: Aligned, truth: tuple[IntArray, IntArray], detections: tuple[IntArray, IntArray]
) -> Mapping[str, Mapping[Side, AnyArray]]:
    """Build the column `PARTNER_TRACK`.

    Args:
        aligned: The input.
        truth: Rows of its truth, and the partner's track id of each.
        detections: The same for its detections.
    """
    columns = {}
    for side, annotations, (rows, ids) in (
        (Side.TRUTH, aligned.truth, truth),
        (Side.DETECTIONS, aligned.detections, detections),
    ):
        column = np.full(annotations.object_count, NO_TRACK, dtype=np.int64)
        column[rows] = ids
        columns[side] = column
    return {PARTNER_TRACK: columns}


def track_ids(tracks: TrackSet, items: Items) -> IntArray:
    """(T,) id of each track of a side."""
    ids = np.empty(len(tracks), dtype=np.int64)
    ids[tracks.of_objects] = items.track_ids
    return ids


def tracks_of_rows(rows: ScoredRows, side: Side) -> TrackSet:
    """Tracks of the rows of a side; their chains are the cells."""
    own = rows.truth if side is Side.TRUTH else ~rows.truth
    return TrackSet.of(rows.cells[own], rows.outcomes.tracks[own])
