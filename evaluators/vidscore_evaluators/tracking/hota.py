"""HOTA: how well objects are detected, and how well detections are associated as tracks.

Source: J. Luiten et al., "HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking",
International Journal of Computer Vision, 2020; trackeval's HOTA, with which every figure agrees to
1e-9; the trustworthiness paper, section 2. At a threshold alpha::

    HOTA = sqrt(DetA AssA)    DetA = TP / (TP + FN + FP)    AssA = mean over TP of A(c)
    A(c) = TPA / (TPA + FNA + FPA)    LocA = mean similarity of TP

and a figure is the mean over the thresholds: 0.05, 0.10, ..., 0.95 unless `thresholds` has others.
Each frame is matched once, with the greatest sum of similarity times alignment; at each threshold,
the pairs that are similar enough count. The alignment of two tracks is the Jaccard index of their
frames. A frame counts by the similarity of the pair as a fraction of all similarity that involves
either of its two objects.

Figures over several sequences are computed from their summed counts, with AssA, AssRe, AssPr and
LocA weighted by TP, as trackeval combines sequences (and classes, "detection averaged").
`hota_class_mean` is the mean over classes, trackeval's "class averaged".

Readings of this project:

1. A pair counts at a threshold if its similarity is at least alpha - `threshold_tolerance`, 1e-9.
   trackeval allows 2**-52. The 19 thresholds are trackeval's multiples of 0.05, which are off by up
   to 2**-53.
2. As in trackeval, a threshold at which nothing is matched has AssA 0 and LocA 1 in the mean over
   thresholds. If nothing is matched at any threshold, neither of ``thresholds`` nor from 0.05 to
   0.95, AssA, AssRe, AssPr and LocA are undefined. DetRe is undefined without truth, DetPr without
   a detection and DetA without both. In these cases trackeval returns 0, and 1 for LocA.
3. If there is neither truth nor detection, `hota` is 1, so that its dissimilarity of two empty sets
   is 0; trackeval returns 0. All other figures are then undefined, also `hota_0` and the curve.
4. With base ``giou`` the similarity is (1 + GIoU) / 2, which lies in [0, 1] as HOTA needs it, and
   every pair of a frame is a candidate.
5. `hota_class_mean` leaves out classes without truth; trackeval counts them as 0.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators._report_rows import (
    Figures,
    Scope,
    blocks_with_class_means,
    totals_by_part,
    totals_by_scope,
)
from vidscore_evaluators._scene_outcomes import (
    ScoredRows,
    figures_of_everything,
    match_pairs,
    relate_pairs,
    unmatched_builder,
)
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.criterion import (
    LEFT_OUT,
    CriterionParameters,
    left_out_table,
    score_measure,
)
from vidscore_evaluators.deferred import Deferred
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Averaging, Growth
from vidscore_evaluators.keys import factorize
from vidscore_evaluators.matching import match_maximum_weight
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Curve, Number, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Candidates
from vidscore_evaluators.tally import Table, Tally
from vidscore_evaluators.tracking._hota_levels import (
    COMPARED,
    PART,
    THRESHOLDS,
    SumsByThreshold,
    levels_of_rows,
    threshold_names,
)
from vidscore_evaluators.tracking._outcomes import partner_tracks
from vidscore_evaluators.tracking._tracks import (
    CHAINS_PER_SEQUENCE,
    EPSILON,
    TrackingCriterion,
    TrackPairs,
    Tracks,
    chain_table,
    count_table,
    similar_pairs,
)

COUNTS = "counts"
ASSOCIATIONS = "associations"
LOCALISATIONS = "localisations"

OWN_THRESHOLD = 0.5
"""Default threshold of outcomes, if it is among the thresholds."""


@dataclass(frozen=True)
class HotaParameters(CriterionParameters):
    """Parameters of `Hota`."""

    thresholds: tuple[float, ...] = parameter(
        THRESHOLDS,
        "Least similarities of a match; figures are means over them.",
        minimum=0.0,
        maximum=1.0,
        grid=THRESHOLDS,
    )

    def faults(self) -> Iterator[Fault]:
        """At least one threshold is needed."""
        yield from super().faults()
        if not self.thresholds:
            yield Fault("no threshold", "at least one", field="thresholds")


class Hota(TrackingCriterion[HotaParameters]):
    """HOTA and its parts: detection, association and localisation."""

    name = "hota"
    version = "1.3.0"
    title = "HOTA and its parts for detection, association and localisation, over 19 thresholds"
    Parameters = HotaParameters
    measures = (
        score_measure("hota", "Mean over thresholds of the square root of DetA times AssA."),
        score_measure("det_a", "Detection accuracy: TP / (TP + FN + FP)."),
        score_measure("ass_a", "Association accuracy: mean Jaccard index of matched tracks."),
        score_measure("loc_a", "Localisation accuracy: mean similarity of matches."),
        score_measure("det_re", "Detection recall: TP / truth objects."),
        score_measure("det_pr", "Detection precision: TP / detections."),
        score_measure(
            "ass_re", "Association recall: mean fraction of an object's frames in one track."
        ),
        score_measure(
            "ass_pr", "Association precision: mean fraction of a track's frames on one object."
        ),
        score_measure("owta", "Mean over thresholds of the square root of DetRe times AssA."),
        score_measure("hota_0", "HOTA at the threshold 0.05: trackeval's HOTA(0)."),
        score_measure("loc_a_0", "LocA at the threshold 0.05: trackeval's LocA(0)."),
        score_measure("hota_loc_a_0", "The product of both: trackeval's HOTALocA(0)."),
        score_measure(
            "hota_class_mean",
            "Mean of HOTA over the classes of the truth.",
            averaging=Averaging.MEAN,
        ),
    )
    ranking = ("hota",)

    @property
    def growth(self) -> Growth:
        """Per sequence and class one row of counts, and two rows per threshold."""
        counts = 3 * 8 + 2 * 8
        associations = 4 * 8 + 8 + 3 * 64
        localisations = 4 * 8 + 64
        row = counts + len(self._tallied) * (associations + localisations)
        return Growth("sequence", row * CHAINS_PER_SEQUENCE)

    @property
    def _tallied(self) -> tuple[float, ...]:
        """The thresholds in a tally, ascending: those of a sweep and of the parameters."""
        return tuple(sorted({*THRESHOLDS, *self.parameters.thresholds}))

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts by sequence and class; sums of matches by threshold as well."""
        scene = self.scene(aligned)
        found = self._matching(scene)
        tracks, names = found.tracks, threshold_names(self._tallied)
        counts = {
            "truth": tracks.totals(tracks.truth),
            "detections": tracks.totals(tracks.detections),
        }
        return {
            COUNTS: count_table(tracks, counts),
            ASSOCIATIONS: _associations(found, names),
            LOCALISATIONS: _localisations(found, names),
            LEFT_OUT: left_out_table(scene),
        }

    def _matching(self, scene: Scene) -> _Matching:
        """Match every frame once."""
        tracks = Tracks.of(scene)
        candidates = _in_unit_range(
            similar_pairs(scene, self.parameters.similarity, -math.inf),
            self.parameters.similarity.minimum,
        )
        pairs = TrackPairs.of(tracks, candidates)
        scores = _alignments(tracks, candidates, pairs)[pairs.of_candidates]
        scores *= candidates.similarities
        sizes = (len(scene.detections), len(scene.truth))
        chosen = match_maximum_weight(candidates.pairs, scores, *sizes)
        passed = self._passed_thresholds(candidates.similarities[chosen])
        return _Matching(
            tracks, pairs, candidates.take(chosen), pairs.of_candidates[chosen], passed
        )

    def _passed_thresholds(self, similarities: FloatArray) -> IntArray:
        """Number of thresholds that each similarity meets."""
        compared = [COMPARED.get(threshold, threshold) for threshold in self._tallied]
        least = np.array(list(map(self.parameters.least, compared)))
        return np.searchsorted(least, similarities, side="right").astype(np.int64)

    def scores(self, tally: Tally) -> Scores:
        """Means over thresholds, and the figures at each as curves."""
        sums, thresholds = self._sums(tally), self.parameters.thresholds
        bare = self._bare_scores(tally, sums, thresholds)
        return dataclasses.replace(bare, curves=Deferred(lambda: tuple(_curves(sums, thresholds))))

    def grid_scores(self, tally: Tally, parameter: str) -> Mapping[float, Scores]:
        """Scores at every single threshold of the grid, without curves."""
        if parameter != "thresholds":
            return super().grid_scores(tally, parameter)
        sums = self._sums(tally)
        return {value: self._bare_scores(tally, sums, (value,)) for value in self.grid(parameter)}

    def _sums(self, tally: Tally) -> Mapping[Scope, SumsByThreshold]:
        associations = totals_by_part(tally.tables[ASSOCIATIONS], PART)
        localisations = totals_by_part(tally.tables[LOCALISATIONS], PART)
        return {
            scope: SumsByThreshold.of(
                self._tallied,
                total.counts,
                associations.get(scope, {}),
                localisations.get(scope, {}),
            )
            for scope, total in totals_by_scope(tally.tables[COUNTS]).items()
        }

    def _bare_scores(
        self, tally: Tally, sums: Mapping[Scope, SumsByThreshold], thresholds: Sequence[float]
    ) -> Scores:
        figures = [
            Figures(*scope, levels.means(thresholds) | levels.at_first_threshold())
            for scope, levels in sums.items()
        ]
        counted = {scope for scope, levels in sums.items() if levels.truth}
        blocks = blocks_with_class_means(figures, {"hota_class_mean": "hota"}, counted)
        return Scores(blocks, (), self.scene_warnings(tally))

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """Matches at one threshold, and objects and detections without one.

        The threshold is 0.5 by default, or the first of `thresholds` if 0.5 is not among them. A
        pair that is matched only at a lower threshold is not a match here; each is the other's
        partner. Shares are A(c), on the object of each match: with TP, FN and FP at the threshold,
        HOTA squared is their sum / (TP + FN + FP). Further columns: ``partner_track`` has the track
        that a row is matched with; ``ass_re`` and ``ass_pr`` have the recall and the precision of a
        match's association.
        """
        threshold = self._threshold(at)
        scene = self.scene(aligned, traced=True)
        at_any = self._matching(scene).at_least(1)
        found = at_any.at_least(self._tallied.index(threshold) + 1)
        matched = found.matched
        builder = unmatched_builder(aligned, scene)
        relate_pairs(builder, scene, self.parameters.similarity, at_any.matched)
        match_pairs(builder, scene, self.parameters.similarity, matched)
        together = np.bincount(found.of_matches, minlength=len(found.pairs))[found.of_matches]
        shares = _association_shares(found, found.of_matches, together)
        truth = scene.truth.traced[matched.targets]
        detections = scene.detections.traced[matched.detections]
        builder.share(Side.TRUTH, truth, shares["ass_a"])
        of_truth = (truth, scene.detections.track_ids[matched.detections])
        of_detections = (detections, scene.truth.track_ids[matched.targets])
        columns = dict(partner_tracks(aligned, of_truth, of_detections))
        for name in ("ass_re", "ass_pr"):
            columns[name] = {
                side: _spread(annotations.object_count, rows, shares[name])
                for side, annotations, rows in (
                    (Side.TRUTH, aligned.truth, truth),
                    (Side.DETECTIONS, aligned.detections, detections),
                )
            }
        return builder.build(columns)

    def _threshold(self, at: OperatingPoint) -> float:
        """The threshold of an operating point."""
        at.check(self.name, self._tallied)
        own = self.parameters.thresholds
        if at.threshold is not None:
            return at.threshold
        return OWN_THRESHOLD if OWN_THRESHOLD in own else own[0]

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Figures of the report at the threshold: counts of its curve, and measures.

        Measures are means over `thresholds`, so they are included if there is only one; at 0.05
        ``hota_0``, ``loc_a_0`` and ``hota_loc_a_0`` are. `outcome_point` has the whole point of a
        curve.
        """
        threshold, own = self._threshold(at), self.parameters.thresholds
        rows = ScoredRows.of(outcomes, separate=self.parameters.classes == "separate")
        levels = self._levels_of(rows, threshold)
        point = levels.curve((threshold,))
        names = ("true_positives", "false_negatives", "false_positives")
        figures: dict[str, Number] = {name: point[name][0] for name in names}
        if threshold == THRESHOLDS[0]:
            figures |= levels.at_first_threshold()
        if set(own) == {threshold}:
            figures |= self._single_figures(rows, levels, threshold)
        return figures

    def outcome_point(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """The point of the curve ``hota_by_threshold`` at the threshold of some outcomes.

        Args:
            outcomes: Outcomes of this evaluator.
            at: Their operating point.
        """
        rows = ScoredRows.of(outcomes, separate=self.parameters.classes == "separate")
        threshold = self._threshold(at)
        curve = self._levels_of(rows, threshold).curve((threshold,))
        return {name: values[0] for name, values in curve.items()}

    def _levels_of(self, rows: ScoredRows, threshold: float) -> SumsByThreshold:
        return levels_of_rows(rows, self.parameters.similarity, threshold)

    def _single_figures(
        self, rows: ScoredRows, levels: SumsByThreshold, threshold: float
    ) -> dict[str, Number]:
        """Measures over a single threshold, if it is that of the outcomes."""
        scopes = {Scope(): levels}
        for label in sorted({rows.label_names[label] for label in rows.labels.tolist()} - {""}):
            scopes[Scope(label=label)] = self._levels_of(rows.of_label(label), threshold)
        figures = [Figures(*scope, own.means((threshold,))) for scope, own in scopes.items()]
        counted = {scope for scope, own in scopes.items() if own.truth}
        return figures_of_everything(
            blocks_with_class_means(figures, {"hota_class_mean": "hota"}, counted)
        )


class _Matching(Struct, frozen=True, eq=False):
    """The M pairs that are matched, before any threshold.

    Attributes:
        tracks: Tracks of the scene.
        pairs: Pairs of tracks.
        matched: The pairs of an object and a detection, with similarities in [0, 1].
        of_matches: (M,) pair of the tracks of each match.
        passed: (M,) number of thresholds that each meets.
    """

    tracks: Tracks
    pairs: TrackPairs
    matched: Candidates
    of_matches: IntArray
    passed: IntArray

    def at_least(self, thresholds: int) -> _Matching:
        """Only the matches that meet at least `thresholds` thresholds."""
        rows = self.passed >= thresholds
        return structs.replace(
            self,
            matched=self.matched.take(rows),
            of_matches=self.of_matches[rows],
            passed=self.passed[rows],
        )


def _curves(sums: Mapping[Scope, SumsByThreshold], thresholds: Sequence[float]) -> Iterator[Curve]:
    """The figures at each threshold, of every scope but single sequences."""
    for scope, levels in sums.items():
        if scope.sequence is None:
            yield Curve("hota_by_threshold", levels.curve(thresholds), *scope[:2])


def _in_unit_range(candidates: Candidates, minimum: float) -> Candidates:
    """The same pairs with similarities mapped to [0, 1], if they do not lie there already."""
    similarities = (candidates.similarities - minimum) / (1.0 - minimum)
    return Candidates(candidates.detections, candidates.targets, similarities)


def _alignments(tracks: Tracks, candidates: Candidates, pairs: TrackPairs) -> FloatArray:
    """(P,) Jaccard alignment of each pair of tracks (section 5.3 of the HOTA paper)."""
    similarities = candidates.similarities
    around = (
        np.bincount(candidates.detections, similarities)[candidates.detections]
        + np.bincount(candidates.targets, similarities)[candidates.targets]
        - similarities
    )
    shares = np.divide(
        similarities, around, out=np.zeros_like(similarities), where=around > EPSILON
    )
    shared = np.bincount(pairs.of_candidates, shares, minlength=len(pairs))
    lengths = tracks.truth.lengths[pairs.truth] + tracks.detections.lengths[pairs.detections]
    alignments: FloatArray = shared / (lengths - shared)
    return alignments


def _associations(found: _Matching, names: Sequence[str]) -> Table:
    """Matches, and their sums of A(c), its recall and its precision, at each threshold."""
    tracks, pairs = found.tracks, found.pairs
    rows, of_matches, _ = factorize(found.of_matches)
    # Column k: matches that meet exactly k thresholds; then, at least k.
    columns = len(names) + 1
    cells = np.bincount(of_matches * columns + found.passed, minlength=len(rows) * columns)
    at_least = np.cumsum(cells.reshape(-1, columns)[:, ::-1], axis=1)[:, -2::-1]
    of_rows, thresholds = np.nonzero(at_least)
    together = at_least[of_rows, thresholds]
    shares = _association_shares(found, rows[of_rows], together)
    return chain_table(
        tracks,
        tracks.truth.chains[pairs.truth[rows[of_rows]]],
        {"matches": together},
        # Each match of a pair of tracks adds the pair's value.
        {name: together * share for name, share in shares.items()},
        (PART, names, thresholds),
    )


def _association_shares(
    found: _Matching, pairs: IntArray, together: IntArray
) -> dict[str, FloatArray]:
    """A(c), its recall and its precision, of matches of (K,) pairs of tracks.

    Args:
        found: The matching.
        pairs: (K,) pairs of tracks.
        together: (K,) matches of each.
    """
    of_truth = found.tracks.truth.lengths[found.pairs.truth[pairs]]
    of_detections = found.tracks.detections.lengths[found.pairs.detections[pairs]]
    return {
        "ass_a": together / (of_truth + of_detections - together),
        "ass_re": together / of_truth,
        "ass_pr": together / of_detections,
    }


def _localisations(found: _Matching, names: Sequence[str]) -> Table:
    """Sums of similarities, each at the greatest threshold that it meets."""
    tracks, matched = found.tracks, found.matched
    some = np.flatnonzero(found.passed)
    groups = tracks.scene.truth.groups[matched.targets[some]]
    return chain_table(
        tracks,
        tracks.group_chains[groups],
        {},
        {"similarity": matched.similarities[some]},
        (PART, names, found.passed[some] - 1),
    )


def _spread(count: int, rows: IntArray, values: FloatArray) -> FloatArray:
    """(count,) values at some rows, NaN elsewhere."""
    column = np.full(count, np.nan)
    column[rows] = values
    return column
