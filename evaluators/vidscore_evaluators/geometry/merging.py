"""Merge what overlaps: groups of overlapping boxes become one, again and again.

In each round the connected components of "the overlap ratio counts, or the boxes are identical"
become one shape each, all at once; rounds go on until no two shapes of a group are to be merged.
Because a round does not depend on the order of its shapes, neither does the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import shapely

from vidscore_evaluators.arrays import IntArray, marked, starts_from_counts
from vidscore_evaluators.compiled.components import least_nodes
from vidscore_evaluators.geometry.boxes import box_areas, extend_boxes
from vidscore_evaluators.geometry.polygons import PolygonArray, unions_of_runs
from vidscore_evaluators.geometry.shapes import Criterion, Shapes, overlapping_twins
from vidscore_evaluators.matching.gating import Pairs

MergedShape = Literal["box", "union"]
"""What a component becomes: its enclosing box, or the union of its shapes."""


@dataclass(frozen=True, eq=False)
class Merged:
    """What N shapes became.

    Attributes:
        shapes: The M shapes that are left, in the groups of the N.
        labels: (N,) row of the shape that each went into.
    """

    shapes: Shapes
    labels: IntArray


@dataclass(frozen=True, eq=False)
class _Components:
    """C components of N nodes, in the order of their first nodes.

    Attributes:
        first: (C,) first node of each component.
        labels: (N,) component of each node.
        sizes: (C,) nodes in each component.
    """

    first: IntArray
    labels: IntArray
    sizes: IntArray


def merge_overlapping(
    shapes: Shapes, counts: Criterion, merged_shape: MergedShape = "box"
) -> Merged:
    """Merge the shapes of each group until no two are left that are to be merged.

    Args:
        shapes: N shapes in groups.
        counts: Says which overlap ratios above 0 merge two shapes. Identical boxes always merge.
        merged_shape: What a component becomes.

    Returns:
        The merged shapes. Groups in which nothing is to be merged stay as they are.
    """
    labels = np.arange(len(shapes), dtype=np.int64)
    unsettled = labels
    while len(unsettled):
        pairs = _twins(shapes, unsettled, counts)
        if len(pairs) == 0:
            break
        components = _components(pairs, len(shapes))
        changed = marked(len(shapes.group_starts) - 1, shapes.groups[pairs.left])
        shapes = _join(shapes, components, merged_shape)
        labels = components.labels[labels]
        unsettled = np.flatnonzero(changed[shapes.groups])
    return Merged(shapes, labels)


def _twins(shapes: Shapes, rows: IntArray, counts: Criterion) -> Pairs:
    """Pairs to be merged among some rows, which hold whole groups."""
    if len(rows) == len(shapes):
        return overlapping_twins(shapes, counts)
    sizes = np.bincount(shapes.groups[rows], minlength=len(shapes.group_starts) - 1)
    pairs = overlapping_twins(shapes.take(rows, starts_from_counts(sizes)), counts)
    return Pairs(rows[pairs.left], rows[pairs.right])


def _components(pairs: Pairs, count: int) -> _Components:
    """Connected components of a graph of `count` nodes."""
    roots = least_nodes(pairs.left, pairs.right, count)
    is_root = roots == np.arange(count, dtype=np.int64)
    labels = (np.cumsum(is_root) - 1)[roots]
    return _Components(np.flatnonzero(is_root), labels, np.bincount(labels))


def _join(shapes: Shapes, components: _Components, merged_shape: MergedShape) -> Shapes:
    """Make one shape of each component."""
    first, labels = components.first, components.labels
    members = np.flatnonzero(components.sizes[labels] > 1)
    boxes = shapes.boxes[first]
    extend_boxes(boxes, labels[members], shapes.boxes[members])
    group_counts = np.bincount(shapes.groups[first], minlength=len(shapes.group_starts) - 1)
    joined = Shapes(starts_from_counts(group_counts), boxes, box_areas(boxes))
    return joined if merged_shape == "box" else _with_unions(joined, shapes, components, members)


def _with_unions(
    joined: Shapes, shapes: Shapes, components: _Components, members: IntArray
) -> Shapes:
    """Give joined shapes the polygons and areas of their members' unions.

    Args:
        joined: The components' enclosing boxes.
        shapes: The members.
        components: What was joined.
        members: Rows of shapes in components of more than one.
    """
    several = np.flatnonzero(components.sizes > 1)
    in_order = members[np.argsort(components.labels[members], kind="stable")]
    unions = unions_of_runs(shapes.polygons_of(in_order), components.sizes[several])
    areas = shapes.areas[components.first]
    areas[several] = shapely.area(unions)
    polygons: PolygonArray = np.full(len(joined), None, dtype=np.object_)
    if shapes.polygons is not None:
        polygons[:] = shapes.polygons[components.first]
    # A union that fills its envelope is a box again, whose overlaps need no polygons.
    partial = areas[several] != joined.areas[several]
    polygons[several[partial]] = unions[partial]
    polygons[several[~partial]] = None
    return Shapes(joined.group_starts, joined.boxes, areas, polygons)
