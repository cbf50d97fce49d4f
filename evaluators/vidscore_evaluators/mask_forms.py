"""The forms in which masks are read and written: runs, COCO's strings, polygons, label images.

All forms are read for many masks at once. Errors are an `InputError` whose faults have the row of
the mask as `entry`, and the wrong part of it as `field`: ``size``, ``counts`` or ``segmentation``.

Polygons become masks exactly as pycocotools makes them, to the pixel: corners are rounded to fifths
of pixels, sides walk from fifth to fifth, and a pixel of a column is inside if the outline has
crossed the middle of the column above it an odd number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, pairwise

import numpy as np

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    marked,
    run_starts,
    starts_from_counts,
)
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.kernels import RunArray
from vidscore_evaluators.masks import (
    Masks,
    concatenate_masks,
    masks_of_keys,
    masks_of_spans,
    merged,
)

MAXIMUM_MASK_PIXELS = 1 << 28
"""Maximum number of pixels of a mask's image: 16384 by 16384."""

MAXIMUM_MASK_RUNS = 1 << 20
"""Maximum number of runs of a mask."""

MAXIMUM_OUTLINE_PX = 1 << 20
"""Longest outline of the polygons of an object, each side measured along its longer axis."""

MAXIMUM_OUTLINES_PX = 1 << 31
"""Maximum total length of the outlines of all objects, since a few corners can describe very many
pixels: their runs take at most 8 GiB."""

_OUTLINES_AT_ONCE_PX = 1 << 22
"""Length of the outlines that are traced together, unless those of one object are longer: making a
mask takes far more memory than its runs do."""

_FIFTHS = 5
_LEAST_CORNERS = 3
_CHARACTERS_PER_RUN = 6
"""Upper bound: a difference of two runs has 29 bits with its sign, a character has 5."""

_FILLED = "runs that fill the size, {pixels} pixels"
_WRONG_RUNS = (
    ("", ""),
    ("a character that no number has", "characters from '0' to 'o'"),
    ("a number without its end", "integers"),
    ("a run below 0", "runs of 0 or more"),
    ("runs of more than {pixels} pixels", _FILLED),
    ("runs of {total} pixels", _FILLED),
    ("more runs", f"at most {MAXIMUM_MASK_RUNS} runs"),
)
"""The problems that kernels find in a mask, by their number, and what is expected."""

_FOREIGN_CHARACTER = 1


def masks_from_counts(counts: Sequence[Sequence[int]], sizes: IntArray) -> Masks:
    """Masks from lists of runs.

    Args:
        counts: Lengths of the runs of each mask, 0s first.
        sizes: (N, 2) height and width of each mask.

    Raises:
        InputError: If a list is not of integers, or its runs do not fill its size.
    """
    wrong = np.array([not _are_integers(lengths) for lengths in counts], dtype=np.bool_)
    _refuse(wrong, "counts", "other values", "a list of integers")
    lengths = _lengths(counts)
    flat = np.fromiter(chain.from_iterable(counts), dtype=np.int64, count=int(lengths.sum()))
    return masks_from_runs(flat, lengths, sizes)


def masks_from_runs(lengths: AnyArray, counts: AnyArray, sizes: IntArray) -> Masks:
    """Masks from runs in one array.

    Args:
        lengths: (R,) lengths of runs as integers.
        counts: (N,) runs of each mask, R in total.
        sizes: (N, 2) height and width of each mask.

    Raises:
        InputError: If runs do not fill their size.
    """
    wide = np.ascontiguousarray(lengths, dtype=np.int64)
    return _read(kernels.normal_runs, wide, starts_from_counts(counts), sizes)


def masks_from_compressed(texts: Sequence[str | bytes], sizes: IntArray) -> Masks:
    """Masks from COCO's compressed strings.

    Args:
        texts: The string of each mask.
        sizes: (N, 2) height and width of each mask.

    Raises:
        InputError: If a string is invalid, or its runs do not fill its size.
    """
    foreign = np.array([not text.isascii() for text in texts], dtype=np.bool_)
    _refuse(foreign, "counts", *_WRONG_RUNS[_FOREIGN_CHARACTER])
    parts = [text if isinstance(text, bytes) else text.encode("ascii") for text in texts]
    characters = np.frombuffer(b"".join(parts), dtype=np.uint8)
    return masks_from_characters(characters, _lengths(parts), sizes)


def masks_from_characters(characters: FlagArray, lengths: IntArray, sizes: IntArray) -> Masks:
    """Masks from COCO's compressed strings in one array.

    Args:
        characters: (C,) the strings, one after the other.
        lengths: (N,) characters of each, C in total.
        sizes: (N, 2) height and width of each mask.

    Raises:
        InputError: If a string is invalid, or its runs do not fill its size.
    """
    return _read(kernels.read_mask_texts, characters, starts_from_counts(lengths), sizes)


