"""Which variants of a test run in the gate, and which only at night."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pytest

Value = TypeVar("Value")


def mostly_nightly(values: Iterable[Any], *, gate: int = 1, unpacked: bool = False) -> list[Any]:
    """Parameters of a test whose variants each take seconds; the first few show the same rule.

    Args:
        values: The parameters, the most telling first.
        gate: Number of parameters for the gate; `make test-nightly` runs all.
        unpacked: Whether each value is a tuple with one item per parameter.
    """
    return [
        pytest.param(
            *(value if unpacked else (value,)), marks=() if place < gate else pytest.mark.nightly
        )
        for place, value in enumerate(values)
    ]


def first_else_nightly(values: Sequence[Value], group: Callable[[Value], str]) -> list[Any]:
    """Parameters of which the gate runs the first of each group, and the night all."""
    first = {group(one): one for one in reversed(values)}.values()
    return [one if one in first else pytest.param(one, marks=pytest.mark.nightly) for one in values]
