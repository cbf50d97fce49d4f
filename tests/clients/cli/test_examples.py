"""The examples of every command's help run unchanged."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import click
import pytest
from tests.clients.cli.helpers import BINARY, run

from vidscore_cli.command_tree import Command
from vidscore_cli.main import SECTIONS, cli
from vidscore_cli.session import ExitCode
from vidscore_server.domain.administration import initialise

DEFAULT_SERVER = "127.0.0.1:50051"


def examples(*names: str) -> list[str]:
    """Examples of some commands."""
    found: list[str] = []
    for name in names:
        command = cli.find(name)
        assert isinstance(command, Command)
        found.extend(command.examples)
    return found


# The examples of the demo, of the doctor and of hosting run in their own tests.
HOSTED = [*SECTIONS["Hosted benchmarks"]]
IN_PROCESS = [
    path
    for path in cli.leaves(click.Context(cli))
    if path.split()[0] not in {"demo", "doctor", "serve", *HOSTED}
]


ENDLESS = re.compile(r"--benchmark|vidscore live |vidscore pipe (?!-)|vidscore view (?!.*--output)")
"""Commands that need a hosted benchmark, or that serve until they are stopped."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "example", [example for example in examples(*IN_PROCESS) if not ENDLESS.search(example)]
)
def test_an_example_runs_if_its_files_exist(
    example: str, data: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    if "out/1.tally" in example:
        write_tallies("out", 3)
    if "runs/*/" in example:
        for system in ("tracks", "others"):
            shutil.copytree(system, f"runs/{system}")
    if example.startswith("vidscore index "):
        write_rows(Path(shlex.split(example)[2]))
    arguments = shlex.split(example.replace(DEFAULT_SERVER, server))[1:]
    result = run(*arguments, env={"VIDSCORE_SERVER": server})
    assert result.exit_code == 0, result.stderr
    assert result.stdout or "--output" in arguments


def write_rows(folder: Path) -> None:
    """Put a file that names its sequences in place of a folder."""
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "first.csv").write_text("sequence,frame,x1,y1,x2,y2\na,1,0,0,5,5\nb,1,0,0,5,5\n")


def write_tallies(folder: str, count: int) -> None:
    """Write the tally files that examples merge."""
    Path(folder).mkdir()
    sides = ("--truth", "truth.json", "--detections", "detections.json")
    for number in range(1, count + 1):
        tally = ("--shard", f"{number}/{count}", "--tally", f"{folder}/{number}.tally")
        assert run("score", "spotgeo", *sides, *tally).exit_code == 0


def test_the_examples_of_the_doctor_check_what_they_name(
    data: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server, one that cannot be reached from here, and a store's file."""
    monkeypatch.chdir(data)
    initialise("site.db")
    found = [
        run(*shlex.split(example)[1:], "--timeout", "60", env={"VIDSCORE_SERVER": server})
        for example in examples("doctor")
    ]
    assert [result.exit_code for result in found] == [0, ExitCode.UNREACHABLE, 0]
    assert all(result.stdout for result in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "stop"),
    [*zip(examples("serve"), (signal.SIGTERM, signal.SIGINT, signal.SIGTERM), strict=True)],
)
def test_an_example_of_serve_prints_its_address_and_exits_with_0(
    example: str, stop: signal.Signals, data: Path
) -> None:
    # Ports may be in use on the machine that runs the tests.
    example = example.replace("127.0.0.1:8080", "127.0.0.1:0")
    if "--store" in example:
        subprocess.run([BINARY, "init", "--store", "site.db"], cwd=data, check=True)
    environment = {**os.environ, "VIDSCORE_SERVER_LISTEN": "127.0.0.1:0"}
    with subprocess.Popen(
        [BINARY, *shlex.split(example)[1:]],
        cwd=data,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        site = process.stdout.readline() if "--web" in example else ""
        process.send_signal(stop)
        assert process.wait(60) == 0
    assert line.startswith("vidscore serves at 127.0.0.1:")
    assert line.endswith(" (this machine only)\n")
    assert site.startswith("The site is at http://127.0.0.1:") == ("--web" in example)
