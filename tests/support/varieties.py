"""Which varieties of a test the gate runs, and which only the night does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def mostly_nightly(values: Iterable[Any], *, gate: int = 1) -> list[Any]:
    """Parameters of a test of which each takes seconds and the first few hold the same rule.

    Args:
        values: What the test is parametrised by, the most telling first.
        gate: How many of them the gate runs; `make test-nightly` runs all.
    """
    return [
        value if place < gate else pytest.param(value, marks=pytest.mark.nightly)
        for place, value in enumerate(values)
    ]
