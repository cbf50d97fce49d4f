"""Would the order of systems be another with another threshold? Ranks over grids of parameters.

Source: the paper, sections 3.1 and 6 and appendix 2. Every parameter that declares a grid is gone
through, the others staying as they are. So is the least confidence that a detection must have,
where systems tell confidences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.report import Number, Scores
from vidscore_evaluators.sweeping import sweep
from vidscore_evaluators.trust.dissimilarities import swept_parameters, usable_grid
from vidscore_evaluators.trust.indicators import Indicators, indicators
from vidscore_evaluators.trust.systems import Contest, bare_report, rank_reports

CONFIDENCE = "least confidence"
"""What the sweep over confidences is called; no parameter can have a space in its name."""

CONFIDENCES = tuple(step / 20 for step in range(20))


@dataclass(frozen=True, eq=False)
class Sweep:
    """Ranks of K systems at V values of a parameter.

    Attributes:
        parameter: The parameter.
        values: (V,) its values.
        ranks: (V, K) ranks, 1 for the best.
        scores: For each measure that ranks, V rows of K scores.
    """

    parameter: str
    values: tuple[float, ...]
    ranks: IntArray
    scores: Mapping[str, list[list[Number]]]

    def indicators(self, seed: int) -> Indicators:
        """How much ranks depend on the parameter (appendix 2)."""
        return indicators(self.ranks.astype(np.float64), seed)


def sweeps(evaluator: Evaluator[Any], contest: Contest) -> Iterator[Sweep]:
    """Go through every grid.

    Args:
        evaluator: The evaluator, with the parameters that stay.
        contest: The systems.

    Yields:
        A sweep for each parameter that declares a grid, and one over confidences.
    """
    for parameter in swept_parameters(evaluator):
        values = usable_grid(evaluator, parameter)
        columns = [
            sweep(evaluator, parameter, contest.truth, detections, values)
            for detections in contest.systems.values()
        ]
        yield _sweep(evaluator, parameter, values, [list(column.values()) for column in columns])
    if evaluator.needs.confidences and _tell_confidences(contest):
        yield _confidence_sweep(evaluator, contest)


def _confidence_sweep(evaluator: Evaluator[Any], contest: Contest) -> Sweep:
    columns = [
        [
            evaluator.scores(
                evaluator.tally(
                    contest.truth, detections.take_objects(detections.confidences >= value)
                )
            )
            for value in CONFIDENCES
        ]
        for detections in contest.systems.values()
    ]
    return _sweep(evaluator, CONFIDENCE, CONFIDENCES, columns)


def _tell_confidences(contest: Contest) -> bool:
    return any(bool((side.confidences != 1.0).any()) for side in contest.systems.values())


def _sweep(
    evaluator: Evaluator[Any],
    parameter: str,
    values: tuple[float, ...],
    columns: list[list[Scores]],
) -> Sweep:
    """Rank systems at each value, out of their scores at each."""
    reports = [
        [bare_report(evaluator, scores) for scores in row] for row in zip(*columns, strict=True)
    ]
    return Sweep(
        parameter,
        values,
        np.array([rank_reports(evaluator, row) for row in reports]),
        {
            measure: [[report.value(measure) for report in row] for row in reports]
            for measure in evaluator.ranking
        },
    )
