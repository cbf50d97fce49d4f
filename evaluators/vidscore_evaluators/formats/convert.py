"""Convert one side into the files of another format, and say what that changes and drops.

A conversion never makes unscored input scored: if a format cannot represent an object's flags, the
object is left out, and so are don't-care frames. If a sequence has no gaps, such a frame counts,
and a remark says so.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    ARITIES,
    BOX,
    BOX_AREA,
    NO_TRACK,
    POINT,
    QUADRILATERAL,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
    frame_keys,
    with_arity,
)
from vidscore_evaluators.errors import Fault, GeometryError, InputError
from vidscore_evaluators.formats import FORMATS, find_format
from vidscore_evaluators.formats._format import (
    Capacity,
    Format,
    WriteOptions,
    in_order,
    used_labels,
)
from vidscore_evaluators.formats._images import check_image_sizes, check_mask_sizes, sizes_of_images
from vidscore_evaluators.formats._table import EXPECTED_STRING, parse_string
from vidscore_evaluators.formats.source import Files, Numbering, Source, show_text
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.names import counted
from vidscore_evaluators.quadrilaterals import corners_of_boxes, outlines_of

_ONLY_NUMBERS = "images and classes stay numbers; --truth gives the names that a truth has for them"


_ONLY_OF_DETECTIONS = (
    "truth has no confidences; if these are detections, --side detections keeps them"
)


class Conversion(Struct, frozen=True, eq=False):
    """One side, converted.

    Attributes:
        files: Content by relative path.
        folder: Whether the format is a folder of files.
        remarks: The changes and losses, in sentences.
    """

    files: Files
    folder: bool
    remarks: tuple[str, ...]


def convert(
    source: Source,
    format_name: str,
    side: Side,
    *,
    truth: Source | None = None,
    image_size: tuple[int, int] | None = None,
) -> Conversion:
    """Convert one side.

    Frame numbers and coordinates are shifted by the difference of the formats' first frame and
    first pixel, if both formats define these.

    Args:
        source: The side, read.
        format_name: Name of the format to write.
        side: The side.
        truth: Truth whose numbers of images and classes detections refer to.
        image_size: Width and height of every image in pixels, if the source does not state it.

    Raises:
        InputError: If there is no such format, or it cannot represent the shape, a name or a
            number; or if masks differ in size from their image.
    """
    target = find_format(format_name)
    known = None if truth is None else _moved(truth, target)[0]
    moved, remarks = _moved(source, target)
    fitted, losses = _fitted(_marked(moved, known, target), source, target, side)
    _check_names(fitted, source.name)
    check_mask_sizes(fitted, image_size, source.name)
    for one in (source,) if truth is None else (source, truth):
        check_image_sizes(one, image_size)
    unmarked = moved.take_frames((moved.frame_flags & FrameFlag.DONT_CARE) != 0)
    written = None
    if truth is not None and known is not None:
        written, _ = _fitted(known, truth, target, Side.TRUTH)
    sizes = sizes_of_images(fitted, source if truth is None else truth, image_size)
    options = WriteOptions(written, sizes, unmarked, _own_numbering(source, truth, target))
    faults = _frame_faults(source, moved, fitted, target)
    try:
        remarks = (*remarks, *losses, *target.writer.remarks(fitted, side, options))
        files = target.writer.write(fitted, side, options)
        if not files:
            expected = f"a frame or an object that {target.name} has a file for"
            raise InputError([Fault("nothing left to write", expected)])
    except InputError as error:
        named = [replace(fault, source=fault.source or source.name) for fault in error.faults]
        raise type(error)([*faults, *named]) from None
    if faults:
        raise InputError(faults)
    return Conversion(files, target.writer.folder, remarks)


def _fitted(
    annotations: Annotations, source: Source, target: Format, side: Side
) -> tuple[Annotations, tuple[str, ...]]:
    """`fit` for a side; an error names its file and the formats that can represent it."""
    try:
        fitted, losses = fit(annotations, target.writer.capacity[side])
    except GeometryError as error:
        arity = source.annotations.arity
        names = [
            name for name, one in FORMATS.items() if arity in one.writer.capacity[side].arities
        ]
        advice = f"formats that hold {ARITIES[arity]}: {', '.join(names)}"
        named = [replace(fault, source=source.name, advice=advice) for fault in error.faults]
        raise GeometryError(named) from None
    if side is Side.TRUTH and (annotations.confidences != 1.0).any():
        losses = (*losses, _ONLY_OF_DETECTIONS)
    own = source.numbering
    if own is not None and own.of_truth and source.format != target.name:
        losses = (*losses, _ONLY_NUMBERS)
    return fitted, losses


def _frame_faults(
    source: Source, moved: Annotations, fitted: Annotations, target: Format
) -> list[Fault]:
    """The fault of frames whose numbers are too low for a format, if there are any."""
    least = target.writer.least_frame
    count = int((fitted.frame_numbers < least).sum())
    if not count:
        return []
    row = int(np.flatnonzero(moved.frame_numbers < least)[0])  # also a row of the source
    which = source.annotations.frame_name(row)
    found = which if count == 1 else f"{count} frames below {least}, the first of them {which}"
    expected = f"frame numbers from {least} on, as {target.name} counts"
    lift = least - int(fitted.frame_numbers.min())
    advice = f"add {lift} to all frame numbers, in the files of the other side too"
    return [source.locate(Fault(found, expected, entry=row, advice=advice))]


def _check_names(annotations: Annotations, source: str) -> None:
    """Refuse names that would break their rows; arrays or streams may have such names."""
    names = {
        "class": used_labels(annotations),
        "sequence": [name for key in annotations.sequences for name in key],
    }
    faults = [
        Fault(show_text(name), EXPECTED_STRING, source=source, field=field)
        for field, values in names.items()
        for name in dict.fromkeys(values)
        if parse_string(name) != name
    ]
    if faults:
        raise InputError(faults)


def _own_numbering(source: Source, truth: Source | None, target: Format) -> Numbering | None:
    """The numbers in the files of a truth; if these have another format, only of its classes."""
    owner = source if truth is None else truth
    if owner.numbering is None or owner.format == target.name:
        return owner.numbering
    return Numbering(labels=owner.numbering.labels)


def _marked(detections: Annotations, truth: Annotations | None, target: Format) -> Annotations:
    """Mark detections of don't-care frames as such, if the truth is written without these."""
    if truth is None or target.writer.capacity[Side.TRUTH].dont_care_frames:
        return detections
    dropped = set(frame_keys(truth.take_frames((truth.frame_flags & FrameFlag.DONT_CARE) != 0)))
    if not dropped:
        return detections
    marked = np.array([key in dropped for key in frame_keys(detections)], dtype=np.bool_)
    flags = detections.frame_flags | np.where(marked, FrameFlag.DONT_CARE, 0).astype(np.uint8)
    return replace(detections, frame_flags=flags)


