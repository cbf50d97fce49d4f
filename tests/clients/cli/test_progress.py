"""The progress bar appears late, on a terminal alone, and leaves nothing behind."""

from __future__ import annotations

import io
import os
import pty

from tests.clients.cli.terminal import read_until

from vidscore_cli.progress import ProgressBar


def test_on_a_terminal_the_bar_says_what_is_done_and_how_far_it_is() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal, ProgressBar(delay_s=0.0, stream=terminal) as bar:
        bar.stage("scoring")
        bar.advance(3, 4)
        drawn = read_until(master, "scoring[^\r]*75%")
        assert "scoring" in drawn.split("\r")[-1]
    os.close(master)


def test_work_that_is_done_in_a_moment_shows_no_bar() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        with ProgressBar(delay_s=3600.0, stream=terminal) as bar:
            bar.stage("scoring")
            bar.advance(1, 2)
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
