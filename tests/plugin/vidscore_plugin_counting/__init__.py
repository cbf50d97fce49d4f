"""count_error: by how many objects a system miscounts a frame, on average.

For each frame that the truth lists: the difference between the number of its objects and the
number of detections that are confident enough. Where they are does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, FrameFlag, ObjectFlag, Side
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.evaluator import (
    Direction,
    Dissimilarity,
    Evaluator,
    Growth,
    Measure,
    Needs,
    Task,
    count_measure,
)
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, OutcomeBuilder, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Block, Number, Scores
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

_SCHEMA = TableSchema(texts=("domain", "sequence"), counts=("frames", "missing", "surplus"))


@dataclass(frozen=True)
class CountErrorParameters:
    """Parameters of `CountError`."""

    confidence_threshold: float = parameter(
        0.5,
        "Detections of a lower confidence are not counted.",
        minimum=0.0,
        maximum=1.0,
        grid=(0.0, 0.25, 0.5, 0.75, 1.0),
    )


class CountError(Evaluator[CountErrorParameters]):
    """Mean difference between the true and the reported number of objects in a frame."""

    name = "count_error"
    version = "1"
    title = "Count error: by how many objects per frame is miscounted"
    task = Task.DETECTION
    Parameters = CountErrorParameters
    measures = (
        count_measure("frames", "Frames that were counted."),
        count_measure("missing", "Objects too few, over all frames.", Direction.LOWER),
        count_measure("surplus", "Objects too many, over all frames.", Direction.LOWER),
        Measure(
            "count_error",
            "Mean absolute difference between true and reported counts of a frame.",
            unit="objects",
            maximum=None,
            direction=Direction.LOWER,
            dissimilarity=Dissimilarity.VALUE,
        ),
    )
    ranking = ("count_error",)
    needs = Needs((2, 4, 8), (2, 4, 8), confidences=True, unit_confidences=True)

    @property
    def growth(self) -> Growth:
        """A row of two texts and three counts per sequence."""
        return Growth("sequence", 40)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Count objects and detections in each scored frame."""
        truth, judged = aligned.truth, _judged(aligned)
        surplus = np.zeros(len(judged), dtype=np.int64)
        for side, rows, sign in zip(_sides(aligned), self._counted(aligned), (-1, 1), strict=True):
            surplus += sign * np.bincount(side.object_frames[rows], minlength=len(judged))
        surplus = surplus[judged]
        sequences = truth.frame_sequences[judged]
        domains = [key.domain for key in truth.sequences]
        names = [key.sequence for key in truth.sequences]
        table = build_table(
            _SCHEMA,
            [*domains, *names],
            [sequences, sequences + len(domains)],
            counts=[np.ones_like(surplus), np.maximum(-surplus, 0), np.maximum(surplus, 0)],
        )
        return {"frames": table}

    def scores(self, tally: Tally) -> Scores:
        """Scores per sequence and of all sequences together."""
        table = tally.tables["frames"]
        columns = [table.count(name) for name in _SCHEMA.counts]
        whole = Block(_measures(*(np.array([column.sum()]) for column in columns)))
        each = Block(
            _measures(*columns), domains=table.texts("domain"), sequences=table.texts("sequence")
        )
        return Scores((whole, each) if table.row_count else (whole,))

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """Pair the objects and the detections of a frame in their order.

        Each unpaired object is missing, each unpaired detection surplus; each adds 1 to the error.
        """
        at.check(self.name)
        builder = OutcomeBuilder(aligned)
        objects, detections = self._counted(aligned)
        for side, rows, outcome in (
            (Side.TRUTH, objects, Outcome.FALSE_NEGATIVE),
            (Side.DETECTIONS, detections, Outcome.FALSE_POSITIVE),
        ):
            builder.set(side, rows, outcome)
            builder.share(side, rows, 1.0)
        truth_keys, detection_keys = (
            _keys(side.object_frames[rows], len(aligned.listed))
            for side, rows in zip(_sides(aligned), (objects, detections), strict=True)
        )
        _, left, right = np.intersect1d(
            truth_keys, detection_keys, assume_unique=True, return_indices=True
        )
        builder.match(objects[left], detections[right])
        builder.share(Side.TRUTH, objects[left], 0.0)
        builder.share(Side.DETECTIONS, detections[right], 0.0)
        return builder.build()

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Every measure: rows without a partner are missing or surplus."""
        del at
        counts = (
            outcomes.frame_count,
            outcomes.count(Outcome.FALSE_NEGATIVE, Side.TRUTH),
            outcomes.count(Outcome.FALSE_POSITIVE, Side.DETECTIONS),
        )
        figures = _measures(*(np.array([count]) for count in counts))
        return {name: values[0] for name, values in figures.items()}

    def _counted(self, aligned: Aligned) -> tuple[IntArray, IntArray]:
        """Rows of the objects and of the detections that count."""
        judged, (truth, detections) = _judged(aligned), _sides(aligned)
        real = (truth.flags & (ObjectFlag.IGNORE | ObjectFlag.REGION)) == 0
        sure = detections.confidences >= self.parameters.confidence_threshold
        return (
            np.flatnonzero(real & judged[truth.object_frames]),
            np.flatnonzero(sure & judged[detections.object_frames]),
        )


def _judged(aligned: Aligned) -> BoolArray:
    """(F,) whether each frame counts."""
    judged: BoolArray = aligned.listed & ((aligned.truth.frame_flags & FrameFlag.DONT_CARE) == 0)
    return judged


def _sides(aligned: Aligned) -> tuple[Annotations, Annotations]:
    return aligned.truth, aligned.detections


def _keys(frames: IntArray, frame_count: int) -> IntArray:
    """(N,) keys of objects, from their frame and their rank in it, for ascending frames."""
    places = np.arange(len(frames)) - np.searchsorted(frames, frames)
    keys: IntArray = places * frame_count + frames
    return keys


def _measures(
    frames: IntArray, missing: IntArray, surplus: IntArray
) -> dict[str, list[int | float | None]]:
    pairs = zip(frames.tolist(), (missing + surplus).tolist(), strict=True)
    return {
        "frames": frames.tolist(),
        "missing": missing.tolist(),
        "surplus": surplus.tolist(),
        "count_error": [wrong / count if count else None for count, wrong in pairs],
    }
