"""No command overwrites its input."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from tests.clients.cli.helpers import run, well

from vidscore_cli.input_paths import InputPath
from vidscore_cli.main import cli

BOXES = "sequence,frame,class,x1,y1,x2,y2"
COMMANDS = {
    "detections": "score f1 --truth t.csv --detections d.csv --output d.csv",
    "truth": "score f1 --truth t.csv --detections d.csv --output t.csv",
    "by another name": "score f1 --truth t.csv --detections d.csv --output ./folder/../d.csv",
    "by a link": "score f1 --truth t.csv --detections d.csv --output link.csv",
    "manifest": "score f1 --manifest m.toml --truth t.csv --detections d.csv --output m.toml",
    "tally": "score f1 --truth t.csv --detections d.csv --tally d.csv",
    "one of a pattern": "score f1 --truth t.csv --detections runs/*.csv --output runs/c.csv",
    "in a folder": "score f1 --truth folder --detections d.csv --output folder/t.csv",
    "run folder": "score f1 --truth folder --detections d.csv --dask local --run-folder folder/a",
    "pictures": "trust ranking f1 --truth t.csv --system d.csv --system runs --pictures runs",
    "outcomes": "outcomes f1 --truth t.csv --detections d.csv --output d.csv",
    "compare": "compare f1 --truth t.csv a=d.csv runs/c.csv --output d.csv",
    "merge": "merge 1.tally 2.tally --output 1.tally",
    "view": "view f1 --truth t.csv --detections ours=d.csv --output d.csv",
    "render": "render f1 --truth t.csv --detections d.csv --media v.mp4 --output v.mp4",
    "convert": "convert d.csv t.csv --to generic-csv --side detections --truth t.csv",
    "trust": "trust ranking f1 --truth t.csv --system d.csv --system runs/c.csv --output d.csv",
    "preset": "evaluators own.toml --format toml --output own.toml",
    "system like an evaluator": "compare f1 --truth t.csv ./map d.csv --output map",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with inputs."""
    monkeypatch.chdir(tmp_path)
    for name in ("runs", "folder"):
        Path(name).mkdir()
    truth, found = f"{BOXES}\ns,0,a,1,1,9,9\n", f"{BOXES},confidence\ns,0,a,1,1,9,9,0.5\n"
    for name in ("t.csv", "folder/t.csv"):
        Path(name).write_text(truth)
    for name in ("d.csv", "runs/c.csv", "map"):
        Path(name).write_text(found)
    Path("link.csv").symlink_to("d.csv")
    Path("m.toml").write_text('[[evaluators]]\nname = "f1"\n')
    for name in ("1.tally", "2.tally", "v.mp4", "own.toml"):
        Path(name).write_text("")
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_writing_over_an_input_is_refused_and_the_input_is_unchanged(
    command: str, folder: Path
) -> None:
    before = content(folder)
    result = run(*command.split())
    assert result.exit_code == 2, result.stderr
    assert "this command reads; name another place to write to" in result.stderr
    assert content(folder) == before


def test_an_address_of_a_file_on_the_disk_is_its_path(folder: Path) -> None:
    """``file:///a/t.csv`` is /a/t.csv."""
    before = content(folder)
    result = run("convert", "t.csv", f"file://{folder}/t.csv", "--to", "jsonl")
    assert (result.exit_code, content(folder)) == (2, before)
    files = ("--truth", f"file://{folder}/t.csv", "--detections", f"file://{folder}/runs/*.csv")
    table = well(run("score", "f1", *files, "--format", "csv"))
    assert table.splitlines()[1].startswith(f"1,{folder}/runs/c.csv,1.0,")


def test_the_error_names_the_output_and_the_input_that_contains_it(folder: Path) -> None:
    del folder
    files = ("--truth", "t.csv", "--detections", "runs/*.csv")
    assert (
        "Invalid value for --output: runs/c.csv is, or is part of, runs/*.csv, which this command "
        "reads; name another place to write to"
    ) in run("score", "f1", *files, "--output", "runs/c.csv").stderr


def test_a_table_beside_folders_of_systems_is_not_one_of_them(folder: Path) -> None:
    """It is not a folder, which the pattern's slash asks for."""
    (folder / "runs" / "a").mkdir()
    (folder / "runs" / "a" / "t.txt").write_text("1,7,1,1,8,8,0.5\n")
    (folder / "runs" / "table.csv").write_text("of the last run")
    (folder / "t.txt").write_text("1,1,1,1,8,8,1,1,1\n")
    files = ("--truth", "t.txt", "--detections", "runs/*/", "--output", "runs/table.csv")
    well(run("score", "f1", *files, "--format", "csv"))
    table = (folder / "runs" / "table.csv").read_text().splitlines()
    assert [line.split(",")[:3] for line in table[1:]] == [["1", "runs/a", "1.0"]]


def test_a_dangling_link_among_systems_is_not_an_input(folder: Path) -> None:
    (folder / "runs" / "latest").symlink_to("gone")
    (folder / "out.csv").write_text("")
    result = run("score", "f1", "--truth", "t.csv", "--detections", "runs/*", "--output", "out.csv")
    assert result.stderr.startswith("Error: runs/latest was not scored")
    assert "runs/c.csv" in (folder / "out.csv").read_text()


def test_an_output_may_have_the_name_of_an_evaluator_or_replace_another_file(folder: Path) -> None:
    files = ("--truth", "t.csv", "--detections", "d.csv")
    well(run("score", "map", *files, "--output", "map"))
    well(run("score", "map", *files, "--output", "map"))
    assert "map" in (folder / "map").read_text()


def test_every_path_of_a_command_with_an_output_is_classified_as_input_or_output() -> None:
    """So that a new option cannot evade the check."""
    written = {"output", "tally", "pictures", "run_folder", "secret_file", "target", "file"}

    def paths(command: click.Command) -> set[str]:
        return {
            str(parameter.name)
            for parameter in command.params
            if isinstance(parameter.type, click.Path) and not isinstance(parameter.type, InputPath)
        }

    def commands(group: click.Command) -> list[click.Command]:
        if not isinstance(group, click.Group):
            return [group]
        context = click.Context(group)
        inner = (group.get_command(context, name) for name in group.list_commands(context))
        return [one for entry in inner if entry is not None for one in commands(entry)]

    writing = [one for one in commands(cli) if {"output", "tally", "target"} & paths(one)]
    assert len(writing) > 10
    assert {name for one in writing for name in paths(one)} <= written
