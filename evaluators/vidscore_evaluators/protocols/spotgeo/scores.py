"""Scores of spotGEO out of its tally; every figure is a ratio of integers, rounded once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from vidscore_evaluators.exact import SCALE_BITS
from vidscore_evaluators.measures import Direction, Dissimilarity, Measure, count_measure
from vidscore_evaluators.protocols.spotgeo.parameters import SpotGeoParameters
from vidscore_evaluators.protocols.spotgeo.tallying import LEFT_OUT, SEQUENCES
from vidscore_evaluators.report import Block, Number, ReportWarning, Scores
from vidscore_evaluators.tally import Table, Tally

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


@dataclass(frozen=True, slots=True)
class _Counts:
    """Counts and SSE of a sequence, or of several; the SSE in the unit of `_ErrorUnit`."""

    true_positives: int
    false_negatives: int
    false_positives: int
    sse: int

    @property
    def decisions(self) -> int:
        """TP + FN + FP."""
        return self.true_positives + self.false_negatives + self.false_positives


class _ErrorUnit:
    """A fixed power of two small enough that tau^2 and every sum of errors are whole numbers."""

    def __init__(self, tau_px: float) -> None:
        square = Fraction(tau_px) ** 2
        bits = max(SCALE_BITS, square.denominator.bit_length() - 1)
        self.scale = 1 << bits
        self._shift = bits - SCALE_BITS
        self._tau_square = int(square * self.scale)

    def sse(self, exact_error: int, mistakes: int) -> int:
        """Sum of squared errors (eqs. 10 and 12)."""
        return (exact_error << self._shift) + mistakes * self._tau_square


def scores_of(parameters: SpotGeoParameters, tally: Tally) -> Scores:
    """Scores of the whole set, of each named domain, and of each sequence."""
    table = tally.tables[SEQUENCES]
    unit = _ErrorUnit(parameters.tau)
    domains = table.texts("domain")
    sequences = _sequence_counts(table, unit)
    by_domain: defaultdict[str, list[_Counts]] = defaultdict(list)
    for domain, counts in zip(domains, sequences, strict=True):
        by_domain[domain].append(counts)
    named = [domain for domain in by_domain if domain]
    return Scores(
        blocks=(
            _set_block([None], [sequences], parameters, unit),
            _set_block(named, [by_domain[domain] for domain in named], parameters, unit),
            _sequence_block(table, sequences, unit),
        ),
        warnings=_warnings(tally.tables[LEFT_OUT]),
    )


def _sequence_counts(table: Table, unit: _ErrorUnit) -> list[_Counts]:
    columns = (
        table.count("true_positives").tolist(),
        table.count("false_negatives").tolist(),
        table.count("false_positives").tolist(),
        table.exact("regression_error"),
    )
    return [
        _Counts(hits, misses, alarms, unit.sse(error, misses + alarms))
        for hits, misses, alarms, error in zip(*columns, strict=True)
    ]


def _sequence_block(table: Table, sequences: list[_Counts], unit: _ErrorUnit) -> Block:
    return Block(
        domains=[domain or None for domain in table.texts("domain")],
        sequences=table.texts("sequence"),
        measures={
            "true_positives": [counts.true_positives for counts in sequences],
            "false_negatives": [counts.false_negatives for counts in sequences],
            "false_positives": [counts.false_positives for counts in sequences],
            "sse": [counts.sse / unit.scale for counts in sequences],
            "mse": [_mse(counts, unit) for counts in sequences],
        },
    )


def _set_block(
    domains: Sequence[str | None],
    sets: Sequence[list[_Counts]],
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
    sequences: list[_Counts], parameters: SpotGeoParameters, unit: _ErrorUnit
) -> dict[str, Number]:
    """Every measure of one set of sequences (eqs. 14 to 17)."""
    total = _Counts(
        sum(counts.true_positives for counts in sequences),
        sum(counts.false_negatives for counts in sequences),
        sum(counts.false_positives for counts in sequences),
        sum(counts.sse for counts in sequences),
    )
    hits, mistakes = total.true_positives, total.false_negatives + total.false_positives
    return {
        "true_positives": hits,
        "false_negatives": total.false_negatives,
        "false_positives": total.false_positives,
        "precision": _ratio(hits, hits + total.false_positives),
        "recall": _ratio(hits, hits + total.false_negatives),
        "f1": 2 * hits / (2 * hits + mistakes) if total.decisions else 1.0,
        "one_minus_f1": _ratio(mistakes, 2 * hits + mistakes),
        "sse": total.sse / unit.scale,
        "mse": _summed_mse(sequences, unit)
        if parameters.profile == "kelvins"
        else _mse(total, unit),
    }


def _mse(counts: _Counts, unit: _ErrorUnit) -> float:
    """Mean squared error (eqs. 13 and 17); 0 where SSE is."""
    return _ratio(counts.sse, counts.decisions * unit.scale)


def _summed_mse(sequences: list[_Counts], unit: _ErrorUnit) -> float:
    """Sum over the sequences of SSE / (TP + FN + FP), by denominators so that it stays exact."""
    by_decisions: defaultdict[int, int] = defaultdict(int)
    for counts in sequences:
        by_decisions[counts.decisions] += counts.sse
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
