"""Calls, under the names that gRPC's own libraries have for them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from prometheus_client import CollectorRegistry, Counter, Histogram

from vidscore.v1 import annotations_pb2

LABELS = ("grpc_type", "grpc_service", "grpc_method")

TYPES = {
    "unary_unary": "unary",
    "unary_stream": "server_stream",
    "stream_unary": "client_stream",
    "stream_stream": "bidi_stream",
}
"""Kinds of calls, as gRPC for Python names its handlers, and as dashboards know them."""

DURATIONS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
"""Bounds of the buckets: streams last as long as a video."""

_SIDES = ("truth", "detections")


class CallMetrics:
    """Counts and times calls.

    Args:
        registry: Where the figures are shown.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        """Begin with nothing."""

        def counter(name: str, meaning: str, *more: str) -> Counter:
            return Counter(name, meaning, (*LABELS, *more), registry=registry)

        self._started = counter("grpc_server_started", "Calls that began.")
        self._handled = counter("grpc_server_handled", "Calls that ended.", "grpc_code")
        self._received = counter("grpc_server_msg_received", "Messages from clients.")
        self._sent = counter("grpc_server_msg_sent", "Messages to clients.")
        self._handling = Histogram(
            "grpc_server_handling_seconds",
            "Time from the beginning of a call to its end.",
            LABELS,
            buckets=DURATIONS_S,
            registry=registry,
        )
        self._frames = Counter(
            "vidscore_frames_received",
            "Frames in messages from clients, taken in or not.",
            ("grpc_service", "side"),
            registry=registry,
        )

    def begin(self, method: str, kind: str) -> CallMeter:
        """Note that a call begins.

        Args:
            method: Its method, as ``/package.Service/Method``; one that there is.
            kind: Name of its handler in gRPC for Python, such as ``unary_unary``.
        """
        _, service, name = method.split("/")
        labels = (TYPES[kind], service, name)
        self._started.labels(*labels).inc()
        return CallMeter(self, labels)

    def received(self, labels: tuple[str, str, str]) -> Counter:
        """Counts messages from clients."""
        return self._received.labels(*labels)

    def frames(self, service: str, side: str) -> Counter:
        """Counts frames of a side in messages from clients."""
        return self._frames.labels(service, side)

    def sent(self, labels: tuple[str, str, str]) -> Counter:
        """Counts messages to clients."""
        return self._sent.labels(*labels)

    def ended(self, labels: tuple[str, str, str], code: str, duration_s: float) -> None:
        """Note the end of a call."""
        self._handled.labels(*labels, _spelled(code)).inc()
        self._handling.labels(*labels).observe(duration_s)


class CallMeter:
    """Counts what goes over one call.

    Args:
        metrics: Where it is counted.
        labels: The call's labels.
    """

    def __init__(self, metrics: CallMetrics, labels: tuple[str, str, str]) -> None:
        """Begin now."""
        self._metrics = metrics
        self._labels = labels
        self._frames_of_sides: dict[str, Counter] = {}
        self._started_s = time.monotonic()

    @property
    def duration_s(self) -> float:
        """Time since the call began."""
        return time.monotonic() - self._started_s

    def received(self, message: object) -> None:
        """Note a message from the client."""
        self._received.inc()
        if isinstance(message, Message):
            for side, frames in frames_of(message):
                self._frames(side).inc(frames)

    def sent(self) -> None:
        """Note a message to the client."""
        self._sent.inc()

    @cached_property
    def _received(self) -> Counter:
        return self._metrics.received(self._labels)

    @cached_property
    def _sent(self) -> Counter:
        return self._metrics.sent(self._labels)

    def _frames(self, side: str) -> Counter:
        found = self._frames_of_sides.get(side)
        if found is None:
            found = self._frames_of_sides[side] = self._metrics.frames(self._labels[1], side)
        return found

    def ended(self, code: str) -> None:
        """Note the end of the call.

        Args:
            code: Its canonical code, such as ``NOT_FOUND``.
        """
        self._metrics.ended(self._labels, code, self.duration_s)


def frames_of(message: Message) -> Iterator[tuple[str, int]]:
    """Frames that a request carries, by their side."""
    for side in _sides_of(message.DESCRIPTOR):
        held = getattr(message, side)
        batches: Sequence[annotations_pb2.AnnotationBatch] = (
            (held,) if isinstance(held, annotations_pb2.AnnotationBatch) else held
        )
        yield side, sum(len(batch.frame_numbers) for batch in batches)


# What a kind of message is made of is asked once, not for each of thousands a second.


@cache
def _sides_of(kind: Descriptor) -> tuple[str, ...]:
    """Fields that hold batches of a side."""
    return tuple(side for side in _SIDES if side in kind.fields_by_name)


def _spelled(code: str) -> str:
    """A code as dashboards know it: ``NotFound``; gRPC's Go library writes Canceled with one l."""
    if code == "OK":
        return code
    return code.title().replace("_", "").replace("Cancelled", "Canceled")
