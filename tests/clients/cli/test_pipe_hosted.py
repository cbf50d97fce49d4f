"""`vidscore pipe BENCHMARK`: submissions from lines, durable however the input ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.clients.cli.helpers import BINARY, Chunks, Ticking, run, well
from tests.clients.cli.terminal import read_until
from tests.support.waiting import eventually

from vidscore_cli import waiting
from vidscore_cli.demo.network import ServerProcess
from vidscore_cli.pipe_submission import PipeSubmission, submit_lines
from vidscore_cli.session import ExitCode
from vidscore_cli.sites import ServerChoice
from vidscore_client._sender import Sender

BENCHMARK = """
title = "Street"

[[evaluators]]
name = "f1"

[policy]
visibility = "live"
minimum_frames = 1
submissions_in_all = 50
"""
FRAMES = 20


def line(number: int) -> str:
    found = {"box": [number, 0, number + 10, 10], "label": "car"}
    return json.dumps({"sequence": "street", "frame": number, "objects": [found]}) + "\n"


def lines(first: int, end: int) -> str:
    return "".join(map(line, range(first, end)))


Environment = dict[str, str]


def host(environment: Environment, folder: Path, name: str) -> None:
    """Host a benchmark whose truth is sent by `lines`, unless another module has done so."""
    if run("benchmark", "show", name, env=environment).exit_code == ExitCode.OK:
        return
    (folder / "street.toml").write_text(BENCHMARK)
    (folder / "truth.jsonl").write_text(lines(0, FRAMES))
    well(run("benchmark", "create", name, str(folder / "street.toml"), env=environment))
    options = ("--truth", str(folder / "truth.jsonl"), "--complete")
    well(run("benchmark", "truth", name, *options, env=environment))


@pytest.fixture(scope="module")
def environment(site: tuple[str, str], tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Environment that leads commands to a server with a benchmark named street."""
    own = {"VIDSCORE_SERVER": site[0], "VIDSCORE_TOKEN": site[1]}
    folder = tmp_path_factory.mktemp("street")
    own["XDG_CONFIG_HOME"] = str(folder)
    host(own, folder, "street")
    return own


def pipe(environment: Environment, input_: str, *options: str) -> Result:
    return run("pipe", "street", *options, env=environment, input_=input_)


def offsets(text: str) -> list[int]:
    """The acknowledged offsets; before the report there may only be complete JSON lines."""
    rows = [row for row in text.splitlines() if row.startswith('{"ack')]
    return [json.loads(row)["acknowledged_offset"] for row in rows]


def frame_count(environment: Environment, name: str) -> tuple[int, str]:
    shown = well(run("submission", "show", f"street/{name}", "--format", "json", env=environment))
    record = json.loads(shown)
    return record["frame_count"], record["state"]


# --- to the end ------------------------------------------------------------------------------


def test_the_report_equals_that_of_submit(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "found.jsonl").write_text(lines(0, FRAMES - 5))
    options = ("--format", "json")
    piped = pipe(environment, lines(0, FRAMES - 5), "--submission", "piped", *options)
    submitted = run(
        *("submit", "street", "--detections", str(tmp_path / "found.jsonl"), "--name", "files"),
        *options,
        env=environment,
    )
    assert well(piped) == well(submitted)
    assert json.loads(piped.stdout)["evaluator"] == "f1"
    assert "street/piped" in piped.stderr


@pytest.mark.parametrize("command", ["pipe", "submit"])
def test_detections_for_a_benchmark_without_truth_are_a_wrong_input(
    environment: Environment, tmp_path: Path, command: str
) -> None:
    (tmp_path / "bare.toml").write_text(BENCHMARK)
    name = f"bare-{command}"
    well(run("benchmark", "create", name, str(tmp_path / "bare.toml"), env=environment))
    empty = '{"sequence": "street", "frame": 0, "objects": []}\n'
    (tmp_path / "found.jsonl").write_text(empty)
    options = ("--detections", str(tmp_path / "found.jsonl")) if command == "submit" else ()
    refused = run(command, name, *options, env=environment, input_=empty)
    assert refused.exit_code == ExitCode.INPUT
    assert f"{name} has no truth yet" in refused.stderr


def test_acknowledged_offsets_ascend_to_the_number_of_frames_before_the_report(
    environment: Environment,
) -> None:
    result = pipe(environment, lines(0, FRAMES), "--acknowledged", "--format", "csv")
    found = offsets(well(result))
    assert found == sorted(set(found))
    assert found[-1] == FRAMES
    assert "f1,,,,f1,1.0" in result.stdout
    assert re.search(r"^street/s[0-9a-f]{16}: 0 frames durable before", result.stderr)


