"""Segmentations of COCO's entries as masks: polygons, runs, and compressed strings.

All entries of one form are read in one call; after a fault, the valid ones are read again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import BOX, Annotations
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats._coco_entries import BOX_EXPECTED, MASK_ROW, Entries
from vidscore_evaluators.formats._coco_segmentations import Form, Segmentations
from vidscore_evaluators.formats._file_masks import read_good_masks
from vidscore_evaluators.formats.source import FaultList
from vidscore_evaluators.mask_forms import compressed_texts, masks_from_runs
from vidscore_evaluators.masks import Masks, concatenate_masks

_ADVICE = (
    "give width and height in the images of the truth, write runs (RLE) with their size, or give "
    "--image-size"
)
_POLYGONS = Fault(
    "polygons", "polygons of an image of known size", field="segmentation", advice=_ADVICE
)

Refuse = Callable[[int, Fault], None]
"""Receives the row of an entry and its fault."""


class _EntryMasks(Struct, frozen=True, eq=False):
    """Masks of the entries of an array.

    Attributes:
        masks: The masks, in any order.
        rows: (N,) mask of each entry.
        given: (N,) whether an entry has its own segmentation; others have an empty mask.
    """

    masks: Masks
    rows: IntArray
    given: BoolArray


def with_masks(
    entries: Entries, image_sizes: IntArray, source: str, array: str, faults: FaultList
) -> Entries:
    """Make masks from segmentations, and boxes from masks if there are no boxes.

    Args:
        entries: N entries.
        image_sizes: (N, 2) height and width of the image of each, 0 if unknown.
        source: Name of the file.
        array: Key of the array, for error messages; empty if it is the whole document.
        faults: List to add faults to.

    Returns:
        The entries without faults. They have no masks if none has a segmentation, or if all are
            polygons of images of unknown size: a file of boxes may well have such.
    """
    good = np.ones(len(entries), dtype=np.bool_)

    def refuse(row: int, fault: Fault) -> None:
        good[row] = False
        field = ".".join(filter(None, (array, fault.field)))
        place = int(entries.positions[row])
        faults.add(replace(fault, source=source, entry=place, field=field))

    segmentations = entries.segmentations()
    found = _read_masks(segmentations, image_sizes, good, refuse)
    boxes, given = entries.boxes(), np.zeros(len(entries), dtype=np.bool_)
    missing = np.isnan(boxes[:, 0])
    if found is not None:
        given = found.given
        from_masks = np.flatnonzero(missing & given & good)
        own = found.masks.boxes()[found.rows[from_masks]] if len(from_masks) else np.zeros((0, BOX))
        boxes[from_masks] = np.concatenate([own[:, :2], own[:, 2:] - own[:, :2]], axis=1)
    for row in np.flatnonzero(missing & ~given & good).tolist():
        if segmentations.forms[row] == Form.POLYGONS:
            refuse(row, _POLYGONS)
        else:
            refuse(row, Fault("nothing", BOX_EXPECTED, field="bbox"))
    columns = {**entries.columns, "bbox": boxes}
    if found is None:
        return replace(entries, columns=columns).take(good)
    columns[MASK_ROW] = found.rows
    return replace(entries, columns=columns, masks=found.masks).take(good)


def _read_masks(
    found: Segmentations, image_sizes: IntArray, good: BoolArray, refuse: Refuse
) -> _EntryMasks | None:
    """The masks of segmentations; `good` marks those that have not been refused."""
    forms = found.forms
    given, polygons = forms != Form.NOTHING, forms == Form.POLYGONS
    sizes = np.where((given & ~polygons)[:, None], found.own_sizes, image_sizes)
    known = (sizes > 0).all(axis=1)
    if not (given & known).any() and (given == polygons).all():
        return None
    _check_sizes(found, sizes, image_sizes, refuse)
    rows = np.zeros(len(forms), dtype=np.int64)
    parts: list[Masks] = []
    count = 0
    for form in (Form.POLYGONS, Form.RUNS, Form.TEXT):
        masks, kept = _made(found, sizes, np.flatnonzero((forms == form) & good), refuse)
        rows[kept] = count + np.arange(len(kept))
        count += len(kept)
        if len(kept):
            parts.append(masks)
    empty = np.flatnonzero(~given & good)
    if len(empty):
        parts.append(_empty(image_sizes[empty]))
    rows[empty] = count + np.arange(len(empty))
    return _EntryMasks(concatenate_masks(parts), rows, given)


def _check_sizes(
    found: Segmentations, sizes: IntArray, image_sizes: IntArray, refuse: Refuse
) -> None:
    """Refuse polygons of images of unknown size, and runs whose size differs from their image's."""
    unknown: BoolArray = (image_sizes[:, 0] <= 0) | (image_sizes[:, 1] <= 0)
    for row in np.flatnonzero(unknown & (found.forms == Form.POLYGONS)).tolist():
        refuse(row, _POLYGONS)
    for row in np.flatnonzero(unknown & (found.forms == Form.NOTHING)).tolist():
        refuse(row, Fault("nothing", "a segmentation, as other entries have", field="segmentation"))
    wrong: BoolArray = sizes != image_sizes
    differs = (wrong[:, 0] | wrong[:, 1]) & ~unknown
    for row in np.flatnonzero(differs).tolist():
        (height, width), (expected_height, expected_width) = sizes[row], image_sizes[row]
        expected = f"[{expected_height}, {expected_width}], the height and width of the image"
        refuse(row, Fault(f"[{height}, {width}]", expected, field="segmentation.size"))


