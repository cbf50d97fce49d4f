"""`vidscore demo`: the main job from end to end."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from tests.clients.cli.helpers import BINARY, example_report, run, run_binary
from tests.clients.cli.terminal import run_on_terminal

from vidscore_cli.demo.contest import (
    Place,
    compare_measures,
    compare_places,
    next_steps,
    write_files,
)
from vidscore_cli.demo.network import Relay
from vidscore_cli.demo.scenes import make_shows
from vidscore_cli.demo.teams import Board
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Block, Report, Scores
from vidscore_evaluators.scoring import score_annotations
from vidscore_server.commands.demo import demo

EXAMPLES = ("vidscore demo", "vidscore demo --speed 100 --seed 1", "vidscore demo --web")
"""The first two are of the same seed, so they must end with the same scores."""

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def final_part(output: str) -> str:
    return output[output.index("The connection of mole") :].replace("\r\n", "\n")


@pytest.fixture(scope="module")
def plain() -> str:
    """Output of the second example where there is no terminal."""
    done = run_binary(*shlex.split(EXAMPLES[1])[1:])
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
def test_the_sharp_system_ranks_first_and_the_reports_are_those_of_this_process(plain: str) -> None:
    final = final_part(plain)
    assert re.search(r"streets: 1\. falcon .*, 2\. mole .*by weighted_mean_nmotda", final)
    assert re.search(r"sky: +1\. falcon .*, 2\. mole .*by f1", final)
    assert "the same reports, bit for bit" in final
    assert "The server has stopped (exit code 0)." in final


@pytest.mark.slow
def test_nothing_is_redrawn_where_there_is_no_terminal(plain: str) -> None:
    assert "\x1b" not in plain


@pytest.mark.slow
def test_the_connection_that_was_cut_is_made_again(plain: str) -> None:
    assert "The connection of mole was made again by itself; every frame came once." in plain


def test_frames_and_scores_of_both_systems_are_lines_where_there_is_no_terminal() -> None:
    streets, sky = make_shows(1)
    board = Board((streets, sky))
    board.frames["falcon", "streets"] = 123
    board.scores["falcon", "streets"] = 0.875
    assert board.line() == (
        "  falcon  streets 123/600 frames, NMOTDA 0.8750    sky   0/240 frames, F1 -\n"
        "  mole    streets   0/600 frames, NMOTDA -         sky   0/240 frames, F1 -"
    )


@pytest.mark.nightly
def test_a_connection_that_is_not_made_again_is_a_failure_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing was cut, so nothing was proved."""
    monkeypatch.setattr(Relay, "cut", lambda _relay: None)
    result = run("demo", "--speed", "1000")
    assert result.exit_code == 70
    assert "was cut and not made again" in result.stderr


@pytest.mark.nightly
def test_on_a_terminal_the_demo_redraws_in_place_and_ends_with_the_same_scores(plain: str) -> None:
    code, output = run_on_terminal(*shlex.split(EXAMPLES[0])[1:])
    assert code == 0
    assert "\x1b[2K" in output
    shown = ESCAPES.sub("", output)
    assert re.search(r"falcon +600/600 ", shown)
    lines, wanted = (
        [line.rstrip() for line in final_part(text).splitlines()] for text in (shown, plain)
    )
    assert lines == wanted


@pytest.mark.slow
def test_the_demo_ends_with_commands_to_go_on_with(plain: str) -> None:
    commands = [line for _, line in next_steps(make_shows(1), None)]
    assert plain.partition("\nTry next\n")[2].splitlines()[1::2] == [f"    {c}" for c in commands]
    assert commands[0].endswith("vidscore demo --speed 100 --files demo-files")


@pytest.mark.slow
def test_the_commands_that_the_demo_ends_with_run_as_they_stand(tmp_path: Path) -> None:
    """And the files score as what was streamed: they have the same fingerprints."""
    shows = make_shows(1)
    folder = tmp_path / "the demo's files"
    write_files(shows, folder)
    commands = [line for _, line in next_steps(shows, folder)]
    assert [line.split("vidscore ")[1].split()[0] for line in commands] == [
        "score", "trust", "evaluators",
    ]  # fmt: skip
    commands[0] += " --format json"
    commands[1] += " --draws 10"
    first, *_ = [run_in_a_shell(line) for line in commands]
    report = json.loads(first)
    [streamed] = score_annotations(
        [create_evaluator("neovision2")], shows[0].truth, shows[0].detections["mole"]
    )
    assert report["truth_digest"] == streamed.truth_digest
    assert report["detections_digest"] == streamed.detections_digest


def run_in_a_shell(line: str) -> str:
    done = subprocess.run(["sh", "-c", line], capture_output=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_the_site_of_the_demo_shows_its_boards_until_ctrl_c(sign: signal.Signals) -> None:
    command = [str(BINARY), "demo", "--web", "127.0.0.1:0", "--speed", "1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if "until Ctrl-C" in line:
                break
        said = "".join(lines)
        site = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert site is not None, said
        with urlopen(f"{site[0]}/benchmarks/streets/board") as page:
            assert "falcon leads" in page.read().decode()
        assert re.findall(r"^  (\w+) +vidscore_", said, re.MULTILINE) == [
            "organiser",
            "falcon",
            "mole",
        ]
        process.send_signal(sign)
        assert process.wait(60) == 0
    with pytest.raises(URLError):
        urlopen(f"{site[0]}/benchmarks/streets/board")


def test_an_address_that_is_taken_is_told_in_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        web = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run("demo", "--web", web)
    assert result.exit_code == 3
    assert result.stderr.startswith(
        f"Error: the server did not start: cannot listen at {web}: Address already in use"
    )
    assert "worker started" not in result.stderr


def test_the_examples_of_the_help_are_those_that_run_here() -> None:
    assert demo.examples == EXAMPLES


@pytest.mark.parametrize(
    "options",
    [["--speed", "0"], ["--seed", "-1"], ["--seed", "x"], ["--web", "a:1", "--files", "f"]],
)
def test_a_demo_that_cannot_be_is_a_usage_error(options: list[str]) -> None:
    assert run("demo", *options).exit_code == 2


def report_with(mean: float | None) -> Report:
    return replace(example_report(), scores=Scores((Block({"mean_nmotda": (mean,)}),)))


def test_scores_over_everything_stand_side_by_side() -> None:
    grid = compare_measures("all", ["mean_nmotda"], {"a": report_with(0.5), "b": report_with(None)})
    assert grid.headings == ("measure", "a", "b")
    assert grid.lines == [("mean_nmotda", "0.5000", "undefined")]


def test_scores_of_domains_and_classes_stand_side_by_side() -> None:
    places = [Place("nmotda", "Tower", "Car"), Place("mean_nmotda", "Tower"), Place("mean_nmotda")]
    grid = compare_places("by class", places, {"a": example_report()})
    assert grid.lines == [
        ("Tower", "Car", "0.7500"),
        ("Tower", "all", "0.7500"),
        ("all", "all", "0.8750"),
    ]
