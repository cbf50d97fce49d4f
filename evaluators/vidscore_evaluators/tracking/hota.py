"""HOTA: how well objects are detected, and how well detections are held together as tracks.

Source: J. Luiten et al., "HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking",
International Journal of Computer Vision, 2020; trackeval's HOTA, with which every figure agrees to
1e-9; the trustworthiness paper, section 2. At a threshold alpha::

    HOTA = sqrt(DetA AssA)    DetA = TP / (TP + FN + FP)    AssA = mean over TP of A(c)
    A(c) = TPA / (TPA + FNA + FPA)    LocA = mean similarity of TP

and a figure is the mean over the 19 thresholds 0.05, 0.10, ..., 0.95. Each frame is matched once,
by the greatest sum of similarity times global alignment, and every threshold takes from that
matching the pairs that are similar enough. The alignment of two tracks is the Jaccard index of
their frames, in which a frame counts by the share that the pair has of all similarity around it.

Figures of many sequences come from their summed counts, AssA, AssRe, AssPr and LocA weighted by
TP, as trackeval combines sequences (and classes, "detection averaged").

Readings of this project:

1. A pair counts at a threshold where its similarity is at least alpha - `threshold_tolerance`,
   1e-9. trackeval allows 2**-52, and its thresholds are sums of 0.05, up to 2**-53 off.
2. As in trackeval, a threshold at which nothing is matched has AssA 0 and LocA 1 in the mean over
   thresholds. Where nothing is matched at any, all of AssA, AssRe, AssPr and LocA are undefined;
   so are DetRe without truth, DetPr without a detection and DetA without both. trackeval has 0
   there, and 1 for LocA.
3. Where there is neither truth nor detection, HOTA is 1, so that its dissimilarity of nothing and
   nothing is 0; trackeval has 0.
4. With base ``giou`` the similarity is (1 + GIoU) / 2, so that it lies in [0, 1] as HOTA needs it;
   every pair of a frame then comes into question.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators._report_rows import (
    Figures,
    Total,
    block_of,
    mean,
    ratio,
    totals_by_part,
    totals_by_scope,
)
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.criterion import LEFT_OUT, CriterionParameters, left_out_table
from vidscore_evaluators.evaluator import Dissimilarity, Growth, Measure
from vidscore_evaluators.kernels import factorize
from vidscore_evaluators.matching import match_maximum_weight
from vidscore_evaluators.report import Curve, Number, Scores
from vidscore_evaluators.similarity import Candidates
from vidscore_evaluators.tally import Table, Tally, to_float
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

THRESHOLDS = tuple(step / 20 for step in range(1, 20))
"""The 19 thresholds alpha."""

_NAMES = tuple(f"{threshold:.2f}" for threshold in THRESHOLDS)
_PART = "threshold"


@dataclass(frozen=True)
class HotaParameters(CriterionParameters):
    """Parameters of `Hota`."""


def _score(name: str, description: str) -> Measure:
    return Measure(name, description, dissimilarity=Dissimilarity.ONE_MINUS)


class Hota(TrackingCriterion[HotaParameters]):
    """HOTA and its parts: detection, association and localisation."""

    name = "hota"
    version = "1.1.0"
    title = "HOTA and its parts for detection, association and localisation, over 19 thresholds"
    Parameters = HotaParameters
    measures = (
        _score("hota", "Mean over thresholds of the root of DetA times AssA."),
        _score("det_a", "Detection accuracy: TP / (TP + FN + FP)."),
        _score("ass_a", "Association accuracy: mean Jaccard index of matched tracks."),
        _score("loc_a", "Localisation accuracy: mean similarity of matches."),
        _score("det_re", "Detection recall: TP / truth objects."),
        _score("det_pr", "Detection precision: TP / detections."),
        _score("ass_re", "Association recall: mean share of an object's frames in one track."),
        _score("ass_pr", "Association precision: mean share of a track's frames on one object."),
    )
    ranking = ("hota",)

    @property
    def growth(self) -> Growth:
        """For each sequence and class a row of counts, and two rows for each threshold."""
        counts = 3 * 8 + 2 * 8
        associations = 4 * 8 + 8 + 3 * 64
        localisations = 4 * 8 + 64
        row = counts + len(THRESHOLDS) * (associations + localisations)
        return Growth("sequence", row * CHAINS_PER_SEQUENCE)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Counts by sequence and class; sums of matches by threshold as well."""
        scene = self.scene(aligned)
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
        counts = {
            "truth": tracks.totals(tracks.truth),
            "detections": tracks.totals(tracks.detections),
        }
        return {
            COUNTS: count_table(tracks, counts),
            ASSOCIATIONS: _associations(tracks, pairs, pairs.of_candidates[chosen], passed),
            LOCALISATIONS: _localisations(tracks, candidates.take(chosen), passed),
            LEFT_OUT: left_out_table(scene),
        }

    def _passed_thresholds(self, similarities: FloatArray) -> IntArray:
        """How many of the thresholds each similarity passes."""
        least = np.array(list(map(self.parameters.least, THRESHOLDS)))
        return np.searchsorted(least, similarities, side="right").astype(np.int64)

    def scores(self, tally: Tally) -> Scores:
        """Means over thresholds, and the figures at each as curves."""
        associations = totals_by_part(tally.tables[ASSOCIATIONS], _PART)
        localisations = totals_by_part(tally.tables[LOCALISATIONS], _PART)
        curves, figures = [], []
        for scope, total in totals_by_scope(tally.tables[COUNTS]).items():
            levels = _SumsByThreshold.of(
                total.counts, associations.get(scope, {}), localisations.get(scope, {})
            )
            figures.append(Figures(*scope, levels.means()))
            if scope.sequence is None:
                curves.append(Curve("hota_by_threshold", levels.curve(), *scope[:2]))
        warnings = self.scene_warnings(tally)
        return Scores((block_of(figures),), tuple(curves), warnings)


