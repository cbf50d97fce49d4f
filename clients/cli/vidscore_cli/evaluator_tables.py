"""Evaluators and presets as tables: all, by task or benchmark, or one in detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from rich.console import ConsoleRenderable, Group, RenderableType
from rich.table import Table
from rich.text import Text

from vidscore_cli.output import indented
from vidscore_cli.report_table import plain_table
from vidscore_evaluators.annotations import ARITIES
from vidscore_evaluators.evaluator import Direction, Measure
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.parameters import Bounds, ParameterDescription, describe_parameters
from vidscore_evaluators.presets import Preset
from vidscore_evaluators.registry import EvaluatorClass, create_evaluator

BETTER = {Direction.HIGHER: "higher", Direction.LOWER: "lower", Direction.NONE: ""}


def all_evaluators(
    classes: Sequence[EvaluatorClass], presets: ConsoleRenderable
) -> ConsoleRenderable:
    """Evaluators by task, with what each needs; then the table of presets."""
    parts: list[RenderableType] = []
    ordered = sorted(classes, key=lambda chosen: str(chosen.task))
    for task, group in groupby(ordered, key=lambda chosen: str(chosen.task)):
        table = plain_table("name", "title", "needs")
        for chosen in group:
            table.add_row(Text(chosen.name, style="bold"), chosen.title, _needs(chosen))
        parts.extend([Text(task.capitalize(), style="bold"), indented(table), Text("")])
    parts.append(presets)
    parts.append(Text("vidscore evaluators NAME shows the parameters and measures of one."))
    return Group(*parts)


def one_evaluator(chosen: EvaluatorClass) -> Iterator[RenderableType]:
    """All about an evaluator."""
    yield Text(f"{chosen.name} {chosen.version}", style="bold")
    yield Text(chosen.title)
    yield Text("")
    yield Text(f"Task:     {chosen.task}")
    yield Text(f"Needs:    {_needs(chosen)}")
    yield Text(f"Ranks by: {', then '.join(chosen.ranking)}")
    parameters = describe_parameters(chosen.Parameters)
    if parameters:
        yield from _titled("Parameters (--set NAME=VALUE)", _parameter_table(parameters))
    yield from _titled("Measures", _measure_table(chosen.measures))


def _titled(title: str, table: Table) -> Iterator[RenderableType]:
    yield Text("")
    yield Text(title, style="bold")
    yield indented(table)


def _parameter_table(parameters: Sequence[ParameterDescription]) -> Table:
    table = plain_table("name", "default", "type", "description")
    for parameter in parameters:
        table.add_row(
            Text(parameter.name, style="bold"),
            f"{_value(parameter.default)} {parameter.bounds.unit}".strip(),
            _type(parameter),
            _explained(parameter.bounds),
        )
    return table


def _measure_table(measures: Sequence[Measure]) -> Table:
    table = plain_table("name", "unit", "range", "better", "description")
    for measure in measures:
        table.add_row(
            Text(measure.name, style="bold"),
            measure.unit,
            _range(measure.minimum, measure.maximum),
            BETTER[measure.direction],
            measure.description,
        )
    return table


def _needs(chosen: EvaluatorClass) -> str:
    needs = chosen.needs
    truth, detections = (
        " or ".join(ARITIES[arity].split(" (")[0] for arity in arities)
        for arities in (needs.truth_arities, needs.detection_arities)
    )
    shapes = truth if truth == detections else f"{truth} as truth, {detections} as detections"
    described = describe_parameters(chosen.Parameters)
    if any("mask" in entry.choices for entry in described if entry.name == "base"):
        shapes += " or masks"
    confidences = ", confidences" + " from 0 to 1" * needs.unit_confidences
    extras = [confidences] * needs.confidences + [", tracks"] * needs.tracks
    return "".join([shapes, *extras])


def _type(parameter: ParameterDescription) -> str:
    if parameter.choices:
        return " or ".join(parameter.choices)
    bounds = parameter.bounds
    limits = [
        f"{sign} {_value(limit)}"
        for sign, limit in (
            (">=", bounds.minimum),
            (">", bounds.exclusive_minimum),
            ("<=", bounds.maximum),
            ("<", bounds.exclusive_maximum),
        )
        if limit is not None
    ]
    return f"{parameter.type_name} {', '.join(limits)}".strip()


def _explained(bounds: Bounds) -> str:
    if not bounds.grid:
        return bounds.description
    steps = [_value(step) for step in bounds.grid]
    gaps = {round(last - first, 9) for first, last in pairwise(bounds.grid)}
    if len(steps) > 4 and len(gaps) == 1:
        steps[2:-1] = ["..."]
    return f"{bounds.description} Swept over {', '.join(steps)}."


def _range(minimum: float | None, maximum: float | None) -> str:
    if minimum is None and maximum is None:
        return "any"
    if maximum is None:
        return f">= {_value(minimum)}"
    return f"<= {_value(maximum)}" if minimum is None else f"{_value(minimum)} to {_value(maximum)}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(_value(entry) for entry in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def all_presets(presets: Sequence[Preset]) -> ConsoleRenderable:
    """Presets by benchmark, with the official scorer that each reproduces."""
    parts: list[RenderableType] = []
    ordered = sorted(presets, key=lambda preset: (preset.benchmark.casefold(), preset.name))
    for benchmark, group in groupby(ordered, key=lambda preset: preset.benchmark):
        table = plain_table("preset", "title", "official scorer")
        for preset in group:
            table.add_row(Text(preset.name, style="bold"), preset.title, preset.scorer)
        parts.extend([Text(benchmark, style="bold"), indented(table), Text("")])
    return Group(*parts)


def one_preset(preset: Preset) -> Iterator[RenderableType]:
    """All about a preset."""
    yield Text(escape_controls(f"{preset.name} {preset.version}"), style="bold")
    yield Text(preset.title)
    yield Text("")
    yield Text(f"Benchmark:  {preset.benchmark}")
    yield Text(f"Reproduces: {preset.scorer}")
    yield Text(f"Files:      {preset.format or 'recognised by content'}")
    yield Text(f"Labels:     {escape_controls(', '.join(preset.labels or ['all']))}")
    yield Text("")
    yield Text("Evaluators, with the parameters that differ from their defaults", style="bold")
    table = plain_table("evaluator", "version", "parameter", "value")
    for entry in preset.evaluators:
        version = create_evaluator(entry.name, entry.parameters).version
        lines = [(name, _shown(value)) for name, value in entry.parameters.items()] or [("", "")]
        for index, (name, value) in enumerate(lines):
            first = (Text(entry.name, style="bold"), version) if index == 0 else ("", "")
            table.add_row(*first, name, value)
    yield indented(table)


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value))
    return escape_controls(str(value))
