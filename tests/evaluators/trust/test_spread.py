"""The mean over sequences and its interval, from a report."""

from __future__ import annotations

import numpy as np
import pytest

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.report import Report, Row, Scores, row_blocks
from vidscore_evaluators.trust.resampling import DRAWS, draw_sequences
from vidscore_evaluators.trust.spread import SEED, mean_intervals


def _report(values: list[float | None], **named: str) -> Report:
    rows = [
        Row(named.get("domain"), named.get("label"), f"s{row}", "f1", value)
        for row, value in enumerate(values)
    ]
    over_all = Row(None, None, None, "f1", 0.25)
    blocks = row_blocks([over_all, *rows])
    return Report("f1", "1", {}, "", "", Scores(blocks=blocks), {}, {})


def test_below_six_sequences_there_is_no_interval() -> None:
    assert mean_intervals(_report([0.5] * 5), ["f1"]) == {}
    assert mean_intervals(_report([0.5] * 5 + [None]), ["f1"]) == {}


def test_equal_sequences_have_an_interval_without_width() -> None:
    [(name, found)] = mean_intervals(_report([0.5] * 6), ["f1"]).items()
    assert name == "f1"
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_the_interval_is_that_of_the_mean_of_draws() -> None:
    """Half zeros and half ones of 100: 0.5 plus or minus 1.98 times 0.05."""
    found = mean_intervals(_report([0.0, 1.0] * 50), ["f1"])["f1"]
    assert found.value == 0.5
    assert found.low == pytest.approx(0.402, abs=0.021)
    assert found.high == pytest.approx(0.598, abs=0.021)


def test_the_ends_are_those_of_student_of_a_thousand_means() -> None:
    """Means of draws in order. Student's t of 40 values is 2.0227, times the root of 40/39 2.0485,
    beyond which 2.026 % lie."""
    values = [float(row * row) for row in range(40)]
    found = mean_intervals(_report([*values]), ["f1"])["f1"]
    keys = sorted(SequenceKey("", f"s{row}") for row in range(40))
    in_order = np.array([values[int(key.sequence[1:])] for key in keys])
    means = np.sort(draw_sequences(keys, DRAWS, SEED) @ in_order / 40)
    below = int(0.02026 * (len(means) - 1))
    assert means[below] <= found.low <= means[below + 1]
    assert means[-2 - below] <= found.high <= means[-1 - below]


def test_sequences_of_one_name_in_two_domains_are_different() -> None:
    """Six of each, all 0 in one domain and all 1 in the other."""
    rows = [
        Row(domain, None, f"s{row}", "f1", value)
        for domain, value in (("day", 0.0), ("night", 1.0))
        for row in range(6)
    ]
    blocks = row_blocks([Row(None, None, None, "f1", 0.25), *rows])
    report = Report("f1", "1", {}, "", "", Scores(blocks=blocks), {}, {})
    found = mean_intervals(report, ["f1"])["f1"]
    # Each domain is drawn by itself.
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_parts_and_other_measures_have_no_interval() -> None:
    assert mean_intervals(_report([0.5] * 6, label="car"), ["f1"]) == {}
    assert mean_intervals(_report([0.5] * 6), ["mse"]) == {}
    assert mean_intervals(_report([0.5] * 6, domain="road"), ["f1"])["f1"].value == 0.5
