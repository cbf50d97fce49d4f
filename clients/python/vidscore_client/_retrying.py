"""Decides when to repeat a call; pure: its caller passes the time and waits."""

from __future__ import annotations

import random
from collections.abc import Callable

from vidscore_client.errors import (
    CallbackError,
    DeadlineError,
    InternalError,
    UnavailableError,
    VidscoreError,
)
from vidscore_client.hosting import SubmissionUpdate
from vidscore_client.settings import Retry
from vidscore_protos.v1 import submission_service_pb2

CALL_S = 45.0
"""Seconds after which a call is renewed, because proxies end calls that are idle for a minute."""

BREAKS = frozenset({"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "UNKNOWN", "INTERNAL"})
"""Codes of a broken connection at any hop, and of a restarting server."""

PASSING_REASONS = frozenset({"OFFSET_GAP", "OFFSET_STRADDLES", "STORE_FULL"})
"""Server reasons that another offset, or time, resolves."""


def is_break(error: VidscoreError) -> bool:
    """Whether the same call may succeed over another connection, or later."""
    if error.retry_delay_s is not None:
        return True  # the server itself says so
    if isinstance(error, InternalError) and "incident" in error.metadata:
        return False  # the server failed at this request, and would fail again
    return error.code in BREAKS or error.reason in PASSING_REASONS


class Retrying:
    """Counts tries.

    Args:
        retry: How often and how long.
        chance: Returns random numbers from 0 to 1, so that clients do not all return at once.
    """

    def __init__(self, retry: Retry, chance: Callable[[], float] = random.random) -> None:
        self._retry = retry
        self._chance = chance
        self._breaks = 0
        self._since_s: float | None = None

    def progress(self) -> None:
        """Record a success."""
        self._breaks = 0
        self._since_s = None

    def delay_s(self, error: VidscoreError, now_s: float, *, is_mended: bool = False) -> float:
        """Seconds to wait before the next try; at least the server's delay.

        Args:
            error: The error of the last try.
            now_s: The time.
            is_mended: Whether the next try avoids the cause of the error.

        Raises:
            VidscoreError: `error`, if another try is useless or would come too late.
            CallbackError: If `Retry.on_break` raises.
        """
        if not is_break(error) and not is_mended:
            raise error
        if self._since_s is None:
            self._since_s = now_s
        wanted_s = error.retry_delay_s or 0.0
        limit_s = self._retry.give_up_after_s
        if limit_s is not None:
            left_s = limit_s - (now_s - self._since_s)
            if (left_s <= 0 and self._breaks) or wanted_s > left_s:
                raise error
        self._breaks += 1
        self._call_back(error)
        return max(wanted_s, self._own_delay_s())

    def _call_back(self, error: VidscoreError) -> None:
        if self._retry.on_break is not None:
            try:
                self._retry.on_break(error)
            except Exception as failure:
                text = f"on_break raised {type(failure).__name__}: {failure}"
                raise CallbackError(text) from failure

    def _own_delay_s(self) -> float:
        if self._breaks == 1:
            return 0.0
        doublings = min(self._breaks - 2, 60)  # bounded, so that the power stays a number
        whole_s = min(self._retry.maximum_s, self._retry.initial_s * 2.0**doublings)
        return whole_s * (1 + self._chance()) / 2


def ended_early() -> UnavailableError:
    """The error of a call that the server ended without an error, but too early."""
    return UnavailableError("the server ended the call", code="UNAVAILABLE")


class Watched:
    """Watches a submission, over as many calls as necessary.

    Args:
        name: Its full name.
        retry: What happens after a break.
        window_frames: Number of frames of the requested window; 0 for none.
    """

    def __init__(self, name: str, retry: Retry, window_frames: int = 0) -> None:
        self.ended = False
        self._name = name
        self._window_frames = window_frames
        self._revision = 0
        self._pause_s = retry.initial_s
        self._retrying = Retrying(retry)

    def request(self) -> submission_service_pb2.WatchSubmissionRequest:
        """The request of the next call."""
        return submission_service_pb2.WatchSubmissionRequest(
            name=self._name,
            from_revision=self._revision,
            window_frames=self._window_frames,
        )

    def take(self, update: SubmissionUpdate) -> SubmissionUpdate:
        """Record a response."""
        self._retrying.progress()
        self._revision = max(self._revision, update.submission.revision)
        self.ended = update.submission.state.has_ended
        return update

    def delay_s(self, error: VidscoreError, now_s: float) -> float:
        """Seconds to wait before the next call.

        Raises:
            VidscoreError: `error`, if a retry is useless.
        """
        if error.code == "DEADLINE_EXCEEDED":
            self._retrying.progress()  # nothing has happened for a while, and nothing failed
            return self._pause_s
        return self._retrying.delay_s(error, now_s)


def call_s(limit_s: float | None, now_s: float) -> float:
    """Seconds that the next call may take.

    Args:
        limit_s: Time at which the watcher gives up; None for never.
        now_s: The time.
    """
    return CALL_S if limit_s is None else min(CALL_S, max(0.0, limit_s - now_s))


def not_ended(timeout_s: float | None) -> DeadlineError:
    """The error of a submission that exceeds the caller's timeout."""
    return DeadlineError(
        f"the submission has not ended within {timeout_s:g} s; it continues",
        code="DEADLINE_EXCEEDED",
    )