def test_an_invalid_line_ends_the_run_and_the_frames_before_it_are_durable(
    environment: Environment,
) -> None:
    result = pipe(environment, lines(0, 4) + "oops\n" + lines(4, 8), "--submission", "broken")
    assert (result.exit_code, result.stdout) == (ExitCode.INPUT, "")
    assert "Error: line 5: found invalid JSON" in result.stderr
    assert "street/broken is not sealed; 4 frames durable. Go on with:" in result.stderr
    assert "vidscore pipe street --submission broken" in result.stderr
    assert frame_count(environment, "broken") == (4, "receiving")
    rest = pipe(environment, lines(4, 8), "--submission", "broken", "--format", "csv")
    assert "f1,,,,true_positives,8" in well(rest)


def test_a_submission_continues_with_the_same_input_from_its_start(
    environment: Environment,
) -> None:
    pipe(environment, lines(0, 6) + "oops", "--submission", "again")
    replayed = pipe(environment, lines(0, FRAMES), "--submission", "again", "--replay")
    assert replayed.exit_code == 0
    assert "street/again: 6 frames durable before" in replayed.stderr
    assert frame_count(environment, "again") == (FRAMES, "scored")


def test_skipped_lines_are_reported(environment: Environment) -> None:
    text = lines(0, 3) + "oops\n" + lines(3, FRAMES)
    result = pipe(environment, text, "--on-error", "skip", "--format", "csv")
    assert "f1,,,,f1,1.0" in well(result)
    assert "Warning: 1 line left out:\n  line 4: found invalid JSON" in result.stderr


def test_lines_of_a_wrong_shape_are_refused_with_their_line(environment: Environment) -> None:
    point = '{"sequence": "street", "frame": 9, "objects": [{"point": [1, 2]}]}'
    result = pipe(environment, point, "--submission", "points")
    assert result.exit_code == ExitCode.INPUT
    assert "line 1: objects[0]: found a point, expected a box, as all objects are" in result.stderr


def test_an_ended_submission_accepts_no_more_lines(environment: Environment) -> None:
    well(pipe(environment, lines(0, 2), "--submission", "over"))
    result = pipe(environment, lines(2, 4), "--submission", "over")
    assert result.exit_code == ExitCode.INPUT


