"""A benchmark's specification and definition as dictionaries and as messages, both ways.

The dictionary form is that of TOML files: a definition has the keys of a specification, and beside
them ``description``, ``truth_geometry``, ``detection_geometry``, ``open_time``, ``close_time``,
``public_names`` and the tables ``policy`` and ``live``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from numbers import Integral, Real
from typing import Any

import numpy as np

from vidscore_client._convert import (
    PLAIN,
    SECONDS,
    UNLESS_DEFAULT,
    Fields,
    Form,
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
from vidscore_client._live_clock import LIVE
from vidscore_client.errors import InputError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import Geometry, label_text
from vidscore_protos.v1 import (
    annotations_pb2,
    benchmark_pb2,
    specification_pb2,
)

Specification = Mapping[str, Any] | specification_pb2.BenchmarkSpec
"""A specification as dictionaries, as a manifest or a report has it, or as the proto message."""

Definition = Mapping[str, Any]
"""A benchmark's definition as dictionaries, lists, strings, numbers and times."""

GEOMETRIES: dict[Geometry, annotations_pb2.Geometry] = {
    "point": annotations_pb2.GEOMETRY_POINT,
    "box": annotations_pb2.GEOMETRY_BOX,
    "quadrilateral": annotations_pb2.GEOMETRY_QUADRILATERAL,
}
GEOMETRY_FIELDS = ("truth_geometry", "detection_geometry")
TIME_FIELDS = ("open_time", "close_time")
UPDATABLE = ("specification", "description", *TIME_FIELDS, "policy", "public_names")
"""Fields that may be changed once a benchmark is there."""

_NAME_KINDS: Mapping[str, benchmark_pb2.NameKind] = {
    "sequences": benchmark_pb2.NAME_KIND_SEQUENCES,
    "labels": benchmark_pb2.NAME_KIND_LABELS,
    "frame_counts": benchmark_pb2.NAME_KIND_FRAME_COUNTS,
}


def encode_specification(
    evaluators: Sequence[EvaluatorChoice], specification: Specification | None
) -> specification_pb2.BenchmarkSpec:
    """Put a specification and the chosen evaluators together.

    Args:
        evaluators: What judges; where empty, the evaluators of the specification.
        specification: The rest; None for nothing.

    Raises:
        InputError: If something has a type or a key that a specification cannot hold.
    """
    message = encode_bare_specification(specification)
    chosen = encode_evaluators("evaluators", evaluators)
    if chosen:
        del message.evaluators[:]
        message.evaluators.extend(chosen)
    if not message.evaluators:
        raise InputError("evaluators", "none", "at least one name")
    return message


def encode_bare_specification(
    specification: Specification | None,
) -> specification_pb2.BenchmarkSpec:
    """Put a specification into a message; it may have no evaluators.

    Raises:
        InputError: If something has a type or a key that a specification cannot hold.
    """
    message = specification_pb2.BenchmarkSpec()
    if isinstance(specification, specification_pb2.BenchmarkSpec):
        message.CopyFrom(specification)
    elif specification is not None:
        fill_message(message, "specification", specification, SPECIFICATION)
    return message


def decode_specification(message: specification_pb2.BenchmarkSpec) -> dict[str, Any]:
    """The dictionary form; what is unset is left out."""
    return show_message(message, SPECIFICATION)


def decode_parameters(messages: Iterable[specification_pb2.Parameter]) -> dict[str, Any]:
    """Parameters by name, in their order; several values are a tuple."""
    return {message.name: _parameter_value(message) for message in messages}


def encode_evaluators(
    argument: str, choices: Sequence[EvaluatorChoice]
) -> list[specification_pb2.EvaluatorSpec]:
    """Chosen evaluators as messages.

    Args:
        argument: Name of the argument that they were given as.
        choices: The choices.

    Raises:
        InputError: If one is no choice.
    """
    if isinstance(choices, str):
        raise InputError(argument, "a string", "a list of names")
    return [_choice(f"{argument}[{index}]", entry) for index, entry in enumerate(choices)]


def _choice(path: str, choice: EvaluatorChoice) -> specification_pb2.EvaluatorSpec:
    if isinstance(choice, str):
        return specification_pb2.EvaluatorSpec(name=choice)
    try:
        name, parameters = choice
    except (TypeError, ValueError):
        raise InputError(path, repr(choice)[:80], "a name, or (name, parameters)") from None
    message = specification_pb2.EvaluatorSpec()
    fill_message(message, path, {"name": name, "parameters": parameters}, _EVALUATOR)
    return message


