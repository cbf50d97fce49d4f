"""Input summary: counters, labels, confidences, examples and a sample of frames.

Its tables add like tallies, and stay small for any input.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import numpy as np
from msgspec import Struct

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import (
    BOX,
    BOX_AREA,
    QUADRILATERAL,
    Annotations,
    FrameFlag,
    ObjectFlag,
    Side,
    are_flagged,
)
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.geometry import are_areas, bounding_boxes, box_areas, overlap_ratios
from vidscore_evaluators.plausibility.image_sizes import (
    ImageSizes,
    beyond_image,
    sizes_in,
    sizes_of_objects,
)
from vidscore_evaluators.plausibility.sample import (
    ANSWERS,
    ANSWERS_SCHEMA,
    SAMPLE,
    SAMPLE_SCHEMA,
    answers_table,
    sample_table,
)
from vidscore_evaluators.quadrilaterals import are_by_axis, are_rotated
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Table, TableSchema, build_table

EMPTY, FULL, BESIDE = MASK_DOUBTS = (
    *("masks_are_empty", "masks_fill_the_image", "boxes_beside_masks"),
)
"""Oddities of a mask: the codes of the warnings."""

_LEAST_OVERLAP_OF_BOXES = 0.5
"""Minimum IoU of a box and its mask's bounding box that causes no doubt."""

_ROUNDED_PX = 2.0
"""Maximum rounding error of an edge: of the outline to pixels, and of the box."""


class Example(StrEnum):
    """Kinds of examples."""

    SWAPPED = "swapped"
    BEYOND_IMAGE = "beyond_image"
    ROTATED = "rotated"
    BY_AXIS = "by_axis"
    UNLISTED = "unlisted"
    EMPTY_MASK = EMPTY
    FULL_MASK = FULL
    MASK_BESIDE = BESIDE


SIDES, LABELS, CONFIDENCES, COLUMNS, EXAMPLES = (
    *("sides", "labels", "confidences", "columns", "examples"),
)

SCHEMAS: Mapping[str, TableSchema] = {
    SIDES: TableSchema(
        ("side",),
        numbers=("arity",),
        counts=(
            *("objects", "frames", "swapped", "sized", "beyond_image", "rotated", "by_axis"),
            *MASK_DOUBTS,
        ),
    ),
    # A hash comes first, so that of very many labels the same are kept on each side.
    LABELS: TableSchema(
        ("hash", "domain", "label"), counts=("truth", "detections"), first=1000
    ),
    # Two different confidences are enough to know that they are not all equal.
    CONFIDENCES: TableSchema(("side",), numbers=("confidence",), first=2, within=1),
    COLUMNS: TableSchema(("side", "column"), counts=("objects",), first=20, within=1),
    EXAMPLES: TableSchema(
        ("example", "domain", "sequence"), numbers=("frame",), counts=("objects",), first=1,
        within=1,
    ),
    SAMPLE: SAMPLE_SCHEMA,
    ANSWERS: ANSWERS_SCHEMA,
}  # fmt: skip
"""Tables of an input summary."""

_MOST_ROWS = {SIDES: 6, CONFIDENCES: 4, COLUMNS: 40, EXAMPLES: 15}

INPUT_SUMMARY_BYTES = sum(
    _MOST_ROWS.get(name, schema.first or 0)
    * 8 * (len(schema.texts) + len(schema.numbers) + len(schema.counts))
    for name, schema in SCHEMAS.items()
)  # fmt: skip
"""Upper bound on what an input summary adds to `Tally.nbytes`."""


def input_summary_of(aligned: Aligned, specification: BenchmarkSpec) -> Mapping[str, Table]:
    """Count the facts behind warnings; pure.

    Args:
        aligned: Both sides in one frame order.
        specification: States image sizes.

    Returns:
        Tables by name, with fixed schemas even for no frames. Facts about one side count all of its
        objects; facts that compare the sides count only evaluated frames.
    """
    evaluated = aligned.listed & ~are_flagged(aligned.truth.frame_flags, FrameFlag.DONT_CARE)
    sides = {Side.TRUTH: aligned.truth, Side.DETECTIONS: aligned.detections}
    sizes = sizes_in(specification)
    seen = [_SideFacts.of(side, annotations, sizes) for side, annotations in sides.items()]
    wanted = _wanted(aligned, evaluated)
    return {
        SIDES: _sides_table(seen, _frames_with_objects(aligned, wanted)),
        LABELS: _labels_table(aligned, evaluated),
        CONFIDENCES: _confidences_table(sides),
        COLUMNS: _columns_table(sides),
        EXAMPLES: _examples_table(aligned, seen),
        SAMPLE: sample_table(aligned, evaluated),
        ANSWERS: answers_table(aligned, wanted),
    }


