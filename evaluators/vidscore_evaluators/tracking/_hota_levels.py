"""HOTA's figures at each threshold, from counts of matches and sums over matches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from vidscore_evaluators._report_rows import Total, mean, ratio
from vidscore_evaluators._scene_outcomes import ScoredRows
from vidscore_evaluators.arrays import FloatArray, IntArray, run_starts
from vidscore_evaluators.exact_sums import ExactSums, to_float
from vidscore_evaluators.outcome_table import NO_PARTNER
from vidscore_evaluators.report import Number
from vidscore_evaluators.similarity import Similarity
from vidscore_evaluators.tracking._outcomes import PARTNER_TRACK

THRESHOLDS = tuple(step / 20 for step in range(1, 20))
"""The 19 thresholds alpha."""

COMPARED = {step / 20: 0.05 + (step - 1) * 0.05 for step in range(1, 20)}
"""The thresholds as the binary64 numbers that trackeval compares with: sums of 0.05."""

PART = "threshold"
"""Key column of tables by threshold."""

ASSOCIATION_SUMS = ("ass_a", "ass_re", "ass_pr")
"""Sums over matches: of A(c), its recall and its precision."""


class SumsByThreshold(Struct, frozen=True, eq=False, dict=True):
    """Matches at each of the K thresholds of a tally, and sums over them.

    Attributes:
        thresholds: The thresholds, ascending.
        truth: Objects of the truth.
        detections: Detections.
        matches: K counts of matches.
        sums: K sums over matches, by name: similarity, A(c), and its recall and precision.
        any_match: Whether anything is matched at any threshold, these or others.
    """

    thresholds: tuple[float, ...]
    truth: int
    detections: int
    matches: list[int]
    sums: Mapping[str, list[float]]
    any_match: bool

    @classmethod
    def of(
        cls,
        thresholds: tuple[float, ...],
        counts: Mapping[str, int],
        associations: Mapping[str, Total],
        localisations: Mapping[str, Total],
    ) -> SumsByThreshold:
        """Combine the parts of a tally for one scope."""
        parts = threshold_names(thresholds)
        exact: dict[str, list[int]] = {
            name: [associations[part].sums[name] if part in associations else 0 for part in parts]
            for name in ASSOCIATION_SUMS
        }
        # A match counts at its own threshold and at all lower ones.
        exact["loc_a"], running = [], 0
        for part in reversed(parts):
            running += localisations[part].sums["similarity"] if part in localisations else 0
            exact["loc_a"].insert(0, running)
        matches = [
            associations[part].counts["matches"] if part in associations else 0 for part in parts
        ]
        return cls(
            thresholds,
            counts["truth"],
            counts["detections"],
            matches,
            {name: [to_float(value) for value in values] for name, values in exact.items()},
            any(matches),
        )

    def means(self, thresholds: Sequence[float]) -> dict[str, Number]:
        """Every measure that is a mean over thresholds, for some of them."""
        chosen = self._columns(thresholds)
        means: dict[str, Number] = {
            name: mean(values[column] for column in chosen) for name, values in self._levels.items()
        }
        return means if self.truth + self.detections else means | {"hota": 1.0}

    def at_first_threshold(self) -> dict[str, Number]:
        """The measures of the first of `THRESHOLDS`."""
        [first] = self._columns(THRESHOLDS[:1])
        hota, loc_a = self._levels["hota"][first], self._levels["loc_a"][first]
        return {
            "hota_0": hota,
            "loc_a_0": loc_a,
            "hota_loc_a_0": None if hota is None or loc_a is None else hota * loc_a,
        }

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
        return {PART: list(chosen), **levels, **counts}

    def _columns(self, thresholds: Sequence[float]) -> list[int]:
        return [self.thresholds.index(threshold) for threshold in thresholds]

    @cached_property
    def _levels(self) -> dict[str, list[float | None]]:
        """(K,) values of every measure that is defined per threshold."""
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
        """(K,) mean over matches; without any, a substitute, if other thresholds have some."""
        stand_in = without if self.any_match else None
        return [
            total / true if true else stand_in
            for total, true in zip(self.sums[name], self.matches, strict=True)
        ]


def _root_of_product(detection: float | None, association: float | None) -> float | None:
    """The geometric mean of a detection and an association score, either of which may be None."""
    return None if detection is None else math.sqrt(detection * (association or 0.0))


def threshold_names(thresholds: Sequence[float]) -> tuple[str, ...]:
    """Names of thresholds in tables."""
    return tuple(
        f"{threshold:.2f}" if threshold in COMPARED else repr(threshold) for threshold in thresholds
    )


def levels_of_rows(rows: ScoredRows, similarity: Similarity, threshold: float) -> SumsByThreshold:
    """The sums of a tally at one threshold, computed from outcomes of HOTA."""
    truth, found = rows.truth, rows.truth & rows.matched
    together, shares = _shares_of_rows(rows)
    sums = {name: together * share for name, share in shares.items()}
    sums["loc_a"] = rows.similarities(similarity)[found]
    return SumsByThreshold(
        (threshold,),
        int(np.count_nonzero(truth)),
        int(np.count_nonzero(~truth)),
        [int(np.count_nonzero(found))],
        {name: [_exact_sum(values)] for name, values in sums.items()},
        bool((rows.outcomes.partners != NO_PARTNER).any()),
    )


def _shares_of_rows(rows: ScoredRows) -> tuple[IntArray, dict[str, FloatArray]]:
    """(K,) matches of each pair of tracks, and A(c), its recall and its precision."""
    found = np.flatnonzero(rows.truth & rows.matched)
    table = rows.outcomes
    keys = (rows.cells[found], table.tracks[found], table.columns[PARTNER_TRACK][found])
    order = np.lexsort(keys)
    first = run_starts(*(key[order] for key in keys))
    columns = (table.shares, table.columns["ass_re"], table.columns["ass_pr"])
    one_each = found[order[first]]
    return np.diff(first, append=len(order)), {
        name: column[one_each] for name, column in zip(ASSOCIATION_SUMS, columns, strict=True)
    }


def _exact_sum(values: FloatArray) -> float:
    """The sum of (N,) values, rounded once."""
    return to_float(ExactSums.of(values, np.zeros(len(values), dtype=np.int64), 1).total())
