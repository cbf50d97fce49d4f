"""Presets: named benchmarks as TOML files in this folder; a new file is a new preset.

A preset can be used in place of an evaluator's name, and is expanded to its evaluators here and
nowhere else (`evaluators_of`). Everything that a benchmark needs is a parameter of evaluators,
never code that knows the preset's name, so a user's own file can express it as well.

An evaluator's name always means the evaluator. `spotgeo` and `neovision2` are both: their preset is
the evaluator with its default parameters, so nothing is expanded, parameters may be given, and
reports do not name the preset.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import structs

from vidscore_evaluators.arguments import check_arguments
from vidscore_evaluators.errors import Fault, InputError, ParameterError, UnknownEvaluatorError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.formats import AUTO
from vidscore_evaluators.names import name_advice
from vidscore_evaluators.presets._files import (
    SUFFIX,
    Preset,
    broken_plug_ins,
    evaluator_faults,
    is_built_in,
    preset_files,
    preset_names,
    read_preset,
    write_preset,
)
from vidscore_evaluators.registry import create_evaluator, is_evaluator
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

__all__ = [
    "Preset",
    "broken_plug_ins",
    "create_evaluators",
    "evaluator_faults",
    "evaluators_of",
    "find_preset",
    "format_of",
    "is_built_in",
    "preset_names",
    "preset_of",
    "read_preset",
    "repeated_evaluators",
    "without_files",
    "write_preset",
]


def find_preset(name_or_path: str) -> Preset:
    """The preset with a name or, if it ends in ``.toml``, from that file.

    Raises:
        ParameterError: If it is not a string.
        UnknownEvaluatorError: If there is none, or a distribution's preset cannot be used.
        InputError: If there is no such file.
        SpecificationError: If the file is not a valid preset; with every fault.
    """
    check_arguments(name_or_path=name_or_path)
    if name_or_path.endswith(SUFFIX):
        path = Path(name_or_path)
        return read_preset(path, path.name)
    return _named_preset(name_or_path)


@cache
def _named_preset(name: str) -> Preset:
    paths = preset_files(name)
    if not paths:
        advice = "; ".join([name_advice(name, preset_names()), *broken_plug_ins()])
        raise UnknownEvaluatorError(f"no preset is called {name!r}; {advice}")
    if len(paths) > 1:
        places = " and ".join(map(str, paths))
        raise UnknownEvaluatorError(f"the preset {name!r} is defined twice: {places}")
    try:
        preset = read_preset(paths[0], name)
    except InputError as error:
        # Without the path, because servers show this to anyone.
        told = "; ".join(str(structs.replace(fault, source=None)) for fault in error.faults[:5])
        raise UnknownEvaluatorError(f"the preset {name!r} cannot be used: {told}") from None
    plain = preset.evaluators == (EvaluatorSpec(name),) and not preset.labels and not preset.format
    if is_evaluator(name) and not plain:
        raise UnknownEvaluatorError(
            f"the preset {name!r} cannot be used: an evaluator has its name, so it must be that "
            "evaluator alone, without parameters, labels and format"
        )
    return preset


def preset_of(name: str, *, files: bool = False) -> Preset | None:
    """The preset with a name; None if it is an evaluator's name, or unknown.

    Args:
        name: A name in the place of an evaluator's.
        files: Whether it may be the path of a file; must be false for names from untrusted sources.

    Raises:
        InputError: If it is the path of a file that does not exist or is not a valid preset.
        UnknownEvaluatorError: If it is a path and paths are not allowed, or a distribution's preset
            cannot be used.
    """
    if is_evaluator(name):
        return None
    if name.endswith(SUFFIX):
        if not files:
            raise UnknownEvaluatorError(
                f"{name[:80]!r} names a file, which cannot be read from here; name an evaluator or "
                "a preset, or write its evaluators and labels into the specification"
            )
        return find_preset(name)
    return find_preset(name) if preset_files(name) else None


def evaluators_of(
    entry: EvaluatorSpec, specification: BenchmarkSpec, *, files: bool = False
) -> tuple[Evaluator[Any], ...]:
    """Build the evaluators of an entry: one evaluator, or those of a preset in order.

    Args:
        entry: Name and parameters, not yet checked.
        specification: The benchmark's specification. A preset's labels are scored in each domain
            for which it lists none.
        files: Whether the name may be the path of a preset's file.

    Raises:
        UnknownEvaluatorError: If the name is unknown.
        ParameterError: With every fault of the parameters; presets take no parameters.
        InputError: If it is the path of a file that does not exist or is not a valid preset.
    """
    preset = preset_of(entry.name, files=files)
    if preset is None:
        return (create_evaluator(entry.name, entry.parameters, specification),)
    if entry.parameters:
        raise ParameterError([_fixed(entry)])
    if specification.classes is None:
        specification = dataclasses.replace(specification, classes=preset.labels)
    created = []
    for one in preset.evaluators:
        evaluator = create_evaluator(one.name, one.parameters, specification)
        evaluator.preset = preset.name
        created.append(evaluator)
    return tuple(created)


def _fixed(entry: EvaluatorSpec) -> Fault:
    copy = f"vidscore evaluators {entry.name} --format toml --output my.toml"
    return Fault(
        f"the preset {entry.name} fixes its parameters",
        "",
        field=next(iter(entry.parameters)),
        advice=f"for others make a preset of your own: `{copy}`, then name my.toml",
    )


def create_evaluators(specification: BenchmarkSpec, *, files: bool = False) -> list[Evaluator[Any]]:
    """Build all evaluators of a specification, with presets expanded.

    Raises:
        UnknownEvaluatorError: If a name is unknown.
        ParameterError: With the faults of the first evaluator that has any.
        InputError: If a preset's file cannot be read.
    """
    return [
        evaluator
        for entry in specification.evaluators
        for evaluator in evaluators_of(entry, specification, files=files)
    ]


def without_files(specification: BenchmarkSpec) -> tuple[BenchmarkSpec, dict[str, str]]:
    """Make a specification for another machine, which cannot read preset files.

    Args:
        specification: A specification whose evaluators may be paths of preset files.

    Returns:
        The same with the evaluators and labels of these presets; and for each evaluator, the preset
        that contains it.

    Raises:
        InputError: If a file is not a valid preset.
        ParameterError: If parameters are given with it, or its labels differ from those that the
            others score.
    """
    opened: dict[str, Preset] = {}
    for entry in specification.evaluators:
        if entry.name.endswith(SUFFIX):
            opened[entry.name] = find_preset(entry.name)
            if entry.parameters:
                raise ParameterError([_fixed(entry)])
    labels = {preset.labels for preset in opened.values()}
    mixed = len(labels) > 1 or len(opened) < len(specification.evaluators)
    if specification.classes is None and mixed and labels - {None}:
        expected = "the file alone, or classes for all of them in a manifest"
        found = "a preset's file that lists labels beside other evaluators"
        raise ParameterError([Fault(found, expected, ", ".join(opened))])
    entries = [
        one
        for entry in specification.evaluators
        for one in (opened[entry.name].evaluators if entry.name in opened else (entry,))
    ]
    listed = specification.classes
    classes = listed if listed is not None or not labels else labels.pop()
    presets = {one.name: preset.name for preset in opened.values() for one in preset.evaluators}
    return dataclasses.replace(specification, evaluators=tuple(entries), classes=classes), presets


def repeated_evaluators(evaluators: Iterable[Evaluator[Any]]) -> list[Fault]:
    """A fault for each evaluator that occurs in several entries.

    For callers that identify reports by evaluator name; the library identifies them by order.
    """
    first: dict[str, Evaluator[Any]] = {}
    faults = []
    for evaluator in evaluators:
        other = first.setdefault(evaluator.name, evaluator)
        if other is not evaluator:
            found = f"{evaluator.name} {_origin(other)} and {_origin(evaluator)}"
            advice = "score them one after the other"
            faults.append(Fault(found, "each evaluator once", field="evaluators", advice=advice))
    return faults


def _origin(evaluator: Evaluator[Any]) -> str:
    return f"of the preset {evaluator.preset}" if evaluator.preset else "by itself"


def format_of(entries: Sequence[EvaluatorSpec], chosen: str, *, files: bool = False) -> str:
    """Format of the files: the chosen one or, if left open, that of the presets.

    Args:
        entries: Evaluators and presets.
        chosen: The requested format; ``auto`` leaves it open.
        files: Whether names may be paths of preset files.

    Returns:
        A format; still ``auto`` if no preset has one, or two presets differ.
    """
    if chosen != AUTO:
        return chosen
    presets = [preset_of(entry.name, files=files) for entry in entries]
    formats = {preset.format for preset in presets if preset is not None and preset.format}
    return formats.pop() if len(formats) == 1 else AUTO