def _moved(source: Source, target: Format) -> tuple[Annotations, tuple[str, ...]]:
    """Number frames and pixels as in the target format."""
    annotations, remarks = source.annotations, []
    origin = None if source.format is None else FORMATS[source.format]
    frames = _difference(origin.first_frame if origin else None, target.first_frame)
    if frames and annotations.frame_count:
        numbers = annotations.frame_numbers + frames
        if numbers.min() < 0:
            expected = f"frames from {-frames} on, as {source.format} counts them"
            row = int(numbers.argmin())
            fault = Fault(annotations.frame_name(row), expected, entry=row)
            raise InputError([source.locate(fault)])
        annotations = replace(annotations, frame_numbers=numbers)
        remarks.append(f"frame numbers changed by {frames:+d}")
    pixels = _difference(origin.first_pixel if origin else None, target.first_pixel)
    if pixels and annotations.object_count:
        annotations = replace(annotations, coordinates=annotations.coordinates + pixels)
        remarks.append(f"coordinates changed by {pixels:+d}, for where the first pixel is")
    return annotations, tuple(remarks)


def _difference(here: int | None, there: int | None) -> int:
    return 0 if here is None or there is None else there - here


# --- capacity --------------------------------------------------------------------------------


class _Fitting(Struct):
    """Annotations that are being fitted to a capacity, and the losses so far."""

    annotations: Annotations
    losses: list[str] = field(default_factory=list)

    def lose(self, count: int, noun: str, what: str, plural: str = "") -> None:
        """Record a number of losses, if any."""
        if count:
            self.losses.append(f"{counted(count, noun, plural)} {what}")


def fit(annotations: Annotations, capacity: Capacity) -> tuple[Annotations, tuple[str, ...]]:
    """Drop what a format cannot represent.

    Args:
        annotations: The annotations.
        capacity: What the format can represent.

    Returns:
        The rest, sorted by sequence and frame, and a sentence for each kind of loss.

    Raises:
        GeometryError: If the format cannot represent the shape at all.
    """
    fitting = _Fitting(annotations)
    _fit_shapes(fitting, capacity)
    _fit_frames(fitting, capacity)
    _fit_flags(fitting, capacity)
    _mark_classes(fitting, capacity)
    _fit_columns(fitting, capacity)
    if not capacity.domains:
        _join_domains(fitting)
    if not capacity.empty_frames:
        kept = fitting.annotations
        empty = kept.object_counts == 0
        fitting.lose(int(empty.sum()), "frame", "without objects not listed")
        fitting.annotations = kept.take_frames(~empty)
    return in_order(fitting.annotations), tuple(fitting.losses)


