"""Which evaluators there are: built-in ones by import, others by entry point.

A distribution adds an evaluator with an entry point in the group ``vidscore.evaluators`` whose
object is a subclass of `vidscore_evaluators.evaluator.Evaluator`.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module, metadata
from typing import Any

from vidscore_evaluators.errors import UnknownEvaluatorError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.parameters import parse_parameters
from vidscore_evaluators.specification import BenchmarkSpec

ENTRY_POINT_GROUP = "vidscore.evaluators"

_BUILT_IN = {
    "spotgeo": "vidscore_evaluators.protocols.spotgeo:SpotGeo",
    "neovision2": "vidscore_evaluators.protocols.neovision2:Neovision2",
    "f1": "vidscore_evaluators.criteria.f1:F1",
    "map": "vidscore_evaluators.criteria.mean_average_precision:MeanAveragePrecision",
    "coco": "vidscore_evaluators.criteria.coco:Coco",
    "log-amr": "vidscore_evaluators.criteria.log_average_miss_rate:LogAverageMissRate",
}
"""Module and class by name; imported when asked for, so that start-up costs nothing."""

EvaluatorClass = type[Evaluator[Any]]


def evaluator_names() -> tuple[str, ...]:
    """Names of all evaluators, built-in ones first."""
    return (*_BUILT_IN, *sorted(name for name in _plug_ins() if name not in _BUILT_IN))


@cache
def evaluator_class(name: str) -> EvaluatorClass:
    """The evaluator class of that name.

    Raises:
        UnknownEvaluatorError: If there is none; the text names those there are.
    """
    if name in _BUILT_IN:
        module, class_name = _BUILT_IN[name].split(":")
        built_in: EvaluatorClass = getattr(import_module(module), class_name)
        return built_in
    plug_ins = _plug_ins()
    if name in plug_ins:
        plug_in: EvaluatorClass = plug_ins[name].load()
        return plug_in
    known = evaluator_names()
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}?" if close else "there are " + ", ".join(known)
    raise UnknownEvaluatorError(f"no evaluator is called {name!r}; {hint}")


def create_evaluator(
    name: str,
    parameters: Mapping[str, object] | None = None,
    specification: BenchmarkSpec = BenchmarkSpec(),
) -> Evaluator[Any]:
    """Build an evaluator from outside input.

    Args:
        name: Its name.
        parameters: Parameter values by name; the others take their defaults.
        specification: The benchmark's specification.

    Raises:
        UnknownEvaluatorError: If there is no evaluator of that name.
        ParameterError: With every fault of the parameters.
    """
    chosen = evaluator_class(name)
    # An evaluator's scores cannot depend on which others judge beside it.
    scene = replace(specification, evaluators=())
    return chosen(parse_parameters(chosen.Parameters, parameters or {}), scene)


def _plug_ins() -> dict[str, metadata.EntryPoint]:
    return {point.name: point for point in metadata.entry_points(group=ENTRY_POINT_GROUP)}
