"""A progress bar on standard error, on a terminal only, for work that takes a while."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Self, TextIO

from vidscore_cli.output import drawing_console
from vidscore_evaluators.names import escape_controls

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY_S = 1.0
"""Seconds before a bar appears."""


class ProgressBar:
    """Shows how far a piece of work has come, once it has taken a while.

    Shown on a terminal alone; when it leaves, it wipes itself away.

    Args:
        delay_s: Seconds before it appears.
        stream: The stream for the bar; standard error unless given.
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
        """Remove the bar, even after an error."""
        if self._bar is not None:
            self._timer.cancel()
            self._timer.join()
            self._bar.stop()

    def stage(self, description: str) -> None:
        """Begin a stage, whose total is not known yet."""
        self._stage = description
        if self._bar is not None:
            self._bar.update(self._task, description=description, completed=0, total=None)

    def say(self, text: str) -> None:
        """Write a line that stays, above the bar if it is shown."""
        shown = escape_controls(text)
        if self._bar is None:
            self._drawn_on.write(f"{shown}\n")
        else:
            self._bar.console.print(shown, soft_wrap=True, markup=False, highlight=False)

    def advance(self, done: int, total: int) -> None:
        """Show the progress of the stage."""
        if self._bar is not None:
            self._bar.update(self._task, completed=done, total=total)

    def show(self, stage: str, done: int, total: int) -> None:
        """Show a stage and its progress; `total` is 0 if it is unknown."""
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
