"""HOTA: how well objects are detected, and how well detections are held together as tracks.

Source: J. Luiten et al., "HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking",
International Journal of Computer Vision, 2020; trackeval's HOTA, with which every figure agrees to
1e-9; the trustworthiness paper, section 2. At a threshold alpha::

    HOTA = sqrt(DetA AssA)    DetA = TP / (TP + FN + FP)    AssA = mean over TP of A(c)
    A(c) = TPA / (TPA + FNA + FPA)    LocA = mean similarity of TP

and a figure is the mean over the thresholds: 0.05, 0.10, ..., 0.95 unless `thresholds` has others.
Each frame is matched once, by the greatest sum of similarity times global alignment, and every
threshold takes from that matching the pairs that are similar enough. The alignment of two tracks is
the Jaccard index of their frames, in which a frame counts by the share that the pair has of all
similarity around it.

Figures of many sequences come from their summed counts, AssA, AssRe, AssPr and LocA weighted by
TP, as trackeval combines sequences (and classes, "detection averaged"). `hota_class_mean` is the
mean over classes, trackeval's "class averaged".

Readings of this project:

1. A pair counts at a threshold where its similarity is at least alpha - `threshold_tolerance`,
   1e-9. trackeval allows 2**-52. The 19 thresholds are its multiples of 0.05, up to 2**-53 off.
2. As in trackeval, a threshold at which nothing is matched has AssA 0 and LocA 1 in the mean over
   thresholds. Where nothing is matched at any, all of AssA, AssRe, AssPr and LocA are undefined;
   so are DetRe without truth, DetPr without a detection and DetA without both. trackeval has 0
   there, and 1 for LocA.
3. Where there is neither truth nor detection, HOTA is 1, so that its dissimilarity of nothing and
   nothing is 0; trackeval has 0.
4. With base ``giou`` the similarity is (1 + GIoU) / 2, so that it lies in [0, 1] as HOTA needs it;
   every pair of a frame then comes into question.
5. `hota_class_mean` leaves out classes without truth; trackeval counts them as 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vidscore_evaluators._report_rows import (
    Figures,
    Scope,
    Total,
    blocks_with_class_means,
    mean,
    ratio,
    totals_by_part,
    totals_by_scope,
)
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.criterion import LEFT_OUT, CriterionParameters, left_out_table
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.evaluator import Averaging, Dissimilarity, Growth, Measure
from vidscore_evaluators.kernels import factorize
from vidscore_evaluators.matching import match_maximum_weight
from vidscore_evaluators.parameters import parameter
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

_COMPARED = {step / 20: 0.05 + (step - 1) * 0.05 for step in range(1, 20)}
"""The same with the bits that trackeval compares with: sums of 0.05."""

_PART = "threshold"


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


def _score(name: str, description: str) -> Measure:
    return Measure(name, description, dissimilarity=Dissimilarity.ONE_MINUS)


class Hota(TrackingCriterion[HotaParameters]):
    """HOTA and its parts: detection, association and localisation."""

    name = "hota"
    version = "1.2.0"
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
        _score("owta", "Mean over thresholds of the root of DetRe times AssA."),
        _score("hota_0", "HOTA at the threshold 0.05: trackeval's HOTA(0)."),
        _score("loc_a_0", "LocA at the threshold 0.05: trackeval's LocA(0)."),
        _score("hota_loc_a_0", "The product of both: trackeval's HOTALocA(0)."),
        Measure(
            "hota_class_mean",
            "Mean of HOTA over the classes of the truth.",
            averaging=Averaging.MEAN,
            dissimilarity=Dissimilarity.ONE_MINUS,
        ),
    )
    ranking = ("hota",)

    @property
    def growth(self) -> Growth:
        """For each sequence and class a row of counts, and two rows for each threshold."""
        counts = 3 * 8 + 2 * 8
        associations = 4 * 8 + 8 + 3 * 64
        localisations = 4 * 8 + 64
        row = counts + len(self._tallied) * (associations + localisations)
        return Growth("sequence", row * CHAINS_PER_SEQUENCE)

    @property
    def _tallied(self) -> tuple[float, ...]:
        """The thresholds that a tally holds, ascending: a sweep's, and those of the parameters."""
        return tuple(sorted({*THRESHOLDS, *self.parameters.thresholds}))

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
        names = _names(self._tallied)
        counts = {
            "truth": tracks.totals(tracks.truth),
            "detections": tracks.totals(tracks.detections),
        }
        return {
            COUNTS: count_table(tracks, counts),
            ASSOCIATIONS: _associations(tracks, pairs, pairs.of_candidates[chosen], passed, names),
            LOCALISATIONS: _localisations(tracks, candidates.take(chosen), passed, names),
            LEFT_OUT: left_out_table(scene),
        }

    def _passed_thresholds(self, similarities: FloatArray) -> IntArray:
        """How many of the thresholds each similarity passes."""
        compared = [_COMPARED.get(threshold, threshold) for threshold in self._tallied]
        least = np.array(list(map(self.parameters.least, compared)))
        return np.searchsorted(least, similarities, side="right").astype(np.int64)

    def scores(self, tally: Tally) -> Scores:
        """Means over thresholds, and the figures at each as curves."""
        sums, thresholds = self._sums(tally), self.parameters.thresholds
        curves = tuple(
            Curve("hota_by_threshold", levels.curve(thresholds), *scope[:2])
            for scope, levels in sums.items()
            if scope.sequence is None
        )
        return replace(self._bare_scores(tally, sums, thresholds), curves=curves)

    def grid_scores(self, tally: Tally, parameter: str) -> Mapping[float, Scores]:
        """Scores at every single threshold of the grid, without curves."""
        if parameter != "thresholds":
            return super().grid_scores(tally, parameter)
        sums = self._sums(tally)
        return {value: self._bare_scores(tally, sums, (value,)) for value in self.grid(parameter)}

    def _sums(self, tally: Tally) -> Mapping[Scope, _SumsByThreshold]:
        associations = totals_by_part(tally.tables[ASSOCIATIONS], _PART)
        localisations = totals_by_part(tally.tables[LOCALISATIONS], _PART)
        return {
            scope: _SumsByThreshold.of(
                self._tallied,
                total.counts,
                associations.get(scope, {}),
                localisations.get(scope, {}),
            )
            for scope, total in totals_by_scope(tally.tables[COUNTS]).items()
        }

    def _bare_scores(
        self, tally: Tally, sums: Mapping[Scope, _SumsByThreshold], thresholds: Sequence[float]
    ) -> Scores:
        figures = [Figures(*scope, levels.means(thresholds)) for scope, levels in sums.items()]
        counted = {scope for scope, levels in sums.items() if levels.truth}
        blocks = blocks_with_class_means(figures, {"hota_class_mean": "hota"}, counted)
        return Scores(blocks, (), self.scene_warnings(tally))


