"""Candidate pairs of all frames at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, starts_from_counts
from vidscore_evaluators.matching import gating
from vidscore_evaluators.matching.gating import Extents, gated_pairs, gated_twins, measured_pairs


@dataclass(frozen=True)
class Boxes:
    """One-dimensional boxes of several frames; `tags` is what the gate looks at besides."""

    starts: IntArray
    low: FloatArray
    high: FloatArray
    tags: IntArray

    @property
    def extents(self) -> Extents:
        return Extents(self.starts, self.low, self.high)


def make_boxes(random: np.random.Generator, counts: list[int], longest: int, scale: float) -> Boxes:
    size = sum(counts)
    low: FloatArray = random.integers(-20, 20, size).astype(np.float64) * scale
    return Boxes(
        starts_from_counts(np.array(counts, dtype=np.int64)),
        low,
        low + random.integers(0, longest + 1, size) * scale,
        random.integers(0, 3, size),
    )


def gate_of(left: Boxes, right: Boxes) -> gating.Gate:
    def gate(i: IntArray, j: IntArray) -> BoolArray:
        overlap = (left.low[i] <= right.high[j]) & (right.low[j] <= left.high[i])
        passed: BoolArray = overlap & (left.tags[i] != right.tags[j])
        return passed

    return gate


def all_pairs(left: Boxes, right: Boxes) -> list[tuple[int, int]]:
    gate = gate_of(left, right)
    return [
        (i, j)
        for frame in range(len(left.starts) - 1)
        for i in range(left.starts[frame], left.starts[frame + 1])
        for j in range(right.starts[frame], right.starts[frame + 1])
        if gate(np.array([i]), np.array([j])).all()
    ]


FRAMES = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=6)


def set_way(patch: pytest.MonkeyPatch, sweep_from: int, stacked: int, chunk: int) -> None:
    """Say how pairs are looked for."""
    patch.setattr(gating, "SWEEP_FROM", sweep_from)
    patch.setattr(gating, "LARGEST_STACKED_CELLS", stacked)
    patch.setattr(gating, "PAIRS_A_CHUNK", chunk)
    patch.setattr(gating, "CELLS_A_PART", chunk)


WAYS = pytest.mark.parametrize(
    ("sweep_from", "stacked"),
    [
        pytest.param(10**9, 0, id="all pairs"),
        pytest.param(-1, 0, id="swept"),
        pytest.param(-1, 10**9, id="compared as matrices"),
        pytest.param(-1, 12, id="small frames compared, large ones swept"),
    ],
)


@WAYS
@pytest.mark.parametrize("chunk", [1, 7, 1 << 17])
@given(
    frames=FRAMES,
    longest=st.integers(0, 5),
    scale=st.sampled_from([1.0, 0.1, 1e9 / 20]),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_pair_that_passes_is_found_once_whatever_the_way_there(
    sweep_from: int,
    stacked: int,
    chunk: int,
    frames: list[tuple[int, int]],
    longest: int,
    scale: float,
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    left = make_boxes(random, [count for count, _ in frames], longest, scale)
    right = make_boxes(random, [count for _, count in frames], longest, scale)
    with pytest.MonkeyPatch.context() as patch:
        set_way(patch, sweep_from, stacked, chunk)
        pairs = gated_pairs(left.extents, right.extents, gate_of(left, right))
    found = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert sorted(found) == all_pairs(left, right)
    assert pairs.left.tolist() == sorted(pairs.left.tolist())


@WAYS
@given(frames=FRAMES, longest=st.integers(1, 5), seed=st.integers(0, 2**32 - 1))
def test_pairs_come_in_order_with_what_was_measured_of_each(
    sweep_from: int, stacked: int, frames: list[tuple[int, int]], longest: int, seed: int
) -> None:
    """The length that two share is measured; those that share at least 1 overlap."""
    random = np.random.default_rng(seed)
    left = make_boxes(random, [count for count, _ in frames], longest, 1.0)
    right = make_boxes(random, [count for _, count in frames], longest, 1.0)

    def shared(i: IntArray, j: IntArray) -> FloatArray:
        lengths: FloatArray = np.minimum(left.high[i], right.high[j])
        return lengths - np.maximum(left.low[i], right.low[j])

    def gate(i: IntArray, j: IntArray) -> BoolArray:
        enough: BoolArray = shared(i, j) >= 1.0
        return enough

    with pytest.MonkeyPatch.context() as patch:
        set_way(patch, sweep_from, stacked, 7)
        pairs, values = measured_pairs(left.extents, right.extents, shared, 1.0)
        some = gated_pairs(left.extents, right.extents, gate)
    found = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert found == sorted(zip(some.left.tolist(), some.right.tolist(), strict=True))
    assert values.tolist() == shared(pairs.left, pairs.right).tolist()


@pytest.mark.parametrize("sweep_from", [0, 10**9], ids=["swept", "not swept"])
@pytest.mark.parametrize("chunk", [1, 7, 1 << 17])
@given(
    counts=st.lists(st.integers(0, 9), max_size=6),
    longest=st.integers(0, 5),
    scale=st.sampled_from([1.0, 0.1, 1e9 / 20]),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_two_of_a_side_are_found_once_whatever_the_way_there(
    sweep_from: int, chunk: int, counts: list[int], longest: int, scale: float, seed: int
) -> None:
    side = make_boxes(np.random.default_rng(seed), counts, longest, scale)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gating, "SWEEP_FROM", sweep_from)
        patch.setattr(gating, "PAIRS_A_CHUNK", chunk)
        twins = gated_twins(side.extents, gate_of(side, side))
    found = [sorted(pair) for pair in zip(twins.left.tolist(), twins.right.tolist(), strict=True)]
    assert sorted(found) == [[i, j] for i, j in all_pairs(side, side) if i < j]


def test_stretches_of_the_line_do_not_overlap_however_many_and_wide_frames_are() -> None:
    """Near 10**7 frames of nearly 2 * 10**9 pixels, places on the line are no longer whole."""
    length = 1815853554.1215322
    offsets = gating._frame_offsets(10**7, length)
    assert (offsets[:-1] + length <= offsets[1:]).all()


def test_the_sweep_finds_what_touches_where_lengths_are_rounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A box from -2 to 0.3 touches a point at 0.3, though 0.3 less its length is over -2."""
    low, high = -2.0, 0.3
    assert high - (high - low) > low
    left = Extents(np.array([0, 1]), np.array([high]), np.array([high]))
    right = Extents(np.array([0, 3]), np.array([-2.5, low, 1.0]), np.array([-2.5, high, 1.0]))
    set_way(monkeypatch, -1, 0, 1)

    def touch(i: IntArray, j: IntArray) -> BoolArray:
        touching: BoolArray = right.high[j] == left.low[i]
        return touching

    assert gated_pairs(left, right, touch).right.tolist() == [1]


def test_the_sweep_asks_the_gate_about_few_of_many_far_apart() -> None:
    count = 1000
    places: FloatArray = np.arange(count, dtype=np.float64) * 10.0
    extents = Extents(np.array([0, count]), places, places + 1.0)
    asked = []

    def gate(left: IntArray, right: IntArray) -> BoolArray:
        asked.append(len(left))
        same: BoolArray = left == right
        return same

    assert len(gated_pairs(extents, extents, gate)) == count
    assert sum(asked) == count


def test_memory_stays_bounded_because_the_gate_sees_one_chunk_at_a_time() -> None:
    count = 1000
    extents = Extents(np.array([0, count]), np.zeros(count), np.zeros(count))
    asked = []

    def gate(left: IntArray, right: IntArray) -> BoolArray:
        asked.append(len(left))
        same: BoolArray = left == right
        return same

    assert len(gated_pairs(extents, extents, gate)) == count
    assert max(asked) <= gating.PAIRS_A_CHUNK
    assert sum(asked) == count * count
