"""Log-average miss rate: misses against false alarms per frame, on logarithmic scales.

Source: the trustworthiness paper, section 2 (after P. Dollar et al., "Pedestrian Detection: An
Evaluation of the State of the Art"). It is the geometric mean of the miss rate at nine rates of
false positives per frame (FPPI), evenly spaced in the logarithm from 1e-2 to 1.

Readings of this project:

1. The miss rate at a rate f is that of the last point of the curve with FPPI <= f, and 1 if
   there is none.
2. A miss rate counts as at least 1e-10. A perfect system therefore has 1e-10, not 0.
3. Detections of equal confidence form one step of the curve.
4. FPPI is over all evaluated frames of the domain, with and without objects of the class.
5. The mean is over the classes that are present in the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from vidscore_evaluators._report_rows import Figures, block_of, mean, ratio
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.criterion import (
    LEFT_OUT,
    RANKED,
    THRESHOLD,
    Criterion,
    CriterionParameters,
    ThresholdGrid,
    distance_measure,
    left_out_table,
)
from vidscore_evaluators.deferred import Deferred
from vidscore_evaluators.detection._outcome_rows import (
    assigned_builder,
    class_cells,
    count_figures,
    look_at,
    with_shares,
)
from vidscore_evaluators.detection._outcomes import (
    ROW_BYTES,
    Assignment,
    assigned_outcomes,
    assigned_similarity,
    class_table,
    outcome_table,
)
from vidscore_evaluators.detection._precision_recall import (
    Cell,
    ClassEntry,
    class_entries,
    log_average_miss_rates,
    miss_rates_at,
    powers_of_ten,
)
from vidscore_evaluators.detection.average_precision import CLASSES, OUTCOMES
from vidscore_evaluators.evaluator import Growth, Task
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Curve, Number, ReportWarning, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

FRAMES = "frames"

CURVE_SAMPLES = powers_of_ten(range(-60, 21), 20)
"""False positives per frame at which curves are reported: twenty per decade."""


@dataclass(frozen=True)
class LogAverageMissRateParameters(CriterionParameters):
    """Parameters of `LogAverageMissRate`."""

    threshold: float = parameter(0.5, "Least similarity of a true positive.", **THRESHOLD)
    assignment: Assignment = parameter(
        "greedy",
        "Greedy by confidence, optimal on the confidence-extended similarity, or each detection's "
        "best object only, taken or not.",
    )

    @property
    def unit_confidences(self) -> bool:
        """Whether confidences must lie from 0 to 1, because they extend the similarity."""
        return assigned_similarity(self.similarity, self.assignment).confidence_extended


class LogAverageMissRate(Criterion[LogAverageMissRateParameters]):
    """Log-average miss rate by class and its mean over classes."""

    name = "log-amr"
    version = "1.3.0"
    title = "Log-average miss rate over false positives per frame"
    task = Task.DETECTION
    Parameters = LogAverageMissRateParameters
    measures = (
        distance_measure("log_amr", "Log-average miss rate at the threshold, mean over classes."),
        distance_measure("log_amr_m_partial", "Its mean over the thresholds 0.5, 0.55, ..., 0.95."),
        distance_measure(
            "log_amr_m_full", "Its mean over the whole grid of thresholds except its extremes."
        ),
    )
    ranking = ("log_amr",)
    needs = RANKED
    outcomes_nest = True
    threshold_parameter = "threshold"

    @property
    def growth(self) -> Growth:
        """One row per confidence, class and pattern of outcomes."""
        return Growth("detection", ROW_BYTES)

    @property
    def _grid(self) -> ThresholdGrid:
        return ThresholdGrid.of(self.parameters.similarity, [self.parameters.threshold])

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Outcomes of every detection at every threshold of the grid, and frames by domain."""
        scene = self.scene(aligned)
        outcomes = assigned_outcomes(
            scene,
            self.parameters.similarity,
            self.parameters.assignment,
            list(map(self.parameters.least, self._grid.thresholds)),
        )
        return {
            OUTCOMES: outcome_table(scene, outcomes),
            CLASSES: class_table(scene, {"truth": scene.truth.counts}),
            FRAMES: _frame_table(scene),
            LEFT_OUT: left_out_table(scene),
        }

    def scores(self, tally: Tally) -> Scores:
        """Scores at the threshold of the parameters."""
        return self._rates(tally).scores(self.parameters.threshold)

    def grid_scores(self, tally: Tally, parameter: str) -> Mapping[float, Scores]:
        """Scores at every threshold of the grid, without curves."""
        if parameter != "threshold":
            return super().grid_scores(tally, parameter)
        rates = self._rates(tally)
        return {value: rates.bare_scores(value) for value in self.grid(parameter)}

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """The matching at one threshold, restricted to detections at or above a confidence."""
        point = look_at(self.parameters, "threshold", at)
        scene = self.scene(aligned, traced=True)
        similarity, assignment = self.parameters.similarity, self.parameters.assignment
        least = self.parameters.least(point.threshold)
        builder = assigned_builder(
            aligned, scene, similarity, assignment, least, confidence=point.confidence
        )
        return with_shares(builder.build(), Outcome.FALSE_NEGATIVE, Outcome.FALSE_POSITIVE)

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Counts; for one class, the point of its curves; and the rate if no detection is left out.

        Figures per frame are left out if the outcomes do not know the number of frames.
        """
        counts = count_figures(outcomes)
        figures: dict[str, Number] = {**counts}
        cells = class_cells(outcomes, pooled=self.parameters.classes == "ignore")
        truth = [cell.counts["truth"] for cell in cells]
        if len(cells) == 1 and truth[0]:
            missed = counts["false_negatives"] / truth[0]
            figures |= {"miss_rate": missed, "recall": 1.0 - missed}
        if outcomes.frame_counts is None:
            return figures
        frames = int(outcomes.frame_counts.sum())
        if len(cells) == 1:
            figures["false_positives_per_frame"] = ratio(counts["false_positives"], frames)
        if at.confidence is None:
            rates = (
                log_average_miss_rates(cell.ranked, count, frames)[0]
                for cell, count in zip(cells, truth, strict=True)
            )
            figures["log_amr"] = mean(rates)
        return figures

    def _rates(self, tally: Tally) -> _MissRates:
        return _MissRates(tally, self._grid, self.scene_warnings(tally))


def _frame_table(scene: Scene) -> Table:
    return build_table(
        TableSchema(texts=("domain",), counts=("frames",)),
        [key.domain for key in scene.sequences],
        [scene.frame_sequences],
        counts=[np.ones(scene.frame_count, dtype=np.int64)],
    )


class _MissRates:
    """Log-average miss rates of every class at every threshold of a tally."""

    def __init__(
        self, tally: Tally, grid: ThresholdGrid, warnings: tuple[ReportWarning, ...]
    ) -> None:
        self._grid = grid
        self._warnings = warnings
        table = tally.tables[FRAMES]
        self._frames: dict[str | None, int] = {None: int(table.count("frames").sum())}
        self._frames.update(zip(table.texts("domain"), table.count("frames").tolist(), strict=True))
        self._entries = class_entries(
            tally.tables[OUTCOMES],
            tally.tables[CLASSES],
            len(grid.thresholds),
            lambda cell: log_average_miss_rates(
                cell.ranked, cell.counts["truth"], self._frames[cell.domain]
            ),
        )
        # Computed once for all thresholds of a sweep.
        self._means = {entry: grid.means(entry.values) for entry in self._entries}

    def scores(self, threshold: float) -> Scores:
        """Scores and curves at one threshold."""
        [column] = self._grid.columns([threshold])
        return replace(
            self.bare_scores(threshold), curves=Deferred(lambda: tuple(self._curves(column)))
        )

    def bare_scores(self, threshold: float) -> Scores:
        """Scores at one threshold, without curves."""
        [column] = self._grid.columns([threshold])
        figures = [
            Figures(entry.domain, entry.label, None, self._measures(entry, column))
            for entry in self._entries
        ]
        return Scores((block_of(figures),), warnings=self._warnings)

    def _measures(self, entry: ClassEntry, column: int) -> dict[str, Number]:
        partial, full = self._means[entry]
        return {
            "log_amr": entry.values[column],
            "log_amr_m_partial": partial,
            "log_amr_m_full": full,
        }

    def _curves(self, column: int) -> Iterator[Curve]:
        for entry in self._entries:
            yield from self._curves_of(entry, column)

    def _curves_of(self, entry: ClassEntry, column: int) -> Iterator[Curve]:
        where = (entry.domain, entry.label)
        samples = CURVE_SAMPLES.tolist()
        missed = entry.mean_curve(self._miss_rate_curve(column), len(samples))
        found = [None if rate is None else 1.0 - rate for rate in missed]
        yield Curve("log_amr_by_threshold", self._grid.curve("log_amr", entry.values), *where)
        yield Curve(
            "miss_rate", {"false_positives_per_frame": samples, "miss_rate": missed}, *where
        )
        yield Curve("roc", {"false_positives_per_frame": samples, "recall": found}, *where)

    def _miss_rate_curve(self, column: int) -> Callable[[Cell], FloatArray]:
        """A function from a class to its miss rates, by rate of false positives, at a threshold."""

        def curve(cell: Cell) -> FloatArray:
            true, false = cell.ranked.true[:, [column]], cell.ranked.false[:, [column]]
            truth, frames = cell.counts["truth"], self._frames[cell.domain]
            return miss_rates_at(true, false, truth, frames, CURVE_SAMPLES).reshape(-1)

        return curve