@dataclass(frozen=True, eq=False)
class _SumsByThreshold:
    """Matches at each of the K thresholds of a tally, and sums over them.

    Attributes:
        thresholds: The thresholds, ascending.
        truth: Objects of the truth.
        detections: Detections.
        matches: K counts of matches.
        sums: K sums over matches, by name: similarity, A(c), and its recall and precision.
    """

    thresholds: tuple[float, ...]
    truth: int
    detections: int
    matches: list[int]
    sums: Mapping[str, list[float]]

    @classmethod
    def of(
        cls,
        thresholds: tuple[float, ...],
        counts: Mapping[str, int],
        associations: Mapping[str, Total],
        localisations: Mapping[str, Total],
    ) -> _SumsByThreshold:
        """Bring together what a tally holds of one scope."""
        parts = _names(thresholds)
        exact: dict[str, list[int]] = {
            name: [associations[part].sums[name] if part in associations else 0 for part in parts]
            for name in ("ass_a", "ass_re", "ass_pr")
        }
        # A match counts at its own threshold and at all below.
        exact["loc_a"], running = [], 0
        for part in reversed(parts):
            running += localisations[part].sums["similarity"] if part in localisations else 0
            exact["loc_a"].insert(0, running)
        return cls(
            thresholds,
            counts["truth"],
            counts["detections"],
            [associations[part].counts["matches"] if part in associations else 0 for part in parts],
            {name: [to_float(value) for value in values] for name, values in exact.items()},
        )

    def means(self, thresholds: Sequence[float]) -> dict[str, Number]:
        """Every measure but the mean over classes, as the mean over some thresholds."""
        [first] = self._columns(THRESHOLDS[:1])
        hota, loc_a = self._levels["hota"][first], self._levels["loc_a"][first]
        chosen = self._columns(thresholds)
        means: dict[str, Number] = {
            name: mean(values[column] for column in chosen) for name, values in self._levels.items()
        }
        means |= {
            "hota_0": hota,
            "loc_a_0": loc_a,
            "hota_loc_a_0": None if hota is None or loc_a is None else hota * loc_a,
        }
        return means if self.truth + self.detections else means | {"hota": 1.0}

    def curve(self, thresholds: Sequence[float]) -> dict[str, list[float | None]]:
        """Every measure at each of some thresholds."""
        chosen = sorted(set(thresholds))
        columns = self._columns(chosen)
        levels = {
            name: [values[column] for column in columns] for name, values in self._levels.items()
        }
        true = [self.matches[column] for column in columns]
        counts: dict[str, list[float | None]] = {
            "true_positives": list(true),
            "false_negatives": [self.truth - matches for matches in true],
            "false_positives": [self.detections - matches for matches in true],
        }
        return {_PART: list(chosen), **levels, **counts}

    def _columns(self, thresholds: Sequence[float]) -> list[int]:
        return [self.thresholds.index(threshold) for threshold in thresholds]

    @cached_property
    def _levels(self) -> dict[str, list[float | None]]:
        """(K,) values of every measure that there is at a threshold."""
        det_a = [ratio(true, self.truth + self.detections - true) for true in self.matches]
        det_re = [ratio(true, self.truth) for true in self.matches]
        ass_a = self._of_matches("ass_a", 0.0)
        return {
            "hota": list(map(_root_of_product, det_a, ass_a)),
            "det_a": det_a,
            "ass_a": ass_a,
            "loc_a": self._of_matches("loc_a", 1.0),
            "det_re": det_re,
            "det_pr": [ratio(true, self.detections) for true in self.matches],
            "ass_re": self._of_matches("ass_re", 0.0),
            "ass_pr": self._of_matches("ass_pr", 0.0),
            "owta": list(map(_root_of_product, det_re, ass_a)),
        }

    def _of_matches(self, name: str, without: float) -> list[float | None]:
        """(K,) mean over matches; where there is none, a stand-in if others have some."""
        stand_in = without if any(self.matches) else None
        return [
            total / true if true else stand_in
            for total, true in zip(self.sums[name], self.matches, strict=True)
        ]


