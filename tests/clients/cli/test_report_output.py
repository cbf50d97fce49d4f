"""Reports as tables and CSV, and where they are written."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import stat
from pathlib import Path
from typing import Any

import click
import pytest
from msgspec import structs
from tests.clients.cli.helpers import example_report

from vidscore_cli import report_parts as report_parts_module
from vidscore_cli.output import (
    atomic_folder,
    check_output,
    console_on,
    deliver,
    deliver_json,
    write_atomically,
)
from vidscore_cli.report_parts import (
    Words,
    deliver_parts,
    fold_heading,
    grid_pages,
    parts_text,
    report_parts,
)
from vidscore_cli.report_table import parts_renderable
from vidscore_cli.reporting import View, reports_to_csv
from vidscore_evaluators.machine_text import csv_text
from vidscore_evaluators.names import holds_controls
from vidscore_evaluators.report import Block, Scores
from vidscore_evaluators.report_grids import Grid, format_number

TABLE = """\
neovision2 1
shape = box

By domain
  measure        Tower   Helicopter      all
  ──────────────────────────────────────────
  mean_nmotda   0.7500       0.9999   0.8750

By domain and label
                       ground_truth_       true_
  domain       label         objects   positives   nmotda
  ───────────────────────────────────────────────────────
  Tower        Car                 4           3   0.7500
  Helicopter   Car                 9           9   0.9999
  1 line without any score not shown; --format json has all

By label
  label   mean_nmotda
  ───────────────────
  Car          0.8750
  1 line without any score not shown; --format json has all

1 curve is not shown: roc
--curves shows their points, --format json has them
"""

SEQUENCES = """\
By domain and label and sequence
  domain   label   sequence   nmotda
  ──────────────────────────────────
  Tower    Car     001        0.5000
                   Été        1.0000
"""

CURVES = """\
Curve roc of Tower, Car
              detection_
  threshold         rate
  ──────────────────────
     0.9500       0.5000
     0.8500    undefined
"""

SEVERAL = """\
neovision2 1
shape = box
other 1
overlap_threshold = 0.2, shape = box

By domain
  evaluator    measure        Tower   Helicopter      all
  ───────────────────────────────────────────────────────
  neovision2   mean_nmotda   0.7500       0.9999   0.8750
  other        mean_nmotda                         0.5000

