"""What both kinds of re-scoring handles share."""

from __future__ import annotations

from vidscore_client._benchmark_operations import OperationStatus
from vidscore_client.errors import DeadlineError, InternalError
from vidscore_client.hosting import ScoreDifference

POLL_S = 0.2
"""Seconds between two questions how far it is."""


def outcome_of(status: OperationStatus) -> list[ScoreDifference]:
    """What a re-scoring that has ended changed.

    Raises:
        VidscoreError: What it failed with.
    """
    if status.error is not None:
        raise status.error
    if status.differences is None:
        raise InternalError("the server ended a re-scoring without an outcome")
    return status.differences


def not_rescored(timeout_s: float | None) -> DeadlineError:
    """The error of a re-scoring that takes longer than the caller wants to wait."""
    return DeadlineError(
        f"the re-scoring has not ended within {timeout_s:g} s; it goes on",
        code="DEADLINE_EXCEEDED",
    )
