"""Candidate pairs, and the connected components of their graph."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators import pairs as pairs_module
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, starts_from_counts
from vidscore_evaluators.pairs import (
    BoundingBoxes,
    Pairs,
    component_labels,
    connected_components,
    gated_pairs,
    measured_pairs,
    self_pairs,
)

# --- Candidate pairs of all frames at once


EVERY_CHUNK = pytest.mark.parametrize("chunk", [0, 1, 7, 1 << 15])
MANY = 100
"""Number of objects in a frame from which they are searched in a grid."""


@dataclass(frozen=True)
class Boxes:
    """Boxes of several frames; `tags` are what the gate also compares."""

    bounding_boxes: BoundingBoxes
    tags: IntArray

    @property
    def starts(self) -> IntArray:
        return self.bounding_boxes.starts

    @property
    def corners(self) -> FloatArray:
        return self.bounding_boxes.boxes


@dataclass(frozen=True)
class Layout:
    """How boxes lie: similar, on a lattice, in a wider or higher area, or on a line."""

    seed: int
    scale: float
    area: tuple[int, int]
    longest: int
    odd: tuple[float, ...]

    def boxes(self, counts: list[int]) -> Boxes:
        random = np.random.default_rng((self.seed, sum(counts)))
        size = sum(counts)
        low = random.integers(0, np.array(self.area) + 1, (size, 2))
        high = low + random.integers(0, self.longest + 1, (size, 2))
        corners = np.concatenate([low, high], axis=1) * self.scale
        for value in self.odd:
            corners[random.random(corners.shape) < 0.02] = value
        starts = starts_from_counts(np.array(counts, dtype=np.int64))
        return Boxes(BoundingBoxes(starts, corners), random.integers(0, 3, size))


layouts = st.builds(
    Layout,
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1.0, 0.1, -1.0, 1e9 / 20, 1e-320, 1e304]),
    area=st.tuples(*[st.sampled_from([0, 5, 40, 1000])] * 2),
    longest=st.sampled_from([0, 5, 40]),
    odd=st.lists(st.sampled_from([nan, inf, -inf, 0.0, -0.0, 1e308, -1e308]), max_size=2).map(
        tuple
    ),
)
sizes = st.one_of(st.integers(0, 7), st.integers(0, MANY))
frame_lists = st.lists(st.tuples(sizes, sizes), max_size=5)


def gate_of(left: Boxes, right: Boxes) -> pairs_module.Gate:
    def gate(i: IntArray, j: IntArray) -> BoolArray:
        passed: BoolArray = left.tags[i] != right.tags[j]
        return passed

    return gate


def all_pairs(left: Boxes, right: Boxes) -> list[tuple[int, int]]:
    """By comparing all pairs."""
    passes = gate_of(left, right)
    found: list[tuple[int, int]] = []
    for frame in range(len(left.starts) - 1):
        rows, others = (
            np.arange(side.starts[frame], side.starts[frame + 1]) for side in (left, right)
        )
        i, j = (side.reshape(-1) for side in np.meshgrid(rows, others, indexing="ij"))
        mine, theirs = left.corners[i], right.corners[j]
        touch = (mine[:, :2] <= theirs[:, 2:]).all(axis=1)
        touch &= (theirs[:, :2] <= mine[:, 2:]).all(axis=1)
        touch &= passes(i, j)
        found.extend(zip(i[touch].tolist(), j[touch].tolist(), strict=True))
    return found


def listed(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


@pytest.mark.slow
@EVERY_CHUNK
@given(frames=frame_lists, layout=layouts)
def test_every_touching_pair_that_passes_the_gate_is_found_once_and_in_order(
    chunk: int, frames: list[tuple[int, int]], layout: Layout
) -> None:
    left, right = (layout.boxes([frame[side] for frame in frames]) for side in (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "PAIRS_PER_CHUNK", chunk)
        pairs = gated_pairs(left.bounding_boxes, right.bounding_boxes, gate_of(left, right))
    assert listed(pairs) == all_pairs(left, right)


@pytest.mark.slow
@EVERY_CHUNK
@given(counts=st.lists(sizes, max_size=5), layout=layouts)
def test_every_touching_pair_within_a_side_that_passes_the_gate_is_found_once_and_in_order(
    chunk: int, counts: list[int], layout: Layout
) -> None:
    side = layout.boxes(counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "PAIRS_PER_CHUNK", chunk)
        twins = self_pairs(side.bounding_boxes, gate_of(side, side))
    assert listed(twins) == [(i, j) for i, j in all_pairs(side, side) if i < j]


@EVERY_CHUNK
@given(frames=frame_lists, seed=st.integers(0, 2**32 - 1))
def test_pairs_are_returned_with_their_measurements(
    chunk: int, frames: list[tuple[int, int]], seed: int
) -> None:
    """The shared width is measured; no touching pair has less than 0."""
    layout = Layout(seed, 1.0, (20, 20), 10, ())
    left, right = (layout.boxes([frame[side] for frame in frames]) for side in (0, 1))

    def shared(i: IntArray, j: IntArray) -> FloatArray:
        low = np.maximum(left.corners[i, 0], right.corners[j, 0])
        widths: FloatArray = np.minimum(left.corners[i, 2], right.corners[j, 2]) - low
        return widths

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "PAIRS_PER_CHUNK", chunk)
        pairs, values = measured_pairs(left.bounding_boxes, right.bounding_boxes, shared, 3.0)
    whole = gated_pairs(left.bounding_boxes, right.bounding_boxes, lambda i, j: shared(i, j) >= 3.0)
    assert listed(pairs) == listed(whole)
    assert values.tolist() == shared(pairs.left, pairs.right).tolist()


@pytest.mark.parametrize("axis", [0, 1])
def test_a_long_chain_is_searched_in_any_direction(axis: int) -> None:
    """Each box of a chain touches itself and both neighbours."""
    count = 3000
    corners = np.zeros((count, 4))
    corners[:, axis] = np.arange(count) * 4.0
    corners[:, 1 - axis] = np.arange(count) % 3
    corners[:, 2:] = corners[:, :2] + 7.0
    chain = BoundingBoxes(np.array([0, count]), corners)
    expected = [(i, j) for i in range(count) for j in (i - 1, i, i + 1) if 0 <= j < count]
    assert listed(gated_pairs(chain, chain, every_pair)) == expected


def test_memory_stays_bounded_because_the_gate_sees_one_chunk_at_a_time() -> None:
    count = 1000
    bounding_boxes = BoundingBoxes(np.array([0, count]), np.zeros((count, 4)))
    asked = []

    def gate(left: IntArray, right: IntArray) -> BoolArray:
        asked.append(len(left))
        same: BoolArray = left == right
        return same

    assert len(gated_pairs(bounding_boxes, bounding_boxes, gate)) == count
    assert max(asked) <= pairs_module.PAIRS_PER_CHUNK + 2 * count
    assert sum(asked) == count * count


def test_sides_of_different_numbers_of_groups_are_refused() -> None:
    one, two = (
        BoundingBoxes(np.zeros(count + 1, dtype=np.int64), np.zeros((0, 4))) for count in (1, 2)
    )
    with pytest.raises(ValueError, match="1 groups cannot be paired with 2"):
        gated_pairs(one, two, every_pair)


@pytest.mark.parametrize("starts", [[1, 2], [0, 1], [0, 3], [0, 3, 2]])
def test_groups_that_do_not_cover_exactly_the_boxes_are_refused(starts: list[int]) -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 4\) do not fall into groups"):
        BoundingBoxes(np.array(starts), np.zeros((2, 4)))


@pytest.mark.parametrize("shape", [(2,), (2, 2), (2, 8), (2, 4, 1)])
def test_invalid_arrays_of_boxes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="do not fall into groups"):
        BoundingBoxes(np.array([0, 2]), np.zeros(shape))


def every_pair(left: IntArray, right: IntArray) -> BoolArray:
    every: BoolArray = (left >= 0) & (right >= 0)
    return every


# --- Connected components of the graph of pairs


SIDE = 6
EDGES = st.sets(st.tuples(st.integers(0, SIDE - 1), st.integers(0, SIDE - 1)), max_size=14)
Edge = tuple[int, int]


def make_pairs(edges: list[Edge]) -> Pairs:
    rows = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return Pairs(rows[:, 0].copy(), rows[:, 1].copy())


def components_by_hand(edges: list[Edge]) -> list[set[Edge]]:
    """Grow each component from an edge until no other edge shares an object with it."""
    rest, found = set(edges), []
    while rest:
        component = {rest.pop()}
        while more := {
            edge for edge in rest if any(edge[0] == i or edge[1] == j for i, j in component)
        }:
            component |= more
            rest -= more
        found.append(component)
    return found


@given(EDGES)
def test_components_equal_those_grown_from_each_pair(chosen: set[Edge]) -> None:
    edges = sorted(chosen)
    components = connected_components(make_pairs(edges), SIDE, SIDE)
    groups: dict[int, set[Edge]] = {}
    for edge, number in zip(edges, components.of_pairs.tolist(), strict=True):
        groups.setdefault(number, set()).add(edge)
    expected = components_by_hand(edges)
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, expected))
    assert sorted(groups) == list(range(len(components.pair_counts)))
    for number, group in groups.items():
        assert components.left_counts[number] == len({i for i, _ in group})
        assert components.right_counts[number] == len({j for _, j in group})
        assert components.pair_counts[number] == len(group)


def test_a_star_is_one_component_around_either_side() -> None:
    pairs = make_pairs([(0, 0), (0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    components = connected_components(pairs, 4, 5)
    assert components.of_pairs[:3].tolist() == [components.of_pairs[0]] * 3
    assert components.of_pairs[3] == components.of_pairs[4]
    assert sorted(components.pair_counts.tolist()) == [1, 2, 3]


# --- Connected components, compared with a plain search


def ends(edges: list[Edge]) -> tuple[IntArray, IntArray]:
    both = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return both[:, 0].copy(), both[:, 1].copy()


def searched(edges: list[Edge], node_count: int) -> list[int]:
    """From the lowest node of each component to its neighbours, and to theirs."""
    least = [-1] * node_count
    for start in range(node_count):
        waiting = [start] if least[start] < 0 else []
        while waiting:
            node = waiting.pop()
            if least[node] < 0:
                least[node] = start
                waiting += [b for a, b in edges if a == node] + [a for a, b in edges if b == node]
    return least


@given(st.integers(1, 12), st.data())
def test_each_node_gets_the_lowest_node_of_its_component(
    node_count: int, data: st.DataObject
) -> None:
    nodes = st.integers(0, node_count - 1)
    edges = data.draw(st.lists(st.tuples(nodes, nodes), max_size=14))
    assert component_labels(*ends(edges), node_count).tolist() == searched(edges, node_count)


def test_no_nodes_have_no_components() -> None:
    assert component_labels(*ends([]), 0).tolist() == []


@pytest.mark.parametrize("backwards", [False, True])
def test_a_long_chain_is_one_component_in_any_order(backwards: bool) -> None:
    chain = [(node, node + 1) for node in range(100_000)]
    assert not component_labels(*ends(chain[::-1] if backwards else chain), 100_001).any()


@pytest.mark.parametrize("edge", [(0, 3), (-1, 0), (3, 3)])
def test_an_edge_to_a_missing_node_is_refused(edge: Edge) -> None:
    with pytest.raises(ValueError, match="edges do not join nodes from 0 to 2"):
        component_labels(*ends([edge]), 3)


def test_edges_with_only_one_end_are_refused() -> None:
    with pytest.raises(ValueError, match="edges do not join nodes"):
        component_labels(np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64), 3)