neovision2: By domain and label
"""

CSV = """\
evaluator,domain,label,sequence,measure,value
neovision2,Tower,Car,,ground_truth_objects,4
neovision2,Tower,Car,,true_positives,3
neovision2,Tower,Car,,nmotda,0.75
neovision2,Tower,Bus,,ground_truth_objects,0
neovision2,Tower,Bus,,true_positives,0
neovision2,Tower,Bus,,nmotda,
neovision2,Helicopter,Car,,ground_truth_objects,9
neovision2,Helicopter,Car,,true_positives,9
neovision2,Helicopter,Car,,nmotda,0.99999
neovision2,Tower,,,mean_nmotda,0.75
neovision2,Helicopter,,,mean_nmotda,0.99999
neovision2,,,,mean_nmotda,0.875
neovision2,,Car,,mean_nmotda,0.875
neovision2,,Bus,,mean_nmotda,
neovision2,Tower,Car,001,nmotda,0.5
neovision2,Tower,Car,Été,nmotda,1.0
"""


def table_of(tmp_path: Path, view: View) -> str:
    path = tmp_path / "report.txt"
    deliver_parts(report_parts([example_report()], view), str(path))
    return path.read_text(encoding="utf-8")


def test_a_report_as_a_table_equals_the_expected_one(tmp_path: Path) -> None:
    assert table_of(tmp_path, View()) == TABLE


@pytest.mark.parametrize(
    ("parameters", "line"),
    [
        ({"threshold": 0.5, "base": "iou", "distractor_classes": []}, "default parameters"),
        ({"threshold": 0.75, "distractor_classes": []}, "threshold = 0.75"),
    ],
)
def test_parameters_are_shown_if_they_are_not_the_defaults(
    tmp_path: Path, parameters: dict[str, Any], line: str
) -> None:
    path = tmp_path / "report.txt"
    report = dataclasses.replace(example_report(), evaluator="f1", parameters=parameters)
    deliver_parts(report_parts([report], View()), str(path))
    assert path.read_text(encoding="utf-8").splitlines()[1] == line


def test_parameters_of_several_values_are_shown_as_set_accepts_them(tmp_path: Path) -> None:
    parameters = {"thresholds": (0.5, 0.75), "distractor_classes": ()}
    path = tmp_path / "report.txt"
    report = dataclasses.replace(example_report(), parameters=parameters)
    deliver_parts(report_parts([report], View()), str(path))
    line = path.read_text(encoding="utf-8").splitlines()[1]
    assert line == "thresholds = 0.5,0.75, distractor_classes = none"


def test_scores_of_sequences_are_shown_on_request(tmp_path: Path) -> None:
    assert SEQUENCES in table_of(tmp_path, View(sequences=True))


def test_points_of_curves_are_shown_on_request(tmp_path: Path) -> None:
    assert CURVES in table_of(tmp_path, View(curves=True))


def test_several_evaluators_share_one_table_of_overall_scores(tmp_path: Path) -> None:
    mean = Scores((Block({"mean_nmotda": (0.5,)}),))
    other = dataclasses.replace(example_report(), evaluator="other", scores=mean)
    path = tmp_path / "report.txt"
    deliver_parts(report_parts([example_report(), other], View()), str(path))
    assert path.read_text(encoding="utf-8").startswith(SEVERAL)


WIDE = Grid(
    "猫 of ──",
    (
        "domain",
        "class",
        "a_measure_of_a_long_name",
        *(f"m{number}_" + "x" * 90 for number in range(120)),
    ),
    2,
    [("Été", "猫", *("0.5000",) * 121), ("Été", "dog", "undefined", *("-12.2500",) * 120)],
    left_out=2,
)
"""Wider than any text: its columns continue below."""


@pytest.mark.parametrize(
    "parts",
    [
        list(report_parts([example_report()], View(sequences=True, curves=True))),
        list(
            report_parts(
                [example_report(), dataclasses.replace(example_report(), evaluator="b")], View()
            )
        ),
        [WIDE, Words(""), structs.replace(WIDE, lines=[])],
        [Grid("no names", ("one", "two_\x9b"), 0, [("1", "2")]), Words("a\x1b[2J", heading=True)],
    ],
)
def test_without_a_terminal_a_table_is_the_text_that_a_terminal_would_draw(
    parts: list[Words | Grid],
) -> None:
    drawn = io.StringIO()
    console_on(drawn).print(parts_renderable(parts))
    assert parts_text(parts).splitlines() == [
        line.rstrip() for line in drawn.getvalue().split("\n")[:-1]
    ]


def test_each_cell_of_a_wide_table_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a column for each of 2,000 domains, the widths of all columns were found 2,000 times."""
    measured: list[str] = []

    def width(text: str) -> int:
        measured.append(text)
        return len(text)

    monkeypatch.setattr(report_parts_module, "cell_width", width)
    grid = Grid("wide", tuple(f"domain{column}" for column in range(50)), 1, [("0.5",) * 50] * 3)
    assert len(grid_pages(grid, 100)) == 6
    assert len(measured) == 50 * (1 + 3)


def test_a_report_as_csv_equals_the_expected_one() -> None:
    assert reports_to_csv([example_report()]) == CSV


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "undefined"),
        (12345, "12345"),
        (0.25, "0.2500"),
        (1.0, "1.0000"),
        (0.99999, "0.9999"),
        (1.00001, "1.0001"),
        (-0.99999, "-0.9999"),
        (2.9239766081871346e-05, "3e-05"),
        (1e-9, "1e-09"),
        (-0.123456, "-0.1235"),
        (52310.12346, "52310.1235"),
    ],
)
def test_a_number_is_rounded_but_never_to_an_integer_or_a_wide_number(
    value: float | None, text: str
) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("heading", "lines"),
    [
        ("detection_only_ground_truth_objects", ["detection_", "only_ground_", "truth_objects"]),
        ("детектор-после-дообучения на улице", ["детектор-", "после-", "дообучения", "на улице"]),
        ("smallest counter-example", ["smallest counter-example"]),
        ("x" * 60, ["x" * 26, "x" * 26, "x" * 8]),
        ("", [""]),
        ("__ -", ["__ -"]),
    ],
)
def test_a_long_heading_is_broken_where_words_end_or_cut(heading: str, lines: list[str]) -> None:
    """Names of systems are headings, too."""
    assert fold_heading(heading) == lines


