"""`vidscore compare` first says whether a system is better than another."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from tests.clients.cli.helpers import run, well

from vidscore_evaluators.remote_files import RemotePath, write_file

FOUND = {"bad": (1, 4, 2, 3, 1, 2), "good": (7, 8, 6, 8, 7, 8)}
"""The number of the eight objects of each sequence that a system finds."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the truth, and detections of two systems; the working directory."""
    rows = "sequence,frame,class,x1,y1,x2,y2\n"
    objects = [(f"s{row}", frame) for row in range(6) for frame in range(8)]
    line = "{},{},car,0,0,10,10\n"
    (tmp_path / "truth.csv").write_text(rows + "".join(line.format(*one) for one in objects))
    for name, counts in FOUND.items():
        found = [one for one in objects if one[1] < counts[int(one[0][1:])]]
        text = rows + "".join(line.format(*one) for one in found)
        (tmp_path / f"{name}.csv").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_answer_is_printed_first() -> None:
    # 13 and 44 of 48 objects: F1 is 26 / 61 = 0.4262 and 88 / 92 = 0.9565.
    shown = well(run("compare", "f1", "--truth", "truth.csv", "bad.csv", "good.csv"))
    first, _, title, headings, *_ = shown.splitlines()
    assert first.startswith("good is better than bad in f1 by 0.5303 [0.")
    assert title == "good beside bad"
    assert headings.split() == [
        "measure", "bad", "good", "difference", "low", "high", "p", "better",
    ]  # fmt: skip
    assert "0.4262   0.9565       0.5303" in shown
    assert "6 sequences are few" in shown
    assert " 1.0000\n" not in shown
    assert "by their difference in f1" in shown


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_the_same_seed_gives_the_same_bytes() -> None:
    words = ("compare", "f1", "--truth", "truth.csv", "bad.csv", "good.csv", "--draws", "50")
    first = well(run(*words, "--format", "json"))
    assert well(run(*words, "--format", "json", "--workers", "2")) == first
    assert well(run(*words, "--format", "json", "--seed", "2")) != first


@pytest.mark.usefixtures("folder")
def test_json_is_an_object_or_for_several_evaluators_an_array() -> None:
    words = ("--truth", "truth.csv", "bad.csv", "new=good.csv", "--draws=20", "--format=json")
    one = json.loads(well(run("compare", "f1", *words)))
    assert one["systems"] == ["bad", "new"]
    assert one["comparisons"][0]["verdict"] == "better"
    several = json.loads(well(run("compare", "f1", "map", *words)))
    assert [entry["evaluator"] for entry in several] == ["f1", "map"]


@pytest.mark.usefixtures("folder")
def test_markdown_and_latex_have_the_same_tables() -> None:
    words = ("compare", "f1", "--truth", "truth.csv", "bad.csv", "good.csv", "--draws", "20")
    markdown = well(run(*words, "--format", "markdown"))
    assert markdown.startswith("**good is better than bad in f1 by 0.5303")
    assert "| f1 " in markdown
    latex = well(run(*words, "--format", "latex"))
    assert "\\begin{table}" in latex
    assert "good is better than bad in f1" in latex


@pytest.mark.usefixtures("folder")
def test_csv_has_a_line_per_score_and_per_sequence() -> None:
    text = well(
        run("compare", "f1", "--truth=truth.csv", "bad.csv", "good.csv", "--draws=20", "--top=2",
            "--format=csv")
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(text)))
    [overall] = [
        row for row in rows
        if row["measure"] == "f1" and not row["label"] and not row["sequence"]
    ]  # fmt: skip
    assert (overall["first"], overall["second"]) == ("bad", "good")
    assert float(overall["difference"]) == pytest.approx(88 / 92 - 26 / 61)
    assert len([row for row in rows if row["sequence"] and not row["frame"]]) == 2
    assert {row["contribution"] == "" for row in rows if not row["sequence"]} == {True}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("systems", "code"), [(("good.csv", "bad.csv"), 6), (("bad.csv", "good.csv"), 0)]
)
def test_a_worse_system_can_be_a_failure(systems: tuple[str, str], code: int) -> None:
    words = ("--truth", "truth.csv", "--fail-if-worse", "--format", "json", "--draws", "50")
    result = run("compare", "f1", *systems, *words)
    assert result.exit_code == code
    assert json.loads(result.stdout)["evaluator"] == "f1"
    said = "Error: bad is worse than good in f1 by 0.5303 ["
    assert result.stderr.startswith(said) == (code == 6)
    assert result.stderr.count("\n") == (code == 6)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("sequences", "reason"),
    [("s1 s2 s3 s4", "4 sequences are too few to call a system better."), ("s1", "There is only")],
)
def test_too_few_sequences_to_find_a_worse_system_are_a_warning(
    sequences: str, reason: str
) -> None:
    """A test in continuous integration that cannot fail would otherwise look passed."""
    chosen = [f"--sequence={name}" for name in sequences.split()]
    words = ("compare", "f1", "--truth=truth.csv", "good.csv", "bad.csv", "--draws=50", *chosen)
    result = run(*words, "--fail-if-worse")
    assert result.exit_code == 0
    assert result.stdout.startswith("bad and good cannot be told apart in f1 with so few sequences")
    assert result.stderr.startswith(f"Warning: --fail-if-worse finds nothing: {reason}")
    assert run(*words).stderr == ""


