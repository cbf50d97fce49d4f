"""Identity: the part of every object that is covered by its single best track.

Source: E. Ristani et al., "Performance Measures and a Data Set for Multi-Target, Multi-Camera
Tracking", 2016, section 3; trackeval's Identity. At most one track is assigned to each object of
the truth, and at most one object to each track, such that IDTP is greatest: the number of frames in
which an object and its track are both present with a similarity of at least the threshold. IDFN and
IDFP are the numbers of remaining truth objects and detections, and IDF1 = 2 IDTP / (2 IDTP + IDFP +
IDFN). Figures over several sequences are computed from their summed counts.

Differences from trackeval; the first two change no defined figure:

1. trackeval solves one assignment of all objects and tracks, in a square matrix with a dummy
   partner for each. Here each connected component of objects and tracks that meet is solved
   separately, with the same greatest sum.
2. IDR is undefined without truth, and IDP without detections; trackeval returns 0. If there is
   neither, IDF1 is 1, so that its dissimilarity of two empty sets is 0.
3. A pair at exactly the threshold counts, with a tolerance of 1e-9 for rounding
   (`threshold_tolerance`); trackeval compares without a tolerance.
4. `idf1_class_mean` leaves out classes without truth; trackeval counts them as 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators._report_rows import (
    Figures,
    blocks_with_class_means,
    ratio,
    totals_by_scope,
)
from vidscore_evaluators._scene_outcomes import (
    ScoredRows,
    figures_of_everything,
    match_pairs,
    unmatched_builder,
)
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import NO_TRACK, Side
from vidscore_evaluators.arrays import BoolArray
from vidscore_evaluators.criterion import LEFT_OUT, left_out_table, score_measure
from vidscore_evaluators.evaluator import Averaging, Direction, Growth, count_measure
from vidscore_evaluators.matching import match_maximum_weight
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.report import Block, Number, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Candidates
from vidscore_evaluators.tally import Table, Tally
from vidscore_evaluators.tracking._outcomes import partner_tracks, track_ids
from vidscore_evaluators.tracking._tracks import (
    CHAINS_PER_SEQUENCE,
    ThresholdParameters,
    TrackingCriterion,
    TrackPairs,
    Tracks,
    count_table,
    similar_pairs,
)

COUNTS = "counts"


@dataclass(frozen=True)
class IdentityParameters(ThresholdParameters):
    """Parameters of `Identity`."""


class Identity(TrackingCriterion[IdentityParameters]):
    """IDF1 with its precision, recall and counts."""

    name = "identity"
    version = "1.3.0"
    title = "IDF1, IDP and IDR: one track for each object over the whole sequence"
    Parameters = IdentityParameters
    measures = (
        score_measure("idf1", "2 IDTP / (truth objects + detections)."),
        score_measure("idp", "IDTP / detections."),
        score_measure("idr", "IDTP / truth objects."),
        score_measure(
            "idf1_class_mean",
            "Mean of IDF1 over the classes of the truth.",
            averaging=Averaging.MEAN,
        ),
        count_measure(
            "id_true_positives", "Objects matched by their assigned track.", Direction.HIGHER
        ),
        count_measure("id_false_positives", "All other detections.", Direction.LOWER),
        count_measure("id_false_negatives", "All other objects.", Direction.LOWER),
    )
    ranking = ("idf1",)

    @property
    def growth(self) -> Growth:
        """One row of three counts per sequence and class."""
        return Growth("sequence", (3 * 8 + 3 * 8) * CHAINS_PER_SEQUENCE)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts by sequence and class."""
        scene = self.scene(aligned)
        tracks = Tracks.of(scene)
        pairs = TrackPairs.of(tracks, self._candidates(scene))
        chosen = _assigned(tracks, pairs)
        true = np.zeros(tracks.chain_count, dtype=np.int64)
        np.add.at(true, tracks.truth.chains[pairs.truth[chosen]], pairs.counts[chosen])
        counts = {
            "true": true,
            "truth": tracks.totals(tracks.truth),
            "detections": tracks.totals(tracks.detections),
        }
        return {
            COUNTS: count_table(tracks, counts),
            LEFT_OUT: left_out_table(scene),
        }

    def _candidates(self, scene: Scene) -> Candidates:
        """Pairs of objects that are similar enough."""
        least = self.parameters.least(self.parameters.threshold)
        return similar_pairs(scene, self.parameters.similarity, least)

    def scores(self, tally: Tally) -> Scores:
        """Figures of everything, of domains, classes and sequences, from their summed counts."""
        return Scores(self._blocks(tally.tables[COUNTS]), (), self.scene_warnings(tally))

    def _blocks(self, table: Table) -> tuple[Block, Block]:
        totals = totals_by_scope(table)
        figures = [Figures(*scope, _values(**total.counts)) for scope, total in totals.items()]
        counted = {scope for scope, total in totals.items() if total.counts["truth"]}
        return blocks_with_class_means(figures, {"idf1_class_mean": "idf1"}, counted)

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """True positives are objects and detections that match within an assigned pair of tracks.

        Shares add up to 2 IDTP, IDF1's numerator: 1 for a true positive of either side. The further
        column ``partner_track`` has the partner of the row's track, even if the row itself is not
        matched.
        """
        at.check(self.name, [self.parameters.threshold])
        scene = self.scene(aligned, traced=True)
        tracks = Tracks.of(scene)
        candidates = self._candidates(scene)
        pairs = TrackPairs.of(tracks, candidates)
        chosen = _assigned(tracks, pairs)
        true = candidates.take(chosen[pairs.of_candidates])
        builder = unmatched_builder(aligned, scene)
        match_pairs(builder, scene, self.parameters.similarity, true)
        builder.share(Side.TRUTH, scene.truth.traced[true.targets], 1.0)
        builder.share(Side.DETECTIONS, scene.detections.traced[true.detections], 1.0)
        of_truth = np.full(len(tracks.truth), NO_TRACK, dtype=np.int64)
        of_detections = np.full(len(tracks.detections), NO_TRACK, dtype=np.int64)
        truth, detections = pairs.truth[chosen], pairs.detections[chosen]
        of_truth[truth] = track_ids(tracks.detections, scene.detections)[detections]
        of_detections[detections] = track_ids(tracks.truth, scene.truth)[truth]
        return builder.build(
            partner_tracks(
                aligned,
                (scene.truth.traced, of_truth[tracks.truth.of_objects]),
                (scene.detections.traced, of_detections[tracks.detections.of_objects]),
            )
        )

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Every measure."""
        del at
        rows = ScoredRows.of(outcomes, separate=self.parameters.classes == "separate")
        counts = {
            "true": rows.count(rows.truth & rows.matched),
            "truth": rows.count(rows.truth),
            "detections": rows.count(~rows.truth),
        }
        table = rows.table(np.arange(len(rows.sequences)), counts)
        return figures_of_everything(self._blocks(table))


def _assigned(tracks: Tracks, pairs: TrackPairs) -> BoolArray:
    """(P,) which pairs of tracks are assigned, by the greatest number of frames in common."""
    return match_maximum_weight(
        Pairs(pairs.truth, pairs.detections),
        pairs.counts.astype(np.float64),
        len(tracks.truth),
        len(tracks.detections),
    )


def _values(true: int, truth: int, detections: int) -> dict[str, Number]:
    """Every measure."""
    return {
        "idf1": 2 * true / (truth + detections) if truth + detections else 1.0,
        "idp": ratio(true, detections),
        "idr": ratio(true, truth),
        "id_true_positives": true,
        "id_false_positives": detections - true,
        "id_false_negatives": truth - true,
    }
