"""Waiting on people has an end: when time alone moves a submission on, and what happens then."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from vidscore_server.hosting.drafts import DELETED, is_draft
from vidscore_server.hosting.policy import Policy, QuietAction
from vidscore_server.hosting.states import TAKES_FRAMES, Event
from vidscore_server.store.records import BenchmarkRecord, SubmissionRecord, SubmissionState


@dataclass(frozen=True, slots=True)
class Due:
    """What time alone does to a submission.

    Attributes:
        time: When.
        reason: The reason of the state that follows, or that of a draft's deletion.
    """

    time: datetime
    reason: str


def due(
    record: SubmissionRecord, benchmark: BenchmarkRecord, policy: Policy, quiet_from: datetime
) -> Due | None:
    """What happens to a submission if nobody does anything; None where nothing does.

    Args:
        record: The submission.
        benchmark: Its benchmark.
        policy: The benchmark's policy.
        quiet_from: Since when nobody was kept from sending by an outage.
    """
    if record.state is SubmissionState.WAITING_FOR_TRUTH:
        there = benchmark.truth_revision > 0
        event = Event.SCORED_WITHOUT_ALL_TRUTH if there else Event.TRUTH_NEVER_CAME
        return Due(record.state_time + timedelta(seconds=policy.truth_timeout_s), event.value)
    if record.state not in TAKES_FRAMES:
        return None
    quiet = max(record.activity_time, quiet_from) + timedelta(seconds=policy.quiet_timeout_s)
    time = min(quiet, benchmark.close_time or quiet)
    event = _end(policy, closing=time == benchmark.close_time)
    return Due(time, DELETED if is_draft(record) else event.value)


def due_event(
    record: SubmissionRecord,
    benchmark: BenchmarkRecord,
    policy: Policy,
    now: datetime,
    quiet_from: datetime,
) -> Event | None:
    """What time alone does now to a submission that takes frames; None where nothing is due.

    Args:
        record: The submission.
        benchmark: Its benchmark.
        policy: The benchmark's policy.
        now: The time.
        quiet_from: Since when nobody was kept from sending by an outage.
    """
    if benchmark.close_time is not None and now >= benchmark.close_time:
        return _end(policy, closing=True)
    quiet_since = max(record.activity_time, quiet_from)
    if (now - quiet_since).total_seconds() >= policy.quiet_timeout_s:
        return _end(policy, closing=False)
    return None


def _end(policy: Policy, *, closing: bool) -> Event:
    """How a submission ends at closing, or where it is quiet."""
    if QuietAction(policy.quiet_action) is QuietAction.SEAL:
        return Event.SEALED_AT_CLOSING if closing else Event.SEALED_WHEN_QUIET
    return Event.CANCELLED_AT_CLOSING if closing else Event.CANCELLED_WHEN_QUIET
