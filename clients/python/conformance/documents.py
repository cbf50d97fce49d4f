"""What a runner prints, out of what the SDK gives."""

from __future__ import annotations

import re
from typing import Any

from vidscore_client import (
    Curve,
    LeaderboardRow,
    LiveReport,
    Report,
    Row,
    Submission,
    SubmissionScore,
    VidscoreError,
)


def error_document(error: VidscoreError) -> dict[str, Any]:
    """A typed error; its kind is the class's name without ``Error``, in snake case."""
    name = type(error).__name__.removesuffix("Error")
    return {
        "error": {
            "kind": re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(),
            "code": error.code,
            "reason": error.reason,
            "message": error.message,
            "retryable": error.retryable,
            "violations": [
                {"field": violation.field, "description": violation.description}
                for violation in error.violations
            ],
            "violation_count": error.violation_count,
            "metadata": error.metadata,
        }
    }


def report_document(report: Report) -> dict[str, Any]:
    """A report."""
    return {
        "evaluator": report.evaluator,
        "version": report.version,
        "parameters": dict(report.parameters),
        "truth_digest": report.truth_digest,
        "detections_digest": report.detections_digest,
        "scores": [_row(row) for row in report.scores],
        "curves": [_curve(curve) for curve in report.curves],
        "warnings": [
            {"code": warning.code, "message": warning.message, "count": warning.count}
            for warning in report.warnings
        ],
    }


def live_document(live: LiveReport) -> dict[str, Any]:
    """How far both sides had come at a live report."""
    return {
        "paired_frames": live.coverage.paired_frames,
        "frames_waiting_for_detections": live.coverage.frames_waiting_for_detections,
        "frames_waiting_for_truth": live.coverage.frames_waiting_for_truth,
    }


def score_document(score: SubmissionScore) -> dict[str, Any]:
    """A score of a submission."""
    report = report_document(score.report)
    return {"partial": score.partial, "current": score.current, "report": report}


def submission_document(submission: Submission) -> dict[str, Any]:
    """A submission."""
    return {
        "name": submission.name,
        "team": submission.team,
        "title": submission.title,
        "state": submission.state.value,
        "state_reason": submission.state_reason,
        "frame_count": submission.frame_count,
        "streams": [
            {"stream": stream.stream, "epoch": stream.epoch, "next_offset": stream.next_offset}
            for stream in submission.streams
        ],
    }


def leaderboard_row_document(row: LeaderboardRow) -> dict[str, Any]:
    """A row of a leaderboard."""
    return {
        "rank": row.rank,
        "team": row.team,
        "submission": row.submission,
        "values": dict(row.scores),
    }


def _row(row: Row) -> dict[str, Any]:
    kinds = {int: "count", float: "number"}
    return {
        "domain": row.domain,
        "label": row.label,
        "sequence": row.sequence,
        "measure": row.measure,
        "value": row.value,
        "kind": kinds.get(type(row.value), "undefined"),
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "name": curve.name,
        "domain": curve.domain,
        "label": curve.label,
        "columns": [
            {"name": name, "values": list(values)} for name, values in curve.columns.items()
        ],
    }
