"""The state machine of submissions: every event in every state, against a table by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.server.store import records as r

from vidscore_server.domain.states import (
    ENDED,
    TAKES_FRAMES,
    Event,
    IllegalTransitionError,
    is_draft,
    move,
)
from vidscore_server.store.records import SubmissionState

S = SubmissionState

RECEIVING = r.submission(state=S.RECEIVING)

LEADS_TO = {
    (S.OPEN, Event.FRAMES_RECEIVED): S.RECEIVING,
    (S.OPEN, Event.CANCELLED_BY_TEAM): S.CANCELLED,
    (S.OPEN, Event.CANCELLED_BY_ORGANISER): S.CANCELLED,
    (S.RECEIVING, Event.FRAMES_RECEIVED): S.RECEIVING,
    (S.RECEIVING, Event.SEALED_BY_TEAM): S.SEALED,
    (S.RECEIVING, Event.SEALED_WHEN_QUIET): S.SEALED,
    (S.RECEIVING, Event.SEALED_AT_CLOSING): S.SEALED,
    (S.RECEIVING, Event.CANCELLED_BY_TEAM): S.CANCELLED,
    (S.RECEIVING, Event.CANCELLED_BY_ORGANISER): S.CANCELLED,
    (S.RECEIVING, Event.CANCELLED_WHEN_QUIET): S.CANCELLED,
    (S.RECEIVING, Event.CANCELLED_AT_CLOSING): S.CANCELLED,
    (S.RECEIVING, Event.CANCELLED_BY_QUOTA): S.CANCELLED,
    (S.SEALED, Event.TRUTH_MISSING): S.WAITING_FOR_TRUTH,
    (S.SEALED, Event.SCORING_STARTED): S.SCORING,
    (S.SEALED, Event.CANCELLED_BY_TEAM): S.CANCELLED,
    (S.SEALED, Event.CANCELLED_BY_ORGANISER): S.CANCELLED,
    (S.SEALED, Event.CANCELLED_WITHOUT_FRAMES): S.CANCELLED,
    (S.WAITING_FOR_TRUTH, Event.SCORING_STARTED): S.SCORING,
    (S.WAITING_FOR_TRUTH, Event.TRUTH_NEVER_CAME): S.FAILED,
    (S.WAITING_FOR_TRUTH, Event.CANCELLED_BY_TEAM): S.CANCELLED,
    (S.WAITING_FOR_TRUTH, Event.CANCELLED_BY_ORGANISER): S.CANCELLED,
    (S.WAITING_FOR_TRUTH, Event.CANCELLED_WITHOUT_FRAMES): S.CANCELLED,
    (S.SCORING, Event.SCORING_INTERRUPTED): S.SEALED,
    (S.SCORING, Event.SCORED): S.SCORED,
    (S.SCORING, Event.SCORED_WITHOUT_ALL_TRUTH): S.SCORED,
    (S.SCORING, Event.SCORING_FAILED): S.FAILED,
    (S.SCORING, Event.SCORING_TIMED_OUT): S.FAILED,
    (S.FAILED, Event.SCORING_RETRIED): S.SEALED,
    (S.SCORING, Event.CANCELLED_BY_ORGANISER): S.CANCELLED,
    (S.SCORING, Event.CANCELLED_WITHOUT_FRAMES): S.CANCELLED,
}


@pytest.mark.parametrize("state", S)
@pytest.mark.parametrize("event", Event)
def test_every_event_leads_to_the_state_of_the_table_or_is_refused(state: S, event: Event) -> None:
    record = r.submission(state=state)
    if (state, event) not in LEADS_TO:
        said = f"{event} cannot happen to a submission that is {state}"
        with pytest.raises(IllegalTransitionError, match=said):
            move(record, event, r.later(5))
        return
    moved = move(record, event, r.later(5), "why")
    assert moved.state is LEADS_TO[state, event]
    assert moved.revision == record.revision + 1
    if moved.state is not state:
        told = (moved.state_reason, moved.state_message, moved.state_time)
        assert told == (event.value, "why", r.later(5))


def test_later_frames_leave_reason_and_time_unchanged() -> None:
    first = move(r.submission(), Event.FRAMES_RECEIVED, r.later(1))
    second = move(first, Event.FRAMES_RECEIVED, r.later(2))
    assert second == replace(first, revision=first.revision + 1)


def test_the_seal_time_is_that_of_the_first_sealing() -> None:
    sealed = move(RECEIVING, Event.SEALED_BY_TEAM, r.later(1))
    scoring = move(sealed, Event.SCORING_STARTED, r.later(2))
    again = move(scoring, Event.SCORING_INTERRUPTED, r.later(3))
    assert again.seal_time == r.later(1)


def test_each_start_of_scoring_counts_as_an_attempt() -> None:
    sealed = move(RECEIVING, Event.SEALED_BY_TEAM, r.later(1))
    scoring = move(sealed, Event.SCORING_STARTED, r.later(2))
    again = move(
        move(scoring, Event.SCORING_INTERRUPTED, r.later(3)), Event.SCORING_STARTED, r.NOON
    )
    assert (scoring.attempts, again.attempts) == (1, 2)


def test_no_event_leaves_a_final_state_except_the_retry_of_a_failed_submission() -> None:
    out_of_an_end = {(state, event) for state, event in LEADS_TO if state in ENDED}
    assert out_of_an_end == {(S.FAILED, Event.SCORING_RETRIED)}
    assert {state for state, _ in LEADS_TO} >= set(S) - ENDED
    assert {S.OPEN, S.RECEIVING} == TAKES_FRAMES


def test_a_submission_is_a_draft_until_its_first_frame() -> None:
    assert is_draft(r.submission(frame_count=0))
    assert not is_draft(r.submission(frame_count=1))
