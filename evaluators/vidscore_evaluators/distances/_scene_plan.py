"""Outcomes of the distances of sets: plans of frames, put together for a whole scene."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators._scene_outcomes import relate_pairs, unmatched_builder
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.distances._plans import Plan
from vidscore_evaluators.outcome_table import NO_PARTNER, Outcome, Outcomes
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Candidates, Similarity, item_similarities


class ScenePlan(Struct, frozen=True, eq=False):
    """With whom the T objects and D detections of a scene are brought together.

    Its arrays fill as the plans of groups are added.

    Attributes:
        parts: Names of the parts of the distance.
        of_truth: (T,) detection of each object, a row of the scene, `NO_PARTNER` for none.
        of_detections: (D,) object of each detection, likewise.
        truth_shares: (parts, T) what each object adds to each part of its frame's distance.
        detection_shares: (parts, D) the same of detections.
    """

    parts: tuple[str, ...]
    of_truth: IntArray
    of_detections: IntArray
    truth_shares: FloatArray
    detection_shares: FloatArray

    @classmethod
    def of(cls, scene: Scene, parts: tuple[str, ...]) -> ScenePlan:
        """Begin with nobody brought together."""
        truth, detections = len(scene.truth), len(scene.detections)
        return cls(
            parts,
            np.full(truth, NO_PARTNER, dtype=np.int64),
            np.full(detections, NO_PARTNER, dtype=np.int64),
            np.zeros((len(parts), truth)),
            np.zeros((len(parts), detections)),
        )

    def add(self, scene: Scene, groups: IntArray, plan: Plan) -> None:
        """Add the plan of (K,) groups of equal shape."""
        height, width = plan.of_rows.shape[1], plan.of_columns.shape[1]
        truth = scene.truth.starts[groups, None]
        detections = scene.detections.starts[groups, None]
        rows, columns = truth + np.arange(height), detections + np.arange(width)
        self.of_truth[rows] = _shifted(plan.of_rows, detections)
        self.of_detections[columns] = _shifted(plan.of_columns, truth)
        self.truth_shares[:, rows] = plan.shares[:, :, :height]
        self.detection_shares[:, columns] = plan.shares[:, :, height:]

    def outcomes(
        self, aligned: Aligned, scene: Scene, similarity: Similarity, greatest: float
    ) -> Outcomes:
        """The table: true positives are partners of each other that are nearer than `greatest`."""
        builder = unmatched_builder(aligned, scene)
        truth = np.flatnonzero(self.of_truth != NO_PARTNER)
        pairs = _pairs(scene, similarity, self.of_truth[truth], truth)
        relate_pairs(builder, scene, similarity, pairs, (Side.TRUTH,))
        mutual = self.of_detections[pairs.detections] == truth
        near = mutual & (similarity.distances(pairs.similarities) < greatest)
        detections = np.flatnonzero(self.of_detections != NO_PARTNER)
        others = _pairs(scene, similarity, detections, self.of_detections[detections])
        relate_pairs(builder, scene, similarity, others, (Side.DETECTIONS,))
        sources = {Side.TRUTH: scene.truth.traced, Side.DETECTIONS: scene.detections.traced}
        matched = {Side.TRUTH: truth[near], Side.DETECTIONS: pairs.detections[near]}
        shares = {Side.TRUTH: self.truth_shares, Side.DETECTIONS: self.detection_shares}
        for side, rows in sources.items():
            builder.set(side, rows[matched[side]], Outcome.TRUE_POSITIVE)
            builder.share(side, rows, shares[side][0])
        counts = {
            Side.TRUTH: aligned.truth.object_count,
            Side.DETECTIONS: aligned.detections.object_count,
        }
        return builder.build(
            {
                name: {
                    side: _spread(counts[side], rows, shares[side][part])
                    for side, rows in sources.items()
                }
                for part, name in enumerate(self.parts)
                if part > 0
            }
        )


def _pairs(
    scene: Scene, similarity: Similarity, detections: IntArray, truth: IntArray
) -> Candidates:
    """Some pairs of a scene with their similarity."""
    similarities = item_similarities(similarity, scene.truth, scene.detections, truth, detections)
    return Candidates(detections, truth, similarities)


def _shifted(partners: IntArray, first: IntArray) -> IntArray:
    """(K, m) places in (K, 1) runs as rows; `NO_PARTNER` stays."""
    return np.where(partners == NO_PARTNER, NO_PARTNER, partners + first)


def _spread(count: int, rows: IntArray, values: FloatArray) -> FloatArray:
    """(count,) values at some rows, 0 elsewhere."""
    column = np.zeros(count)
    column[rows] = values
    return column