class _SideFacts(Struct, frozen=True, eq=False):
    """Facts about one side.

    Attributes:
        side: The side.
        annotations: Its annotations.
        swapped: (N,) boxes whose second corner is not to the lower right; None for other shapes.
        beyond_image: (N,) objects beyond their image; None if no size is known.
        sized: Number of objects in images of known size.
        rotated: (N,) objects, not regions, whose corners are not an upright box; None for other
            shapes.
        by_axis: (N,) objects that are rotated boxes only if all x come first; None for other
            shapes.
        odd_masks: (N,) objects with odd masks, by the code of the warning; empty for other shapes.
    """

    side: Side
    annotations: Annotations
    swapped: BoolArray | None
    beyond_image: BoolArray | None
    sized: int
    rotated: BoolArray | None
    by_axis: BoolArray | None
    odd_masks: Mapping[str, BoolArray]

    @classmethod
    def of(cls, side: Side, annotations: Annotations, known: ImageSizes) -> _SideFacts:
        coordinates = annotations.coordinates
        swapped: BoolArray | None = None
        if annotations.arity == BOX:
            swapped = (coordinates[:, 2] < coordinates[:, 0]) | (
                coordinates[:, 3] < coordinates[:, 1]
            )
        rotated: BoolArray | None = None
        by_axis: BoolArray | None = None
        if annotations.arity == QUADRILATERAL:
            rotated = are_rotated(coordinates) & ~are_flagged(annotations.flags, ObjectFlag.REGION)
            by_axis = are_by_axis(coordinates)
        beyond, sized = None, 0
        if known:
            sizes = sizes_of_objects(annotations, known)
            beyond, sized = beyond_image(coordinates, sizes), int(np.isfinite(sizes[:, 0]).sum())
        odd = _odd_masks(annotations)
        return cls(side, annotations, swapped, beyond, sized, rotated, by_axis, odd)


_DONT_CARE = ObjectFlag.IGNORE | ObjectFlag.CROWD | ObjectFlag.REGION | ObjectFlag.DISTRACTOR


def _odd_masks(annotations: Annotations) -> Mapping[str, BoolArray]:
    """(N,) whether each object has an odd mask, by warning code; empty without masks."""
    masks, given = annotations.masks, annotations.coordinates
    if masks is None or not masks.count:
        return {}
    areas, own = masks.areas(), masks.boxes()
    apart = (areas > 0.0) & (np.abs(given - own).max(axis=1) > _ROUNDED_PX)
    if apart.any():
        apart &= overlap_ratios(given, own) < _LEAST_OVERLAP_OF_BOXES
    return {EMPTY: areas == 0.0, FULL: areas == masks.pixels(), BESIDE: apart}


def _wanted(aligned: Aligned, evaluated: BoolArray) -> IntArray:
    """(F,) number of objects to be found in each evaluated frame."""
    wanted = aligned.truth.object_frames[~are_flagged(aligned.truth.flags, _DONT_CARE)]
    return np.bincount(wanted, minlength=aligned.truth.frame_count) * evaluated


def _frames_with_objects(aligned: Aligned, wanted: IntArray) -> Mapping[Side, int]:
    """Number of frames with an object to be found, and of those among them with a detection."""
    answered = (wanted > 0) & (aligned.detections.object_counts > 0)
    return {Side.TRUTH: _number(wanted > 0), Side.DETECTIONS: _number(answered)}


def _sides_table(seen: Sequence[_SideFacts], frames: Mapping[Side, int]) -> Table:
    used = [entry for entry in seen if entry.annotations.object_count]
    counts = [
        [entry.annotations.object_count for entry in used],
        [frames[entry.side] for entry in used],
        [_number(entry.swapped) for entry in used],
        [entry.sized for entry in used],
        [_number(entry.beyond_image) for entry in used],
        [_number(entry.rotated) for entry in used],
        [_number(entry.by_axis) for entry in used],
        *([_number(entry.odd_masks.get(code)) for entry in used] for code in MASK_DOUBTS),
    ]
    return build_table(
        SCHEMAS[SIDES],
        [entry.side for entry in used],
        [np.arange(len(used))],
        numbers=[np.array([entry.annotations.arity for entry in used], dtype=np.float64)],
        counts=[np.array(column, dtype=np.int64) for column in counts],
    )


