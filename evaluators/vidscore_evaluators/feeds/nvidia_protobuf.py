"""NVIDIA's nv.Frame in protobuf, as DeepStream and Metropolis send it.

Only the fields that scoring needs are declared here, with the numbers of the published schema;
protobuf's runtime skips the others.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from google.protobuf import (  # the runtime, which the wire needs in any case
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    timestamp_pb2,
)
from google.protobuf.message import DecodeError

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import (
    FeedFrame,
    Framing,
    Reading,
    Schema,
    check_length,
    detection,
    frame_number,
)
from vidscore_evaluators.feeds.nvidia_json import CORNERS, track_of

_STRING = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
_FLOAT = descriptor_pb2.FieldDescriptorProto.TYPE_FLOAT
_OPTIONAL = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED

_TIMESTAMP = ".google.protobuf.Timestamp"
_FIELDS: dict[str, dict[str, tuple[int, Any, Any]]] = {
    "Frame": {
        "version": (1, _STRING, _OPTIONAL),
        "id": (2, _STRING, _OPTIONAL),
        "timestamp": (3, _TIMESTAMP, _OPTIONAL),
        "sensorId": (4, _STRING, _OPTIONAL),
        "objects": (5, ".nv.Object", _REPEATED),
    },
    "Object": {
        "id": (1, _STRING, _OPTIONAL),
        "bbox": (2, ".nv.Bbox", _OPTIONAL),
        "type": (3, _STRING, _OPTIONAL),
        "confidence": (4, _FLOAT, _OPTIONAL),
    },
    "Bbox": {name: (number, _FLOAT, _OPTIONAL) for number, name in enumerate(CORNERS, 1)},
}
"""Number, type and label of each field, by message and name."""


@cache
def frame_class() -> Any:
    """The message class, made in a separate pool so that it cannot conflict with another ``nv``."""
    file = descriptor_pb2.FileDescriptorProto(
        name="nv.proto", package="nv", syntax="proto3", dependency=[timestamp_pb2.DESCRIPTOR.name]
    )
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field_name, (number, type_, label) in fields.items():
            field = message.field.add(name=field_name, number=number, label=label)
            if isinstance(type_, str):
                field.type, field.type_name = field.TYPE_MESSAGE, type_
            else:
                field.type = type_
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("nv.Frame"))


def read(message: bytes) -> list[FeedFrame]:
    """The frame of a message.

    Raises:
        InputError: With every fault of the message.
    """
    check_length(message)
    frame = frame_class()()
    try:
        frame.ParseFromString(message)
    except DecodeError:
        raise InputError([Fault("other data", "a message nv.Frame of protobuf")]) from None
    reading = Reading()
    objects = [
        _object(entry, f"objects[{index}]", reading) for index, entry in enumerate(frame.objects)
    ]
    if not frame.sensorId:
        reading.fault("sensorId", "nothing", "the name of a sensor")
    reading.done()
    time_s = None
    if frame.HasField("timestamp"):
        time_s = frame.timestamp.seconds + frame.timestamp.nanos / 1e9
    return [FeedFrame(frame.sensorId, frame_number(frame.id), time_s, objects)]


def _object(entry: Any, place: str, reading: Reading) -> dict[str, Any]:
    if not entry.HasField("bbox"):
        reading.fault(f"{place}.bbox", "nothing", "a box")
    box = [getattr(entry.bbox, name) for name in CORNERS]
    for name, value in (*zip(CORNERS, box, strict=True), ("confidence", entry.confidence)):
        if not math.isfinite(value):
            reading.fault(f"{place}.{name}", str(value), "a finite number")
    return detection(entry.type, box, entry.confidence, track_of(entry.id))


SCHEMA = Schema(
    "nvidia-protobuf", "NVIDIA DeepStream and Metropolis: nv.Frame", read, Framing.LENGTH
)
