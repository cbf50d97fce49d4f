"""A benchmark as its file has it, made of the plain values of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vidscore_evaluators.formats.manifest import write_document

_SHAPES = ("truth_geometry", "detection_geometry")
_TIMES = ("open_time", "close_time")
_SECONDS = ("quiet_timeout", "truth_timeout")
"""Keys of a policy whose names in a file end in ``_s``."""

Plain = Mapping[str, Any]


def toml_of(benchmark: Plain) -> str:
    """The file of a benchmark, which makes the same benchmark again.

    Args:
        benchmark: The benchmark, as an organiser sees it.
    """
    return write_document(document_of(benchmark))


def document_of(benchmark: Plain) -> dict[str, Any]:
    """The definition of a benchmark as dictionaries, by the keys of its file."""
    own = {key: benchmark[key] for key in (*_SHAPES, *_TIMES) if benchmark[key]}
    if benchmark["description"]:
        own["description"] = benchmark["description"]
    if benchmark["public_names"] is not None:
        own["public_names"] = benchmark["public_names"]["kinds"]
    title = benchmark["specification"]["title"]
    return {
        **({"title": title} if title else {}),
        **own,
        **specification_of(benchmark["specification"]),
        "policy": _policy(benchmark["policy"]),
    }


def specification_of(specification: Plain) -> dict[str, Any]:
    """A specification by the keys of its file, without its title."""
    found: dict[str, Any] = {
        "evaluators": [_evaluator(entry) for entry in specification["evaluators"]],
        "domains": [_domain(entry) for entry in specification["domains"]],
        "sequences": [_sequence(entry) for entry in specification["sequences"]],
    }
    if specification["classes"] is not None:
        found["classes"] = specification["classes"]["names"]
    return {key: value for key, value in found.items() if value or key == "classes"}


def _evaluator(entry: Plain) -> dict[str, Any]:
    parameters = {one["name"]: _value(one) for one in entry["parameters"]}
    return {"name": entry["name"], **({"parameters": parameters} if parameters else {})}


def _value(parameter: Plain) -> Any:
    """The one value that a parameter has."""
    [value] = [value for key, value in parameter.items() if key != "name" and value is not None]
    return value["values"] if isinstance(value, Mapping) else value


def _domain(entry: Plain) -> dict[str, Any]:
    classes = {} if entry["classes"] is None else {"classes": entry["classes"]["names"]}
    return {"name": entry["name"], **classes}


def _sequence(entry: Plain) -> dict[str, Any]:
    found = {
        "domain": entry["domain"] or None,
        "name": entry["name"],
        "frame_count": entry["frame_count"],
        "first_frame": entry["first_frame"] or None,
        "frames": entry["frames"] and _pairs(entry["frames"]["ranges"]),
        "dont_care_frames": _pairs(entry["dont_care_frames"]) or None,
        "image_width": entry["image_width"],
        "image_height": entry["image_height"],
    }
    return {key: value for key, value in found.items() if value is not None}


def _pairs(ranges: Iterable[Plain]) -> list[list[int]]:
    return [[entry["first"], entry["last"]] for entry in ranges]


def _policy(policy: Plain) -> dict[str, Any]:
    found = {f"{key}_s" if key in _SECONDS else key: value for key, value in policy.items()}
    if found.pop("unlimited_submissions"):
        found["submissions_in_all"] = 0
    return {key: value for key, value in found.items() if value is not None}
