"""From the messages of the wire to this package's types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.protobuf import json_format

from vidscore.v1 import (
    access_service_pb2,
    benchmark_service_pb2,
    evaluator_service_pb2,
    report_pb2,
    scoring_service_pb2,
    submission_service_pb2,
)
from vidscore_client._definition import decode_definition
from vidscore_client._encoding import GEOMETRIES
from vidscore_client._specification import decode_parameters, decode_specification
from vidscore_client.errors import InternalError
from vidscore_client.evaluators import EvaluatorDescription, Measure
from vidscore_client.frames import Geometry
from vidscore_client.hosting import (
    AuditRecord,
    Benchmark,
    Leaderboard,
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
from vidscore_client.reports import (
    Coverage,
    Curve,
    LiveReport,
    Number,
    Report,
    ReportWarning,
    Row,
)

EVALUATOR_PREFIX = "evaluators/"
_DIRECTIONS: dict[int, str] = {
    evaluator_service_pb2.DIRECTION_HIGHER: "higher",
    evaluator_service_pb2.DIRECTION_LOWER: "lower",
}


@dataclass(frozen=True, slots=True)
class Started:
    """The server has accepted the configuration."""

    server_version: str
    limits: dict[str, int]


@dataclass(frozen=True, slots=True)
class Final:
    """The final reports; nothing comes after them."""

    reports: tuple[Report, ...]


Event = Started | LiveReport | Final


def decode_response(message: scoring_service_pb2.ScoreResponse) -> Event:
    """What one message of a scoring stream says.

    Raises:
        InternalError: If it is of a kind that this client does not know.
    """
    kind = message.WhichOneof("message")
    if kind == "started":
        return Started(message.started.server_version, dict(message.started.limits))
    if kind == "live":
        return _live_report(message.live)
    if kind == "final":
        return Final(tuple(decode_report(report) for report in message.final.reports))
    raise InternalError("the server sent a message that this client does not know")


def decode_report(message: report_pb2.Report) -> Report:
    """One report."""
    return Report(
        evaluator=message.evaluator,
        version=message.version,
        parameters=decode_parameters(message.parameters),
        truth_digest=message.truth_digest,
        detections_digest=message.detections_digest,
        software=dict(sorted(message.software.items())),
        specification=decode_specification(message.specification),
        scores=tuple(_row(score) for score in message.scores),
        curves=tuple(_curve(curve) for curve in message.curves),
        warnings=tuple(_warning(warning) for warning in message.warnings),
    )


def decode_evaluator(message: evaluator_service_pb2.Evaluator) -> EvaluatorDescription:
    """One description of an evaluator."""
    return EvaluatorDescription(
        name=message.name.removeprefix(EVALUATOR_PREFIX),
        version=message.version,
        title=message.title,
        task=message.task,
        parameters_schema=json_format.MessageToDict(message.parameters_schema),
        measures=tuple(_measure(measure) for measure in message.measures),
        ranking=tuple(message.ranking),
        truth_geometries=_geometries(message.truth_geometries),
        detection_geometries=_geometries(message.detection_geometries),
        uses_confidences=message.uses_confidences,
        needs_tracks=message.needs_tracks,
    )


def _live_report(message: scoring_service_pb2.LiveReport) -> LiveReport:
    coverage = message.coverage
    return LiveReport(
        reports=tuple(decode_report(report) for report in message.reports),
        coverage=Coverage(
            paired_frames=coverage.paired_frames,
            frames_waiting_for_detections=coverage.frames_waiting_for_detections,
            frames_waiting_for_truth=coverage.frames_waiting_for_truth,
        ),
    )


def _row(score: report_pb2.Score) -> Row:
    return Row(
        domain=score.domain if score.HasField("domain") else None,
        class_=score.class_name if score.HasField("class_name") else None,
        sequence=score.sequence if score.HasField("sequence") else None,
        measure=score.measure,
        value=_number(score.value),
    )


def _curve(curve: report_pb2.Curve) -> Curve:
    return Curve(
        name=curve.name,
        columns={
            column.name: tuple(_number(value) for value in column.values)
            for column in curve.columns
        },
        domain=curve.domain if curve.HasField("domain") else None,
        class_=curve.class_name if curve.HasField("class_name") else None,
    )


def _warning(warning: Any) -> ReportWarning:
    # Any, because type checkers take the generated name for the built-in Warning.
    return ReportWarning(warning.code, warning.message, warning.count)


def _number(value: report_pb2.Value) -> Number:
    kind = value.WhichOneof("kind")
    if kind == "count":
        return value.count
    return value.number if kind == "number" else None


def _measure(measure: evaluator_service_pb2.Measure) -> Measure:
    return Measure(
        name=measure.name,
        description=measure.description,
        unit=measure.unit,
        minimum=measure.minimum if measure.HasField("minimum") else None,
        maximum=measure.maximum if measure.HasField("maximum") else None,
        direction=_DIRECTIONS.get(measure.direction, "none"),
        averaging=measure.averaging,
    )


def _geometries(values: Iterable[int]) -> tuple[Geometry, ...]:
    """The shapes that this client knows; it could not send another one."""
    wanted = set(values)
    return tuple(name for name, number in GEOMETRIES.items() if number in wanted)


_STATES = {
    number: SubmissionState(name.removeprefix("SUBMISSION_STATE_").lower())
    for name, number in submission_service_pb2.SubmissionState.items()
    if number
}
_ROLES = {
    number: Role(name.removeprefix("ROLE_").lower())
    for name, number in access_service_pb2.Role.items()
    if number
}


def decode_benchmark(
    message: benchmark_service_pb2.Benchmark, quotas: Iterable[benchmark_service_pb2.Quota] = ()
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
    )


def decode_quota(message: benchmark_service_pb2.Quota) -> Quota:
    """A limit on a team's submissions."""
    return Quota(message.name, message.maximum, message.left, decode_time(message, "renew_time"))


def decode_truth_revision(message: benchmark_service_pb2.TruthRevision) -> TruthRevision:
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


def decode_difference(message: benchmark_service_pb2.ScoreDifference) -> ScoreDifference:
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


def decode_token(message: access_service_pb2.Token) -> Token:
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


def decode_leaderboard(
    pages: Sequence[benchmark_service_pb2.GetLeaderboardResponse],
) -> Leaderboard:
    """A board out of its pages."""
    last = pages[-1]
    return Leaderboard(
        rows=tuple(decode_row(row) for page in pages for row in page.rows),
        ranking=tuple(last.ranking),
        truth_revision=last.truth_revision,
        newest_truth_revision=last.newest_truth_revision,
        submissions_to_rescore=last.submissions_to_rescore,
        publishable=last.publishable,
    )


def decode_time(message: Any, field: str) -> datetime | None:
    """A time; None where there is none."""
    if not message.HasField(field):
        return None
    time: datetime = getattr(message, field).ToDatetime(tzinfo=UTC)
    return time


def _present(message: Any, field: str) -> Any:
    return getattr(message, field) if message.HasField(field) else None
