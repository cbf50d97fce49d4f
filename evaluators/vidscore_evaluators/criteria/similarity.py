"""How alike a reference and a detection are: one number a pair, in any of the field's ways.

Source: H. Nguyen et al., "How Trustworthy are Performance Evaluations for Basic Vision Tasks?",
section 4.1 and appendix 3.1 (Algorithm 1).

Readings of this project:

1. Shapes are upright boxes; a quadrilateral is reduced to its envelope before it comes here.
2. GIoU = I/U - (C - U)/C with C the area of the smallest enclosing upright box (the paper has the
   convex hull for arbitrary shapes).
3. Algorithm 1 for boxes: a box with confidence s is the solid on the floor from 0 to s, so that
   I~ = I min(sx, sy), U~ = Ax sx + Ay sy - I~ and C~ = C max(sx, sy).
4. A box without area is unlike everything, itself included: its IoU is 0 and its GIoU -1, the
   least there is.
5. The similarity of points is 1 - d/c for a Euclidean distance d below the cut-off c, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from vidscore_evaluators.annotations import BOX, POINT
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.geometry import box_areas, intersection_areas, squared_lengths

Base = Literal["iou", "giou", "euclidean"]

TOLERANCE = 1e-9
"""By how much a similarity may fall short of a threshold that it meets, unless parameters differ.

A similarity that is exactly a threshold on paper is often less in binary64, by some 1e-16 where
coordinates have decimals or come as corner and size; real ones that lie this near are rare.
"""

GRID_STEPS = 20
"""Steps of the threshold grid for each unit of similarity: 0, 0.05, ..., 1."""


@dataclass(frozen=True, slots=True)
class Similarity:
    """A similarity of pairs, at most 1, and the distance in [0, 1] that belongs to it.

    Attributes:
        base: What is compared: overlap (IoU), overlap and gap (GIoU), or the distance of points.
        confidence_extended: Whether confidences take part, as in Algorithm 1; not for points.
        cutoff_px: Distance from which points have nothing in common, in pixels.
    """

    base: Base = "iou"
    confidence_extended: bool = False
    cutoff_px: float = 10.0

    @property
    def arity(self) -> int:
        """Coordinates an object has: those of a point or of an upright box."""
        return POINT if self.base == "euclidean" else BOX

    @property
    def minimum(self) -> float:
        """Least value it takes."""
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
    ) -> FloatArray:
        """Similarity of pairs; a pair's value depends on nothing but the pair.

        All but the last axes of coordinates are broadcast, and confidences with them: (P,) for P
        pairs, (m, 1) and (1, n) for all pairs of m and n objects.

        Args:
            truth: (..., 2 | 4) points or upright boxes, in pixels.
            detections: (..., 2 | 4) points or upright boxes, in pixels.
            truth_confidences: (...) in [0, 1], 1 if left out; used if `confidence_extended`.
            detection_confidences: (...) in [0, 1], 1 if left out; used if `confidence_extended`.

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
        return _solid_similarities(
            truth, detections, truth_heights, detection_heights, enclosing=self.base == "giou"
        )

    def of_shares(self, shares: FloatArray) -> FloatArray:
        """Shares s of things inside others on the scale of similarities, so that thresholds fit.

        A threshold t asks for a share of t; for GIoU of (1 + t)/2, which lies between the same
        ends. What is not inside at all meets no threshold, however low.
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
    # In place, because fresh memory costs more than the arithmetic.
    shares = np.sqrt(squares, out=squares)
    shares /= cutoff_px
    np.subtract(1.0, shares, out=shares)
    return np.maximum(0.0, shares, out=shares)


def shares_of_detections(truth: FloatArray, detections: FloatArray) -> FloatArray:
    """How much of each detection's area lies inside the truth's box: I / area of the detection.

    Args:
        truth: (P, 4) upright boxes.
        detections: (P, 4) upright boxes.

    Returns:
        (P,) values in [0, 1]; 0 for a detection without area.
    """
    return _ratio(intersection_areas(truth, detections), box_areas(detections))


def _solid_similarities(
    truth: FloatArray,
    detections: FloatArray,
    truth_heights: FloatArray | float,
    detection_heights: FloatArray | float,
    *,
    enclosing: bool,
) -> FloatArray:
    """IoU or GIoU of solids that stand on boxes; of the boxes themselves where heights are 1."""
    shared = intersection_areas(truth, detections) * np.minimum(truth_heights, detection_heights)
    truth_areas, detection_areas = box_areas(truth), box_areas(detections)
    union = truth_areas * truth_heights + detection_areas * detection_heights - shared
    overlap = _ratio(shared, union)
    if not enclosing:
        return overlap
    hull = _enclosing_areas(truth, detections) * np.maximum(truth_heights, detection_heights)
    alike = overlap - _ratio(hull - union, hull)
    return np.where((truth_areas > 0.0) & (detection_areas > 0.0), alike, -1.0)


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Part of a whole; 0 where there is no whole."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)


def _enclosing_areas(first: FloatArray, second: FloatArray) -> FloatArray:
    width = np.maximum(first[..., 2], second[..., 2]) - np.minimum(first[..., 0], second[..., 0])
    height = np.maximum(first[..., 3], second[..., 3]) - np.minimum(first[..., 1], second[..., 1])
    enclosing: FloatArray = width * height
    return enclosing