@dataclass(frozen=True, eq=False)
class _SumsByThreshold:
    """Matches at each of the K thresholds, and sums over them.

    Attributes:
        truth: Objects of the truth.
        detections: Detections.
        matches: K counts of matches.
        sums: K sums over matches, by name: similarity, A(c), and its recall and precision.
    """

    truth: int
    detections: int
    matches: list[int]
    sums: Mapping[str, list[float]]

    @classmethod
    def of(
        cls,
        counts: Mapping[str, int],
        associations: Mapping[str, Total],
        localisations: Mapping[str, Total],
    ) -> _SumsByThreshold:
        """Bring together what a tally holds of one scope."""
        exact: dict[str, list[int]] = {
            name: [associations[part].sums[name] if part in associations else 0 for part in _NAMES]
            for name in ("ass_a", "ass_re", "ass_pr")
        }
        # A match counts at its own threshold and at all below.
        exact["loc_a"], running = [], 0
        for part in reversed(_NAMES):
            running += localisations[part].sums["similarity"] if part in localisations else 0
            exact["loc_a"].insert(0, running)
        return cls(
            counts["truth"],
            counts["detections"],
            [
                associations[part].counts["matches"] if part in associations else 0
                for part in _NAMES
            ],
            {name: [to_float(value) for value in values] for name, values in exact.items()},
        )

    def means(self) -> dict[str, Number]:
        """Every measure."""
        if self.truth + self.detections == 0:
            return {name: None for name in self.curve() if name != _PART} | {"hota": 1.0}
        return {name: mean(values) for name, values in self.curve().items() if name != _PART}

    def curve(self) -> dict[str, list[float | None]]:
        """Every measure at each threshold."""
        det_a = [ratio(true, self.truth + self.detections - true) for true in self.matches]
        ass_a = self._of_matches("ass_a", 0.0)
        return {
            _PART: list(THRESHOLDS),
            "hota": [
                None if det is None else math.sqrt(det * (ass or 0.0))
                for det, ass in zip(det_a, ass_a, strict=True)
            ],
            "det_a": det_a,
            "ass_a": ass_a,
            "loc_a": self._of_matches("loc_a", 1.0),
            "det_re": [ratio(true, self.truth) for true in self.matches],
            "det_pr": [ratio(true, self.detections) for true in self.matches],
            "ass_re": self._of_matches("ass_re", 0.0),
            "ass_pr": self._of_matches("ass_pr", 0.0),
        }

    def _of_matches(self, name: str, without: float) -> list[float | None]:
        """(K,) mean over matches; where there is none, a stand-in if others have some."""
        stand_in = without if any(self.matches) else None
        return [
            total / true if true else stand_in
            for total, true in zip(self.sums[name], self.matches, strict=True)
        ]


def _in_unit_range(candidates: Candidates, minimum: float) -> Candidates:
    """The same pairs with similarities in [0, 1]; those that lie there already stay as they are."""
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


def _associations(
    tracks: Tracks, pairs: TrackPairs, matched_pairs: IntArray, passed: IntArray
) -> Table:
    """Matches, and sums of A(c), its recall and its precision over them, at each threshold.

    Args:
        tracks: Tracks of a scene.
        pairs: Pairs of tracks.
        matched_pairs: (M,) pair of the tracks of each match.
        passed: (M,) thresholds that each match passes.
    """
    rows, of_matches, _ = factorize(matched_pairs)
    # Column k: matches that pass k thresholds; then those that pass threshold k and maybe more.
    columns = len(THRESHOLDS) + 1
    cells = np.bincount(of_matches * columns + passed, minlength=len(rows) * columns)
    at_least = np.cumsum(cells.reshape(-1, columns)[:, ::-1], axis=1)[:, -2::-1]
    of_rows, thresholds = np.nonzero(at_least)
    together = at_least[of_rows, thresholds]
    truth, detections = pairs.truth[rows[of_rows]], pairs.detections[rows[of_rows]]
    of_truth, of_detections = tracks.truth.lengths[truth], tracks.detections.lengths[detections]
    denominators: dict[str, IntArray] = {
        "ass_a": of_truth + of_detections - together,
        "ass_re": of_truth,
        "ass_pr": of_detections,
    }
    return chain_table(
        tracks,
        tracks.truth.chains[truth],
        {"matches": together},
        # Each match of a pair of tracks adds its share.
        {name: together * (together / whole) for name, whole in denominators.items()},
        (_PART, _NAMES, thresholds),
    )


def _localisations(tracks: Tracks, matched: Candidates, passed: IntArray) -> Table:
    """Sums of similarities, each at the greatest threshold that it passes."""
    some = np.flatnonzero(passed)
    groups = tracks.scene.truth.groups[matched.targets[some]]
    return chain_table(
        tracks,
        tracks.group_chains[groups],
        {},
        {"similarity": matched.similarities[some]},
        (_PART, _NAMES, passed[some] - 1),
    )
