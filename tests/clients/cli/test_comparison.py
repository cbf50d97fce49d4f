"""Systems side by side and in order."""

from __future__ import annotations

from dataclasses import replace

from tests.clients.cli.helpers import example_report

from vidscore_cli.comparison import Place, compare_measures, compare_places, rank_systems
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.report import Block, Report, Scores


class _ByMean:
    """Ranks by the mean alone; an undefined one comes last."""

    def rank_key(self, report: Report) -> tuple[tuple[bool, float], ...]:
        value = report.value("mean_nmotda")
        return ((value is None, -(value or 0.0)),)


def report_with(mean: float | None) -> Report:
    return replace(example_report(), scores=Scores((Block({"mean_nmotda": (mean,)}),)))


def ranks(**means: float | None) -> list[tuple[int, str]]:
    evaluator: Evaluator[object] = _ByMean()  # type: ignore[assignment]
    return rank_systems(evaluator, {name: report_with(mean) for name, mean in means.items()})


def test_a_better_system_ranks_first() -> None:
    assert ranks(a=0.5, b=0.75) == [(1, "b"), (2, "a")]


def test_equal_scores_share_a_rank_and_the_next_one_is_skipped() -> None:
    assert ranks(a=0.5, b=0.75, c=0.75) == [(1, "b"), (1, "c"), (3, "a")]


def test_an_undefined_score_ranks_last() -> None:
    assert ranks(a=None, b=-3.0) == [(1, "b"), (2, "a")]


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
