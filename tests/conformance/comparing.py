"""Compares what a runner printed with what it should print."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from typing import Any

GOLDEN_TOLERANCE = 1e-12
"""Golden reports were made on one machine; another's square roots may differ in the last bit."""

NOT_COMPARED = frozenset({"call_id", "requests_received"})
"""Metadata of an error that belongs to one call, or depends on the division into messages."""


class DeviationError(AssertionError):
    """A runner did something wrong."""


def equal(found: Any, expected: Any, what: str) -> None:
    """Compare a document with another one, bit for bit.

    Raises:
        DeviationError: If they differ; it names the first place.
    """
    _compare(found, expected, what, _same_number)


def close(found: Any, expected: Any, what: str) -> None:
    """Compare a document with a golden one: numbers within `GOLDEN_TOLERANCE`, the rest exactly.

    Raises:
        DeviationError: If they differ; it names the first place.
    """
    _compare(found, expected, what, _close_number)


def same_error(found: Any, expected: Any) -> None:
    """Compare an error with that of the Python client.

    Raises:
        DeviationError: If they differ.
    """
    equal(_comparable(found), _comparable(expected), "error")


def hold(condition: object, said: str) -> None:
    """Require something.

    Raises:
        DeviationError: If it does not hold.
    """
    if not condition:
        raise DeviationError(said)


def contains(found: Any, expected: Any, what: str) -> None:
    """Require that a document contains everything of another one; it may have more.

    Raises:
        DeviationError: If something is missing or different.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key, value in expected.items():
            hold(key in found, f"{what}: {key!r} is missing")
            contains(found[key], value, f"{what}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        hold(len(found) == len(expected), f"{what}: {len(found)} entries, not {len(expected)}")
        for index, value in enumerate(expected):
            contains(found[index], value, f"{what}[{index}]")
    else:
        equal(found, expected, what)


def ascending(numbers: Collection[int], what: str) -> None:
    """Require that each number is greater than the one before.

    Raises:
        DeviationError: If one is not.
    """
    listed = list(numbers)
    hold(listed == sorted(set(listed)), f"{what} do not ascend: {listed}")


def _comparable(document: Any) -> Any:
    hold(isinstance(document, dict) and "error" in document, f"no error but {document}")
    error = dict(document["error"])
    error["metadata"] = {
        key: value for key, value in error["metadata"].items() if key not in NOT_COMPARED
    }
    return error


def _compare(found: Any, expected: Any, what: str, same: Callable[[float, float], bool]) -> None:
    if _is_number(expected) and _is_number(found):
        hold(same(found, expected), f"{what}: {found!r}, not {expected!r}")
    elif isinstance(expected, dict) and isinstance(found, dict):
        _same_keys(found, expected, what)
        for key, value in expected.items():
            _compare(found[key], value, f"{what}.{key}", same)
    elif isinstance(expected, list) and isinstance(found, list):
        hold(len(found) == len(expected), f"{what}: {len(found)} entries, not {len(expected)}")
        for index, value in enumerate(expected):
            _compare(found[index], value, f"{what}[{index}]", same)
    else:
        same_type = type(found) is type(expected)
        hold(same_type and found == expected, f"{what}: {found!r}, not {expected!r}")


def _same_keys(found: dict[str, Any], expected: dict[str, Any], what: str) -> None:
    missing = sorted(set(expected) - set(found))
    more = sorted(set(found) - set(expected))
    hold(not missing, f"{what}: without {', '.join(missing)}")
    hold(not more, f"{what}: with {', '.join(more)}, which is not in the contract")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(found: float, expected: float) -> bool:
    # 8 and 8.0 are one number in JSON; -0.0 and 0.0 are not the same bits.
    return found == expected and math.copysign(1, found) == math.copysign(1, expected)


def _close_number(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=GOLDEN_TOLERANCE, abs_tol=GOLDEN_TOLERANCE)
