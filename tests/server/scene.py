"""Small requests, and the status of a refused call; they use only the generated protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo
from google.rpc.status_pb2 import Status

from vidscore_protos.v1 import annotations_pb2, report_pb2, scoring_service_pb2, specification_pb2

Points = Sequence[tuple[float, float]]

Frame = tuple[tuple[str, str], int, Sequence[Sequence[float]]]
"""Domain and sequence of a frame, its number, and the coordinates of its objects."""

HERE: Points = [(10.0, 20.0)]


def report_bytes(report: report_pb2.Report) -> bytes:
    """A report without its specification; equal reports give equal bytes."""
    report.specification.Clear()
    return report.SerializeToString(deterministic=True)


def batch(
    frames: Iterable[Frame],
    labels: Sequence[str] = (),
    geometry: annotations_pb2.Geometry = annotations_pb2.GEOMETRY_POINT,
) -> annotations_pb2.AnnotationBatch:
    """A batch of frames, in their order.

    Args:
        frames: The frames.
        labels: Label of each object, frame by frame; none if no object has one.
        geometry: Shape of the objects.
    """
    rows = list(frames)
    keys = {key: index for index, key in enumerate(dict.fromkeys(key for key, _, _ in rows))}
    table = list(dict.fromkeys(labels))
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(domain=key[0], sequence=key[1]) for key in keys],
        labels=table,
        frame_sequences=[keys[key] for key, _, _ in rows],
        frame_numbers=[number for _, number, _ in rows],
        frame_object_counts=[len(objects) for _, _, objects in rows],
        geometry=geometry,
        coordinates=[number for _, _, objects in rows for place in objects for number in place],
        label_indices=[table.index(label) for label in labels],
    )


def points(frames: Mapping[int, Points], sequence: str = "1") -> annotations_pb2.AnnotationBatch:
    """A batch of points: frame number to coordinates."""
    return batch((("", sequence), number, objects) for number, objects in frames.items())


def configuration(
    *evaluators: str,
    live: scoring_service_pb2.LiveReporting | None = None,
    **parameters: bool | float | str,
) -> scoring_service_pb2.ScoreConfiguration:
    """A configuration for points; all evaluators get the same parameters."""
    return scoring_service_pb2.ScoreConfiguration(
        specification=specification_pb2.BenchmarkSpec(
            evaluators=[
                specification_pb2.EvaluatorSpec(
                    name=name,
                    parameters=[parameter(key, value) for key, value in parameters.items()],
                )
                for name in evaluators
            ]
        ),
        truth_geometry=annotations_pb2.GEOMETRY_POINT,
        detection_geometry=annotations_pb2.GEOMETRY_POINT,
        live_reporting=live,
    )


def parameter(name: str, value: bool | float | str) -> specification_pb2.Parameter:
    """A parameter message of the type of its value."""
    if isinstance(value, bool):
        return specification_pb2.Parameter(name=name, boolean=value)
    if isinstance(value, str):
        return specification_pb2.Parameter(name=name, text=value)
    return specification_pb2.Parameter(name=name, number=value)


def stream(
    configured: scoring_service_pb2.ScoreConfiguration,
    *batches: tuple[str, annotations_pb2.AnnotationBatch],
) -> list[scoring_service_pb2.ScoreRequest]:
    """The requests of a stream: configuration, then ("truth" or "detections", batch)."""
    first = scoring_service_pb2.ScoreRequest(configuration=configured)
    return [first, *(request(side, batch) for side, batch in batches)]


def request(side: str, batch: annotations_pb2.AnnotationBatch) -> scoring_service_pb2.ScoreRequest:
    """One batch of a stream."""
    if side == "truth":
        return scoring_service_pb2.ScoreRequest(truth=batch)
    return scoring_service_pb2.ScoreRequest(detections=batch)


def counts(report: report_pb2.Report) -> dict[str, int]:
    """The counts of a report over everything."""
    return {
        score.measure: score.value.count
        for score in report.scores
        if not score.HasField("sequence") and score.value.HasField("count")
    }


@dataclass(frozen=True)
class Refused:
    """The status of a refused call."""

    code: grpc.StatusCode
    message: str
    reason: str
    metadata: dict[str, str]
    violations: dict[str, str]


def refused(error: grpc.RpcError) -> Refused:
    """Read the status of a failed call, with its details."""
    assert isinstance(error, grpc.Call | grpc.aio.AioRpcError)
    trailing: Iterable[tuple[str, str | bytes]] = error.trailing_metadata() or ()
    [data] = [value for key, value in trailing if key == "grpc-status-details-bin"]
    assert isinstance(data, bytes)
    status = Status.FromString(data)
    info, bad_request = ErrorInfo(), BadRequest()
    for detail in status.details:
        detail.Unpack(info)
        detail.Unpack(bad_request)
    assert status.code == error.code().value[0]
    assert status.message == error.details()
    assert info.domain == "vidscore"
    violations = {entry.field: entry.description for entry in bad_request.field_violations}
    return Refused(error.code(), status.message, info.reason, dict(info.metadata), violations)
