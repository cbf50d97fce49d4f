"""The input of a runner, a file of frames, and its output, from the SDK's results."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from vidscore_client import (
    Curve,
    EvaluatorChoice,
    Geometry,
    LeaderboardRow,
    LiveReport,
    Report,
    Row,
    ScoreStream,
    Submission,
    SubmissionScore,
    SubmissionStream,
    VidscoreError,
)
from vidscore_protos.v1.specification_pb2 import BenchmarkSpec


@dataclass(frozen=True)
class Frame:
    """One frame with its objects, as columns."""

    domain: str
    sequence: str
    number: int
    dont_care: bool
    coordinates: list[list[float]]
    labels: list[str]
    confidences: list[float]
    track_ids: list[int]
    flags: list[int]
    time_s: float | None
    masks: list[dict[str, Any]] | None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Frame:
        """Read it from its JSON form; missing keys have their defaults."""
        objects = document["objects"]
        return cls(
            domain=document.get("domain", ""),
            sequence=document["sequence"],
            number=document["frame"],
            dont_care=document.get("dont_care", False),
            coordinates=[entry["coordinates"] for entry in objects],
            labels=[entry.get("label", "") for entry in objects],
            confidences=[entry.get("confidence", 1.0) for entry in objects],
            track_ids=[entry.get("track_id", -1) for entry in objects],
            flags=[entry.get("flags", 0) for entry in objects],
            time_s=document.get("time_s"),
            masks=[_mask_of(entry["mask"]) for entry in objects if "mask" in entry] or None,
        )

    def send_truth(self, stream: ScoreStream) -> None:
        """Send it as truth."""
        stream.send_truth(
            self.sequence,
            self.number,
            self.coordinates,
            self.labels,
            self.confidences,
            self.track_ids,
            self.flags,
            domain=self.domain,
            dont_care=self.dont_care,
            time_s=self.time_s,
            masks=self.masks,
        )

    def send_detections(self, stream: ScoreStream | SubmissionStream) -> None:
        """Send it as detections."""
        stream.send(
            self.sequence,
            self.number,
            self.coordinates,
            self.labels,
            self.confidences,
            self.track_ids,
            domain=self.domain,
            time_s=self.time_s,
            masks=self.masks,
        )


def _mask_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """A mask in COCO's form, from runs or their text."""
    counts = document["text"] if "text" in document else document["runs"]
    return {"size": document["size"], "counts": counts}


@dataclass(frozen=True)
class FramesFile:
    """The data to score, and the settings."""

    evaluators: list[EvaluatorChoice]
    specification: BenchmarkSpec
    truth_geometry: Geometry
    detection_geometry: Geometry
    truth: list[Frame]
    detections: list[Frame]


def read_frames(path: str) -> FramesFile:
    """Read a file of frames."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    configuration = document["configuration"]
    specification = BenchmarkSpec()
    json_format.ParseDict(configuration.get("specification", {}), specification)
    return FramesFile(
        evaluators=[
            (entry["name"], entry.get("parameters", {})) for entry in configuration["evaluators"]
        ],
        specification=specification,
        truth_geometry=configuration["truth_geometry"],
        detection_geometry=configuration["detection_geometry"],
        truth=[Frame.of(frame) for frame in document["truth"]],
        detections=[Frame.of(frame) for frame in document["detections"]],
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
    """Progress of both sides at a live report."""
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
        "warnings": list(submission.warnings),
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
