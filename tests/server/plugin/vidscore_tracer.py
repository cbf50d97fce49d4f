"""tracer: an evaluator whose outcomes contain everything about the truth.

Objects take the nearest free detection of their label within the threshold. Each column of its
outcomes, and further ones of its own, contains some of the truth, so that tests find any leak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.evaluator import (
    Evaluator,
    Growth,
    Measure,
    Needs,
    Task,
    Unit,
    count_measure,
)
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, OutcomeBuilder, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Block, Scores
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

_SCHEMA = TableSchema(
    texts=("sequence",), counts=("true_positives", "false_positives", "false_negatives")
)


@dataclass(frozen=True)
class TracerParameters:
    """Parameters of `Tracer`."""

    reach_px: float = parameter(10.0, "How far a detection may be off.", unit="px", minimum=0.0)
    whole_sequences: bool = parameter(True, "Whether it needs whole sequences.")


class Tracer(Evaluator[TracerParameters]):
    """Matches, and reports everything."""

    name = "tracer"
    version = "1"
    title = "Matches, and tells everything"
    task = Task.DETECTION
    Parameters = TracerParameters
    measures = (
        Measure("found", "Share of the objects that are found."),
        *(count_measure(name, f"{name}.") for name in _SCHEMA.counts),
    )
    ranking = ("found",)
    needs = Needs(truth_arities=(2, 4), detection_arities=(2, 4), confidences=True)

    @property
    def unit(self) -> Unit:
        """As the parameter says."""
        return Unit.SEQUENCE if self.parameters.whole_sequences else Unit.FRAME

    @property
    def growth(self) -> Growth:
        """One row per sequence."""
        return Growth("sequence", 32)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Count outcomes."""
        outcomes = self.outcomes(aligned)
        right, detected = outcomes.are(Outcome.TRUE_POSITIVE), outcomes.of_side(Side.DETECTIONS)
        found = (detected & right, detected & ~right, ~detected & ~right)
        names = [key.sequence for key in outcomes.sequence_keys]
        counts = [mask.astype(np.int64) for mask in found]
        codes = outcomes.sequences.astype(np.int64)
        return {"counts": build_table(_SCHEMA, names, [codes], counts=counts)}

    def scores(self, tally: Tally) -> Scores:
        """The counts, and the fraction of the objects that are found."""
        table = tally.tables["counts"]
        totals = {name: sum(table.count(name).tolist()) for name in _SCHEMA.counts}
        objects = totals["true_positives"] + totals["false_negatives"]
        found = totals["true_positives"] / objects if objects else None
        return Scores(blocks=(Block({"found": (found,), **{k: (v,) for k, v in totals.items()}}),))

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """Match each object with the nearest free detection of its label within the threshold."""
        if at.threshold is not None and not 0.0 < at.threshold <= 1.0:
            expected = "a threshold above 0, and 1 at most"
            raise ParameterError([Fault(f"{at.threshold:g}", expected, field="threshold")])
        reach = self.parameters.reach_px if at.threshold is None else 1.0 / at.threshold - 1.0
        truth, detections = aligned.truth, aligned.detections
        builder = OutcomeBuilder(aligned)
        builder.set(Side.TRUTH, np.arange(truth.object_count), Outcome.FALSE_NEGATIVE)
        builder.set(Side.DETECTIONS, np.arange(detections.object_count), Outcome.BACKGROUND)
        count, nearest_px = detections.object_count, np.full(detections.object_count, np.inf)
        for frame in range(truth.frame_count):
            ours = np.arange(*detections.frame_starts[frame : frame + 2])
            free = detections.confidences[ours] >= (at.confidence or 0.0)
            builder.set(Side.DETECTIONS, ours[~free], Outcome.IGNORED)
            for row in range(*truth.frame_starts[frame : frame + 2]):
                self._take(aligned, builder, (row, ours, free), reach, nearest_px)
        labels = np.array([truth.labels[index] for index in truth.label_indices.tolist()] or [""])
        name = labels[-1]
        return builder.build(
            {
                "nearest_px": {
                    Side.TRUTH: np.zeros(truth.object_count),
                    Side.DETECTIONS: nearest_px,
                },
                "objects": {
                    Side.TRUTH: np.ones(truth.object_count, dtype=np.int64),
                    Side.DETECTIONS: np.full(count, truth.object_count),
                },
                "last_label": {
                    Side.TRUTH: np.full(truth.object_count, name),
                    Side.DETECTIONS: np.full(count, name),
                },
            }
        )

    def _take(
        self,
        aligned: Aligned,
        builder: OutcomeBuilder,
        place: tuple[int, np.ndarray, np.ndarray],
        reach: float,
        nearest_px: np.ndarray,
    ) -> None:
        """Match one object of a frame."""
        row, ours, free = place
        truth, detections = aligned.truth, aligned.detections
        if not len(ours):
            return
        offsets = detections.coordinates[ours, :2] - truth.coordinates[row, :2]
        distances = np.hypot(offsets[:, 0], offsets[:, 1])
        np.minimum.at(nearest_px, ours, distances)
        same = detections.label_indices[ours] == truth.label_indices[row]
        near = (distances <= reach) & free
        for outcome, which in (
            (Outcome.MISCLASSIFIED, near & ~same),
            (Outcome.DUPLICATE, near & same),
            (Outcome.MISLOCALISED, same & free & (distances > reach) & (distances <= 3 * reach)),
        ):
            builder.set(Side.DETECTIONS, ours[which], outcome)
            others = np.full(np.count_nonzero(which), row)
            builder.relate(Side.DETECTIONS, ours[which], others, distances_px=distances[which])
        candidates = np.flatnonzero(near & same)
        if not len(candidates):
            return
        best = candidates[np.argmin(distances[candidates])]
        pair = np.array([row]), ours[best : best + 1]
        builder.match(*pair, similarities=1.0 / (1.0 + distances[best : best + 1]))
        share = 1.0 / max(1, truth.object_count)
        builder.share(Side.TRUTH, pair[0], share)
        builder.share(Side.DETECTIONS, pair[1], share)
        yes = np.ones(1, dtype=np.bool_)
        builder.break_track(*pair, switches=yes, fragments=yes)
        free[best] = False
