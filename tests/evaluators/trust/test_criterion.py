"""Sanity tests of criteria: what is judged, and that workers and neighbours do not matter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.jobs import with_parameter
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing.examples import example_count
from vidscore_evaluators.trust.criterion import (
    Candidate,
    Outcome,
    Plan,
    declared_candidates,
    paper_candidates,
    run_criterion_test,
)
from vidscore_evaluators.trust.dissimilarities import Judge, Level, ranking_measures
from vidscore_evaluators.trust.paper import M_FULL, M_PARTIAL, OPTIMUM
from vidscore_evaluators.trust.sanity import SANITY_TESTS
from vidscore_evaluators.trust.sanity.families import Draw
from vidscore_evaluators.trust.tables import FigureRow, error_rows, error_tables, indicator_rows

SMALL = Plan(strata=6, realisations=1, seed=4)
IOU_GRID = tuple(step / 20 for step in range(21))


def outcome_of(settings_: tuple[float, ...], table: list[list[float]]) -> Outcome:
    """An outcome of one family."""
    candidate = Candidate("f1", "iou", "f1", "f1", {}, "threshold", settings_)
    return Outcome(candidate, np.array(table)[:, np.newaxis, :])


@pytest.mark.nightly
def test_workers_do_not_matter() -> None:
    """Two processes give what one gives, to the last bit, in the same order."""
    candidates = paper_candidates("multiclass-detection", {"map", "ospa"})
    alone = run_criterion_test("multiclass-detection", candidates, SMALL)
    calls: list[tuple[int, int]] = []
    shared = run_criterion_test(
        "multiclass-detection",
        candidates,
        SMALL,
        workers=2,
        progress=lambda *at: calls.append(at),
    )
    assert calls == [(1, 2), (2, 2)]
    for one, other in zip(alone, shared, strict=True):
        assert one.candidate == other.candidate
        assert np.array_equal(one.dissimilarities, other.dissimilarities)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "map", "log-amr", "ospa", "emd", "neovision2"])
def test_scenes_judged_together_get_the_same_as_alone(name: str) -> None:
    evaluator = create_evaluator(name)
    scenes = SANITY_TESTS["multiclass-detection"].draw_family(Draw(2, 30, 40, 0)).scenes
    [measure] = ranking_measures(evaluator)
    judge = Judge.of(evaluator, measure, scenes[:3])
    assert judge.level is Level.DOMAIN
    alone = Judge(evaluator, measure, Level.ALONE)
    assert np.array_equal(judge.judge(scenes), alone.judge(scenes))


@pytest.mark.slow
def test_a_grid_judged_together_equals_each_value_alone() -> None:
    scenes = SANITY_TESTS["multiclass-detection"].draw_family(Draw(2, 9, 40, 0)).scenes[::5]
    evaluator = create_evaluator("map")
    [measure] = ranking_measures(evaluator)
    judged = Judge.of(evaluator, measure, scenes).judge_grid(scenes, "thresholds")
    for value, row in zip(evaluator.grid("thresholds"), judged, strict=True):
        single = with_parameter(evaluator, "thresholds", value)
        assert np.array_equal(row, Judge(single, measure, Level.ALONE).judge(scenes))


def test_without_figures_of_domains_those_of_sequences_or_single_runs_are_used() -> None:
    """spotGEO reports F1 only over everything, and uses the centres of boxes."""
    evaluator = create_evaluator("spotgeo")
    scenes = SANITY_TESTS["multiclass-detection"].draw_family(Draw(2, 9, 40, 0)).scenes
    judges = {measure.name: Judge.of(evaluator, measure, scenes[-2:])
              for measure in ranking_measures(evaluator)}  # fmt: skip
    assert set(judges) == {"f1", "mse"}
    for judge in judges.values():
        alone = Judge(evaluator, judge.measure, Level.ALONE)
        assert np.array_equal(judge.judge(scenes), alone.judge(scenes))


def test_the_settings_of_a_cutoff_are_those_of_its_thresholds() -> None:
    """1 - c for IoU and 1 - 2 c for GIoU, so that 0.5 and 0 are among them."""
    iou, giou = paper_candidates("multiclass-detection", {"ospa-c"})
    assert sorted(iou.settings) == pytest.approx(IOU_GRID[:-1])
    assert 0.5 in iou.settings
    assert len(giou.settings) == 40
    assert {0.0, -1.0, 0.95} <= set(giou.settings)


def test_rows_have_each_value_the_best_one_and_the_means() -> None:
    """Two scenes: at 0.5 in the true order, 0.95 apart; at all else in the wrong one, by 0.1."""
    table = [[0.0, 0.95] if value == 0.5 else [0.1, 0.0] for value in IOU_GRID]
    errors = {row.setting: row.mean for row in outcome_of(IOU_GRID, table).error_rows()}
    assert errors[0.5] == 0.0
    assert errors[0.55] == 1.0
    assert errors[OPTIMUM] == 0.0
    # 0.95 for the true order against nine times 0.1; then against eighteen times 0.1.
    assert errors[M_PARTIAL] == 0.0
    assert errors[M_FULL] == 1.0


def test_equal_values_in_another_order_tie_in_a_mean() -> None:
    """0.1 + 0.2 + 0.3 rounds otherwise than 0.3 + 0.2 + 0.1, which must not decide a rank."""
    values = (0.1, 0.2, 0.3, 0.0, 0.0)
    table = [[0.0, 0.0], *([a, b] for a, b in zip(values, values[::-1], strict=True)), [0.0, 0.0]]
    grid = tuple(step / 6 for step in range(7))
    errors = {row.setting: row.mean for row in outcome_of(grid, table).error_rows()}
    assert errors[M_FULL] == 0.5


def test_a_criterion_of_tracks_is_refused_without_tracks() -> None:
    with pytest.raises(InputError, match="clear, which needs tracks"):
        run_criterion_test("multiclass-detection", declared_candidates("clear", {}), SMALL)


def test_an_evaluator_is_tested_by_its_declarations() -> None:
    """Both measures of its ranking, as they are and over each parameter with a grid."""
    names = [candidate.name for candidate in declared_candidates("spotgeo", {})]
    assert names == [
        "spotgeo f1", "spotgeo f1 by tau", "spotgeo f1 by epsilon",
        "spotgeo mse", "spotgeo mse by tau", "spotgeo mse by epsilon",
    ]  # fmt: skip
    bases = {(entry.name, entry.base) for entry in declared_candidates("f1", {})}
    assert bases == {(name, base) for name in ("f1", "f1 by threshold") for base in ("iou", "giou")}
    assert {entry.base for entry in declared_candidates("f1", {"base": "giou"})} == {"giou"}


def test_values_that_other_parameters_forbid_are_left_out_of_a_sweep() -> None:
    """spotGEO's epsilon must be below tau: with tau = 5 the grid 0, 1, ..., 6 ends at 4."""
    grids = {entry.swept: entry.settings for entry in declared_candidates("spotgeo", {"tau": 5.0})}
    assert grids["epsilon"] == (0.0, 1.0, 2.0, 3.0, 4.0)
    candidates = declared_candidates("spotgeo", {"tau": 5.0})[2:3]
    [outcome] = run_criterion_test("figure-3", candidates)
    assert outcome.dissimilarities.shape == (5, 1, 3)


