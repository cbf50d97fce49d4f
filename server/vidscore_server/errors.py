"""Errors of the server, besides input errors."""

from __future__ import annotations

from typing import ClassVar

from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError


class MessageOrderError(InputError):
    """A message arrived out of order."""

    reason: ClassVar[str] = "MESSAGE_ORDER"


class BackupError(InputError):
    """A file is not a backup, is damaged, or cannot be restored here."""

    reason: ClassVar[str] = "BACKUP_UNUSABLE"


class IdleError(LimitError):
    """A client was idle for too long: it sent, or read, nothing."""

    reason: ClassVar[str] = "STREAM_IDLE"


class NoPlaceError(LimitError):
    """No slot is free for a stream that can be resumed later."""

    retry_delay_s: ClassVar[float] = 2.0


class DrainingError(VidscoreError):
    """The server is shutting down."""

    reason: ClassVar[str] = "SERVER_DRAINING"


class WorkerLostError(VidscoreError):
    """The worker process died, and so did the one that retried the work."""

    reason: ClassVar[str] = "WORKER_LOST"


class ListenError(VidscoreError):
    """The server cannot listen at the address."""

    reason: ClassVar[str] = "LISTEN_FAILED"


class WorkFailedError(Exception):
    """Work failed with an unexpected error; carries its place, but no data.

    Attributes:
        places: The error's type and stack.
    """

    def __init__(self, places: list[str]) -> None:
        self.places = places
        super().__init__(places)


def message_order(found: str, expected: str) -> MessageOrderError:
    """A `MessageOrderError` with one fault."""
    return MessageOrderError([Fault(found, expected, field="message")])


class StateError(VidscoreError):
    """A request conflicts with the present state.

    Attributes:
        metadata: Facts for machines, by name.
    """

    def __init__(self, message: str, **metadata: str) -> None:
        self.metadata = metadata
        super().__init__(message)


class VersionError(StateError):
    """Client and server have incompatible versions."""

    reason: ClassVar[str] = "VERSION_UNSUPPORTED"


class NotFoundError(StateError):
    """The resource does not exist, or the caller may not know of it."""

    reason: ClassVar[str] = "NOT_FOUND"


class NameTakenError(StateError):
    """A resource with that name already exists."""

    reason: ClassVar[str] = "NAME_TAKEN"


class RequestReusedError(StateError):
    """A `request_id` was reused for another request."""

    reason: ClassVar[str] = "REQUEST_ID_REUSED"


class EtagDiffersError(StateError):
    """Somebody else has changed the resource since its `etag` was read."""

    reason: ClassVar[str] = "ETAG_DIFFERS"


class HasSubmissionsError(StateError):
    """The benchmark has submissions; only `force` deletes it."""

    reason: ClassVar[str] = "HAS_SUBMISSIONS"


class NotOpenError(StateError):
    """The benchmark accepts no submissions: it has not opened, or it has closed."""

    reason: ClassVar[str] = "BENCHMARK_NOT_OPEN"


class SubmissionEndedError(StateError):
    """The submission accepts no more frames, or can no longer be cancelled."""

    reason: ClassVar[str] = "SUBMISSION_ENDED"


class NotFailedError(StateError):
    """The submission has not failed: a team can retry only a failed one."""

    reason: ClassVar[str] = "NOT_FAILED"


class PolicyFixedError(StateError):
    """The setting is fixed: scores, or what participants were told, already depend on it."""

    reason: ClassVar[str] = "POLICY_FIXED"


class NothingToChooseError(StateError):
    """The submission cannot count for the final order."""

    reason: ClassVar[str] = "NOTHING_TO_CHOOSE"


class NoFramesError(StateError):
    """A submission without frames cannot be sealed."""

    reason: ClassVar[str] = "NO_FRAMES"


class FrameCountError(StateError):
    """The frame count of the seal differs from the number of durable frames."""

    reason: ClassVar[str] = "FRAME_COUNT_DIFFERS"


class NotReleasedError(StateError):
    """The policy does not release the requested values."""

    reason: ClassVar[str] = "NOT_RELEASED"


class NotScoredError(StateError):
    """The submission has no score under the current rules that the caller may see."""

    reason: ClassVar[str] = "NOT_SCORED"


class NoOutcomesError(StateError):
    """The evaluator has no outcomes of objects and detections."""

    reason: ClassVar[str] = "NO_OUTCOMES"


class InvitationEndedError(StateError):
    """The invitation was accepted or revoked, or has expired."""

    reason: ClassVar[str] = "INVITATION_ENDED"


class OperationRunsError(StateError):
    """A running operation cannot be deleted."""

    reason: ClassVar[str] = "OPERATION_RUNS"


class RescoringRunsError(StateError):
    """A board cannot be published while its submissions are re-scored."""

    reason: ClassVar[str] = "RESCORING_RUNS"


class AnalysisRunsError(StateError):
    """Another analysis of the same kind and benchmark is running or waiting."""

    reason: ClassVar[str] = "ANALYSIS_RUNS"


class QuotaError(StateError):
    """The team's quota is used up."""

    reason: ClassVar[str] = "QUOTA_EXCEEDED"


class OffsetGapError(StateError):
    """A batch begins after the end of its stream."""

    reason: ClassVar[str] = "OFFSET_GAP"


class OffsetStraddlesError(StateError):
    """A batch begins before the end of its stream and ends after it."""

    reason: ClassVar[str] = "OFFSET_STRADDLES"


class ContentDiffersError(StateError):
    """A batch was sent again with other content or boundaries."""

    reason: ClassVar[str] = "CONTENT_DIFFERS"


class ContentDamagedError(StateError):
    """Frames were damaged on the way: their checksum differs."""

    reason: ClassVar[str] = "CONTENT_DAMAGED"


class FrameExistsError(StateError):
    """A frame is already stored in the submission."""

    reason: ClassVar[str] = "FRAME_EXISTS"


class EpochStaleError(StateError):
    """A newer writer has opened the stream."""

    reason: ClassVar[str] = "EPOCH_STALE"


class NotLiveError(StateError):
    """The benchmark is not live: it has no clock."""

    reason: ClassVar[str] = "NOT_LIVE"


class LiveBenchmarkError(StateError):
    """The benchmark is live: it accepts frames only as answers to its clock."""

    reason: ClassVar[str] = "LIVE_BENCHMARK"


class FrameNotGivenError(StateError):
    """An answer is about a frame that the clock has not given out."""

    reason: ClassVar[str] = "FRAME_NOT_GIVEN"


class UnauthenticatedError(StateError):
    """The call has no valid token."""

    reason: ClassVar[str] = "UNAUTHENTICATED"


class PermissionDeniedError(StateError):
    """The caller's role does not permit this."""

    reason: ClassVar[str] = "PERMISSION_DENIED"