@pytest.mark.usefixtures("folder")
def test_a_difference_that_may_be_chance_is_not_a_failure(folder: Path) -> None:
    lines = (folder / "good.csv").read_text().splitlines(keepends=True)
    (folder / "nearly.csv").write_text("".join(lines[:-1]))
    words = ("compare", "f1", "--truth", "truth.csv", "good.csv", "nearly.csv", "--fail-if-worse")
    result = run(*words, "--draws=50")
    assert result.exit_code == 0
    assert result.stdout.startswith("nearly and good cannot be told apart in f1: nearly has 0.0")


@pytest.mark.usefixtures("folder")
def test_a_part_of_the_data_is_compared() -> None:
    words = ("--truth", "truth.csv", "bad.csv", "good.csv", "--sequence", "s1", "--draws", "20")
    shown = well(run("compare", "f1", *words))
    assert "of a part of the data: sequence s1\n" in shown
    assert "There is only one sequence" in shown
    # 4 and 8 of 8 objects: 8 / 12 and 1.
    assert "0.6667   1.0000       0.3333" in shown


@pytest.mark.usefixtures("folder")
def test_frames_of_one_sequence_are_drawn() -> None:
    """Four of eight objects, each in a frame of its own, and all of them: the verdict is clear."""
    words = ("compare", "f1", "--truth", "truth.csv", "bad.csv", "good.csv", "--sequence", "s1")
    shown = well(run(*words, "--draw", "frames", "--draws", "200"))
    assert shown.startswith("good is better than bad in f1 by 0.3333 [0.")
    assert "over 200 draws of the 8 frames, seed 1." in shown
    assert "8 frames are few: intervals" in shown
    assert "Draws of frames say how far other frames would differ, not other sequences." in shown


@pytest.mark.usefixtures("folder")
def test_a_warning_about_the_truth_is_printed_once(folder: Path) -> None:
    for name in ("bad", "good"):
        text = (folder / f"{name}.csv").read_text().replace("car", "Car")
        (folder / f"{name}.csv").write_text(text)
    result = run("compare", "f1", "--truth", "truth.csv", "bad.csv", "good.csv", "--draws", "5")
    assert result.exit_code == 0
    assert result.stderr.count("labels that differ from the ground truth's by case") == 2
    assert len(set(result.stderr.splitlines())) == len(result.stderr.splitlines())


def test_systems_may_be_at_addresses(folder: Path) -> None:
    pytest.importorskip("fsspec")
    write_file(RemotePath("memory://runs/good.csv"), (folder / "good.csv").read_bytes())
    systems = (f"file://{folder}/bad.csv", "memory://runs/good.csv")
    words = ("compare", "f1", "--truth", "truth.csv", "--draws", "20")
    first, *_ = well(run(*words, *systems)).splitlines()
    assert first == well(run(*words, "bad.csv", "good.csv")).splitlines()[0]
    missing = run(*words, "bad.csv", "memory://runs/none.csv")
    assert missing.exit_code == 1
    assert "memory://runs/none.csv: file or folder not found" in missing.stderr


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("f1", "bad.csv"), "at least two systems are needed after the evaluators"),
        (("f1",), "at least two systems are needed"),
        (("bad.csv", "good.csv"), "no evaluator: name one or more"),
        (("bad.csv", "good.csv", "f1"), "found f1 after a system, expected all evaluators first"),
        (("coc", "bad.csv", "good.csv"), "nor an evaluator; did you mean coco?"),
        (
            ("f1", "bad.csv", "none.csv"),
            "none.csv is neither a file or folder nor an evaluator; vidscore",
        ),
        (("f1", "bad.csv", "./bad.csv"), "found bad.csv twice"),
        (("f1", "a=bad.csv", "a=good.csv"), "there are two systems a: name them NAME=PATH"),
        (("f1", "bad.csv", "good.csv", "--sequence", "x"), "there are s0, s1, s2"),
    ],
)
def test_what_cannot_be_compared_is_a_usage_error(words: tuple[str, ...], reason: str) -> None:
    result = run("compare", *words, "--truth", "truth.csv")
    assert result.exit_code == 2
    assert reason in result.stderr
