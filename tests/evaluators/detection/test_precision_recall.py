"""Counts by rank and precision by recall, compared with plain loops over Python's numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.detection import _precision_recall
from vidscore_evaluators.detection._outcomes import FALSE, NOT_COUNTED, TRUE
from vidscore_evaluators.detection._precision_recall import (
    LEVELS_11,
    LEVELS_11_NUMPY,
    LEVELS_11_VOC,
    LEVELS_101,
    precisions_at,
    ranked,
)

OUTCOME = st.sampled_from([NOT_COUNTED, TRUE, FALSE])
ROW = st.tuples(
    st.sampled_from([0.25, 0.5, 0.5000000000000001, 0.75, -3.0]),
    st.integers(0, 5),
    st.tuples(OUTCOME, OUTCOME, OUTCOME),
)
"""Confidence, detections, and outcomes at three thresholds."""


def arrays_of(rows: list[tuple[float, int, tuple[int, int, int]]]) -> tuple[np.ndarray, ...]:
    return (
        np.array([confidence for confidence, _, _ in rows], dtype=np.float64),
        np.array([outcomes for *_, outcomes in rows], dtype=np.int8).reshape(-1, 3),
        np.array([count for _, count, _ in rows], dtype=np.int64),
    )


@given(rows=st.lists(ROW, max_size=12))
def test_a_step_counts_all_detections_of_its_confidence_and_above(
    rows: list[tuple[float, int, tuple[int, int, int]]],
) -> None:
    found = ranked(*arrays_of(rows))
    steps = sorted({confidence for confidence, _, _ in rows}, reverse=True)
    assert found.confidences.tolist() == steps
    for table, sought in ((found.true, TRUE), (found.false, FALSE)):
        assert table.tolist() == [
            [
                sum(
                    count
                    for confidence, count, outcomes in rows
                    if confidence >= step and outcomes[column] == sought
                )
                for column in range(3)
            ]
            for step in steps
        ]
    for column in range(3):
        counted = [
            Fraction(true, true + false) if true + false else Fraction(0)
            for true, false in zip(found.true[:, column], found.false[:, column], strict=True)
        ]
        highest = list(accumulate(reversed(counted), max))[::-1]
        assert found.precisions[:, column].tolist() == list(map(float, highest))


@given(rows=st.lists(ROW, max_size=12))
def test_one_by_one_each_detection_is_a_step_in_the_order_of_rows(
    rows: list[tuple[float, int, tuple[int, int, int]]],
) -> None:
    found = ranked(*arrays_of(rows), one_by_one=True)
    in_order = sorted(rows, key=lambda row: -row[0])  # Which keeps the order of equal items.
    assert found.confidences.tolist() == [confidence for confidence, _, _ in in_order]
    hits = [[count * (code == TRUE) for code in codes] for _, count, codes in in_order]
    sums = accumulate(hits, lambda before, own: [a + b for a, b in zip(before, own, strict=True)])
    assert found.true.tolist() == list(sums)


LEVELS = [LEVELS_11, LEVELS_11_VOC, LEVELS_11_NUMPY, LEVELS_101]


@given(truth=st.integers(1, 2**50), levels=st.sampled_from(LEVELS))
@example(truth=10, levels=LEVELS_11)
@example(truth=1, levels=LEVELS_101)
def test_a_level_is_reached_at_the_first_rounded_recall(truth: int, levels: FloatArray) -> None:
    """As `true / truth >= level` says of binary64, three of ten reach 0.3 of the one and not of
    the other levels."""
    for level, count in zip(levels, _precision_recall._reaching(truth, levels), strict=True):
        assert count / np.float64(truth) >= level
        assert count == 0 or (count - 1) / np.float64(truth) < level


@given(
    gains=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12),
    truth=st.tuples(st.integers(0, 40), st.integers(1, 40)),
    levels=st.sampled_from(LEVELS),
)
def test_precision_at_a_recall_is_that_of_the_first_rank_that_reaches_it(
    gains: list[tuple[int, int]], truth: tuple[int, int], levels: FloatArray
) -> None:
    true = np.cumsum(np.array(gains, dtype=np.int64).reshape(-1, 2), axis=0)
    precisions = np.linspace(1.0, 0.25, 2 * len(gains)).reshape(-1, 2)
    found = precisions_at(true, precisions, truth, levels)
    for column, count in enumerate(truth):
        if count:
            assert found[column].tolist() == [
                next(
                    (
                        precisions[rank, column]
                        for rank in range(len(gains))
                        if true[rank, column] / count >= level
                    ),
                    0.0,
                )
                for level in levels
            ]


def test_inconsistent_columns_are_refused() -> None:
    """The compiled loops would leave their arrays."""
    confidences, outcomes, detections = np.zeros(2), np.zeros((2, 3), dtype=np.int8), np.ones(2)
    with pytest.raises(ValueError, match="different lengths: \\(2, 1, 2\\)"):
        ranked(confidences, outcomes[:1], detections.astype(np.int64))
    with pytest.raises(ValueError, match="not of 1 thresholds"):
        precisions_at(np.zeros((2, 3), dtype=np.int64), np.zeros((2, 3)), [5], LEVELS_11)
