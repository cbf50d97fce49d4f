"""Warnings about input that was just read, before it is scored, and its contents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import NO_TRACK, POINT, QUADRILATERAL, Annotations, Side
from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IntArray,
    begin_runs,
    run_starts,
)
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.plausibility.sample_warnings import LEAST_FRACTIONS
from vidscore_evaluators.plausibility.summary import input_summary_of
from vidscore_evaluators.plausibility.warnings import (
    FRAMES_NOT_EVALUATED,
    NO_OBJECTS,
    input_warnings,
    side_warnings,
    with_names,
)
from vidscore_evaluators.plausibility.wording import SIDE_NAMES, place_name
from vidscore_evaluators.quadrilaterals import outline_areas, outlines_of
from vidscore_evaluators.report import FrameExample, ReportWarning
from vidscore_evaluators.shapes import sides_cross
from vidscore_evaluators.specification import BenchmarkSpec


def warnings_of_side(
    side: Side, annotations: Annotations, *, ranked: bool | None = None
) -> tuple[ReportWarning, ...]:
    """Warnings about one side by itself.

    Args:
        side: The side.
        annotations: The annotations that were read.
        ranked: Whether scores depend on the order of confidences; None if unknown.
    """
    if ranked is None:
        ranked = expects_confidences(annotations)
    nothing = annotations.take_objects(np.zeros(annotations.object_count, dtype=np.bool_))
    sides = (annotations, nothing) if side is Side.TRUTH else (nothing, annotations)
    input_summary = input_summary_of(align(*sides), BenchmarkSpec())
    return (
        *_fractions(side, annotations),
        *side_warnings(input_summary, ranked=ranked),
        *(truth_warnings(annotations) if side is Side.TRUTH else ()),
    )


def _fractions(side: Side, annotations: Annotations) -> Iterator[ReportWarning]:
    """Coordinates that may be fractions of the image, as far as one side shows.

    With both sides, overlaps decide; a report therefore has no such warning.
    """
    coordinates = annotations.coordinates
    within = (coordinates >= 0) & (coordinates <= 1)
    if annotations.object_count >= LEAST_FRACTIONS and within.all():
        yield ReportWarning(
            "reads_as_shares_of_the_image",
            f"coordinates of {SIDE_NAMES[side]} all lie between 0 and 1, like shares of the image; "
            "give pixels, unless the other side is not in pixels either",
            annotations.object_count,
        )


def warnings_of_pair(
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec = BenchmarkSpec(),
    labels: LabelUse = LabelUse.EXACT,
    *,
    ranked: bool | None = None,
    tracked: bool = False,
) -> tuple[ReportWarning, ...]:
    """Warnings about both sides, as a report over them would have them.

    Args:
        truth: The ground truth, restricted to evaluated frames.
        detections: The detections.
        specification: States image sizes.
        labels: The evaluator's use of labels.
        ranked: Whether confidences rank detections; if unknown, whether they seem to.
        tracked: Whether scores depend on track ids.
    """
    if ranked is None:
        ranked = expects_confidences(detections)
    return input_warnings(
        input_summary_of(align(truth, detections), specification),
        labels,
        ranked=ranked,
        tracked=tracked,
    )


def warnings_of_frames(truth: Annotations, detections: Annotations) -> tuple[ReportWarning, ...]:
    """A warning about detections in frames that the truth does not list, if there are any.

    Args:
        truth: The ground truth, without a specification that lists the evaluated frames.
        detections: The detections; those of other sequences are left to other checks.
    """
    known = set(truth.used_sequences)
    own = np.array([key in known for key in detections.sequences], dtype=np.bool_)
    aligned = align(truth, detections.take_frames(own[detections.frame_sequences]))
    elsewhere = int(aligned.detections.object_counts[~aligned.listed].sum())
    if not elsewhere:
        return ()
    found = [ReportWarning("frames_not_evaluated", FRAMES_NOT_EVALUATED, elsewhere)]
    input_summary = input_summary_of(aligned, BenchmarkSpec())
    return with_names(found, input_summary, LabelUse.EXACT, lambda _domain: None)


def expects_confidences(detections: Annotations) -> bool:
    """Whether confidences are expected: trackers and detectors of points rarely have any."""
    return detections.arity != POINT and bool((detections.track_ids == NO_TRACK).all())


_MESSAGES = {
    "same_box_twice": (
        "objects have the box and the label of another one in their frame",
        "remove the duplicates",
    ),
    "boxes_without_area": (
        "boxes have no area, so that nothing can match them",
        "correct or remove them",
    ),
    "sides_cross": (
        "sides of four corners cross, so that their convex hull is taken",
        "give the corners in order along the outline",
    ),
    "tracks_jump": (
        "steps of tracks are more than ten times the usual, and far beyond the object's size",
        "check that a track id is not used for two objects",
    ),
}
"""By code: the oddity, and advice."""

_JUMP_OF_USUAL = 10.0
"""A jump is this many times the median movement of objects per frame, and the third quartile of the
object's own: a ball is often faster than its players."""

