"""Schemas of the messages in which live systems publish their detections.

A distribution adds a schema with an entry point in the group ``vidscore.schemas`` whose object is a
`vidscore_evaluators.feeds.frames.Schema`.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module, metadata

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import FeedFrame, Framing, Schema, Unit, Unsaid
from vidscore_evaluators.names import name_advice

__all__ = ["FeedFrame", "Framing", "Schema", "Unit", "Unsaid", "schema_names", "schema_of_name"]

ENTRY_POINT_GROUP = "vidscore.schemas"

_BUILT_IN = {
    "jsonl": "json_lines:SCHEMA",
    "nvidia-json": "nvidia:JSON",
    "nvidia-protobuf": "nvidia:PROTOBUF",
    "vision-msgs": "vision_msgs:CDR",
    "vision-msgs-json": "vision_msgs:JSON",
    "dlstreamer": "dlstreamer:SCHEMA",
    "onvif": "onvif:SCHEMA",
    "frigate": "frigate:SCHEMA",
    "supervision-csv": "supervision_csv:SCHEMA",
}
"""Module and object by name; imported on first use."""


def schema_names() -> tuple[str, ...]:
    """Names of all schemas, built-in ones first."""
    others = {point.name for point in metadata.entry_points(group=ENTRY_POINT_GROUP)}
    return (*_BUILT_IN, *sorted(others - _BUILT_IN.keys()))


@cache
def schema_of_name(name: str) -> Schema:
    """The schema with a name.

    Raises:
        InputError: If there is none, or a distribution's cannot be used.
    """
    if name in _BUILT_IN:
        module, attribute = _BUILT_IN[name].split(":")
        built_in: Schema = getattr(import_module(f"{__name__}.{module}"), attribute)
        return built_in
    points = set(metadata.entry_points(group=ENTRY_POINT_GROUP, name=name))
    if not points:
        advice = name_advice(name, schema_names())
        raise InputError([Fault(name, "the name of a schema", field="schema", advice=advice)])
    return _load(name, list(points))


def _load(name: str, points: list[metadata.EntryPoint]) -> Schema:
    found = f"the schema {name!r}"
    if len(points) > 1:
        raise InputError([Fault(found, "one distribution that has it", field="schema")])
    try:
        plug_in = points[0].load()
    except (ImportError, AttributeError) as error:
        fault = Fault(f"{found}, which fails: {error}", "one that loads", field="schema")
        raise InputError([fault]) from error
    if not isinstance(plug_in, Schema) or plug_in.name != name:
        expected = f"a Schema of the name {name!r}"
        raise InputError([Fault(f"{found}: {points[0].value}", expected, field="schema")])
    return plug_in
