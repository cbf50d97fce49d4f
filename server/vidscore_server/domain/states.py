"""The states of a submission, and the events that lead from one to another.

One table is the whole state machine; every change of a submission's state goes through `move`.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec.structs import replace

from vidscore_server.store.records import SubmissionRecord, SubmissionState

_S = SubmissionState


class Event(StrEnum):
    """What happens to a submission; the value is the reason code of the state that follows."""

    FRAMES_RECEIVED = "frames_received"
    SEALED_BY_TEAM = "sealed_by_team"
    SEALED_WHEN_QUIET = "sealed_when_quiet"
    SEALED_AT_CLOSING = "sealed_at_closing"
    TRUTH_MISSING = "truth_missing"
    SCORING_STARTED = "scoring_started"
    SCORING_INTERRUPTED = "scoring_interrupted"
    SCORED = "scored"
    SCORED_WITHOUT_ALL_TRUTH = "scored_without_all_truth"
    SCORING_FAILED = "scoring_failed"
    SCORING_TIMED_OUT = "scoring_timed_out"
    SCORING_RETRIED = "scoring_retried"
    TRUTH_NEVER_CAME = "truth_never_came"
    CANCELLED_BY_TEAM = "cancelled_by_team"
    CANCELLED_BY_ORGANISER = "cancelled_by_organiser"
    CANCELLED_WHEN_QUIET = "cancelled_when_quiet"
    CANCELLED_AT_CLOSING = "cancelled_at_closing"
    CANCELLED_BY_QUOTA = "cancelled_by_quota"
    CANCELLED_WITHOUT_FRAMES = "cancelled_without_frames"


TAKES_FRAMES = frozenset({_S.OPEN, _S.RECEIVING})
"""States in which frames may be appended."""

ENDED = frozenset({_S.SCORED, _S.FAILED, _S.CANCELLED})
"""States that end only on request; a re-scoring adds scores and changes no state."""

_HAS_FRAMES = frozenset({_S.RECEIVING})
"""States that time ends, or that a team seals; not drafts, see `vidscore_server.domain.quotas`."""

UNFINISHED = frozenset({_S.SEALED, _S.WAITING_FOR_TRUTH, _S.SCORING})
"""States that scoring ends."""

_CANCELLABLE = frozenset({_S.OPEN, _S.RECEIVING, _S.SEALED, _S.WAITING_FOR_TRUTH})

_TRANSITIONS: dict[Event, tuple[frozenset[SubmissionState], SubmissionState]] = {
    Event.FRAMES_RECEIVED: (TAKES_FRAMES, _S.RECEIVING),
    Event.SEALED_BY_TEAM: (_HAS_FRAMES, _S.SEALED),
    Event.SEALED_WHEN_QUIET: (_HAS_FRAMES, _S.SEALED),
    Event.SEALED_AT_CLOSING: (_HAS_FRAMES, _S.SEALED),
    Event.TRUTH_MISSING: (frozenset({_S.SEALED}), _S.WAITING_FOR_TRUTH),
    Event.SCORING_STARTED: (frozenset({_S.SEALED, _S.WAITING_FOR_TRUTH}), _S.SCORING),
    Event.SCORING_INTERRUPTED: (frozenset({_S.SCORING}), _S.SEALED),
    Event.SCORED: (frozenset({_S.SCORING}), _S.SCORED),
    Event.SCORED_WITHOUT_ALL_TRUTH: (frozenset({_S.SCORING}), _S.SCORED),
    Event.SCORING_FAILED: (frozenset({_S.SCORING}), _S.FAILED),
    Event.SCORING_TIMED_OUT: (frozenset({_S.SCORING}), _S.FAILED),
    Event.SCORING_RETRIED: (frozenset({_S.FAILED}), _S.SEALED),
    Event.TRUTH_NEVER_CAME: (frozenset({_S.WAITING_FOR_TRUTH}), _S.FAILED),
    Event.CANCELLED_BY_TEAM: (_CANCELLABLE, _S.CANCELLED),
    Event.CANCELLED_BY_ORGANISER: (_CANCELLABLE | {_S.SCORING}, _S.CANCELLED),
    Event.CANCELLED_WHEN_QUIET: (_HAS_FRAMES, _S.CANCELLED),
    Event.CANCELLED_AT_CLOSING: (_HAS_FRAMES, _S.CANCELLED),
    Event.CANCELLED_BY_QUOTA: (_HAS_FRAMES, _S.CANCELLED),
    Event.CANCELLED_WITHOUT_FRAMES: (UNFINISHED, _S.CANCELLED),
}


def is_draft(record: SubmissionRecord) -> bool:
    """Whether a submission has no frame."""
    return record.frame_count == 0


class IllegalTransitionError(Exception):
    """An event that cannot happen in a submission's state."""

    def __init__(self, record: SubmissionRecord, event: Event) -> None:
        super().__init__(f"{event} cannot happen to a submission that is {record.state}")


def move(
    record: SubmissionRecord, event: Event, time: datetime, message: str = ""
) -> SubmissionRecord:
    """The submission after an event.

    Args:
        record: The submission before it.
        event: What happens.
        time: When.
        message: The reason for people.

    Raises:
        IllegalTransitionError: If that cannot happen in the submission's state.
    """
    origins, state = _TRANSITIONS[event]
    if record.state not in origins:
        raise IllegalTransitionError(record, event)
    moved = replace(record, revision=record.revision + 1)
    if record.state is state:
        return moved
    moved = replace(
        moved, state=state, state_reason=event.value, state_message=message, state_time=time
    )
    if state is _S.SEALED and record.seal_time is None:
        return replace(moved, seal_time=time)
    if state is _S.SCORING:
        return replace(moved, attempts=record.attempts + 1)
    return moved
