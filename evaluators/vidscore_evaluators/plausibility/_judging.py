"""Findings of a sample, computed once for all evaluators that use the same sample.

A finding about one sequence is one that does not fit there although the others fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.plausibility._mixed_names import (
    ChangingIds,
    MixedLabels,
    changing_ids,
    mixed_labels,
)
from vidscore_evaluators.plausibility._overlaps import LIES_ON, sample_of
from vidscore_evaluators.plausibility._rankings import (
    Inverted,
    inverted_confidences,
    right_and_wrong,
    surer_fraction,
)
from vidscore_evaluators.plausibility._readings import best_finding
from vidscore_evaluators.plausibility._unrelated import EXCHANGED, UNRELATED
from vidscore_evaluators.plausibility._views import Finding, View, finding_of
from vidscore_evaluators.plausibility.sample import sequences_of

_LEAST_BOXES = 20
"""Minimum number of boxes per side of a sequence that is examined on its own."""

_LEAST_IN_FRAME = 4
"""Minimum number of boxes per side in a frame of it, for findings that estimate a transformation or
find nothing related: a few objects may all be missed, and a few false alarms may persist."""

_FITS = 0.5
"""Fraction of boxes that overlap others in a sequence that fits."""

_FAR_BELOW = 0.5
"""A sequence that does not fit has less than this fraction of the best sequence's overlap."""

_TELLING = 0.7
"""Minimum fraction of pairs of a right and a wrong detection in which the right one is more
confident, if confidences distinguish them."""


class SequenceFinding(Struct, frozen=True):
    """A reading that fits one sequence better, while others fit as they are.

    Attributes:
        sequence: The sequence.
        finding: The reading.
        boxes: Number of examined boxes there, of the side that is read differently.
    """

    sequence: SequenceKey
    finding: Finding
    boxes: int


def sequence_findings(
    view: View, names: tuple[str, ...], plain: tuple[bool, bool]
) -> tuple[SequenceFinding, ...]:
    """Sequences that do not fit although others do, with the reading that fits them better.

    Args:
        view: A sample as it is.
        names: Names of its blocks.
        plain: Whether the boxes of each side are two corners.
    """
    keys, of_frames = sequences_of(view.sample.blocks, names)
    if len(keys) == 1:
        return ()
    lying, counts = [], []
    for starts, overlaps in zip(
        view.sample.starts, (view.now.of_truth, view.now.of_detections), strict=True
    ):
        of_boxes = of_frames.repeat(np.diff(starts))
        counts.append(np.bincount(of_boxes, minlength=len(keys)))
        lying.append(np.bincount(of_boxes, weights=overlaps >= LIES_ON, minlength=len(keys)))
    enough = np.minimum(*counts) >= _LEAST_BOXES
    shares = np.where(enough, np.maximum(*(np.array(lying) / np.maximum(1, counts))), 0.0)
    odd = np.flatnonzero(enough & (shares < _FAR_BELOW * shares.max()))
    if shares.max() < _FITS or len(odd) == 0:
        return ()
    return tuple(_found(view, keys, of_frames, odd.tolist(), plain))


def _found(
    view: View,
    keys: list[SequenceKey],
    of_frames: IntArray,
    odd: list[int],
    plain: tuple[bool, bool],
) -> Iterator[SequenceFinding]:
    rest = view.take_frames(~np.isin(of_frames, odd))
    for place in odd:
        alone = view.take_frames(of_frames == place)
        finding = best_finding(alone, plain)
        whole = not alone.sample.partial.any()
        if finding is None and whole and max(alone.now.shares(LIES_ON)) == 0.0:
            finding = finding_of(UNRELATED, Side.DETECTIONS, alone, alone.now, alone.pairing)
        if finding is None or finding.code == EXCHANGED:
            continue
        if _is_sound(finding, alone, rest):
            boxes = alone.sample.boxes[finding.side != Side.TRUTH]
            yield SequenceFinding(keys[place], finding, len(boxes))


def _is_sound(finding: Finding, alone: View, rest: View) -> bool:
    """Whether a finding in one sequence is unlikely by chance, and unlike a hard video."""
    is_fitted = any((finding.scale, finding.offset, finding.extent))
    if is_fitted or finding.code == UNRELATED:
        least = _LEAST_IN_FRAME * alone.sample.frame_count
        if min(map(len, alone.sample.boxes)) < least:
            return False
    if finding.code == UNRELATED:
        return _are_sure(alone, rest)
    return finding.then >= _FAR_BELOW * max(rest.now.means)


def _are_sure(alone: View, rest: View) -> bool:
    """Whether detections on no object are as confident as those that are right elsewhere.

    A detector may find nothing in one video and produce a few false alarms there: it is then as
    unsure of them as of false alarms elsewhere. If confidences do not distinguish, the answer is
    no.
    """
    rest = rest.whole
    if rest.sample.confidences is None or alone.sample.confidences is None:
        return False
    given: FloatArray = alone.sample.confidences[1]
    elsewhere = rest.sample.confidences[1]
    right, wrong = (elsewhere[rows] for rows in right_and_wrong(rest, elsewhere, labelled=False))
    if min(len(right), len(wrong)) == 0 or surer_fraction(right, wrong) < _TELLING:
        return False
    return bool(np.median(given) >= np.quantile(right, 0.25) > np.median(wrong))


class Judgement(Struct, frozen=True):
    """The findings of a sample.

    Attributes:
        finding: The reading that fits best, if it fits much better than the present one.
        labels: Labels that are mixed up.
        sequences: If no reading fits all sequences better, the sequences that one fits better
            alone.
        inverted: The finding that less confident detections are the right ones.
        ids: The finding that objects change their track id from frame to frame.
    """

    finding: Finding | None = None
    labels: MixedLabels | None = None
    sequences: tuple[SequenceFinding, ...] = ()
    inverted: Inverted | None = None
    ids: ChangingIds | None = None


@lru_cache(maxsize=4)
def judge_sample(
    names: tuple[str, ...],
    blocks: bytes,
    numbers: bytes,
    width: int,
    *,
    points: bool,
    plain: tuple[bool, bool],
    labelled: bool,
) -> Judgement:
    """Findings of a sample; cached for evaluators, and live reports, that use the same sample.

    Args:
        names: Names of blocks, in ascending order.
        blocks: Block of each row of the sample's table, an index of `names`.
        numbers: Its number keys.
        width: Number of number keys per row.
        points: Whether both sides are points.
        plain: Whether the boxes of each side are two corners, which may have another meaning.
        labelled: Whether a detection is right only with the label of the object.
    """
    keys = np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)
    sample = sample_of(np.frombuffer(blocks, dtype=np.int64), keys, points=points)
    if min(len(sample.boxes[0]), len(sample.boxes[1])) == 0:
        return Judgement()
    # Absurd numbers may overflow; the results are then no finding.
    with np.errstate(all="ignore"):
        view = View.of(sample)
        finding = best_finding(view, plain)
        return Judgement(
            finding=finding,
            labels=mixed_labels(sample, view.pairing, view.overlaps),
            sequences=() if finding else sequence_findings(view, names, plain),
            inverted=inverted_confidences(view.whole, names, labelled=labelled),
            ids=changing_ids(view),
        )