@pytest.mark.slow
def test_the_figures_of_the_paper_are_beside_those_found() -> None:
    """OSPA with IoU has 1.86 (1.64) in Table 2; R_S of OSPA_c 4.28 (1.70) in Table 4."""
    candidates = paper_candidates("multiclass-detection", {"ospa", "ospa-c"})
    outcomes = run_criterion_test("multiclass-detection", candidates, Plan(2, 1, 1))
    rows = error_rows("multiclass-detection", outcomes)
    assert all(
        set(row) == {"criterion", "base", "setting", "mean", "std", "paper_mean", "paper_std"}
        for row in rows
    )
    by_key = {(row["criterion"], row["base"], row["setting"]): row for row in rows}
    ospa = by_key["ospa", "iou", None]
    assert (ospa["paper_mean"], ospa["paper_std"]) == (1.86, 1.64)
    assert by_key["ospa-c", "giou", 0.0]["paper_mean"] == 2.27
    assert by_key["ospa-c", "iou", 0.3]["paper_mean"] is None
    first = indicator_rows("multiclass-detection", outcomes, 1)[0]
    assert (first["indicator"], first["paper_mean"], first["paper_std"]) == ("R_S", 4.28, 1.7)
    [table] = error_tables("A test", rows)
    assert table.headings[:4] == ("criterion", "", "IoU", "IoU 0.5")
    assert [line[:2] for line in table.lines] == [
        ("ospa", "here"), ("ospa", "paper"), ("ospa-c", "here"), ("ospa-c", "paper"),
    ]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=example_count(20), deadline=None)
@given(st.integers(0, 10**6))
def test_a_scene_is_judged_the_same_whatever_the_others_are(seed: int) -> None:
    """A family's dissimilarities do not depend on the families beside it."""
    evaluator = create_evaluator("log-amr")
    [measure] = ranking_measures(evaluator)
    draw_family = SANITY_TESTS["multiclass-detection"].draw_family
    first = draw_family(Draw(seed, 3, 40, 0)).scenes[-3:]
    second = draw_family(Draw(seed, 20, 40, 0)).scenes[-3:]
    judge = Judge(evaluator, measure, Level.DOMAIN)
    together = judge.judge([*second, *first])
    assert np.array_equal(together[3:], judge.judge(first))


def test_criteria_without_a_base_have_a_table_by_setting() -> None:
    rows: list[FigureRow] = [
        {"criterion": "spotgeo", "base": None, "setting": setting, "mean": 12.34, "std": 0.5}
        for setting in (10.0, "optimum")
    ]
    [table] = error_tables("A test", rows)
    assert table.lines == [
        ("spotgeo", "", "10", "12.3 (0.500)"),
        ("spotgeo", "", "optimum", "12.3 (0.500)"),
    ]