def _number(mask: BoolArray | None) -> int:
    return 0 if mask is None else int(mask.sum())


def _labels_table(aligned: Aligned, evaluated: BoolArray) -> Table:
    labels, keys = aligned.truth.labels, aligned.truth.sequences
    domains = tuple({key.domain: None for key in keys})
    size = len(domains) * len(labels)
    counts = [
        np.bincount(_label_cells(side, evaluated, domains), minlength=size)
        for side in (aligned.truth, aligned.detections)
    ]
    used = (counts[0] + counts[1]).nonzero()[0]
    of_domain, of_label = np.divmod(used, max(1, len(labels)))
    hashes = [hashlib.blake2b(label.encode(), digest_size=8).hexdigest() for label in labels]
    return build_table(
        SCHEMAS[LABELS],
        [*hashes, *domains, *labels],
        [of_label, len(labels) + of_domain, len(labels) + len(domains) + of_label],
        counts=[column[used] for column in counts],
    )


def _label_cells(side: Annotations, evaluated: BoolArray, domains: Sequence[str]) -> IntArray:
    """Domain and label, as one number, of each object of evaluated frames that is not a region."""
    cells = side.label_indices
    if len(domains) > 1:
        positions = {domain: index for index, domain in enumerate(domains)}
        of_sequences = np.array([positions[key.domain] for key in side.sequences], dtype=np.int64)
        of_frames = of_sequences[side.frame_sequences] * len(side.labels)
        cells = cells + of_frames.repeat(side.object_counts)
    counted = ~are_flagged(side.flags, ObjectFlag.REGION)
    if not evaluated.all():
        counted &= evaluated.repeat(side.object_counts)
    return cells if counted.all() else cells[counted]


def _confidences_table(sides: Mapping[Side, Annotations]) -> Table:
    found = [
        (code, value)
        for code, side in enumerate(sides.values())
        for value in _least_two(side.confidences)
    ]
    codes, values = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return build_table(
        SCHEMAS[CONFIDENCES], list(sides), [codes.astype(np.int64)], numbers=[values]
    )


def _least_two(values: FloatArray) -> Iterator[float]:
    """The least value, and the least value above it, as far as they exist."""
    if len(values):
        least = values.min()
        yield float(least)
        above = values[values > least]
        if len(above):
            yield float(above.min())


def _columns_table(sides: Mapping[Side, Annotations]) -> Table:
    found = [
        (side, name, int(np.count_nonzero(~np.isnan(column))))
        for side, annotations in sides.items()
        for name, column in annotations.columns.items()
        if name != BOX_AREA and known_column(name)
    ]
    found += [(side, BOX_AREA, _wrong_areas(one)) for side, one in sides.items()]
    truth = sides.get(Side.TRUTH)
    if truth is not None:
        found += [(Side.TRUTH, name, _without_flag(truth, name)) for name in truth.columns]
    found = [entry for entry in found if entry[2]]
    rows: IntArray = np.arange(len(found), dtype=np.int64)
    return build_table(
        SCHEMAS[COLUMNS],
        [*(side for side, _, _ in found), *(name for _, name, _ in found)],
        [rows, rows + len(found)],
        counts=[np.array([count for _, _, count in found], dtype=np.int64)],
    )


def _wrong_areas(annotations: Annotations) -> int:
    """Number of given areas that are not those of their boxes."""
    given = annotations.columns.get(BOX_AREA)
    if given is None or annotations.arity != BOX:
        return 0
    areas = box_areas(bounding_boxes(annotations.coordinates))
    return _number(~np.isnan(given) & ~are_areas(given, areas))


def _without_flag(truth: Annotations, name: str) -> int:
    """Number of objects with a 1 in a column of flags that lack the flag itself."""
    flag = flag_of_column(name)
    if not flag:
        return 0
    if flag == _FRAME_FLAG:
        flagged = are_flagged(truth.frame_flags, FrameFlag.DONT_CARE)[truth.object_frames]
    else:
        flagged = are_flagged(truth.flags, ObjectFlag[flag.upper()])
    return _number((truth.columns[name] == 1.0) & ~flagged)


