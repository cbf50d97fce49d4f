"""Metrics of a running server for Prometheus; nothing about its benchmarks, with one exception.

Labels are names of services, methods, codes, sides and states: there is a bounded number of each,
and none comes from a client. If the setting `metrics_live_scores` is on, watched live scores are
labelled with their benchmarks and submissions, but only if the policy shows these scores.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future
from datetime import datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    ProcessCollector,
    start_http_server,
)
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from vidscore_server.addresses import ListenAddress
from vidscore_server.domain.live import LiveScore
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.release import values_of
from vidscore_server.domain.sessions import Sessions
from vidscore_server.domain.states import UNFINISHED
from vidscore_server.errors import ListenError
from vidscore_server.store import SqlStore
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import SubmissionRecord
from vidscore_server.version import server_version
from vidscore_server.workers import WorkerPool

if TYPE_CHECKING:
    from vidscore_server.domain.hosting import Hosting

LABELS = ("grpc_type", "grpc_service", "grpc_method")

TYPES = {
    "unary_unary": "unary",
    "unary_stream": "server_stream",
    "stream_unary": "client_stream",
    "stream_stream": "bidi_stream",
}
"""Kinds of calls: the names of gRPC for Python, and the names in dashboards."""

CALL_DURATIONS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
"""Bounds of the buckets, in seconds: streams last as long as a video."""

COMMIT_DURATIONS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)

_SIDES = ("truth", "detections")


class CallMetrics:
    """Counts and times calls, under the names of gRPC's own libraries.

    Args:
        registry: Registry that shows the figures.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        def counter(name: str, meaning: str, *more: str) -> Counter:
            return Counter(name, meaning, (*LABELS, *more), registry=registry)

        self.started = counter("grpc_server_started", "Calls that began.")
        self.handled = counter("grpc_server_handled", "Calls that ended.", "grpc_code")
        self.received = counter("grpc_server_msg_received", "Messages from clients.")
        self.sent = counter("grpc_server_msg_sent", "Messages to clients.")
        self.handling = Histogram(
            "grpc_server_handling_seconds",
            "Time from the beginning of a call to its end.",
            LABELS,
            buckets=CALL_DURATIONS_S,
            registry=registry,
        )
        self.frames = Counter(
            "vidscore_frames_received",
            "Frames in messages from clients, taken in or not.",
            ("grpc_service", "side"),
            registry=registry,
        )

    def begin(self, method: str, kind: str) -> CallMeter:
        """Count the start of a call.

        Args:
            method: A known method, as ``/package.Service/Method``.
            kind: Name of its handler in gRPC for Python, such as ``unary_unary``.
        """
        _, service, name = method.split("/")
        labels = (TYPES[kind], service, name)
        self.started.labels(*labels).inc()
        return CallMeter(self, labels)


class CallMeter:
    """Counts the messages and frames of one call.

    Args:
        metrics: Counters of all calls.
        labels: The call's labels.
    """

    def __init__(self, metrics: CallMetrics, labels: tuple[str, str, str]) -> None:
        self._metrics = metrics
        self._labels = labels
        self._frames_of_sides: dict[str, Counter] = {}
        self._started_s = time.monotonic()

    @property
    def duration_s(self) -> float:
        """Time since the call began."""
        return time.monotonic() - self._started_s

    def received(self, message: object) -> None:
        """Count a message from the client."""
        self._received.inc()
        if isinstance(message, Message):
            for side, frames in frames_of(message):
                self._frames(side).inc(frames)

    def sent(self) -> None:
        """Count a message to the client."""
        self._sent.inc()

    @cached_property
    def _received(self) -> Counter:
        return self._metrics.received.labels(*self._labels)

    @cached_property
    def _sent(self) -> Counter:
        return self._metrics.sent.labels(*self._labels)

    def _frames(self, side: str) -> Counter:
        found = self._frames_of_sides.get(side)
        if found is None:
            found = self._frames_of_sides[side] = self._metrics.frames.labels(self._labels[1], side)
        return found

    def ended(self, code: str) -> None:
        """Count the end of the call.

        Args:
            code: Its canonical code, such as ``NOT_FOUND``.
        """
        self._metrics.handled.labels(*self._labels, _spelled(code)).inc()
        self._metrics.handling.labels(*self._labels).observe(self.duration_s)


def frames_of(message: Message) -> Iterator[tuple[str, int]]:
    """Frames that a request carries, by their side."""
    for side in _sides_of(message.DESCRIPTOR):
        held = getattr(message, side)
        batches: Sequence[Any] = (held,) if isinstance(held, Message) else held
        yield side, sum(len(batch.frame_numbers) for batch in batches)


# Cached: descriptors are slow to search, and thousands of messages come in a second.


@cache
def _sides_of(kind: Descriptor) -> tuple[str, ...]:
    """Fields that hold batches of a side."""
    return tuple(side for side in _SIDES if side in kind.fields_by_name)


def _spelled(code: str) -> str:
    """A code as dashboards spell it: ``NotFound``; gRPC's Go library writes Canceled with one l."""
    if code == "OK":
        return code
    return code.title().replace("_", "").replace("Cancelled", "Canceled")


