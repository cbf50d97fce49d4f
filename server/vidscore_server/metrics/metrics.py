"""All figures of one server."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector

from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.sessions import Sessions
from vidscore_server.metrics.calls import CallMetrics
from vidscore_server.metrics.endpoint import MetricsEndpoint
from vidscore_server.metrics.state import StateCollector
from vidscore_server.metrics.stores import MeteredStore, StoreMetrics
from vidscore_server.settings import ListenAddress
from vidscore_server.store.contract import Store
from vidscore_server.workers import WorkerPool


class Metrics:
    """The figures of a server, whether somebody looks at them or not.

    Attributes:
        calls: Where calls are counted.
    """

    def __init__(self) -> None:
        """Begin with nothing."""
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self.calls = CallMetrics(self._registry)

    def metered(self, store: Store) -> Store:
        """A store whose commands are counted."""
        return MeteredStore(store, StoreMetrics(self._registry))

    def watch(self, sessions: Sessions, workers: WorkerPool, hosting: Hosting | None) -> None:
        """Show what these have open, and what waits in them."""
        self._registry.register(StateCollector(sessions, workers, hosting))

    def listen(self, address: ListenAddress) -> MetricsEndpoint:
        """Show the figures at an address.

        Raises:
            ListenError: If that address cannot be listened at.
        """
        return MetricsEndpoint(address, self._registry)
