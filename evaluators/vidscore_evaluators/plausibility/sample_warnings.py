"""Warnings from the sample of an input: other readings, mixed labels, duplicates.

Its figures are estimates for the whole input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from vidscore_evaluators.annotations import ARITIES, BOX, POINT, Side, sequence_name
from vidscore_evaluators.arrays import run_starts
from vidscore_evaluators.names import counted, first_of
from vidscore_evaluators.plausibility._endings import Cut, are_images, find_cut
from vidscore_evaluators.plausibility._judging import Judgement, SequenceFinding, judge_sample
from vidscore_evaluators.plausibility._mixed_names import ChangingIds, MixedLabels
from vidscore_evaluators.plausibility._places import GREATEST_FRACTION, NORMALISED
from vidscore_evaluators.plausibility._rankings import Inverted
from vidscore_evaluators.plausibility._views import Finding
from vidscore_evaluators.plausibility.labels import NAMES_SHOWN, LabelUse, named
from vidscore_evaluators.plausibility.sample import ANSWERS, SAMPLE, block_sequence, label_number
from vidscore_evaluators.plausibility.summary import LABELS, SIDES
from vidscore_evaluators.plausibility.unanswered import (
    are_hardly_any,
    are_left_out,
    unanswered_warning,
)
from vidscore_evaluators.plausibility.wording import WHOSE, place_name
from vidscore_evaluators.report import FrameExample, ReportWarning
from vidscore_evaluators.tally import Table

_FORMAT = "check the format of the boxes, and convert them"

_AS_MANY = "if both sides have the same frame rate"
_OTHER_RATE = (
    "the fit decreases with the frame number, so check that both sides have the same frame rate"
)

_READINGS = {
    "reads_as_sizes": ("read as x, y, width, height and not two corners", _FORMAT),
    "reads_as_centres": ("read as centre x, centre y, width, height and not two corners", _FORMAT),
    "reads_as_corners": ("read as two corners and not x, y, width, height", _FORMAT),
    "reads_centres_as_corners": (
        "read as two corners and not centre x, centre y, width, height",
        _FORMAT,
    ),
    "reads_corner_as_centre": ("with the place of their first corner as their centre", _FORMAT),
    "reads_centre_as_corner": ("with the place of their centre as their first corner", _FORMAT),
    "reads_rows_first": ("read as y before x", _FORMAT),
    "reads_pairs_first": ("read as x1, x2, y1, y2 and not x1, y1, x2, y2", _FORMAT),
    "reads_height_first": ("with width and height exchanged", _FORMAT),
    "reads_x_from_the_right": (
        "with x counted from the right of an image that is about {extent:.4g} wide",
        "check where the coordinates begin: x is counted from the left",
    ),
    "reads_y_from_below": (
        "with y counted from the bottom of an image that is about {extent:.4g} high",
        "check where the coordinates begin: y is counted from the top",
    ),
    "reads_from_another_origin": (
        "with {offset[0]:+.4g} to x and {offset[1]:+.4g} to y",
        "check whether either side is of a part of the image, of one with a border, or frames late",
    ),
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
        f"check the frame numbers, and take 1 from those of the detections {_AS_MANY}",
    ),
    "reads_one_frame_later": (
        "one frame later",
        f"check the frame numbers, and add 1 to those of the detections {_AS_MANY}",
    ),
    "reads_sides_exchanged": (
        "as detections, and the detections as the ground truth",
        "check that ground truth and detections are not swapped",
    ),
    "nothing_overlaps": (
        "the ground truth of other frames as well as that of their own",
        "check that both sides are of the same videos at the same frame rate, and their format",
    ),
}
"""By code: how the boxes of a side would fit, and advice."""

_CUTS = {"detections_end_early": "end early", "detections_begin_late": "begin late"}
"""By code: how detections are cut off."""

LEAST_FRACTIONS = 10
"""Minimum number of objects that do not all lie in one pixel by chance."""

_LEAST_TWICE = 10
_TWICE_FRACTION = 0.5
"""Minimum number, and fraction of the sample's detections, of duplicates."""


def sample_warnings(
    input_summary: Mapping[str, Table],
    arities: Mapping[str, Sequence[int]],
    labels: LabelUse,
    counts: Mapping[Side, int],
    *,
    ranked: bool,
    tracked: bool,
) -> Iterator[ReportWarning]:
    """Warnings from a sample of both sides.

    Args:
        input_summary: The counts.
        arities: By side, the arities of its objects.
        labels: The evaluator's use of labels.
        counts: Number of objects of each side.
        ranked: Whether scores depend on the order of confidences.
        tracked: Whether they depend on track ids.
    """
    table = input_summary[SAMPLE]
    yield from _twice(table, counts)
    shapes = [arities[side] for side in Side]
    judged = _judged(table, shapes, labelled=labels is not LabelUse.IGNORED)
    if labels is not LabelUse.IGNORED and judged.labels is not None:
        yield _mixed(input_summary, judged.labels, counts[Side.DETECTIONS])
    if judged.finding is not None:
        yield _reading(table, judged.finding, counts)
    yield from _by_sequence(table, judged.sequences)
    yield from _cut(input_summary, points=arities[Side.TRUTH] == [POINT])
    if ranked and judged.inverted is not None:
        yield _inverted(judged.inverted, counts[Side.DETECTIONS])
    if tracked and judged.ids is not None:
        yield _changing_ids(table, judged.ids, counts[Side.DETECTIONS])


