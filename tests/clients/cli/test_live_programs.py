"""Programs answer the clock of a live benchmark with JSON lines."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from click.testing import Result
from tests.clients.cli.helpers import BINARY, Call, run, well
from tests.server.domain.hosted import TRUTH, hosting
from tests.server.domain.live_scene import (
    FRAMES,
    LIVE_TOML,
    PERIOD_S,
    TOLD,
    live_dots,
    until_stored,
)
from tests.support.waiting import eventually

from vidscore_cli.command_tree import Command
from vidscore_cli.main import cli

SLOW_CLOCK = LIVE_TOML.replace("frame_rate = 10", "frame_rate = 0.0167")
"""A clock that does not reach its second frame during a test."""

ANSWERS = """\
import json, sys
for line in sys.stdin:
    now = json.loads(line)
    if "frame" not in now:
        continue
    print(line, end="", file=open("told.txt", "a"))
    print("looks at", now["frame"], file=sys.stderr)
    objects = [{"point": [10, 20], "confidence": 0.5}] if now["frame"] == 1 else []
    print(json.dumps({"sequence": now["sequence"], "frame": now["frame"], "objects": objects}))
    sys.stdout.flush()
"""


@pytest.fixture
def crossing(folder: Path, organiser: Call, request: pytest.FixtureRequest) -> str:
    """A live benchmark for this test alone that stays at its first frame."""
    name = f"live{zlib.crc32(request.node.name.encode())}"
    (folder / "slow.toml").write_text(SLOW_CLOCK)
    well(organiser("benchmark", "create", name, "slow.toml"))
    return name


def program(source: str) -> list[str]:
    return ["--", sys.executable, "-c", source]


def told_to(folder: Path) -> list[object]:
    """The frames that a program was given."""
    return [json.loads(line) for line in (folder / "told.txt").read_text().splitlines()]


def has_ended(process_id: int) -> bool:
    """Whether a process no longer runs, on Linux; its parent may not have waited for it yet."""
    try:
        status = Path(f"/proc/{process_id}/stat").read_text()
    except FileNotFoundError:
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


@pytest.mark.slow
@pytest.mark.parametrize("in_time", [True, False])
async def test_the_exit_code_says_whether_a_program_is_certified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_time: bool
) -> None:
    """It answers every frame that it gets; if all but the first pass at once, four are missing."""
    monkeypatch.chdir(tmp_path)
    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create(live_dots(), public=TOLD)
        await hosted.organiser.upload(TRUTH)
        environment = {"VIDSCORE_SERVER": hosted.address, "VIDSCORE_TOKEN": hosted.red.secret}
        arguments = ["live", "dots", "--submission", "one", "--format", "json", *program(ANSWERS)]
        running = asyncio.ensure_future(asyncio.to_thread(run, *arguments, env=environment))
        for count in range(1, FRAMES + 1) if in_time else [1]:
            await until_stored(hosted, count)
            hosted.clock.pass_by(seconds=PERIOD_S * (1 if in_time else FRAMES))
        result: Result = await running
    assert told_to(tmp_path) == [
        {"sequence": "1", "frame": number, "time_s": (number - 1) * PERIOD_S}
        for number in range(1, FRAMES + 1 if in_time else 2)
    ]
    assert result.exit_code == (0 if in_time else 6), result.stderr
    what = (
        "certified: 5 of 5 frames in time"
        if in_time
        else "not certified: 4 of 5 frames without an answer, 4 of them never given out"
    )
    assert f"online: {what}" in result.stderr
    assert "latency 0.000 s (50 %)" in result.stderr
    assert "frame 1 of 5 (frame 1 of sequence 1): 0 answers in time, 0 late" in result.stderr
    report = json.loads(result.stdout)
    assert report["evaluator"] == "spotgeo"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("input(); raise SystemExit(3)", "the program ended with exit code 3 while the clock ran"),
        (
            "input(); import os; os.kill(os.getpid(), 9)",
            "ended with signal SIGKILL while the clock ran",
        ),
        (
            'input(); print(\'{"sequence": "1", "frame": 1, "objects": [{"point": [1]}]}\')',
            "line 1: objects[0].point: found an array of 1, expected [x, y]",
        ),
        ("input(); print('ready')", "line 1: found invalid JSON"),
        (
            'input(); print(\'{"sequence": "1", "frame": 4, "objects": []}\')',
            "line 1: frame: found an answer to frame 4 of sequence 1, expected one",
        ),
    ],
)
def test_a_program_that_dies_or_answers_wrongly_ends_the_run(
    crossing: str, organiser: Call, source: str, expected: str
) -> None:
    result = organiser("live", crossing, "--submission", "one", *program(source))
    assert result.exit_code == 1
    assert expected in result.stderr
    assert f"vidscore submission seal {crossing}/one" in result.stderr


def test_a_program_that_never_reports_ready_is_ended(crossing: str, organiser: Call) -> None:
    """Its clock has not started."""
    options = ("--submission", "one", "--await-ready", "--silence-timeout", "0.1")
    result = organiser("live", crossing, *options, *program("input()"))
    assert result.exit_code == 1
    assert "the program has not said it is ready for 0.1 s (--silence-timeout)" in result.stderr
    assert "the clock continues" not in result.stderr
    assert "does not exist" in organiser("submission", "show", f"{crossing}/one").stderr


def test_a_program_that_cannot_be_run_is_refused_before_the_clock(
    crossing: str, hosted: str, organiser: Call
) -> None:
    missing = organiser("live", crossing, "--", "no-such-program")
    assert (missing.exit_code, "no-such-program cannot be started" in missing.stderr) == (2, True)
    other = organiser("live", hosted, *program(ANSWERS))
    assert other.exit_code == 2
    assert f"{hosted} is not live; its frames go to vidscore pipe {hosted}" in other.stderr


@pytest.mark.slow
def test_the_examples_of_the_help_run_unchanged(
    folder: Path, organiser: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they are certified depends on this machine; `python` is that of the environment."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(BINARY.parent), os.environ["PATH"]]))
    command = cli.find("live")
    assert isinstance(command, Command)
    (folder / "crossing.toml").write_text(LIVE_TOML)
    well(organiser("benchmark", "create", "crossing", "crossing.toml"))
    well(organiser("benchmark", "truth", "crossing", "--truth", "truth.json", "--complete"))
    (folder / "detector.py").write_text(ANSWERS)
    (folder / "detector").write_text(f"#!{sys.executable}\nprint(flush=True)\n{ANSWERS}")
    (folder / "detector").chmod(0o700)
    for example in command.examples:
        result = organiser(*shlex.split(example)[1:])
        assert result.exit_code in {0, 6}, result.stderr
        assert result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_the_program_and_its_child_processes(
    crossing: str, site: tuple[str, str], folder: Path, sent: signal.Signals
) -> None:
    """The program itself ignores SIGTERM."""
    source = (
        "import os, signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)\n"
        "input()\n"
        "print(os.getpid(), child.pid, file=open('new.txt', 'w'))\n"
        "os.rename('new.txt', 'running.txt')\n"
        "signal.pause()\n"
    )
    environment = {**os.environ, "VIDSCORE_SERVER": site[0], "VIDSCORE_TOKEN": site[1]}
    with subprocess.Popen(
        [BINARY, "live", crossing, "--submission", "one", *program(source)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        eventually((folder / "running.txt").exists)
        process.send_signal(sent)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (130, "")
    assert "the clock continues, and nothing is sealed" in stderr
    for one in (folder / "running.txt").read_text().split():
        assert has_ended(int(one))
