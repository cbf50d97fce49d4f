"""CLEAR: the numbers of missed objects, of false detections, and of changes of identity.

Sources: K. Bernardin and R. Stiefelhagen, "Evaluating Multiple Object Tracking Performance: The
CLEAR MOT Metrics", 2008; trackeval and motmetrics, whose figures the field reports. The
trustworthiness paper, section 2, has MOTA = 1 - sum(FP + FN + IDSW) / sum(GT).

Every count and figure agrees to 1e-9 with trackeval (`switch_rule` = ``trackeval``, the default and
the rule of the MOTChallenge) or with motmetrics (``motmetrics``). Figures over several sequences
are computed from their summed counts. Under both rules, an id switch is a match of an object whose
last match, however long ago, was with another track. The rules differ in these points:

1. Which pairs stay matched, and how the rest is matched: see `_correspondences`.
2. Fragmentations. trackeval: the number of times that an object is matched again after a frame in
   which it was not matched, whether it was missed or absent; frames in which only one side has
   objects are skipped. motmetrics: the number of gaps in which an object is missed, between two
   frames in which it is matched.
3. An object is mostly tracked if it is matched in more than 80 % of its frames, under motmetrics in
   80 % or more. It is mostly lost below 20 %, and partially tracked in between.

The report differs from both in these points:

4. MOTP is the mean similarity, as in trackeval; motmetrics has the mean distance, 1 - MOTP.
5. A figure without a denominator is undefined: MOTA, MODA, sMOTA and recall without truth, MOTP
   without a match, precision without a detection, fractions of tracks without a track. trackeval
   returns 0 there, and 1 for the fraction of mostly lost tracks. If there is neither truth nor
   detection, F1 is 1, so that its dissimilarity of two empty sets is 0.
6. A pair at exactly the threshold counts, with a tolerance of 1e-9 for rounding
   (`threshold_tolerance`). trackeval allows 2**-52, motmetrics nothing.
7. With base ``giou``, the rest is matched with the greatest sum of 1 + GIoU. Neither implementation
   has this base.
8. `mota_class_mean` leaves out classes without truth; for them, trackeval has minus the number of
   detections.

One rule of trackeval is kept although it may surprise users:

9. `false_positives_per_frame` divides by the frames of sequences in which a class has both truth
   and detections; its numerator is every false positive.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from vidscore_evaluators._report_rows import (
    Figures,
    Total,
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
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import BoolArray, IntArray, marked
from vidscore_evaluators.criterion import LEFT_OUT, left_out_table, score_measure
from vidscore_evaluators.evaluator import (
    Averaging,
    Direction,
    Dissimilarity,
    Growth,
    Measure,
    count_measure,
)
from vidscore_evaluators.exact_sums import to_float
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Block, Number, Scores
from vidscore_evaluators.similarity import Candidates
from vidscore_evaluators.tally import Table, Tally
from vidscore_evaluators.tracking._correspondences import SwitchRule, lasting_matches
from vidscore_evaluators.tracking._outcomes import partner_tracks, tracks_of_rows
from vidscore_evaluators.tracking._tracks import (
    CHAINS_PER_SEQUENCE,
    ThresholdParameters,
    TrackingCriterion,
    Tracks,
    TrackSet,
    chain_table,
    count_table,
    previous_occurrence,
    similar_pairs,
)

COUNTS = "counts"
MATCHES = "matches"

_COUNT_NAMES = (
    "matches",
    "misses",
    "false_positives",
    "id_switches",
    "fragmentations",
    "mostly_tracked",
    "partially_tracked",
    "mostly_lost",
)


@dataclass(frozen=True)
class ClearParameters(ThresholdParameters):
    """Parameters of `Clear`."""

    switch_rule: SwitchRule = parameter(
        "trackeval",
        "Whose rules decide which pairs stay matched, and define fragmentation and mostly tracked.",
    )


def _accuracy(name: str, description: str, **further: Any) -> Measure:
    return score_measure(name, description, minimum=None, of_nothing=0.0, **further)


class Clear(TrackingCriterion[ClearParameters]):
    """MOTA, MOTP and the counts behind them."""

    name = "clear"
    version = "1.3.0"
    title = "MOTA, MOTP and the CLEAR counts: misses, false positives, id switches, fragmentations"
    Parameters = ClearParameters
    measures = (
        _accuracy("mota", "1 - (misses + false positives + id switches) / truth objects."),
        score_measure("motp", "Mean similarity of matches.", minimum=-1.0),
        _accuracy("moda", "1 - (misses + false positives) / truth objects."),
        _accuracy("smota", "(Sum of similarities - false positives - id switches) / objects."),
        _accuracy("motal", "MOTA with the decimal logarithm of the id switches, if there are any."),
        _accuracy(
            "mota_class_mean",
            "Mean of MOTA over the classes of the truth.",
            averaging=Averaging.MEAN,
        ),
        score_measure("recall", "Matches / truth objects."),
        score_measure("precision", "Matches / detections."),
        score_measure("f1", "2 matches / (truth objects + detections)."),
        score_measure("mostly_tracked_share", "Mostly tracked / truth tracks."),
        Measure(
            "partially_tracked_share",
            "Partially tracked / truth tracks.",
            direction=Direction.NONE,
        ),
        Measure(
            "mostly_lost_share",
            "Mostly lost / truth tracks.",
            direction=Direction.LOWER,
            dissimilarity=Dissimilarity.VALUE,
        ),
        count_measure("matches", "Matched pairs of an object and a detection.", Direction.HIGHER),
        count_measure("misses", "Objects without a detection.", Direction.LOWER),
        count_measure("false_positives", "Detections without an object.", Direction.LOWER),
        count_measure(
            "id_switches",
            "Matches of an object with a different track than its last match.",
            Direction.LOWER,
        ),
        count_measure("fragmentations", "Interruptions of the tracks of objects.", Direction.LOWER),
        count_measure(
            "mostly_tracked", "Truth tracks matched in over 80 % of their frames.", Direction.HIGHER
        ),
        count_measure(
            "partially_tracked", "Truth tracks that are neither mostly tracked nor mostly lost."
        ),
        count_measure(
            "mostly_lost", "Truth tracks matched in under 20 % of their frames.", Direction.LOWER
        ),
        Measure(
            "false_positives_per_frame",
            "False positives / frames of sequences with truth and detections.",
            maximum=None,
            direction=Direction.LOWER,
        ),
        count_measure("truth_objects", "Objects of the truth that are scored."),
        count_measure("detections", "Detections that are scored."),
        count_measure("truth_tracks", "Tracks of the truth that are scored."),
        count_measure("detection_tracks", "Tracks of the detections that are scored."),
    )
    ranking = ("mota",)

    @property
    def growth(self) -> Growth:
        """One row of counts and one of sums per sequence and class."""
        row = 3 * 8 + 8 * (len(_COUNT_NAMES) + 2) + 3 * 8 + 64
        return Growth("sequence", row * CHAINS_PER_SEQUENCE)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts by sequence and class, and the sum of similarities."""
        scene = self.scene(aligned)
        tracks = Tracks.of(scene)
        matched = self._matches(tracks)
        return {
            COUNTS: count_table(tracks, _chain_counts(tracks, matched, self._rule)),
            MATCHES: chain_table(
                tracks,
                tracks.group_chains[scene.truth.groups[matched.targets]],
                {},
                {"similarity": matched.similarities},
            ),
            LEFT_OUT: left_out_table(scene),
        }

    @property
    def _rule(self) -> SwitchRule:
        return self.parameters.switch_rule

    def _matches(self, tracks: Tracks) -> Candidates:
        """The pairs that are matched."""
        similarity = self.parameters.similarity
        least = self.parameters.least(self.parameters.threshold)
        candidates = similar_pairs(tracks.scene, similarity, least)
        return candidates.take(lasting_matches(tracks, candidates, similarity, self._rule))

    def scores(self, tally: Tally) -> Scores:
        """Figures of everything, of domains, classes and sequences, from their summed counts."""
        return Scores(self._blocks(tally.tables), (), self.scene_warnings(tally))

    def _blocks(self, tables: Mapping[str, Table]) -> tuple[Block, Block]:
        matches = totals_by_scope(tables[MATCHES])
        totals = totals_by_scope(tables[COUNTS])
        figures = [
            Figures(*scope, _values(total.counts, matches.get(scope)))
            for scope, total in totals.items()
        ]
        counted = {
            scope
            for scope, total in totals.items()
            if total.counts["matches"] + total.counts["misses"]
        }
        return blocks_with_class_means(figures, {"mota_class_mean": "mota"}, counted)

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """Matches, misses and false positives, with id switches and fragmentations.

        Shares add up to MOTA's numerator: 1 for a matched object, 0 if its match is an id switch or
        if it is missed, and -1 for a false positive. The further column ``partner_track`` has the
        track that a row is matched with.
        """
        at.check(self.name, [self.parameters.threshold])
        scene = self.scene(aligned, traced=True)
        tracks = Tracks.of(scene)
        matched = self._matches(tracks)
        switched, fragmented = (
            marked(len(matched), rows) for rows in _breaks(tracks, matched, self._rule)
        )
        truth = scene.truth.traced[matched.targets]
        detections = scene.detections.traced[matched.detections]
        builder = unmatched_builder(aligned, scene)
        builder.share(Side.DETECTIONS, scene.detections.traced, -1.0)
        match_pairs(builder, scene, self.parameters.similarity, matched)
        builder.share(Side.TRUTH, truth, np.where(switched, 0.0, 1.0))
        builder.share(Side.DETECTIONS, detections, 0.0)
        builder.break_track(truth, detections, switches=switched, fragments=fragmented)
        of_truth = (truth, scene.detections.track_ids[matched.detections])
        of_detections = (detections, scene.truth.track_ids[matched.targets])
        return builder.build(partner_tracks(aligned, of_truth, of_detections))

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Every measure."""
        del at
        rows = ScoredRows.of(outcomes, separate=self.parameters.classes == "separate")
        found = rows.truth & rows.matched
        tables = {
            COUNTS: rows.table(np.arange(len(rows.sequences)), _counts_of_rows(rows, self._rule)),
            MATCHES: rows.table(
                rows.cells[found],
                sums={"similarity": rows.similarities(self.parameters.similarity)[found]},
            ),
        }
        return figures_of_everything(self._blocks(tables))


def _values(counts: Mapping[str, int], matches: Total | None) -> dict[str, Number]:
    """Every measure."""
    true, missed, false = counts["matches"], counts["misses"], counts["false_positives"]
    switches, truth = counts["id_switches"], true + missed
    tracks = sum(counts[name] for name in ("mostly_tracked", "partially_tracked", "mostly_lost"))
    similarity = to_float(matches.sums["similarity"]) if matches else 0.0
    damped = math.log10(switches) if switches else 0.0
    return {
        "mota": ratio(true - false - switches, truth),
        "motp": similarity / true if true else None,
        "moda": ratio(true - false, truth),
        "smota": (similarity - false - switches) / truth if truth else None,
        "motal": (true - false - damped) / truth if truth else None,
        "recall": ratio(true, truth),
        "precision": ratio(true, true + false),
        "f1": 2 * true / (truth + true + false) if truth + true + false else 1.0,
        "mostly_tracked_share": ratio(counts["mostly_tracked"], tracks),
        "partially_tracked_share": ratio(counts["partially_tracked"], tracks),
        "mostly_lost_share": ratio(counts["mostly_lost"], tracks),
        **{name: counts[name] for name in _COUNT_NAMES},
        "false_positives_per_frame": ratio(false, counts["frames"]),
        "truth_objects": truth,
        "detections": true + false,
        "truth_tracks": tracks,
        "detection_tracks": counts["detection_tracks"],
    }


def _chain_counts(tracks: Tracks, matched: Candidates, rule: SwitchRule) -> dict[str, IntArray]:
    """(C,) counts of each chain, by name.

    Args:
        tracks: Tracks of a scene, in C chains.
        matched: Matched pairs.
        rule: The rule of the counts.
    """
    matches = tracks.by_chain(matched.targets, tracks.scene.truth)
    truth, detections = tracks.totals(tracks.truth), tracks.totals(tracks.detections)
    switched, fragmented = _breaks(tracks, matched, rule)
    return {
        "matches": matches,
        "misses": truth - matches,
        "false_positives": detections - matches,
        "id_switches": tracks.by_chain(matched.targets[switched], tracks.scene.truth),
        "fragmentations": tracks.by_chain(matched.targets[fragmented], tracks.scene.truth),
        **_lifetimes(tracks.truth, tracks.chain_count, matched.targets, rule),
        "frames": np.where((truth > 0) & (detections > 0), tracks.frame_counts, 0),
        "detection_tracks": np.bincount(tracks.detections.chains, minlength=tracks.chain_count),
    }


def _counts_of_rows(rows: ScoredRows, rule: SwitchRule) -> dict[str, IntArray]:
    """The same for outcomes, whose cells are chains."""
    truth, found = rows.truth, rows.truth & rows.matched
    tracks = tracks_of_rows(rows, Side.TRUTH)
    detection_tracks = tracks_of_rows(rows, Side.DETECTIONS)
    chain_count = len(rows.sequences)
    has_both = (rows.count(truth) > 0) & (rows.count(~truth) > 0)
    return {
        "matches": rows.count(found),
        "misses": rows.count(truth & ~rows.matched),
        "false_positives": rows.count(~truth & ~rows.matched),
        "id_switches": rows.count(truth & rows.outcomes.id_switches),
        "fragmentations": rows.count(truth & rows.outcomes.fragmentations),
        **_lifetimes(tracks, chain_count, np.flatnonzero(rows.matched[truth]), rule),
        "frames": np.where(has_both, rows.frame_counts, 0),
        "detection_tracks": np.bincount(detection_tracks.chains, minlength=chain_count),
    }


def _breaks(tracks: Tracks, matched: Candidates, rule: SwitchRule) -> tuple[IntArray, IntArray]:
    """Matches with another track than the object's last one, and matches after an interruption."""
    # Matches are in the order of detections, and therefore of frames.
    before = previous_occurrence(tracks.truth.of_objects[matched.targets])
    later = np.flatnonzero(before >= 0)
    earlier = before[later]
    partners = tracks.detections.of_objects[matched.detections]
    if rule == "motmetrics":
        moments = tracks.truth.places()[matched.targets]
    else:
        moments = tracks.shared_steps()[tracks.scene.truth.groups[matched.targets]]
    switched = partners[later] != partners[earlier]
    fragmented = moments[later] - moments[earlier] > 1
    return later[switched], later[fragmented]


def _lifetimes(
    truth: TrackSet, chain_count: int, matched: IntArray, rule: SwitchRule
) -> dict[str, IntArray]:
    """(C,) numbers of mostly tracked, partially tracked and mostly lost tracks.

    Args:
        truth: Tracks of the truth.
        chain_count: Number of chains C.
        matched: (M,) objects that are matched.
        rule: The rule of the limits.
    """
    found = np.bincount(truth.of_objects[matched], minlength=len(truth))
    # In integers: found / length > 0.8.
    margin = 5 * found - 4 * truth.lengths
    mostly: BoolArray = margin >= 0 if rule == "motmetrics" else margin > 0
    lost: BoolArray = 5 * found < truth.lengths
    kinds = {
        "mostly_tracked": mostly,
        "partially_tracked": ~(mostly | lost),
        "mostly_lost": lost,
    }
    return {
        name: np.bincount(truth.chains[kind], minlength=chain_count) for name, kind in kinds.items()
    }
