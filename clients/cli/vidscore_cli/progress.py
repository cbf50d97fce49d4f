"""A progress bar on standard error, for what takes longer than a moment and someone who looks."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Self, TextIO

from vidscore_cli.output import drawing_console
from vidscore_evaluators.names import escape_controls

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY_S = 1.0
"""Seconds of work without a bar."""


class ProgressBar:
    """Shows how far a piece of work has come, once it has taken a while.

    Shown on a terminal alone; when it leaves, it wipes itself away.

    Args:
        delay_s: Seconds before it appears.
        stream: Where it is drawn; standard error unless given.
    """

    def __init__(self, delay_s: float = DELAY_S, stream: TextIO | None = None) -> None:
        self._drawn_on = stream or sys.stderr
        self._bar = _bar_on(self._drawn_on)
        self._stage = ""
        if self._bar is not None:
            self._task = self._bar.add_task("", total=None)
            self._timer = threading.Timer(delay_s, self._bar.start)
            self._timer.daemon = True

    def __enter__(self) -> Self:
        """Start the timer."""
        if self._bar is not None:
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bar away, whatever happened."""
        if self._bar is not None:
            self._timer.cancel()
            self._timer.join()
            self._bar.stop()

    def stage(self, description: str) -> None:
        """Say what is being done now; how much of it there is, is not known yet."""
        self._stage = description
        if self._bar is not None:
            self._bar.update(self._task, description=description, completed=0, total=None)

    def say(self, text: str) -> None:
        """Say something that stays, above the bar where it is shown."""
        shown = escape_controls(text)
        if self._bar is None:
            self._drawn_on.write(f"{shown}\n")
        else:
            self._bar.console.print(shown, soft_wrap=True, markup=False, highlight=False)

    def advance(self, done: int, total: int) -> None:
        """Say how far the stage has come."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def show(self, stage: str, done: int, total: int) -> None:
        """Say what is being done, and how far that has come; 0 in all where that is not known."""
        if stage != self._stage:
            self.stage(stage)
        if total:
            self.advance(done, total)


def _bar_on(stream: TextIO) -> Progress | None:
    """A bar that is not drawn yet; None if none can be."""
    console = drawing_console(stream)
    if console is None:
        return None
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