def _fit_shapes(fitting: _Fitting, capacity: Capacity) -> None:
    side = fitting.annotations
    if side.masks is not None and not capacity.masks:
        fitting.lose(side.object_count, "mask", "not written")
        fitting.annotations = side = replace(side, masks=None)
    if not side.object_count and side.arity not in capacity.arities:
        fitting.annotations = with_arity(side, capacity.arities[0])  # has no shape
        return
    if side.arity in capacity.arities:
        if side.arity == BOX and capacity.columns is not None:
            # Benchmarks have boxes from left and top, most with a width and height.
            fitting.annotations = replace(side, coordinates=bounding_boxes(side.coordinates))
        return
    if side.arity == BOX and QUADRILATERAL in capacity.arities:
        fitting.annotations = replace(side, coordinates=outlines_of(side.coordinates))
        return
    if side.arity == POINT or BOX not in capacity.arities:
        expected = " or ".join(ARITIES[arity] for arity in capacity.arities)
        found = f"{counted(side.object_count, 'object')} as {ARITIES[side.arity]}"
        raise GeometryError([Fault(found, expected)])
    boxes = bounding_boxes(side.coordinates)
    corners = corners_of_boxes(boxes)
    changed = int((np.sort(corners, axis=1) != np.sort(side.coordinates, axis=1)).any(axis=1).sum())
    fitting.lose(changed, "object", "with four corners became the box around them")
    fitting.annotations = replace(side, coordinates=boxes)


def _fit_frames(fitting: _Fitting, capacity: Capacity) -> None:
    side = fitting.annotations
    marked = (side.frame_flags & FrameFlag.DONT_CARE) != 0
    if not capacity.dont_care_frames and marked.any():
        fitting.lose(int(marked.sum()), "don't-care frame", "left out")
        fitting.annotations = side = side.take_frames(~marked)
    if not capacity.times and side.frame_times_s is not None:
        known = int((~np.isnan(side.frame_times_s)).sum())
        fitting.lose(known, "time of a frame", "not written", "times of frames")
        fitting.annotations = side = replace(side, frame_times_s=None)
    if not capacity.arrivals and side.frame_arrivals_s is not None:
        known = int((~np.isnan(side.frame_arrivals_s)).sum())
        fitting.lose(known, "arrival of an answer", "not written", "arrivals of answers")
        fitting.annotations = replace(side, frame_arrivals_s=None)


def _fit_flags(fitting: _Fitting, capacity: Capacity) -> None:
    for flag in ObjectFlag:
        side = fitting.annotations
        marked = (side.flags & flag) != 0
        if not capacity.flags & flag and marked.any():
            name = str(flag.name).lower()
            fitting.lose(int(marked.sum()), "object", f"flagged {name} left out")
            fitting.annotations = side.take_objects(~marked)


def _mark_classes(fitting: _Fitting, capacity: Capacity) -> None:
    """Flag objects of a class that the format flags as a whole."""
    for label, flag in capacity.marks.items():
        side = fitting.annotations
        named = np.array([one.casefold() == label for one in side.labels], dtype=np.bool_)
        changed = named[side.label_indices] & ((side.flags & flag) == 0)
        what = f"of the class {label} flagged {str(flag.name).lower()}, as all are in the format"
        fitting.lose(int(changed.sum()), "object", what)
        flags = side.flags | np.where(changed, flag, 0).astype(np.uint8)
        fitting.annotations = replace(side, flags=flags)


def _fit_columns(fitting: _Fitting, capacity: Capacity) -> None:
    side, count = fitting.annotations, fitting.annotations.object_count
    used = used_labels(side)
    if not capacity.classes and len(used) > 1:
        fitting.losses.append(f"{len(used)} classes became one")
    if not capacity.confidences:
        unsure = int((side.confidences != 1.0).sum())
        fitting.lose(unsure, "confidence", "not written")
        fitting.annotations = side = replace(side, confidences=np.ones(count))
    if not capacity.tracks:
        tracked = int((side.track_ids != NO_TRACK).sum())
        fitting.lose(tracked, "track id", "not written")
        fitting.annotations = side = replace(side, track_ids=np.full(count, NO_TRACK))
    kept = capacity.columns
    if kept is not None:
        # A column that a box's corners give, except for rounding, is no loss.
        for name in sorted(set(side.columns) - kept - {BOX_AREA}):
            known = int((~np.isnan(side.columns[name])).sum())
            fitting.lose(known, "value", f"of the column {name} not written")
        columns = {name: column for name, column in side.columns.items() if name in kept}
        fitting.annotations = replace(side, columns=columns)


def _join_domains(fitting: _Fitting) -> None:
    """Make domains part of the names of their sequences."""
    side = fitting.annotations
    joined = tuple(SequenceKey("", "-".join(filter(None, key))) for key in side.sequences)
    if joined == side.sequences:
        return
    if len(set(joined)) < len(joined):
        expected = "names that differ when domain and sequence are joined by -"
        raise InputError([Fault("sequences of one name", expected)])
    fitting.losses.append("domains became part of the names of sequences")
    fitting.annotations = replace(side, sequences=joined)
