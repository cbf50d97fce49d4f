"""Settings of streams and connections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import Literal

from vidscore_client._values import check_count, check_number, shown
from vidscore_client.errors import InputError, VidscoreError
from vidscore_client.reports import LiveReport

Policy = Literal["block", "raise"]
"""What happens to the caller if the queue is full."""


def _positive(value: float) -> bool:
    return value > 0


def _not_negative(value: float) -> bool:
    return value >= 0


def _check_time_or_none(name: str, value: float | None) -> None:
    if value is not None:
        check_number(name, value, _not_negative, "0 or more, or None")


@dataclass(frozen=True, slots=True)
class Batching:
    """How frames are batched into messages, and how many may wait.

    A frame is sent at most `batch_interval_s` after it was given, unless the server accepts no
    more; then frames wait in the queue. A frame or batch enters the queue if it fits or the queue
    is empty, so that memory is bounded by the queue and one batch of the caller.

    Attributes:
        batch_frames: Maximum frames of a message.
        batch_bytes: Maximum bytes of a message, unless a single frame is larger.
        batch_interval_s: Longest time in seconds that a frame waits for others.
        queue_frames: Maximum frames that wait to be sent, both sides together.
        queue_bytes: Maximum bytes that wait to be sent.
        policy: What happens to the caller if the queue is full: ``block`` waits for room, ``raise``
            raises `BackPressureError` at once.
        block_timeout_s: Longest time in seconds that ``block`` waits before it raises
            `BackPressureError`; None for no limit.
    """

    batch_frames: int = 256
    batch_bytes: int = 1 << 20
    batch_interval_s: float = 0.1
    queue_frames: int = 4096
    queue_bytes: int = 64 << 20
    policy: Policy = "block"
    block_timeout_s: float | None = 30.0

    def __post_init__(self) -> None:
        """Refuse numbers with which nothing could ever be sent."""
        for name in ("batch_frames", "batch_bytes", "queue_frames", "queue_bytes"):
            check_count(name, getattr(self, name))
        check_number("batch_interval_s", self.batch_interval_s, _not_negative, "0 or more")
        if self.policy not in ("block", "raise"):
            raise InputError("policy", shown(self.policy), "'block' or 'raise'")
        _check_time_or_none("block_timeout_s", self.block_timeout_s)


DEFAULT_BATCHING = Batching()


@dataclass(frozen=True, slots=True)
class Live:
    """When live reports are sent, and who gets them.

    A report is sent when either interval has passed. It goes to `on_report` and is kept, with the
    last `keep_reports` ones, for `live_reports()`; `latest` is always the newest.

    Attributes:
        every_frames: Frames that both sides have sent since the last report; 0 for not by frames.
        every_s: Seconds since the last report; None for not by time.
        on_report: Called with each report; for an asyncio stream, it may be a coroutine function.
        summary_only: Whether to leave out the rows of single sequences and the curves.
        keep_reports: Maximum number of reports that wait for `live_reports()`; older ones are
            dropped.
    """

    every_frames: int = 0
    every_s: float | None = None
    on_report: Callable[[LiveReport], object] | None = None
    summary_only: bool = False
    keep_reports: int = 16

    def __post_init__(self) -> None:
        """Refuse settings without any reports."""
        if self.every_frames != 0:
            check_count("every_frames", self.every_frames)
        if self.every_s is not None:
            check_number("every_s", self.every_s, lambda value: 0 <= value < 1e9, "0 to 1e9")
        if not self.every_frames and self.every_s is None:
            raise InputError("live", "no interval", "every_frames or every_s")
        check_count("keep_reports", self.keep_reports)


@dataclass(frozen=True, slots=True)
class Tls:
    """An encrypted connection; all files are PEM.

    Attributes:
        root_certificates: File of the authorities to trust; None for the system's own.
        certificate: File of this client's certificate chain, if the server requires one.
        private_key: File of the private key of `certificate`.
        server_name: Name in the server's certificate, if it differs from the address.
    """

    root_certificates: str | PathLike[str] | None = None
    certificate: str | PathLike[str] | None = None
    private_key: str | PathLike[str] | None = None
    server_name: str | None = None

    def __post_init__(self) -> None:
        """Refuse a client certificate without its key, and a key alone."""
        if (self.certificate is None) != (self.private_key is None):
            missing = "certificate" if self.certificate is None else "private_key"
            raise InputError(missing, "none", "certificate and private_key together, or neither")


SHORTEST_PING_INTERVAL_S = 10.0
"""Servers disconnect clients that ping more often."""


@dataclass(frozen=True, slots=True)
class Keepalive:
    """How silent connections are detected, because some networks drop connections silently.

    While a call is open over a silent connection, the server is pinged. A connection without an
    answer is replaced by a new one.

    Attributes:
        interval_s: Seconds of silence after which the server is pinged; at least 10.
        timeout_s: Seconds to wait for its answer.
    """

    interval_s: float = 20.0
    timeout_s: float = 10.0

    def __post_init__(self) -> None:
        """Refuse intervals that a server takes for an attack, and invalid times."""
        check_number(
            "interval_s",
            self.interval_s,
            lambda value: SHORTEST_PING_INTERVAL_S <= value < 1e6,
            "at least 10",
        )
        check_number("timeout_s", self.timeout_s, lambda value: 0 < value < 1e6, "more than 0")


DEFAULT_KEEPALIVE = Keepalive()


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how long to try again after a break; each wait is twice the one before.

    If the server gives a delay, no wait is shorter.

    Attributes:
        initial_s: Seconds to wait before the second try; the first one is made at once.
        maximum_s: Maximum seconds between two tries.
        give_up_after_s: Seconds without progress after which the last error is raised; None for
            never.
        on_break: Called with the error before each retry, by the waiting thread or task; it should
            return soon.
    """

    initial_s: float = 0.2
    maximum_s: float = 10.0
    give_up_after_s: float | None = 600.0
    on_break: Callable[[VidscoreError], object] | None = None

    def __post_init__(self) -> None:
        """Refuse invalid times."""
        check_number("initial_s", self.initial_s, _positive, "more than 0")
        check_number(
            "maximum_s",
            self.maximum_s,
            lambda value: value >= self.initial_s,
            "initial_s or more",
        )
        _check_time_or_none("give_up_after_s", self.give_up_after_s)


