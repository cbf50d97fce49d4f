"""Which varieties of a test the gate runs, and which only the night does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

Value = TypeVar("Value")


def mostly_nightly(values: Iterable[Any], *, gate: int = 1, unpacked: bool = False) -> list[Any]:
    """Parameters of a test of which each takes seconds and the first few hold the same rule.

    Args:
        values: What the test is parametrised by, the most telling first.
        gate: How many of them the gate runs; `make test-nightly` runs all.
        unpacked: Whether each is a tuple, of as many parameters.
    """
    return [
        pytest.param(
            *(value if unpacked else (value,)), marks=() if place < gate else pytest.mark.nightly
        )
        for place, value in enumerate(values)
    ]


def first_else_nightly(values: Sequence[Value], group: Callable[[Value], str]) -> list[Any]:
    """Parameters of which the gate runs the first of each group, and the night every one."""
    first = {group(one): one for one in reversed(values)}.values()
    return [one if one in first else pytest.param(one, marks=pytest.mark.nightly) for one in values]
