"""`vidscore evaluators`: the evaluators and presets, or one of them in detail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.completions import complete_evaluator
from vidscore_cli.input_paths import EvaluatorPath
from vidscore_cli.options import format_option, output_option
from vidscore_cli.output import check_output, deliver, deliver_json, deliver_table, say
from vidscore_evaluators.errors import UnknownEvaluatorError, VidscoreError

if TYPE_CHECKING:
    from rich.console import ConsoleRenderable

    from vidscore_evaluators.evaluator import Measure
    from vidscore_evaluators.presets import Preset
    from vidscore_evaluators.registry import EvaluatorClass


@command(
    "evaluators",
    examples=(
        "vidscore evaluators",
        "vidscore evaluators neovision2 --format json",
        "vidscore evaluators mot17",
        "vidscore evaluators mot17 --format toml",
    ),
)
@click.argument("name", required=False, type=EvaluatorPath(), shell_complete=complete_evaluator)
@click.option("--presets", "presets_alone", is_flag=True, help="List only the presets.")
@format_option("table", "json", "toml")
@output_option()
def evaluators(name: str | None, presets_alone: bool, format_: str, output: str) -> None:
    """List the evaluators and presets, or show one.

    An evaluator has parameters and measures. A preset is one name for a benchmark: its evaluators
    with their parameters, labels and file format. Its TOML is a start for a preset of your own,
    which you name by the path of its file.
    """
    from rich.console import Group

    from vidscore_cli.evaluator_tables import all_evaluators, all_presets, one_evaluator, one_preset
    from vidscore_evaluators.presets import Preset, preset_names, write_preset
    from vidscore_evaluators.registry import evaluator_names, unused_plug_ins

    check_output(output)
    chosen = None if name is None else _find(name)
    if format_ == "toml":
        if not isinstance(chosen, Preset):
            raise click.UsageError("--format toml: name a preset")
        deliver(write_preset(chosen), output)
    elif isinstance(chosen, Preset):
        _write(describe_preset(chosen), Group(*one_preset(chosen)), format_, output)
    elif chosen is not None:
        _write(describe(chosen), Group(*one_evaluator(chosen)), format_, output)
    else:
        presets, broken = load_presets(preset_names())
        listing = [describe_preset(preset) for preset in presets], all_presets(presets)
        if not presets_alone:
            classes, unusable = load_all(evaluator_names())
            broken = [*unusable, *unused_plug_ins(), *broken]
            table = all_evaluators(classes, listing[1])
            listing = [describe(one) for one in classes], table
        for line in broken:
            say(f"Warning: {line}", err=True)
        _write(*listing, format_, output)


def _find(name: str) -> EvaluatorClass | Preset:
    from vidscore_evaluators.presets import preset_of
    from vidscore_evaluators.registry import evaluator_class

    try:
        return preset_of(name, files=True) or evaluator_class(name)
    except UnknownEvaluatorError as error:
        raise click.UsageError(str(error)) from None


def load_presets(names: Sequence[str]) -> tuple[list[Preset], list[str]]:
    """Load presets; an unusable one of a plug-in must not hide the others.

    Returns:
        The presets, and a sentence for each that could not be loaded.
    """
    from vidscore_evaluators.presets import broken_plug_ins, find_preset

    presets, broken = [], []
    for name in names:
        try:
            presets.append(find_preset(name))
        except VidscoreError as error:
            broken.append(f"preset {name} cannot be used ({error})")
    return presets, [*broken, *broken_plug_ins()]


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
    """All about an evaluator, for JSON."""
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


def describe_preset(preset: Preset) -> dict[str, Any]:
    """All about a preset, for JSON."""
    return {
        "name": preset.name,
        "version": preset.version,
        "title": preset.title,
        "benchmark": preset.benchmark,
        "scorer": preset.scorer,
        "format": preset.format or None,
        "labels": None if preset.labels is None else list(preset.labels),
        "evaluators": [
            {"name": entry.name, "parameters": dict(entry.parameters)}
            for entry in preset.evaluators
        ],
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


def _write(document: object, table: ConsoleRenderable, format_: str, output: str) -> None:
    if format_ == "json":
        deliver_json(document, output)
    else:
        deliver_table(table, output)
