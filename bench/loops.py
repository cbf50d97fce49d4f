"""Plain loops over frames, thresholds and assignments, as in released scorers.

The suite compares with them if a protocol has no other fast implementation. They also check our
figures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import shapely
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial.distance import cdist

from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.neovision2._input import ProtocolInput
from vidscore_evaluators.pairs import Pairs

FAR_PX = 1000.0
TAU_PX = 10.0
"""Maximum distance of a true positive."""

Points = list[list[float]]


def spotgeo_counts(
    truth: Sequence[Points], detections: Sequence[Points]
) -> tuple[int, int, int, float]:
    """TP, FN, FP and regression error, with one cost matrix and one assignment per frame.

    Args:
        truth: The objects of each frame, as in the challenge's JSON.
        detections: The detections of each frame, likewise.
    """
    hits = misses = alarms = 0
    error = 0.0
    for objects, found in zip(truth, detections, strict=True):
        matched = 0
        if len(objects) and len(found):
            distances = cdist(objects, found)
            distances[distances > TAU_PX] = FAR_PX
            rows, columns = linear_sum_assignment(distances)
            near = distances[rows, columns]
            near = near[near <= TAU_PX]
            matched = len(near)
            error += float(np.sum(np.where(near > 3.0, near**2, 0.0)))
        hits += matched
        misses += len(objects) - matched
        alarms += len(found) - matched
    return hits, misses, alarms, error


def overlaps(first: FloatArray, second: FloatArray) -> FloatArray:
    """(N, M) intersection over union of (N, 4) with (M, 4) upright boxes."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    sides = np.clip(high - low, 0.0, None)
    shared = sides[..., 0] * sides[..., 1]
    areas = [(boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) for boxes in (first, second)]
    ratios: FloatArray = shared / (areas[0][:, None] + areas[1][None, :] - shared)
    return ratios


THRESHOLDS = (0.0, *(percent / 100 for percent in range(95, 0, -10)))
"""The threshold of the main score, then the thresholds of the curve."""

REAL_WEIGHT = 1000.0
"""Weight of a pair with a real object; it outweighs all don't-care pairs of a frame."""


def neovision2_counts(truth: Annotations, detections: Annotations) -> list[int]:
    """True positives of class matching at each of `THRESHOLDS`, one assignment at a time.

    Args:
        truth: Objects, don't-care objects and regions by four corners.
        detections: Detections in the same frames, with the same table of labels.
    """
    counts = [0] * len(THRESHOLDS)
    for frame in range(truth.frame_count):
        mine = slice(*truth.frame_starts[frame : frame + 2])
        theirs = slice(*detections.frame_starts[frame : frame + 2])
        flags = truth.flags[mine]
        regions = shapely.union_all(
            [
                shapely.Polygon(corners.reshape(4, 2))
                for corners in truth.coordinates[mine][flags & ObjectFlag.REGION != 0]
            ]
        )
        objects, classes, kept = _outside(truth, mine, regions)
        kept &= flags & ObjectFlag.REGION == 0
        objects, classes = objects[kept], classes[kept]
        ignored = flags[kept] & ObjectFlag.IGNORE != 0
        found, labels, kept = _outside(detections, theirs, regions)
        found, labels = found[kept], labels[kept]
        confidences = detections.confidences[theirs][kept]
        for index, threshold in enumerate(THRESHOLDS):
            sure = confidences >= threshold
            for label in range(len(truth.labels)):
                left = ignored | (classes == label)
                right = sure & (labels == label)
                counts[index] += _matched(objects[left], ~ignored[left], found[right])
    return counts


def _outside(
    annotations: Annotations, rows: slice, regions: shapely.Geometry
) -> tuple[FloatArray, IntArray, BoolArray]:
    """Bounding boxes and labels of a frame, and whether at most a fifth of each is in regions."""
    points = annotations.coordinates[rows].reshape(-1, 4, 2)
    boxes = np.hstack([points.min(axis=1), points.max(axis=1)])
    shapes = shapely.box(*boxes.T)
    inside = shapely.area(shapely.intersection(shapes, regions)) / shapely.area(shapes)
    return boxes, annotations.label_indices[rows], inside <= 0.2 + 1e-9


def _matched(objects: FloatArray, real: BoolArray, found: FloatArray) -> int:
    """Number of real objects in a matching that maximises first real pairs, then all pairs."""
    if len(objects) == 0 or len(found) == 0:
        return 0
    weights = (overlaps(objects, found) >= 0.2 - 1e-9) * np.where(real, REAL_WEIGHT, 1.0)[:, None]
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return int((weights[rows, columns] == REAL_WEIGHT).sum())


def matched_at_once(inputs: ProtocolInput, pairs: Pairs) -> int:
    """True positives of the classes at one threshold, by one maximum matching over all frames.

    Args:
        inputs: Objects and detections.
        pairs: Candidate pairs of any classes.
    """
    same = inputs.objects.classes[pairs.left] == inputs.detections.classes[pairs.right]
    pairs = pairs.take(same & ~inputs.dont_care[pairs.left])
    shape = (len(inputs.dont_care), len(inputs.confidences))
    graph = csr_array((np.ones(len(pairs), dtype=np.int8), (pairs.left, pairs.right)), shape=shape)
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())
