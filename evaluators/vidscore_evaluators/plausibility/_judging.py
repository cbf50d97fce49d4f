"""What a sample shows, judged once for all evaluators that see the same."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from msgspec import Struct

from vidscore_evaluators.plausibility._mixed_names import (
    ChangingIds,
    MixedLabels,
    changing_ids,
    mixed_labels,
)
from vidscore_evaluators.plausibility._overlaps import sample_of
from vidscore_evaluators.plausibility._rankings import Inverted, inverted_confidences
from vidscore_evaluators.plausibility._readings import Finding, View, best_finding
from vidscore_evaluators.plausibility._sequences import SequenceFinding, sequence_findings


class Judgement(Struct, frozen=True):
    """What a sample shows.

    Attributes:
        finding: The reading that fits best, if it fits much better than the one at hand.
        labels: Labels that are mixed up.
        sequences: Where no reading fits all sequences better, those which one fits better alone.
        inverted: That the less confident detections are the right ones.
        ids: That objects have another track id in every other frame.
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
    """What a sample shows; judged once for evaluators, and live reports, that see the same.

    Args:
        names: Names of blocks, in ascending order.
        blocks: Block of each row of the sample's table, an index of `names`.
        numbers: Its number keys.
        width: How many a row has.
        points: Whether both sides are points.
        plain: Whether the boxes of each side are two corners, which may be something else.
        labelled: Whether a detection is right only under the label of the object.
    """
    keys = np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)
    sample = sample_of(np.frombuffer(blocks, dtype=np.int64), keys, points=points)
    if min(len(sample.boxes[0]), len(sample.boxes[1])) == 0:
        return Judgement()
    # Numbers that no image has may overflow; the results are then no finding.
    with np.errstate(all="ignore"):
        view = View.of(sample)
        finding = best_finding(view, plain)
        return Judgement(
            finding=finding,
            labels=mixed_labels(sample, view.pairing, view.overlaps),
            sequences=() if finding else sequence_findings(view, names, plain),
            inverted=inverted_confidences(view, names, labelled=labelled),
            ids=changing_ids(view),
        )
