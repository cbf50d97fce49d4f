"""The time that a site goes by: that of its store, so that all servers agree on what is due."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from vidscore_server.store import SqlStore

LONGEST_LOOK_S = 0.5
"""A look at the store's clock that took longer says too little about when it was."""


class StoreClock:
    """A clock that is set by the store's, and runs on by itself between two looks at it.

    Args:
        store: The store.
    """

    def __init__(self, store: SqlStore) -> None:
        """Look at the store's clock."""
        self._store = store
        self._time, self._at_s, _ = self._look()

    def __call__(self) -> datetime:
        """The time."""
        return self._time + timedelta(seconds=time.monotonic() - self._at_s)

    def adjust(self) -> None:
        """Look at the store's clock again.

        Raises:
            StoreError: If the store does not answer; the clock goes on as before.
        """
        found, at_s, took_s = self._look()
        if took_s <= LONGEST_LOOK_S:
            self._time, self._at_s = found, at_s

    def _look(self) -> tuple[datetime, float, float]:
        """Time of the store, time here in the middle of the look, and how long it took."""
        with self._store.read() as reader:
            begun_s = time.monotonic()
            found = reader.time()
            took_s = time.monotonic() - begun_s
        return found, begun_s + took_s / 2, took_s