def test_durable_frames_are_shown_at_most_once_a_second(
    environment: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    """One frame per 0.4 s: shown with the third one and three frames later, score or not."""
    choice = ServerChoice(environment["VIDSCORE_SERVER"], token=environment["VIDSCORE_TOKEN"])
    options: dict[str, Any] = {
        "server": choice,
        "benchmark": "street",
        "submission": "shown",
        "title": "",
        "replay": False,
        "acknowledged": False,
        "confidence_scale": None,
        "on_error": "refuse",
        "progress": True,
        "format_": "csv",
        "output": "-",
        "sequences": False,
        "curves": False,
    }
    clock = Ticking()
    frames = Chunks(map(line, range(8)), clock.tick)
    submit_lines(PipeSubmission(**options), frames, clock=clock)
    written = capsys.readouterr()
    said = [
        line for line in written.err.splitlines() if re.match(r"\d+ frames? durable(,|$)", line)
    ]
    assert len(said) == 2
    assert "f1,,,,true_positives,8" in written.out


# --- processes -------------------------------------------------------------------------------


@contextmanager
def piping(environment: Environment, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A `vidscore pipe` to the benchmark, with its three streams."""
    with subprocess.Popen(
        [str(BINARY), "pipe", "street", "--acknowledged", *options],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def write(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()


def read_until_durable(process: subprocess.Popen[str], count: int) -> Sequence[int]:
    """Read offsets until this many frames are durable."""
    assert process.stdout is not None
    found = [0]
    while found[-1] < count:
        row = process.stdout.readline()
        assert row, "the output ended"
        found.append(json.loads(row)["acknowledged_offset"])
    return found


def answer_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delay the connection of streams by a second, and check every 0.02 s whether it is slow."""
    connect = Sender._connect

    def connect_late(sender: Sender) -> object:
        time.sleep(1.0)
        return connect(sender)

    monkeypatch.setattr(Sender, "_connect", connect_late)
    monkeypatch.setattr(waiting, "TELL_S", 0.2)
    monkeypatch.setattr(waiting, "LOOK_S", 0.02)


@pytest.mark.parametrize("command", ["pipe", "submit"])
def test_a_slow_server_is_reported(
    environment: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    answer_late(monkeypatch)
    if command == "pipe":
        result = pipe(environment, lines(0, FRAMES), "--submission", "told")
    else:
        (tmp_path / "found.jsonl").write_text(lines(0, FRAMES))
        options = ("--detections", str(tmp_path / "found.jsonl"), "--name", "told-too")
        result = run("submit", "street", *options, env=environment)
    assert result.exit_code == 0
    told = f"waiting for the server, {FRAMES} frames not durable yet: no answer for 0.2 s\n"
    assert result.stderr.count(told) == 1


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_seals_nothing_and_says_how_to_continue(
    environment: Environment, sent: signal.Signals
) -> None:
    name = f"stopped-{sent.name.lower()}"
    with piping(environment, "--submission", name) as process:
        write(process, lines(0, 7))
        read_until_durable(process, 7)
        process.send_signal(sent)
        _, stderr = process.communicate(timeout=120)
    assert process.returncode == ExitCode.INTERRUPTED
    assert f"street/{name} is not sealed; 7 frames durable. Go on with:" in stderr
    assert f"vidscore pipe street --submission {name}" in stderr
    assert "Traceback" not in stderr
    assert frame_count(environment, name) == (7, "receiving")
    well(pipe(environment, lines(7, FRAMES), "--submission", name))
    assert frame_count(environment, name) == (FRAMES, "scored")


@pytest.mark.slow
@pytest.mark.parametrize("ignored", [False, True], ids=["hangup", "nohup"])
def test_frames_are_delivered_although_the_terminal_is_closed(
    environment: Environment, ignored: bool
) -> None:
    """A closed terminal sends SIGHUP, twice, and refuses all output."""
    name = f"closed-{ignored:d}"
    before = ["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"] if ignored else []
    terminal, other_end = pty.openpty()
    with subprocess.Popen(
        [*before, BINARY, "pipe", "street", "--submission", name, "--acknowledged"],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=other_end,
        stderr=other_end,
        encoding="utf-8",
    ) as process:
        os.close(other_end)
        write(process, lines(0, 3))
        assert read_until(terminal, '"acknowledged_offset": 3')
        os.close(terminal)
        write(process, lines(3, 7))
        eventually(lambda: frame_count(environment, name)[0] == 7)
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        if ignored:
            write(process, lines(7, FRAMES))
            assert process.stdin is not None
            process.stdin.close()
        code = process.wait(120)
    if ignored:
        assert code == ExitCode.PIPE_CLOSED
        assert frame_count(environment, name) == (FRAMES, "scored")
    else:
        assert code == ExitCode.INTERRUPTED
        assert frame_count(environment, name) == (7, "receiving")


@pytest.mark.slow
def test_frames_are_delivered_even_if_nobody_reads_the_offsets_any_more(
    environment: Environment,
) -> None:
    with piping(environment, "--submission", "unread") as process:
        write(process, lines(0, 3))
        read_until_durable(process, 3)
        assert process.stdout is not None
        process.stdout.close()
        write(process, lines(3, FRAMES))
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(120) == ExitCode.PIPE_CLOSED
        assert process.stderr is not None
        process.stderr.close()
    assert frame_count(environment, "unread") == (FRAMES, "scored")


@pytest.mark.nightly
def test_a_pipe_continues_after_the_server_was_killed_and_restarted(tmp_path: Path) -> None:
    """Frames sent during the outage are durable at the end, each once."""
    store = str(tmp_path / "site.db")
    secret = run("init", "--store", store).stdout.strip()
    options = ("--workers", "1", "--store", store)
    own = {"VIDSCORE_TOKEN": secret, "XDG_CONFIG_HOME": str(tmp_path)}
    with ServerProcess(*options) as first:
        own["VIDSCORE_SERVER"] = address = first.address
        host(own, tmp_path, "street")
        with piping(own, "--submission", "robust", "--format", "csv") as process:
            write(process, lines(0, 10))
            read_until_durable(process, 10)
            first.kill()
            write(process, lines(10, 15))
            with ServerProcess("--listen", address, *options):
                read_until_durable(process, 15)
                stdout, stderr = process.communicate(lines(15, FRAMES), timeout=240)
                assert process.returncode == 0, stderr
                assert offsets(stdout)[-1] == FRAMES
                assert "f1,,,,true_positives,20" in stdout
                assert frame_count(own, "robust") == (FRAMES, "scored")
