"""`vidscore score --detections 'runs/*'`: one sorted table of all systems."""

from __future__ import annotations

import csv
import gc
import io
import json
import os
import weakref
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from tests.clients.cli.helpers import run, well

from vidscore_cli.inputs import read_data
from vidscore_evaluators.scoring import score_pair

HEADER = "sequence,frame,class,x1,y1,x2,y2"
EVERY = ("--truth", "truth.csv", "--detections", "runs/*")


def write_system(folder: Path, name: str, x: int) -> None:
    """A system that finds the only object, x pixels off."""
    row = f"a,0,car,{x},0,{x + 10},10,0.5,1\n"
    text = f"{HEADER},confidence,track_id\n{row}a,1,,,,,,,\n"
    (folder / f"{name}.csv").write_text(text)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a truth, and the systems ``near``, ``far`` and ``also``."""
    (tmp_path / "truth.csv").write_text(f"{HEADER},track_id\na,0,car,0,0,10,10,1\na,1,,,,,,\n")
    (tmp_path / "runs").mkdir()
    write_system(tmp_path / "runs", "near", 1)
    write_system(tmp_path / "runs", "far", 90)
    write_system(tmp_path / "runs", "also", 2)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(*options: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(well(run("score", *options, *EVERY, "--format", "csv")))))


def test_systems_are_sorted_and_equal_ones_share_a_rank() -> None:
    """Near and also find the object, far does not: F1 is 1, 1 and 0."""
    header, *rows = lines("f1")
    assert header[:3] == ["rank", "system", "f1"]
    assert [row[:3] for row in rows] == [
        ["1", "runs/also.csv", "1.0"],
        ["1", "runs/near.csv", "1.0"],
        ["3", "runs/far.csv", "0.0"],
    ]


def test_a_pattern_without_quotes_is_reported_in_one_sentence() -> None:
    """The shell has put the further systems in the place of evaluators."""
    result = run("score", "f1", *EVERY[:3], "runs/also.csv", "runs/far.csv", "runs/near.csv")
    said = "runs/far.csv is a file or folder, not an evaluator; a pattern such as 'runs/*' needs"
    assert (result.exit_code, said in result.stderr) == (2, True)
    assert "near" not in result.stderr
    too_long = run("score", "x" * 300, *EVERY[:3], "runs/also.csv")
    assert (too_long.exit_code, "no evaluator is called" in too_long.stderr) == (2, True)


def test_scores_equal_those_of_each_system_alone() -> None:
    header, *rows = lines("f1", "map")
    assert "f1.precision" in header
    assert "map.ap" in header
    for row in rows:
        alone = well(
            run("score", "f1", "map", "--truth", "truth.csv", "--detections", row[1],
                "--format", "csv")
        )  # fmt: skip
        wanted = {
            f"{one[0]}.{one[4]}": one[5]
            for one in csv.reader(io.StringIO(alone))
            if one[1:4] == ["", "", ""]
        }
        assert dict(zip(header[2:], row[2:], strict=True)) == wanted


def test_an_undefined_score_is_last() -> None:
    """Without a match, MOTP is undefined."""
    header, *rows = lines("clear", "f1")
    place = header.index("clear.motp")
    assert [row[1] for row in rows][-1] == "runs/far.csv"
    assert rows[-1][place] == ""


def test_json_has_an_object_for_each_system() -> None:
    found = json.loads(well(run("score", "f1", *EVERY, "--format", "json")))
    assert [(one["rank"], one["system"], one["scores"]["f1"]) for one in found] == [
        (1, "runs/also.csv", 1.0),
        (1, "runs/near.csv", 1.0),
        (3, "runs/far.csv", 0.0),
    ]


def test_parquet_has_types_and_nulls() -> None:
    well(run("score", "clear", *EVERY, "--format", "parquet", "--output", "all.parquet"))
    table = pq.read_table("all.parquet")
    assert table.column_names[:2] == ["rank", "system"]
    assert str(table.schema.field("id_switches").type) == "int64"
    assert table["motp"].to_pylist()[-1] is None
    assert table["system"].to_pylist()[-1] == "runs/far.csv"


def test_no_system_stays_in_memory_while_the_next_one_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither its detections nor its report: the memory is that of the truth and one system."""
    read: list[weakref.ref[object]] = []
    reports: list[weakref.ref[object]] = []

    def noted_reading(*args: Any, **options: Any) -> Any:
        gc.collect()
        assert not any(seen() for seen in (*read, *reports[:-1]))
        pair = read_data(*args, **options)
        read.append(weakref.ref(pair.detections.annotations.coordinates))
        return pair

    def noted_scoring(*args: Any, **options: Any) -> Any:
        found = score_pair(*args, **options)
        reports.extend(map(weakref.ref, found))
        return found

    monkeypatch.setattr("vidscore_cli.commands.score.read_data", noted_reading)
    monkeypatch.setattr("vidscore_evaluators.scoring.score_pair", noted_scoring)
    assert len(lines("f1")) == 4
    assert (len(read), len(reports)) == (3, 3)


