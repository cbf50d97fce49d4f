"""Outcomes as ternary digits of integers."""

from __future__ import annotations

import numpy as np
import pytest

from vidscore_evaluators.detection._outcomes import (
    DIGITS,
    FALSE,
    NOT_COUNTED,
    TRUE,
    decode,
    encode,
    outcome_schema,
)
from vidscore_evaluators.tally import build_table


def test_each_digit_keeps_its_place() -> None:
    """Column k of a code is worth outcome times 3**k, whatever width the outcomes came in."""
    columns = 2 * DIGITS
    for outcome in (NOT_COUNTED, TRUE, FALSE):
        rows = outcome * np.eye(columns, dtype=np.int8)
        first, second = encode(rows)
        worth = [outcome * 3**place for place in range(DIGITS)]
        assert first.tolist() == [*worth, *[0] * DIGITS]
        assert second.tolist() == [*[0] * DIGITS, *worth]


@pytest.mark.parametrize("columns", [1, 2, 6, 7, 32, DIGITS, DIGITS + 1, 40, 2 * DIGITS + 5])
def test_outcomes_are_decoded_from_the_codes_of_a_table(columns: int) -> None:
    """For any number of thresholds; the largest code consists of false positives alone."""
    random = np.random.default_rng(columns)
    outcomes = random.choice([NOT_COUNTED, TRUE, FALSE], size=(50, columns)).astype(np.int8)
    outcomes[0], outcomes[1] = FALSE, NOT_COUNTED
    confidences = np.arange(50.0)
    table = build_table(
        outcome_schema(columns),
        ["", "car"],
        [np.zeros(50, dtype=np.int64), np.ones(50, dtype=np.int64)],
        numbers=[confidences, *encode(outcomes)],
        counts=[np.ones(50, dtype=np.int64)],
    )
    assert decode(table, columns).tolist() == outcomes.tolist()