DEFAULT_RETRY = Retry()


@dataclass(frozen=True, slots=True)
class Delivery:
    """How frames of a submission are kept until the server has acknowledged them.

    Sent but unacknowledged frames are kept to be sent again after a break, so that memory is
    bounded by this window and the queue of `Batching`.

    Attributes:
        window_frames: Number of unacknowledged frames at which no further batch is sent.
        window_bytes: Bytes of unacknowledged frames, likewise.
        acknowledge_timeout_s: Seconds without an acknowledgement after which a connection counts
            as broken.
        close_timeout_s: Maximum seconds for which closing the stream, and so leaving its `with`
            block, waits for frames to become durable before it gives them up.
        retry: What happens after a break.
        on_acknowledged: Called with the stream's number of durable frames whenever it has grown;
            for an asyncio stream, it may be a coroutine function.
        unary: Whether each batch is a separate call, for proxies without streams; slower, otherwise
            the same.
    """

    window_frames: int = 4096
    window_bytes: int = 64 << 20
    acknowledge_timeout_s: float = 30.0
    close_timeout_s: float = 120.0
    retry: Retry = DEFAULT_RETRY
    on_acknowledged: Callable[[int], object] | None = None
    unary: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers with which nothing could ever be sent."""
        for name in ("window_frames", "window_bytes"):
            check_count(name, getattr(self, name))
        check_number("acknowledge_timeout_s", self.acknowledge_timeout_s, _positive, "more than 0")
        check_number("close_timeout_s", self.close_timeout_s, _not_negative, "0 or more")
        if not isinstance(self.retry, Retry):
            raise InputError("retry", shown(self.retry), "Retry")


DEFAULT_DELIVERY = Delivery()