def _made(
    found: Segmentations, sizes: IntArray, rows: IntArray, refuse: Refuse
) -> tuple[Masks, IntArray]:
    """The masks of some rows of one form, and the rows that could be read."""

    def make(chosen: IntArray) -> Masks:
        return found.masks(chosen, sizes[chosen])

    def refuse_part(row: int, fault: Fault) -> None:
        part = () if fault.field == "segmentation" else (fault.field,)
        refuse(row, replace(fault, field=".".join(filter(None, ("segmentation", *part)))))

    return read_good_masks(make, rows, refuse_part)


def wait_for_sizes(entries: Entries) -> bool:
    """Whether there are polygons, which need the sizes of their images."""
    return bool((entries.segmentations().forms == Form.POLYGONS).any())


def with_any_box(entries: Entries, rows: BoolArray) -> Entries:
    """The entries without the segmentations of some; these get a box if they have none."""
    found = entries.segmentations()
    boxes = entries.boxes().copy()
    boxes[rows] = np.nan_to_num(boxes[rows])
    left = found.with_forms(np.where(rows, Form.NOTHING, found.forms))
    return replace(entries, columns={**entries.columns, "segmentation": left, "bbox": boxes})


def _empty(sizes: IntArray) -> Masks:
    """Empty masks."""
    return masks_from_runs(sizes.prod(axis=1), np.ones(len(sizes), dtype=np.int64), sizes)


def add_segmentations(entries: list[dict[str, Any]], annotations: Annotations) -> None:
    """Add the masks of annotations, if there are any, to their entries, as compressed strings."""
    masks = annotations.masks
    if masks is None:
        return
    rows = zip(entries, masks.sizes.tolist(), compressed_texts(masks), strict=True)
    for entry, size, text in rows:
        entry["segmentation"] = {"size": size, "counts": text}


def sizes_of_frames(annotations: Annotations) -> Mapping[int, tuple[int, int]]:
    """Width and height of images by their frames' rows, from the masks."""
    masks = annotations.masks
    if masks is None:
        return {}
    frames, first = np.unique(annotations.object_frames, return_index=True)
    sizes = masks.sizes[first]
    return {
        frame: (width, height)
        for frame, (height, width) in zip(frames.tolist(), sizes.tolist(), strict=True)
    }