def compressed_texts(masks: Masks) -> list[str]:
    """COCO's compressed strings of masks, identical to those that pycocotools writes."""
    runs, starts = masks.contiguous()
    text: FlagArray = np.empty(_CHARACTERS_PER_RUN * len(runs), dtype=np.uint8)
    text_starts = np.empty(masks.count + 1, dtype=np.int64)
    size = kernels.write_mask_texts(runs, starts, masks.count, text, text_starts)
    whole = text[:size].tobytes().decode("ascii")
    return [whole[start:end] for start, end in pairwise(text_starts.tolist())]


def masks_from_polygons(polygons: Sequence[Sequence[Sequence[float]]], sizes: IntArray) -> Masks:
    """Masks from polygons, pixel for pixel as pycocotools makes them.

    Args:
        polygons: The polygons of each object, each with its corners as x, y, x, y, ... in pixels;
            parts outside the image are cut off.
        sizes: (N, 2) height and width of the image of each object.

    Returns:
        One mask per object, with the pixels of all its polygons.

    Raises:
        InputError: If an object has no polygon; if a polygon has an odd number of coordinates,
            fewer than three corners, or a coordinate that is not a number; or if an object's
            outline, alone or with all before it, is too long.
    """
    parts = list(chain.from_iterable(polygons))
    lengths = _lengths(parts)
    coordinates: FloatArray = np.fromiter(
        chain.from_iterable(parts), dtype=np.float64, count=int(lengths.sum())
    )
    return masks_from_coordinates(coordinates, lengths, _lengths(polygons), sizes)


def masks_from_coordinates(
    coordinates: FloatArray, lengths: IntArray, part_counts: IntArray, sizes: IntArray
) -> Masks:
    """Masks from polygons in one array.

    Args:
        coordinates: (C,) x, y, x, y, ... of the polygons, one after the other.
        lengths: (P,) coordinates of each polygon, C in total.
        part_counts: (N,) polygons of each object, P in total.
        sizes: (N, 2) height and width of the image of each object.

    Raises:
        InputError: As for `masks_from_polygons`.
    """
    _refuse_sizes(sizes)
    objects = np.repeat(np.arange(len(part_counts), dtype=np.int64), part_counts)
    corners, starts, crossed = _corners(coordinates, lengths, objects, part_counts)
    part_sizes, part_starts = sizes.take(objects, axis=0), starts_from_counts(part_counts)
    before = crossed[part_starts]
    made: list[Masks] = []
    first = 0
    while first < len(part_counts):
        most = int(before[first]) + _OUTLINES_AT_ONCE_PX
        end = max(first + 1, int(np.searchsorted(before, most, side="right")) - 1)
        of_parts = slice(part_starts[first], part_starts[end])
        own = starts[part_starts[first] : part_starts[end] + 1]
        outlined = _outlined(
            corners[own[0] : own[-1]],
            own - own[0],
            part_sizes[of_parts],
            int(before[end] - before[first]),
        )
        made.append(merged(outlined, part_starts[first : end + 1] - part_starts[first]))
        first = end
    return _bounded(concatenate_masks(made))


def _outlined(corners: IntArray, starts: IntArray, sizes: IntArray, most: int) -> Masks:
    """The mask of each polygon.

    Args:
        corners: (C, 2) corners in fifths of pixels.
        starts: (P + 1,) offsets of the polygons.
        sizes: (P, 2) height and width of the image of each.
        most: Upper bound on the columns that they cross.
    """
    keys = np.empty(most, dtype=np.int64)
    count = kernels.outline_keys(corners, starts, sizes, len(sizes), most, keys)
    return masks_of_keys(keys[:count], sizes, toggled=True)


def masks_from_label_image(labels: AnyArray) -> tuple[IntArray, Masks]:
    """Masks of the values of a label image.

    Args:
        labels: (height, width) integers.

    Returns:
        The values that occur, ascending, and the mask of each.

    Raises:
        InputError: If it is not such an image, or is too large.
    """
    if labels.ndim != 2 or labels.dtype.kind not in "iu":
        found = f"an array of {labels.dtype} of shape {labels.shape}"
        raise InputError([Fault(found, "integers of shape (height, width)")])
    size = np.array([labels.shape], dtype=np.int64)
    _refuse_sizes(size)
    pixels = labels.T.reshape(-1)
    begins = run_starts(pixels)
    ends = np.append(begins[1:], len(pixels))
    values, groups = np.unique(pixels[begins].astype(np.int64), return_inverse=True)
    masks = masks_of_spans(
        groups.astype(np.int64), begins, ends, np.repeat(size, len(values), axis=0)
    )
    return values, _bounded(masks)


def _lengths(parts: Sequence[Sequence[object]] | Sequence[bytes]) -> IntArray:
    return np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))