def encode_definition(definition: Definition) -> benchmark_pb2.Benchmark:
    """A definition as a message.

    Raises:
        InputError: If something has a type or a key that a definition cannot hold.
    """
    if not isinstance(definition, Mapping):
        raise InputError("definition", repr(definition)[:80], "an object")
    own = ("description", *GEOMETRY_FIELDS, *TIME_FIELDS, "public_names", "live", "policy")
    known = (*SPECIFICATION, *own)
    for key in definition:
        if key not in known:
            raise InputError(key, "an unknown key", "one of " + ", ".join(known))
    rest = {key: value for key, value in definition.items() if key not in own}
    message = benchmark_pb2.Benchmark(specification=encode_specification((), rest))
    for key, form in _DEFINITION.items():
        if definition.get(key) is not None:
            form.fill(message, key, definition[key], key)
    if "policy" in definition:
        message.policy.SetInParent()
        fill_message(message.policy, "policy", definition["policy"], _POLICY)
    return message


def decode_definition(message: benchmark_pb2.Benchmark) -> dict[str, Any]:
    """The dictionary form; what is unset is left out."""
    definition = show_message(message.specification, SPECIFICATION)
    definition |= show_message(message, _DEFINITION)
    if message.HasField("policy"):
        definition["policy"] = show_message(message.policy, _POLICY)
    return definition


def encode_geometry(name: str, geometry: Geometry) -> annotations_pb2.Geometry:
    """A shape of objects as the wire has it.

    Args:
        name: Name of the argument, for errors.
        geometry: The shape.

    Raises:
        InputError: If it is none.
    """
    if geometry not in GEOMETRIES:
        raise InputError(name, repr(geometry)[:80], "one of " + ", ".join(GEOMETRIES))
    return GEOMETRIES[geometry]


# --- Fields whose dictionary form is not that of the message ---------------------------------


def _fill_classes(message: Any, _key: str, value: Any, path: str) -> None:
    message.classes.SetInParent()
    names = [
        label_text(entry) if isinstance(entry, Integral) else entry for entry in listed(value, path)
    ]
    extend(message.classes.names, names, path, "a list of class names")


def _fill_frames(message: Any, _key: str, value: Any, path: str) -> None:
    message.frames.SetInParent()
    message.frames.ranges.extend(_ranges(value, path))


def _fill_ranges(message: Any, _key: str, value: Any, path: str) -> None:
    message.dont_care_frames.extend(_ranges(value, path))


def _ranges(value: Any, path: str) -> list[specification_pb2.FrameRange]:
    """Ranges out of [first, last] pairs; a frame may also stand alone as its number."""
    ranges = []
    for index, entry in enumerate(listed(value, path)):
        try:
            first, last = (int(entry),) * 2 if isinstance(entry, Integral) else entry
            ranges.append(specification_pb2.FrameRange(first=first, last=last))
        except (TypeError, ValueError):
            expected = "a frame number or a [first, last] pair"
            raise InputError(f"{path}[{index}]", repr(entry)[:80], expected) from None
    return ranges


def _fill_parameters(message: Any, _key: str, value: Any, path: str) -> None:
    if not isinstance(value, Mapping):
        raise InputError(path, repr(value)[:80], "an object of parameters")
    for name, entry in value.items():
        parameter = message.parameters.add()
        fill_scalar(parameter, "name", name, path)
        _set_parameter(parameter, entry, f"{path}[{name!r}]")


def _set_parameter(parameter: specification_pb2.Parameter, value: Any, path: str) -> None:
    if isinstance(value, bool | np.bool_):
        parameter.boolean = bool(value)
    elif isinstance(value, str):
        parameter.text = value
    elif isinstance(value, Integral):
        fill_scalar(parameter, "integer", int(value), path, "an integer of 64 bits")
    elif isinstance(value, Real):
        parameter.number = float(value)
    else:
        _set_several(parameter, listed(value, path), path)


def _set_several(parameter: specification_pb2.Parameter, values: list[Any], path: str) -> None:
    if values and all(isinstance(value, str) for value in values):
        parameter.texts.values.extend(values)
    else:
        parameter.numbers.SetInParent()
        extend(parameter.numbers.values, values, path, "numbers alone, or strings alone")


