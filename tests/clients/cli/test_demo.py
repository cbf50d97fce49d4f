"""`vidscore demo`: the main job from start to end."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import pytest
from tests.clients.cli.helpers import BINARY, example_report, run, run_binary, signalled
from tests.clients.cli.terminal import run_on_terminal

from vidscore_cli.demo.contest import (
    Place,
    compare_measures,
    compare_places,
    next_steps,
    write_files,
)
from vidscore_cli.demo.network import Relay
from vidscore_cli.demo.scenes import (
    Detector,
    Scene,
    make_shows,
    simulate_detections,
    simulate_truth,
)
from vidscore_cli.demo.teams import Board
from vidscore_evaluators.annotations import ObjectFlag
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Block, Report, Scores
from vidscore_evaluators.scoring import score_annotations
from vidscore_server.commands.demo import demo

EXAMPLES = ("vidscore demo", "vidscore demo --speed 100 --seed 1", "vidscore demo --web")
"""The first two have the same seed, so they must end with the same scores."""

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def final_part(output: str) -> str:
    return output[output.index("The connection of mole") :].replace("\r\n", "\n")


@pytest.fixture(scope="module")
def plain() -> str:
    """Output of the second example without a terminal."""
    done = run_binary(*shlex.split(EXAMPLES[1])[1:])
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
def test_the_sharp_system_ranks_first_with_the_reports_of_this_process(plain: str) -> None:
    final = final_part(plain)
    assert re.search(r"streets: 1\. falcon .*, 2\. mole .*by weighted_mean_nmotda", final)
    assert re.search(r"sky: +1\. falcon .*, 2\. mole .*by f1", final)
    assert "the same reports, bit for bit" in final
    assert "The server has stopped (exit code 0)." in final


@pytest.mark.slow
def test_nothing_is_redrawn_without_a_terminal(plain: str) -> None:
    assert "\x1b" not in plain


@pytest.mark.slow
def test_a_cut_connection_is_made_again(plain: str) -> None:
    assert "The connection of mole was restored automatically; every frame arrived once." in plain


def test_without_a_terminal_frames_and_scores_of_both_systems_are_lines() -> None:
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
    assert "was cut and not restored" in result.stderr


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
def test_the_demo_ends_with_commands_to_try_next(plain: str) -> None:
    commands = [line for _, line in next_steps(make_shows(1), None)]
    assert plain.partition("\nTry next\n")[2].splitlines()[1::2] == [f"    {c}" for c in commands]
    assert commands[0].endswith("vidscore demo --speed 100 --files demo-files")


@pytest.mark.slow
def test_the_commands_at_the_end_of_the_demo_run_unchanged(tmp_path: Path) -> None:
    """The files score like the stream: they have the same fingerprints."""
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


@pytest.mark.slow
def test_ctrl_c_on_a_terminal_ends_the_demo_although_its_server_ends_too() -> None:
    """The server gets the signal as well; nobody waits until it is back."""
    status, stderr = signalled(["demo"], signal.SIGINT, after="/600 frames")
    assert (status, stderr.strip()) == (130, "")


@pytest.mark.nightly
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
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


def test_an_address_in_use_is_reported_in_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        web = f"127.0.0.1:{taken.getsockname()[1]}"
        result = run("demo", "--web", web)
    assert result.exit_code == 3
    assert result.stderr.startswith(
        f"Error: the server did not start: cannot listen at {web}: Address already in use"
    )
    assert "worker started" not in result.stderr


def test_an_address_that_a_server_refuses_is_a_usage_error() -> None:
    result = run("demo", "--web", "here")
    assert result.exit_code == 2
    expected = "the server did not start: command line, --web: found 'here', expected host:port"
    assert f"Error: {expected}" in result.stderr


def test_the_examples_of_the_help_are_those_that_run_here() -> None:
    assert demo.examples == EXAMPLES


@pytest.mark.parametrize(
    "options",
    [["--speed", "0"], ["--seed", "-1"], ["--seed", "x"], ["--web", "a:1", "--files", "f"]],
)
def test_an_impossible_demo_is_a_usage_error(options: list[str]) -> None:
    assert run("demo", *options).exit_code == 2


def report_with(mean: float | None) -> Report:
    return replace(example_report(), scores=Scores((Block({"mean_nmotda": (mean,)}),)))


def test_scores_over_everything_are_side_by_side() -> None:
    grid = compare_measures("all", ["mean_nmotda"], {"a": report_with(0.5), "b": report_with(None)})
    assert grid.headings == ("measure", "a", "b")
    assert grid.lines == [("mean_nmotda", "0.5000", "undefined")]


def test_scores_of_domains_and_classes_are_side_by_side() -> None:
    places = [Place("nmotda", "Tower", "Car"), Place("mean_nmotda", "Tower"), Place("mean_nmotda")]
    grid = compare_places("by class", places, {"a": example_report()})
    assert grid.lines == [
        ("Tower", "Car", "0.7500"),
        ("Tower", "all", "0.7500"),
        ("all", "all", "0.8750"),
    ]


# --- The simulated videos and detectors of the demo


STREET = Scene(
    domain="Tower",
    sequences=("001", "002"),
    frame_count=40,
    object_count=8,
    width_px=1920.0,
    height_px=1080.0,
    speed_px=6.0,
    lengths_px={"Car": 110.0, "Bus": 220.0, "Person": 45.0},
)
SKY = Scene(
    domain="",
    sequences=tuple(str(number) for number in range(1, 31)),
    frame_count=5,
    object_count=3,
    width_px=640.0,
    height_px=480.0,
    speed_px=40.0,
    first_frame=1,
)
PERFECT = Detector("perfect", 0.0, 0.0, 0.0, 0.0, 0.0)
POOR = Detector("poor", 0.3, 5.0, 0.2, 0.2, 1.0)

scenes = pytest.mark.parametrize("scene", [STREET, SKY], ids=["street", "sky"])


@scenes
def test_the_same_seed_gives_the_same_data_and_another_seed_other_data(scene: Scene) -> None:
    first, again, other = (simulate_truth(scene, seed) for seed in (1, 1, 2))
    assert fingerprint(first) == fingerprint(again) != fingerprint(other)
    seen, seen_again = (simulate_detections(POOR, scene, first, 1) for _ in range(2))
    assert fingerprint(seen) == fingerprint(seen_again)


@scenes
def test_a_perfect_detector_returns_the_truth(scene: Scene) -> None:
    truth = simulate_truth(scene, 1)
    seen = simulate_detections(PERFECT, scene, truth, 1)
    assert np.array_equal(seen.coordinates, truth.coordinates)
    assert np.array_equal(seen.frame_starts, truth.frame_starts)
    assert np.array_equal(seen.label_indices, truth.label_indices)


@scenes
def test_every_frame_of_every_video_is_listed_on_both_sides(scene: Scene) -> None:
    truth = simulate_truth(scene, 1)
    seen = simulate_detections(POOR, scene, truth, 1)
    for side in (truth, seen):
        assert side.frame_count == len(scene.sequences) * scene.frame_count
        assert side.frame_numbers.min() == scene.first_frame


def test_a_poor_detector_misses_about_its_stated_fraction() -> None:
    truth = simulate_truth(STREET, 1)
    blind = Detector("half", 0.5, 0.0, 0.0, 0.0, 0.0)
    seen = simulate_detections(blind, STREET, truth, 1)
    assert 0.4 < seen.object_count / truth.object_count < 0.6


def test_points_stay_within_the_image_as_the_sky_benchmark_requires() -> None:
    seen = simulate_detections(POOR, SKY, simulate_truth(SKY, 1), 1)
    assert seen.coordinates.min() >= -0.5
    assert np.all(seen.coordinates <= [639.5, 479.5])


def test_some_objects_of_a_street_are_ambiguous_and_none_of_the_sky() -> None:
    ambiguous = np.mean(simulate_truth(STREET, 3).flags == ObjectFlag.IGNORE)
    assert 0.0 < ambiguous < 0.3
    assert not simulate_truth(SKY, 3).flags.any()


# --- The connection that the demo cuts


WAIT_S = 60.0


@pytest.fixture
def echo() -> Iterator[str]:
    """Address of an echo server."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=repeat, args=(client,), daemon=True).start()

    threading.Thread(target=answer, daemon=True).start()
    yield f"127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def repeat(client: socket.socket) -> None:
    with client:
        while data := client.recv(100):
            client.sendall(data)


