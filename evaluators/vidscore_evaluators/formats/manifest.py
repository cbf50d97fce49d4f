"""The manifest: a BenchmarkSpec in TOML, with paths that are relative to it.

Its keys are those of `vidscore_evaluators.convert.to_dict`. In addition, a sequence may have
``video = "file.mp4"`` or ``images = "folder"``; the frames are counted by decoding, and the entry
is replaced by ``frame_count``, ``image_width`` and ``image_height``. An evaluator whose name ends
in ``.toml`` is the file of a preset.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vidscore_evaluators.errors import Fault, SpecificationError
from vidscore_evaluators.formats._files import read_bytes
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.formats.video import VideoSize, measure_images, measure_video
from vidscore_evaluators.names import counted
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    EvaluatorSpec,
    read_ranges,
    spec_from_dict,
)

MAXIMUM_BYTES = 16 << 20

MAXIMUM_DEPTH = 32
"""Maximum number of parts of a dotted key or table name; a manifest has three."""

_MOST_EVALUATORS = 64
"""Maximum number of evaluators that are checked if the manifest is wrong."""

_MEASURES: Mapping[str, Callable[[Path], VideoSize]] = {
    "video": measure_video,
    "images": measure_images,
}
_PART = rb"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*"""
_DEEP_KEY = re.compile(rb"(?m)(?:^|[{,])[ \t]*\[{0,2}[ \t]*(?:%s){%d}" % (_PART, MAXIMUM_DEPTH))
_POSITION = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_manifest(path: Path) -> BenchmarkSpec:
    """Read a manifest and count the frames of the videos that it names.

    Raises:
        InputError: If there is no such file.
        SpecificationError: If it is not TOML (with line and column), breaks the rules of a
            specification, or names videos that cannot be decoded; with every fault, also those of
            its evaluators.
    """
    document, faults = read_document(path)
    try:
        specification = spec_from_dict(document, source=str(path))
        if not faults:
            return specification
    except SpecificationError as error:
        faults = [*error.faults, *faults]
    raise SpecificationError([*faults, *_evaluator_faults(document, str(path))])


def _evaluator_faults(document: Mapping[str, Any], source: str) -> Iterator[Fault]:
    """Faults of evaluators, which are otherwise found when they are built.

    Faults that depend on the rest of the manifest cannot be found, since the rest is wrong.
    """
    # Presets are documents too, and their module imports this one.
    from vidscore_evaluators.presets import evaluator_faults, evaluators_of  # noqa: PLC0415

    def create(name: str, parameters: dict[str, Any]) -> object:
        return evaluators_of(EvaluatorSpec(name, parameters), BenchmarkSpec(), files=True)

    entries = document.get("evaluators")
    if isinstance(entries, list):
        yield from evaluator_faults(entries[:_MOST_EVALUATORS], source, create)


def parse_document(data: bytes, name: str) -> dict[str, Any]:
    """Parse the bytes of a TOML file with a manifest's keys and others.

    It has no folder, so file names in it stay as they are, for the caller to refuse.

    Args:
        data: Its bytes.
        name: Its name, for error messages.

    Raises:
        SpecificationError: If it is not TOML, with line and column, or would need too much memory;
            or if a list of classes is empty.
    """
    if len(data) > MAXIMUM_BYTES:
        fault = Fault(f"{len(data)} bytes", f"at most {MAXIMUM_BYTES}", source=name)
        raise SpecificationError([fault])
    document = parse_toml(data, name, "a manifest")
    faults = list(_empty_lists(document, name))
    if faults:
        raise SpecificationError(faults)
    return document


def write_document(document: Mapping[str, Any]) -> str:
    """A document as TOML; `read_document` reads it back."""
    import tomli_w  # noqa: PLC0415 - few have a manifest

    return tomli_w.dumps(_without_tuples(dict(document)))


def read_document(path: Path) -> tuple[dict[str, Any], list[Fault]]:
    """Read a TOML file with a manifest's keys and others; count the frames of its videos.

    Returns:
        The document, and what is wrong with its videos and its lists of classes; the caller judges
        the other keys.

    Raises:
        InputError: If there is no such file.
        SpecificationError: If it is not TOML.
    """
    document = read_toml(path, "a manifest", MAXIMUM_BYTES)
    faults = list(_empty_lists(document, str(path)))
    sequences = document.get("sequences")
    if isinstance(sequences, list):
        document["sequences"] = [
            _measured(entry, index, path, faults) for index, entry in enumerate(sequences)
        ]
    evaluators = document.get("evaluators")
    if isinstance(evaluators, list):
        document["evaluators"] = [_located(entry, path) for entry in evaluators]
    return document, faults


def read_toml(path: Path, expected: str, maximum_bytes: int) -> dict[str, Any]:
    """Read a TOML file of ours.

    Args:
        path: The file.
        expected: What it should be: ``a manifest``.
        maximum_bytes: Limit of its size.

    Raises:
        InputError: If there is no such file, or it is too large.
        SpecificationError: If it is not TOML, with line and column, or would need too much memory.
    """
    limits = ReadLimits(maximum_file_bytes=maximum_bytes)
    return parse_toml(read_bytes(path, f"{expected} in TOML", limits), str(path), expected)


