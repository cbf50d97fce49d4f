"""`vidscore view` as a command."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.support.street import write_street

FILES = ("--truth", "truth.csv", "--detections", "falcon.csv", "--detections", "mole.csv")

PROGRAM = """
import sys
import threading
import urllib.request

import uvicorn

from vidscore_cli.main import cli


def run(self, sockets):
    print(*sorted({name.partition(".")[0] for name in sys.modules}))


uvicorn.Server.run = run
sys.argv = ["vidscore", "view", "clear", *sys.argv[1:], "--no-browser", "--draws", "0"]
cli.main(prog_name="vidscore")
"""


def test_the_page_is_served_without_importing_grpc_and_sql(tmp_path: Path) -> None:
    write_street(tmp_path)
    command = [sys.executable, "-c", PROGRAM, *FILES]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    modules = set(run.stdout.split())
    assert "starlette" in modules, run.stderr
    assert not {"grpc", "google", "sqlalchemy", "alembic", "vidscore_client"} & modules


@pytest.mark.slow
def test_a_file_is_written(tmp_path: Path) -> None:
    write_street(tmp_path)
    command = [sys.executable, "-m", "vidscore_cli", "view", "clear", *FILES]
    command += ["--draws", "20", "--output", "report.html"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "falcon and mole cannot be told apart" in text
    assert "vidscore view clear --truth truth.csv --detections falcon.csv" in text


@pytest.mark.slow
def test_warnings_of_each_system_go_to_standard_error(tmp_path: Path) -> None:
    """Like those of `vidscore score`, with the line that they name."""
    write_street(tmp_path)
    for name in ("falcon", "mole"):
        path = tmp_path / f"{name}.csv"
        path.write_text(path.read_text("utf-8").replace("Car", "cars"), "utf-8")
    command = [sys.executable, "-m", "vidscore_cli", "view", "f1", *FILES]
    command += ["--draws", "0", "--output", "report.html"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    single = ["score", "f1", *FILES[:2], "--detections", "mole.csv", "--format", "json"]
    scored = subprocess.run(
        [sys.executable, "-m", "vidscore_cli", *single],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "cars" in scored.stderr
    assert run.returncode == 0
    assert set(scored.stderr.splitlines()) < set(run.stderr.splitlines())


@pytest.mark.slow
def test_the_truth_of_two_systems_may_come_from_a_pipe(tmp_path: Path) -> None:
    write_street(tmp_path)
    command = [sys.executable, "-m", "vidscore_cli", "view", "clear", "--truth", "-", *FILES[2:]]
    command += ["--draws", "0", "--output", "report.html"]
    with (tmp_path / "truth.csv").open("rb") as truth:
        subprocess.run(
            command, cwd=tmp_path, check=True, stdin=truth, capture_output=True, timeout=120
        )
    assert "falcon" in (tmp_path / "report.html").read_text("utf-8")


def test_confidences_with_an_infinite_range_are_shown(tmp_path: Path) -> None:
    head = "sequence,frame,class,x1,y1,x2,y2,confidence\n"
    rows = "s,0,a,1,1,9,9,1.7976931348623157e308\ns,1,a,1,1,9,9,-1.7976931348623157e308\n"
    for name in ("truth.csv", "found.csv"):
        (tmp_path / name).write_text(head + rows)
    command = [sys.executable, "-m", "vidscore_cli", "view", "f1", "--truth", "truth.csv"]
    command += ["--detections", "found.csv", "--draws", "0", "--output", "page.html"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text("utf-8")
    assert "Each point is a confidence threshold." in text
    assert not re.search(r'"[^"<]*\b(nan|inf)\b[^"<]*"', text)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--detections", "a", "--detections", "b", "--detections", "c"], "expected one or two"),
        (["--detections", "x/a.csv", "--detections", "y/a.csv"], "there is a system a already"),
        (["--detections", "=a"], "expected PATH or NAME=PATH"),
    ],
)
def test_an_invalid_choice_of_systems_is_reported(options: list[str], said: str) -> None:
    command = [sys.executable, "-m", "vidscore_cli", "view", "clear", "--truth", "t", *options]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert said in run.stderr


@pytest.mark.slow
def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    write_street(tmp_path)
    command = [sys.executable, "-u", "-m", "vidscore_cli", "view", "clear", *FILES]
    command += ["--draws", "0", "--no-browser"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        [address] = re.findall(r"http://127\.0\.0\.1:\d+/\S{32}/", process.stdout.readline())
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"falcon and mole cannot be told apart" in answer.read()
        process.terminate()
        process.wait(timeout=30)


@pytest.mark.slow
def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    write_street(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        command = [sys.executable, "-m", "vidscore_cli", "view", "clear", *FILES]
        command += ["--draws", "0", "--no-browser", "--port", str(port)]
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    said = f"Error: cannot listen at port {port}: Address already in use; choose another one"
    assert said in run.stderr
    assert run.returncode == 1


@pytest.mark.slow
def test_a_part_of_the_data_is_shown_and_named(tmp_path: Path) -> None:
    """falcon and mole both find the cars of frames 0 and 1 of Tower/001, with no false positive."""
    write_street(tmp_path)
    chosen = ["--sequence", "Tower/001", "--label", "car", "--frames", "0:1"]
    command = [sys.executable, "-m", "vidscore_cli", "view", "f1", "clear", *FILES, *chosen]
    command += ["--draws", "20", "--output", "report.html"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    text = (tmp_path / "report.html").read_text("utf-8")
    assert "sequence Tower/001; label car; frames 0:1" in text
    assert "--sequence Tower/001 --label car --frames 0:1" in text
    assert "2 frames" in text
    assert "Person" not in text
    assert "Tower/002" not in text


def test_a_part_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    write_street(tmp_path)
    command = [sys.executable, "-m", "vidscore_cli", "view", "f1", *FILES, "--label", "tram"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 2
    assert "tram" in run.stderr
