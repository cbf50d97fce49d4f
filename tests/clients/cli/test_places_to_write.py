"""An unwritable path gives one line and exit code 1; long names are allowed."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.clients.cli.helpers import run, well

FILES = ("--truth", "t.csv", "--detections", "d.csv")
COMMANDS = {
    "score": ("score", "f1", *FILES, "--output"),
    "tally": ("score", "f1", *FILES, "--tally"),
    "outcomes": ("outcomes", "f1", *FILES, "--output"),
    "view": ("view", "f1", *FILES, "--draws", "0", "--output"),
    "render": ("render", "f1", *FILES, "--output"),
    "convert to a file": ("convert", "t.csv", "--to", "jsonl"),
    "convert to a folder": ("convert", "t.csv", "--to", "kitti-tracking"),
    "pictures": ("trust", "ranking", "f1", "--truth", "t.csv", "--system", "d.csv", "--system",
                 "e.csv", "--pictures"),
    "run folder": ("score", "f1", *FILES, "--dask", "local", "--run-folder"),
    "backup": ("backup",),
}  # fmt: skip
LONGEST = "ü" * 127 + "x"
"""A name of 255 bytes."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    columns = "sequence,frame,class,track,x1,y1,x2,y2"
    Path("t.csv").write_text(f"{columns}\ns,0,car,1,1,1,9,9\n")
    for name in ("d.csv", "e.csv"):
        Path(name).write_text(f"{columns},confidence\ns,0,car,1,1,1,9,9,0.5\n")
    Path("loop").symlink_to("back")
    Path("back").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("loop", "too many levels of symbolic links"),
        ("loop/x", "too many levels of symbolic links"),
        (f"{LONGEST}x", "file name too long"),
    ],
    ids=["loop", "in a loop", "long name"],
)
def test_an_impossible_path_is_reported_in_one_line(
    command: tuple[str, ...], place: str, reason: str, folder: Path
) -> None:
    before = sorted(folder.rglob("*"))
    result = run(*command, place)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {place}: cannot be written: {reason}\n"
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("no/x", "there is no folder {}/no to write x to"),
        ("t.csv/x", "there is no folder {}/t.csv"),
    ],
)
def test_a_path_in_a_missing_folder_is_a_usage_error(
    command: tuple[str, ...], place: str, said: str, folder: Path
) -> None:
    before = sorted(folder.rglob("*"))
    result = run(*command, place)
    assert (result.exit_code, said.format(folder) in result.stderr) == (2, True), result.stderr
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("option", ["run folder", "pictures"])
def test_a_file_in_place_of_a_folder_is_a_usage_error(option: str) -> None:
    Path("file").write_text("")
    result = run(*COMMANDS[option], "file")
    assert (result.exit_code, "file is not a folder\n" in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    "name",
    ["score", "tally", "view", "render", "convert to a file", "convert to a folder", "pictures"],
)
@pytest.mark.parametrize(
    ("number", "calls"),
    [(errno.EACCES, ("open", "mkdir")), (errno.EROFS, ("open", "mkdir", "unlink"))],
    ids=["locked", "read-only"],
)
def test_an_unwritable_folder_is_reported_in_the_last_line(
    name: str, number: int, calls: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only disk refuses to remove a file before it checks whether the file exists."""
    reason = os.strerror(number)

    def refusing(own: Callable[..., Any], path: object, *rest: Any, **named: Any) -> Any:
        if "locked" in str(path):
            raise OSError(number, reason, path)
        return own(path, *rest, **named)

    Path("locked").mkdir()
    for call in calls:
        monkeypatch.setattr(os, call, partial(refusing, getattr(os, call)))
    result = run(*COMMANDS[name], "locked/x")
    said = f"Error: locked/x: cannot be written: {reason.lower()}"
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (1, said)


@pytest.mark.parametrize(
    "name",
    ["score", "tally", "view", "render", "convert to a file", "convert to a folder"],
)
def test_a_name_may_have_the_maximum_length(name: str, folder: Path) -> None:
    well(run(*COMMANDS[name], LONGEST))
    written = {"t.csv", "d.csv", "e.csv", "loop", "back", LONGEST}
    assert {path.name for path in folder.iterdir()} == written


@pytest.mark.parametrize("command", [("backup",), ("benchmark", "read-truth", "sky")])
@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("-", "- is not a file on this machine"),
        ("s3://bucket/a", "s3://bucket/a is not a file on this machine"),
        ("pipe", "pipe is not a regular file"),
    ],
)
def test_private_output_must_be_a_regular_file(
    command: tuple[str, ...], place: str, said: str, folder: Path
) -> None:
    """A device or a pipe would be replaced, or show hidden truth to its reader."""
    os.mkfifo("pipe")
    before = sorted(folder.rglob("*"))
    result = run(*command, place, "--server", "127.0.0.1:9")
    assert (result.exit_code, f"Invalid value for FILE: {said}\n" in result.stderr) == (2, True)
    assert sorted(folder.rglob("*")) == before


def test_a_page_can_go_to_standard_output_like_everything_else(folder: Path) -> None:
    page = well(run("view", "f1", *FILES, "--draws", "0", "--output", "-"))
    assert page.startswith("<!doctype html>")
    assert not (folder / "-").exists()
