"""Messages while a stream waits for the server, with a fake stream."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import grpc
import pytest
from tests.clients.python.fake_submissions import refusing, taking_submissions, update
from tests.support.waiting import eventually

from vidscore_cli import waiting
from vidscore_cli.hosted import wait_for_score
from vidscore_cli.progress import ProgressBar
from vidscore_cli.waiting import Breaks, seal, told_while_waiting
from vidscore_client import UnavailableError, connect


def test_each_reason_and_the_continuation_are_reported_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "TELL_S", 0.02)
    monkeypatch.setattr(waiting, "LOOK_S", 0.005)
    stream = SimpleNamespace(acknowledged_frames=3, undelivered_frames=0, last_break=None)
    said: list[str] = []

    def so_far(count: int) -> None:
        eventually(lambda: len(said) >= count)

    with told_while_waiting(cast(Any, stream), said.append):
        stream.undelivered_frames = 1
        so_far(1)
        stream.last_break = UnavailableError("nobody listens")
        so_far(2)
        stream.acknowledged_frames = 4
        stream.undelivered_frames = 0
        so_far(3)
    assert said == [
        "waiting for the server, 1 frame not durable yet: no answer for 0.02 s",
        "waiting for the server, 1 frame not durable yet: nobody listens",
        "the server takes frames again",
    ]


def test_lasting_breaks_are_reported_with_each_reason_once_and_their_end() -> None:
    said: list[str] = []
    times_s = iter([0.0, 4.0, 5.0, 7.0, 9.0, 10.0])
    breaks = Breaks(said.append, times_s.__next__)
    away, refused = UnavailableError("nobody listens"), UnavailableError("refused")
    for error in (away, away, away, away, refused):
        breaks.broke(error)
    breaks.over()
    breaks.broke(away)
    breaks.over()
    assert said == [
        "waiting for the server: nobody listens",
        "waiting for the server: refused",
        "the server answers again",
    ]


def test_a_reason_is_told_without_the_addresses_that_grpc_lists() -> None:
    said: list[str] = []
    breaks = Breaks(said.append, iter([0.0, 6.0]).__next__)
    told = (
        "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: "
        "Failed to connect to remote host: Connection refused"
    )
    for _ in range(2):
        breaks.broke(UnavailableError(told))
    assert said == ["waiting for the server: Connection refused"]


def test_a_break_long_after_the_last_one_is_a_new_one() -> None:
    said: list[str] = []
    times_s = iter([0.0, 100.0, 104.0])
    breaks = Breaks(said.append, times_s.__next__)
    for _ in range(3):
        breaks.broke(UnavailableError("nobody listens"))
    assert said == []


def test_an_absent_server_is_reported_while_a_score_is_awaited(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waiting, "TELL_S", 0.0)
    with taking_submissions() as fake, connect(fake.target) as client, ProgressBar() as bar:
        fake.watch_script = [[update("SEALED", 8), None], [update("SCORED", 9)]]
        stream = client.submit("streets", "run")
        with stream:
            ended = wait_for_score(client, client.submissions.get(stream.submission), bar)
    assert ended.state == "scored"
    assert capsys.readouterr().err.splitlines() == [
        "waiting for the server: Socket closed",
        "the server answers again",
    ]


def test_an_absent_server_is_reported_while_a_submission_is_sealed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(waiting, "TELL_S", 0.0)
    said: list[str] = []
    with taking_submissions() as fake, connect(fake.target) as client:
        fake.faults.sealing = [refusing(grpc.StatusCode.UNAVAILABLE)]
        with client.submit("streets", "run") as stream:
            assert seal(client, stream, said.append).state == "sealed"
    assert said == ["waiting for the server: broken"]
