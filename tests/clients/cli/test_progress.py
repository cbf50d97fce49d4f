"""The progress bar appears late, only on a terminal, and leaves nothing behind."""

from __future__ import annotations

import io
import os
import pty

import pytest
from tests.clients.cli.terminal import read_until

from vidscore_cli.progress import ProgressBar


@pytest.fixture(autouse=True)
def _terminal_that_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")


def test_on_a_terminal_the_bar_shows_the_work_and_its_progress() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal, ProgressBar(delay_s=0.0, stream=terminal) as bar:
        bar.stage("scoring")
        bar.advance(3, 4)
        drawn = read_until(master, "scoring[^\r]*75%")
        assert "scoring" in drawn.split("\r")[-1]
    os.close(master)


def test_short_work_shows_no_bar() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        with ProgressBar(delay_s=3600.0, stream=terminal) as bar:
            bar.stage("scoring")
            bar.advance(1, 2)
        terminal.write("end")
        terminal.flush()
        assert os.read(master, 4096) == b"end"
    os.close(master)


def test_on_a_terminal_that_cannot_draw_there_is_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        with ProgressBar(delay_s=0.0, stream=terminal) as bar:
            bar.show("scoring", 1, 2)
        terminal.write("end")
        terminal.flush()
        assert os.read(master, 4096) == b"end"
    os.close(master)


def test_without_a_terminal_nothing_is_drawn() -> None:
    stream = io.StringIO()
    with ProgressBar(delay_s=0.0, stream=stream) as bar:
        bar.stage("scoring")
        bar.advance(1, 2)
    assert stream.getvalue() == ""
