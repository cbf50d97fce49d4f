"""Options that select a part of the data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.clients.cli.helpers import run, well, write_sides

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.detection.f1 import F1
from vidscore_evaluators.outcome_table import OperatingPoint, OutcomeBuilder, Outcomes

TRUTH = """\
sequence,frame,class,x1,y1,x2,y2
street,0,car,10,10,50,50
street,1,car,12,10,52,50
street,1,person,104,10,124,60
road,0,car,12,10,52,50
"""
DETECTIONS = """\
sequence,frame,class,x1,y1,x2,y2,confidence
street,0,car,12,10,52,50,0.9
street,1,car,300,10,340,50,0.7
road,0,car,300,10,340,50,0.2
"""


@pytest.fixture
def sides(tmp_path: Path) -> list[str]:
    """Options for two files."""
    return write_sides(tmp_path, TRUTH, DETECTIONS)


@pytest.mark.parametrize(
    ("options", "found", "missed"),
    [
        ([], 1, 3),
        (["--sequence", "street"], 1, 2),
        (["--sequence", "street", "--sequence", "road"], 1, 3),
        (["--label", "car", "--label", "person"], 1, 3),
        (["--label", "person"], 0, 1),
        (["--frames", "0:0"], 1, 1),
        (["--frames", "1:5", "--frames", "0"], 1, 3),
        (["--frames", "1:5", "--sequence", "street", "--label", "car"], 0, 1),
    ],
)
def test_only_the_selected_part_is_scored(
    sides: list[str], options: list[str], found: int, missed: int
) -> None:
    report = json.loads(well(run("score", "f1", *sides, *options, "--format", "json")))
    over_everything = {
        row["measure"]: row["value"]
        for row in report["scores"]
        if row["label"] is row["sequence"] is None
    }
    assert over_everything["true_positives"] == found
    assert over_everything["false_negatives"] == missed
    assert ("selection" in report) == bool(options)


def test_outcomes_cover_only_the_selected_part(
    sides: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def all_ignored(_: F1, aligned: Aligned, at: OperatingPoint) -> Outcomes:
        del at
        return OutcomeBuilder(aligned).build()

    monkeypatch.setattr(F1, "outcomes", all_ignored)
    chosen = ("--label", "car", "--sequence", "street")
    header, *rows = well(run("outcomes", "f1", *sides, *chosen)).splitlines()
    columns = header.split(",")
    places = [dict(zip(columns, row.split(","), strict=True)) for row in rows]
    assert {(row["sequence"], row["label"]) for row in places} == {("street", "car")}
    # Frame 1 has a car and a person; the car keeps its row in the file.
    assert [(row["side"], row["frame"], row["row"]) for row in places] == [
        ("truth", "0", "0"),
        ("detections", "0", "0"),
        ("truth", "1", "0"),
        ("detections", "1", "0"),
    ]


def test_a_table_names_the_selected_part(sides: list[str]) -> None:
    shown = well(run("score", "f1", "map", *sides, "--label", "car", "--frames", "0:1"))
    assert shown.count("of a part of the data: label car; frames 0:1\n") == 1
    assert "part of the data" not in well(run("score", "f1", *sides))


def test_a_domain_can_be_selected(tmp_path: Path) -> None:
    rows = ["domain,sequence,frame,class,x1,y1,x2,y2", "a,s,0,car,0,0,9,9", "b,s,0,car,0,0,9,9"]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    data = str(tmp_path / "data.csv")
    shown = well(
        run("score", "f1", "--truth", data, "--detections", data, "--domain", "b", "--format=csv")
    )
    assert "f1,,,,true_positives,1\n" in shown
    assert "f1,a," not in shown


def test_an_unknown_name_is_a_usage_error_with_a_suggestion(sides: list[str]) -> None:
    result = run("score", "f1", *sides, "--sequence", "stret", "--label", "cars")
    assert result.exit_code == 2
    assert "found sequence 'stret', expected a sequence of the truth; did you mean street?" in (
        result.stderr
    )
    assert "found label 'cars', expected a label that f1 scores; did you mean car?" in result.stderr


@pytest.mark.parametrize("frames", ["1:0", "one", "0-5", ""])
def test_invalid_frames_are_a_usage_error(sides: list[str], frames: str) -> None:
    result = run("score", "f1", *sides, "--frames", frames)
    assert result.exit_code == 2
    assert f"Invalid value for --frames: found '{frames}', expected frames such as" in result.stderr


def test_a_note_says_that_rules_on_whole_sequences_see_only_a_part(tmp_path: Path) -> None:
    rows = ["sequence,frame,class,x1,y1,x2,y2,track_id", "s,0,car,0,0,9,9,1", "s,1,car,0,0,9,9,1"]
    sides = []
    for side in ("truth", "detections"):
        (tmp_path / f"{side}.csv").write_text("\n".join(rows) + "\n")
        sides += [f"--{side}", str(tmp_path / f"{side}.csv")]
    result = run("score", "clear", *sides, "--frames=1", "--strict")
    assert result.exit_code == 0
    assert result.stderr == (
        "Note: 1 x evaluator with rules on whole sequences sees only the chosen frames: "
        "tracks begin and end with them\n"
    )
