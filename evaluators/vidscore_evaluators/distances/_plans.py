"""Plans: how a distance pairs the elements of two sets, and what each element adds to it.

Source and base distances are those of `vidscore_evaluators.distances._kernels`, whose functions
make the decisions here too.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators._scene_outcomes import relate_pairs, unmatched_builder
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.distances._kernels import (
    assigned_ospa,
    emd,
    emd_of_means,
    hausdorff,
    powers,
    transported,
)
from vidscore_evaluators.outcome_table import NO_PARTNER, Outcome, Outcomes
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Candidates, Similarity, item_similarities


class Plan(Struct, frozen=True, eq=False):
    """Elements of K pairs of sets, m rows and n columns each.

    Attributes:
        of_rows: (K, m) column that each row is paired with, `NO_PARTNER` for none.
        of_columns: (K, n) row that each column is paired with, `NO_PARTNER` for none.
        shares: (parts, K, m + n) what rows, then columns, add to each part of the distance. Their
            sum is exact.
    """

    of_rows: IntArray
    of_columns: IntArray
    shares: FloatArray


def plan_hausdorff(distances: FloatArray) -> Plan:
    """Pair each element with the nearest of the other set; the two that decide share the distance.

    Args:
        distances: (K, m, n) base distances in [0, 1].
    """
    count, rows, columns = distances.shape
    if 0 in (rows, columns):
        return _plan_of_empty(distances, hausdorff(distances)[None])
    of_rows, of_columns = distances.argmin(axis=2), distances.argmin(axis=1)
    to_columns, to_rows = distances.min(axis=2), distances.min(axis=1)
    every = np.arange(count)
    row, column = to_columns.argmax(axis=1), to_rows.argmax(axis=1)
    row_decides = to_columns[every, row] >= to_rows[every, column]
    row = np.where(row_decides, row, of_columns[every, column])
    column = np.where(row_decides, of_rows[every, row], column)
    weights = np.zeros((count, rows + columns))
    weights[every, row] = weights[every, rows + column] = 1.0
    return Plan(of_rows, of_columns, apportioned(hausdorff(distances), weights)[None])


def plan_emd(distances: FloatArray, order: float) -> Plan:
    """Pair each element with the one that most of its mass moves to or from, or the nearest such.

    The cost of mass that moves between a row and a column is shared equally by both.

    Args:
        distances: (K, m, n) base distances in [0, 1].
        order: Order p, at least 1.
    """
    if 0 in distances.shape[1:]:
        return _plan_of_empty(distances, emd(distances, order)[None])
    costs = powers(distances, order)
    flows = np.zeros(distances.shape, dtype=np.int64)
    means = transported(costs, flows)
    moved = flows * costs
    weights = np.concatenate([moved.sum(axis=2), moved.sum(axis=1)], axis=1)
    return Plan(
        _nearest_of_most(flows, distances, axis=2),
        _nearest_of_most(flows, distances, axis=1),
        apportioned(emd_of_means(means, order), weights)[None],
    )


def plan_ospa(distances: FloatArray, cutoff: float, order: float) -> Plan:
    """Pair each element as OSPA does; both elements share the cost of their pair.

    Args:
        distances: (K, m, n) base distances in [0, 1].
        cutoff: Cut-off c, above 0.
        order: Order p, at least 1.

    Returns:
        The plan, with the parts of `vidscore_evaluators.distances._kernels.Ospa`.
    """
    found, chosen = assigned_ospa(distances, cutoff, order)
    parts = np.stack([found.distance, found.localisation, found.cardinality])
    count, rows, columns = distances.shape
    if 0 in (rows, columns):
        return _plan_of_empty(distances, parts)
    smaller = np.broadcast_to(np.arange(chosen.shape[1]), chosen.shape)
    of_rows = np.full((count, rows), NO_PARTNER, dtype=np.int64)
    of_columns = np.full((count, columns), NO_PARTNER, dtype=np.int64)
    few, many = (of_rows, of_columns) if rows <= columns else (of_columns, of_rows)
    few[:] = chosen
    np.put_along_axis(many, chosen, smaller, axis=1)
    costs = powers(np.minimum(distances, cutoff), order)
    paired = np.concatenate(
        [
            np.take_along_axis(costs, of_rows[:, :, None], axis=2)[:, :, 0],
            np.take_along_axis(costs, of_columns[:, None, :], axis=1)[:, 0, :],
        ],
        axis=1,
    )
    lonely = np.concatenate([of_rows, of_columns], axis=1) == NO_PARTNER
    paired[lonely] = 0.0
    alone = lonely * powers(np.array(cutoff), order)
    weights = (paired / 2 + alone, paired, alone)
    shares = [apportioned(part, own) for part, own in zip(parts, weights, strict=True)]
    return Plan(of_rows, of_columns, np.stack(shares))


def apportioned(totals: FloatArray, weights: FloatArray) -> FloatArray:
    """Divide totals in proportion to weights, so that the shares add up exactly.

    All shares of a total are multiples of the last place of the total; the largest share takes the
    rounding error.

    Args:
        totals: (K,) totals, 0 or more.
        weights: (K, L) weights, 0 or more; if all are 0, the total is 0.

    Returns:
        (K, L) shares, whose sum is the total in any order of addition.
    """
    places = np.spacing(totals)[:, None]
    sums = weights.sum(axis=1)[:, None]
    fractions = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0.0)
    units = np.floor(totals[:, None] * fractions / places).astype(np.int64)
    rest = (totals / places[:, 0]).astype(np.int64) - units.sum(axis=1)
    units[np.arange(len(units)), weights.argmax(axis=1)] += rest
    shares: FloatArray = units * places
    return shares


def _plan_of_empty(distances: FloatArray, parts: FloatArray) -> Plan:
    """If a set is empty, all elements of the other add the same."""
    count, rows, columns = distances.shape
    weights = np.ones((count, rows + columns))
    if rows + columns == 0:
        shares = np.zeros((len(parts), count, 0))
    else:
        shares = np.stack([apportioned(part, weights) for part in parts])
    return Plan(
        np.full((count, rows), NO_PARTNER, dtype=np.int64),
        np.full((count, columns), NO_PARTNER, dtype=np.int64),
        shares,
    )


def _nearest_of_most(flows: IntArray, distances: FloatArray, axis: int) -> IntArray:
    """Index of the greatest flow along an axis; of equal ones the nearest, then the first."""
    most = flows == flows.max(axis=axis, keepdims=True)
    nearest: IntArray = np.where(most, distances, np.inf).argmin(axis=axis)
    return nearest


# --- outcomes of whole scenes ----------------------------------------------------------------


class ScenePlan(Struct, frozen=True, eq=False):
    """The partners of the T objects and D detections of a scene.

    Its arrays are filled as the plans of groups are added.

    Attributes:
        parts: Names of the parts of the distance.
        of_truth: (T,) detection of each object, a row of the scene, `NO_PARTNER` for none.
        of_detections: (D,) object of each detection, likewise.
        truth_shares: (parts, T) what each object adds to each part of its frame's distance.
        detection_shares: (parts, D) the same for detections.
    """

    parts: tuple[str, ...]
    of_truth: IntArray
    of_detections: IntArray
    truth_shares: FloatArray
    detection_shares: FloatArray

    @classmethod
    def of(cls, scene: Scene, parts: tuple[str, ...]) -> ScenePlan:
        """Begin without partners."""
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
        """The table: true positives are mutual partners that are nearer than `greatest`."""
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
                for part, name in enumerate(self.parts[1:], start=1)
            }
        )


def _pairs(
    scene: Scene, similarity: Similarity, detections: IntArray, truth: IntArray
) -> Candidates:
    """Some pairs of a scene with their similarity."""
    similarities = item_similarities(similarity, scene.truth, scene.detections, truth, detections)
    return Candidates(detections, truth, similarities)


def _shifted(partners: IntArray, first: IntArray) -> IntArray:
    """(K, m) positions in (K, 1) runs as rows; `NO_PARTNER` stays."""
    return np.where(partners == NO_PARTNER, NO_PARTNER, partners + first)


def _spread(count: int, rows: IntArray, values: FloatArray) -> FloatArray:
    """(count,) values at some rows, 0 elsewhere."""
    column = np.zeros(count)
    column[rows] = values
    return column
