"""Similarity of a truth object and a detection, and the pairs of a scene that are similar enough.

Source: H. Nguyen et al., "How Trustworthy are Performance Evaluations for Basic Vision Tasks?",
section 4.1 and appendix 3.1 (Algorithm 1).

Readings of this project:

1. Under IoU and GIoU shapes are upright boxes; a quadrilateral is reduced to its envelope before
   it comes here. Under ``polygon`` they are quadrilaterals, and the similarity is the IoU of
   their areas (`vidscore_evaluators.quadrilaterals`).
2. GIoU = I/U - (C - U)/C with C the area of the smallest enclosing upright box (the paper has the
   convex hull for arbitrary shapes).
3. Algorithm 1 for boxes: a box with confidence s is the solid on the floor from 0 to s, so that
   I~ = I min(sx, sy), U~ = Ax sx + Ay sy - I~ and C~ = C max(sx, sy).
4. A box or quadrilateral without area is unlike everything, itself included: its IoU is 0 and its
   GIoU -1, the least there is.
5. Under ``mask`` shapes are the pixels of masks (`vidscore_evaluators.masks`); everything else is
   as under IoU. An empty mask is like a box without area.
6. The similarity of points is 1 - d/c for a Euclidean distance d below the cut-off c, else 0.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import BOX, POINT, QUADRILATERAL
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.geometry import (
    bounding_boxes,
    box_areas,
    intersection_areas,
    squared_lengths,
)
from vidscore_evaluators.masks import shared_areas as shared_mask_areas
from vidscore_evaluators.matching import match_greedy, preference_order
from vidscore_evaluators.pairs import BoundingBoxes, PairMeasure, Pairs, measured_pairs
from vidscore_evaluators.parameters import GRID_STEPS
from vidscore_evaluators.quadrilaterals import outline_areas, shared_areas
from vidscore_evaluators.scene import Items, Scene

Base = Literal["iou", "giou", "polygon", "mask", "euclidean"]

TOLERANCE = 1e-9
"""Tolerance by which a similarity may miss a threshold and still meet it, unless parameters differ.

