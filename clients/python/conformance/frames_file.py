"""The file of frames that a runner is given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf import json_format

from vidscore_client import EvaluatorChoice, Geometry, ScoreStream, SubmissionStream
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
        """Take it out of its JSON form; what is left out has its default."""
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
    """A mask as COCO has it, of runs or a text of them."""
    counts = document["text"] if "text" in document else document["runs"]
    return {"size": document["size"], "counts": counts}


@dataclass(frozen=True)
class FramesFile:
    """What is to be scored, and how."""

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
