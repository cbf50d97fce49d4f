"""Decode messages of the wire to this package's types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from google.protobuf import json_format

from vidscore_client._convert import to_dataclass
from vidscore_client.errors import InternalError
from vidscore_client.evaluators import EvaluatorDescription, Measure, PresetDescription
from vidscore_client.frames import Geometry
from vidscore_client.hosting import (
    Benchmark,
    OnlineRecord,
    Quota,
    SubmissionScore,
    SubmissionUpdate,
)
from vidscore_client.leaderboards import Leaderboard, LeaderboardRow
from vidscore_client.reports import Coverage, Curve, LiveReport, Number, Report, ReportWarning, Row
from vidscore_protos.dictionaries import (
    FRAME_SOURCE_WORDS,
    GEOMETRIES,
    show_definition,
    show_parameters,
    show_specification,
)
from vidscore_protos.forms import present
from vidscore_protos.v1 import (
    benchmark_pb2,
    benchmark_service_pb2,
    evaluator_service_pb2,
    report_pb2,
    scoring_service_pb2,
    submission_service_pb2,
)

EVALUATOR_PREFIX = "evaluators/"
PRESET_PREFIX = "presets/"
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
    """Decode one message of a scoring stream.

    Raises:
        InternalError: If this client does not know its kind.
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
        parameters=show_parameters(message.parameters),
        truth_digest=message.truth_digest,
        detections_digest=message.detections_digest,
        software=dict(sorted(message.software.items())),
        specification=show_specification(message.specification),
        scores=tuple(_row(score) for score in message.scores),
        curves=tuple(_curve(curve) for curve in message.curves),
        warnings=tuple(_warning(warning) for warning in message.warnings),
        preset=message.preset if message.HasField("preset") else None,
    )


def decode_evaluator(message: evaluator_service_pb2.Evaluator) -> EvaluatorDescription:
    """One description of an evaluator."""
    return to_dataclass(
        EvaluatorDescription,
        message,
        name=message.name.removeprefix(EVALUATOR_PREFIX),
        parameters_schema=json_format.MessageToDict(message.parameters_schema),
        measures=tuple(
            to_dataclass(Measure, measure, direction=_DIRECTIONS.get(measure.direction, "none"))
            for measure in message.measures
        ),
        truth_geometries=_geometries(message.truth_geometries),
        detection_geometries=_geometries(message.detection_geometries),
    )


def decode_preset(message: evaluator_service_pb2.Preset) -> PresetDescription:
    """One description of a preset."""
    return to_dataclass(
        PresetDescription,
        message,
        name=message.name.removeprefix(PRESET_PREFIX),
        labels=tuple(message.labels.names) if message.HasField("labels") else None,
        evaluators=tuple(
            (entry.name, show_parameters(entry.parameters)) for entry in message.evaluators
        ),
    )


def _live_report(message: scoring_service_pb2.LiveReport) -> LiveReport:
    return LiveReport(
        reports=tuple(decode_report(report) for report in message.reports),
        coverage=to_dataclass(Coverage, message.coverage),
    )


def _row(score: report_pb2.Score) -> Row:
    return Row(
        domain=score.domain if score.HasField("domain") else None,
        label=score.label if score.HasField("label") else None,
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
        label=curve.label if curve.HasField("label") else None,
    )


def _warning(warning: Any) -> ReportWarning:
    # Any, because type checkers take the generated name for the built-in Warning.
    return ReportWarning(warning.code, warning.message, warning.count)


def _number(value: report_pb2.Value) -> Number:
    kind = value.WhichOneof("kind")
    if kind == "count":
        return value.count
    return value.number if kind == "number" else None


def _geometries(values: Iterable[int]) -> tuple[Geometry, ...]:
    """The shapes that this client knows; it cannot send others."""
    wanted = set(values)
    found = tuple(name for name, number in GEOMETRIES.items() if number in wanted)
    return cast("tuple[Geometry, ...]", found)


def decode_benchmark(
    message: benchmark_pb2.Benchmark, quotas: Iterable[benchmark_service_pb2.Quota] = ()
) -> Benchmark:
    """One benchmark, with the quotas of the caller's team if the server gives them."""
    return to_dataclass(
        Benchmark,
        message,
        name=message.name.removeprefix("benchmarks/"),
        definition=show_definition(message),
        quotas=tuple(to_dataclass(Quota, quota) for quota in quotas),
        private_sequences=tuple(message.policy.private_sequences),
    )


def decode_score(message: submission_service_pb2.SubmissionScore) -> SubmissionScore:
    """One score of a submission."""
    parts: dict[str, Any] = {
        name: decode_report(getattr(message, name)) if message.HasField(name) else None
        for name in ("private_report", "public_report", "streaming_report")
    }
    parts["online"] = decode_online(message.online) if message.HasField("online") else None
    return to_dataclass(SubmissionScore, message, report=decode_report(message.report), **parts)


def decode_online(message: submission_service_pb2.OnlineRecord) -> OnlineRecord:
    """The online record of a submission to a live benchmark."""
    frames = FRAME_SOURCE_WORDS.get(message.frames, "unknown")
    return to_dataclass(OnlineRecord, message, frames=frames)


def decode_update(message: submission_service_pb2.WatchSubmissionResponse) -> SubmissionUpdate:
    """One update of a watched submission."""
    return to_dataclass(
        SubmissionUpdate,
        message,
        scores=tuple(decode_score(score) for score in message.scores),
        window_reports=tuple(decode_report(report) for report in message.window_reports),
    )


def decode_leaderboard(
    pages: Sequence[benchmark_service_pb2.GetLeaderboardResponse],
) -> Leaderboard:
    """A board from its pages."""
    rows = tuple(_board_row(row) for page in pages for row in page.rows)
    return to_dataclass(Leaderboard, pages[-1], rows=rows)


def _board_row(message: benchmark_service_pb2.LeaderboardRow) -> LeaderboardRow:
    scores = {score.measure: present(score, "value") for score in message.scores}
    curves = tuple(map(_curve, message.curves))
    return to_dataclass(LeaderboardRow, message, scores=scores, curves=curves)
