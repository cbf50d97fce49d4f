"""Warnings from an input summary, each with an example, a count and advice."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from msgspec import Struct

from vidscore_evaluators.annotations import BOX_AREA, POINT, SequenceKey, Side
from vidscore_evaluators.plausibility.image_sizes import MANY_ROWS, beyond_image_warnings
from vidscore_evaluators.plausibility.labels import LabelUse, label_warnings, names_of, shown
from vidscore_evaluators.plausibility.sample_warnings import sample_warnings
from vidscore_evaluators.plausibility.summary import (
    BESIDE,
    COLUMNS,
    CONFIDENCE,
    CONFIDENCES,
    CORNERS,
    EXAMPLES,
    LABEL,
    LABELS,
    MASK_DOUBTS,
    SIDES,
    Example,
    example_name,
    flag_of_column,
    known_column,
    size_columns,
)
from vidscore_evaluators.plausibility.unanswered import are_hardly_any, unanswered_warning
from vidscore_evaluators.plausibility.wording import SIDE_NAMES, WHOSE, place_name
from vidscore_evaluators.report import FrameExample, ReportWarning
from vidscore_evaluators.tally import Table

InputSummary = Mapping[str, Table]

ScoredClasses = Callable[[str], Sequence[str] | None]
"""Classes that are scored in a domain; None if every label is."""

_BESIDE_FRACTION = 0.01
_LEAST_EQUAL = 3
_LEAST_BY_AXIS = 10

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
"""By code: the oddity in the masks of a side, and advice."""

NO_OBJECTS = ReportWarning(
    "no_objects",
    "ground truth has no object in any evaluated frame, so that nothing can be missed; "
    "check that the right file was given, and which frames are evaluated",
)

FRAMES_NOT_EVALUATED = "detections lie in frames that are not evaluated"
"""Message of a warning that evaluators count themselves, before an example is added."""

_FRAMES_ADVICE = (
    "check that both sides are numbered from the same first frame, and that the ground truth lists "
    "frames without objects, too"
)

_BY_FRAME = frozenset({"frames_not_evaluated", "unevaluated_detections"})
_BY_LABEL = {
    "classes_not_scored": Side.DETECTIONS,
    "unlisted_detections": Side.DETECTIONS,
    "unlisted_objects": Side.TRUTH,
}


def input_warnings(
    input_summary: InputSummary, labels: LabelUse, *, ranked: bool, tracked: bool
) -> tuple[ReportWarning, ...]:
    """Warnings about both sides; pure.

    Args:
        input_summary: The counts; an empty mapping gives no warnings.
        labels: The evaluator's use of labels.
        ranked: Whether scores depend on the order of confidences.
        tracked: Whether they depend on track ids.
    """
    if not input_summary:
        return ()
    seen = _Seen.of(input_summary)
    return (
        *_missing(seen, input_summary),
        *label_warnings(input_summary[LABELS], labels),
        *sample_warnings(
            *(input_summary, seen.arities, labels, seen.object_counts),
            ranked=ranked,
            tracked=tracked,
        ),
        *_of_sides(seen, input_summary, ranked=ranked),
    )


def side_warnings(input_summary: InputSummary, *, ranked: bool) -> Iterator[ReportWarning]:
    """Warnings about either side by itself."""
    return _of_sides(_Seen.of(input_summary), input_summary, ranked=ranked)


class _Seen(Struct, frozen=True):
    """Counts of an input summary by side, and the frames that it names.

    Attributes:
        counts: Objects and frames by side and kind; 0 for a kind that a side lacks.
        arities: By side, the arities of its objects; none for a side without objects.
        frames: By name of the example.
    """

    counts: defaultdict[str, Counter[str]]
    arities: defaultdict[str, list[int]]
    frames: Mapping[str, tuple[SequenceKey, int]]

    @classmethod
    def of(cls, input_summary: InputSummary) -> _Seen:
        table = input_summary[SIDES]
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        arities: defaultdict[str, list[int]] = defaultdict(list)
        rows = (table.texts("side"), table.number("arity").tolist(), table.counts.tolist())
        for side, arity, of_row in zip(*rows, strict=True):
            arities[side].append(int(arity))
            counts[side].update(dict(zip(table.schema.counts, of_row, strict=True)))
        return cls(counts, arities, _frames_of(input_summary[EXAMPLES]))

    def count(self, side: Side, name: str) -> int:
        """Number of objects or frames of a kind on a side."""
        return self.counts[side][name]

    @property
    def object_counts(self) -> dict[Side, int]:
        """Number of objects on each side."""
        return {side: self.count(side, "objects") for side in Side}

    def example(self, side: Side, example: Example) -> FrameExample | None:
        """The first frame of a side with an oddity; None if there is none."""
        found = self.frames.get(example_name(side, example))
        return None if found is None else FrameExample(side, *found)


def _frames_of(table: Table) -> dict[str, tuple[SequenceKey, int]]:
    keys = map(SequenceKey, table.texts("domain"), table.texts("sequence"))
    frames = map(int, table.number("frame").tolist())
    return dict(zip(table.texts("example"), zip(keys, frames, strict=True), strict=True))


def _of_sides(seen: _Seen, input_summary: InputSummary, *, ranked: bool) -> Iterator[ReportWarning]:
    yield from _confidences(seen, input_summary[CONFIDENCES], ranked=ranked)
    for side in Side:
        yield from _corners(seen, side)
        yield from _all_x_first(seen, side)
        yield from _beyond_image(seen, side)
        yield from _columns(seen, side, input_summary)
        yield from _masks(seen, side)


def with_names(
    warnings: Sequence[ReportWarning],
    input_summary: InputSummary,
    labels: LabelUse,
    scored: ScoredClasses,
) -> tuple[ReportWarning, ...]:
    """Warnings of an evaluator that have a count, with the first frame or the labels affected."""
    if not input_summary:
        return tuple(warnings)
    return tuple(_with_name(warning, input_summary, labels, scored) for warning in warnings)


def _with_name(
    warning: ReportWarning, input_summary: InputSummary, labels: LabelUse, scored: ScoredClasses
) -> ReportWarning:
    if warning.code in _BY_FRAME:
        example = _Seen.of(input_summary).example(Side.DETECTIONS, Example.UNLISTED)
        if example is None:
            return warning
        place = place_name(example)
        message = f"{warning.message}, the first of them in {place}; {_FRAMES_ADVICE}"
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


def _missing(seen: _Seen, input_summary: InputSummary) -> Iterator[ReportWarning]:
    counts = seen.object_counts
    # Tallies of older versions lack the number of frames with objects.
    known = "frames" in input_summary[SIDES].schema.counts
    nothing = known and not seen.count(Side.TRUTH, "frames")
    if nothing or not input_summary[LABELS].count(Side.TRUTH.value).any():
        yield NO_OBJECTS
    elif counts[Side.TRUTH] and not counts[Side.DETECTIONS]:
        yield ReportWarning(
            "no_detections",
            "objects are in the ground truth and no detections at all; "
            "check that the right file was given",
            counts[Side.TRUTH],
        )
    frames = {side: seen.count(side, "frames") for side in Side}
    wanted, answered = frames[Side.TRUTH], frames[Side.DETECTIONS]
    if are_hardly_any(wanted, answered):
        yield unanswered_warning(wanted, answered)


def _confidences(seen: _Seen, table: Table, *, ranked: bool) -> Iterator[ReportWarning]:
    values: dict[str, list[float]] = {side.value: [] for side in Side}
    for side, value in zip(table.texts("side"), table.number("confidence").tolist(), strict=True):
        values[side].append(value)
    graded = any(value != 1.0 for value in values[Side.TRUTH])
    detections = seen.count(Side.DETECTIONS, "objects")
    equal = len(values[Side.DETECTIONS]) == 1 and detections >= _LEAST_EQUAL
    if graded and equal:
        yield ReportWarning(
            "sides_swapped",
            "objects of the ground truth have confidences, and the detections have none; "
            "check that ground truth and detections are not swapped",
            seen.count(Side.TRUTH, "objects"),
        )
    elif graded:
        yield ReportWarning(
            "truth_with_confidences",
            "objects of the ground truth have confidences, as detections have; "
            "check that it is the ground truth, and leave its confidences out",
            seen.count(Side.TRUTH, "objects"),
        )
    elif equal and ranked:
        yield ReportWarning(
            "equal_confidences",
            f"detections all have the confidence {values[Side.DETECTIONS][0]:g}, but the scores "
            "depend on the order of confidences; check that the file has them, in a column that "
            "is called confidence, and that it is not the ground truth",
            detections,
        )


def _corners(seen: _Seen, side: Side) -> Iterator[ReportWarning]:
    count = seen.count(side, "swapped")
    example = seen.example(side, Example.SWAPPED)
    if count > MANY_ROWS and example is not None:
        yield ReportWarning(
            "swapped_corners",
            f"{WHOSE[side]} have x2 < x1 or y2 < y1, the first of them in {place_name(example)}; "
            "if the boxes are x, y, width, height, convert them to two corners",
            count,
            example,
        )


def _all_x_first(seen: _Seen, side: Side) -> Iterator[ReportWarning]:
    count, objects = (seen.count(side, name) for name in ("by_axis", "objects"))
    example = seen.example(side, Example.BY_AXIS)
    if count >= _LEAST_BY_AXIS and 2 * count >= objects and example is not None:
        yield ReportWarning(
            "reads_all_x_first",
            f"{WHOSE[side]} are turned boxes only if read as x1, x2, x3, x4, y1, y2, y3, y4, the "
            f"first of them in {place_name(example)}; put them in the order x1, y1, x2, y2, x3, "
            "y3, x4, y4",
            count,
            example,
        )


def _beyond_image(seen: _Seen, side: Side) -> Iterator[ReportWarning]:
    count, sized = (seen.count(side, name) for name in ("beyond_image", "sized"))
    example = seen.example(side, Example.BEYOND_IMAGE)
    if example is not None:
        yield from beyond_image_warnings(side, count, sized, example)


def bounding_box_warnings(input_summary: InputSummary) -> Iterator[ReportWarning]:
    """A warning if four corners were compared as their bounding boxes."""
    if not input_summary:
        return
    seen = _Seen.of(input_summary)
    counts = {side: seen.count(side, Example.ROTATED) for side in Side}
    found = (seen.example(side, Example.ROTATED) for side in Side if counts[side])
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


def area_warnings(input_summary: InputSummary) -> Iterator[ReportWarning]:
    """Warnings about given areas that are not those of their boxes, and so do not count."""
    if not input_summary:
        return
    for side in Side:
        count = _column_counts(side, input_summary).get(BOX_AREA)
        if count:
            yield ReportWarning(
                "areas_not_of_boxes",
                f"values in the column {BOX_AREA} of {SIDE_NAMES[side]} are not the areas of their "
                "boxes, and the areas of the corners are used; give width times height in pixels, "
                "or leave the column out",
                count,
            )


def _column_counts(side: Side, input_summary: InputSummary) -> dict[str, int]:
    """Number of values in the columns of a side that are counted."""
    table = input_summary[COLUMNS]
    entries = zip(table.texts("side"), table.texts("column"), table.count("objects"), strict=True)
    return {name: int(count) for of_side, name, count in entries if of_side == side.value}


def _columns(seen: _Seen, side: Side, input_summary: InputSummary) -> Iterator[ReportWarning]:
    counts = _column_counts(side, input_summary)
    counts.pop(BOX_AREA, None)
    sizes = size_columns(counts) if seen.arities[side] == [POINT] else ()
    if sizes:
        yield ReportWarning(
            "boxes_read_as_points",
            f"{WHOSE[side]} are read as points, but there are columns {' and '.join(sizes)}; give "
            "boxes as x1, y1, x2, y2",
            counts[sizes[0]],
        )
    given = _given(seen, side, input_summary)
    for name, count in counts.items():
        meaning = known_column(name)
        if name not in sizes and meaning and meaning not in given:
            yield ReportWarning(
                "unused_column",
                f"values in the column {name} of {SIDE_NAMES[side]} are not used; if they are "
                f"{meaning}, rename the column to that",
                count,
            )
        flag = flag_of_column(name)
        if flag:
            yield ReportWarning(
                "unused_column",
                f"a 1 in the column {name} of {SIDE_NAMES[side]} has no effect; if it is a flag, "
                f"write {flag} into a column flags",
                count,
            )


def _given(seen: _Seen, side: Side, input_summary: InputSummary) -> set[str]:
    """Meanings that a side has or does not need, so that no other column can stand for them."""
    confidences, labels = input_summary[CONFIDENCES], input_summary[LABELS]
    values = zip(confidences.texts("side"), confidences.number("confidence"), strict=True)
    names = zip(labels.texts("label"), labels.count(side.value), strict=True)
    found = {
        CONFIDENCE: side is Side.TRUTH
        or any(value != 1.0 for of_side, value in values if of_side == side.value),
        LABEL: any(count for label, count in names if label),
        CORNERS: POINT not in seen.arities[side],
    }
    return {meaning for meaning, is_given in found.items() if is_given}


def _masks(seen: _Seen, side: Side) -> Iterator[ReportWarning]:
    objects = seen.count(side, "objects")
    for code in MASK_DOUBTS:
        example = seen.example(side, Example(code))
        count = seen.count(side, code)
        # Outlines thinner than a pixel have few pixels: a few such masks say nothing about the
        # rest.
        if example is not None and (code != BESIDE or count > _BESIDE_FRACTION * objects):
            what, advice = _MASKS[code]
            message = f"{what.format(side=SIDE_NAMES[side])}, the first of them in "
            message += f"{place_name(example)}; {advice}"
            yield ReportWarning(code, message, count, example)