def _are_integers(lengths: Sequence[int]) -> bool:
    """Whether a list has only integers of at most 64 bits; no mask has larger ones."""
    if not set(map(type, lengths)) <= {int}:
        return False
    return -MAXIMUM_MASK_PIXELS <= min(lengths, default=0) <= max(lengths, default=0) < 1 << 62


def _read(
    kernel: Callable[..., int], content: AnyArray, starts: IntArray, sizes: IntArray
) -> Masks:
    """Masks from content that one of two kernels reads."""
    _refuse_sizes(sizes)
    count = len(sizes)
    pixels: IntArray = sizes[:, 0] * sizes[:, 1]
    runs: RunArray = np.empty(len(content), dtype=np.uint32)
    offsets, totals = np.empty(count + 1, dtype=np.int64), np.empty(count, dtype=np.int64)
    states: FlagArray = np.empty(count, dtype=np.uint8)
    most = MAXIMUM_MASK_RUNS
    if kernel(content, starts, pixels, count, most, runs, offsets, totals, states) < count:
        raise InputError(
            [
                _wrong_runs(row, int(states[row]), int(pixels[row]), int(totals[row]))
                for row in np.flatnonzero(states).tolist()
            ]
        )
    runs.resize(offsets[-1], refcheck=False)  # in place; a copy would take new memory
    return Masks(sizes, offsets, runs)


def _wrong_runs(row: int, state: int, pixels: int, total: int) -> Fault:
    found, expected = (text.format(pixels=pixels, total=total) for text in _WRONG_RUNS[state])
    return Fault(found, expected, entry=row, field="counts")


def _refuse(wrong: BoolArray, field: str, found: str, expected: str) -> None:
    """Refuse the rows that are wrong."""
    if wrong.any():
        rows = np.flatnonzero(wrong).tolist()
        raise InputError([Fault(found, expected, entry=row, field=field) for row in rows])


def _refuse_sizes(sizes: IntArray) -> None:
    outside = (sizes < 1) | (sizes > MAXIMUM_MASK_PIXELS)
    wrong = outside.any(axis=1) | (np.where(outside, 0, sizes).prod(axis=1) > MAXIMUM_MASK_PIXELS)
    if wrong.any():
        expected = f"height and width of 1 or more, together at most {MAXIMUM_MASK_PIXELS} pixels"
        raise InputError(
            [
                Fault(f"{sizes[row, 0]} by {sizes[row, 1]}", expected, entry=row, field="size")
                for row in np.flatnonzero(wrong).tolist()
            ]
        )


def _bounded(masks: Masks) -> Masks:
    """The same masks; refuses those with too many runs."""
    _refuse(np.diff(masks.starts) > MAXIMUM_MASK_RUNS, "segmentation", *_WRONG_RUNS[-1])
    return masks


def _corners(
    coordinates: FloatArray, lengths: IntArray, objects: IntArray, part_counts: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Corners of polygons, and upper bounds on the columns that they cross.

    Args:
        coordinates: Coordinates of the P polygons.
        lengths: (P,) coordinates of each.
        objects: (P,) the object of each.
        part_counts: (N,) polygons of each object.

    Returns:
        (C, 2) corners in fifths of pixels, (P + 1,) offsets of the polygons, and (P + 1,) upper
        bounds on the columns that the polygons before each cross.
    """
    field, count = "segmentation", len(part_counts)
    odd = lengths % 2 != 0
    _refuse(part_counts == 0, field, "no polygon", "at least one polygon")
    _refuse(marked(count, objects[odd]), field, "an odd number of coordinates", "x, y, x, y, ...")
    few = lengths < 2 * _LEAST_CORNERS
    _refuse(marked(count, objects[few]), field, "fewer corners", "polygons of at least 3 corners")
    starts = starts_from_counts(lengths)
    corners = np.empty(len(coordinates), dtype=np.int64)
    spans = np.empty((2, len(lengths)), dtype=np.int64)
    most = MAXIMUM_OUTLINE_PX
    kernels.rounded_corners(coordinates, starts, len(lengths), most, corners, spans)
    outlines, columns = spans
    expected = f"numbers from -{MAXIMUM_OUTLINE_PX} to {MAXIMUM_OUTLINE_PX}"
    _refuse(marked(count, objects[outlines < 0]), field, "another coordinate", expected)
    of_objects = np.bincount(objects, weights=outlines, minlength=count)
    found, expected = "a longer outline", f"outlines of at most {MAXIMUM_OUTLINE_PX} pixels"
    _refuse(of_objects > _FIFTHS * MAXIMUM_OUTLINE_PX, field, found, expected)
    together = np.cumsum(of_objects) > _FIFTHS * MAXIMUM_OUTLINES_PX
    expected = f"at most {MAXIMUM_OUTLINES_PX} pixels of all outlines; give runs for more"
    _refuse(together, field, "longer outlines together", expected)
    return corners.reshape(-1, 2), starts // 2, starts_from_counts(columns)
