"""Alerts are posted as JSON, a bounded number of times, and only to the given address."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from tests.clients.cli.helpers import Call, run, well
from tests.support.waiting import eventually

from vidscore_cli import webhook
from vidscore_cli.webhook import MOST_WAITING, Webhook
from vidscore_client import Submissions, SubmissionUpdate

TRUTH = """\
sequence,frame,class,x1,y1,x2,y2
a,0,car,0,0,10,10
a,1,car,0,0,10,10
"""
LINE = '{"sequence": "a", "frame": 0, "objects": [{"label": "car", "box": [0, 0, 10, 10]}]}\n'


class Receiver(ThreadingHTTPServer):
    """A web server that records its requests, and answers by a script."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[tuple[str, str, object]] = []
        self.answers: list[int] = []
        self.go_on = Event()
        self.go_on.set()
        self.url = f"http://127.0.0.1:{self.server_port}/alerts?key=secret"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        self.server.go_on.wait(60)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        kind = self.headers["Content-Type"]
        self.server.received.append((self.path, kind, json.loads(body)))
        code = self.server.answers.pop(0) if self.server.answers else 204
        self.send_response(code)
        if code == 302:
            self.send_header("Location", self.server.url)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        raise AssertionError("a redirect was followed")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setattr(webhook, "PAUSES_S", (0.0, 0.0))
    with Receiver() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def post(url: str, count: int = 1) -> None:
    with Webhook(url) as hook:
        for number in range(count):
            hook.post({"number": number})


def test_an_alert_is_posted_as_json(receiver: Receiver, capsys: pytest.CaptureFixture[str]) -> None:
    post(receiver.url)
    assert receiver.received == [("/alerts?key=secret", "application/json", {"number": 0})]
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("answers", "tries", "said"),
    [
        ([500, 429], 3, ""),
        ([503, 503, 503], 3, "it answered 503"),
        ([404], 1, "it answered 404"),
        ([302], 1, "it answered 302 (redirects are not followed)"),
    ],
)
def test_a_transient_failure_is_retried_twice(
    receiver: Receiver,
    capsys: pytest.CaptureFixture[str],
    answers: list[int],
    tries: int,
    said: str,
) -> None:
    receiver.answers = list(answers)
    post(receiver.url)
    assert len(receiver.received) == tries
    expected = f"Warning: an alert was not delivered to 127.0.0.1: {said}\n" if said else ""
    assert capsys.readouterr().err == expected


def test_an_unreachable_address_is_reported_without_its_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webhook, "PAUSES_S", ())
    with Receiver() as closed:
        url = closed.url
    post(url)
    said = capsys.readouterr().err
    assert said.startswith("Warning: an alert was not delivered to 127.0.0.1: ")
    assert "secret" not in said


def test_the_number_of_waiting_alerts_is_bounded(
    receiver: Receiver, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first of them is not answered before the last was posted."""
    receiver.go_on.clear()
    with Webhook(receiver.url) as hook:
        for number in range(MOST_WAITING + 1):
            hook.post({"number": number})
        receiver.go_on.set()
    assert len(receiver.received) == MOST_WAITING
    assert "4 alerts wait for it already" in capsys.readouterr().err


def test_an_interrupt_waits_for_no_further_attempt(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(webhook, "PAUSES_S", (600.0,))
    receiver.answers = [503]

    def interrupted() -> None:
        with Webhook(receiver.url) as hook:
            hook.post({})
            eventually(lambda: bool(receiver.received))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "not delivered to 127.0.0.1: it answered 503" in capsys.readouterr().err


@pytest.mark.parametrize(
    "url", ["ftp://host/a", "file:///etc/passwd", "host", "http://", "http://[a"]
)
def test_an_address_of_another_kind_is_refused(url: str) -> None:
    result = run("pipe", "--score", "f1", "--truth", "t", "--alert-url", url)
    assert result.exit_code == 2
    assert "expected an address that begins with http:// or https://" in result.stderr


def test_a_pipe_posts_its_alert(
    receiver: Receiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The baseline hits both frames, the pipe one of two: f1 is 2/3."""
    monkeypatch.chdir(tmp_path)
    Path("truth.csv").write_text(TRUTH)
    arguments = ("pipe", "--score", "f1", "--truth", "truth.csv", "--no-progress")
    both = LINE + LINE.replace(": 0,", ": 1,", 1)
    Path("base.json").write_text(well(run(*arguments, "--format", "json", input_=both)))
    alerts = ("--baseline", "base.json", "--alert", "f1=0.1", "--alert-url", receiver.url)
    result = run(*arguments, *alerts, input_=LINE)
    assert result.exit_code == 6
    [(_, _, document)] = receiver.received
    assert isinstance(document, dict)
    text = document.pop("text")
    assert f"Alert: {text}" in result.stderr
    assert document == {
        "evaluator": "f1",
        "measure": "f1",
        "over": "everything",
        "value": 2 / 3,
        "baseline": 1.0,
        "drop": 0.1,
    }
    alone = run(*arguments, "--alert-url", receiver.url, input_=LINE)
    assert (alone.exit_code, "--alert-url needs --alert" in alone.stderr) == (2, True)


def test_a_watched_submission_shows_its_window_and_raises_the_alert(
    hosted: str, organiser: Call, receiver: Receiver
) -> None:
    """Frame 1 has both hits, and the last four frames have none."""
    well(organiser("submit", hosted, "--detections", "detections.json", "--name", f"{hosted}-w"))
    files = ("--truth", "truth.json", "--detections", "detections.json")
    well(run("score", "spotgeo", *files, "--format", "json", "--output", "base.json"))
    watch = ("submission", "watch", f"{hosted}/{hosted}-w", "--baseline", "base.json")
    assert well(organiser(*watch, "--alert", "f1=0.01", "--window", "5")).count("\n") == 1
    assert not receiver.received
    alert = ("--alert", "mse=0.5", "--alert-url", receiver.url)
    found = organiser(*watch, *alert, "--window", "4")
    assert "the last 4 frames, spotgeo f1 0" in found.stdout
    assert found.exit_code == 6, found.stderr
    assert "mse of spotgeo over the last 4 frames is " in found.stderr
    assert len(receiver.received) == 1


def test_a_watched_submission_prints_no_second_line_if_a_new_call_sends_the_same(
    hosted: str, organiser: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"{hosted}-again"
    well(organiser("submit", hosted, "--detections", "detections.json", "--name", name))
    watch = Submissions.watch

    def watch_twice(*arguments: Any, **more: Any) -> Iterator[SubmissionUpdate]:
        for update in watch(*arguments, **more):
            yield from (update, update)

    monkeypatch.setattr(Submissions, "watch", watch_twice)
    found = well(organiser("submission", "watch", f"{hosted}/{name}", "--window", "4"))
    assert found.count("\n") == 1
