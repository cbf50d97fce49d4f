"""Files may have any name that the system allows, including names that are not text."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pyarrow.parquet as pq
import pytest
from tests.clients.cli.helpers import run, well

ODD = os.fsdecode(b"x\xff")
"""A name that is not UTF-8, as Python represents it."""

SHOWN = r"x\udcff"
COLUMNS = "sequence,frame,class,track,x1,y1,x2,y2"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Truth and two systems, in files with unusual names."""
    monkeypatch.chdir(tmp_path)
    Path(f"t{ODD}.csv").write_text(f"{COLUMNS}\ns,0,a,1,1,1,9,9\n")
    for name in (f"{ODD}.csv", "a=1.csv"):
        Path(name).write_text(f"{COLUMNS},confidence\ns,0,a,1,1,1,9,9,0.5\n")
    return tmp_path


def test_a_name_that_is_not_text_is_shown_in_every_form() -> None:
    files = ("--truth", f"t{ODD}.csv", "--detections", "*.csv")
    for form in ("table", "csv"):
        assert SHOWN in run("score", "f1", *files, "--format", form).stdout
    run("score", "f1", *files, "--format", "parquet", "--output", "o.parquet")
    assert f"{SHOWN}.csv" in pq.read_table("o.parquet")["system"].to_pylist()


def test_a_page_shows_files_whose_names_are_not_text(folder: Path) -> None:
    sides = ("--truth", f"t{ODD}.csv", "--detections", f"{ODD}.csv")
    well(run("view", "f1", *sides, "--draws", "0", "--output", "page.html"))
    assert SHOWN in (folder / "page.html").read_text("utf-8")


def test_pictures_of_systems_whose_names_are_not_text_are_complete(folder: Path) -> None:
    systems = ("--system", f"{ODD}.csv", "--system", "bell\a=a=1.csv")
    options = ("--truth", f"t{ODD}.csv", *systems, "--pictures", "pictures")
    well(run("trust", "ranking", "f1", *options))
    pictures = [ET.parse(path).getroot() for path in (folder / "pictures").iterdir()]
    texts = {text for picture in pictures for text in picture.itertext()}
    assert {SHOWN, r"bell\x07"} <= texts


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("compare f1 --truth t.csv a=1.csv b=b.csv --format json", ["a=1", "b"]),
        ("trust ranking f1 --truth t.csv --system a=1.csv --system b=b.csv --format json",
         ["a=1", "b"]),
    ],
)  # fmt: skip
def test_an_existing_file_is_a_path_whatever_its_name_contains(
    command: str, names: list[str]
) -> None:
    Path(f"t{ODD}.csv").rename("t.csv")
    Path(f"{ODD}.csv").rename("b.csv")
    document = json.loads(well(run(*command.split())))
    found = document[0] if isinstance(document, list) else document
    assert [one["name"] if isinstance(one, dict) else one for one in found["systems"]] == names


def test_a_page_accepts_a_file_with_an_equals_sign_in_its_name(folder: Path) -> None:
    sides = ("--truth", f"t{ODD}.csv", "--detections", "a=1.csv")
    well(run("view", "f1", *sides, "--draws", "0", "--output", "page.html"))
    assert "a=1" in (folder / "page.html").read_text("utf-8")


def test_a_title_that_is_not_text_is_a_usage_error() -> None:
    result = run("benchmark", "new", "f1", "--title", ODD)
    assert (result.exit_code, f"--title: found '{SHOWN}', expected" in result.stderr) == (2, True)
