"""Arguments of the library's functions: one table of the values that each name may have."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.report import Report
from vidscore_evaluators.selection import Selection
from vidscore_evaluators.shards.dealing import MAXIMUM_SHARDS
from vidscore_evaluators.specification import MAXIMUM_IMAGE_SIDE_PX, BenchmarkSpec, EvaluatorSpec

SHOWN_CHARACTERS = 80

_ON_ERROR = ("refuse", "skip")
_SIDES = tuple(Side)
_DRAWN = ("sequences", "frames")

_IsRight = Callable[[Any], bool]
_Rule = tuple[_IsRight, str]


def check_arguments(**given: Any) -> None:
    """Refuse arguments that a function cannot use.

    Args:
        given: The arguments by name.

    Raises:
        ParameterError: With every wrong one.
    """
    faults = [
        Fault(repr(value)[:SHOWN_CHARACTERS], _RULES[name][1], field=name)
        for name, value in given.items()
        if not _RULES[name][0](value)
    ]
    if faults:
        raise ParameterError(faults)


def _instance(kind: type | types.UnionType, expected: str) -> _Rule:
    return (lambda value: isinstance(value, kind), expected)


def _or_none(rule: _Rule) -> _Rule:
    is_right, expected = rule
    return (lambda value: value is None or is_right(value), expected)


def _is_integer(value: Any, minimum: int, maximum: float = float("inf")) -> bool:
    # numpy's integers count, too; True does not.
    is_one = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
    return is_one and minimum <= value <= maximum


def _at_least(minimum: int) -> _Rule:
    return (lambda value: _is_integer(value, minimum), f"an integer of at least {minimum}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_evaluator(value: Any) -> bool:
    if isinstance(value, EvaluatorSpec):
        parts: tuple[Any, Any] = (value.name, value.parameters)
        return isinstance(parts[0], str) and isinstance(parts[1], Mapping)
    return isinstance(value, str)


def _has_order(value: Any) -> bool:
    """Whether it is several values, in an order that is the same in each run."""
    return isinstance(value, Collection) and not isinstance(value, str | Mapping | set | frozenset)


def _are_evaluators(value: Any) -> bool:
    if _has_order(value):
        return all(map(_is_evaluator, value))
    return _is_evaluator(value)


def _is_path(value: Any) -> bool:
    return isinstance(value, str | os.PathLike)


def _are_systems(value: Any) -> bool:
    if _has_order(value):
        return all(map(_is_path, value))
    return isinstance(value, Mapping)


def _is_executor(value: Any) -> bool:
    # Not every executor derives from the class in `concurrent.futures`.
    return callable(getattr(value, "submit", None)) and not isinstance(value, type)


def _is_image_size(value: Any) -> bool:
    if not isinstance(value, tuple | list | np.ndarray) or len(value) != 2:
        return False
    return all(_is_integer(side, 1, MAXIMUM_IMAGE_SIDE_PX) for side in value)


def _are_reports(value: Any) -> bool:
    reports = value.values() if isinstance(value, Mapping) else (value,)
    return all(isinstance(report, Report) for report in reports)


_EVALUATORS = "the name of an evaluator or preset, an EvaluatorSpec, or a list of these"
_IMAGE_SIZE = f"width and height, integers from 1 to {MAXIMUM_IMAGE_SIDE_PX}"
_NUMBER_OR_NONE = _or_none((_is_number, "a number"))
_TEXT = _instance(str, "a text")

_RULES: Mapping[str, _Rule] = types.MappingProxyType(
    {
        "at_confidence": _NUMBER_OR_NONE,
        "at_threshold": _NUMBER_OR_NONE,
        "confidence_scale": _or_none(_instance(str, "sigmoid, or MIN,MAX as a text")),
        "coverage": (lambda value: _is_number(value) and 0 < value < 1, "a share between 0 and 1"),
        "domain": _TEXT,
        "draw": (_DRAWN.__contains__, " or ".join(_DRAWN)),
        "draws": _at_least(1),
        "evaluator": (_are_evaluators, _EVALUATORS),
        "executor": _or_none((_is_executor, "an executor of concurrent.futures")),
        "format": _instance(str, "the name of a format, or auto"),
        "image_size": _or_none((_is_image_size, _IMAGE_SIZE)),
        "labels": _or_none(
            (
                lambda value: isinstance(value, Mapping | Sequence) and not isinstance(value, str),
                "a list or a mapping",
            )
        ),
        "limits": _instance(ReadLimits, "ReadLimits"),
        "manifest": _or_none((_is_path, "a path")),
        "name_or_path": _TEXT,
        "on_error": (_ON_ERROR.__contains__, " or ".join(_ON_ERROR)),
        "online": _instance(bool | np.bool_, "True or False"),
        "path": (_is_path, "a path"),
        "progress": _or_none((callable, "a function")),
        "reports": (_are_reports, "a Report, or Reports by name (a dictionary)"),
        "seed": _at_least(0),
        "select": _instance(Selection, "a Selection"),
        "sequence": _TEXT,
        "shards": (
            lambda value: _is_integer(value, 1, MAXIMUM_SHARDS),
            f"an integer from 1 to {MAXIMUM_SHARDS}",
        ),
        "side": (_SIDES.__contains__, " or ".join(_SIDES)),
        "specification": _or_none(_instance(BenchmarkSpec, "a BenchmarkSpec")),
        "systems": (_are_systems, "detections by name (a dictionary), or a list of paths"),
        "top": _at_least(0),
        "workers": _at_least(1),
    }
)
"""By argument name: the check of a value, and what is expected if it fails."""
