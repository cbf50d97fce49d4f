"""`vidscore evaluators`: which evaluators there are, what one takes and gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.options import complete_evaluator, format_option
from vidscore_cli.output import STDOUT, deliver_json, deliver_table, say
from vidscore_evaluators.errors import UnknownEvaluatorError

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from vidscore_evaluators.evaluator import Measure
    from vidscore_evaluators.registry import EvaluatorClass


@command(
    "evaluators",
    examples=("vidscore evaluators", "vidscore evaluators neovision2 --format json"),
)
@click.argument("name", required=False, shell_complete=complete_evaluator)
@format_option("table", "json")
def evaluators(name: str | None, format_: str) -> None:
    """List the evaluators, or show the parameters and measures of one."""
    from vidscore_cli.evaluator_tables import all_evaluators, one_evaluator
    from vidscore_evaluators.registry import evaluator_names

    if name is not None:
        chosen = _find(name)
        _write(describe(chosen), one_evaluator(chosen), format_)
        return
    classes, broken = load_all(evaluator_names())
    for line in broken:
        say(f"Warning: {line}", err=True)
    _write([describe(chosen) for chosen in classes], all_evaluators(classes), format_)


def _find(name: str) -> EvaluatorClass:
    from vidscore_evaluators.registry import evaluator_class

    try:
        return evaluator_class(name)
    except UnknownEvaluatorError as error:
        raise click.UsageError(str(error)) from None


def load_all(names: Sequence[str]) -> tuple[list[EvaluatorClass], list[str]]:
    """Load evaluators; a plug-in that cannot be loaded must not hide the others.

    Returns:
        The evaluators, and a sentence for each that could not be loaded.
    """
    from vidscore_evaluators.registry import evaluator_class

    classes, broken = [], []
    for name in names:
        try:
            classes.append(evaluator_class(name))
        except Exception as error:  # noqa: BLE001 - a plug-in is foreign code and may raise anything
            broken.append(f"evaluator {name} cannot be loaded ({type(error).__name__}: {error})")
    return classes, broken


def describe(chosen: EvaluatorClass) -> dict[str, Any]:
    """All about an evaluator, as JSON can hold it."""
    from vidscore_evaluators.annotations import ARITIES
    from vidscore_evaluators.parameters import json_schema

    return {
        "name": chosen.name,
        "version": chosen.version,
        "title": chosen.title,
        "task": str(chosen.task),
        "needs": {
            "truth": [ARITIES[arity] for arity in chosen.needs.truth_arities],
            "detections": [ARITIES[arity] for arity in chosen.needs.detection_arities],
            "confidences": chosen.needs.confidences,
            "tracks": chosen.needs.tracks,
        },
        "ranking": list(chosen.ranking),
        "parameters": json_schema(chosen.Parameters),
        "measures": [_describe_measure(measure) for measure in chosen.measures],
    }


def _describe_measure(measure: Measure) -> dict[str, Any]:
    return {
        "name": measure.name,
        "description": measure.description,
        "unit": measure.unit,
        "minimum": measure.minimum,
        "maximum": measure.maximum,
        "direction": str(measure.direction),
        "averaging": str(measure.averaging),
        "dissimilarity": str(measure.dissimilarity),
    }


def _write(document: object, table: ConsoleRenderable, format_: str) -> None:
    if format_ == "json":
        deliver_json(document, STDOUT)
    else:
        deliver_table(table, STDOUT)