def test_the_default_output_is_a_table() -> None:
    text = well(run("score", "f1", *EVERY))
    assert text.startswith("3 systems, best first by f1 ")
    assert text.index("runs/near.csv") < text.index("runs/far.csv")


def test_an_invalid_system_is_named_and_the_others_are_scored(folder: Path) -> None:
    (folder / "runs" / "broken.csv").write_text(f"{HEADER}\na,0,car,x,0,1,1\n")
    done = run("score", "f1", *EVERY, "--format", "csv")
    assert done.exit_code == 1
    assert (
        "Error: runs/broken.csv was not scored: runs/broken.csv, line 2, column x1" in done.stderr
    )
    assert "1 system not scored" in done.stderr
    assert [line.split(",")[1] for line in done.stdout.splitlines()[1:]] == [
        "runs/also.csv",
        "runs/near.csv",
        "runs/far.csv",
    ]


def test_an_invalid_truth_stops_everything(folder: Path) -> None:
    (folder / "truth.csv").write_text(f"{HEADER}\na,0,car,x,0,1,1\n")
    done = run("score", "f1", *EVERY)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.count("truth.csv, line 2, column x1") == 1


def test_warnings_are_counted_by_system_and_are_errors_with_strict(folder: Path) -> None:
    (folder / "runs" / "far.csv").write_text(
        f"{HEADER},confidence,track_id\na,0,Car,90,0,99,10,0.5,1\n"
    )
    done = run("score", "f1", *EVERY, "--format", "csv")
    assert done.exit_code == 0
    assert "Warning: runs/far.csv has " in done.stderr
    done = run("score", "f1", *EVERY, "--format", "csv", "--strict")
    assert done.exit_code == 1
    assert "runs/far.csv" not in done.stdout


def test_folders_can_be_systems_too(folder: Path) -> None:
    for name in ("one", "two"):
        (folder / "tracks" / name).mkdir(parents=True)
        write_system(folder / "tracks" / name, "found", 1)
    options = ("--truth", "truth.csv", "--detections", "tracks/*/", "--format", "csv")
    done = run("score", "f1", *options)
    assert "tracks/one" in done.stderr  # A folder with a generic CSV has no recognised format.
    options = ("--truth", "truth.csv", "--detections", "tracks/*/found.csv", "--format", "csv")
    assert [line.split(",")[1] for line in well(run("score", "f1", *options)).splitlines()] == [
        "system",
        "tracks/one/found.csv",
        "tracks/two/found.csv",
    ]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--shard", "1/2", "--tally", "x"), "--tally can only be used with one system"),
        (("--sequences",), "--sequences can only be used with one system"),
        (("--fail-under", "f1=0.5"), "--fail-under can only be used with one system"),
        (("--format", "parquet"), "--format parquet needs --output"),
    ],
)
def test_options_of_a_single_system_are_refused(options: tuple[str, ...], said: str) -> None:
    done = run("score", "f1", *EVERY, *options)
    assert done.exit_code == 2
    assert said in done.stderr


def test_parquet_needs_several_systems() -> None:
    data = ("--truth", "truth.csv", "--detections", "runs/near.csv")
    done = run("score", "f1", *data, "--format", "parquet", "--output", "x.parquet")
    assert done.exit_code == 2
    assert "--format parquet needs several systems" in done.stderr


def test_a_pattern_without_a_match_is_refused() -> None:
    done = run("score", "f1", "--truth", "truth.csv", "--detections", "nowhere/*")
    assert done.exit_code == 2
    assert "nowhere/* names 0 paths" in done.stderr


def test_an_existing_path_is_not_a_pattern(folder: Path) -> None:
    write_system(folder, "run[1]", 1)
    data = ("--truth", "truth.csv", "--detections", "run[1].csv")
    assert "Over everything" in well(run("score", "f1", *data))


def test_a_pipe_among_systems_is_named_and_not_waited_for(folder: Path) -> None:
    """Perhaps nobody ever writes into it; the other systems are scored."""
    os.mkfifo(folder / "runs" / "left.csv")
    result = run("score", "f1", *EVERY, "--format", "csv")
    assert result.exit_code == 1
    assert "runs/left.csv was not scored: found a pipe, which may never end" in result.stderr
    assert [line.split(",")[1] for line in result.stdout.splitlines()[1:]] == [
        "runs/also.csv",
        "runs/near.csv",
        "runs/far.csv",
    ]
