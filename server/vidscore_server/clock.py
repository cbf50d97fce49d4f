"""The time by this process's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from vidscore_server.failpoints import clock_shift_s


def utc_now() -> datetime:
    """The time by this process's clock, in UTC; tests may have shifted it."""
    return datetime.now(UTC) + timedelta(seconds=clock_shift_s())