A similarity that equals a threshold on paper is often smaller in binary64, by some 1e-16, if
coordinates have decimals or come as corner and size. Similarities that truly differ by so little
are rare.
"""


class Similarity(Struct, frozen=True):
    """A similarity of pairs, at most 1, and the corresponding distance in [0, 1].

    Attributes:
        base: The quantity that is compared: overlap of boxes (IoU), their overlap and gap (GIoU),
            overlap of quadrilaterals (polygon), of pixels (mask), or the distance of points.
        confidence_extended: Whether confidences take part, as in Algorithm 1; not for points.
        cutoff_px: Distance in pixels from which the similarity of points is 0.
        inclusive_pixels: Whether boxes extend to the far end of their last pixel: a box from 1 to 3
            is 3 pixels wide, as in PASCAL VOC.
    """

    base: Base = "iou"
    confidence_extended: bool = False
    cutoff_px: float = 10.0
    inclusive_pixels: bool = False

    @property
    def arity(self) -> int:
        """Coordinates of an object: of a point, an upright box (also for masks), or an outline."""
        return {"euclidean": POINT, "polygon": QUADRILATERAL}.get(self.base, BOX)

    @property
    def minimum(self) -> float:
        """Least value of the similarity."""
        return -1.0 if self.base == "giou" else 0.0

    @property
    def grid(self) -> tuple[float, ...]:
        """Thresholds of a sweep: from the least value to 1 in steps of 0.05 (section 5)."""
        first = round(self.minimum * GRID_STEPS)
        return tuple(step / GRID_STEPS for step in range(first, GRID_STEPS + 1))

    def of_pairs(
        self,
        truth: FloatArray,
        detections: FloatArray,
        truth_confidences: FloatArray | None = None,
        detection_confidences: FloatArray | None = None,
        areas: tuple[FloatArray | None, FloatArray | None] = (None, None),
        shared: FloatArray | None = None,
    ) -> FloatArray:
        """Similarity of pairs; the value of a pair depends on nothing else.

        All but the last axes of coordinates are broadcast, and confidences with them: (P,) for P
        pairs, (m, 1) and (1, n) for all pairs of m and n objects.

        Args:
            truth: (..., 2 | 4 | 8) points, upright boxes or outlines, in pixels.
            detections: (..., 2 | 4 | 8) points, upright boxes or outlines, in pixels.
            truth_confidences: (...) in [0, 1], 1 if left out; used if `confidence_extended`.
            detection_confidences: (...) in [0, 1], 1 if left out; used if `confidence_extended`.
            areas: (...) areas of the boxes of the truth and of the detections; if left out, those
                of their corners.
            shared: (...) areas that they share; if left out, computed from coordinates.

        Returns:
            (...) similarities in [`minimum`, 1].
        """
        if self.base == "euclidean":
            return point_similarities(truth, detections, self.cutoff_px)
        truth_heights: FloatArray | float = 1.0
        detection_heights: FloatArray | float = 1.0
        if self.confidence_extended:
            truth_heights = 1.0 if truth_confidences is None else truth_confidences
            detection_heights = 1.0 if detection_confidences is None else detection_confidences
        pixel = 1.0 if self.inclusive_pixels else 0.0
        return _solid_similarities(
            _Solids(truth, truth_heights, areas[0], pixel),
            _Solids(detections, detection_heights, areas[1], pixel),
            shared,
            enclosing=self.base == "giou",
        )

    def of_distances_px(self, distances_px: FloatArray) -> FloatArray:
        """Similarity of points at some distances in pixels: 1 - d/c below the cut-off c, else 0."""
        return np.maximum(0.0, 1.0 - distances_px / self.cutoff_px)

    def of_shares(self, shares: FloatArray) -> FloatArray:
        """Fractions s of things inside others as similarities, so that thresholds apply.

        A threshold t requires a fraction of t; for GIoU of (1 + t)/2, which has the same range. An
        object that is not inside at all meets no threshold, however low.
        """
        scaled = self.minimum + shares * (1.0 - self.minimum)
        return np.where(shares > 0.0, scaled, -np.inf)

    def distances(self, similarities: FloatArray) -> FloatArray:
        """The distance in [0, 1] of each similarity s: 1 - s; (1 - s)/2 for GIoU (section 4.1)."""
        return (1.0 - similarities) / (1.0 - self.minimum)


def point_similarities(truth: FloatArray, detections: FloatArray, cutoff_px: float) -> FloatArray:
    """1 - d/c for points at a distance d below the cut-off c, else 0.

    Args:
        truth: (..., 2) points.
        detections: (..., 2) points, broadcast with the others.
        cutoff_px: Cut-off c, above 0.

    Returns:
        (...) values in [0, 1].
    """
    squares = squared_lengths(
        truth[..., 0] - detections[..., 0], truth[..., 1] - detections[..., 1]
    )
    # As in `Similarity.of_distances_px`, but in place: new memory costs more than the arithmetic.
    shares = np.sqrt(squares, out=squares)
    shares /= cutoff_px
    np.subtract(1.0, shares, out=shares)
    return np.maximum(0.0, shares, out=shares)


def shares_of_detections(
    truth: FloatArray,
    detections: FloatArray,
    areas: FloatArray | None = None,
    pixel: float = 0.0,
    shared: FloatArray | None = None,
) -> FloatArray:
    """Fraction of each detection's area that lies inside the truth: I / area of the detection.

    Args:
        truth: (P, 4 | 8) upright boxes or outlines.
        detections: (P, 4 | 8) upright boxes or outlines.
        areas: (P,) areas of the detections; those of their corners if left out.
        pixel: Value added to widths and heights.
        shared: (P,) areas that they share; if left out, those of their corners.

    Returns:
        (P,) values in [0, 1]; 0 for a detection without area.
    """
    whole = _areas(detections, pixel) if areas is None else areas
    return _ratio(_shared_areas(truth, detections, pixel) if shared is None else shared, whole)


def _areas(shapes: FloatArray, pixel: float) -> FloatArray:
    """Areas of upright boxes or outlines; `pixel` is added to widths and heights of boxes."""
    if shapes.shape[-1] == QUADRILATERAL:
        return outline_areas(shapes)
    return box_areas(shapes, pixel)


def _shared_areas(first: FloatArray, second: FloatArray, pixel: float) -> FloatArray:
    """Areas that upright boxes or outlines share."""
    if first.shape[-1] == QUADRILATERAL:
        return shared_areas(first, second)
    return intersection_areas(first, second, pixel)


class _Solids(Struct, frozen=True, eq=False):
    """Solids above upright boxes or outlines; the shapes themselves if heights are 1.

    Attributes:
        shapes: (..., 4 | 8) boxes or outlines.
        heights: (...) heights.
        given: (...) areas of the shapes; None to compute them from their corners.
        pixel: Value added to widths and depths.
    """

    shapes: FloatArray
    heights: FloatArray | float
    given: FloatArray | None
    pixel: float

    @property
    def areas(self) -> FloatArray:
        """(...) areas of the shapes."""
        return _areas(self.shapes, self.pixel) if self.given is None else self.given


def _solid_similarities(
    truth: _Solids, detections: _Solids, shared: FloatArray | None, *, enclosing: bool
) -> FloatArray:
    """IoU or GIoU of solids; `shared` are the areas that their bases share, if known."""
    pixel = truth.pixel
    if shared is None:
        shared = _shared_areas(truth.shapes, detections.shapes, pixel)
    shared = shared * np.minimum(truth.heights, detections.heights)
    truth_areas, detection_areas = truth.areas, detections.areas
    union = truth_areas * truth.heights + detection_areas * detections.heights - shared
    overlap = _ratio(shared, union)
    if not enclosing:
        return overlap
    hull = _enclosing_areas(truth.shapes, detections.shapes, pixel)
    hull = hull * np.maximum(truth.heights, detections.heights)
    alike = overlap - _ratio(hull - union, hull)
    return np.where((truth_areas > 0.0) & (detection_areas > 0.0), alike, -1.0)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part divided by whole; 0 if the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)


def _enclosing_areas(first: FloatArray, second: FloatArray, pixel: float) -> FloatArray:
    width = np.maximum(first[..., 2], second[..., 2]) - np.minimum(first[..., 0], second[..., 0])
    height = np.maximum(first[..., 3], second[..., 3]) - np.minimum(first[..., 1], second[..., 1])
    enclosing: FloatArray = (width + pixel) * (height + pixel)
    return enclosing


class Candidates(Struct, frozen=True, eq=False):
    """P pairs, sorted by detection and then by target.

    Attributes:
        detections: (P,) rows of the scene's detections.
        targets: (P,) rows of the scene's truth or, from len(truth) on, of its absorbers.
        similarities: (P,) similarity of each pair; for an absorber of many, the fraction of the
            detection inside it, on the scale of `Similarity.of_shares`.
    """

    detections: IntArray
    targets: IntArray
    similarities: FloatArray

    def __len__(self) -> int:
        """Number of pairs P."""
        return len(self.detections)

    @property
    def pairs(self) -> Pairs:
        """The pairs alone."""
        return Pairs(self.detections, self.targets)

    def take(self, rows: BoolArray | IntArray) -> Candidates:
        """Keep some pairs."""
        return Candidates(self.detections[rows], self.targets[rows], self.similarities[rows])

    def ordered(self, second_choice: BoolArray, places: FloatArray | None = None) -> Candidates:
        """Sort by detection, then from its best target to its worst, (P,) second choices last.

        Args:
            second_choice: (P,) pairs that come after all others of their detection.
            places: (targets,) tie-breaker: of equally similar targets, the greatest place comes
                first.
        """
        last = None if places is None else places[self.targets]
        return self.take(preference_order(self.pairs, self.similarities, second_choice, last))

    def greedily_matched(self, reusable: BoolArray, at_least: float) -> IntArray:
        """Rows of the pairs that `match_greedy` chooses; the pairs must be `ordered`."""
        return match_greedy(self.pairs, self.similarities, reusable, at_least)


def find_candidates(scene: Scene, similarity: Similarity, at_least: float) -> Candidates:
    """All pairs within groups that are similar enough.

    Args:
        scene: The scene.
        similarity: The similarity.
        at_least: Least similarity; at or below the least possible value, every pair counts.

    Returns:
        Pairs of detections with truth and with absorbers.
    """
    found = _with_truth(scene, similarity, at_least)
    if len(scene.absorbers) == 0:
        return found
    absorbed = _with_absorbers(scene, similarity, at_least)
    detections = np.concatenate([found.detections, absorbed.detections])
    order = np.argsort(detections, kind="stable")
    return Candidates(
        detections[order],
        np.concatenate([found.targets, absorbed.targets + len(scene.truth)])[order],
        np.concatenate([found.similarities, absorbed.similarities])[order],
    )


def _with_truth(scene: Scene, similarity: Similarity, at_least: float) -> Candidates:
    truth, detections = scene.truth, scene.detections

    def measure(detection_rows: IntArray, truth_rows: IntArray) -> FloatArray:
        return item_similarities(similarity, truth, detections, truth_rows, detection_rows)

    return _measured_pairs(truth, detections, similarity, at_least, measure)


def _with_absorbers(scene: Scene, similarity: Similarity, at_least: float) -> Candidates:
    absorbers, detections, many = scene.absorbers, scene.detections, scene.absorbs_many

    def measure(detection_rows: IntArray, absorber_rows: IntArray) -> FloatArray:
        shared = mask_areas_shared(absorbers, detections, absorber_rows, detection_rows)
        alike = item_similarities(
            similarity, absorbers, detections, absorber_rows, detection_rows, shared
        )
        of_many = many[absorber_rows]
        if similarity.base == "euclidean":
            shares = alike[of_many]  # a point lies in a crowd to the degree that it is near it
        else:
            rows = detection_rows[of_many]
            shares = shares_of_detections(
                absorbers.coordinates[absorber_rows[of_many]],
                detections.coordinates[rows],
                None if detections.box_areas is None else detections.box_areas[rows],
                1.0 if similarity.inclusive_pixels else 0.0,
                None if shared is None else shared[of_many],
            )
        alike[of_many] = similarity.of_shares(shares)
        return alike

    return _measured_pairs(absorbers, detections, similarity, at_least, measure)


def item_similarities(
    similarity: Similarity,
    targets: Items,
    detections: Items,
    target_rows: IntArray,
    detection_rows: IntArray,
    shared: FloatArray | None = None,
) -> FloatArray:
    """Similarity of pairs of items.

    Args:
        similarity: The similarity.
        targets: Truth or absorbers.
        detections: Detections.
        target_rows: (...) rows of targets.
        detection_rows: (...) rows of detections, broadcast with the others.
        shared: (...) areas that masks share, if they are already known.
    """
    if shared is None:
        shared = mask_areas_shared(targets, detections, target_rows, detection_rows)
    return similarity.of_pairs(
        targets.coordinates.take(target_rows, axis=0),
        detections.coordinates.take(detection_rows, axis=0),
        targets.confidences[target_rows] if similarity.confidence_extended else None,
        detections.confidences[detection_rows] if similarity.confidence_extended else None,
        (
            None if targets.box_areas is None else targets.box_areas[target_rows],
            None if detections.box_areas is None else detections.box_areas[detection_rows],
        ),
        shared,
    )


def mask_areas_shared(
    targets: Items, detections: Items, target_rows: IntArray, detection_rows: IntArray
) -> FloatArray | None:
    """Pixels that pairs of items share; rows are broadcast. None if masks are not compared."""
    if targets.masks is None or detections.masks is None:
        return None
    of_targets, of_detections = np.broadcast_arrays(target_rows, detection_rows)
    left, right = of_targets.reshape(-1), of_detections.reshape(-1)
    # If the boxes of two masks do not overlap, their runs need no comparison.
    overlap = np.flatnonzero(
        intersection_areas(
            targets.coordinates.take(left, axis=0), detections.coordinates.take(right, axis=0)
        )
    )
    shared = np.zeros(len(left))
    shared[overlap] = shared_mask_areas(
        targets.masks,
        _mask_rows(targets)[left[overlap]],
        detections.masks,
        _mask_rows(detections)[right[overlap]],
    )
    return shared.reshape(of_targets.shape)


def _mask_rows(items: Items) -> IntArray:
    if items.mask_rows is None:
        raise ValueError("these items were made without the rows of their masks")
    return items.mask_rows


def _measured_pairs(
    targets: Items,
    detections: Items,
    similarity: Similarity,
    at_least: float,
    measure: PairMeasure,
) -> Candidates:
    # Objects that do not touch have the least similarity; only a higher threshold requires overlap.
    apart_counts = at_least <= similarity.minimum or similarity.base == "giou"
    pairs, similarities = measured_pairs(
        _boxes_of(detections, similarity, everywhere=apart_counts),
        _boxes_of(targets, similarity, everywhere=apart_counts),
        measure,
        at_least,
    )
    return Candidates(pairs.left, pairs.right, similarities)


def _boxes_of(items: Items, similarity: Similarity, *, everywhere: bool) -> BoundingBoxes:
    """Bounding boxes of objects; those of points are widened by the cut-off."""
    if everywhere:
        return BoundingBoxes(items.starts, np.zeros((len(items), BOX)))
    if similarity.inclusive_pixels:
        return BoundingBoxes(items.starts, items.coordinates + np.array([0.0, 0.0, 1.0, 1.0]))
    if similarity.base == "polygon":
        return BoundingBoxes(items.starts, bounding_boxes(items.coordinates))
    if similarity.base != "euclidean":
        return BoundingBoxes(items.starts, items.coordinates)
    low, high = items.coordinates - similarity.cutoff_px, items.coordinates + similarity.cutoff_px
    return BoundingBoxes(items.starts, np.concatenate([low, high], axis=1))