def _examples_table(aligned: Aligned, seen: Sequence[_SideFacts]) -> Table:
    found: list[tuple[str, int, int]] = []
    unlisted = (~aligned.listed & (aligned.detections.object_counts > 0)).nonzero()[0]
    if len(unlisted):
        frame = int(unlisted[0])
        count = int(aligned.detections.object_counts[frame])
        found.append((example_name(Side.DETECTIONS, Example.UNLISTED), frame, count))
    for entry in seen:
        for example, mask in (
            (Example.SWAPPED, entry.swapped),
            (Example.BEYOND_IMAGE, entry.beyond_image),
            (Example.ROTATED, entry.rotated),
            (Example.BY_AXIS, entry.by_axis),
            *((Example(code), mask) for code, mask in entry.odd_masks.items()),
        ):
            if mask is not None and mask.any():
                starts = entry.annotations.frame_starts
                frame = int(np.searchsorted(starts, int(mask.argmax()), side="right")) - 1
                count = int(mask[starts[frame] : starts[frame + 1]].sum())
                found.append((example_name(entry.side, example), frame, count))
    if not found:
        return build_table(SCHEMAS[EXAMPLES], (), [np.zeros(0, dtype=np.int64)])
    frames = np.array([frame for _, frame, _ in found], dtype=np.int64)
    keys = [aligned.truth.sequences[aligned.truth.frame_sequences[frame]] for frame in frames]
    words = [name for name, _, _ in found] + [key.domain for key in keys]
    words += [key.sequence for key in keys]
    rows: IntArray = np.arange(len(found), dtype=np.int64)
    return build_table(
        SCHEMAS[EXAMPLES],
        words,
        [rows, rows + len(found), rows + 2 * len(found)],
        numbers=[aligned.truth.frame_numbers[frames].astype(np.float64)],
        counts=[np.array([count for _, _, count in found], dtype=np.int64)],
    )


def example_name(side: Side, example: Example) -> str:
    """Name of an example of a side in the table of examples."""
    return f"{side.value} {example.value}"


CONFIDENCE, LABEL, CORNERS = "confidence", "class", "x1, y1, x2, y2"
_MEANINGS = {
    CONFIDENCE: ("score", "scores", "conf", "confidence", "prob", "probability", "logit"),
    LABEL: ("label", "labels", "category", "cls", "class"),
    CORNERS: (
        *("w", "h", "width", "height", "left", "top", "right", "bottom"),
        *("xmin", "ymin", "xmax", "ymax", "cx", "cy", "xc", "yc", "bbox", "box"),
    ),
}
_MEANING_OF = {word: meaning for meaning, words in _MEANINGS.items() for word in words}
_FRAME_FLAG = "dont_care_frame"
_FLAG_OF_COLUMN = {
    **dict.fromkeys(("ignore", "ignored", "is_ignored", "dont_care", "difficult"), "ignore"),
    **dict.fromkeys(("crowd", "iscrowd", "is_crowd"), "crowd"),
    **{name: name for name in ("distractor", _FRAME_FLAG)},
}
_SIZES = {"w": "h", "width": "height", "bbox_w": "bbox_h", "bbox_width": "bbox_height"}


def known_column(name: str) -> str:
    """The known column or columns that an unknown one resembles; empty if it resembles none.

    ``detection_score`` resembles ``confidence``; ``area`` and ``image_width`` nothing.
    """
    words = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).casefold()
    parts = [part for part in re.split(r"[^a-z]+", words) if part]
    if not parts or parts[0] in ("image", "img", "frame"):
        return ""
    return next((_MEANING_OF[part] for part in reversed(parts) if part in _MEANING_OF), "")


def flag_of_column(name: str) -> str:
    """The flag that a column of 0s and 1s surely means; empty if it means none."""
    return _FLAG_OF_COLUMN.get(name.casefold(), "")


def size_columns(names: Iterable[str]) -> tuple[str, ...]:
    """The columns with width and height of boxes; none unless both exist."""
    folded = {name.casefold(): name for name in names}
    for pair in _SIZES.items():
        if folded.keys() >= set(pair):
            return tuple(folded[name] for name in pair)
    return ()
