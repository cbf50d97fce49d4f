"""Moving scores: redrawn on a terminal, lines now and then anywhere else."""

from __future__ import annotations

import io
import os
import pty

import pytest
from rich.text import Text
from tests.clients.cli.terminal import read_until

from vidscore_cli.live import LiveDisplay


def test_without_a_terminal_there_is_a_line_at_once_and_the_next_only_after_the_interval() -> None:
    stream = io.StringIO()
    times_s = iter([50.0, 50.2, 50.9, 51.1, 51.2])
    display = LiveDisplay(
        stream, lambda: Text("picture"), lambda: "line", clock=lambda: next(times_s)
    )
    with display:
        for _ in range(5):
            display.changed()
    assert stream.getvalue() == "line\nline\n"


def test_on_a_terminal_the_picture_is_drawn_and_stays_where_it_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        display = LiveDisplay(terminal, lambda: Text("picture"), lambda: "line", keep=True)
        with display:
            display.changed()
        assert "picture" in read_until(master, "picture")
    os.close(master)


def test_on_a_terminal_that_cannot_draw_there_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        with LiveDisplay(terminal, lambda: Text("picture"), lambda: "line") as display:
            display.changed()
        terminal.write("end")
        terminal.flush()
        assert os.read(master, 4096) == b"line\r\nend"
    os.close(master)
