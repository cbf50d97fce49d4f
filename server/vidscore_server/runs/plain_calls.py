"""Calls of one answer: how many a team may have open at once."""

from __future__ import annotations

import asyncio
from collections import Counter

from vidscore_server.errors import NoPlaceError


class PlainCalls:
    """Counts the open calls of each team; all without a token together are one more.

    Args:
        maximum: Calls that one of them may have open at once.
    """

    def __init__(self, maximum: int) -> None:
        """Begin with none."""
        self._maximum = maximum
        self._open: Counter[str] = Counter()

    def begin(self, team: str) -> None:
        """Count the call that the present task makes, until the task ends.

        Its message may never come: nothing else would tell that it is over.

        Raises:
            NoPlaceError: If the team has too many.
        """
        if self._open[team] >= self._maximum:
            found = f"{self._open[team]} calls of one team are open"
            raise NoPlaceError(found, "maximum_calls", self._maximum)
        task = asyncio.current_task()
        if task is not None:
            self._open[team] += 1
            task.add_done_callback(lambda _: self._end(team))

    def _end(self, team: str) -> None:
        self._open[team] -= 1
        if not self._open[team]:
            del self._open[team]
