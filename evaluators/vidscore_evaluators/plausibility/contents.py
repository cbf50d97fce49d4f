"""What is in an input: objects by label, sizes, lengths of tracks, empty frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK, POINT, Annotations
from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.geometry import bounding_boxes


class Spread(NamedTuple):
    """Least, middle and greatest of some numbers."""

    least: float
    median: float
    greatest: float


@dataclass(frozen=True)
class Contents:
    """What one side holds.

    Attributes:
        labels: Objects by label, the most frequent first.
        width_px: Widths of boxes; None where there are none.
        height_px: Heights of boxes; likewise.
        tracks: Number of tracks.
        track_frames: Frames of each track; None where there are no tracks.
        empty_frames: Frames that are listed and have no object.
    """

    labels: dict[str, int]
    width_px: Spread | None
    height_px: Spread | None
    tracks: int
    track_frames: Spread | None
    empty_frames: int


def contents_of(annotations: Annotations) -> Contents:
    """Count what a side holds."""
    counts = np.bincount(annotations.label_indices, minlength=len(annotations.labels)).tolist()
    found = zip(annotations.labels, counts, strict=True)
    labels = sorted(found, key=lambda entry: (-entry[1], entry[0]))
    width, height = None, None
    if annotations.arity != POINT:
        boxes = bounding_boxes(annotations.coordinates)
        width, height = (_spread(side) for side in (boxes[:, 2:] - boxes[:, :2]).T)
    tracked = annotations.track_ids != NO_TRACK
    sequences = annotations.frame_sequences[annotations.object_frames[tracked]]
    keys = np.stack([sequences, annotations.track_ids[tracked]], axis=1)
    lengths = np.unique(keys, axis=0, return_counts=True)[1]
    return Contents(
        labels={label: count for label, count in labels if count},
        width_px=width,
        height_px=height,
        tracks=len(lengths),
        track_frames=_spread(lengths),
        empty_frames=int((annotations.object_counts == 0).sum()),
    )


def _spread(values: AnyArray) -> Spread | None:
    if len(values) == 0:
        return None
    return Spread(float(values.min()), float(np.median(values)), float(values.max()))
