"""BenchmarkSpec messages to specifications and back, by way of the plain dictionary form.

The dictionary form has one reader that names every fault; the message adds only what a message
can get wrong by itself: parameters that repeat or have no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError, SpecificationError
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, spec_from_dict
from vidscore_protos.v1 import specification_pb2


def read_specification(message: specification_pb2.BenchmarkSpec, source: str) -> BenchmarkSpec:
    """Check a specification.

    Args:
        message: The specification.
        source: Its path in the request, such as ``configuration.specification``.

    Raises:
        SpecificationError: With every fault.
    """
    faults: list[Fault] = []
    evaluators = _evaluators_to_list(message.evaluators, source, "evaluators", faults)
    document = {
        "title": message.title,
        "evaluators": evaluators,
        "domains": [_domain_to_dict(entry) for entry in message.domains],
        "sequences": [_sequence_to_dict(entry) for entry in message.sequences],
    }
    try:
        specification = spec_from_dict(document, source=source)
    except SpecificationError as error:
        raise SpecificationError([*faults, *error.faults]) from None
    if faults:
        raise SpecificationError(faults)
    return specification


def read_evaluators(
    messages: Iterable[specification_pb2.EvaluatorSpec], field: str
) -> tuple[EvaluatorSpec, ...]:
    """Evaluators that stand alone in a request; whether there are such is not looked at.

    Args:
        messages: The evaluators.
        field: Their path in the request.

    Raises:
        InputError: With every parameter that repeats or has no value.
    """
    faults: list[Fault] = []
    entries = _evaluators_to_list(messages, None, field, faults)
    if faults:
        raise InputError(faults)
    return tuple(EvaluatorSpec(**entry) for entry in entries)


def write_specification(document: Mapping[str, Any]) -> specification_pb2.BenchmarkSpec:
    """A specification in its dictionary form, as reports carry it, as a message."""
    message = specification_pb2.BenchmarkSpec(title=document.get("title", ""))
    for entry in document.get("evaluators", ()):
        message.evaluators.add(
            name=entry["name"], parameters=write_parameters(entry.get("parameters", {}))
        )
    for entry in document.get("domains", ()):
        domain = message.domains.add(name=entry["name"])
        if "classes" in entry:
            domain.classes.SetInParent()
            domain.classes.names.extend(entry["classes"])
    for entry in document.get("sequences", ()):
        message.sequences.append(_sequence_from_dict(entry))
    return message


def write_parameters(values: Mapping[str, Any]) -> list[specification_pb2.Parameter]:
    """Parameters by name, as messages."""
    return [_write_parameter(name, value) for name, value in values.items()]


def _write_parameter(name: str, value: object) -> specification_pb2.Parameter:
    if isinstance(value, bool):
        return specification_pb2.Parameter(name=name, boolean=value)
    if isinstance(value, int):
        return specification_pb2.Parameter(name=name, integer=value)
    if isinstance(value, float):
        return specification_pb2.Parameter(name=name, number=value)
    if isinstance(value, str):
        return specification_pb2.Parameter(name=name, text=value)
    if not isinstance(value, Sequence):
        raise TypeError(f"no message holds a parameter of type {type(value).__name__}")
    if value and isinstance(value[0], str):
        texts = specification_pb2.TextList(values=value)
        return specification_pb2.Parameter(name=name, texts=texts)
    numbers = specification_pb2.NumberList(values=value)
    return specification_pb2.Parameter(name=name, numbers=numbers)


def _evaluators_to_list(
    messages: Iterable[specification_pb2.EvaluatorSpec],
    source: str | None,
    field: str,
    faults: list[Fault],
) -> list[dict[str, Any]]:
    return [
        {
            "name": entry.name,
            "parameters": _read_parameters(
                entry.parameters, source, f"{field}[{index}].parameters", faults
            ),
        }
        for index, entry in enumerate(messages)
    ]


def _read_parameters(
    parameters: Iterable[specification_pb2.Parameter],
    source: str | None,
    path: str,
    faults: list[Fault],
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for index, parameter in enumerate(parameters):
        place = f"{path}[{index}]"
        kind = parameter.WhichOneof("value")
        if parameter.name in values:
            found = f"{parameter.name[:80]!r} again"
            faults.append(Fault(found, "each name once", source, field=f"{place}.name"))
        if kind is None:
            faults.append(Fault("no value", "a value", source, field=f"{place}.value"))
            continue
        value = getattr(parameter, kind)
        values[parameter.name] = tuple(value.values) if kind in {"numbers", "texts"} else value
    return values


def _domain_to_dict(message: specification_pb2.DomainSpec) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": message.name}
    if message.HasField("classes"):
        entry["classes"] = list(message.classes.names)
    return entry


def _sequence_to_dict(message: specification_pb2.SequenceSpec) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": message.name,
        "domain": message.domain,
        "first_frame": message.first_frame,
        "dont_care_frames": _bounds_of(message.dont_care_frames),
    }
    for name in ("frame_count", "image_width", "image_height"):
        if message.HasField(name):
            entry[name] = getattr(message, name)
    if message.HasField("frames"):
        entry["frames"] = _bounds_of(message.frames.ranges)
    return entry


def _sequence_from_dict(entry: Mapping[str, Any]) -> specification_pb2.SequenceSpec:
    plain = ("name", "domain", "frame_count", "first_frame", "image_width", "image_height")
    message = specification_pb2.SequenceSpec(
        **{name: entry[name] for name in plain if name in entry},
        dont_care_frames=_ranges_from_list(entry.get("dont_care_frames", ())),
    )
    if "frames" in entry:
        message.frames.SetInParent()
        message.frames.ranges.extend(_ranges_from_list(entry["frames"]))
    return message


def _bounds_of(ranges: Sequence[specification_pb2.FrameRange]) -> IntArray:
    """(N, 2) first and last frames: there may be many, in a few bytes each."""
    numbers = (number for entry in ranges for number in (entry.first, entry.last))
    return np.fromiter(numbers, np.int64, 2 * len(ranges)).reshape(-1, 2)


def _ranges_from_list(pairs: Iterable[Sequence[int]]) -> list[specification_pb2.FrameRange]:
    return [specification_pb2.FrameRange(first=first, last=last) for first, last in pairs]
