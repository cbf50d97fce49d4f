"""Messages to plain types and back: times, specifications, parameters, reports, questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec.structs import replace

from vidscore_evaluators.errors import Fault, InputError, ParameterError, SpecificationError
from vidscore_evaluators.live import Coverage
from vidscore_evaluators.parameters import parse_parameters
from vidscore_evaluators.report import Curve, Number, Report, Row
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, spec_from_dict
from vidscore_evaluators.trust.ranking import Questions
from vidscore_protos.dictionaries import SPECIFICATION, fill_parameters, show_parameters
from vidscore_protos.forms import fill_message, show_message
from vidscore_protos.v1 import report_pb2, scoring_service_pb2, specification_pb2, trust_pb2


def write_time(time: datetime | None) -> Timestamp | None:
    """A time as a message; None stays None, which leaves a field absent."""
    if time is None:
        return None
    message = Timestamp()
    message.FromDatetime(time)
    return message


def read_time(message: Timestamp, field: str) -> datetime:
    """A message as a time in UTC.

    Raises:
        InputError: If it is outside the years 1 to 9999.
    """
    try:
        return message.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError):
        found = f"{message.seconds} s since 1970"
        raise InputError([Fault(found, "a time in the years 1 to 9999", field=field)]) from None


def write_duration(seconds: float) -> Duration:
    """Seconds as a message."""
    message = Duration()
    message.FromTimedelta(timedelta(seconds=seconds))
    return message


def read_seconds(message: Duration) -> float:
    """A message as seconds."""
    return message.seconds + message.nanos / 1e9


# --- Specifications, through their dictionary form, whose reader names every fault


def read_specification(message: specification_pb2.BenchmarkSpec, source: str) -> BenchmarkSpec:
    """Check a specification.

    Args:
        message: The specification.
        source: Its path in the request, such as ``configuration.specification``.

    Raises:
        SpecificationError: With every fault.
    """
    faults = _parameter_faults(message.evaluators, source, "evaluators")
    document = show_message(message, SPECIFICATION)
    try:
        specification = spec_from_dict(document, source=source)
    except SpecificationError as error:
        raise SpecificationError([*faults, *error.faults]) from None
    if faults:
        raise SpecificationError(faults)
    return specification


def read_evaluators(
    messages: Iterable[specification_pb2.EvaluatorSpec], field: str
) -> tuple[EvaluatorSpec, ...]:
    """Evaluators of a request without a specification; their names are not checked.

    Args:
        messages: The evaluators.
        field: Their path in the request.

    Raises:
        InputError: With every parameter that repeats or has no value.
    """
    messages = list(messages)
    faults = _parameter_faults(messages, None, field)
    if faults:
        raise InputError(faults)
    return tuple(EvaluatorSpec(entry.name, show_parameters(entry.parameters)) for entry in messages)


def write_specification(document: Mapping[str, Any]) -> specification_pb2.BenchmarkSpec:
    """A specification in dictionary form, as in reports, as a message."""
    message = specification_pb2.BenchmarkSpec()
    fill_message(message, "specification", document, SPECIFICATION)
    return message


def _parameter_faults(
    messages: Iterable[specification_pb2.EvaluatorSpec], source: str | None, field: str
) -> list[Fault]:
    """Parameters of evaluators that repeat or have no value."""
    faults = []
    for number, evaluator in enumerate(messages):
        names: set[str] = set()
        for index, parameter in enumerate(evaluator.parameters):
            place = f"{field}[{number}].parameters[{index}]"
            if parameter.name in names:
                found = f"{parameter.name[:80]!r} again"
                faults.append(Fault(found, "each name once", source, field=f"{place}.name"))
            if parameter.WhichOneof("value") is None:
                faults.append(Fault("no value", "a value", source, field=f"{place}.value"))
            else:
                names.add(parameter.name)
    return faults


# --- Reports


def write_report(report: Report, *, summary_only: bool = False) -> report_pb2.Report:
    """A report as a message.

    Args:
        report: The report.
        summary_only: Whether to leave out the rows of single sequences, and the curves.
    """
    rows = (row for row in report.rows() if not summary_only or row.sequence is None)
    message = report_pb2.Report(
        evaluator=report.evaluator,
        version=report.version,
        truth_digest=report.truth_digest,
        detections_digest=report.detections_digest,
        software=report.software,
        specification=write_specification(report.specification),
        scores=[_write_row(row) for row in rows],
        curves=[] if summary_only else [write_curve(curve) for curve in report.curves],
        warnings=[
            report_pb2.Warning(code=warning.code, message=warning.message, count=warning.count)
            for warning in report.warnings
        ],
        preset=report.preset,
    )
    fill_parameters(message.parameters, report.parameters, "parameters")
    return message


def write_reports(
    reports: Iterable[Report], *, summary_only: bool = False
) -> list[report_pb2.Report]:
    """Reports as messages, in order."""
    return [write_report(report, summary_only=summary_only) for report in reports]


def write_coverage(coverage: Coverage) -> scoring_service_pb2.Coverage:
    """How far both sides have come, as a message."""
    return scoring_service_pb2.Coverage(
        paired_frames=coverage.paired,
        frames_waiting_for_detections=coverage.waiting_for_detections,
        frames_waiting_for_truth=coverage.waiting_for_truth,
    )


def _write_row(row: Row) -> report_pb2.Score:
    return report_pb2.Score(
        domain=row.domain,
        label=row.label,
        sequence=row.sequence,
        measure=row.measure,
        value=_write_value(row.value),
    )


def write_curve(curve: Curve) -> report_pb2.Curve:
    """A curve as a message."""
    return report_pb2.Curve(
        domain=curve.domain,
        label=curve.label,
        name=curve.name,
        columns=[
            report_pb2.CurveColumn(name=name, values=[_write_value(value) for value in values])
            for name, values in curve.columns.items()
        ],
    )


def _write_value(value: Number) -> report_pb2.Value:
    if value is None:
        return report_pb2.Value()
    if isinstance(value, int):
        return report_pb2.Value(count=value)
    return report_pb2.Value(number=value)


# --- Questions of trust analyses: missing fields take their defaults


def read_questions(message: trust_pb2.RankingQuestions, path: str) -> Questions:
    """Questions about a ranking.

    Args:
        message: The questions.
        path: Their path in the request.

    Raises:
        ParameterError: With every fault.
    """
    try:
        return parse_parameters(Questions, given(message))
    except ParameterError as error:
        raise ParameterError(
            [replace(fault, field=f"{path}.{fault.field}") for fault in error.faults]
        ) from None


def given(message: Message, *names: str) -> Mapping[str, object]:
    """Values of the fields that are set, by name; of the named fields, or of all."""
    return {
        field.name: value
        for field, value in message.ListFields()
        if not names or field.name in names
    }
