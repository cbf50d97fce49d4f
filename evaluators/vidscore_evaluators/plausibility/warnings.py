"""Warnings out of an input summary, each with an example, a count and an advice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from vidscore_evaluators.annotations import ARITIES, BOX, POINT, Annotations, SequenceKey, Side
from vidscore_evaluators.plausibility._readings import Finding, judge_sample
from vidscore_evaluators.plausibility.labels import LabelUse, label_warnings, names_of, shown
from vidscore_evaluators.plausibility.masks import BESIDE, MASK_DOUBTS
from vidscore_evaluators.plausibility.sample import SAMPLE, block_sequence
from vidscore_evaluators.plausibility.summary import (
    COLUMNS,
    CONFIDENCES,
    EXAMPLES,
    LABELS,
    SIDES,
    Example,
    ImageSizes,
    beyond_image,
    example_name,
    known_column,
    size_columns,
    sizes_of_objects,
)
from vidscore_evaluators.report import FrameExample, ReportWarning
from vidscore_evaluators.tally import Table

InputSummary = Mapping[str, Table]

ScoredClasses = Callable[[str], Sequence[str] | None]
"""Classes that are scored in a domain; None where every label is."""

MANY_ROWS = 3
"""Boxes that may be odd without a warning."""

_BEYOND_SHARE = 0.01
_BESIDE_SHARE = 0.01
_LEAST_EQUAL = 3

_MANY_FRAMES = 100
_ANSWERED_SHARE = 0.05
"""From so many frames with objects on, detections in fewer of them look like those of a part."""

_WHOSE = {Side.TRUTH: "objects of the ground truth", Side.DETECTIONS: "detections"}
SIDE_NAMES = {Side.TRUTH: "the ground truth", Side.DETECTIONS: "the detections"}

_FORMAT = "check the format of the boxes, and convert them"

_READINGS = {
    "reads_as_sizes": ("read as x, y, width, height and not two corners", _FORMAT),
    "reads_as_centres": ("read as centre x, centre y, width, height and not two corners", _FORMAT),
    "reads_as_corners": ("read as two corners and not x, y, width, height", _FORMAT),
    "reads_corner_as_centre": ("with the place of their first corner as their centre", _FORMAT),
    "reads_centre_as_corner": ("with the place of their centre as their first corner", _FORMAT),
    "reads_rows_first": ("read as y before x", _FORMAT),
    "reads_pairs_first": ("read as x1, x2, y1, y2 and not x1, y1, x2, y2", _FORMAT),
    "reads_as_shares_of_the_image": (
        "with {scale}",
        "they look like shares of the image, from 0 to 1: give pixels",
    ),
    "reads_at_another_scale": (
        "with {scale}",
        "give the coordinates of both sides in pixels of the same image",
    ),
    "reads_one_frame_earlier": (
        "one frame earlier",
        "check the frame numbers, and take 1 from those of the detections",
    ),
    "reads_one_frame_later": (
        "one frame later",
        "check the frame numbers, and add 1 to those of the detections",
    ),
    "reads_sides_exchanged": (
        "as detections, and the detections as the ground truth",
        "check that ground truth and detections are not swapped",
    ),
    "nothing_overlaps": (
        "the ground truth of other frames as well as that of their own",
        "check that both sides are of the same videos, and the format of the boxes",
    ),
}
"""By code: how the boxes of a side would fit, and what to do."""

_MASKS = {
    "masks_are_empty": (
        "masks of {side} have no pixel, so that nothing can match them",
        "correct or remove them",
    ),
    "masks_fill_the_image": (
        "masks of {side} have every pixel of their image",
        "check that 0s and 1s are not exchanged: runs begin with those of 0s",
    ),
    "boxes_beside_masks": (
        "boxes of {side} and the masks that come with them hardly overlap",
        "check the order of pixels: runs go down the columns, and a size is height, width",
    ),
}
"""By code: what is odd about the masks of a side, and what to do."""

_BY_FRAME = frozenset({"frames_not_evaluated", "unevaluated_detections"})
_BY_LABEL = {
    "classes_not_scored": Side.DETECTIONS,
    "unlisted_detections": Side.DETECTIONS,
    "unlisted_objects": Side.TRUTH,
}


def input_warnings(
    input_summary: InputSummary, labels: LabelUse, *, ranked: bool
) -> tuple[ReportWarning, ...]:
    """Warnings about both sides; pure.

    Args:
        input_summary: What was counted; an empty mapping gives no warnings.
        labels: What labels are to the evaluator.
        ranked: Whether scores depend on the order of confidences.
    """
    if not input_summary:
        return ()
    return (
        *_missing(input_summary),
        *label_warnings(input_summary[LABELS], labels),
        *_reading(input_summary),
        *side_warnings(input_summary, ranked=ranked),
    )


def side_warnings(input_summary: InputSummary, *, ranked: bool) -> Iterator[ReportWarning]:
    """Warnings about one side or the other alone."""
    yield from _confidences(input_summary, ranked=ranked)
    for side in Side:
        yield from _corners(input_summary, side)
        yield from _beyond_image(input_summary, side)
        yield from _columns(input_summary, side)
        yield from _masks(input_summary, side)


def with_names(
    warnings: Sequence[ReportWarning],
    input_summary: InputSummary,
    labels: LabelUse,
    scored: ScoredClasses,
) -> tuple[ReportWarning, ...]:
    """Warnings of an evaluator that have a count, with the first frame or the labels concerned."""
    if not input_summary:
        return tuple(warnings)
    return tuple(_with_name(warning, input_summary, labels, scored) for warning in warnings)


def _with_name(
    warning: ReportWarning, input_summary: InputSummary, labels: LabelUse, scored: ScoredClasses
) -> ReportWarning:
    if warning.code in _BY_FRAME:
        example = _example(input_summary, Side.DETECTIONS, Example.UNLISTED)
        if example is None:
            return warning
        advice = "check that frames of both sides are numbered from the same first frame"
        message = f"{warning.message}, the first of them in {place_name(example)}; {advice}"
        return replace(warning, message=message, example=example)
    if warning.code in _BY_LABEL:

        def is_other(domain: str, label: str) -> bool:
            classes = scored(domain)
            if classes is None:
                return False
            if labels is LabelUse.LISTED:
                return label.casefold() not in {name.casefold() for name in classes}
            return label not in classes

        counts = names_of(input_summary[LABELS], _BY_LABEL[warning.code], is_other, labels)
        if counts:
            return replace(warning, message=f"{warning.message}: {shown(counts)}")
    return warning


def _missing(input_summary: InputSummary) -> Iterator[ReportWarning]:
    counts = {side: _count(input_summary, side, "objects") for side in Side}
    if counts[Side.TRUTH] and not counts[Side.DETECTIONS]:
        yield ReportWarning(
            "no_detections",
            "objects are in the ground truth and no detections at all; "
            "check that the right file was given",
            counts[Side.TRUTH],
        )
    frames = {side: _count(input_summary, side, "frames") for side in Side}
    wanted, answered = frames[Side.TRUTH], frames[Side.DETECTIONS]
    if wanted >= _MANY_FRAMES and 0 < answered < _ANSWERED_SHARE * wanted:
        yield ReportWarning(
            "frames_without_detections",
            f"of {wanted:,} frames with objects have no detection, and all their objects count "
            "as missed; check that the detections are complete, or choose the frames that they "
            "are of",
            wanted - answered,
        )


def _confidences(input_summary: InputSummary, *, ranked: bool) -> Iterator[ReportWarning]:
    table = input_summary[CONFIDENCES]
    values: dict[str, list[float]] = {side.value: [] for side in Side}
    for side, value in zip(table.texts("side"), table.number("confidence").tolist(), strict=True):
        values[side].append(value)
    graded = any(value != 1.0 for value in values[Side.TRUTH])
    detections = _count(input_summary, Side.DETECTIONS, "objects")
    equal = len(values[Side.DETECTIONS]) == 1 and detections >= _LEAST_EQUAL
    if graded and equal:
        yield ReportWarning(
            "sides_swapped",
            "objects of the ground truth have confidences, and the detections have none; "
            "check that ground truth and detections are not swapped",
            _count(input_summary, Side.TRUTH, "objects"),
        )
    elif graded:
        yield ReportWarning(
            "truth_with_confidences",
            "objects of the ground truth have confidences, as detections have; "
            "check that it is the ground truth, and leave its confidences out",
            _count(input_summary, Side.TRUTH, "objects"),
        )
    elif equal and ranked:
        yield ReportWarning(
            "equal_confidences",
            f"detections all have the confidence {values[Side.DETECTIONS][0]:g}, but the scores "
            "depend on the order of confidences; check that the file has them, in a column that "
            "is called confidence, and that it is not the ground truth",
            detections,
        )


def _corners(input_summary: InputSummary, side: Side) -> Iterator[ReportWarning]:
    count = _count(input_summary, side, "swapped")
    example = _example(input_summary, side, Example.SWAPPED)
    if count > MANY_ROWS and example is not None:
        yield ReportWarning(
            "swapped_corners",
            f"{_WHOSE[side]} have x2 < x1 or y2 < y1, the first of them in {place_name(example)}; "
            "if the boxes are x, y, width, height, convert them to two corners",
            count,
            example,
        )


def _beyond_image(input_summary: InputSummary, side: Side) -> Iterator[ReportWarning]:
    count, sized = (_count(input_summary, side, name) for name in ("beyond_image", "sized"))
    example = _example(input_summary, side, Example.BEYOND_IMAGE)
    if example is not None:
        yield from beyond_image_warnings(side, count, sized, example)


def beyond_image_warnings(
    side: Side, count: int, sized: int, example: FrameExample
) -> Iterator[ReportWarning]:
    """A warning where more than a few of the objects in images of known size are beyond them."""
    if count >= MANY_ROWS and count > _BEYOND_SHARE * sized:
        yield ReportWarning(
            "beyond_image",
            f"{_WHOSE[side]} are larger than the image or have their centre beyond it, the first "
            f"of them in {place_name(example)}; check the order and the unit of the coordinates, "
            "and the size of the image",
            count,
            example,
        )


def warnings_of_positions(
    side: Side, annotations: Annotations, sizes: ImageSizes
) -> Iterator[ReportWarning]:
    """Warn of objects beyond their image, where the files say how large images are.

    Args:
        side: The side.
        annotations: What was read of it.
        sizes: Width and height of the largest image of each sequence.
    """
    found = count_beyond_image(side, annotations, sizes)
    if found is not None:
        yield from beyond_image_warnings(side, *found)


def count_beyond_image(
    side: Side, annotations: Annotations, sizes: ImageSizes
) -> tuple[int, int, FrameExample] | None:
    """Objects beyond their image, those in images of known size, and the first one's frame.

    Args:
        side: The side.
        annotations: What was read of it.
        sizes: Width and height of the largest image of each sequence.

    Returns:
        None where no size is known, or there is no object.
    """
    if not sizes or not annotations.object_count:
        return None
    of_objects = sizes_of_objects(annotations, sizes)
    beyond = beyond_image(annotations.coordinates, of_objects)
    frame = int(annotations.object_frames[int(beyond.argmax())])
    sequence = annotations.sequences[annotations.frame_sequences[frame]]
    example = FrameExample(side, sequence, int(annotations.frame_numbers[frame]))
    return int(beyond.sum()), int(np.isfinite(of_objects[:, 0]).sum()), example


def bounding_box_warnings(input_summary: InputSummary) -> Iterator[ReportWarning]:
    """A warning where four corners were compared as the upright boxes around them."""
    if not input_summary:
        return
    counts = {side: _count(input_summary, side, Example.ROTATED) for side in Side}
    found = (_example(input_summary, side, Example.ROTATED) for side in Side if counts[side])
    example = next(filter(None, found), None)
    if example is not None:
        yield ReportWarning(
            "bounding_boxes_compared",
            "objects and detections with four corners are compared by the upright boxes around "
            f"them, which are larger, the first of them in {place_name(example)}; base=polygon "
            "compares what the corners enclose",
            sum(counts.values()),
            example,
        )


def _columns(input_summary: InputSummary, side: Side) -> Iterator[ReportWarning]:
    table = input_summary[COLUMNS]
    entries = zip(table.texts("side"), table.texts("column"), table.count("objects"), strict=True)
    counts = {name: int(count) for of_side, name, count in entries if of_side == side.value}
    sizes = size_columns(counts) if _arities(input_summary, side) == [POINT] else ()
    if sizes:
        yield ReportWarning(
            "boxes_read_as_points",
            f"{_WHOSE[side]} are read as points, but there are columns {' and '.join(sizes)}; give "
            "boxes as x1, y1, x2, y2",
            counts[sizes[0]],
        )
    for name, count in counts.items():
        if name not in sizes:
            yield ReportWarning(
                "unused_column",
                f"values in the column {name} of {SIDE_NAMES[side]} are not used; if they are "
                f"{known_column(name)}, call the column so",
                count,
            )


def _masks(input_summary: InputSummary, side: Side) -> Iterator[ReportWarning]:
    objects = _count(input_summary, side, "objects")
    for code in MASK_DOUBTS:
        example = _example(input_summary, side, Example(code))
        count = _count(input_summary, side, code)
        # Outlines thinner than a pixel have few pixels: a few such masks say nothing of the rest.
        if example is not None and (code != BESIDE or count > _BESIDE_SHARE * objects):
            what, advice = _MASKS[code]
            message = f"{what.format(side=SIDE_NAMES[side])}, the first of them in "
            message += f"{place_name(example)}; {advice}"
            yield ReportWarning(code, message, count, example)


def _reading(input_summary: InputSummary) -> Iterator[ReportWarning]:
    arities = {side: _arities(input_summary, side) for side in Side}
    if any(len(found) != 1 for found in arities.values()):
        return
    truth, detections = (arities[side][0] for side in Side)
    if (truth == POINT) != (detections == POINT) or {truth, detections} - ARITIES.keys():
        return
    table = input_summary[SAMPLE]
    finding = judge_sample(
        table.codes("block").tobytes(),
        np.ascontiguousarray(table.numbers).tobytes(),
        points=truth == POINT,
        plain=(truth == BOX, detections == BOX),
    )
    if finding is not None:
        sequence = block_sequence(table.vocabulary[finding.block])
        example = FrameExample(finding.side, sequence, finding.frame)
        how, advice = _READINGS[finding.code]
        message = f"{_fitting(finding, how)}, for example in {place_name(example)}; {advice}"
        count = _count(input_summary, finding.side, "objects")
        yield ReportWarning(finding.code, message, count, example)


def _fitting(finding: Finding, how: str) -> str:
    frames = "1 frame" if finding.frame_count == 1 else f"{finding.frame_count} frames"
    side, now = _WHOSE[finding.side], f"{finding.now:.2f}"
    if finding.then <= finding.now:
        return f"{side} fit {how} (mean best overlap {now}, estimated from {frames})"
    if finding.scale is not None:
        factors = (finding.scale.across, finding.scale.down)
        how = how.format(scale="x times about {:.3g} and y times {:.3g}".format(*factors))
    gain = f"mean best overlap {finding.then:.2f} for {now}, estimated from {frames}"
    return f"{side} fit better {how} ({gain})"


def place_name(example: FrameExample) -> str:
    """``frame 7 of sequence Tower/001``."""
    name = "/".join(filter(None, example.sequence))
    return f"frame {example.frame} of sequence {name}" if name else f"frame {example.frame}"


def _count(input_summary: InputSummary, side: Side, name: str) -> int:
    table = input_summary[SIDES]
    rows = [row for row, found in enumerate(table.texts("side")) if found == side.value]
    return int(table.count(name)[rows].sum())


def _arities(input_summary: InputSummary, side: Side) -> list[int]:
    table = input_summary[SIDES]
    entries = zip(table.texts("side"), table.number("arity").tolist(), strict=True)
    return [int(arity) for found, arity in entries if found == side.value]


def _example(input_summary: InputSummary, side: Side, example: Example) -> FrameExample | None:
    table, name = input_summary[EXAMPLES], example_name(side, example)
    for row, found in enumerate(table.texts("example")):
        if found == name:
            key = SequenceKey(table.texts("domain")[row], table.texts("sequence")[row])
            return FrameExample(side, key, int(table.number("frame")[row]))
    return None
