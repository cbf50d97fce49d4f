"""What is said while a stream waits for the server, by a stream of the test."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.support.waiting import eventually

from vidscore_cli import waiting
from vidscore_cli.waiting import told_while_waiting
from vidscore_client import UnavailableError


def test_each_reason_is_told_once_and_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
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
