"""Scores of spotGEO from counts and exact sums of errors, of a tally or of outcomes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np
from msgspec import Struct

from vidscore_evaluators._spotgeo_matching import LEFT_OUT, SEQUENCES
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import BoolArray, IntArray, run_starts
from vidscore_evaluators.deferred import Deferred
from vidscore_evaluators.exact_sums import SCALE_BITS, ExactSums
from vidscore_evaluators.outcome_table import Outcome, Outcomes
from vidscore_evaluators.report import Block, Number, ReportWarning, Scores
from vidscore_evaluators.tally import Table, Tally


class _SequenceCounts(Struct, frozen=True, eq=False):
    """Counts and errors of K sequences.

    Attributes:
        true_positives: (K,) TP.
        false_negatives: (K,) FN.
        false_positives: (K,) FP.
        errors: K sums of regression errors of true positives.
        unit: Unit in which SSE is counted.
    """

    true_positives: IntArray
    false_negatives: IntArray
    false_positives: IntArray
    errors: ExactSums
    unit: _ErrorUnit

    @property
    def sse(self) -> list[int]:
        """SSE of each (eqs. 10 and 12), in the unit."""
        mistakes = self.false_negatives + self.false_positives
        return self.unit.sse(self.errors.tolist(), mistakes.tolist())

    @property
    def decisions(self) -> list[int]:
        """TP + FN + FP of each."""
        decisions: list[int] = (
            self.true_positives + self.false_negatives + self.false_positives
        ).tolist()
        return decisions

    @property
    def totals(self) -> tuple[int, int, int, int]:
        """Sums of TP, FN, FP and SSE."""
        counts = (self.true_positives, self.false_negatives, self.false_positives)
        hits, misses, alarms = (int(column.sum()) for column in counts)
        [sse] = self.unit.sse([self.errors.total()], [misses + alarms])
        return hits, misses, alarms, sse

    def take(self, rows: IntArray) -> _SequenceCounts:
        """Some of the sequences."""
        return _SequenceCounts(
            self.true_positives[rows],
            self.false_negatives[rows],
            self.false_positives[rows],
            self.errors.take(rows),
            self.unit,
        )


class _ErrorUnit:
    """A power of two of which tau^2 and every error are integer multiples.

    Exact sums are kept in a much smaller unit, so they end in hundreds of zero bits.
    """

    def __init__(self, tau_px: float, errors: ExactSums) -> None:
        numerator, denominator = tau_px.as_integer_ratio()  # the latter is a power of two
        bits = max(SCALE_BITS - errors.spare_bits, 2 * (denominator.bit_length() - 1))
        self.scale = 1 << bits
        self._shift = bits - SCALE_BITS
        self._tau_square = numerator**2 * self.scale // denominator**2

    def sse(self, exact_errors: list[int], mistakes: list[int]) -> list[int]:
        """Sums of squared errors (eqs. 10 and 12)."""
        left, right = max(self._shift, 0), max(-self._shift, 0)
        return [
            (error >> right << left) + count * self._tau_square
            for error, count in zip(exact_errors, mistakes, strict=True)
        ]


class SetRules(Struct, frozen=True):
    """Rules for scores of a set of sequences, besides its counts and errors.

    Attributes:
        tau_px: Square root of the cost of a miss or false alarm.
        sums_mse: Whether the MSE of a set is the sum of the MSE of its sequences.
    """

    tau_px: float
    sums_mse: bool


def make_scores(rules: SetRules, tally: Tally) -> Scores:
    """Scores of the whole set, of each named domain, and of each sequence."""
    table = tally.tables[SEQUENCES]
    errors = table.exact_sums("regression_error")
    unit = _ErrorUnit(rules.tau_px, errors)
    sequences = _SequenceCounts(
        table.count("true_positives"),
        table.count("false_negatives"),
        table.count("false_positives"),
        errors,
        unit,
    )
    codes = table.codes("domain")
    first = run_starts(codes).tolist()
    named = {
        name: sequences.take(np.arange(begin, end))
        for begin, end in pairwise([*first, table.row_count])
        if (name := table.vocabulary[codes[begin]])
    }
    return Scores(
        blocks=(
            _set_block([None], [sequences], rules),
            _set_block(list(named), list(named.values()), rules),
            _sequence_block(table, sequences),
        ),
        warnings=_warnings(tally.tables[LEFT_OUT]),
    )


def figures_of_outcomes(rules: SetRules, outcomes: Outcomes) -> dict[str, Number]:
    """Every measure of the set of sequences in the outcomes.

    Errors of true positives are summed exactly, and multiples of tau^2 are counted: the shares of
    mistakes are rounded if tau^2 is not a binary64.
    """
    count = len(outcomes.sequence_keys)
    of_truth = outcomes.of_side(Side.TRUTH)

    def by_sequence(rows: BoolArray) -> IntArray:
        return np.bincount(outcomes.sequences[rows], minlength=count)

    hit = outcomes.are(Outcome.TRUE_POSITIVE) & of_truth
    misses = by_sequence(outcomes.are(Outcome.FALSE_NEGATIVE))
    alarms = by_sequence(outcomes.are(Outcome.FALSE_POSITIVE))
    errors = ExactSums.of(outcomes.shares[hit], outcomes.sequences[hit].astype(np.int64), count)
    unit = _ErrorUnit(rules.tau_px, errors)
    return _set_scores(rules, _SequenceCounts(by_sequence(hit), misses, alarms, errors, unit))


def _sequence_block(table: Table, sequences: _SequenceCounts) -> Block:
    """A row of measures per sequence; there may be many, so they are computed when first read."""
    return Block(
        domains=Deferred(lambda: [domain or None for domain in table.texts("domain")]),
        sequences=Deferred(lambda: table.texts("sequence")),
        measures=Deferred(lambda: _sequence_measures(sequences)),
    )


def _sequence_measures(sequences: _SequenceCounts) -> Mapping[str, list[Number]]:
    scale, columns = sequences.unit.scale, (sequences.sse, sequences.decisions)
    return {
        "true_positives": sequences.true_positives.tolist(),
        "false_negatives": sequences.false_negatives.tolist(),
        "false_positives": sequences.false_positives.tolist(),
        "sse": [sse / scale for sse in columns[0]],
        "mse": [
            sse / (count * scale) if count else 0.0 for sse, count in zip(*columns, strict=True)
        ],
    }


def _set_block(
    domains: Sequence[str | None],
    sets: Sequence[_SequenceCounts],
    rules: SetRules,
) -> Block:
    """A row of measures for each set of sequences."""
    rows = list(map(partial(_set_scores, rules), sets))
    names = rows[0] if rows else ()
    return Block(domains=domains, measures={name: [row[name] for row in rows] for name in names})


def _set_scores(rules: SetRules, sequences: _SequenceCounts) -> dict[str, Number]:
    """Every measure of one set of sequences (eqs. 14 to 17)."""
    hits, misses, alarms, sse = sequences.totals
    scale = sequences.unit.scale
    mistakes = misses + alarms
    return {
        "true_positives": hits,
        "false_negatives": misses,
        "false_positives": alarms,
        "precision": _ratio(hits, hits + alarms),
        "recall": _ratio(hits, hits + misses),
        "f1": 2 * hits / (2 * hits + mistakes) if hits + mistakes else 1.0,
        "one_minus_f1": _ratio(mistakes, 2 * hits + mistakes),
        "sse": sse / scale,
        "mse": _summed_mse(sequences) if rules.sums_mse else _ratio(sse, (hits + mistakes) * scale),
    }


def _summed_mse(sequences: _SequenceCounts) -> float:
    """Sum over the sequences of SSE / (TP + FN + FP), grouped by denominator to stay exact."""
    by_decisions: defaultdict[int, int] = defaultdict(int)
    for sse, decisions in zip(sequences.sse, sequences.decisions, strict=True):
        by_decisions[decisions] += sse
    terms = (Fraction(sse, decisions) for decisions, sse in by_decisions.items() if decisions)
    return float(sum(terms, Fraction(0)) / sequences.unit.scale)


def _ratio(numerator: int, denominator: int) -> float:
    """Correctly rounded quotient, as Python divides integers; 0 if nothing was counted."""
    return numerator / denominator if denominator else 0.0


def _warnings(left_out: Table) -> tuple[ReportWarning, ...]:
    if not left_out.row_count:
        return ()
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
