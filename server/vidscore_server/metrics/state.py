"""What the server has open, and what waits: looked up when somebody asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.sessions import Sessions
from vidscore_server.domain.states import UNFINISHED
from vidscore_server.store.contract import StoreError
from vidscore_server.store.records import SubmissionRecord
from vidscore_server.version import server_version
from vidscore_server.workers import WorkerPool


class StateCollector(Collector):
    """Gauges of a server; asked by threads of the metrics endpoint.

    Args:
        sessions: The streams that are open.
        workers: Who tallies.
        hosting: The hosted benchmarks; None where there are none.
    """

    def __init__(self, sessions: Sessions, workers: WorkerPool, hosting: Hosting | None) -> None:
        """Look nothing up yet."""
        self._sessions = sessions
        self._workers = workers
        self._hosting = hosting

    def describe(self) -> list[Metric]:
        """Nothing: names are known without asking the store."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The figures of this moment."""
        version = GaugeMetricFamily(
            "vidscore_build_info", "Version of the server; always 1.", labels=("version",)
        )
        version.add_metric((server_version(),), 1)
        yield version
        yield _gauge(
            "vidscore_draining", "Whether the server is about to stop.", self._sessions.draining
        )
        yield _gauge("vidscore_open_streams", "Streams that are open.", self._sessions.open_count)
        yield _gauge("vidscore_workers", "Processes that score.", len(self._workers.process_ids))
        yield _gauge("vidscore_workers_busy", "Processes that score now.", self._workers.busy_count)
        if self._hosting is not None:
            yield from _hosting_figures(self._hosting)


def _hosting_figures(hosting: Hosting) -> Iterator[Metric]:
    yield _gauge(
        "vidscore_live_scores", "Submissions whose live scores are kept.", hosting.live.kept_count
    )
    up = hosting.heartbeat.writable
    try:
        with hosting.context.store.read() as reader:
            waiting = reader.submissions_in(UNFINISHED)
            size_bytes = reader.size_bytes()
    except StoreError:
        up = False
    else:
        yield from _queue_figures(waiting, hosting.context.clock())
        yield _gauge("vidscore_store_bytes", "Bytes that the store takes.", size_bytes)
    yield _gauge("vidscore_store_up", "Whether the store can be read and written.", up)


def _queue_figures(waiting: list[SubmissionRecord], now: datetime) -> Iterator[Metric]:
    depth = GaugeMetricFamily(
        "vidscore_scoring_queue_submissions",
        "Sealed submissions that are not scored yet, on all servers of the store.",
        labels=("state",),
    )
    counts = Counter(record.state for record in waiting)
    for state in sorted(UNFINISHED):
        depth.add_metric((state.value,), counts[state])
    yield depth
    since = min((record.seal_time or record.state_time for record in waiting), default=now)
    yield _gauge(
        "vidscore_scoring_queue_oldest_seconds",
        "Time since the oldest of them was sealed.",
        max(0.0, (now - since).total_seconds()),
    )


def _gauge(name: str, meaning: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, meaning, value=value)
