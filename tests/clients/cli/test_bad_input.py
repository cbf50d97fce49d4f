"""Each fault of an input gets one clear error with its place and what was expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.clients.cli.conftest import (
    MOST_FRAME_OBJECTS,
    neovision2_row,
    spotgeo_entry,
    write_neovision2,
)
from tests.clients.cli.helpers import run, run_binary

GOOD = [spotgeo_entry(frame) for frame in (2, 3, 4, 5)]


def json_text(*entries: object) -> str:
    return json.dumps([*entries, *GOOD])


def broken(entry: dict[str, object], **changes: object) -> str:
    return json_text({**entry, **changes})


ENTRY = spotgeo_entry(1, (5.0, 5.0))

SPOTGEO = {
    "malformed": ("[{", ["line 1", "JSON"]),
    "empty file": ("", ["an empty file"]),
    "not an array": ('{"a": 1}', ["expected"]),
    "missing key": (json_text({"sequence_id": 1, "frame": 1}), ["entry 0", "object_coords"]),
    "unknown key": (broken(ENTRY, other=1), ["entry 0", "other"]),
    "not a number": (broken(ENTRY, object_coords=[["x", 1]]), ["entry 0", "object_coords"]),
    "nan": (json_text(ENTRY).replace("5.0", "NaN"), ["line 1"]),
    "infinity": (json_text(ENTRY).replace("5.0", "1e999"), ["1"]),
    "negative frame": (broken(ENTRY, frame=-1), ["entry 0", "frame", "-1"]),
    "frame that comes twice": (json_text(ENTRY, ENTRY), ["entry 1", "frame 1", "once"]),
    "wrong count": (broken(ENTRY, num_objects=2), ["entry 0", "num_objects", "2"]),
    "lengths that differ": (broken(ENTRY, object_coords=[[1, 2, 3]]), ["entry 0", "coords"]),
    "out of range": (broken(ENTRY, object_coords=[[9000, 1]]), ["entry 0", "9000", "639.5"]),
    "another sequence": (
        json_text(ENTRY, spotgeo_entry(1, sequence=99)),
        ["99", "expected"],
    ),
}


@pytest.mark.parametrize("name", SPOTGEO)
def test_an_invalid_spotgeo_file_is_refused_with_place_and_expectation(
    name: str, data: Path
) -> None:
    text, words = SPOTGEO[name]
    path = data / "detections.json"
    path.write_text(text)
    result = run("score", "spotgeo", "--truth", str(data / "truth.json"), "--detections", str(path))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: ")
    assert str(path) in result.stderr
    assert "expected" in result.stderr or "; " in result.stderr
    for word in words:
        assert word in result.stderr


ROW = neovision2_row(0, 0, "Car")

NEOVISION2 = {
    "wrong columns": ("a,b,c\n1,2,3", ["line 1"]),
    "row too short": ("0,1,2", ["line 2"]),
    "not a number": (ROW.replace("10,0", "ten,0", 1), ["line 2", "ten"]),
    "nan": (ROW.replace("10,0", "nan,0", 1), ["line 2", "nan"]),
    "infinity": (ROW.replace("10,0", "inf,0", 1), ["line 2", "inf"]),
    "negative frame": (ROW.replace("0,", "-4,", 1), ["line 2", "-4"]),
    "confidence over 1": (neovision2_row(0, 0, "Car", 1.5), ["line 2", "1.5"]),
    "quote that does not end": (f'{ROW}\n0,"', ["line 3"]),
}


@pytest.mark.parametrize("name", NEOVISION2)
def test_an_invalid_neovision2_file_is_refused_with_place_and_expectation(
    name: str, data: Path
) -> None:
    text, words = NEOVISION2[name]
    path = data / "detections" / "Tower" / "001.csv"
    if name == "wrong columns":
        path.write_text(text)
    else:
        write_neovision2(data / "detections", "Tower", "001", [text])
    folders = ("--truth", str(data / "truth"), "--detections", str(data / "detections"))
    result = run("score", "neovision2", *folders)
    assert (result.exit_code, result.stdout) == (1, "")
    assert str(path) in result.stderr
    for word in [*words, "expected"]:
        assert word in result.stderr


def test_every_fault_of_both_sides_is_listed(data: Path) -> None:
    truth, detections = data / "truth.json", data / "detections.json"
    truth.write_text(broken(ENTRY, num_objects=7))
    detections.write_text(broken(ENTRY, num_objects=8))
    result = run("score", "spotgeo", "--truth", str(truth), "--detections", str(detections))
    lines = result.stderr.splitlines()
    assert lines[0] == "Error: 2 faults:"
    assert str(truth) in lines[1]
    assert str(detections) in lines[2]


MIXED = (
    "neovision2-csv, as the truth is, or generic-csv, jsonl, parquet or arrow; "
    "convert one side (vidscore convert)"
)


@pytest.mark.parametrize(
    ("place", "reason"),
    [("nothing.json", "file not found"), ("truth", MIXED)],
)
def test_a_missing_file_or_one_of_another_shape_is_refused(
    place: str, reason: str, data: Path
) -> None:
    sides = ("--truth", str(data / place), "--detections", str(data / "detections.json"))
    result = run("score", "spotgeo", *sides)
    assert result.exit_code == 1
    assert reason in result.stderr


def test_a_folder_in_place_of_a_file_is_refused(data: Path) -> None:
    sides = ("--truth", str(data), "--detections", str(data / "detections.json"))
    result = run("score", "spotgeo", *sides, "--input-format", "spotgeo-json")
    assert result.exit_code == 1
    assert f"{data}: found a folder, expected" in result.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title = [", "invalid TOML"),
        ("colour = 1", "colour: unknown key; there are title"),
        ('[[evaluators]]\nname = "spotgio"', "did you mean spotgeo?"),
        ('[[evaluators]]\nname = "spotgeo"\nparameters = {taw = 1}', "did you mean tau?"),
    ],
)
def test_an_invalid_manifest_is_an_input_error_and_not_a_usage_error(
    text: str, reason: str, data: Path
) -> None:
    manifest = data / "manifest.toml"
    manifest.write_text(text)
    sides = ("--truth", str(data / "truth.json"), "--detections", str(data / "detections.json"))
    result = run("score", "--manifest", str(manifest), *sides)
    assert result.exit_code == 1
    assert reason in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "first"),
    [
        ("score spotgeo --truth truth.json --detections broken.json", 1, "Error: broken.json, "),
        ("scores", 2, "Usage: vidscore "),
        ("health --server 127.0.0.1:1", 3, "Error: no server answers at 127.0.0.1:1: "),
    ],
)
def test_the_installed_command_exits_with_the_code_of_the_error_without_a_traceback(
    arguments: str, code: int, first: str, data: Path
) -> None:
    (data / "broken.json").write_text("[")
    done = run_binary(*arguments.split(), cwd=data)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(first)
    assert "Traceback" not in done.stderr


def test_data_over_a_limit_of_the_server_is_refused_with_the_limit(data: Path, server: str) -> None:
    count = MOST_FRAME_OBJECTS + 1
    path = data / "detections.json"
    path.write_text(json_text(spotgeo_entry(1, *((float(x), 5.0) for x in range(count)))))
    result = run(
        "stream", "spotgeo", "--server", server, "--full-speed",
        "--truth", str(data / "truth.json"), "--detections", str(path),
    )  # fmt: skip
    assert result.exit_code == 1
    assert "maximum_frame_objects" in result.stderr