def parse_toml(data: bytes, name: str, expected: str) -> dict[str, Any]:
    """Parse a TOML file of ours.

    Args:
        data: Its bytes.
        name: Its name, for errors.
        expected: What it should be: ``a manifest``.

    Raises:
        SpecificationError: If it is not TOML, with line and column, or would need too much memory.
    """
    import tomllib  # noqa: PLC0415 - few have a manifest

    deep = _DEEP_KEY.search(data)  # checked first, since parsing takes time quadratic in it
    if deep is not None:
        line = data.count(b"\n", 0, deep.start()) + 1
        found = f"a key of more than {MAXIMUM_DEPTH} parts"
        raise SpecificationError([Fault(found, f"a key of {expected}", source=name, line=line)])
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = Fault("bytes that are not valid UTF-8", "text in UTF-8", source=name, line=line)
    except tomllib.TOMLDecodeError as error:
        fault = _syntax_fault(str(error), data, name)
    except ValueError:  # raised by Python: a number with thousands of digits
        fault = Fault("a number of too many digits", "one of 64 bits", source=name)
    except (RecursionError, MemoryError):
        fault = Fault("arrays or tables that are too deep", expected, source=name)
    raise SpecificationError([fault])


def _syntax_fault(message: str, data: bytes, name: str) -> Fault:
    position = _POSITION.search(message)
    found = f"invalid TOML ({_POSITION.sub('', message).strip()})"
    if position is None or position[1] is None:
        return Fault(found, "TOML", source=name, line=data.count(b"\n") + 1)
    return Fault(found, "TOML", source=name, line=int(position[1]), field=f"column {position[2]}")


def _empty_lists(document: Mapping[str, Any], source: str) -> Iterator[Fault]:
    """A fault for each empty list of classes, by which nothing would be scored.

    Specifications may have one: of a domain without any of the labels that were chosen.
    """
    domains = document.get("domains")
    parts = enumerate(domains if isinstance(domains, list) else ())
    tables = {"": document} | {f"domains[{row}].": part for row, part in parts}
    for place, table in tables.items():
        if isinstance(table, dict) and table.get("classes") == []:
            expected = "at least one label, or no such key"
            yield Fault("[]", expected, source=source, field=f"{place}classes")


def _measured(entry: object, index: int, manifest: Path, faults: list[Fault]) -> object:
    """A sequence with the size of its video in place of the video's name."""
    if not isinstance(entry, dict) or not entry.keys() & _MEASURES:
        return entry
    rest = {key: value for key, value in entry.items() if key not in _MEASURES}
    named = [key for key in _MEASURES if key in entry]
    place = f"sequences[{index}].{named[-1]}"
    if len(named) > 1 or not isinstance(entry[named[0]], str):
        found = " and ".join(named) if len(named) > 1 else repr(entry[named[0]])[:80]
        faults.append(Fault(found, "one path", source=str(manifest), field=place))
        return rest
    try:
        size = _MEASURES[named[0]](manifest.parent / entry[named[0]])
    except SpecificationError as error:
        faults.extend(error.faults)
        return rest
    claimed = rest.get("frame_count", size.frame_count)
    if claimed != size.frame_count:
        found = f"{counted(size.frame_count, 'frame')} in {entry[named[0]]}"
        expected = f"frame_count = {claimed}, or none"
        faults.append(Fault(found, expected, source=str(manifest), field=place))
    else:
        faults.extend(_beyond(rest, size.frame_count, f"sequences[{index}]", str(manifest)))
    measured = {"image_width": size.width, "image_height": size.height}
    return measured | rest | {"frame_count": size.frame_count}


def _beyond(entry: Mapping[str, Any], frame_count: int, place: str, source: str) -> Iterator[Fault]:
    """A fault for each list of frames that extends beyond a video; other values are skipped."""
    first = entry.get("first_frame", 0)
    for key in ("frames", "dont_care_frames"):
        try:
            ranges = read_ranges(entry.get(key, [])).ranges
            low, high = ranges[0][0], ranges[-1][1]
            if low < first or high >= first + frame_count:
                found = f"frames {low} to {high}"
                expected = f"frames {first} to {first + frame_count - 1}, as there are in the video"
                yield Fault(found, expected, source=source, field=f"{place}.{key}")
        except (IndexError, TypeError, ValueError):
            continue


def _located(entry: object, manifest: Path) -> object:
    """An evaluator; for the file of a preset, with its path relative to the working folder."""
    name = entry.get("name") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(name, str) or not name.endswith(".toml"):
        return entry
    return entry | {"name": str(manifest.parent / name)}


def _without_tuples(value: Any) -> Any:
    """The value with lists for tuples, as TOML's writer needs."""
    if isinstance(value, dict):
        return {key: _without_tuples(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_without_tuples(entry) for entry in value]
    return value
