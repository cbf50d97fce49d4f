"""Scores that must meet thresholds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.clients.cli.helpers import run, well, write_sides

TRUTH = """\
sequence,frame,class,x1,y1,x2,y2
s,0,car,0,0,10,10
s,1,car,200,0,210,10
"""
DETECTIONS = """\
sequence,frame,class,x1,y1,x2,y2,confidence
s,0,car,0,0,10,10,0.9
s,0,car,50,0,60,10,0.5
"""
# One of two objects is found and one of two detections is right: F1, precision and recall are 0.5.
# Over all recalls the precision is 1 up to recall 0.5 and 0 beyond.


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    """Options for two files."""
    return write_sides(tmp_path, TRUTH, DETECTIONS)


@pytest.mark.parametrize(
    ("thresholds", "failures"),
    [
        (["f1=0.5"], []),
        (["f1.f1=0.5", "recall=0"], []),
        (["f1=0.5001"], ["f1 of f1 is 0.5, expected at least 0.5001 (--fail-under)"]),
        (
            ["f1=0.8", "precision=0.5", "recall=1"],
            [
                "f1 of f1 is 0.5, expected at least 0.8 (--fail-under)",
                "recall of f1 is 0.5, expected at least 1.0 (--fail-under)",
            ],
        ),
    ],
)
def test_each_missed_threshold_is_a_line_and_the_exit_code_is_6(
    sides: list[str], thresholds: list[str], failures: list[str]
) -> None:
    typed = [word for text in thresholds for word in ("--fail-under", text)]
    result = run("score", "f1", *sides, *typed, "--format", "json")
    assert result.exit_code == (6 if failures else 0)
    assert result.stderr.splitlines() == [f"Error: {line}" for line in failures]
    assert json.loads(result.stdout)["evaluator"] == "f1"


def test_if_lower_is_better_the_threshold_is_the_maximum(sides: list[str]) -> None:
    # In frame 0 one of two is unmatched, in frame 1 all: the mean of 1/2 and 1.
    report = json.loads(well(run("score", "ospa", *sides, "--format", "json")))
    [value] = [
        row["value"]
        for row in report["scores"]
        if row["measure"] == "ospa" and row["label"] is row["domain"] is row["sequence"] is None
    ]
    assert value == 0.75
    assert run("score", "ospa", *sides, "--fail-under", "ospa=0.75").exit_code == 0
    result = run("score", "ospa", *sides, "--fail-under", "ospa=0.74")
    assert result.exit_code == 6
    assert result.stderr == "Error: ospa of ospa is 0.75, expected at most 0.74 (--fail-under)\n"


def test_an_undefined_score_misses_every_threshold(tmp_path: Path) -> None:
    for name in ("truth", "detections"):
        (tmp_path / f"{name}.csv").write_text("sequence,frame,class,x1,y1,x2,y2\ns,0,,,,,\n")
    result = run(
        "score", "f1", "--truth", str(tmp_path / "truth.csv"),
        "--detections", str(tmp_path / "detections.csv"), "--fail-under", "recall=0",
    )  # fmt: skip
    assert result.exit_code == 6
    warning, error = result.stderr.splitlines()
    assert warning.startswith("Warning: 1 x ground truth has no object")
    assert error == "Error: recall of f1 is undefined, expected at least 0.0 (--fail-under)"


def test_the_report_is_written_even_if_a_threshold_is_missed(
    sides: list[str], tmp_path: Path
) -> None:
    output = tmp_path / "report.json"
    result = run(
        "score", "f1", *sides, "--fail-under=f1=1", "--format=json", "--output", str(output)
    )
    assert result.exit_code == 6
    assert json.loads(output.read_text())["evaluator"] == "f1"


@pytest.mark.parametrize(
    ("threshold", "reason"),
    [
        ("f1", "expected MEASURE=VALUE or EVALUATOR.MEASURE=VALUE, such as f1=0.8"),
        ("f1=", "expected MEASURE=VALUE"),
        ("f1=nan", "expected MEASURE=VALUE"),
        ("f1=80%", "expected MEASURE=VALUE"),
        ("=1", "expected MEASURE=VALUE"),
        ("recal=1", "no measure is called 'recal'; did you mean recall?"),
        ("coco.ap=1", "coco is not being scored; there are f1, clear"),
        ("f1.mota=1", "no measure is called 'mota'; there are f1, precision"),
        ("clear.detections=1", "neither more nor less of detections is better on its own"),
        (
            "precision=1",
            "several evaluators measure it; address one as f1.precision, clear.",
        ),
    ],
)
def test_an_invalid_threshold_is_a_usage_error(
    sides: list[str], threshold: str, reason: str
) -> None:
    result = run("score", "f1", "clear", *sides, "--fail-under", threshold)
    assert result.exit_code == 2
    assert f"--fail-under {threshold}: {reason}" in result.stderr
