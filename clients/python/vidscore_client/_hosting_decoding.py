"""From the messages of hosted benchmarks to this package's types."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from vidscore.v1 import (
    access_service_pb2,
    benchmark_pb2,
    benchmark_service_pb2,
    organiser_pb2,
    submission_service_pb2,
    token_pb2,
)
from vidscore_client._decoding import decode_report
from vidscore_client._definition import decode_definition
from vidscore_client.hosting import (
    AuditRecord,
    Benchmark,
    LeaderboardRow,
    Quota,
    Role,
    ScoreDifference,
    StreamInfo,
    Submission,
    SubmissionScore,
    SubmissionState,
    SubmissionUpdate,
    Token,
    TruthRevision,
)

_STATES = {
    number: SubmissionState(name.removeprefix("SUBMISSION_STATE_").lower())
    for name, number in submission_service_pb2.SubmissionState.items()
    if number
}
_ROLES = {
    number: Role(name.removeprefix("ROLE_").lower())
    for name, number in token_pb2.Role.items()
    if number
}


def decode_benchmark(
    message: benchmark_pb2.Benchmark, quotas: Iterable[benchmark_service_pb2.Quota] = ()
) -> Benchmark:
    """One benchmark, and the limits on the caller's team where they are told."""
    return Benchmark(
        name=message.name.removeprefix("benchmarks/"),
        definition=decode_definition(message),
        create_time=decode_time(message, "create_time"),
        update_time=decode_time(message, "update_time"),
        truth_revision=message.truth_revision,
        truth_digest=message.truth_digest,
        truth_complete=message.truth_complete,
        quotas=tuple(decode_quota(quota) for quota in quotas),
        submissions_to_rescore=message.submissions_to_rescore,
        submission_budget=message.submission_budget,
        warnings=tuple(message.warnings),
        etag=message.etag,
    )


def decode_quota(message: benchmark_service_pb2.Quota) -> Quota:
    """A limit on a team's submissions."""
    return Quota(message.name, message.maximum, message.left, decode_time(message, "renew_time"))


def decode_truth_revision(message: organiser_pb2.TruthRevision) -> TruthRevision:
    """One revision of a truth."""
    return TruthRevision(
        revision=message.revision,
        digest=message.digest,
        create_time=decode_time(message, "create_time"),
        frame_count=message.frame_count,
        complete=message.complete,
        comment=message.comment,
        submissions_to_rescore=message.submissions_to_rescore,
    )


def decode_submission(message: submission_service_pb2.Submission) -> Submission:
    """One submission."""
    return Submission(
        name=message.name,
        team=message.team,
        title=message.title,
        state=_STATES.get(message.state, SubmissionState.UNKNOWN),
        state_reason=message.state_reason,
        state_message=message.state_message,
        state_time=decode_time(message, "state_time"),
        create_time=decode_time(message, "create_time"),
        seal_time=decode_time(message, "seal_time"),
        frame_count=message.frame_count,
        streams=tuple(decode_stream(stream) for stream in message.streams),
        revision=message.revision,
        due_time=decode_time(message, "due_time"),
        due_reason=message.due_reason,
        warnings=tuple(message.warnings),
    )


def decode_stream(message: submission_service_pb2.StreamInfo) -> StreamInfo:
    """One append stream."""
    return StreamInfo(message.stream, message.epoch, message.next_offset)


def decode_score(message: submission_service_pb2.SubmissionScore) -> SubmissionScore:
    """One score of a submission."""
    return SubmissionScore(
        name=message.name,
        create_time=decode_time(message, "create_time"),
        truth_revision=message.truth_revision,
        report=decode_report(message.report),
        partial=message.partial,
        current=message.current,
    )


def decode_update(message: submission_service_pb2.WatchSubmissionResponse) -> SubmissionUpdate:
    """What a watcher is told."""
    return SubmissionUpdate(
        submission=decode_submission(message.submission),
        scores=tuple(decode_score(score) for score in message.scores),
    )


def decode_difference(message: organiser_pb2.ScoreDifference) -> ScoreDifference:
    """One difference that a re-scoring made."""
    return ScoreDifference(
        submission=message.submission,
        evaluator=message.evaluator,
        measure=message.measure,
        before=_present(message, "before"),
        after=_present(message, "after"),
        rank_before=_present(message, "rank_before"),
        rank_after=_present(message, "rank_after"),
    )


def decode_row(message: benchmark_service_pb2.LeaderboardRow) -> LeaderboardRow:
    """One row of a board."""
    return LeaderboardRow(
        rank=message.rank,
        team=message.team,
        submission=message.submission,
        title=message.title,
        seal_time=decode_time(message, "seal_time"),
        scores={score.measure: _present(score, "value") for score in message.scores},
        truth_revision=message.truth_revision,
        evaluator_version=message.evaluator_version,
        apart=message.apart,
    )


def decode_token(message: token_pb2.Token) -> Token:
    """One token."""
    return Token(
        name=message.name,
        role=_ROLES.get(message.role, Role.UNKNOWN),
        team=message.team,
        comment=message.comment,
        create_time=decode_time(message, "create_time"),
        expire_time=decode_time(message, "expire_time"),
        revoke_time=decode_time(message, "revoke_time"),
    )


def decode_audit_record(message: access_service_pb2.AuditRecord) -> AuditRecord:
    """One entry of the audit record."""
    return AuditRecord(
        number=message.number,
        time=decode_time(message, "time"),
        actor=message.actor,
        action=message.action,
        resource=message.resource,
        detail=message.detail,
    )


def decode_time(message: Any, field: str) -> datetime | None:
    """A time; None where there is none."""
    if not message.HasField(field):
        return None
    time: datetime = getattr(message, field).ToDatetime(tzinfo=UTC)
    return time


def _present(message: Any, field: str) -> Any:
    return getattr(message, field) if message.HasField(field) else None
