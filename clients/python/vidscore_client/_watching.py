"""What a watcher of a submission knows, without any I/O; shared by both clients."""

from __future__ import annotations

from vidscore_client._retrying import Retrying
from vidscore_client.errors import DeadlineError, VidscoreError
from vidscore_client.hosting import SubmissionUpdate
from vidscore_client.settings import Retry
from vidscore_protos.v1 import submission_service_pb2

CALL_S = 120.0
"""Seconds after which a call is made anew, so that a dead connection is noticed."""


class Watched:
    """A submission that is watched over as many calls as it takes.

    Args:
        name: Its full name.
        retry: What happens after a break.
    """

    def __init__(self, name: str, retry: Retry) -> None:
        """Start as if nothing were known of it."""
        self.ended = False
        self._name = name
        self._revision = 0
        self._pause_s = retry.initial_s
        self._retrying = Retrying(retry)

    def request(self) -> submission_service_pb2.WatchSubmissionRequest:
        """What opens the next call."""
        return submission_service_pb2.WatchSubmissionRequest(
            name=self._name, from_revision=self._revision
        )

    def take(self, update: SubmissionUpdate) -> SubmissionUpdate:
        """Note what the server has said."""
        self._retrying.progress()
        self._revision = max(self._revision, update.submission.revision)
        self.ended = update.submission.state.has_ended
        return update

    def delay_s(self, error: VidscoreError, now_s: float) -> float:
        """Seconds to wait before the next call.

        Raises:
            VidscoreError: `error`, where there is no going on.
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
    """The error of a submission that takes longer than the caller wants to wait."""
    return DeadlineError(
        f"the submission has not ended within {timeout_s:g} s; it goes on",
        code="DEADLINE_EXCEEDED",
    )
