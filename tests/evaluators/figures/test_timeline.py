"""Bins and strips."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.annotations import SequenceKey, empty_annotations, frame_list
from vidscore_evaluators.figures.frames import FrameCounts, FrameTable
from vidscore_evaluators.figures.timeline import bin_frames, running_score, strip_svg


def counts(*rows: tuple[int, int, int, int]) -> FrameCounts:
    """Counts of frames: hits, misses, false positives and id switches of each."""
    return FrameCounts(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)


ROWS = st.lists(st.tuples(*[st.integers(0, 9)] * 4), min_size=1, max_size=40)


@given(ROWS, st.integers(1, 50))
def test_every_frame_is_in_one_bin(rows: list[tuple[int, int, int, int]], most: int) -> None:
    own = counts(*rows)
    bins = bin_frames(own, np.arange(len(rows)), tracked=True, bins=most)
    assert len(bins) == min(most, len(rows))
    assert int(bins.lengths.sum()) == len(rows)
    assert bins.lengths.max() - bins.lengths.min() <= 1
    for part, whole in zip(bins.counts.columns(), own.columns(), strict=True):
        assert part.sum() == whole.sum()


@given(ROWS, st.integers(1, 50))
def test_the_worst_frame_of_a_bin_has_its_most_mistakes(
    rows: list[tuple[int, int, int, int]], most: int
) -> None:
    mistakes = [sum(row[1:]) for row in rows]
    bins = bin_frames(counts(*rows), np.arange(len(rows)), tracked=False, bins=most)
    for start, length, worst in zip(bins.starts, bins.lengths, bins.worst, strict=True):
        own = mistakes[start : start + length]
        assert worst == start + own.index(max(own))


def test_the_running_score_is_mota_for_trackers_and_f1_for_detectors() -> None:
    own = counts((3, 1, 1, 1), (0, 0, 0, 0))
    assert running_score(own, tracked=True)[0] == 1 - 3 / 4
    assert running_score(own, tracked=False)[0] == 6 / 8
    assert np.isnan(running_score(own, tracked=True)[1])


def test_a_strip_draws_each_count_where_it_belongs() -> None:
    bins = bin_frames(counts((3, 1, 0, 0), (0, 0, 2, 1)), np.arange(2), tracked=True)
    svg = strip_svg(bins, "two <frames>", most_false_alarms=2.0)
    assert "<title>two &lt;frames&gt;</title>" in svg
    assert '<path class="f-tp" d="M0 7h300.1v18h-300.1z"/>' in svg
    assert '<path class="f-fn" d="M0 1h300.1v6h-300.1z"/>' in svg
    assert '<path class="f-fp" d="M300 26h300.1v10h-300.1z"/>' in svg
    assert 'class="f-sw" d="M450 21' in svg
    assert "style=" not in svg


def test_the_present_frame_is_marked() -> None:
    bins = bin_frames(counts(*[(1, 0, 0, 0)] * 3), np.arange(3), tracked=True)
    svg = strip_svg(bins, "", most_false_alarms=1.0, now=1)
    assert re.search(r'class="now" d="M200 0h200v36h-200z"', svg)


def test_frames_of_both_sides_are_listed_once_and_in_order() -> None:
    keys = (SequenceKey("b", "1"), SequenceKey("a", "2"))
    first = frame_list(keys, np.array([0, 1]), np.array([7, 3]), 4)
    second = frame_list(keys[:1], np.array([0, 0]), np.array([7, 5]), 4)
    table = FrameTable.of([first, second, empty_annotations(4)])
    assert table.sequences == (keys[1], keys[0])
    assert table.numbers.tolist() == [3, 5, 7]
    assert table.starts.tolist() == [0, 1, 3]
    assert table.rows_of(keys, np.array([0, 1, 0]), np.array([7, 3, 5])).tolist() == [2, 0, 1]
    assert [table.sequence_of(row) for row in range(3)] == [0, 1, 1]
    assert table.row_of(1, 6) == 1
    assert table.row_of(1, 0) == 1
