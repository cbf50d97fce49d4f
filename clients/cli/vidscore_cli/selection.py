"""Which evaluators judge, and with which parameters: command line and manifest together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from vidscore_evaluators.errors import ParameterError, UnknownEvaluatorError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

Settings = dict[str, dict[str, str]]
"""Evaluator -> parameter -> value, as typed."""


def select_evaluators(
    names: Sequence[str], settings: Sequence[str], manifest: BenchmarkSpec
) -> tuple[BenchmarkSpec, Settings]:
    """Join what was typed with what the manifest says.

    Evaluators that are typed take the place of the manifest's; one that the manifest names as
    well keeps the manifest's parameters, and ``--set`` comes over both.

    Args:
        names: Evaluators as typed; may be empty where the manifest names some.
        settings: Values of ``--set`` as typed.
        manifest: The manifest, or an empty specification.

    Returns:
        The specification with the evaluators that judge, and the settings by evaluator.

    Raises:
        click.UsageError: If there is no evaluator, one comes twice, or a setting fits none.
    """
    listed = {entry.name: entry for entry in manifest.evaluators}
    chosen = [listed.get(name, EvaluatorSpec(name)) for name in names] or list(listed.values())
    if not chosen:
        raise click.UsageError(
            "no evaluator: name one or more (vidscore evaluators lists them), "
            "or give a --manifest that does"
        )
    if len({entry.name for entry in chosen}) < len(chosen):
        raise click.UsageError("an evaluator is named twice")
    typed = _by_evaluator(settings, [entry.name for entry in chosen])
    evaluators = tuple(
        replace(entry, parameters={**entry.parameters, **typed.get(entry.name, {})})
        for entry in chosen
    )
    return replace(manifest, evaluators=evaluators), typed


def create_evaluators(
    specification: BenchmarkSpec, names: Sequence[str], typed: Settings
) -> list[Evaluator[Any]]:
    """Build the evaluators of a specification.

    Args:
        specification: A specification with evaluators.
        names: Evaluators that were typed: a wrong one is a mistake on the command line.
        typed: Settings that were typed, likewise.

    Raises:
        click.UsageError: If what was typed is wrong.
        VidscoreError: If what the manifest says is wrong.
    """
    return [_create(entry, specification, names, typed) for entry in specification.evaluators]


def _create(
    entry: EvaluatorSpec, specification: BenchmarkSpec, names: Sequence[str], typed: Settings
) -> Evaluator[Any]:
    try:
        return create_evaluator(entry.name, entry.parameters, specification)
    except UnknownEvaluatorError as error:
        if entry.name in names:
            raise click.UsageError(str(error)) from None
        raise
    except ParameterError as error:
        own = typed.get(entry.name, {})
        if any(fault.field in own for fault in error.faults):
            lines = "\n  ".join(str(fault) for fault in error.faults)
            raise click.UsageError(f"parameters of {entry.name}:\n  {lines}") from None
        raise ParameterError(
            [replace(fault, source=f"manifest, {entry.name}") for fault in error.faults]
        ) from None


def _by_evaluator(settings: Sequence[str], names: Sequence[str]) -> Settings:
    typed: Settings = {}
    for setting in settings:
        evaluator, name, value = _split(setting, names)
        typed.setdefault(evaluator, {})[name] = value
    return typed


def _split(setting: str, names: Sequence[str]) -> tuple[str, str, str]:
    left, equals, value = setting.partition("=")
    evaluator, dot, name = left.rpartition(".")
    if not equals or not name:
        raise click.UsageError(f"--set {setting}: expected NAME=VALUE or EVALUATOR.NAME=VALUE")
    if not dot and len(names) == 1:
        return names[0], name, value
    if evaluator in names:
        return evaluator, name, value
    found = f"{evaluator} is not being scored" if dot else "several evaluators are being scored"
    choices = ", ".join(f"{known}.{name}" for known in names)
    raise click.UsageError(f"--set {setting}: {found}; address one as {choices}")
