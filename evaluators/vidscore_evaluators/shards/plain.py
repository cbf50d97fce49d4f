"""Warnings and the frames that they cite in the plain form of JSON, as tally files hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.report import FrameExample, ReportWarning


def plain_warnings(warnings: Sequence[ReportWarning]) -> list[dict[str, Any]]:
    """Warnings in the plain form of JSON."""
    return [
        {
            "code": entry.code,
            "message": entry.message,
            "count": entry.count,
            "example": None if entry.example is None else list(plain_example(entry.example)),
        }
        for entry in warnings
    ]


def warnings_from_plain(document: Any) -> tuple[ReportWarning, ...]:
    """Inverse of `plain_warnings`.

    Raises:
        ValueError: If a value is impossible.
        KeyError: If a key is missing.
        TypeError: If a value has another type.
    """
    return tuple(_warning(entry) for entry in typed(list, document))


def _warning(entry: Mapping[str, Any]) -> ReportWarning:
    example = entry["example"]
    return ReportWarning(
        code=typed(str, entry["code"]),
        message=typed(str, entry["message"]),
        count=typed(int, entry["count"]),
        example=None if example is None else example_of(example),
    )


def plain_example(example: FrameExample) -> tuple[str, str, str, int]:
    """Side, domain, sequence and number of a frame."""
    return (example.side.value, *example.sequence, example.frame)


def example_of(entry: Sequence[Any]) -> FrameExample:
    """The frame identified by side, domain, sequence and number.

    Raises:
        ValueError: If they identify none.
        TypeError: If one has another type.
    """
    side, domain, sequence, frame = typed(list, entry)
    key = SequenceKey(typed(str, domain), typed(str, sequence))
    return FrameExample(Side(side), key, typed(int, frame))


def typed(kind: type, value: Any) -> Any:
    """Check that a value is exactly of a type, and return it.

    Raises:
        TypeError: If it is not.
    """
    if type(value) is not kind:
        raise TypeError(f"{type(value).__name__} in place of {kind.__name__}")
    return value