def fraction_warnings(
    input_summary: Mapping[str, Table], cutoff_px: float
) -> Iterator[ReportWarning]:
    """A warning if points of both sides are fractions of the image, and lie within the cut-off.

    Args:
        input_summary: The counts; an empty mapping gives no warning.
        cutoff_px: Distance from which points have nothing in common.
    """
    if not input_summary or cutoff_px < 1.0:
        return
    table = input_summary[SAMPLE]
    points = np.stack([table.number("a"), table.number("b")])
    counts = np.bincount(table.number("side").astype(np.int64), minlength=2)
    if counts.min() >= LEAST_FRACTIONS and np.abs(points).max() <= GREATEST_FRACTION:
        yield ReportWarning(
            "reads_as_shares_of_the_image",
            "points of both sides look like shares of the image, from 0 to 1, so that a cut-off of "
            f"{cutoff_px:g} px hardly tells one place from another; give pixels, or set cutoff_px "
            "as a share",
            int(input_summary[SIDES].count("objects").sum()),
        )


def _twice(table: Table, counts: Mapping[Side, int]) -> Iterator[ReportWarning]:
    """A warning if most detections repeat the box and label of another one of their frame."""
    if "label" not in table.schema.numbers:
        return  # a box with two labels is not a duplicate
    # Ignoring confidences and tracks, which come last in the order of rows.
    named = table.schema.numbers.index("label") + 1
    starts = run_starts(table.codes("block"), *table.numbers[:, :named].T)
    times = np.add.reduceat(table.count("objects"), starts) if len(starts) else starts
    detected = table.number("side")[starts] == 1
    twice = detected & (times > 1)
    count = int(twice.sum())
    if count < max(_LEAST_TWICE, _TWICE_FRACTION * detected.sum()):
        return
    first = int(starts[twice.argmax()])
    example = _example(table, int(table.codes("block")[first]), int(table.number("frame")[first]))
    yield ReportWarning(
        "detections_given_twice",
        f"detections seem to be duplicated: of {int(detected.sum()):,} that were looked "
        f"at, {count:,} have the box and the label of another one in their frame, for example in "
        f"{place_name(example)}; remove the duplicates, as of a file joined with itself",
        counts[Side.DETECTIONS],
        example,
    )


def _judged(table: Table, arities: Sequence[Sequence[int]], *, labelled: bool) -> Judgement:
    if any(len(found) != 1 for found in arities):
        return Judgement()
    [[truth], [detections]] = arities
    if (truth == POINT) != (detections == POINT) or {truth, detections} - ARITIES.keys():
        return Judgement()
    return judge_sample(
        table.vocabulary,
        table.codes("block").tobytes(),
        np.ascontiguousarray(table.numbers).tobytes(),
        table.numbers.shape[1],
        points=truth == POINT,
        plain=(truth == BOX, detections == BOX),
        labelled=labelled,
    )


def _example(table: Table, block: int, frame: int, side: Side = Side.DETECTIONS) -> FrameExample:
    return FrameExample(side, block_sequence(table.vocabulary[block]), frame)


def _mixed(input_summary: Mapping[str, Table], mixed: MixedLabels, count: int) -> ReportWarning:
    """Say which labels are found as which others."""
    texts = sorted(input_summary[LABELS].texts("label"))
    names = {label_number(label): named(label) for label in texts}
    ordered = sorted(mixed.pairs, key=lambda pair: (-pair[2], names.get(pair[0], "")))
    pairs = [
        f"{names.get(found, '?')} on {names.get(own, '?')} ({times})"
        for own, found, times in ordered
    ]
    example = _example(input_summary[SAMPLE], mixed.block, mixed.frame)
    return ReportWarning(
        "labels_mixed_up",
        f"detections lie on objects of other labels, {first_of(pairs, NAMES_SHOWN)}: of "
        f"{mixed.found} objects on which one lies, {mixed.right} have one of their own label "
        f"(estimated from {_frames(mixed.frame_count)}), for example in {place_name(example)}; "
        "check the order of the labels, and whether their numbers begin at 0 or at 1",
        count,
        example,
    )


def _reading(table: Table, finding: Finding, counts: Mapping[Side, int]) -> ReportWarning:
    example = _example(table, finding.block, finding.frame, finding.side)
    how, advice = _READINGS[finding.code]
    advice = _OTHER_RATE if finding.fades else advice
    message = f"{_fitting(finding, how)}, for example in {place_name(example)}; {advice}"
    return ReportWarning(finding.code, message, counts[finding.side], example)


