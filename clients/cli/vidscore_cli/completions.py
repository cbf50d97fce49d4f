"""Words that a shell completes: names of formats, evaluators and their parameters."""

from __future__ import annotations

import click

FORMAT_NAMES = (
    "spotgeo-json, neovision2-csv, coco-json, pascal-voc, dota, mots, motchallenge, "
    "kitti-tracking, visdrone-det, visdrone-mot, yolo-text, generic-csv, jsonl, parquet, arrow"
)
"""Names of all formats; asking the formats themselves would cost every command their imports."""


def complete_format(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of formats that begin as typed, for shells that complete."""
    return [name for name in FORMAT_NAMES.split(", ") if name.startswith(incomplete)]


def complete_setting(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """``NAME=`` for each parameter of the typed evaluators that begins as typed."""
    from vidscore_evaluators.parameters import describe_parameters
    from vidscore_evaluators.registry import evaluator_class, evaluator_names

    # Before its value is typed, an option keeps click from giving the words to arguments.
    words = [*(ctx.params.get("evaluators") or ()), *ctx.args]
    typed = [name for name in words if name in evaluator_names()]
    names = [
        f"{evaluator}.{description.name}=" if len(typed) > 1 else f"{description.name}="
        for evaluator in typed
        for description in describe_parameters(evaluator_class(evaluator).Parameters)
    ]
    return [name for name in names if name.startswith(incomplete)]


def complete_evaluator(
    _ctx: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[str]:
    """Names of evaluators and presets that begin as typed, for shells that complete."""
    from vidscore_evaluators.presets import preset_names
    from vidscore_evaluators.registry import evaluator_names

    names = dict.fromkeys([*evaluator_names(), *preset_names()])
    return [name for name in names if name.startswith(incomplete)]
