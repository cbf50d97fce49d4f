"""Scores of spotGEO out of its tally; every figure is a ratio of integers, rounded once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import or_

import numpy as np

from vidscore_evaluators.arrays import IntArray, run_starts
from vidscore_evaluators.evaluator import Direction, Dissimilarity, Measure, count_measure
from vidscore_evaluators.protocols.spotgeo.parameters import SpotGeoParameters
from vidscore_evaluators.protocols.spotgeo.tallying import LEFT_OUT, SEQUENCES
from vidscore_evaluators.report import Block, Number, ReportWarning, Scores
from vidscore_evaluators.tally import SCALE_BITS, Table, Tally

MEASURES = (
    count_measure("true_positives", "Detections that are matched to an object (eq. 9)."),
    count_measure(
        "false_negatives", "Objects that no detection is matched to (eq. 9).", Direction.LOWER
    ),
    count_measure(
        "false_positives", "Detections that are matched to no object (eq. 9).", Direction.LOWER
    ),
    Measure("precision", "TP / (TP + FP) (eq. 14); 0 where nothing was detected."),
    Measure("recall", "TP / (TP + FN) (eq. 15); 0 where there is no object."),
    Measure(
        "f1",
        "2 TP / (2 TP + FN + FP) (eq. 16); 1 where there is neither object nor detection.",
        dissimilarity=Dissimilarity.ONE_MINUS,
    ),
    Measure(
        "one_minus_f1",
        "1 - F1, the first figure of the challenge's leaderboard.",
        direction=Direction.LOWER,
        dissimilarity=Dissimilarity.VALUE,
    ),
    Measure(
        "sse",
        "Regression errors of the true positives, and tau^2 for each miss and false alarm"
        " (eqs. 10 and 12).",
        unit="px^2",
        maximum=None,
        direction=Direction.LOWER,
        dissimilarity=Dissimilarity.VALUE,
    ),
    Measure(
        "mse",
        "SSE / (TP + FN + FP) (eqs. 13 and 17); in profile kelvins, of more than one sequence,"
        " the sum of this over the sequences.",
        unit="px^2",
        maximum=None,
        direction=Direction.LOWER,
        dissimilarity=Dissimilarity.VALUE,
    ),
)


@dataclass(frozen=True, eq=False)
class _Counts:
    """Counts and SSE of K sequences, the SSE in the unit of `_ErrorUnit`.

    Attributes:
        true_positives: (K,) TP.
        false_negatives: (K,) FN.
        false_positives: (K,) FP.
        sse: K whole numbers.
    """

    true_positives: IntArray
    false_negatives: IntArray
    false_positives: IntArray
    sse: list[int]

    @property
    def decisions(self) -> list[int]:
        """TP + FN + FP of each."""
        decisions: list[int] = (
            self.true_positives + self.false_negatives + self.false_positives
        ).tolist()
        return decisions

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """Sums of the four columns."""
        counts = (self.true_positives, self.false_negatives, self.false_positives)
        hits, misses, alarms = (int(column.sum()) for column in counts)
        return hits, misses, alarms, sum(self.sse)

    def take(self, rows: IntArray) -> _Counts:
        """Some of the sequences."""
        return _Counts(
            self.true_positives[rows],
            self.false_negatives[rows],
            self.false_positives[rows],
            [self.sse[row] for row in rows.tolist()],
        )


class _ErrorUnit:
    """The largest power of two in which tau^2 and every error are whole numbers.

    Errors are kept in so small a unit that their numbers end in hundreds of zero bits, with which
    nobody wants to calculate.
    """

    def __init__(self, tau_px: float, exact_errors: list[int]) -> None:
        square = Fraction(tau_px) ** 2
        joined = reduce(or_, exact_errors, 1 << SCALE_BITS)
        spare_bits = (joined & -joined).bit_length() - 1
        bits = max(SCALE_BITS - spare_bits, square.denominator.bit_length() - 1)
        self.scale = 1 << bits
        self._shift = bits - SCALE_BITS
        self._tau_square = int(square * self.scale)

    def sse(self, exact_errors: list[int], mistakes: list[int]) -> list[int]:
        """Sums of squared errors (eqs. 10 and 12)."""
        left, right = max(self._shift, 0), max(-self._shift, 0)
        return [
            (error >> right << left) + count * self._tau_square
            for error, count in zip(exact_errors, mistakes, strict=True)
        ]


def scores_of(parameters: SpotGeoParameters, tally: Tally) -> Scores:
    """Scores of the whole set, of each named domain, and of each sequence."""
    table = tally.tables[SEQUENCES]
    errors = table.exact("regression_error")
    unit = _ErrorUnit(parameters.tau, errors)
    sequences = _sequence_counts(table, errors, unit)
    codes = table.codes("domain")
    first = run_starts(codes)
    names = [table.vocabulary[code] for code in codes[first].tolist()]
    rows = np.split(np.arange(table.row_count), first[1:])
    named = {name: sequences.take(mine) for name, mine in zip(names, rows, strict=False) if name}
    return Scores(
        blocks=(
            _set_block([None], [sequences], parameters, unit),
            _set_block(list(named), list(named.values()), parameters, unit),
            _sequence_block(table, sequences, unit),
        ),
        warnings=_warnings(tally.tables[LEFT_OUT]),
    )


def _sequence_counts(table: Table, errors: list[int], unit: _ErrorUnit) -> _Counts:
    misses, alarms = table.count("false_negatives"), table.count("false_positives")
    sse = unit.sse(errors, (misses + alarms).tolist())
    return _Counts(table.count("true_positives"), misses, alarms, sse)


def _sequence_block(table: Table, sequences: _Counts, unit: _ErrorUnit) -> Block:
    scale, columns = unit.scale, (sequences.sse, sequences.decisions)
    return Block(
        domains=[domain or None for domain in table.texts("domain")],
        sequences=table.texts("sequence"),
        measures={
            "true_positives": sequences.true_positives.tolist(),
            "false_negatives": sequences.false_negatives.tolist(),
            "false_positives": sequences.false_positives.tolist(),
            "sse": [sse / scale for sse in sequences.sse],
            "mse": [
                sse / (count * scale) if count else 0.0 for sse, count in zip(*columns, strict=True)
            ],
        },
    )


def _set_block(
    domains: Sequence[str | None],
    sets: Sequence[_Counts],
    parameters: SpotGeoParameters,
    unit: _ErrorUnit,
) -> Block:
    """A row of measures for each set of sequences."""
    rows = [_set_scores(sequences, parameters, unit) for sequences in sets]
    return Block(
        domains=domains,
        measures={measure.name: [row[measure.name] for row in rows] for measure in MEASURES},
    )


def _set_scores(
    sequences: _Counts, parameters: SpotGeoParameters, unit: _ErrorUnit
) -> dict[str, Number]:
    """Every measure of one set of sequences (eqs. 14 to 17)."""
    hits, misses, alarms, sse = sequences.totals
    mistakes = misses + alarms
    return {
        "true_positives": hits,
        "false_negatives": misses,
        "false_positives": alarms,
        "precision": _ratio(hits, hits + alarms),
        "recall": _ratio(hits, hits + misses),
        "f1": 2 * hits / (2 * hits + mistakes) if hits + mistakes else 1.0,
        "one_minus_f1": _ratio(mistakes, 2 * hits + mistakes),
        "sse": sse / unit.scale,
        "mse": _summed_mse(sequences, unit)
        if parameters.profile == "kelvins"
        else _mse(sse, hits + mistakes, unit),
    }


def _mse(sse: int, decisions: int, unit: _ErrorUnit) -> float:
    """Mean squared error (eqs. 13 and 17); 0 where SSE is."""
    return _ratio(sse, decisions * unit.scale)


def _summed_mse(sequences: _Counts, unit: _ErrorUnit) -> float:
    """Sum over the sequences of SSE / (TP + FN + FP), by denominators so that it stays exact."""
    by_decisions: defaultdict[int, int] = defaultdict(int)
    for sse, decisions in zip(sequences.sse, sequences.decisions, strict=True):
        by_decisions[decisions] += sse
    terms = (Fraction(sse, decisions) for decisions, sse in by_decisions.items() if decisions)
    return float(sum(terms, Fraction(0)) / unit.scale)


def _ratio(numerator: int, denominator: int) -> float:
    """Correctly rounded quotient (Python divides integers so); 0 where nothing was counted."""
    return numerator / denominator if denominator else 0.0


def _warnings(left_out: Table) -> tuple[ReportWarning, ...]:
    frames = int(left_out.count("dont_care_frames").sum())
    detections = int(left_out.count("unevaluated_detections").sum())
    found = (
        ReportWarning("dont_care_frames", "don't-care frames, left out of every score", frames),
        ReportWarning(
            "unevaluated_detections",
            "detections in frames that the truth does not list, not scored",
            detections,
        ),
    )
    return tuple(warning for warning in found if warning.count)
