"""How far the mean of a measure over sequences would change with other sequences.

A report is enough for this, if it has a figure per sequence: sequences are drawn with replacement
in each domain, as in `vidscore_evaluators.trust.resampling`. The interval is of the mean over
sequences, not of the score over everything, in which long sequences weigh more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.report import Report
from vidscore_evaluators.trust.few_sequences import LEAST_SEQUENCES, domain_sizes, interval_of
from vidscore_evaluators.trust.resampling import COVERAGE, DRAWS, Interval, draw_sequences

SEED = 1


def mean_intervals(report: Report, measures: Sequence[str]) -> dict[str, Interval]:
    """Mean over sequences with its interval, for measures that enough sequences define."""
    values: dict[str, dict[SequenceKey, float]] = {}
    for row in report.rows():
        if row.sequence is None or row.label is not None or row.value is None:
            continue
        if row.measure in measures:
            key = SequenceKey(row.domain or "", row.sequence)
            values.setdefault(row.measure, {})[key] = float(row.value)
    return {
        measure: _interval(own) for measure, own in values.items() if len(own) >= LEAST_SEQUENCES
    }


def _interval(values: dict[SequenceKey, float]) -> Interval:
    keys = sorted(values)
    column = np.array([values[key] for key in keys])
    means = draw_sequences(keys, DRAWS, SEED) @ column / len(keys)
    return Interval(float(column.mean()), *interval_of(means, COVERAGE, domain_sizes(keys)))
