"""Presets as tables: all of them by benchmark, or what one stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import ConsoleRenderable, Group, RenderableType
from rich.text import Text

from vidscore_cli.output import indented
from vidscore_cli.report_table import plain_table
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.presets import Preset
from vidscore_evaluators.registry import create_evaluator


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


def one_preset(preset: Preset) -> ConsoleRenderable:
    """All about a preset."""
    return Group(*_one_preset(preset))


def _one_preset(preset: Preset) -> Iterator[RenderableType]:
    yield Text(escape_controls(f"{preset.name} {preset.version}"), style="bold")
    yield Text(preset.title)
    yield Text("")
    yield Text(f"Benchmark:  {preset.benchmark}")
    yield Text(f"Reproduces: {preset.scorer}")
    yield Text(f"Files:      {preset.format or 'told by their content'}")
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
