"""Reports to messages."""

from __future__ import annotations

from collections.abc import Iterable

from vidscore.v1 import report_pb2, scoring_service_pb2
from vidscore_evaluators.pairing import Coverage
from vidscore_evaluators.report import Curve, Number, Report, Row
from vidscore_server.codec.specification_codec import write_parameters, write_specification


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
        curves=[] if summary_only else [_write_curve(curve) for curve in report.curves],
        warnings=[
            report_pb2.Warning(code=warning.code, message=warning.message, count=warning.count)
            for warning in report.warnings
        ],
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
        label=row.class_,
        sequence=row.sequence,
        measure=row.measure,
        value=_write_value(row.value),
    )


def _write_curve(curve: Curve) -> report_pb2.Curve:
    return report_pb2.Curve(
        domain=curve.domain,
        label=curve.class_,
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
