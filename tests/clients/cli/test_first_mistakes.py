"""Common first mistakes: each gets one sentence that says what to do, and exit code 1.

The table has every mistake that a newcomer made with files of their own.
"""

from __future__ import annotations

import codecs
import gzip
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from tests.clients.cli.conftest import NEOVISION2_HEADER, neovision2_row, spotgeo_entry
from tests.clients.cli.helpers import run

CSV = "sequence,frame,class,x1,y1,x2,y2,confidence\na,1,car,0,0,10,10,0.5\n"
MOT = "1,1,10,10,40,30,1,-1,-1,-1\n"
KITTI = "0 1 Car 0 0 -1.8 360 196 446 252 1.6 1.6 4.0 -5.8 2.2 20.4 -1\n"
COCO = {
    "images": [{"id": 1, "file_name": "cam/000007.jpg"}],
    "categories": [{"id": 1, "name": "car"}],
    "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10]}],
}
RESULT = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.5}
NEOVISION = "\n".join([NEOVISION2_HEADER, neovision2_row(0, 0, "Car")]) + "\n"
NEAREST = "; it looks most like {}; --input-format chooses another format"
GENERIC, ROWS = NEAREST.format("generic-csv"), NEAREST.format("motchallenge")

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "not a number": (
        {"a.csv": CSV.replace("0,0,10", "nan,0,10")},
        "a.csv, line 2, column x1: found 'nan', expected a finite number",
    ),
    "short row": ({"a.csv": CSV + "a,2\n"}, "a.csv, line 3: found 2 columns, expected 8 columns"),
    "row of one column": (
        {"a.csv": CSV + "a\n"},
        "a.csv, line 3: found 1 column, expected 8 columns",
    ),
    "semicolons": (
        {"a.csv": CSV.replace(",", ";")},
        "a.csv, line 1: found columns separated by semicolons, expected columns separated by "
        "commas" + GENERIC,
    ),
    "tabs": (
        {"a.csv": CSV.replace(",", "\t")},
        "a.csv, line 1: found columns separated by tabs, expected columns separated by commas"
        + GENERIC,
    ),
    "no header": (
        {"a.csv": "a,1,car,0,0,10,10,0.5\n"},
        "a.csv, line 1: no header; write the names of the columns into the first line" + GENERIC,
    ),
    "no frame": (
        {"a.csv": CSV.replace("frame", "image")},
        "a.csv, line 1, column frame: missing; the columns sequence, frame and coordinates must "
        "be there" + GENERIC,
    ),
    "empty file": (
        {"a.csv": ""},
        "a.csv: an empty file; if that is right, name its format with --input-format",
    ),
    "UTF-16": (
        {"a.csv": codecs.BOM_UTF16_LE + CSV.encode("utf-16-le")},
        "a.csv: text in UTF-16; save it as UTF-8",
    ),
    "JPEG": (
        {"a.jpg": b"\xff\xd8\xff\xe0\x00\x10JFIF"},
        "a.jpg: a JPEG image; give the annotations, not the images",
    ),
    "plain text": (
        {"a.txt": "These are my results\n"},
        (
            "a.txt: text without data, beginning with 'These are my results'; the formats are "
            "coco-json, spotgeo-json, pascal-voc, dota, visdrone-det, visdrone-mot, "
            "mots, motchallenge, neovision2-csv, kitti-tracking, yolo-text, generic-csv, jsonl, "
            "parquet, arrow"
        ),
    ),
    "TOML": (
        {"a.toml": "[[evaluators]]\nname = 'f1'\n"},
        "a.toml: a TOML document; give a manifest with --manifest",
    ),
    "XML": (
        {"a.xml": "<results></results>"},
        "a.xml: an XML document; write it as COCO JSON or generic CSV",
    ),
    "polygon labels": (
        {"labels/000.txt": "0 0.1 0.1 0.2 0.2 0.3 0.1\n"},
        (
            "labels/000.txt: rows of polygons, as YOLO has them for segmentation; write boxes: "
            "class, centre, width and height"
        ),
    ),
    "another JSON array": (
        {"a.json": '[{"name": "a.jpg", "labels": [{"category": "car", "box2d": {"x1": 1}}]}]'},
        (
            "a.json: a JSON array of objects with the keys 'name', 'labels', 'category', 'box2d', "
            "'x1'; write COCO JSON, JSON lines or generic CSV"
        ),
    ),
    "one YOLO file": (
        {"000.txt": "0 0.5 0.5 0.1 0.1\n"},
        "000.txt: one file of YOLO text; give the folder that holds a file for each image",
    ),
    "KITTI objects": (
        {"000.txt": KITTI.removeprefix("0 1 ")},
        (
            "000.txt: rows of KITTI's object detection, which name no frame; rows of "
            "kitti-tracking begin with frame and track id"
        ),
    ),
    "one level up of MOT results": (
        {"tracker/data/A.txt": MOT},
        (
            "tracker: a folder of no known format; did you mean tracker/data, which looks like "
            "motchallenge?"
        ),
    ),
    "one level up of Neovision2": (
        {"neo/truth/Tower/1.csv": NEOVISION},
        (
            "neo: a folder of no known format; did you mean neo/truth, which looks like "
            "neovision2-csv?"
        ),
    ),
    "a folder with a table": (
        {"out/a.csv": CSV},
        "out: a folder of no known format; did you mean out/a.csv, which looks like generic-csv?",
    ),
    "a folder with several tables": (
        {"out/a.csv": CSV, "out/b.csv": CSV},
        "out: a folder of no known format; did you mean one of out/a.csv, out/b.csv?",
    ),
    "root of a project": (
        {
            "project/pyproject.toml": "[project]\n",
            "project/README.md": "# Ours\n",
            "project/tables/speed.csv": "what,ms\nall,3\n",
            "project/src/a.py": "import os\n",
        },
        "project: a folder of no known format; give the file or folder of annotations itself",
    ),
    "empty folder": ({"empty/": ""}, "empty: an empty folder"),
    "NaN in a first row of MOT": (
        {"A.txt": MOT.replace("10,10", "nan,10")},
        "A.txt, line 1, column left: found 'nan', expected a finite number" + ROWS,
    ),
    "six columns of MOT": (
        {"A.txt": "1,1,10,10,40,30\n"},
        "A.txt, line 1: found 6 columns, expected 7 to 10 columns" + ROWS,
    ),
    "a comma at the end of MOT": (
        {"A.txt": "1,1,10,10,40,30,1,\n"},
        "A.txt, line 1: found a comma after the last value, expected a row that ends with a value"
        + ROWS,
    ),
    "blanks in MOT": (
        {"A.txt": MOT.replace(",", " ")},
        "A.txt, line 1: found values separated by blanks, expected values separated by commas"
        + ROWS,
    ),
    "a folder of MOT with a NaN": (
        {"det/A.txt": MOT.replace("10,10", "nan,10")},
        "det/A.txt, line 1, column left: found 'nan', expected a finite number" + ROWS,
    ),
    "VisDrone with a class that there is not": (
        {"A.txt": "1,1,10,10,40,30,1,4,0,0\n2,1,10,10,40,30,1,12,0,0\n"},
        (
            "A.txt, line 1: found a class (4) in the eighth of ten columns, as VisDrone's rows "
            "have it, expected -1 or a position, as MOTChallenge's have it; choose the format "
            "visdrone-mot; here all would count as pedestrians"
        ),
    ),
    "a column's name in another case": (
        {"a.csv": CSV.replace("confidence", "Confidence")},
        "a.csv, line 1, column Confidence: unknown column; did you mean confidence?",
    ),
    "an alias in another case": (
        {"a.csv": CSV.replace("confidence", "Score")},
        "a.csv, line 1, column Score: unknown column; did you mean score?",
    ),
    "index of pandas": (
        {"a.csv": ",sequence,frame,x,y\n0,a,1,2,3\n"},
        (
            "a.csv, line 1, column nothing: a column without a name; if it is the index of "
            "a data frame, write with index=False"
        ),
    ),
    "two columns of confidence": (
        {"a.csv": CSV.replace("class", "score")},
        (
            "a.csv, line 1: the columns score and confidence, which all mean confidence; keep only "
            "one of them"
        ),
    ),
    "no track in many rows": (
        {"A.txt": "".join(f"{frame},-2,1,1,4,4,1\n" for frame in range(1, 68))},
        "67 times, first at A.txt, line 1, column id: found -2, expected -1 (no track), 0 or more",
    ),
}


