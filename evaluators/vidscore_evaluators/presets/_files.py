"""Preset: a benchmark's evaluators, labels and file format as one named and versioned document.

Its TOML file has the keys of `Preset` except the name, which is that of the file::

    title = "Multiple pedestrian tracking, MOTChallenge 2017"
    benchmark = "MOTChallenge"
    version = "1.0.0"
    scorer = "TrackEval 1.3.0, MotChallenge2DBox"
    format = "motchallenge"
    labels = ["pedestrian"]

    [[evaluators]]
    name = "hota"
    parameters = { dont_care = "motchallenge" }

A distribution adds presets with an entry point in the group ``vidscore.presets`` whose object is a
package with TOML files, or the path (`str` or `Path`) of a folder of them or of one file. The entry
point's name is used only in errors; each preset is named after its file.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import structs

from vidscore_evaluators.convert import converted, from_dict, to_dict
from vidscore_evaluators.errors import (
    Fault,
    InputError,
    ParameterError,
    SpecificationError,
    UnknownEvaluatorError,
)
from vidscore_evaluators.formats import FORMATS
from vidscore_evaluators.formats.manifest import read_toml, write_document
from vidscore_evaluators.names import holds_controls
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import EvaluatorSpec, label_names, required_name

ENTRY_POINT_GROUP = "vidscore.presets"
SUFFIX = ".toml"

_FOLDER = Path(__file__).resolve().parent
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def preset_names() -> tuple[str, ...]:
    """Names of all presets, built-in ones first, each group sorted."""
    built_in = sorted(path.stem for path in _FOLDER.glob(f"*{SUFFIX}"))
    return (*built_in, *sorted(_plug_ins()[0].keys() - set(built_in)))


def is_built_in(name: str) -> bool:
    """Whether a name is that of a built-in preset."""
    return _NAME.fullmatch(name) is not None and (_FOLDER / f"{name}{SUFFIX}").is_file()


def preset_files(name: str) -> tuple[Path, ...]:
    """Files of the preset with a name: one, or several if distributions conflict; empty if none."""
    if is_built_in(name):
        return (_FOLDER / f"{name}{SUFFIX}",)
    return _plug_ins()[0].get(name, ())


def broken_plug_ins() -> tuple[str, ...]:
    """A sentence for each entry point with unusable presets."""
    return _plug_ins()[1]


@cache
def _plug_ins() -> tuple[dict[str, tuple[Path, ...]], tuple[str, ...]]:
    """Files by name, and errors of entry points."""
    # Slow to import, and no built-in preset needs it.
    from importlib import metadata  # noqa: PLC0415

    found: dict[str, dict[Path, None]] = {}
    broken: dict[str, None] = {}
    for point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        try:
            for path in _files_of(point.load()):
                found.setdefault(path.stem, {})[path] = None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - foreign code may raise anything
            of = f" of {point.dist.name}" if point.dist is not None else ""
            broken[f"the presets {point.name!r}{of} cannot be used: {error}"] = None
    return {name: tuple(paths) for name, paths in found.items()}, tuple(broken)


def _files_of(plug_in: object) -> Iterator[Path]:
    if isinstance(plug_in, ModuleType):
        folders = [Path(folder) for folder in getattr(plug_in, "__path__", ())]
    elif isinstance(plug_in, str | os.PathLike):
        folders = [Path(plug_in)]
    else:
        raise TypeError(f"got {type(plug_in).__name__}, expected a package or a path")
    paths = [
        path.resolve()
        for folder in folders
        for path in (sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else [folder])
        if path.suffix == SUFFIX and path.is_file()
    ]
    if not paths:
        raise ValueError(f"no file *{SUFFIX} in {', '.join(map(str, folders)) or plug_in}")
    wrong = [path.name for path in paths if _NAME.fullmatch(path.stem) is None]
    if wrong:
        raise ValueError(f"{', '.join(wrong)}: expected a name of a-z, 0-9 and dashes")
    yield from paths


MAXIMUM_BYTES = 256 << 10
"""Maximum size of a file; the largest of our own has a hundredth of it."""

MAXIMUM_EVALUATORS = 64
"""Maximum number of evaluators of a preset."""

_VERSION = re.compile(r"(0|[1-9][0-9]{0,5})(\.(0|[1-9][0-9]{0,5})){2}")


def _no_name(value: object) -> str:
    del value
    raise ValueError("no name: a preset is named after its file")


def _line(value: object) -> str:
    text = required_name(value)
    if holds_controls(text):
        raise ValueError("a text of one line")
    return text


def _version(value: object) -> str:
    if not isinstance(value, str) or _VERSION.fullmatch(value) is None:
        raise ValueError("a version such as '1.0.0'")
    return value


def _format(value: object) -> str:
    if not isinstance(value, str) or value not in FORMATS:
        raise ValueError("a format: " + " or ".join(FORMATS))
    return value


def _labels(value: object) -> tuple[str, ...]:
    labels = label_names(value)
    if not labels:
        raise ValueError("at least one label; without the key, all are scored")
    return labels


@dataclass(frozen=True, slots=True)
class Preset:
    """A named benchmark.

    Attributes:
        title: One line for lists.
        benchmark: The benchmark to which it belongs; lists group presets by it.
        version: Increased whenever a score may change.
        scorer: The official scorer that it reproduces, with its version.
        evaluators: Evaluators, in the order of the reports.
        format: Format of its files; empty to detect it.
        labels: Scored labels, in every domain for which the specification lists none; None for all.
        name: Its name, in place of an evaluator's; the file name of a user's own file.
    """

    title: str = converted(read=_line)
    benchmark: str = converted(read=_line)
    version: str = converted(read=_version)
    scorer: str = converted(read=_line)
    evaluators: tuple[EvaluatorSpec, ...] = converted(unique=("name",))
    format: str = converted("", read=_format)
    labels: tuple[str, ...] | None = converted(None, read=_labels, write=list)
    name: str = converted("", read=_no_name, leading=True)


def read_preset(path: Path, name: str) -> Preset:
    """Read a preset.

    Args:
        path: Its file.
        name: The preset's name.

    Raises:
        InputError: If there is no such file, or it is too large.
        SpecificationError: If it is not a valid preset; with every fault.
    """
    document = read_toml(path, "a preset", MAXIMUM_BYTES)
    faults: list[Fault] = []
    preset = None
    try:
        preset = from_dict(Preset, document, str(path))
    except SpecificationError as error:
        faults.extend(error.faults)
    entries = document.get("evaluators")
    if preset is not None and not 1 <= len(preset.evaluators) <= MAXIMUM_EVALUATORS:
        found, expected = f"{len(preset.evaluators)}", f"1 to {MAXIMUM_EVALUATORS} evaluators"
        faults.append(Fault(found, expected, str(path), field="evaluators"))
    if isinstance(entries, list):
        entries = entries[:MAXIMUM_EVALUATORS]
        faults.extend(evaluator_faults(entries, str(path), create_evaluator))
    if preset is None or faults:
        raise SpecificationError(faults)
    return dataclasses.replace(preset, name=name)


def write_preset(preset: Preset) -> str:
    """Write a preset as TOML; `read_preset` is the inverse."""
    return write_document(to_dict(dataclasses.replace(preset, name="")))


def evaluator_faults(
    entries: Sequence[Any], source: str, create: Callable[[str, dict[str, Any]], object]
) -> Iterator[Fault]:
    """Faults of evaluators; missing names and parameters that are no tables are reported elsewhere.

    Args:
        entries: The evaluators of a document.
        source: Name of its file.
        create: Builds evaluators from a name and parameters.
    """
    for index, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        parameters = entry.get("parameters", {}) if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name or not isinstance(parameters, dict):
            continue
        place = f"evaluators[{index}]"
        try:
            create(name, parameters)
        except UnknownEvaluatorError as error:
            yield Fault(str(error)[:500], "", source, field=f"{place}.name")
        except ParameterError as error:
            for fault in error.faults:
                field = f"{place}.parameters" + (f".{fault.field}" if fault.field else "")
                yield structs.replace(fault, source=source, field=field)
        except InputError as error:  # of a preset's file
            yield from error.faults
