"""The mean over sequences and its interval, out of a report."""

from __future__ import annotations

import pytest

from vidscore_evaluators.report import Report, Row, Scores, row_block
from vidscore_evaluators.trust.spread import mean_intervals


def _report(values: list[float | None], **named: str) -> Report:
    rows = [
        Row(named.get("domain"), named.get("label"), f"s{row}", "f1", value)
        for row, value in enumerate(values)
    ]
    over_all = Row(None, None, None, "f1", 0.25)
    blocks = tuple(row_block(row) for row in [over_all, *rows])
    return Report("f1", "1", {}, "", "", Scores(blocks=blocks), {}, {})


def test_below_six_sequences_there_is_no_interval() -> None:
    assert mean_intervals(_report([0.5] * 5), ["f1"]) == {}
    assert mean_intervals(_report([0.5] * 5 + [None]), ["f1"]) == {}


def test_alike_sequences_have_an_interval_without_width() -> None:
    [(name, found)] = mean_intervals(_report([0.5] * 6), ["f1"]).items()
    assert name == "f1"
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_the_interval_is_that_of_the_mean_of_draws() -> None:
    """Half zeros and half ones of 100: 0.5 plus or minus 1.96 times 0.05."""
    found = mean_intervals(_report([0.0, 1.0] * 50), ["f1"])["f1"]
    assert found.value == 0.5
    assert found.low == pytest.approx(0.402, abs=0.021)
    assert found.high == pytest.approx(0.598, abs=0.021)


def test_parts_and_other_measures_have_none() -> None:
    assert mean_intervals(_report([0.5] * 6, label="car"), ["f1"]) == {}
    assert mean_intervals(_report([0.5] * 6), ["mse"]) == {}
    assert mean_intervals(_report([0.5] * 6, domain="road"), ["f1"])["f1"].value == 0.5
