"""When a live report is due: a pure rule over a clock that the caller reads."""

from __future__ import annotations

from vidscore_evaluators.live import Coverage
from vidscore_server.runs.configuration import LiveReporting

NOTHING = Coverage(0, 0, 0)


class LiveSchedule:
    """Decides when the next live report is due.

    One is due when enough frames were paired or enough time has passed since the last, never
    sooner after the last than the shortest interval, and never while nothing has changed.

    Args:
        wish: What the client asked for.
        shortest_interval_s: The server's limit.
        now_s: Time at which the stream began.
    """

    def __init__(self, wish: LiveReporting, shortest_interval_s: float, now_s: float) -> None:
        """Begin at `now_s`."""
        self._wish = wish
        self._shortest_interval_s = shortest_interval_s
        self._last_time_s = now_s
        self._last_coverage = NOTHING

    def seconds_until_due(self, coverage: Coverage, now_s: float) -> float | None:
        """Time until a report is due; 0 if one is, None if more must come first."""
        if coverage == self._last_coverage:
            return None
        waits = []
        frames = coverage.paired - self._last_coverage.paired
        if self._wish.frame_interval and frames >= self._wish.frame_interval:
            waits.append(self._shortest_interval_s)
        if self._wish.time_interval_s is not None:
            waits.append(max(self._wish.time_interval_s, self._shortest_interval_s))
        if not waits:
            return None
        return max(0.0, self._last_time_s + min(waits) - now_s)

    def reported(self, coverage: Coverage, now_s: float) -> None:
        """Note that a report over `coverage` is on its way."""
        self._last_coverage = coverage
        self._last_time_s = now_s
