"""Specifications, definitions of benchmarks and their policies as dictionaries and as messages.

The dictionary form is that of TOML files. Each table has the keys of one message in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vidscore_protos.forms import (
    PLAIN,
    SECONDS,
    UNLESS_DEFAULT,
    Fields,
    Form,
    FormError,
    entries,
    extend,
    fill_message,
    fill_scalar,
    list_of,
    listed,
    present,
    read_time,
    show_message,
)
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, specification_pb2

GEOMETRIES: Mapping[str, annotations_pb2.Geometry] = {
    "point": annotations_pb2.GEOMETRY_POINT,
    "box": annotations_pb2.GEOMETRY_BOX,
    "quadrilateral": annotations_pb2.GEOMETRY_QUADRILATERAL,
}

GEOMETRY_FIELDS = ("truth_geometry", "detection_geometry")
TIME_FIELDS = ("open_time", "close_time")

_NAME_KINDS: Mapping[str, benchmark_pb2.NameKind] = {
    "sequences": benchmark_pb2.NAME_KIND_SEQUENCES,
    "labels": benchmark_pb2.NAME_KIND_LABELS,
    "frame_counts": benchmark_pb2.NAME_KIND_FRAME_COUNTS,
}

FRAME_SOURCES = {
    "held by the participant": benchmark_pb2.FRAME_SOURCE_PARTICIPANT,
    "sent by the organiser": benchmark_pb2.FRAME_SOURCE_ORGANISER,
}
"""Sources of the frames of a live benchmark, in words."""

FRAME_SOURCE_WORDS = {int(number): word for word, number in FRAME_SOURCES.items()}
"""The words by number."""


def _fill_classes(message: Any, _key: str, value: Any, path: str) -> None:
    message.classes.SetInParent()
    names = [
        entry if isinstance(entry, bool) or not isinstance(entry, Integral) else str(entry)
        for entry in listed(value, path)
    ]
    extend(message.classes.names, names, path, "a list of class names")


def _fill_frames(message: Any, _key: str, value: Any, path: str) -> None:
    message.frames.SetInParent()
    message.frames.ranges.extend(_ranges(value, path))


def _fill_ranges(message: Any, _key: str, value: Any, path: str) -> None:
    message.dont_care_frames.extend(_ranges(value, path))


def _ranges(value: Any, path: str) -> list[specification_pb2.FrameRange]:
    """Ranges from [first, last] pairs; a single frame may be given as its number."""
    ranges = []
    for index, entry in enumerate(listed(value, path)):
        try:
            first, last = (int(entry),) * 2 if isinstance(entry, Integral) else entry
            ranges.append(specification_pb2.FrameRange(first=first, last=last))
        except (TypeError, ValueError):
            expected = "a frame number or a [first, last] pair"
            raise FormError(f"{path}[{index}]", repr(entry)[:80], expected) from None
    return ranges


def _fill_parameters(message: Any, key: str, value: Any, path: str) -> None:
    fill_parameters(getattr(message, key), value, path)


def fill_parameters(column: Any, value: object, path: str) -> None:
    """Add parameters by name to a repeated field.

    Raises:
        FormError: If they are invalid, or one has a value that no message can hold.
    """
    if not isinstance(value, Mapping):
        raise FormError(path, repr(value)[:80], "an object of parameters")
    for name, entry in value.items():
        parameter = column.add()
        fill_scalar(parameter, "name", name, path)
        _set_parameter(parameter, entry, f"{path}[{name!r}]")


def _set_parameter(parameter: specification_pb2.Parameter, value: Any, path: str) -> None:
    if isinstance(value, bool | np.bool_):
        parameter.boolean = bool(value)
    elif isinstance(value, str):
        parameter.text = value
    elif isinstance(value, Integral):
        fill_scalar(parameter, "integer", int(value), path, "a 64-bit integer")
    elif isinstance(value, Real):
        parameter.number = float(value)
    else:
        _set_several(parameter, listed(value, path), path)


def _set_several(parameter: specification_pb2.Parameter, values: list[Any], path: str) -> None:
    if values and all(isinstance(value, str) for value in values):
        parameter.texts.values.extend(values)
    else:
        parameter.numbers.SetInParent()
        extend(parameter.numbers.values, values, path, "only numbers, or only strings")


def _show_classes(message: Any, _key: str) -> list[str] | None:
    return list(message.classes.names) if message.HasField("classes") else None


def _show_frames(message: Any, _key: str) -> NDArray[np.int64] | None:
    return _bounds_of(message.frames.ranges) if message.HasField("frames") else None


def _show_ranges(message: Any, _key: str) -> NDArray[np.int64] | None:
    return _bounds_of(message.dont_care_frames) if message.dont_care_frames else None


def _bounds_of(ranges: Sequence[specification_pb2.FrameRange]) -> NDArray[np.int64]:
    """(N, 2) first and last frames; as an array, because there may be many."""
    numbers = (number for entry in ranges for number in (entry.first, entry.last))
    return np.fromiter(numbers, np.int64, 2 * len(ranges)).reshape(-1, 2)


def _show_parameters(message: Any, key: str) -> dict[str, Any] | None:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in show_parameters(getattr(message, key)).items()
    } or None


def show_parameters(messages: Iterable[specification_pb2.Parameter]) -> dict[str, Any]:
    """Parameters by name, in their order; several values are a tuple, and no value is None."""
    return {message.name: _parameter_value(message) for message in messages}


def _parameter_value(message: specification_pb2.Parameter) -> Any:
    kind = message.WhichOneof("value")
    if kind is None:
        return None
    value = getattr(message, kind)
    return tuple(value.values) if kind in {"numbers", "texts"} else value


def _fill_geometry(message: Any, key: str, value: Any, path: str) -> None:
    setattr(message, key, geometry_of(path, value))


def geometry_of(path: str, value: object) -> annotations_pb2.Geometry:
    """A shape of objects in the form of messages.

    Raises:
        FormError: If it is none.
    """
    if not isinstance(value, str) or value not in GEOMETRIES:
        raise FormError(path, repr(value)[:80], "one of " + ", ".join(GEOMETRIES))
    return GEOMETRIES[value]


def _fill_time(message: Any, key: str, value: Any, path: str) -> None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        time = None
    if not isinstance(time, datetime) or time.tzinfo is None:
        expected = "a date and time with its offset from UTC, such as 2026-05-01T00:00:00Z"
        raise FormError(path, repr(value)[:80], expected)
    getattr(message, key).FromDatetime(time)


def _fill_kinds(message: Any, _key: str, value: Any, path: str) -> None:
    expected = "a list of " + ", ".join(_NAME_KINDS)
    if not isinstance(value, list | tuple):
        raise FormError(path, repr(value)[:80], expected)
    for kind in value:
        if kind not in _NAME_KINDS:
            raise FormError(path, repr(kind)[:80], expected)
    message.public_names.kinds.extend(_NAME_KINDS[kind] for kind in value)
    message.public_names.SetInParent()


def _show_kinds(message: Any, _key: str) -> list[str] | None:
    if not message.HasField("public_names"):
        return None
    words = {int(number): word for word, number in _NAME_KINDS.items()}
    return [words.get(kind, f"kind {kind}") for kind in message.public_names.kinds]


def _fill_budget(message: Any, key: str, value: Any, path: str) -> None:
    """Set a number of submissions; 0, for no limit, has its own field."""
    fill_scalar(message, key, value, path)
    message.unlimited_submissions = value == 0


def _show_budget(message: Any, key: str) -> int | None:
    number: int = getattr(message, key)
    return number if number or message.unlimited_submissions else None


def _fill_private(message: Any, _key: str, value: Any, path: str) -> None:
    """Set private sequences; a number instead of their names is a share."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        fill_scalar(message, "private_share", value, path)
    else:
        extend(message.private_sequences, listed(value, path), path, "names, or a share")