def test_a_text_is_written_to_its_file_with_a_final_newline(tmp_path: Path) -> None:
    path = tmp_path / "Bericht über.txt"
    deliver("ä", str(path))
    assert path.read_bytes() == "ä\n".encode()


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        write_atomically(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]
    assert path.read_text() == "old"


def test_a_link_stays_a_link_to_the_written_file(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    link.symlink_to(real)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_atomically(Path(os.devnull), b"gone")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.parametrize(
    ("output", "reason"), [("", "is a folder"), ("missing/report.json", "there is no folder")]
)
def test_an_unwritable_output_is_refused_before_any_work(
    output: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(click.BadParameter, match=reason):
        check_output(str(tmp_path / output))


def test_a_missed_class_is_shown_and_one_that_does_not_occur_is_not(tmp_path: Path) -> None:
    """A figure of 0 is a score; counts of 0 beside undefined figures count nothing."""
    block = Block(
        {"objects": (3, 0), "ap": (0.0, None), "ap_small": (None, None)}, classes=("car", "bus")
    )
    report = dataclasses.replace(example_report(), scores=Scores((block,)))
    path = tmp_path / "report.txt"
    deliver_parts(report_parts([report], View()), str(path))
    text = path.read_text(encoding="utf-8")
    assert "car" in text
    assert "bus" not in text
    assert "1 line without any score not shown" in text


def test_no_cell_of_csv_is_a_formula_and_each_can_be_read_back() -> None:
    """Texts get an apostrophe, also those that have one before a formula; numbers do not."""
    cells = ["=1+1", "-x", "@a", "'=1", "'a", "-1.5", "it's"]
    assert csv_text(["+a", "b"], [[cell, -2.5] for cell in [*cells, None, -1]]) == (
        "'+a,b\n'=1+1,-2.5\n'-x,-2.5\n'@a,-2.5\n''=1,-2.5\n'a,-2.5\n-1.5,-2.5\nit's,-2.5\n,-2.5\n"
        "-1,-2.5\n"
    )


def test_booleans_are_written_in_csv_as_in_json() -> None:
    assert csv_text(["complete", "a"], [[True, 1], [False, 0]]) == "complete,a\ntrue,1\nfalse,0\n"


def test_json_for_a_terminal_says_the_same_without_control_characters(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    document = {"title": "a\x1b[31m\x9b31m\u202e\u2028\n\x7f é"}
    deliver_json(document, "-")
    text = capsysbinary.readouterr().out.decode()
    assert json.loads(text) == document
    assert not holds_controls(text.replace("\n", ""))
    assert "é" in text


def test_names_of_a_report_are_shown_without_control_characters() -> None:
    block = Block({"f1": (0.5,)}, domains=("d\x1b[2J",), classes=("c\nd",), sequences=("s\x9b",))
    report = dataclasses.replace(example_report(), scores=Scores(blocks=(block,)))
    text = io.StringIO()
    console_on(text).print(parts_renderable(report_parts([report], View(sequences=True))))
    assert r"d\x1b[2J" in text.getvalue()
    assert r"c\x0ad" in text.getvalue()
    assert not holds_controls(text.getvalue().replace("\n", ""))


def test_a_terminal_of_width_0_gets_the_whole_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts that find no terminal export COLUMNS=0; rich then prints nothing."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "dumb")  # without colours
    monkeypatch.setenv("COLUMNS", "0")
    text = Terminal()
    parts = list(report_parts([example_report()], View()))
    console_on(text).print(parts_renderable(parts))
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    assert lines == parts_text(parts).splitlines()


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666])
def test_a_replaced_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    """A report in a private file stays private, and one in a public file stays public."""
    file, folder = tmp_path / "scores.json", tmp_path / "results"
    file.touch()
    file.chmod(mode)
    write_atomically(file, b"new")
    assert stat.S_IMODE(file.stat().st_mode) == mode
    folder.mkdir()
    folder.chmod(mode | 0o100)
    with atomic_folder(folder) as filled:
        (filled / "a.txt").write_bytes(b"new")
    assert stat.S_IMODE(folder.stat().st_mode) == mode | 0o100


def test_a_private_file_does_not_inherit_wider_permissions(tmp_path: Path) -> None:
    file = tmp_path / "sites.toml"
    file.touch(0o644)
    write_atomically(file, b"new", 0o600)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
