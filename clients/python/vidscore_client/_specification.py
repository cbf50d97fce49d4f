"""A benchmark specification in its JSON form and in its proto form, and from one to the other."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from google.protobuf.message import Message

from vidscore_client.errors import InputError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import label_text
from vidscore_protos.v1 import specification_pb2 as wire

Specification = Mapping[str, Any] | wire.BenchmarkSpec
"""A specification as dictionaries, as a manifest or a report has it, or as the proto message."""

Fill = Callable[[Any, str, Any, str], None]


def encode_specification(
    evaluators: Sequence[EvaluatorChoice], specification: Specification | None
) -> wire.BenchmarkSpec:
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


def encode_bare_specification(specification: Specification | None) -> wire.BenchmarkSpec:
    """Put a specification into a message; it may have no evaluators.

    Raises:
        InputError: If something has a type or a key that a specification cannot hold.
    """
    message = wire.BenchmarkSpec()
    if isinstance(specification, wire.BenchmarkSpec):
        message.CopyFrom(specification)
    elif specification is not None:
        fill_message(message, "specification", specification, _SPECIFICATION)
    return message


def decode_specification(message: wire.BenchmarkSpec) -> dict[str, Any]:
    """The JSON form; what is unset is left out."""
    return _without_unset(
        {
            "title": message.title or None,
            "evaluators": [_evaluator(entry) for entry in message.evaluators] or None,
            "domains": [_domain(entry) for entry in message.domains] or None,
            "sequences": [_sequence(entry) for entry in message.sequences] or None,
        }
    )


def decode_parameters(messages: Iterable[wire.Parameter]) -> dict[str, Any]:
    """Parameters by name, in their order; several values are a tuple."""
    return {message.name: _parameter_value(message) for message in messages}


def encode_evaluators(
    argument: str, choices: Sequence[EvaluatorChoice]
) -> list[wire.EvaluatorSpec]:
    """Chosen evaluators as messages.

    Args:
        argument: Name of the argument that they were given as.
        choices: The choices.

    Raises:
        InputError: If one is no choice.
    """
    if isinstance(choices, str):
        raise InputError(argument, "one text", "a list of names")
    return [_choice(f"{argument}[{index}]", entry) for index, entry in enumerate(choices)]


def _choice(path: str, choice: EvaluatorChoice) -> wire.EvaluatorSpec:
    if isinstance(choice, str):
        return wire.EvaluatorSpec(name=choice)
    try:
        name, parameters = choice
    except (TypeError, ValueError):
        raise InputError(path, repr(choice)[:80], "a name, or (name, parameters)") from None
    message = wire.EvaluatorSpec()
    fill_message(message, path, {"name": name, "parameters": parameters}, _EVALUATOR)
    return message


def fill_message(message: Message, path: str, document: object, fields: Mapping[str, Fill]) -> None:
    """Set the fields of a message from a table, each in its own way.

    Args:
        message: The message.
        path: Where the table stands, for errors.
        document: The table.
        fields: For each of its keys, what sets the field.

    Raises:
        InputError: If it is no table, has another key, or a value of another type.
    """
    if not isinstance(document, Mapping):
        raise InputError(path, repr(document)[:80], "a table")
    for key, value in document.items():
        if key not in fields:
            raise InputError(f"{path}.{key}", "unknown key", "", _key_advice(str(key), fields))
        fields[key](message, key, value, f"{path}.{key}")


def _key_advice(key: str, known: Iterable[str]) -> str:
    entries = tuple(known)
    close = difflib.get_close_matches(key.casefold(), entries, n=1)
    return f"did you mean {close[0]}?" if close else "there are " + ", ".join(entries)


def scalar_field(expected: str) -> Fill:
    """Sets a field of one value.

    Args:
        expected: What its values are, for errors.
    """

    def fill(message: Any, key: str, value: Any, path: str) -> None:
        try:
            setattr(message, key, value)
        except (TypeError, ValueError):
            raise InputError(path, repr(value)[:80], expected) from None

    return fill


def list_field(expected: str) -> Fill:
    """Sets a field of several values.

    Args:
        expected: What they are, for errors.
    """

    def fill(message: Any, key: str, value: Any, path: str) -> None:
        _extend(getattr(message, key), value, path, expected)

    return fill


def _entries(fields: Mapping[str, Fill]) -> Fill:
    def fill(message: Any, key: str, value: Any, path: str) -> None:
        for index, entry in enumerate(_listed(value, path)):
            fill_message(getattr(message, key).add(), f"{path}[{index}]", entry, fields)

    return fill


def _classes(message: Any, _key: str, value: Any, path: str) -> None:
    message.classes.SetInParent()
    names = [
        label_text(entry) if isinstance(entry, Integral) else entry
        for entry in _listed(value, path)
    ]
    _extend(message.classes.names, names, path, "a list of class names")


def _evaluated_frames(message: Any, _key: str, value: Any, path: str) -> None:
    message.frames.SetInParent()
    message.frames.ranges.extend(_ranges(value, path))


def _dont_care_frames(message: Any, _key: str, value: Any, path: str) -> None:
    message.dont_care_frames.extend(_ranges(value, path))


def _ranges(value: Any, path: str) -> list[wire.FrameRange]:
    """Ranges out of [first, last] pairs; a frame may also stand alone as its number."""
    ranges = []
    for index, entry in enumerate(_listed(value, path)):
        try:
            first, last = (int(entry),) * 2 if isinstance(entry, Integral) else entry
            ranges.append(wire.FrameRange(first=first, last=last))
        except (TypeError, ValueError):
            expected = "a frame number or a [first, last] pair"
            raise InputError(f"{path}[{index}]", repr(entry)[:80], expected) from None
    return ranges


def _parameters(message: Any, _key: str, value: Any, path: str) -> None:
    if not isinstance(value, Mapping):
        raise InputError(path, repr(value)[:80], "a table of parameters")
    for name, entry in value.items():
        parameter = message.parameters.add()
        scalar_field("a text")(parameter, "name", name, path)
        _set_parameter(parameter, entry, f"{path}[{name!r}]")


def _set_parameter(parameter: wire.Parameter, value: Any, path: str) -> None:
    if isinstance(value, bool | np.bool_):
        parameter.boolean = bool(value)
    elif isinstance(value, str):
        parameter.text = value
    elif isinstance(value, Integral):
        scalar_field("a whole number of 64 bits")(parameter, "integer", int(value), path)
    elif isinstance(value, Real):
        parameter.number = float(value)
    else:
        _set_several(parameter, _listed(value, path), path)


def _set_several(parameter: wire.Parameter, values: list[Any], path: str) -> None:
    if values and all(isinstance(value, str) for value in values):
        parameter.texts.values.extend(values)
    else:
        parameter.numbers.SetInParent()
        _extend(parameter.numbers.values, values, path, "numbers alone, or texts alone")


def _extend(column: Any, values: Any, path: str, expected: str) -> None:
    try:
        column.extend(_listed(values, path))
    except (TypeError, ValueError):
        raise InputError(path, repr(values)[:80], expected) from None


def _listed(value: Any, path: str) -> list[Any]:
    if isinstance(value, str | Mapping) or not hasattr(value, "__iter__"):
        raise InputError(path, repr(value)[:80], "a list")
    return list(value)


_EVALUATOR: Mapping[str, Fill] = {"name": scalar_field("a text"), "parameters": _parameters}
_DOMAIN: Mapping[str, Fill] = {"name": scalar_field("a text"), "classes": _classes}
_SEQUENCE: Mapping[str, Fill] = {
    "domain": scalar_field("a text"),
    "name": scalar_field("a text"),
    "frame_count": scalar_field("a whole number"),
    "first_frame": scalar_field("a whole number"),
    "frames": _evaluated_frames,
    "dont_care_frames": _dont_care_frames,
    "image_width": scalar_field("a whole number"),
    "image_height": scalar_field("a whole number"),
}
_SPECIFICATION: Mapping[str, Fill] = {
    "title": scalar_field("a text"),
    "evaluators": _entries(_EVALUATOR),
    "domains": _entries(_DOMAIN),
    "sequences": _entries(_SEQUENCE),
}


def _evaluator(message: wire.EvaluatorSpec) -> dict[str, Any]:
    parameters = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in decode_parameters(message.parameters).items()
    }
    return _without_unset({"name": message.name, "parameters": parameters or None})


def _domain(message: wire.DomainSpec) -> dict[str, Any]:
    classes = list(message.classes.names) if message.HasField("classes") else None
    return _without_unset({"name": message.name, "classes": classes})


def _sequence(message: wire.SequenceSpec) -> dict[str, Any]:
    return _without_unset(
        {
            "domain": message.domain or None,
            "name": message.name,
            "frame_count": _present(message, "frame_count"),
            "first_frame": message.first_frame or None,
            "frames": _pairs(message.frames.ranges) if message.HasField("frames") else None,
            "dont_care_frames": _pairs(message.dont_care_frames) or None,
            "image_width": _present(message, "image_width"),
            "image_height": _present(message, "image_height"),
        }
    )


def _pairs(ranges: Iterable[wire.FrameRange]) -> list[list[int]]:
    return [[entry.first, entry.last] for entry in ranges]


def _present(message: Any, field: str) -> Any:
    return getattr(message, field) if message.HasField(field) else None


def _parameter_value(message: wire.Parameter) -> Any:
    kind = message.WhichOneof("value")
    if kind is None:
        return None
    value = getattr(message, kind)
    return tuple(value.values) if kind in {"numbers", "texts"} else value


def _without_unset(entries: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value is not None}


SPECIFICATION_FIELDS = tuple(_SPECIFICATION)
"""Keys of a specification."""
