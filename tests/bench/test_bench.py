"""The benchmark harness on tiny inputs: it runs and reports what it measured."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench import measuring
from bench.case import QUICK, Case, Peer, Size, compare
from bench.cases import outcomes, spotgeo, viewer
from bench.measuring import Sample, run_interleaved
from bench.page import ANSWER_BEGIN, ANSWER_END, BEGIN, END, answer, render, write_page
from bench.rows import SHOWN_TIMES, Point, Row, at_least, at_most, not_yet

TINY = Size(0.002, 2, is_judged=False)


def row(ours: float, other: float, goal: object) -> Row:
    return Row("what", Sample((ours,)), Sample((other,)), "peer", goal)  # type: ignore[arg-type]


def test_actions_run_in_turn_after_a_warm_up() -> None:
    order: list[str] = []
    samples, results = run_interleaved([lambda: order.append("a"), lambda: order.append("b")], 2)
    assert order == ["a", "b"] * 3
    assert [len(sample.values) for sample in samples] == [2, 2]
    assert results == [None, None]


def test_a_short_run_is_repeated_and_gives_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    played_s = 0.0
    called: list[float] = []

    def lasting(seconds: float) -> Callable[[], None]:
        def action() -> None:
            nonlocal played_s
            played_s += seconds
            called.append(seconds)

        return action

    clock = SimpleNamespace(perf_counter=lambda: played_s, process_time=lambda: played_s)
    monkeypatch.setattr(measuring, "time", clock)
    samples, _ = run_interleaved([lasting(0.25), lasting(4.0)], 3, least_s=1.0)
    assert [called.count(seconds) for seconds in (0.25, 4.0)] == [2 + 3 * 4, 2 + 3]
    assert [sample.values for sample in samples] == [(0.25,) * 3, (4.0,) * 3]
    assert [sample.cpu_s for sample in samples] == [(0.25,) * 3, (4.0,) * 3]


@pytest.mark.parametrize(
    ("ours", "other", "goal", "ratio", "met"),
    [
        (1.0, 40.0, at_least(40), 40.0, True),
        (1.0, 39.0, at_least(40), 39.0, False),
        (3.0, 2.0, at_most(1.5), 1.5, True),
        (4.0, 2.0, at_most(1.5), 2.0, False),
        (1.0, 2.0, SHOWN_TIMES, 2.0, None),
    ],
)
def test_a_goal_is_compared_with_the_ratio_of_medians(
    ours: float, other: float, goal: object, ratio: float, met: bool | None
) -> None:
    found = row(ours, other, goal)
    assert (found.ratio, found.met) == (ratio, met)
    assert set(found.as_json()) == {
        *("name", "ours", "other", "other_name", "ratio", "goal", "met")
    }
    json.dumps(found.as_json())


@pytest.mark.parametrize(
    ("goal", "of_wall", "of_processor", "wrong"),
    [
        (at_most(1.5), (1.0, 1.0), (9.0, 1.0), False),
        (at_most(1.5), (2.0, 1.0), (1.0, 1.0), False),
        (at_most(1.5), (2.0, 1.0), (2.0, 1.0), True),
        (not_yet(at_most(1.5)), (2.0, 1.0), (2.0, 1.0), False),
        (SHOWN_TIMES, (2.0, 1.0), (2.0, 1.0), False),
    ],
)
def test_a_goal_is_missed_only_by_clock_and_processor_time_together(
    goal: object, of_wall: tuple[float, float], of_processor: tuple[float, float], wrong: bool
) -> None:
    ours, other = (
        Sample((wall,), (processor,)) for wall, processor in zip(of_wall, of_processor, strict=True)
    )
    assert Row("what", ours, other, "peer", goal).is_wrong is wrong  # type: ignore[arg-type]


def test_without_processor_times_the_clock_alone_judges() -> None:
    assert row(2.0, 1.0, at_most(1.5)).is_wrong


def test_a_quick_run_has_as_many_repetitions_as_its_goals_need() -> None:
    assert QUICK.of(1000) == 50
    assert QUICK.of(1000, 300) == 300
    assert TINY.of(1000, 300) == 2


def test_a_time_measured_on_a_part_is_scaled_up() -> None:
    part = Peer("peer", lambda: None, at_least(1.0), share=0.5)
    [found] = compare("what", lambda: None, [part], 1)
    assert "0.5 of the work" in found.note


def test_a_peer_with_other_figures_is_refused() -> None:
    other = Peer("peer", lambda: 2, at_least(1.0), agrees=lambda mine, theirs: mine == theirs)
    with pytest.raises(ValueError, match="different figures"):
        compare("what", lambda: 1, [other], 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [*spotgeo.CASES, *outcomes.CASES, *viewer.CASES], ids=lambda case: case.name
)
def test_a_case_gives_rows_and_checks_its_peer(case: Case) -> None:
    rows = list(case.run(TINY))
    assert rows
    assert all(found.ours.median > 0 and found.other.median > 0 for found in rows)


def test_the_page_has_a_line_per_row_and_says_where_it_was_measured() -> None:
    first, *_, last = render([row(1.0, 2.0, at_least(3))]).splitlines()
    assert last.startswith("| what | **1 s** | peer | **2 s** | 2x | - | at least 3x | **no** | ")
    day = last.split(" | ")[-1].removesuffix(" |")
    assert str(date.fromisoformat(day)) == day
    assert first.startswith(f"- {day}: ")
    assert f"Python {platform.python_version()}; vidscore " in first


def test_a_page_shows_the_picture_that_lies_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    write_page(path, "text\n", [Point("frames", "f1", 1, 1.0), Point("frames", "f1", 10, 9.0)])
    assert "(page-growth.svg)" in path.read_text(encoding="utf-8")
    assert "<svg" in (tmp_path / "page-growth.svg").read_text(encoding="utf-8")


def test_a_page_with_marks_keeps_the_text_around_them(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    write_page(path, "new\n")
    assert path.read_text(encoding="utf-8") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"


def test_measuring_some_cases_again_keeps_the_figures_of_others(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"intro\n{ANSWER_BEGIN}\n{ANSWER_END}\n{BEGIN}\n{END}\nend\n", encoding="utf-8")

    def named(name: str, ours: float, note: str) -> Row:
        return replace(row(ours, 6.0, at_least(3)), name=name, note=note)

    first = [named("files: a", 1.0, "old a"), named("files: b", 1.0, "old b")]
    today = render(first).splitlines()[0].split()[1].removesuffix(":")

    def measured(rows: list[Row], day: str) -> str:
        return render(rows).replace(today, day)

    write_page(path, measured(first, "2001-01-01"), answer=answer(first))
    for ours, day in ((2.0, "2001-01-02"), (3.0, "2001-01-03")):
        again = [named("files: b", ours, "new b"), named("c", ours, "")]
        text = measured(again, day)
        write_page(path, text, answer=answer(again), keep_others=True)
    page = path.read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith(("| files", "| c"))]
    assert [line.split(" | ")[0] for line in rows] == ["| files: a", "| files: b", "| c"] * 2
    assert [line.split(" | ")[-1] for line in rows[:3]] == ["6x |", "2x |", "2x |"]
    assert [line.split(" | ")[-2:] for line in rows[3:]] == [
        ["yes", "2001-01-01 |"],
        ["**no**", "2001-01-03 |"],
        ["**no**", "2001-01-03 |"],
    ]
    assert [line for line in page.splitlines() if line.startswith("- files: b")] == [
        "- files: b: new b"
    ]
    assert page.count("- files: a: old a\n") == 1
    days = [line.split(":")[0] for line in page.splitlines() if line.startswith("- 2001")]
    assert days == ["- 2001-01-01", "- 2001-01-03"]  # Nothing is left of the day between.
    assert page.startswith("intro\n")
    assert page.endswith("end\n")


def test_the_answer_is_before_the_figures_and_shows_only_other_programs(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(f"{ANSWER_BEGIN}\n{ANSWER_END}\n{BEGIN}\nold\n{END}\n", encoding="utf-8")
    rows = [row(1.0, 2.0, at_least(3)), row(2.0, 3.0, SHOWN_TIMES), row(1.0, 4.0, at_most(5))]
    write_page(path, "new\n", answer=answer(rows))
    found = path.read_text(encoding="utf-8").partition(BEGIN)[0]
    assert found.splitlines()[2:-2] == [
        "| what | vidscore | other | its time | times as fast |",
        "| --- | --- | --- | --- | --- |",
        "| what | 1 s | peer | 2 s | 2x |",
        "| what | 2 s | peer | 3 s | 1.5x |",
    ]