def _by_sequence(table: Table, found: Sequence[SequenceFinding]) -> Iterator[ReportWarning]:
    """A warning for each reading that fits some sequences better, but not the others."""
    by_code: dict[str, list[SequenceFinding]] = {}
    for entry in found:
        by_code.setdefault(entry.finding.code, []).append(entry)
    for code, entries in by_code.items():
        finding, (how, advice) = entries[0].finding, _READINGS[code]
        advice = _OTHER_RATE if finding.fades else advice
        example = _example(table, finding.block, finding.frame, finding.side)
        names = [named(sequence_name(entry.sequence)) for entry in entries]
        yield ReportWarning(
            code,
            f"{_fitting(finding, how)}, in {first_of(names, NAMES_SHOWN)} alone: other "
            f"sequences fit as they are; for example in {place_name(example)}; {advice}",
            sum(entry.boxes for entry in entries),
            example,
        )


def _cut(input_summary: Mapping[str, Table], *, points: bool) -> Iterator[ReportWarning]:
    """A warning if detections end early or begin late, or if images were left out throughout."""
    answers = input_summary.get(ANSWERS)
    if answers is None:
        return  # made by an older version
    sides = input_summary[SIDES]
    frames = dict(zip(sides.texts("side"), sides.count("frames").tolist(), strict=True))
    sample = input_summary[SAMPLE]
    cut = find_cut(answers, sample, points=points)
    if cut is None:
        wanted, answered = (frames.get(side, 0) for side in Side)
        left_out = are_left_out(answers, input_summary[LABELS]) and are_images(
            sample, points=points
        )
        if left_out and not are_hardly_any(wanted, answered):  # that case has its own warning
            yield unanswered_warning(wanted, answered)
        return
    example = _example(answers, cut.block, cut.frame, Side.TRUTH)
    code = "detections_begin_late" if cut.late else "detections_end_early"
    yield ReportWarning(
        code,
        f"frames with objects have no detection, and detections seem to {_CUTS[code]}: of "
        f"{_frames(cut.frame_count)} that were examined, {cut.after} {_beyond(cut, example)} have "
        f"none, and {100 * cut.answered:.0f} % of the others have some; check that the detections "
        "are complete and that both sides have the same frame rate, or choose the frames that "
        "were processed",
        frames[Side.TRUTH] - frames[Side.DETECTIONS],
        example,
    )


def _beyond(cut: Cut, example: FrameExample) -> str:
    """Where the frames without detections are."""
    if cut.order == "name":
        return f"from {place_name(example)} on, by name,"
    if cut.order == "number":
        return f"{'before' if cut.late else 'after'} frame {cut.last:.0f}"
    share = f"first {100 * cut.last:.0f}" if cut.late else f"last {100 * (1 - cut.last):.0f}"
    return f"in the {share} % of each sequence"


def _inverted(found: Inverted, count: int) -> ReportWarning:
    return ReportWarning(
        "confidences_inverted",
        f"detections seem to have inverted confidences: in {found.right} places they lie on an "
        f"object and in {found.wrong} on none, and only in {100 * found.share:.0f} % of such pairs "
        "the right one has the greater confidence; give a confidence that grows with certainty, "
        "not a distance",
        count,
    )


def _changing_ids(table: Table, found: ChangingIds, count: int) -> ReportWarning:
    example = _example(table, found.block, found.frame)
    return ReportWarning(
        "track_ids_do_not_last",
        f"detections have track ids that do not follow objects: of {found.found} objects that are "
        f"found in two neighbouring frames, {found.changed} have another id in the second, for "
        f"example in {place_name(example)}; check that the ids are track ids, not row numbers "
        "or indices within a frame",
        count,
        example,
    )


def _frames(count: int) -> str:
    return counted(count, "frame")


def _fitting(finding: Finding, how: str) -> str:
    frames = _frames(finding.frame_count)
    side, now = WHOSE[finding.side], f"{finding.now:.2f}"
    if finding.code == NORMALISED and finding.scale is None:
        where = f"within {GREATEST_FRACTION:g} px of the origin, unlike those of the other side"
        return f"{side} lie {where} (mean best overlap {now}, estimated from {frames})"
    if finding.then <= finding.now:
        return f"{side} fit {how} (mean best overlap {now}, estimated from {frames})"
    if finding.scale is not None:
        factors = (finding.scale.across, finding.scale.down)
        scale = "x times about {:.4g} and y times {:.4g}".format(*factors)
        if finding.offset is not None:
            scale += ", then {:+.4g} to x and {:+.4g} to y".format(*finding.offset)
        how = how.format(scale=scale)
    elif finding.offset is not None:
        how = how.format(offset=finding.offset)
    if finding.extent is not None:
        how = how.format(extent=finding.extent)
    gain = f"mean best overlap {finding.then:.2f} for {now}, estimated from {frames}"
    return f"{side} fit better {how} ({gain})"
