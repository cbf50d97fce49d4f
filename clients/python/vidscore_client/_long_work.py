"""The handle of long work on the server, for the synchronous client."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Generic

from vidscore_client._long_operations import (
    POLL_S,
    LongKind,
    OperationStatus,
    OutcomeType,
    ProgressType,
    cancel_operation,
)
from vidscore_client._retrying import Retrying
from vidscore_client.errors import VidscoreError
from vidscore_client.settings import DEFAULT_RETRY, Retry
from vidscore_client.submissions import Run


class LongWork(Generic[ProgressType, OutcomeType]):
    """Work that runs on the server."""

    def __init__(
        self,
        run: Run,
        kind: LongKind[ProgressType, OutcomeType],
        status: OperationStatus[ProgressType, OutcomeType],
    ) -> None:
        """Keep how far it is.

        Args:
            run: Makes unary calls.
            kind: What work it is.
            status: How far it is.
        """
        self._run = run
        self._kind = kind
        self._status = status

    @property
    def name(self) -> str:
        """Name of the operation, by which it is found again."""
        return self._status.name

    @property
    def done(self) -> bool:
        """Whether it had ended when the server was last asked."""
        return self._status.done

    @property
    def progress(self) -> ProgressType:
        """How far it had come when the server was last asked."""
        return self._status.progress

    def refresh(self) -> ProgressType:
        """Ask the server how far it is.

        Raises:
            VidscoreError: If the call fails.
        """
        self._status = self._run(self._kind.get(self.name))
        return self.progress

    def cancel(self) -> None:
        """End it before its next step.

        Raises:
            VidscoreError: If the call fails.
        """
        self._run(cancel_operation(self.name))

    def wait(
        self,
        timeout_s: float | None = None,
        on_progress: Callable[[ProgressType], object] | None = None,
        *,
        retry: Retry = DEFAULT_RETRY,
    ) -> OutcomeType:
        """Wait until it has ended, over breaks of the connection and restarts of the server.

        Args:
            timeout_s: Seconds to wait; None for no limit.
            on_progress: Called whenever the server was asked.
            retry: What happens after a break of the connection.

        Returns:
            What came of it.

        Raises:
            DeadlineError: If it has not ended in time; it goes on.
            CallCancelledError: If it was cancelled.
            VidscoreError: What it failed with.
        """
        limit_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        tries, pause_s = Retrying(retry), POLL_S
        while not self.done:
            left_s = limit_s - time.monotonic()
            if left_s <= 0:
                raise self._kind.not_ended(timeout_s)
            time.sleep(min(pause_s, left_s))
            try:
                progress = self.refresh()
            except VidscoreError as error:
                pause_s = max(POLL_S, tries.delay_s(error, time.monotonic()))
                continue
            tries.progress()
            pause_s = POLL_S
            if on_progress is not None:
                on_progress(progress)
        return self._kind.outcome_of(self._status)
