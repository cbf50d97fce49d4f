"""Outcomes as ternary digits of integers."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.detection._outcomes import DIGITS, FALSE, NOT_COUNTED, TRUE, encode


def test_each_digit_keeps_its_place() -> None:
    """Column k of a code is worth outcome times 3**k, whatever width the outcomes came in."""
    columns = 2 * DIGITS
    for outcome in (NOT_COUNTED, TRUE, FALSE):
        rows = outcome * np.eye(columns, dtype=np.int8)
        first, second = encode(rows)
        worth = [outcome * 3**place for place in range(DIGITS)]
        assert first.tolist() == [*worth, *[0] * DIGITS]
        assert second.tolist() == [*[0] * DIGITS, *worth]
