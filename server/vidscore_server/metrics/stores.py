"""The store's writing, counted and timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeVar

from prometheus_client import CollectorRegistry, Gauge, Histogram

from vidscore_server.store.contract import (
    Reader,
    Store,
    StoreLostError,
    SubmissionKey,
    Transaction,
)

Result = TypeVar("Result")

DURATIONS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class StoreMetrics:
    """Counts and times commands.

    Args:
        registry: Where the figures are shown.

    Attributes:
        waiting: Commands that are not durable yet.
        durable: Time from asking for a command to its being durable, or refused.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        """Begin with nothing."""
        self.waiting = Gauge(
            "vidscore_store_waiting_commands",
            "Commands that are not durable yet.",
            registry=registry,
        )
        self.durable = Histogram(
            "vidscore_store_commit_seconds",
            "Time from asking for a command to its being durable, or refused.",
            buckets=DURATIONS_S,
            registry=registry,
        )


class MeteredStore(Store):
    """A store whose commands are counted.

    Args:
        store: The store.
        metrics: Where they are counted.

    Attributes:
        store: The store.
    """

    def __init__(self, store: Store, metrics: StoreMetrics) -> None:
        """Begin now."""
        self.store = store
        self._metrics = metrics

    @property
    def shared(self) -> bool:
        """See the contract."""
        return self.store.shared

    @property
    def lost(self) -> Future[StoreLostError]:
        """See the contract."""
        return self.store.lost

    def submit(
        self,
        command: Callable[[Transaction], Result],
        about: Collection[SubmissionKey] | None = None,
    ) -> Future[Result]:
        """See the contract."""
        started_s = time.monotonic()
        future = self.store.submit(command, about)
        self._metrics.waiting.inc()
        future.add_done_callback(partial(self._ended, started_s))
        return future

    def read(self) -> AbstractContextManager[Reader]:
        """See the contract."""
        return self.store.read()

    def close(self) -> None:
        """See the contract."""
        self.store.close()

    def _ended(self, started_s: float, _: Future[Result]) -> None:
        self._metrics.waiting.dec()
        self._metrics.durable.observe(time.monotonic() - started_s)