def _write(folder: Path, files: dict[str, Any]) -> str:
    """Write files; the first part of their paths is what is read."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            path.mkdir()
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return next(iter(files)).split("/")[0]


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_explained_in_one_sentence(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files, sentence = WRONG[mistake]
    name = _write(tmp_path, files)
    size = ("--image-size", "100x100")
    result = run("validate", name, "--side", "detections", *size)
    assert result.exit_code == 1
    lines = [line.strip() for line in result.stdout.splitlines()[1:]]
    assert lines[0] == sentence
    assert lines[1:] in ([], ["--all-faults lists every one of them"])
    refused = run("score", "f1", "--truth", name, "--detections", name, *size)
    assert refused.exit_code == 1
    # Both sides are one file here, so counts are doubled.
    assert sentence.removeprefix("67 times, ") in refused.stderr


def test_one_table_of_neovision2_names_its_folder(tmp_path: Path) -> None:
    _write(tmp_path, {"neo/Tower/1.csv": NEOVISION})
    for name, said in (
        ("neo/Tower/1.csv", f"one CSV file of Neovision2; give the folder {tmp_path}/neo"),
        ("neo/Tower", f"it is one domain of Neovision2: give the folder {tmp_path}/neo"),
    ):
        result = run("validate", str(tmp_path / name))
        assert result.exit_code == 1
        assert said in result.stdout


def test_one_table_in_the_working_directory_names_the_folder_above_its_domain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, {"neo/Tower/1.csv": NEOVISION})
    monkeypatch.chdir(tmp_path / "neo" / "Tower")
    assert f"give the folder {tmp_path}/neo" in run("validate", "1.csv").stdout


def test_a_tar_archive_of_neovision2_is_an_archive(tmp_path: Path) -> None:
    _write(tmp_path, {"neo/Tower/1.csv": NEOVISION})
    with tarfile.open(tmp_path / "neo.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        archive.add(tmp_path / "neo" / "Tower" / "1.csv", "1.csv")
    assert "neo.tar: a tar archive" in run("validate", str(tmp_path / "neo.tar")).stdout


def test_the_folder_of_one_ground_truth_is_its_sequence(tmp_path: Path) -> None:
    _write(tmp_path, {"A/gt/gt.txt": MOT, "A.txt": MOT})
    for truth in ("A", "A/gt", "A/gt/gt.txt"):
        paths = ("--truth", str(tmp_path / truth), "--detections", str(tmp_path / "A.txt"))
        result = run("score", "clear", *paths, "--format", "csv")
        assert result.exit_code == 0, result.stderr
        assert "clear,,,,mota,1.0" in result.stdout


SWAPPED: dict[str, tuple[dict[str, Any], str, str]] = {
    "COCO": ({"t.json": json.dumps(COCO), "d.json": json.dumps([RESULT])}, "t.json", "d.json"),
    "MOT": ({"t/A/gt/gt.txt": MOT, "d/A.txt": MOT}, "t", "d"),
    "KITTI": (
        {"t.txt": KITTI + KITTI.replace("Car", "DontCare"), "d.txt": KITTI},
        "t.txt",
        "d.txt",
    ),
    "Neovision2": (
        {"t/Tower/1.csv": NEOVISION + "1,,,,,,,,,,,,,,1\n", "d/Tower/1.csv": NEOVISION},
        "t",
        "d",
    ),
}


@pytest.mark.parametrize("name", SWAPPED)
def test_swapped_sides_are_named_if_a_file_shows_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files, truth, detections = SWAPPED[name]
    _write(tmp_path, files)
    right = run("score", "f1", "--truth", truth, "--detections", detections)
    assert right.exit_code == 0, right.stderr
    swapped = run("score", "f1", "--truth", detections, "--detections", truth)
    assert swapped.exit_code == 1
    assert "; it seems to be the other side; check --truth and --detections" in swapped.stderr


def test_a_missing_file_is_reported_as_by_a_shell(tmp_path: Path) -> None:
    result = run("validate", str(tmp_path / "a.csv"))
    assert (result.exit_code, result.stdout.splitlines()[1].strip()) == (
        1,
        f"{tmp_path}/a.csv: file not found",
    )


def test_unreadable_and_unwritable_paths_are_reported_in_the_words_of_the_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "whatever")

    (tmp_path / "a.csv").write_text(CSV)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", refuse)
        result = run("validate", str(tmp_path / "a.csv"))
        assert result.exit_code == 1
        assert result.stdout.splitlines()[1].strip() == f"{tmp_path}/a.csv: permission denied"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", refuse)
        both = ("--truth", str(tmp_path / "a.csv"), "--detections", str(tmp_path / "a.csv"))
        result = run("score", "f1", *both, "--output", str(tmp_path / "out.txt"))
        assert result.exit_code == 1
        said = f"Error: {tmp_path}/out.txt: cannot be written: permission denied"
        assert result.stderr.splitlines()[-1] == said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]


@pytest.mark.parametrize("content", ["[]", " [ ]\n", gzip.compress(b"[]", mtime=0)])
def test_empty_results_are_a_detector_that_finds_nothing(
    tmp_path: Path, content: str | bytes
) -> None:
    _write(tmp_path, {"t.json": json.dumps(COCO), "d.json": content})
    paths = ("--truth", str(tmp_path / "t.json"), "--detections", str(tmp_path / "d.json"))
    result = run("score", "f1", *paths, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    assert "f1,,,,false_negatives,1" in result.stdout


def test_an_empty_array_beside_a_spotgeo_truth_is_read_as_spotgeo(tmp_path: Path) -> None:
    _write(tmp_path, {"t.json": json.dumps([spotgeo_entry(1, (2, 3))]), "d.json": "[]"})
    paths = ("--truth", str(tmp_path / "t.json"), "--detections", str(tmp_path / "d.json"))
    result = run("score", "spotgeo", *paths)
    assert "found no entry for frame 1 of sequence 1" in result.stderr


def test_an_unknown_sequence_is_reported_with_its_first_line_and_a_suggestion(
    tmp_path: Path,
) -> None:
    head, box = "sequence,frame,class,x1,y1,x2,y2,confidence\n", "a,1,1,9,9,1\n"
    found = "".join(f"{name},0,{box}" for name in ("alpha", "alpha.mp4", "x1", "x2", "x3", "x4"))
    _write(tmp_path, {"t.csv": f"{head}alpha,0,{box}beta,0,{box}", "d.csv": head + found})
    paths = ("--truth", str(tmp_path / "t.csv"), "--detections", str(tmp_path / "d.csv"))
    result = run("score", "f1", *paths)
    assert result.exit_code == 1
    assert (
        "d.csv, line 3: found sequence alpha.mp4, expected a sequence of the truth or of the "
        "specification; did you mean alpha?\n"
    ) in result.stderr
    assert "4 times, first at" in result.stderr
    assert "d.csv, line 4: found sequence x1, expected a sequence" in result.stderr


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("sa.mp4", "did you mean sa?"),
        ("test/sb", "did you mean sb?"),
        ("7", "did you mean 007?"),
        ("data/0007.avi", "did you mean 007?"),
        ("camera", "there are 007, sa, sb"),
    ],
)
def test_an_unknown_sequence_is_the_one_with_another_folder_suffix_or_padding(
    name: str, advice: str, tmp_path: Path
) -> None:
    """Short names with these resemble nothing; and of few sequences, all are named."""
    head, box = "sequence,frame,class,x1,y1,x2,y2,confidence\n", "a,1,1,9,9,1\n"
    truth = "".join(f"{one},0,{box}" for one in ("sa", "sb", "007"))
    _write(tmp_path, {"t.csv": head + truth, "d.csv": f"{head}{name},0,{box}"})
    paths = ("--truth", str(tmp_path / "t.csv"), "--detections", str(tmp_path / "d.csv"))
    assert f"specification; {advice}\n" in run("score", "f1", *paths).stderr


def test_the_file_of_an_unknown_sequence_is_reported_with_a_suggestion(tmp_path: Path) -> None:
    row = "1,1,1,1,9,9,1,-1,-1,-1\n"
    _write(tmp_path, {"t/street/gt/gt.txt": "1,1,1,1,9,9,1,1,1\n"})
    _write(tmp_path, {"d/street.txt": row, "d/stret.txt": row})
    paths = ("--truth", str(tmp_path / "t"), "--detections", str(tmp_path / "d"))
    result = run("score", "clear", *paths)
    assert result.exit_code == 1
    assert "found sequence stret, " in result.stderr
    assert "; did you mean street?" in result.stderr


def test_json_lines_without_objects_have_the_shape_that_is_scored(tmp_path: Path) -> None:
    """They have no coordinates to tell it by."""
    frame = '{"sequence":"a","frame":%d,"objects":[]}\n'
    for name in ("truth", "detections"):
        (tmp_path / f"{name}.jsonl").write_text("".join(frame % number for number in range(1, 6)))
    sides = [f"--{side}={tmp_path / side}.jsonl" for side in ("truth", "detections")]
    scored = run("score", "f1", *sides, "--set", "base=euclidean", "--format", "json")
    assert scored.exit_code == 0
