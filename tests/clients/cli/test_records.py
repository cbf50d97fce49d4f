"""Lists of records on terminals of any width, and the shown names of resources."""

from __future__ import annotations

import io
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from vidscore_cli.commands.benchmark_checklist import _markdown
from vidscore_cli.hosted import summary
from vidscore_cli.records import short_names, within, write_record, write_records
from vidscore_cli.report_table import RecordsView
from vidscore_evaluators.report_grids import Grid

HEADINGS = ("rank", "team", "title", "f1", "truth_revision", "seal_time", "submission")
LINES: list[tuple[str, ...]] = [
    (str(rank), f"team-{rank:02}", f"A system called {rank}", "0.6667", "1",
     "2026-05-01 12:00:00", f"one-night/submission-{rank:02}")
    for rank in range(1, 4)
]  # fmt: skip


def drawn(width: int) -> list[str]:
    text = io.StringIO()
    grid = Grid("", HEADINGS, 2, LINES)
    Console(file=text, width=width, markup=False, highlight=False).print(RecordsView(grid))
    return text.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_every_name_is_complete_at_any_width(width: int) -> None:
    lines = drawn(width)
    text = "\n".join(lines)
    assert "…" not in text
    for cell in {cell for line in LINES for cell in line}:
        assert cell in text
    assert max(map(len, lines)) <= width


def test_a_wide_terminal_has_one_line_for_each_record() -> None:
    lines = [line.split() for line in drawn(200)]
    assert lines[0] == list(HEADINGS)
    assert lines[2] == " ".join(LINES[0]).split()
    assert len(lines) == 2 + len(LINES)


def test_each_part_on_a_narrow_terminal_begins_with_the_name_of_its_record() -> None:
    lines = drawn(80)
    assert sum(line.startswith("rank   team") for line in lines) == 2
    assert sum(line.startswith("2      team-02") for line in lines) == 2


def test_a_submission_of_one_frame_has_one_frame() -> None:
    submission = SimpleNamespace(
        name="benchmarks/b/submissions/s",
        state="scored",
        state_message="",
        state_reason="",
        frame_count=1,
    )
    assert summary(cast(Any, submission)) == "b/s is scored, 1 frame"


@pytest.mark.parametrize(
    ("full", "short"),
    [
        ("benchmarks/streets", "streets"),
        ("benchmarks/streets/submissions/v1", "streets/v1"),
        ("benchmarks/streets/submissions/v1/streams/east", "streets/v1/east"),
        ("benchmarks/a is not there, nor is benchmarks/b", "a is not there, nor is b"),
        ("streets/v1", "streets/v1"),
        ("tokens/falcon", "tokens/falcon"),
        ("my-benchmarks", "my-benchmarks"),
    ],
)
def test_a_full_name_has_a_short_form(full: str, short: str) -> None:
    assert short_names(full) == short


@pytest.mark.parametrize("benchmark", ["streets", "benchmarks/streets"])
@pytest.mark.parametrize("typed", ["v1", "streets/v1", "benchmarks/streets/submissions/v1"])
def test_a_submission_of_a_benchmark_may_be_named_in_each_form(benchmark: str, typed: str) -> None:
    assert within(benchmark, typed) == "streets/v1"


def test_a_table_of_one_record_keeps_lines_and_says_that_times_are_in_utc(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Noon in New York, in summer; a description of two lines, with a character that is escaped."""
    noon = datetime(2026, 7, 1, 12, tzinfo=timezone(timedelta(hours=-4)))
    record = {"time": noon, "description": "# Rules\n\x1bNone.", "title": "A\nteam  forged"}
    write_record(record, "table", "-")
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        ["time", "2026-07-01 16:00:00 UTC"],
        ["description", "# Rules"],
        ["\\x1bNone."],
        ["title", "A\\x0ateam  forged"],
    ]


def test_headings_from_a_server_are_no_commands_to_a_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Such as the names of measures."""
    write_records(
        [{"team": "red", "f1\x1b]0;me\x07": 1.0}], ["team", "f1\x1b]0;me\x07"], "table", "-"
    )
    assert capsys.readouterr().out.split()[:2] == ["team", "f1\\x1b]0;me\\x07"]


def test_a_checklist_from_a_server_is_no_command_to_a_terminal_and_forges_no_question() -> None:
    item = SimpleNamespace(question="Who\x1b[2J?", answer="I.\n## What?", advice="\x07")
    lines = list(_markdown("sky", [cast(Any, item)]))
    assert lines[-6:] == ["", "## Who\\x1b[2J?", "", "I.\\x0a## What?", "", "**To do:** \\x07"]
