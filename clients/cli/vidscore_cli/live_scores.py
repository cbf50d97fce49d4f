"""Scores that move: redrawn in place on a terminal, a line now and then anywhere else."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from rich.console import RenderableType
from rich.live import Live

from vidscore_cli.output import console_on

LINE_INTERVAL_S = 1.0
"""Least time between two lines where there is no terminal."""


class LiveDisplay:
    """Shows what a function draws, as often as something changes.

    Args:
        stream: Where it is drawn.
        draw: What to draw on a terminal, as things are now.
        line: One line that says the same, for anywhere else.
        keep: Whether the last picture stays on the terminal.
        clock: Seconds that go by.
    """

    def __init__(
        self,
        stream: TextIO,
        draw: Callable[[], RenderableType],
        line: Callable[[], str],
        *,
        keep: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare; nothing is drawn yet."""
        self._stream = stream
        self._line = line
        self._clock = clock
        self._lock = threading.Lock()
        self._next_line_s = 0.0
        self._live: Live | None = None
        if stream.isatty():
            self._live = Live(
                get_renderable=draw,
                console=console_on(stream),
                refresh_per_second=8,
                transient=not keep,
                redirect_stdout=False,
                redirect_stderr=False,
            )

    def changed(self) -> None:
        """Say that there is something new; may be called from any thread."""
        if self._live is not None:
            return  # it draws itself, some times a second
        with self._lock:
            now_s = self._clock()
            if now_s >= self._next_line_s:
                self._next_line_s = now_s + LINE_INTERVAL_S
                self._stream.write(self._line() + "\n")
                self._stream.flush()

    def __enter__(self) -> Self:
        """Begin to draw."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop drawing."""
        if self._live is not None:
            self._live.stop()
