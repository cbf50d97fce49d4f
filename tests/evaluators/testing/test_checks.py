"""The checks of the contract suite know which values a measure may have, and which is best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vidscore_evaluators.evaluator import Direction, Dissimilarity, Measure, count_measure
from vidscore_evaluators.testing.checks import best_value, fits


@pytest.mark.parametrize(
    ("measure", "value", "expected"),
    [
        (Measure("f1", "."), 1.0, True),
        (Measure("f1", "."), 1, True),
        (Measure("f1", "."), None, True),
        (Measure("f1", "."), 1.01, False),
        (Measure("f1", "."), float("nan"), False),
        (Measure("f1", "."), np.float64(0.5), False),
        (Measure("f1", "."), True, False),
        (Measure("x", ".", minimum=None, maximum=None), -1e300, True),
        (Measure("x", ".", minimum=None, maximum=None), float("inf"), False),
        (count_measure("n", "."), 3, True),
        (count_measure("n", "."), 3.0, False),
        (count_measure("n", "."), -1, False),
    ],
)
def test_a_value_fits_its_measure_or_not(measure: Measure, value: Any, expected: bool) -> None:
    assert fits(measure, value) is expected


@pytest.mark.parametrize(
    ("measure", "best"),
    [
        (Measure("f1", "."), 1.0),
        (Measure("x", ".", maximum=None), None),
        (Measure("x", ".", direction=Direction.LOWER), 0.0),
        (count_measure("n", "."), None),
        (Measure("d", ".", direction=Direction.LOWER, dissimilarity=Dissimilarity.VALUE), 0.0),
        (Measure("f1", ".", dissimilarity=Dissimilarity.ONE_MINUS), 1.0),
    ],
)
def test_the_best_value_follows_from_the_declaration(measure: Measure, best: float | None) -> None:
    assert best_value(measure) == best