def _root_of_product(detection: float | None, association: float | None) -> float | None:
    """The geometric mean of a score of detection and one of association, which may be missing."""
    return None if detection is None else math.sqrt(detection * (association or 0.0))


def _names(thresholds: Sequence[float]) -> tuple[str, ...]:
    """Names of thresholds in tables."""
    return tuple(
        f"{threshold:.2f}" if threshold in _COMPARED else repr(threshold)
        for threshold in thresholds
    )


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
    tracks: Tracks,
    pairs: TrackPairs,
    matched_pairs: IntArray,
    passed: IntArray,
    names: Sequence[str],
) -> Table:
    """Matches, and sums of A(c), its recall and its precision over them, at each threshold.

    Args:
        tracks: Tracks of a scene.
        pairs: Pairs of tracks.
        matched_pairs: (M,) pair of the tracks of each match.
        passed: (M,) thresholds that each match passes.
        names: Names of the thresholds.
    """
    rows, of_matches, _ = factorize(matched_pairs)
    # Column k: matches that pass k thresholds; then those that pass threshold k and maybe more.
    columns = len(names) + 1
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
        (_PART, names, thresholds),
    )


def _localisations(
    tracks: Tracks, matched: Candidates, passed: IntArray, names: Sequence[str]
) -> Table:
    """Sums of similarities, each at the greatest threshold that it passes."""
    some = np.flatnonzero(passed)
    groups = tracks.scene.truth.groups[matched.targets[some]]
    return chain_table(
        tracks,
        tracks.group_chains[groups],
        {},
        {"similarity": matched.similarities[some]},
        (_PART, names, passed[some] - 1),
    )
