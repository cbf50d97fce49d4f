"""Warnings go to standard error in every format, name a line, and can be made errors."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.clients.cli.helpers import run
from tests.evaluators.plausibility.changes import as_sizes, labelled
from tests.evaluators.plausibility.traffic import Columns, rows_where, traffic, without

TRUTH, DETECTIONS = traffic()


def write(path: Path, columns: Columns) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
    return str(path)


@pytest.fixture
def truth(tmp_path: Path) -> str:
    return write(tmp_path / "truth.csv", TRUTH)


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    """Detections with labels that the truth spells differently."""
    return write(tmp_path / "wrong.csv", labelled(DETECTIONS, car="Car"))


@pytest.fixture
def right(tmp_path: Path) -> str:
    return write(tmp_path / "right.csv", DETECTIONS)


def score(truth: str, detections: str, *more: str) -> Any:
    return run("score", "f1", "--truth", truth, "--detections", detections, *more)


@pytest.mark.parametrize("format_", ["table", "csv", "json"])
def test_warnings_go_to_standard_error_in_every_format(
    truth: str, wrong: str, format_: str
) -> None:
    result = score(truth, wrong, "--format", format_)
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: ")
    assert "'Car' for 'car'" in result.stderr
    assert "Warning" not in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("more", [["outcomes"], ["render", "--output", "pictures"]])
def test_outcomes_and_pictures_have_the_warnings_of_scores(
    truth: str, wrong: str, more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = ("--truth", truth, "--detections", wrong)
    result = run(more[0], "f1", *files, *more[1:])
    assert result.exit_code == 0, result.stderr
    assert result.stderr == score(truth, wrong).stderr != ""


@pytest.mark.parametrize("format_", ["table", "csv", "json"])
def test_valid_files_leave_standard_error_empty(truth: str, right: str, format_: str) -> None:
    assert score(truth, right, "--format", format_).stderr == ""


def test_warnings_are_in_the_json(truth: str, wrong: str) -> None:
    [warning] = json.loads(score(truth, wrong, "--format", "json").stdout)["warnings"]
    assert warning["code"] == "labels_written_otherwise"
    assert set(warning) == {"code", "message", "count"}


def test_a_warning_names_file_and_line_of_its_example(truth: str, tmp_path: Path) -> None:
    """All boxes of the file are swapped, so the first one is in its first row."""
    path = write(tmp_path / "sizes.csv", as_sizes(DETECTIONS))
    lines = score(truth, path).stderr.splitlines()
    [swapped] = [line for line in lines if "x2 < x1" in line]
    assert swapped.endswith(f"[{path}, line 2]")


def test_a_warning_of_several_evaluators_is_printed_once(truth: str, wrong: str) -> None:
    arguments = ("--truth", truth, "--detections", wrong, "--format", "csv")
    assert len(run("score", "f1", "map", *arguments).stderr.splitlines()) == 1


def test_a_warning_of_some_evaluators_names_them(truth: str, tmp_path: Path) -> None:
    bare = write(tmp_path / "bare.csv", without(DETECTIONS, "confidence"))
    arguments = ("--truth", truth, "--detections", bare, "--format", "csv")
    [line] = run("score", "f1", "map", "coco", *arguments).stderr.splitlines()
    assert line.endswith("(map, coco)")


def test_strict_makes_warnings_errors_and_writes_nothing(
    truth: str, wrong: str, tmp_path: Path
) -> None:
    output = tmp_path / "report.json"
    result = score(truth, wrong, "--strict", "--format", "json", "--output", str(output))
    assert (result.exit_code, result.stdout, output.exists()) == (1, "", False)
    assert result.stderr.splitlines()[-1] == (
        "Error: 1 warning, which --strict makes errors; nothing was written"
    )


def test_strict_accepts_valid_files(truth: str, right: str) -> None:
    assert score(truth, right, "--strict").exit_code == 0


def test_strict_accepts_notes(right: str, tmp_path: Path) -> None:
    """What the ground truth itself leaves out is nobody's mistake."""
    flags = np.where(np.arange(len(TRUTH["frame"])) % 5 == 0, "region", "")
    regions = write(tmp_path / "regions.csv", TRUTH | {"flags": flags})
    neovision2 = ("--set", "dont_care=neovision2")
    result = score(regions, right, "--strict", *neovision2)
    assert result.exit_code == 0
    assert result.stderr.startswith("Note: ")


def test_validate_warns_about_detections_with_their_truth(truth: str, wrong: str) -> None:
    result = run("validate", wrong, "--truth", truth)
    assert result.exit_code == 0
    assert "'Car' for 'car'" in result.stderr
    assert "readable, but 1 thing looks wrong" in result.stdout
    assert run("validate", wrong, "--truth", truth, "--strict").exit_code == 1


def test_validate_warns_about_ground_truth_alone(tmp_path: Path) -> None:
    twice = write(tmp_path / "twice.csv", rows_where(TRUTH, [0, 0, 1, 2]))
    result = run("validate", twice)
    assert "have the box and the label of another one in their frame" in result.stderr
    assert f"[{twice}, line 2]" in result.stderr


def test_validate_shows_the_content_of_a_file(tmp_path: Path) -> None:
    rows = {
        "sequence": ["north"] * 3,
        "frame": [0, 1, 1],
        "class": ["car", "car", "tram"],
        "x1": [0, 1, 50],
        "y1": [0, 0, 0],
        "x2": [10, 11, 90],
        "y2": [20, 20, 20],
        "track_id": [1, 1, 2],
    }
    path = write(tmp_path / "few.csv", {name: np.array(column) for name, column in rows.items()})
    lines = run("validate", path).stdout.splitlines()
    assert lines[-5:] == [
        "  objects    3",
        "  classes    car 2, tram 1",
        "  width      10 to 40 (median 10) px",
        "  height     20 px",
        "  tracks     2, frames of each: 1 to 2 (median 1.5)",
    ]


def test_validate_names_labels_that_only_the_truth_has(truth: str, tmp_path: Path) -> None:
    """A label without detections is shown, but is not a warning."""
    cars = write(tmp_path / "cars.csv", rows_where(DETECTIONS, DETECTIONS["class"] == "car"))
    result = run("validate", cars, "--truth", truth)
    assert result.stderr == ""
    assert "only in the ground truth: bus" in result.stdout


def test_validate_gives_contents_and_warnings_as_json(truth: str, wrong: str) -> None:
    result = run("validate", wrong, "--truth", truth, "--format", "json")
    document = json.loads(result.stdout)
    assert [warning["code"] for warning in document["warnings"]] == ["labels_written_otherwise"]
    assert document["only_in_truth"] == ["car"]
    assert sum(document["objects_by_class"].values()) == document["objects"]
    assert set(document["width_px"]) == {"least", "median", "greatest"}