def connected(relay: Relay) -> socket.socket:
    host, _, port = relay.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=WAIT_S)


def test_every_connection_echoes(echo: str) -> None:
    with Relay(echo) as relay:
        for count in (1, 2):
            with connected(relay) as client:
                client.sendall(b"hello")
                assert client.recv(100) == b"hello"
            assert relay.connections == count


def test_a_cut_breaks_open_connections_and_admits_new_ones(echo: str) -> None:
    with Relay(echo) as relay, connected(relay) as first:
        first.sendall(b"one")
        assert first.recv(100) == b"one"
        relay.cut()
        assert is_broken(first)
        with connected(relay) as second:
            second.sendall(b"two")
            assert second.recv(100) == b"two"


def test_a_stopped_server_breaks_the_connection() -> None:
    with Relay("127.0.0.1:1") as relay, connected(relay) as client:
        assert is_broken(client)
    assert relay.connections == 0


def test_leaving_the_block_stops_listening(echo: str) -> None:
    with Relay(echo) as relay:
        pass
    deadline_s = time.monotonic() + WAIT_S
    while time.monotonic() < deadline_s:
        try:
            connected(relay).close()
        except ConnectionRefusedError:
            return
    pytest.fail("it still listens")


def is_broken(client: socket.socket) -> bool:
    """Whether the other side is gone; waits for it."""
    try:
        return client.recv(100) == b""
    except ConnectionError:
        return True