REQUEST_TIMEOUT_S = 20.0
"""Longest wait for a part of a request, or until the client reads a part of the answer."""


class MetricsEndpoint:
    """The HTTP address that Prometheus scrapes; it answers in threads of its own.

    Args:
        address: Address to listen at; plain HTTP, because the figures are no secret.
        registry: Registry that is shown.

    Attributes:
        address: The address with the port that was taken.

    Raises:
        ListenError: If it cannot listen at the address.
    """

    def __init__(self, address: ListenAddress, registry: CollectorRegistry) -> None:
        try:
            self._server, self._thread = start_http_server(address.port, address.host, registry)
        except OSError as error:
            raise ListenError(f"cannot listen at {address} for metrics: {error.strerror}") from None
        # By default a thread waits for ever, and one whose client breaks off prints a traceback.
        handler: Any = self._server.RequestHandlerClass
        handler.timeout = REQUEST_TIMEOUT_S
        vars(self._server)["handle_error"] = lambda *_: None
        self.address = address._replace(port=self._server.server_port)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class StateCollector(Collector):
    """Gauges of a server, which threads of the metrics endpoint read at each scrape.

    Args:
        sessions: The open streams.
        workers: Worker processes.
        hosting: The hosted benchmarks; None if there are none.
    """

    def __init__(self, sessions: Sessions, workers: WorkerPool, hosting: Hosting | None) -> None:
        self._sessions = sessions
        self._workers = workers
        self._hosting = hosting

    def describe(self) -> list[Metric]:
        """Nothing, so that registration does not query the store."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The present values."""
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
    # A lost database is noticed after a timeout that is longer than Prometheus waits.
    if up or not hosting.context.store.shared:
        up = (yield from _store_figures(hosting)) and up
    yield _gauge("vidscore_store_up", "Whether the store can be read and written.", up)


def _store_figures(hosting: Hosting) -> Generator[Metric, None, bool]:
    """Figures from the store; returns whether it can be read."""
    try:
        with hosting.context.store.read() as reader:
            waiting = reader.submissions_in(UNFINISHED)
            size_bytes = reader.size_bytes()
            wanted = hosting.context.settings.metrics_live_scores
            shown = hosting.live.shown(reader) if wanted else []
    except StoreError:
        return False
    yield from _queue_figures(waiting, hosting.context.clock())
    yield _gauge("vidscore_store_bytes", "Bytes that the store takes.", size_bytes)
    if wanted:
        yield _live_figures(shown)
    return True


def _live_figures(shown: list[tuple[SubmissionName, LiveScore]]) -> Metric:
    scores = GaugeMetricFamily(
        "vidscore_live_score",
        "Score over the completed sequences of a submission that is watched.",
        labels=("benchmark", "submission", "evaluator", "measure"),
    )
    for name, live in shown:
        # If too few frames are completed, there are no reports.
        for evaluator, report in zip(live.definition.evaluators, live.reports, strict=False):
            for measure, value in values_of(report, list(evaluator.ranking)).items():
                if value is not None:
                    labels = (name.benchmark, name.submission, evaluator.name, measure)
                    scores.add_metric(labels, value)
    return scores


def _queue_figures(waiting: list[SubmissionRecord], now: datetime) -> Iterator[Metric]:
    depth = GaugeMetricFamily(
        "vidscore_scoring_queue_submissions",
        "Sealed submissions that are not scored yet, on all servers of the store.",
        labels=("state",),
    )
    counts = collections.Counter(record.state for record in waiting)
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


class StoreMetrics:
    """Counts and times the commands of a store; see `SqlStore.observer`.

    Args:
        registry: Registry that shows the figures.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._waiting = Gauge(
            "vidscore_store_waiting_commands",
            "Commands that are not durable yet.",
            registry=registry,
        )
        self._durable = Histogram(
            "vidscore_store_commit_seconds",
            "Time from asking for a command to its being durable, or refused.",
            buckets=COMMIT_DURATIONS_S,
            registry=registry,
        )

    def queued(self, future: Future[Any]) -> None:
        """Count a command that was queued, and time it until its future is resolved."""
        started_s = time.monotonic()
        self._waiting.inc()

        def ended(_: Future[Any]) -> None:
            self._waiting.dec()
            self._durable.observe(time.monotonic() - started_s)

        future.add_done_callback(ended)


class Metrics:
    """All metrics of one server, scraped or not."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self.calls = CallMetrics(self._registry)

    def observe(self, store: SqlStore) -> None:
        """Begin to count the commands of a store."""
        store.observer = StoreMetrics(self._registry).queued

    def watch(self, sessions: Sessions, workers: WorkerPool, hosting: Hosting | None) -> None:
        """Export the state of these parts."""
        self._registry.register(StateCollector(sessions, workers, hosting))

    def listen(self, address: ListenAddress) -> MetricsEndpoint:
        """Serve the metrics at an address.

        Raises:
            ListenError: If it cannot listen at the address.
        """
        return MetricsEndpoint(address, self._registry)
