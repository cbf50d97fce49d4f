"""Says when a broker, or a topic of it, is away, and when it is there again."""

from __future__ import annotations

from vidscore_cli.output import say


class Absence:
    """Something that a source waits for; it is told once each time.

    Args:
        host: The broker.
        what: What is waited for.
    """

    def __init__(self, host: str, what: str = "the broker") -> None:
        self._host, self._what = host, what
        self._is_away = self._is_over = False

    def begin(self, reason: str) -> None:
        """It is away, for a reason."""
        if not (self._is_away or self._is_over):
            self._is_away = True
            text = f"{self._what} is away ({reason}); it is tried again"
            say(f"Warning: {self._host}: {text}", err=True)

    def end(self) -> None:
        """It is there."""
        if self._is_away and not self._is_over:
            self._is_away = False
            say(f"{self._host}: {self._what} is there", err=True)

    def close(self) -> None:
        """Nobody waits for it any more."""
        self._is_over = True
