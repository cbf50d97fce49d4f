"""Systems side by side."""

from __future__ import annotations

from dataclasses import replace

from tests.clients.cli.helpers import example_report

from vidscore_cli.demo.board import Place, compare_measures, compare_places
from vidscore_evaluators.report import Block, Report, Scores


def report_with(mean: float | None) -> Report:
    return replace(example_report(), scores=Scores((Block({"mean_nmotda": (mean,)}),)))


def test_scores_over_everything_stand_side_by_side() -> None:
    grid = compare_measures("all", ["mean_nmotda"], {"a": report_with(0.5), "b": report_with(None)})
    assert grid.headings == ("measure", "a", "b")
    assert grid.lines == [("mean_nmotda", "0.5000", "undefined")]


def test_scores_of_domains_and_classes_stand_side_by_side() -> None:
    places = [Place("nmotda", "Tower", "Car"), Place("mean_nmotda", "Tower"), Place("mean_nmotda")]
    grid = compare_places("by class", places, {"a": example_report()})
    assert grid.lines == [
        ("Tower", "Car", "0.7500"),
        ("Tower", "all", "0.7500"),
        ("all", "all", "0.8750"),
    ]
