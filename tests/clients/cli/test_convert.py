"""`vidscore convert` writes one side in another format and reports what it drops."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.clients.cli.helpers import run

from vidscore_cli.completions import FORMAT_NAMES
from vidscore_evaluators.formats import FORMATS

ROWS = (
    "sequence,frame,class,x1,y1,x2,y2,track_id,flags\na,1,car,1,2,11,22,3,\na,2,car,1,2,3,4,,{}\n"
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A generic CSV with a tracked car, and a crowd."""
    path = tmp_path / "truth.csv"
    path.write_text(ROWS.format("crowd"))
    return path


def test_the_help_names_every_format() -> None:
    assert sorted(FORMAT_NAMES.split(", ")) == sorted(FORMATS)


def test_written_changed_and_dropped_data_is_reported(table: Path) -> None:
    target = table.with_name("kitti")
    result = run("convert", str(table), str(target), "--to", "kitti-tracking")
    assert result.exit_code == 0, result.stderr
    assert result.stdout == (
        f"{target}: written\n"
        "  from     generic-csv\n"
        "  to       kitti-tracking, 1 file\n"
        "  changed  1 object flagged crowd left out\n"
        "  changed  1 frame without objects not listed\n"
    )
    assert (target / "a.txt").read_text().startswith("1 3 car -1 -1 -10 1 2 11 22 ")
    assert [path.name for path in table.parent.iterdir() if path.name.startswith(".")] == []


def test_a_single_file_replaces_an_older_one(table: Path) -> None:
    target = table.with_name("truth.json")
    target.write_text("older")
    assert run("convert", str(table), str(target), "--to", "coco-json").exit_code == 0
    assert json.loads(target.read_text())["annotations"][1]["iscrowd"] == 1


def test_the_size_of_images_is_used_in_both_directions(table: Path) -> None:
    """YOLO needs it to write and to read; the scores of a truth against itself stay perfect."""
    table.write_text(ROWS.format(""))
    target = str(table.with_name("yolo"))
    size = ("--image-size", "640x480")
    missing = run("convert", str(table), target, "--to", "yolo-text")
    assert missing.exit_code == 1
    assert "the size of its images (--image-size" in missing.stderr
    assert run("convert", str(table), target, "--to", "yolo-text", *size).exit_code == 0
    assert run("validate", target, *size).exit_code == 0
    scored = run("score", "f1", "--truth", target, "--detections", target, *size)
    assert scored.exit_code == 0, scored.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("truth.csv", "x", "--to", "kitti"),
            "unknown format 'kitti'; did you mean kitti-tracking?",
        ),
        (("truth.csv", "x", "--to", "coco-json", "--from", "csv"), "unknown format 'csv'; "),
        (("truth.csv", "truth.csv", "--to", "coco-json"), "is what this command reads"),
        (("truth.csv", ".", "--to", "coco-json"), "is a folder, expected a file"),
        (("truth.csv", ".", "--to", "yolo-text"), "exists, expected a new folder"),
        (("truth.csv", "no/where", "--to", "coco-json"), "there is no folder"),
        (("truth.csv", "x", "--to", "coco-json", "--truth", "y"), "needs --side detections"),
        (("truth.csv", "x", "--to", "yolo-text", "--image-size", "640"), "is not a size like"),
    ],
)
def test_invalid_options_are_refused(
    table: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], expected: str
) -> None:
    """Exit code 2, and nothing is written."""
    monkeypatch.chdir(table.parent)
    result = run("convert", *arguments)
    assert result.exit_code == 2
    assert expected in result.stderr
    assert [path.name for path in table.parent.iterdir()] == ["truth.csv"]


def test_invalid_input_is_refused_with_its_faults(table: Path) -> None:
    table.write_text(ROWS.format("crowds"))
    result = run("convert", str(table), str(table.with_name("x")), "--to", "coco-json")
    assert result.exit_code == 1
    assert "line 3, column flags" in result.stderr


def test_confidences_are_written_on_the_given_scale(tmp_path: Path) -> None:
    """Its bounds become 0 and 1."""
    path, target = tmp_path / "found.csv", tmp_path / "scaled.csv"
    path.write_text("sequence,frame,x1,y1,x2,y2,confidence\na,0,0,0,9,9,-5\n", encoding="utf-8")
    options = ("--to", "generic-csv", "--side", "detections", "--confidence-scale=-10,10")
    assert run("convert", str(path), str(target), *options).exit_code == 0
    assert ",0.25," in target.read_text(encoding="utf-8").splitlines()[1]


@pytest.mark.parametrize("place", ["domain", "sequence", "class"])
def test_a_name_that_a_spreadsheet_would_run_is_not_written_as_csv(
    tmp_path: Path, place: str
) -> None:
    row = {"domain": "", "sequence": "a", "frame": "1", "class": "car", "x": "1", "y": "2"}
    source = tmp_path / "points.csv"
    source.write_text(",".join(row) + "\n" + ",".join({**row, place: "=1+1"}.values()) + "\n")
    result = run("convert", str(source), str(tmp_path / "new.csv"), "--to", "generic-csv")
    assert result.exit_code == 1
    assert f"{place}: found '=1+1', expected a name that no spreadsheet" in result.stderr
    assert not (tmp_path / "new.csv").exists()


def test_standard_output_is_refused_as_a_target(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The summary goes there; a file named - used to be written, which no command reads."""
    monkeypatch.chdir(table.parent)
    result = run("convert", str(table), "-", "--to", "jsonl")
    assert result.exit_code == 2
    assert "TARGET: - is standard output; name a file or folder" in result.stderr
    assert [path.name for path in table.parent.iterdir()] == ["truth.csv"]
