"""Inputs that the command line names: evaluators, manifest, truth and detections."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from msgspec import Struct, structs

from vidscore_cli.input_paths import EvaluatorPath
from vidscore_evaluators.errors import (
    Fault,
    InputError,
    ParameterError,
    SpecificationError,
    UnknownEvaluatorError,
)
from vidscore_evaluators.names import name_advice
from vidscore_evaluators.remote_files import data_path

if TYPE_CHECKING:
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.formats import Pair
    from vidscore_evaluators.formats.source import Source, Wanted
    from vidscore_evaluators.report import ReportWarning
    from vidscore_evaluators.selection import Selected, Selection
    from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec


class InputChoice(Struct, frozen=True):
    """The typed choice of data.

    Attributes:
        truth: Path of the truth.
        detections: Path of the detections.
        input_format: Name of their format, or ``auto``.
        image_size: Width and height of every image in pixels, if needed and known.
        on_error: Whether rows that cannot be read are refused or skipped.
        confidence_scale: How confidences are mapped to numbers from 0 to 1; None if they are not.
    """

    truth: str
    detections: str
    input_format: str
    image_size: tuple[int, int] | None = None
    on_error: Literal["refuse", "skip"] = "refuse"
    confidence_scale: str | None = None


class FileOptions(Struct, frozen=True):
    """Options shared by commands over files, by name; a command adds its own."""

    evaluators: tuple[str, ...]
    settings: tuple[str, ...]
    manifest: str | None
    truth: str
    input_format: str
    image_size: tuple[int, int] | None
    confidence_scale: str | None

    def choice(
        self, detections: str, on_error: Literal["refuse", "skip"] = "refuse"
    ) -> InputChoice:
        """The choice of data with these detections."""
        return InputChoice(
            self.truth,
            detections,
            self.input_format,
            self.image_size,
            on_error,
            self.confidence_scale,
        )


Settings = dict[str, dict[str, str]]
"""Evaluator -> parameter -> value, as typed."""


def check_format_name(name: str, option: str = "--input-format") -> None:
    """Refuse an unknown format.

    Raises:
        click.BadParameter: If there is no format of that name; the message names those there are.
    """
    from vidscore_evaluators.formats import AUTO, FORMATS

    if name not in (AUTO, *FORMATS):
        advice = name_advice(name, (AUTO, *FORMATS))
        raise click.BadParameter(f"unknown format {name!r}; {advice}", param_hint=option)


def check_scale_of_side(confidence_scale: str | None, side: str) -> None:
    """Refuse a scale for the truth, whose confidences are not used.

    Raises:
        click.UsageError: If there is one.
    """
    if confidence_scale is not None and side == "truth":
        raise click.UsageError("--confidence-scale needs --side detections")


def read_specification(manifest: str | None) -> BenchmarkSpec:
    """The manifest's specification; an empty one if there is no manifest.

    Raises:
        InputError: With every fault of the manifest.
    """
    from vidscore_evaluators.formats.manifest import read_manifest
    from vidscore_evaluators.specification import BenchmarkSpec

    return BenchmarkSpec() if manifest is None else read_manifest(Path(manifest))


def read_data(
    choice: InputChoice,
    specification: BenchmarkSpec,
    truth: Source | None = None,
    wanted: Wanted | None = None,
) -> Pair:
    """Read both sides.

    Args:
        choice: The choice of data.
        specification: The specification; detections may also belong to its sequences. Its presets
            give the format if none was typed.
        truth: The truth, if it was read already.
        wanted: The only sequences to read, for formats that support this; None for all.

    Raises:
        click.BadParameter: If there is no such format.
        InputError: With every fault of both sides.
    """
    from vidscore_evaluators.preparation import DataChoice, read_sides

    check_format_name(choice.input_format)
    return read_sides(
        specification,
        data_path(choice.truth) if truth is None else truth,
        data_path(choice.detections),
        DataChoice(
            format_name=choice.input_format,
            on_error=choice.on_error,
            confidence_scale=choice.confidence_scale,
            image_size=choice.image_size,
        ),
        wanted,
    )


def read_truth(
    path: str,
    input_format: str,
    specification: BenchmarkSpec,
    *,
    image_size: tuple[int, int] | None,
    on_error: Literal["refuse", "skip"] = "refuse",
) -> Source:
    """Read the truth alone, if detections come later or from several systems.

    Args:
        path: Path of the truth.
        input_format: Name of its format, or ``auto``.
        specification: The specification; its presets give the format if none was typed.
        image_size: Width and height of every image in pixels, if needed and known.
        on_error: Whether rows that cannot be read are refused or skipped.

    Raises:
        click.BadParameter: If there is no such format.
        InputError: With every fault of the truth.
    """
    from vidscore_evaluators.annotations import Side
    from vidscore_evaluators.formats import read_source
    from vidscore_evaluators.presets import format_of

    check_format_name(input_format)
    return read_source(
        data_path(path),
        Side.TRUTH,
        format_name=format_of(specification.evaluators, input_format, files=True),
        on_error=on_error,
        image_size=image_size,
    )


def select_part(
    selection: Selection,
    evaluators: Sequence[Evaluator[Any]],
    pair: Pair,
    specification: BenchmarkSpec,
) -> Selected:
    """Select the typed part of the data.

    Args:
        selection: The part.
        evaluators: Evaluators of the specification.
        pair: Both sides.
        specification: The specification.

    Raises:
        click.UsageError: If a name is unknown, or nothing is left to score.
    """
    from vidscore_evaluators.preparation import fitted
    from vidscore_evaluators.selection import select

    try:
        return select(selection, evaluators, fitted(pair, evaluators), specification)
    except ParameterError as error:
        raise click.UsageError("\n".join(fault.description for fault in error.faults)) from None


@contextmanager
def typed_operating_point() -> Iterator[None]:
    """Turn errors about ``--at-threshold`` and ``--at-confidence`` into usage errors.

    Raises:
        click.UsageError: If an evaluator has no such operating point.
    """
    try:
        yield
    except ParameterError as error:
        options = {"at_threshold": "--at-threshold", "at_confidence": "--at-confidence"}
        if not all(fault.field in options for fault in error.faults):
            raise
        lines = (f"{options[fault.field or '']}: {fault.description}" for fault in error.faults)
        raise click.UsageError("\n".join(lines)) from None


def check_outcomes(evaluators: Sequence[Evaluator[Any]], *, typed: bool) -> None:
    """Refuse evaluators that have no outcomes.

    Args:
        evaluators: The evaluators.
        typed: Whether they were named on the command line, and not by a manifest.

    Raises:
        ParameterError: If a manifest names some.
        click.UsageError: If some were typed.
    """
    from vidscore_evaluators.scoring import check_outcomes_offered

    try:
        check_outcomes_offered(evaluators)
    except ParameterError as error:
        if not typed:
            raise
        raise click.UsageError("\n".join(fault.description for fault in error.faults)) from None


def doubts(part: Selected) -> Iterator[ReportWarning]:
    """Warnings about both sides: those of reading them, and those for the evaluators' needs."""
    from vidscore_evaluators.plausibility.inputs import warnings_of_pair

    yield from part.pair.warnings
    given = (part.pair.truth.annotations, part.pair.detections.annotations, part.specification)
    for labels, ranked, tracked in dict.fromkeys(
        (one.needs.labels, one.needs.ranked, one.needs.tracks) for one in part.evaluators
    ):
        yield from warnings_of_pair(*given, labels, ranked=ranked, tracked=tracked)