_JUMP_OF_SIZE = 3.0
"""And this many times the diagonal of the object itself."""


def truth_warnings(truth: Annotations) -> Iterator[ReportWarning]:
    """Warn of oddities in ground truth.

    Args:
        truth: The ground truth, as read.
    """
    if not truth.object_count:
        yield NO_OBJECTS
    yield from _warning(truth, "same_box_twice", _repeated(truth))
    if truth.arity != POINT:
        areas = outline_areas(outlines_of(truth.coordinates))
        yield from _warning(truth, "boxes_without_area", areas == 0.0)
        if truth.arity == QUADRILATERAL:
            yield from _warning(truth, "sides_cross", sides_cross(truth.coordinates))
        yield from _warning(truth, "tracks_jump", _jumping(truth))


def _warning(annotations: Annotations, code: str, found: BoolArray) -> Iterator[ReportWarning]:
    """The warning, if anything was found; its example is the first in order of names."""
    rows = np.flatnonzero(found)
    if len(rows) == 0:
        return
    frames = annotations.object_frames[rows]
    sequences = [annotations.sequences[row] for row in annotations.frame_sequences[frames].tolist()]
    keys = zip(sequences, annotations.frame_numbers[frames].tolist(), strict=True)
    example = FrameExample(Side.TRUTH, *min(keys))
    what, advice = _MESSAGES[code]
    message = f"{what}, the first of them in {place_name(example)}; {advice}"
    yield ReportWarning(code, message, len(rows), example)


def _repeated(truth: Annotations) -> BoolArray:
    """(N,) whether an object repeats another one of its frame."""
    masks = () if truth.masks is None else (truth.masks.digests(),)
    columns = (*truth.coordinates.T, *masks, truth.label_indices, truth.flags, truth.object_frames)
    order = np.lexsort(columns)
    repeated = np.ones(truth.object_count, dtype=np.bool_)
    repeated[order[run_starts(*(column[order] for column in columns))]] = False
    return repeated


def _jumping(truth: Annotations) -> BoolArray:
    """(N,) whether an object is unusually far from where its track was before."""
    rows = np.flatnonzero(truth.track_ids != NO_TRACK)
    frames = truth.object_frames[rows]
    sequences, numbers = truth.frame_sequences[frames], truth.frame_numbers[frames]
    order = np.lexsort((numbers, truth.track_ids[rows], sequences))
    rows, sequences, numbers = rows[order], sequences[order], numbers[order]
    boxes = bounding_boxes(truth.coordinates[rows])
    centres, sizes = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    begins = begin_runs(sequences, truth.track_ids[rows])
    same = ~begins[1:]
    tracks = np.cumsum(begins, dtype=np.int64)[1:]
    gaps = np.maximum(1, np.diff(numbers))
    steps = np.hypot(*np.diff(centres, axis=0).T) / gaps
    jumping = np.zeros(truth.object_count, dtype=np.bool_)
    if same.any():
        usual = np.full(len(steps), np.median(steps[same]))
        usual[same] = np.maximum(usual[same], _third_quartiles(steps[same], tracks[same]))
        far = np.maximum(
            _JUMP_OF_USUAL * usual,
            _JUMP_OF_SIZE * np.hypot(*np.maximum(sizes[1:], sizes[:-1]).T),
        )
        ends: IntArray = rows[1:][same & (steps > far)]
        jumping[ends] = True
    return jumping


def _third_quartiles(steps: FloatArray, tracks: IntArray) -> FloatArray:
    """(K,) third quartile of the steps of each one's track, rounded down; 0 for a single step.

    Args:
        steps: (K,) lengths of steps.
        tracks: (K,) track of each, ascending.
    """
    ordered = steps[np.lexsort((steps, tracks))]
    first = run_starts(tracks)
    counts = np.diff(np.append(first, len(tracks)))
    quartiles = np.where(counts > 1, ordered[first + 3 * (counts - 1) // 4], 0.0)
    of_steps: FloatArray = quartiles.repeat(counts)
    return of_steps


class Spread(NamedTuple):
    """Minimum, median and maximum of some numbers."""

    least: float
    median: float
    greatest: float


class Contents(Struct, frozen=True):
    """The contents of one side.

    Attributes:
        labels: Objects by label, the most frequent first.
        width_px: Widths of boxes, or None.
        height_px: Heights of boxes, or None.
        tracks: Number of tracks.
        track_frames: Frames of each track; None without tracks.
        empty_frames: Number of listed frames without objects.
    """

    labels: dict[str, int]
    width_px: Spread | None
    height_px: Spread | None
    tracks: int
    track_frames: Spread | None
    empty_frames: int


def contents_of(annotations: Annotations) -> Contents:
    """Count the contents of a side."""
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
