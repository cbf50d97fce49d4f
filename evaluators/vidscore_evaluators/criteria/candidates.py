"""Candidates: pairs of a detection and what it may be matched with, and how alike they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.annotations import BOX
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.criteria.scene import Items, Scene
from vidscore_evaluators.criteria.similarity import Similarity, shares_of_detections
from vidscore_evaluators.pairs import BoundingBoxes, PairMeasure, measured_pairs


@dataclass(frozen=True, eq=False)
class Candidates:
    """P pairs, sorted by detection and then by target.

    Attributes:
        detections: (P,) rows of the scene's detections.
        targets: (P,) rows of the scene's truth or, from len(truth) on, of its absorbers.
        similarities: (P,) similarity of each pair; with an absorber of many, the share of the
            detection that is inside it, as `Similarity.of_shares` has it.
    """

    detections: IntArray
    targets: IntArray
    similarities: FloatArray

    def __len__(self) -> int:
        """Number of pairs P."""
        return len(self.detections)

    def take(self, rows: BoolArray | IntArray) -> Candidates:
        """Keep some pairs."""
        return Candidates(self.detections[rows], self.targets[rows], self.similarities[rows])


def find_candidates(scene: Scene, similarity: Similarity, at_least: float) -> Candidates:
    """All pairs within groups that are alike enough.

    Args:
        scene: The scene.
        similarity: How alike a pair is.
        at_least: Least similarity; at or below the similarity's minimum, every pair counts.

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
        return _similarities(similarity, truth, detections, truth_rows, detection_rows)

    return _measured_pairs(truth, detections, similarity, at_least, measure)


def _with_absorbers(scene: Scene, similarity: Similarity, at_least: float) -> Candidates:
    absorbers, detections, many = scene.absorbers, scene.detections, scene.absorbs_many

    def measure(detection_rows: IntArray, absorber_rows: IntArray) -> FloatArray:
        alike = _similarities(similarity, absorbers, detections, absorber_rows, detection_rows)
        of_many = many[absorber_rows]
        if similarity.base == "euclidean":
            shares = alike[of_many]  # a point lies in a crowd as far as it is near it
        else:
            shares = shares_of_detections(
                absorbers.coordinates[absorber_rows[of_many]],
                detections.coordinates[detection_rows[of_many]],
            )
        alike[of_many] = similarity.of_shares(shares)
        return alike

    return _measured_pairs(absorbers, detections, similarity, at_least, measure)


def _similarities(
    similarity: Similarity,
    targets: Items,
    detections: Items,
    target_rows: IntArray,
    detection_rows: IntArray,
) -> FloatArray:
    sides = ((targets, target_rows), (detections, detection_rows))
    coordinates = [items.coordinates.take(rows, axis=0) for items, rows in sides]
    if not similarity.confidence_extended:
        return similarity.of_pairs(*coordinates)
    return similarity.of_pairs(*coordinates, *(items.confidences[rows] for items, rows in sides))


def _measured_pairs(
    targets: Items,
    detections: Items,
    similarity: Similarity,
    at_least: float,
    measure: PairMeasure,
) -> Candidates:
    # Objects that lie apart have the least similarity, so that only a greater one needs overlap.
    apart_counts = at_least <= similarity.minimum or similarity.base == "giou"
    pairs, similarities = measured_pairs(
        _extents(detections, similarity, everywhere=apart_counts),
        _extents(targets, similarity, everywhere=apart_counts),
        measure,
        at_least,
    )
    return Candidates(pairs.left, pairs.right, similarities)


def _extents(items: Items, similarity: Similarity, *, everywhere: bool) -> BoundingBoxes:
    """Where objects lie, points widened by the cut-off."""
    if everywhere:
        return BoundingBoxes(items.starts, np.zeros((len(items), BOX)))
    if similarity.base != "euclidean":
        return BoundingBoxes(items.starts, items.coordinates)
    low, high = items.coordinates - similarity.cutoff_px, items.coordinates + similarity.cutoff_px
    return BoundingBoxes(items.starts, np.concatenate([low, high], axis=1))