def _show_classes(message: Any, _key: str) -> list[str] | None:
    return list(message.classes.names) if message.HasField("classes") else None


def _show_frames(message: Any, _key: str) -> list[list[int]] | None:
    return _pairs(message.frames.ranges) if message.HasField("frames") else None


def _pairs(ranges: Iterable[specification_pb2.FrameRange]) -> list[list[int]]:
    return [[entry.first, entry.last] for entry in ranges]


def _show_parameters(message: Any, _key: str) -> dict[str, Any] | None:
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in decode_parameters(message.parameters).items()
    } or None


def _parameter_value(message: specification_pb2.Parameter) -> Any:
    kind = message.WhichOneof("value")
    if kind is None:
        return None
    value = getattr(message, kind)
    return tuple(value.values) if kind in {"numbers", "texts"} else value


def _fill_geometry(message: Any, key: str, value: Any, path: str) -> None:
    setattr(message, key, encode_geometry(path, value))


def _fill_time(message: Any, key: str, value: Any, path: str) -> None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        time = None
    if not isinstance(time, datetime) or time.tzinfo is None:
        expected = "a date and time with its offset from UTC, such as 2026-05-01T00:00:00Z"
        raise InputError(path, repr(value)[:80], expected)
    getattr(message, key).FromDatetime(time)


def _fill_kinds(message: Any, _key: str, value: Any, path: str) -> None:
    expected = "a list of " + ", ".join(_NAME_KINDS)
    if not isinstance(value, list | tuple):
        raise InputError(path, repr(value)[:80], expected)
    for kind in value:
        if kind not in _NAME_KINDS:
            raise InputError(path, repr(kind)[:80], expected)
    message.public_names.kinds.extend(_NAME_KINDS[kind] for kind in value)
    message.public_names.SetInParent()


def _show_kinds(message: Any, _key: str) -> list[str] | None:
    if not message.HasField("public_names"):
        return None
    words = {number: word for word, number in _NAME_KINDS.items()}
    return [words[kind] for kind in message.public_names.kinds if kind in words]


def _fill_budget(message: Any, key: str, value: Any, path: str) -> None:
    """Set a number of submissions; 0, no limit, is said by a field of its own."""
    fill_scalar(message, key, value, path)
    message.unlimited_submissions = value == 0


def _show_budget(message: Any, key: str) -> int | None:
    number: int = getattr(message, key)
    return number if number or message.unlimited_submissions else None


def _fill_private(message: Any, _key: str, value: Any, path: str) -> None:
    """Set private sequences; a number in place of their names is a share."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        fill_scalar(message, "private_share", value, path)
    else:
        extend(message.private_sequences, listed(value, path), path, "names, or a share")


def _show_private(message: Any, _key: str) -> float | list[str] | None:
    share: float = message.private_share
    return share or list(message.private_sequences) or None


_EVALUATOR: Fields = {"name": PLAIN, "parameters": Form(_fill_parameters, _show_parameters)}
_DOMAIN: Fields = {"name": PLAIN, "classes": Form(_fill_classes, _show_classes)}
_SEQUENCE: Fields = {
    "domain": UNLESS_DEFAULT,
    "name": PLAIN,
    "frame_count": PLAIN,
    "first_frame": UNLESS_DEFAULT,
    "frames": Form(_fill_frames, _show_frames),
    "dont_care_frames": Form(
        _fill_ranges, lambda message, key: _pairs(getattr(message, key)) or None
    ),
    "image_width": PLAIN,
    "image_height": PLAIN,
}
SPECIFICATION: Fields = {
    "title": UNLESS_DEFAULT,
    "evaluators": entries(_EVALUATOR),
    "domains": entries(_DOMAIN),
    "sequences": entries(_SEQUENCE),
    "classes": Form(_fill_classes, _show_classes),
}
_DEFINITION: Fields = {
    "description": UNLESS_DEFAULT,
    **dict.fromkeys(GEOMETRY_FIELDS, Form(_fill_geometry, present)),
    **dict.fromkeys(TIME_FIELDS, Form(_fill_time, read_time)),
    "public_names": Form(_fill_kinds, _show_kinds),
    "live": LIVE,
}
_POLICY: Fields = {
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
    "final_submissions": PLAIN,
}
