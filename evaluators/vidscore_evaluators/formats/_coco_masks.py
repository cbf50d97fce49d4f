"""Segmentations of COCO's entries as masks: polygons, runs, and compressed texts.

All entries of one form are read in one call; only what is wrong is looked at again, without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import BOX, Annotations
from vidscore_evaluators.arrays import AnyArray, BoolArray, IntArray, marked
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats._coco_entries import BOX_EXPECTED, MASK_ROW, Entries
from vidscore_evaluators.formats._good_masks import read_good_masks
from vidscore_evaluators.formats.source import FaultList
from vidscore_evaluators.mask_forms import (
    compressed_texts,
    masks_from_compressed,
    masks_from_counts,
    masks_from_polygons,
    masks_from_runs,
)
from vidscore_evaluators.masks import Masks, concatenate_masks

_FORMS: Mapping[str, Callable[[Sequence[Any], IntArray], Masks]] = {
    "polygons": masks_from_polygons,
    "counts": masks_from_counts,
    "text": masks_from_compressed,
}
_ADVICE = "give width and height in images, write runs (RLE) with their size, or give --image-size"


Refuse = Callable[[int, Fault], None]
"""Takes the row of an entry and what is wrong with it."""


@dataclass(frozen=True, eq=False)
class _EntryMasks:
    """Masks of the entries of an array.

    Attributes:
        masks: The masks, in any order.
        rows: (N,) mask of each entry.
        given: (N,) whether an entry has a segmentation of its own; others have an empty mask.
    """

    masks: Masks
    rows: IntArray
    given: BoolArray


@dataclass(frozen=True, eq=False)
class _Segmentations:
    """N segmentations, sorted by their form.

    Attributes:
        contents: N times polygons, a list of runs, or a text.
        rows: Rows of each form of `_FORMS`.
        sizes: (N, 2) height and width, 0 where unknown.
    """

    contents: list[Any]
    rows: Mapping[str, IntArray]
    sizes: IntArray

    @classmethod
    def of(cls, values: AnyArray, image_sizes: IntArray) -> _Segmentations:
        """Sort segmentations; those of polygons have the sizes of their images."""
        given, sizes = values.tolist(), image_sizes.copy()
        is_runs = np.array([type(value) is dict for value in given], dtype=np.bool_)
        runs = np.flatnonzero(is_runs)
        if len(runs):
            sizes[runs] = [value["size"] for value in values[runs]]
        contents = [value["counts"] if type(value) is dict else value for value in given]
        is_text = np.array([type(content) is str for content in contents], dtype=np.bool_)
        has_part = np.array([any(content or ()) for content in contents], dtype=np.bool_)
        rows = {
            "polygons": np.flatnonzero(~is_runs & has_part),
            "counts": np.flatnonzero(is_runs & ~is_text),
            "text": np.flatnonzero(is_text),
        }
        return cls(contents, rows, sizes)

    @property
    def given(self) -> BoolArray:
        """(N,) whether there is anything."""
        return marked(len(self.contents), np.concatenate([*self.rows.values()]))


def with_masks(
    entries: Entries, image_sizes: IntArray, source: str, array: str, faults: FaultList
) -> Entries:
    """Make masks of segmentations, and boxes of masks where there are no others.

    Args:
        entries: N entries.
        image_sizes: (N, 2) height and width of the image of each, 0 where unknown.
        source: Name of the file.
        array: Key of the array, for error messages; empty where it is the whole document.
        faults: List to add faults to.

    Returns:
        The entries without a fault. They have no masks where none has a segmentation, or all are
        polygons of images of no known size: a file of boxes may well have such.
    """
    good = np.ones(len(entries), dtype=np.bool_)

    def refuse(row: int, fault: Fault) -> None:
        good[row] = False
        field = ".".join(filter(None, (array, fault.field)))
        place = int(entries.positions[row])
        faults.add(replace(fault, source=source, entry=place, field=field))

    found = _read_masks(entries.segmentations(), image_sizes, good, refuse)
    boxes, given = entries.boxes(), np.zeros(len(entries), dtype=np.bool_)
    missing = np.isnan(boxes[:, 0])
    if found is not None:
        given = found.given
        from_masks = np.flatnonzero(missing & given & good)
        own = found.masks.boxes()[found.rows[from_masks]] if len(from_masks) else np.zeros((0, BOX))
        boxes[from_masks] = np.concatenate([own[:, :2], own[:, 2:] - own[:, :2]], axis=1)
    for row in np.flatnonzero(missing & ~given & good).tolist():
        refuse(row, Fault("nothing", BOX_EXPECTED, field="bbox"))
    columns = {**entries.columns, "bbox": boxes}
    if found is None:
        return replace(entries, columns=columns).take(good)
    columns[MASK_ROW] = found.rows
    return replace(entries, columns=columns, masks=found.masks).take(good)


def _read_masks(
    values: AnyArray, image_sizes: IntArray, good: BoolArray, refuse: Refuse
) -> _EntryMasks | None:
    """The masks of segmentations; `good` says which of them have not been refused."""
    if not any(values.tolist()):
        return None
    found = _Segmentations.of(values, image_sizes)
    given, known = found.given, (found.sizes > 0).all(axis=1)
    if not (given & known).any() and len(found.rows["polygons"]) == given.sum():
        return None
    _check_sizes(found, image_sizes, refuse)
    rows = np.zeros(len(values), dtype=np.int64)
    parts: list[Masks] = []
    count = 0
    for form, make in _FORMS.items():
        chosen = found.rows[form]
        masks, kept = _made(make, found, chosen[good[chosen]], refuse)
        rows[kept] = count + np.arange(len(kept))
        count += len(kept)
        if len(kept):
            parts.append(masks)
    empty = np.flatnonzero(~given & good)
    if len(empty):
        parts.append(_empty(image_sizes[empty]))
    rows[empty] = count + np.arange(len(empty))
    return _EntryMasks(concatenate_masks(parts), rows, given)


def _check_sizes(found: _Segmentations, image_sizes: IntArray, refuse: Refuse) -> None:
    """Refuse polygons without the size of their image, and runs of another size than that."""
    unknown: BoolArray = (image_sizes[:, 0] <= 0) | (image_sizes[:, 1] <= 0)
    polygons = found.rows["polygons"]
    for row in polygons[unknown[polygons]].tolist():
        expected = "polygons of an image of known size"
        refuse(row, Fault("polygons", expected, field="segmentation", advice=_ADVICE))
    for row in np.flatnonzero(unknown & ~found.given).tolist():
        refuse(row, Fault("nothing", "a segmentation, as other entries have", field="segmentation"))
    wrong: BoolArray = found.sizes != image_sizes
    differs = (wrong[:, 0] | wrong[:, 1]) & ~unknown
    for row in np.flatnonzero(differs).tolist():
        (height, width), (expected_height, expected_width) = found.sizes[row], image_sizes[row]
        expected = f"[{expected_height}, {expected_width}], the height and width of the image"
        refuse(row, Fault(f"[{height}, {width}]", expected, field="segmentation.size"))


def _made(
    make: Callable[[Sequence[Any], IntArray], Masks],
    found: _Segmentations,
    rows: IntArray,
    refuse: Refuse,
) -> tuple[Masks, IntArray]:
    """The masks of some rows, and which of the rows could be read."""

    def make_rows(chosen: IntArray) -> Masks:
        return make([found.contents[row] for row in chosen.tolist()], found.sizes[chosen])

    def refuse_part(row: int, fault: Fault) -> None:
        part = () if fault.field == "segmentation" else (fault.field,)
        refuse(row, replace(fault, field=".".join(filter(None, ("segmentation", *part)))))

    return read_good_masks(make_rows, rows, refuse_part)


def _empty(sizes: IntArray) -> Masks:
    """Masks of nothing."""
    return masks_from_runs(sizes.prod(axis=1), np.ones(len(sizes), dtype=np.int64), sizes)


def add_segmentations(entries: list[dict[str, Any]], annotations: Annotations) -> None:
    """Add the masks of annotations, if there are any, to their entries, as compressed texts."""
    masks = annotations.masks
    if masks is None:
        return
    rows = zip(entries, masks.sizes.tolist(), compressed_texts(masks), strict=True)
    for entry, size, text in rows:
        entry["segmentation"] = {"size": size, "counts": text}


def sizes_of_frames(annotations: Annotations) -> Mapping[int, tuple[int, int]]:
    """Width and height of the images of frames by their rows, as masks have them."""
    masks = annotations.masks
    if masks is None:
        return {}
    frames, first = np.unique(annotations.object_frames, return_index=True)
    sizes = masks.sizes[first]
    return {
        frame: (width, height)
        for frame, (height, width) in zip(frames.tolist(), sizes.tolist(), strict=True)
    }
