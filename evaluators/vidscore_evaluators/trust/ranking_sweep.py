"""Would the order of systems be another with another threshold? Ranks over grids of parameters.

Source: the paper, sections 3.1 and 6 and appendix 2. Every parameter that declares a grid is gone
through, the others staying as they are. So is the least confidence that a detection must have,
where systems tell confidences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Evaluator, RankKey
from vidscore_evaluators.jobs import sweep
from vidscore_evaluators.report import Number
from vidscore_evaluators.runtime import Progress, map_in_order
from vidscore_evaluators.trust.dissimilarities import swept_parameters, usable_grid
from vidscore_evaluators.trust.indicators import Indicators, indicators
from vidscore_evaluators.trust.systems import (
    Contest,
    Request,
    bare_report,
    ranks_of_keys,
)

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


def sweeps(
    evaluator: Evaluator[Any],
    contest: Contest,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> tuple[Sweep, ...]:
    """Go through every grid.

    Args:
        evaluator: The evaluator, with the parameters that stay.
        contest: The systems.
        workers: Processes to use; the outcome does not depend on it.
        progress: Called with (grids of single systems done, those in all).

    Returns:
        A sweep for each parameter that declares a grid, and one over confidences.
    """
    grids = {name: usable_grid(evaluator, name) for name in swept_parameters(evaluator)}
    if evaluator.needs.confidences and _tell_confidences(contest):
        grids[CONFIDENCE] = CONFIDENCES
    request = Request.of(evaluator)
    pieces = [
        _Piece(request, parameter, values, contest.truth, detections)
        for parameter, values in grids.items()
        for detections in contest.systems.values()
    ]
    columns = iter(map_in_order(_judge, pieces, workers=workers, progress=progress))
    return tuple(
        _sweep(parameter, values, [next(columns) for _ in contest.systems])
        for parameter, values in grids.items()
    )


@dataclass(frozen=True, eq=False)
class _Piece:
    """A system that is judged at every value of a grid."""

    request: Request
    parameter: str
    values: tuple[float, ...]
    truth: Annotations
    detections: Annotations


@dataclass(frozen=True)
class _Judged:
    """A system at one value: what orders it, and the measures that do."""

    rank_key: RankKey
    scores: Mapping[str, Number]


def _judge(piece: _Piece) -> list[_Judged]:
    evaluator = piece.request.create()
    if piece.parameter == CONFIDENCE:
        scored = [
            evaluator.scores(evaluator.tally(piece.truth, _surer(piece.detections, value)))
            for value in piece.values
        ]
    else:
        found = sweep(evaluator, piece.parameter, piece.truth, piece.detections, piece.values)
        scored = list(found.values())
    reports = [bare_report(evaluator, scores) for scores in scored]
    return [
        _Judged(
            evaluator.rank_key(report),
            {measure: report.value(measure) for measure in evaluator.ranking},
        )
        for report in reports
    ]


def _surer(detections: Annotations, least: float) -> Annotations:
    return detections.take_objects(detections.confidences >= least)


def _tell_confidences(contest: Contest) -> bool:
    return any(bool((side.confidences != 1.0).any()) for side in contest.systems.values())


def _sweep(parameter: str, values: tuple[float, ...], columns: list[list[_Judged]]) -> Sweep:
    """Rank systems at each value, out of what each is at each."""
    rows = list(zip(*columns, strict=True))
    return Sweep(
        parameter,
        values,
        np.array([ranks_of_keys([judged.rank_key for judged in row]) for row in rows]),
        {
            measure: [[judged.scores[measure] for judged in row] for row in rows]
            for measure in columns[0][0].scores
        },
    )