def _show_private(message: Any, _key: str) -> float | list[str] | None:
    share: float = message.private_share
    return share or list(message.private_sequences) or None


def _fill_source(message: Any, key: str, value: Any, path: str) -> None:
    if value not in FRAME_SOURCES:
        raise FormError(path, repr(value)[:80], " or ".join(map(repr, FRAME_SOURCES)))
    setattr(message, key, FRAME_SOURCES[value])


def _show_source(message: Any, key: str) -> str | None:
    number: int = getattr(message, key)
    return FRAME_SOURCE_WORDS.get(number, f"source {number}") if number else None


def _fill_times(message: Any, key: str, value: Any, path: str) -> None:
    extend(getattr(message, key), value, path, "a list of seconds")


def _fill_live(message: Any, _key: str, value: Any, path: str) -> None:
    message.live.SetInParent()
    fill_message(message.live, path, value, LIVE)


def _show_live(message: Any, _key: str) -> dict[str, Any] | None:
    return show_message(message.live, LIVE) if message.HasField("live") else None


EVALUATOR: Fields = {"name": PLAIN, "parameters": Form(_fill_parameters, _show_parameters)}
_DOMAIN: Fields = {"name": PLAIN, "classes": Form(_fill_classes, _show_classes)}
_SEQUENCE: Fields = {
    "domain": UNLESS_DEFAULT,
    "name": PLAIN,
    "frame_count": PLAIN,
    "first_frame": UNLESS_DEFAULT,
    "frames": Form(_fill_frames, _show_frames),
    "dont_care_frames": Form(_fill_ranges, _show_ranges),
    "image_width": PLAIN,
    "image_height": PLAIN,
}
SPECIFICATION: Fields = {
    "title": UNLESS_DEFAULT,
    "evaluators": entries(EVALUATOR),
    "domains": entries(_DOMAIN),
    "sequences": entries(_SEQUENCE),
    "classes": Form(_fill_classes, _show_classes),
}
_SEQUENCE_CLOCK: Fields = {
    "domain": UNLESS_DEFAULT,
    "name": PLAIN,
    "frame_rate": PLAIN,
    "frame_times_s": Form(_fill_times, lambda message, key: list(getattr(message, key)) or None),
}
LIVE: Fields = {
    "frame_rate": PLAIN,
    "frames": Form(_fill_source, _show_source),
    "sequences": entries(_SEQUENCE_CLOCK),
}
DEFINITION: Fields = {
    "description": UNLESS_DEFAULT,
    **dict.fromkeys(GEOMETRY_FIELDS, Form(_fill_geometry, present)),
    **dict.fromkeys(TIME_FIELDS, Form(_fill_time, read_time)),
    "public_names": Form(_fill_kinds, _show_kinds),
    "live": Form(_fill_live, _show_live),
}
POLICY: Fields = {
    "visibility": PLAIN,
    "ladder_step": PLAIN,
    "released_measures": list_of("a list of measures"),
    "minimum_frames": PLAIN,
    "quiet_timeout_s": SECONDS,
    "quiet_action": PLAIN,
    "truth_timeout_s": SECONDS,
    "submissions_per_day": PLAIN,
    "submissions_in_all": Form(_fill_budget, _show_budget),
    "ranking_measure": PLAIN,
    "selection": PLAIN,
    "earlier_first": PLAIN,
    "public_board": PLAIN,
    "public_board_web": PLAIN,
    "release_curves": PLAIN,
    "rescore": PLAIN,
    "outcomes": PLAIN,
    "private_sequences": Form(_fill_private, _show_private),
    "private_share": Form(fill_scalar, lambda _message, _key: None),
    "final_submissions": UNLESS_DEFAULT,
}


def show_specification(message: specification_pb2.BenchmarkSpec) -> dict[str, Any]:
    """A specification as a dictionary; what is unset is left out."""
    shown = show_message(message, SPECIFICATION)
    for entry in shown.get("sequences", ()):
        for key in entry.keys() & {"frames", "dont_care_frames"}:
            entry[key] = entry[key].tolist()
    return shown


def show_definition(message: benchmark_pb2.Benchmark) -> dict[str, Any]:
    """A definition as a dictionary; what is unset is left out."""
    definition = show_specification(message.specification)
    definition |= show_message(message, DEFINITION)
    if message.HasField("policy"):
        definition["policy"] = show_message(message.policy, POLICY)
    return definition
