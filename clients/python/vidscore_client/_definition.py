"""The definition of a benchmark in its dictionary form and on the wire, and from one to the other.

The dictionary form is that of TOML files: the keys of a specification, and beside them
``truth_geometry``, ``detection_geometry``, ``open_time``, ``close_time``, ``public_names`` and a
table ``policy``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from vidscore.v1 import benchmark_pb2
from vidscore_client._encoding import GEOMETRIES, encode_geometry
from vidscore_client._specification import (
    SPECIFICATION_FIELDS,
    Fill,
    decode_specification,
    encode_specification,
    fill_message,
    list_field,
    scalar_field,
)
from vidscore_client.errors import InputError

Definition = Mapping[str, Any]
"""A benchmark's definition as dictionaries, lists, texts, numbers and times."""

Show = Callable[[Any, str], Any]
"""Gives the value of a field under a key; None where it is unset."""

GEOMETRY_FIELDS = ("truth_geometry", "detection_geometry")
TIME_FIELDS = ("open_time", "close_time")
_OWN_FIELDS = (*GEOMETRY_FIELDS, *TIME_FIELDS, "public_names", "policy")

_NAME_KINDS: Mapping[str, benchmark_pb2.NameKind] = {
    "sequences": benchmark_pb2.NAME_KIND_SEQUENCES,
    "labels": benchmark_pb2.NAME_KIND_LABELS,
    "frame_counts": benchmark_pb2.NAME_KIND_FRAME_COUNTS,
}

UPDATABLE = ("specification", *TIME_FIELDS, "policy", "public_names")
"""Fields that may be changed once a benchmark is there."""


def encode_definition(definition: Definition) -> benchmark_pb2.Benchmark:
    """A definition as a message.

    Raises:
        InputError: If something has a type or a key that a definition cannot hold.
    """
    if not isinstance(definition, Mapping):
        raise InputError("definition", repr(definition)[:80], "a table")
    known = (*SPECIFICATION_FIELDS, *_OWN_FIELDS)
    for key in definition:
        if key not in known:
            raise InputError(key, "an unknown key", "one of " + ", ".join(known))
    rest = {key: value for key, value in definition.items() if key not in _OWN_FIELDS}
    message = benchmark_pb2.Benchmark(specification=encode_specification((), rest))
    for field in GEOMETRY_FIELDS:
        if definition.get(field) is not None:
            setattr(message, field, encode_geometry(field, definition[field]))
    for field in TIME_FIELDS:
        if definition.get(field) is not None:
            getattr(message, field).FromDatetime(_time(field, definition[field]))
    if definition.get("public_names") is not None:
        message.public_names.kinds.extend(_kinds(definition["public_names"]))
        message.public_names.SetInParent()
    if "policy" in definition:
        message.policy.SetInParent()
        fill_message(message.policy, "policy", definition["policy"], _FILLS)
    return message


def decode_definition(message: benchmark_pb2.Benchmark) -> dict[str, Any]:
    """The dictionary form; what is unset is left out."""
    names = {number: name for name, number in GEOMETRIES.items()}
    definition = decode_specification(message.specification)
    for field in GEOMETRY_FIELDS:
        if getattr(message, field) in names:
            definition[field] = names[getattr(message, field)]
    for field in TIME_FIELDS:
        if message.HasField(field):
            definition[field] = getattr(message, field).ToDatetime(tzinfo=UTC)
    if message.HasField("public_names"):
        words = {number: word for word, number in _NAME_KINDS.items()}
        kinds = message.public_names.kinds
        definition["public_names"] = [words[kind] for kind in kinds if kind in words]
    if message.HasField("policy"):
        definition["policy"] = _policy(message.policy)
    return definition


def _kinds(value: object) -> list[benchmark_pb2.NameKind]:
    expected = "a list of " + ", ".join(_NAME_KINDS)
    if not isinstance(value, list | tuple):
        raise InputError("public_names", repr(value)[:80], expected)
    for kind in value:
        if kind not in _NAME_KINDS:
            raise InputError("public_names", repr(kind)[:80], expected)
    return [_NAME_KINDS[kind] for kind in value]


def _time(field: str, value: object) -> datetime:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        time = None
    if isinstance(time, datetime) and time.tzinfo is not None:
        return time
    expected = "a date and time with its offset from UTC, such as 2026-05-01T00:00:00Z"
    raise InputError(field, repr(value)[:80], expected)


def _seconds(message: Any, key: str, value: Any, path: str) -> None:
    try:
        getattr(message, key.removesuffix("_s")).FromNanoseconds(round(value * 1e9))
    except (TypeError, ValueError, OverflowError):
        raise InputError(path, repr(value)[:80], "a number of seconds") from None


def _shown_seconds(message: Any, key: str) -> float | None:
    field = key.removesuffix("_s")
    return getattr(message, field).ToNanoseconds() / 1e9 if message.HasField(field) else None


def _choice(prefix: str, numbers: Mapping[str, int]) -> tuple[Fill, Show]:
    """How a field of an enumeration is set and shown; the number 0 is not said at all."""
    known = {name.removeprefix(prefix).lower(): number for name, number in numbers.items()}
    names = {number: name for name, number in known.items() if number}

    def fill(message: Any, key: str, value: Any, path: str) -> None:
        if value not in names.values():
            raise InputError(path, repr(value)[:80], " or ".join(names.values()))
        setattr(message, key, known[value])

    def show(message: Any, key: str) -> str | None:
        return names.get(getattr(message, key))

    return fill, show


def _shown_present(message: Any, key: str) -> Any:
    return getattr(message, key) if message.HasField(key) else None


def _shown_list(message: Any, key: str) -> list[str]:
    return list(getattr(message, key))


_WHOLE = scalar_field("a whole number")


def _budget(message: Any, key: str, value: Any, path: str) -> None:
    """Set a number of submissions; 0, no limit, is said by a field of its own."""
    _WHOLE(message, key, value, path)
    message.unlimited_submissions = value == 0


def _shown_budget(message: Any, key: str) -> int | None:
    number: int = getattr(message, key)
    return number if number or message.unlimited_submissions else None


_TRUTH_VALUE = scalar_field("true or false")
_POLICY: Mapping[str, tuple[Fill, Show]] = {
    "visibility": _choice("VISIBILITY_", dict(benchmark_pb2.Visibility.items())),
    "ladder_step": (scalar_field("a number"), _shown_present),
    "released_measures": (list_field("a list of measures"), _shown_list),
    "minimum_frames": (_WHOLE, _shown_present),
    "quiet_timeout_s": (_seconds, _shown_seconds),
    "quiet_action": _choice("QUIET_ACTION_", dict(benchmark_pb2.QuietAction.items())),
    "truth_timeout_s": (_seconds, _shown_seconds),
    "submissions_per_day": (_WHOLE, getattr),
    "submissions_in_all": (_budget, _shown_budget),
    "ranking_measure": (scalar_field("a text"), getattr),
    "selection": _choice("SELECTION_", dict(benchmark_pb2.Selection.items())),
    "earlier_first": (_TRUTH_VALUE, getattr),
    "public_board": (_TRUTH_VALUE, _shown_present),
    "rescore": _choice("RESCORE_", dict(benchmark_pb2.Rescore.items())),
}


_FILLS = {key: fill for key, (fill, _) in _POLICY.items()}


def _policy(message: benchmark_pb2.Policy) -> dict[str, Any]:
    shown = {key: show(message, key) for key, (_, show) in _POLICY.items()}
    return {key: value for key, value in shown.items() if value is not None}
