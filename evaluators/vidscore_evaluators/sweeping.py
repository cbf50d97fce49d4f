"""Scores over a range of one parameter: what a threshold does to a score, and to a ranking.

Scores come without curves: a sweep is after the scores, and curves of a hundred values cost more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.parameters import parameter_values, parse_parameters
from vidscore_evaluators.report import Scores


def sweep(
    evaluator: Evaluator[Any],
    parameter: str,
    truth: Annotations,
    detections: Annotations,
    values: Sequence[float] | None = None,
) -> dict[float, Scores]:
    """Score the same input at each of several values of a parameter.

    An evaluator whose tally holds many values at once is run once for those, and once for each
    other value; the scores are the same.

    Args:
        evaluator: The evaluator; its other parameters stay as they are.
        parameter: Name of the parameter; one that takes several values gets one at a time.
        truth: Truth, restricted to the evaluated frames.
        detections: Detections.
        values: The values; the evaluator's own grid if left out.

    Returns:
        Scores by value, in the order of `values`.

    Raises:
        ParameterError: If a value is outside the parameter's bounds.
    """
    wanted = evaluator.grid(parameter) if values is None else tuple(values)
    held = evaluator.grid_scores(evaluator.tally(truth, detections), parameter)
    return {
        value: held[value]
        if value in held
        else _scores(with_parameter(evaluator, parameter, value), truth, detections)
        for value in wanted
    }


def with_parameter(evaluator: Evaluator[Any], parameter: str, value: float) -> Evaluator[Any]:
    """The same evaluator with another value of one parameter.

    Raises:
        ParameterError: If the value is outside the parameter's bounds.
    """
    present = parameter_values(evaluator.parameters)
    several = isinstance(present[parameter], tuple)
    changed = present | {parameter: (value,) if several else value}
    return type(evaluator)(parse_parameters(evaluator.Parameters, changed), evaluator.specification)


def _scores(evaluator: Evaluator[Any], truth: Annotations, detections: Annotations) -> Scores:
    return replace(evaluator.scores(evaluator.tally(truth, detections)), curves=())
