"""Index arithmetic gives the same as a loop."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import (
    batch_by_shape,
    expand_runs,
    hidden_values,
    run_starts,
    starts_from_counts,
)

COUNTS = st.lists(st.integers(0, 5), max_size=8)


def test_starts_of_an_empty_list_are_one_zero() -> None:
    assert starts_from_counts(np.zeros(0, dtype=np.int64)).tolist() == [0]


@given(COUNTS)
def test_starts_are_the_running_total(counts: list[int]) -> None:
    expected = [sum(counts[:index]) for index in range(len(counts) + 1)]
    assert starts_from_counts(np.array(counts, dtype=np.int64)).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 5)), max_size=8))
def test_runs_expand_to_the_rows_of_each_in_turn(runs: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in runs], dtype=np.int64)
    counts = np.array([count for _, count in runs], dtype=np.int64)
    expected = [row for start, count in runs for row in range(start, start + count)]
    assert expand_runs(starts, counts).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=12))
def test_runs_start_where_the_sorted_row_differs_from_the_one_before(
    rows: list[tuple[int, int]],
) -> None:
    rows.sort()
    columns = [np.array([row[index] for row in rows], dtype=np.int64) for index in (0, 1)]
    expected = [index for index, row in enumerate(rows) if index == 0 or row != rows[index - 1]]
    assert run_starts(*columns).tolist() == expected


SHAPES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12)


@given(SHAPES, st.integers(1, 20))
def test_every_group_is_returned_once_with_its_shape_within_the_cell_limit(
    shapes: list[tuple[int, int]], cells: int
) -> None:
    heights = np.array([shape[0] for shape in shapes], dtype=np.int64)
    widths = np.array([shape[1] for shape in shapes], dtype=np.int64)
    seen: list[int] = []
    for groups, height, width in batch_by_shape(heights, widths, cells):
        assert all(shapes[group] == (height, width) for group in groups)
        assert len(groups) == 1 or len(groups) * height * width <= cells
        seen.extend(groups.tolist())
    assert sorted(seen) == list(range(len(shapes)))


def test_nothing_is_hidden_while_another_thread_imports_masked_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The module is then known, and empty."""
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))
    assert hidden_values(np.zeros(2)) is None
