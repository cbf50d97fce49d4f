"""The benchmark of scale: the figures of its page, and the scoring of a small archive."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.scale import main
from bench.scale_page import Measured, page_of


def test_the_page_computes_rates_efficiency_and_a_trillion_detections() -> None:
    """By hand: 1 us per detection is 10^12 us, which are 277.8 processor hours."""
    runs = [
        Measured(1_000_000, 1, 2.0, 1.0, 100 << 20, 40_000_000, 0.9),
        Measured(1_000_000, 2, 1.25, 1.0, 80 << 20, 40_000_000, 0.9),
    ]
    page = page_of(runs, 2, 1.5)
    assert "on the first 1,000,000\ndetections" in page
    assert "| 1 | 1,000,000 | 500,000 | 1.00 | 1.00 us | 100 MiB |" in page
    assert "| 2 | 1,000,000 | 800,000 | 0.80 | 1.00 us | 80 MiB |" in page
    assert "278 processor hours; at an assumed $0.05 each, $14." in page
    assert "0.3 hours on 16 machines of 64 processors, if" in page
    assert "40.0 TB" in page
    assert "40.96 GB" in page


def test_efficiency_is_that_of_the_part_that_all_have_scored() -> None:
    """By hand: 0.8 on the first part; the machine is half as fast for the other two."""
    runs = [
        Measured(1_000_000, 1, 2.0, 1.0, 100 << 20, 40_000_000, 0.9),
        Measured(1_000_000, 2, 1.25, 1.0, 80 << 20, 40_000_000, 0.9),
        Measured(1_000_000, 2, 2.5, 1.0, 80 << 20, 40_000_000, 0.9),
        Measured(1_000_000, 2, 2.5, 1.0, 80 << 20, 40_000_000, 0.9),
    ]
    assert "| 2 | 3,000,000 | 400,000 | 0.80 | 1.00 us | 80 MiB |" in page_of(runs, 2, 1.5)


@pytest.mark.nightly
def test_parts_of_an_archive_are_made_scored_and_reported(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    results, page = tmp_path / "scale.json", tmp_path / "scale.md"
    sizes = ("--detections", "20000", "--part", "10000", "--workers", "1", "2")
    assert main([*sizes, "--results", str(results), "--page", str(page)]) == 0
    runs = json.loads(results.read_text())
    assert [(run["detections"], run["workers"]) for run in runs] == [
        (10_000, 1), (10_000, 2), (10_000, 2),
    ]  # fmt: skip
    assert all(0.85 < run["f1"] < 0.95 for run in runs)
    assert page.read_text().startswith("# Scale\n")
