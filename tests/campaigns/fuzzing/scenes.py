"""Small scenes from which seeds are made."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag
from vidscore_evaluators.mask_forms import masks_from_counts
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.testing import Thing, make_annotations

SIZE = (1024, 512)
"""Width and height of images; powers of two, so that fractions of them are exact."""

_BOXES = (
    Thing((1.5, 2.0, 41.5, 90.0), "pedestrian", 0.75, 4),
    Thing((100.0, 20.25, 140.0, 60.5), "car", 0.5, 9),
    Thing((30.0, 30.0, 60.0, 80.0), "pedestrian", 0.25, 7, ObjectFlag.IGNORE),
)


def sample_sides() -> Iterator[tuple[Annotations, Annotations]]:
    """Truth and detections of points, boxes, boxes with masks, and quadrilaterals."""
    street = ("", "0001")
    found = [replace(thing, flags=0) for thing in _BOXES]
    boxes = {1: list(_BOXES), 2: list(_BOXES[:2]), 4: []}
    yield make_annotations({street: boxes}), make_annotations({street: {1: found, 2: found[:1]}})
    untracked = [replace(thing, track_id=NO_TRACK) for thing in found]
    two = {street: {1: untracked}, ("", "0002"): {1: untracked[:1], 3: untracked[1:]}}
    timed = {(street, 1): 0.04}
    yield make_annotations(two, times_s=timed), make_annotations(two)
    yield make_annotations({street: {1: [], 2: []}}, arity=4), make_annotations({}, arity=4)
    points = {("", "7"): {1: [(1.5, 2.0), (300.0, 400.5)], 2: [], 3: [(5.0, 6.0)]}}
    yield make_annotations(points, arity=2), make_annotations(points, arity=2)
    corners = (0.0, 0.0, 9.0, 1.0, 8.0, 7.0, 1.0, 8.0)
    tower = ("Tower", "001")
    things = [Thing(corners, "Car", 0.5, 3, columns={"occlusion": 1.0}), Thing(corners, "DCR")]
    quads = make_annotations({tower: {0: things, 1: [], 5: []}}, dont_care=[(tower, 5)])
    plain = make_annotations({tower: {0: [Thing(corners, "Car", 0.5)], 1: []}}, arity=8)
    yield quads, plain
    yield _with_masks(make_annotations({street: {1: found[:2], 2: found[:1]}}))


def _with_masks(boxes: Annotations) -> tuple[Annotations, Annotations]:
    """Both sides of a scene with masks, which do not overlap."""
    masks = sample_masks(boxes.object_count)
    side = replace(boxes, masks=masks)
    return side, side


def sample_masks(count: int) -> Masks:
    """Masks of a few pixels each that do not overlap."""
    width, height = SIZE
    runs = [
        [5 + 900 * row, 4, height - 4, 300, height * width - height - 305 - 900 * row]
        for row in range(count)
    ]
    return masks_from_counts(runs, np.full((count, 2), (height, width), dtype=np.int64))
