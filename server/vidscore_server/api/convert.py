"""Messages to plain types and back: times, specifications, parameters, reports, questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec.structs import replace

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError, ParameterError, SpecificationError
from vidscore_evaluators.live import Coverage
from vidscore_evaluators.parameters import parse_parameters
from vidscore_evaluators.report import Curve, Number, Report, Row
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, spec_from_dict
from vidscore_evaluators.trust.ranking import Questions
from vidscore_protos.v1 import (
    report_pb2,
    scoring_service_pb2,
    specification_pb2,
    trust_pb2,
)


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
        InputError: If it lies outside the years 1 to 9999.
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


# --- Specifications, by way of their dictionary form, whose one reader names every fault


def read_specification(message: specification_pb2.BenchmarkSpec, source: str) -> BenchmarkSpec:
    """Check a specification.

    Args:
        message: The specification.
        source: Its path in the request, such as ``configuration.specification``.

    Raises:
        SpecificationError: With every fault.
    """
    faults: list[Fault] = []
    evaluators = _evaluators_to_list(message.evaluators, source, "evaluators", faults)
    document = {
        "title": message.title,
        "evaluators": evaluators,
        "domains": [_domain_to_dict(entry) for entry in message.domains],
        "sequences": [_sequence_to_dict(entry) for entry in message.sequences],
        **_classes_to_dict(message),
    }
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
    """Evaluators that stand alone in a request; whether there are such is not looked at.

    Args:
        messages: The evaluators.
        field: Their path in the request.

    Raises:
        InputError: With every parameter that repeats or has no value.
    """
    faults: list[Fault] = []
    entries = _evaluators_to_list(messages, None, field, faults)
    if faults:
        raise InputError(faults)
    return tuple(EvaluatorSpec(**entry) for entry in entries)


def write_specification(document: Mapping[str, Any]) -> specification_pb2.BenchmarkSpec:
    """A specification in its dictionary form, as reports carry it, as a message."""
    message = specification_pb2.BenchmarkSpec(title=document.get("title", ""))
    for entry in document.get("evaluators", ()):
        message.evaluators.add(
            name=entry["name"], parameters=write_parameters(entry.get("parameters", {}))
        )
    for entry in document.get("domains", ()):
        _write_classes(message.domains.add(name=entry["name"]), entry)
    for entry in document.get("sequences", ()):
        message.sequences.append(_sequence_from_dict(entry))
    _write_classes(message, document)
    return message


def _write_classes(
    message: specification_pb2.BenchmarkSpec | specification_pb2.DomainSpec,
    document: Mapping[str, Any],
) -> None:
    if "classes" in document:
        message.classes.SetInParent()
        message.classes.names.extend(document["classes"])


def write_parameters(values: Mapping[str, Any]) -> list[specification_pb2.Parameter]:
    """Parameters by name, as messages."""
    return [_write_parameter(name, value) for name, value in values.items()]


def _write_parameter(name: str, value: object) -> specification_pb2.Parameter:
    if isinstance(value, bool):
        return specification_pb2.Parameter(name=name, boolean=value)
    if isinstance(value, int):
        return specification_pb2.Parameter(name=name, integer=value)
    if isinstance(value, float):
        return specification_pb2.Parameter(name=name, number=value)
    if isinstance(value, str):
        return specification_pb2.Parameter(name=name, text=value)
    if not isinstance(value, Sequence):
        raise TypeError(f"no message holds a parameter of type {type(value).__name__}")
    if value and isinstance(value[0], str):
        texts = specification_pb2.TextList(values=value)
        return specification_pb2.Parameter(name=name, texts=texts)
    numbers = specification_pb2.NumberList(values=value)
    return specification_pb2.Parameter(name=name, numbers=numbers)


def _evaluators_to_list(
    messages: Iterable[specification_pb2.EvaluatorSpec],
    source: str | None,
    field: str,
    faults: list[Fault],
) -> list[dict[str, Any]]:
    return [
        {
            "name": entry.name,
            "parameters": _read_parameters(
                entry.parameters, source, f"{field}[{index}].parameters", faults
            ),
        }
        for index, entry in enumerate(messages)
    ]


def _read_parameters(
    parameters: Iterable[specification_pb2.Parameter],
    source: str | None,
    path: str,
    faults: list[Fault],
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for index, parameter in enumerate(parameters):
        place = f"{path}[{index}]"
        kind = parameter.WhichOneof("value")
        if parameter.name in values:
            found = f"{parameter.name[:80]!r} again"
            faults.append(Fault(found, "each name once", source, field=f"{place}.name"))
        if kind is None:
            faults.append(Fault("no value", "a value", source, field=f"{place}.value"))
            continue
        value = getattr(parameter, kind)
        values[parameter.name] = tuple(value.values) if kind in {"numbers", "texts"} else value
    return values


def _domain_to_dict(message: specification_pb2.DomainSpec) -> dict[str, Any]:
    return {"name": message.name, **_classes_to_dict(message)}


def _classes_to_dict(
    message: specification_pb2.BenchmarkSpec | specification_pb2.DomainSpec,
) -> dict[str, Any]:
    return {"classes": list(message.classes.names)} if message.HasField("classes") else {}


def _sequence_to_dict(message: specification_pb2.SequenceSpec) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": message.name,
        "domain": message.domain,
        "first_frame": message.first_frame,
        "dont_care_frames": _bounds_of(message.dont_care_frames),
    }
    for name in ("frame_count", "image_width", "image_height"):
        if message.HasField(name):
            entry[name] = getattr(message, name)
    if message.HasField("frames"):
        entry["frames"] = _bounds_of(message.frames.ranges)
    return entry


def _sequence_from_dict(entry: Mapping[str, Any]) -> specification_pb2.SequenceSpec:
    plain = ("name", "domain", "frame_count", "first_frame", "image_width", "image_height")
    message = specification_pb2.SequenceSpec(
        **{name: entry[name] for name in plain if name in entry},
        dont_care_frames=_ranges_from_list(entry.get("dont_care_frames", ())),
    )
    if "frames" in entry:
        message.frames.SetInParent()
        message.frames.ranges.extend(_ranges_from_list(entry["frames"]))
    return message


def _bounds_of(ranges: Sequence[specification_pb2.FrameRange]) -> IntArray:
    """(N, 2) first and last frames: there may be many, in a few bytes each."""
    numbers = (number for entry in ranges for number in (entry.first, entry.last))
    return np.fromiter(numbers, np.int64, 2 * len(ranges)).reshape(-1, 2)


def _ranges_from_list(pairs: Iterable[Sequence[int]]) -> list[specification_pb2.FrameRange]:
    return [specification_pb2.FrameRange(first=first, last=last) for first, last in pairs]


# --- Reports


def write_report(report: Report, *, summary_only: bool = False) -> report_pb2.Report:
    """A report as a message.

    Args:
        report: The report.
        summary_only: Whether to leave out the rows of single sequences, and the curves.
    """
    rows = (row for row in report.rows() if not summary_only or row.sequence is None)
    return report_pb2.Report(
        evaluator=report.evaluator,
        version=report.version,
        parameters=write_parameters(report.parameters),
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


# --- Questions of trust analyses: fields that are left out take their defaults


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
    """Values of the fields that are set, by name; of those that are named, or of all."""
    return {
        field.name: value
        for field, value in message.ListFields()
        if not names or field.name in names
    }
