"""What can go wrong in the server itself, beside what can be wrong with an input."""

from __future__ import annotations

from typing import ClassVar

from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError


class MessageOrderError(InputError):
    """A message came where another was due."""

    reason: ClassVar[str] = "MESSAGE_ORDER"


class BackupError(InputError):
    """A file is no backup, is damaged, or cannot be restored here."""

    reason: ClassVar[str] = "BACKUP_UNUSABLE"


class IdleError(LimitError):
    """A client sent, or took, nothing for too long."""

    reason: ClassVar[str] = "STREAM_IDLE"


class NoPlaceError(LimitError):
    """No place is free for a stream that goes on later: there will be one."""

    retry_delay_s: ClassVar[float] = 2.0


class DrainingError(VidscoreError):
    """The server is about to stop."""

    reason: ClassVar[str] = "SERVER_DRAINING"


class WorkerLostError(VidscoreError):
    """The process that did the work died, and so did the one that tried again."""

    reason: ClassVar[str] = "WORKER_LOST"


class ListenError(VidscoreError):
    """The address cannot be listened at."""

    reason: ClassVar[str] = "LISTEN_FAILED"


class WorkFailedError(Exception):
    """Work ended in an error that nobody expected; carries where, and none of the data.

    Attributes:
        places: The error's type, and the calls that led to it.
    """

    def __init__(self, places: list[str]) -> None:
        """Keep the places."""
        self.places = places
        super().__init__(places)


def message_order(found: str, expected: str) -> MessageOrderError:
    """An error about the order of messages."""
    return MessageOrderError([Fault(found, expected, field="message")])


class StateError(VidscoreError):
    """Something cannot be done as things stand.

    Attributes:
        metadata: Facts for machines, by name.
    """

    def __init__(self, message: str, **metadata: str) -> None:
        """Say what cannot be done and why."""
        self.metadata = metadata
        super().__init__(message)


class VersionError(StateError):
    """Client and server are too far apart to understand each other."""

    reason: ClassVar[str] = "VERSION_UNSUPPORTED"


class NotFoundError(StateError):
    """There is no such resource, or the caller may not know of it."""

    reason: ClassVar[str] = "NOT_FOUND"


class NameTakenError(StateError):
    """A resource of that name is there already."""

    reason: ClassVar[str] = "NAME_TAKEN"


class RequestReusedError(StateError):
    """A `request_id` came again with another request."""

    reason: ClassVar[str] = "REQUEST_ID_REUSED"


class EtagDiffersError(StateError):
    """Somebody else has changed the resource since its `etag` was read."""

    reason: ClassVar[str] = "ETAG_DIFFERS"


class HasSubmissionsError(StateError):
    """A benchmark with submissions is deleted only by force."""

    reason: ClassVar[str] = "HAS_SUBMISSIONS"


class NotOpenError(StateError):
    """A benchmark takes no submissions now: it has not opened yet, or has closed."""

    reason: ClassVar[str] = "BENCHMARK_NOT_OPEN"


class SubmissionEndedError(StateError):
    """A submission takes no more frames, or cannot be cancelled any more."""

    reason: ClassVar[str] = "SUBMISSION_ENDED"


class NotFailedError(StateError):
    """Only a submission that has failed is scored again on demand of its team."""

    reason: ClassVar[str] = "NOT_FAILED"


class NoFramesError(StateError):
    """A submission to which no frame was appended cannot be sealed."""

    reason: ClassVar[str] = "NO_FRAMES"


class FrameCountError(StateError):
    """A submission was to be sealed with another number of frames than are durable."""

    reason: ClassVar[str] = "FRAME_COUNT_DIFFERS"


class NotReleasedError(StateError):
    """The policy does not release what was asked for."""

    reason: ClassVar[str] = "NOT_RELEASED"


class OperationRunsError(StateError):
    """An operation that is not done cannot be forgotten."""

    reason: ClassVar[str] = "OPERATION_RUNS"


class RescoringRunsError(StateError):
    """A board cannot be published before all that stands on it was scored again."""

    reason: ClassVar[str] = "RESCORING_RUNS"


class AnalysisRunsError(StateError):
    """Another analysis of the same kind and benchmark runs, or waits for its turn."""

    reason: ClassVar[str] = "ANALYSIS_RUNS"


class QuotaError(StateError):
    """The team's quota is used up."""

    reason: ClassVar[str] = "QUOTA_EXCEEDED"


class OffsetGapError(StateError):
    """A batch begins after the stream's end."""

    reason: ClassVar[str] = "OFFSET_GAP"


class OffsetStraddlesError(StateError):
    """A batch begins before the stream's end and ends after it."""

    reason: ClassVar[str] = "OFFSET_STRADDLES"


class ContentDiffersError(StateError):
    """A batch came again with other content, or cut otherwise."""

    reason: ClassVar[str] = "CONTENT_DIFFERS"


class ContentDamagedError(StateError):
    """Frames arrived with other bytes than they were sent with."""

    reason: ClassVar[str] = "CONTENT_DAMAGED"


class FrameExistsError(StateError):
    """A frame is stored in the submission already."""

    reason: ClassVar[str] = "FRAME_EXISTS"


class EpochStaleError(StateError):
    """A younger writer has opened the stream."""

    reason: ClassVar[str] = "EPOCH_STALE"


class UnauthenticatedError(StateError):
    """The call carries no token that holds."""

    reason: ClassVar[str] = "UNAUTHENTICATED"


class PermissionDeniedError(StateError):
    """The caller's role may not do this."""

    reason: ClassVar[str] = "PERMISSION_DENIED"