def select_evaluators(
    names: Sequence[str], settings: Sequence[str], manifest: BenchmarkSpec
) -> tuple[BenchmarkSpec, Settings]:
    """Combine the typed evaluators and settings with the manifest.

    Typed evaluators replace the manifest's. One that the manifest also names keeps the manifest's
    parameters, and ``--set`` overrides both.

    Args:
        names: Evaluators as typed; may be empty if the manifest names some.
        settings: Values of ``--set`` as typed.
        manifest: The manifest, or an empty specification.

    Returns:
        The specification with the evaluators that judge, and the settings by evaluator.

    Raises:
        click.UsageError: If there is no evaluator, one comes twice, or a setting fits none.
    """
    from vidscore_evaluators.specification import EvaluatorSpec

    if data := next(filter(EvaluatorPath().is_data, names), None):
        said = "is a file or folder, not an evaluator; a pattern such as 'runs/*' needs quotes"
        raise click.UsageError(f"{data} {said}")
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
        dataclasses.replace(entry, parameters={**entry.parameters, **typed.get(entry.name, {})})
        for entry in chosen
    )
    return dataclasses.replace(manifest, evaluators=evaluators), typed


def chosen_evaluators(
    names: Sequence[str], settings: Sequence[str], manifest: str | None
) -> tuple[BenchmarkSpec, list[Evaluator[Any]]]:
    """The specification from the typed words and the manifest, and its evaluators.

    Raises:
        click.UsageError: As for `select_evaluators` and `create_evaluators`.
        InputError: With every fault of the manifest.
    """
    specification, typed = select_evaluators(names, settings, read_specification(manifest))
    return specification, create_evaluators(specification, names, typed)


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
        InputError: If what the manifest says is wrong; with every fault of every evaluator.
    """
    created: list[Evaluator[Any]] = []
    typed_wrong: list[str] = []
    wrong: list[Fault] = []
    for entry in specification.evaluators:
        try:
            created += _create(entry, specification, names, typed)
        except click.UsageError as error:
            typed_wrong.append(error.message)
        except UnknownEvaluatorError as error:
            wrong.append(Fault(str(error), "", source="manifest"))
        except InputError as error:
            wrong += error.faults
    if typed_wrong:
        raise click.UsageError("\n".join(typed_wrong))
    if wrong:
        raise InputError(wrong)
    _refuse_repeated(created, names)
    return created


def _refuse_repeated(evaluators: Iterable[Evaluator[Any]], names: Sequence[str]) -> None:
    from vidscore_evaluators.presets import repeated_evaluators

    faults = repeated_evaluators(evaluators)
    if faults and names:
        raise click.UsageError("\n".join(fault.description for fault in faults))
    if faults:
        raise SpecificationError([structs.replace(fault, source="manifest") for fault in faults])


def sent_specification(
    specification: BenchmarkSpec, names: Sequence[str], typed: Settings
) -> tuple[BenchmarkSpec, dict[str, str]]:
    """The form of a specification for a server, which reads no files of presets.

    Args:
        specification: A specification with evaluators.
        names: Evaluators that were typed rather than read from a manifest.
        typed: Settings that were typed, likewise.

    Returns:
        The specification, and the presets by evaluator.

    Raises:
        click.UsageError: If what was typed cannot go with a preset's file, or if an evaluator that
            is known here is named twice.
        InputError: If such a file is not a preset, or what a manifest says cannot go with it.
    """
    from vidscore_evaluators.presets import without_files

    _refuse_repeated(_known_here(specification), names)
    try:
        return without_files(specification)
    except ParameterError as error:
        own = {name for settings in typed.values() for name in settings}
        if not any(fault.field in own if fault.field else names for fault in error.faults):
            raise
        raise click.UsageError("\n".join(map(str, error.faults))) from None


def _known_here(specification: BenchmarkSpec) -> Iterator[Evaluator[Any]]:
    """The evaluators that are known here, with default parameters."""
    from vidscore_evaluators.presets import evaluators_of
    from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

    for entry in specification.evaluators:
        with suppress(UnknownEvaluatorError, InputError):
            yield from evaluators_of(EvaluatorSpec(entry.name), BenchmarkSpec(), files=True)


def typed_fields(
    specification: BenchmarkSpec, names: Sequence[str], typed: Settings
) -> tuple[str, ...]:
    """Endings of the typed fields of a specification, in the server's names.

    Args:
        specification: The specification that is sent to the server.
        names: Evaluators that were typed rather than read from a manifest.
        typed: Settings that were typed, likewise.
    """
    fields = ["evaluators"] if names else []
    for row, entry in enumerate(specification.evaluators):
        fields += [f"evaluators[{row}].name"] if names else []
        fields += [f"evaluators[{row}].parameters.{name}" for name in typed.get(entry.name, {})]
    return tuple(fields)


def create_alone(name: str, typed: Sequence[str] = ()) -> list[Evaluator[Any]]:
    """Build the evaluator, or those of the preset, that a command takes without a manifest.

    Args:
        name: Its name as typed.
        typed: Values of ``--set`` as typed.

    Raises:
        click.UsageError: If something is wrong.
    """
    from vidscore_evaluators.specification import BenchmarkSpec

    specification, settings = select_evaluators([name], typed, BenchmarkSpec())
    return create_evaluators(specification, [name], settings)


def refuse_presets(evaluators: Sequence[Evaluator[Any]]) -> None:
    """Refuse presets for a command without files of a benchmark.

    Raises:
        click.UsageError: If an evaluator is of a preset.
    """
    for preset in dict.fromkeys(one.preset for one in evaluators if one.preset):
        names = " or ".join(one.name for one in evaluators if one.preset == preset)
        raise click.UsageError(f"{preset} is a preset, for files of its benchmark; name {names}")


def _create(
    entry: EvaluatorSpec, specification: BenchmarkSpec, names: Sequence[str], typed: Settings
) -> tuple[Evaluator[Any], ...]:
    from vidscore_evaluators.presets import evaluators_of

    try:
        return evaluators_of(entry, specification, files=True)
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
            [structs.replace(fault, source=f"manifest, {entry.name}") for fault in error.faults]
        ) from None


def _by_evaluator(settings: Sequence[str], names: Sequence[str]) -> Settings:
    typed: Settings = {}
    for setting in settings:
        evaluator, name, value = _split(setting, names)
        if name in typed.get(evaluator, {}):
            raise click.UsageError(f"--set {setting}: {name} is set twice; give it one value")
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
    for known in names:
        if evaluator in _evaluators_of_preset(known):
            return known, name, value  # whose parameters are refused, with what to do
    found = f"{evaluator} is not being scored" if dot else "several evaluators are being scored"
    choices = ", ".join(f"{known}.{name}" for known in names)
    raise click.UsageError(f"--set {setting}: {found}; address one as {choices}")


def _evaluators_of_preset(name: str) -> list[str]:
    from vidscore_evaluators.presets import preset_of

    preset = preset_of(name, files=True)
    return [] if preset is None else [one.name for one in preset.evaluators]
