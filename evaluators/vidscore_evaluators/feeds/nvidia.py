"""NVIDIA: DeepStream's minimal JSON, and nv.Frame as JSON and in protobuf, as Metropolis sends it.

In the minimal form, an object is a string: ``id|left|top|right|bottom|class``, and after ``|#|``
the outputs of secondary classifiers, the last of which is the confidence. Without such a classifier
there is none. ``@timestamp`` is the time at which the message was written.

Of nv.Frame in protobuf only the fields that scoring needs are declared, with the numbers of the
published schema; protobuf's runtime skips the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
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
    Unsaid,
    check_length,
    detection,
    frame_number,
    json_object,
    track_number,
    utc_seconds,
)
from vidscore_evaluators.formats._json import show_value
from vidscore_evaluators.formats._table import parse_number

CORNERS = ("leftX", "topY", "rightX", "bottomY")
"""Fields of a box, in the order of coordinates."""

UNTRACKED = "18446744073709551615"
"""Identity of an object without a tracker: the largest integer of 64 bits."""

_FIELDS = 6
_EXPECTED = "id|left|top|right|bottom|class, and more after |#|"


def read_json(message: bytes) -> list[FeedFrame]:
    """The frame of a message.

    Raises:
        InputError: With every fault of the message.
    """
    frame = json_object(message, "a frame of DeepStream as JSON")
    reading = Reading()
    unsaid = {Unsaid.EMPTY_FRAMES}
    published = "@timestamp" in frame
    if published:
        unsaid.add(Unsaid.FRAME_TIME)
    key = "@timestamp" if published else "timestamp"
    time_s = utc_seconds(reading.text(frame.get(key), key), key, reading)
    identity = reading.text(frame.get("id"), "id")
    objects = [
        _object(entry, f"objects[{index}]", reading)
        for index, entry in enumerate(reading.entries(frame.get("objects"), "objects"))
    ]
    sensor = reading.text(frame.get("sensorId"), "sensorId")
    reading.done()
    number = frame_number(identity)
    return [FeedFrame(sensor, number, time_s, objects, unsaid=frozenset(unsaid))]


def _object(entry: object, place: str, reading: Reading) -> dict[str, Any]:
    if isinstance(entry, str):
        return _from_text(entry, place, reading)
    return _from_fields(reading.entry(entry, place), place, reading)


def _from_text(text: str, place: str, reading: Reading) -> dict[str, Any]:
    head, _, tail = text.partition("|#|")
    fields = head.split("|")
    numbers = [parse_number(value) for value in fields[1:5]]
    box = [value for value in numbers if value is not None]
    if len(fields) != _FIELDS or len(box) != len(CORNERS):
        reading.fault(place, show_value(text), _EXPECTED)
        return {}
    confidence = parse_number(tail.rpartition("|")[2])
    return detection(fields[-1], box, confidence, track_of(fields[0]))


def _from_fields(entry: Mapping[str, Any], place: str, reading: Reading) -> dict[str, Any]:
    corners = reading.entry(entry.get("bbox"), f"{place}.bbox")
    box = [reading.number(corners.get(name), f"{place}.bbox.{name}") for name in CORNERS]
    confidence = reading.optional_number(entry.get("confidence"), f"{place}.confidence")
    identity = reading.text(entry.get("id", ""), f"{place}.id")
    label = reading.text(entry.get("type"), f"{place}.type")
    return detection(label, box, confidence, track_of(identity))


def track_of(identity: str) -> int | None:
    """The track of an object; None if no tracker has seen it."""
    return None if identity in {UNTRACKED, "-1"} else track_number(identity)


JSON = Schema("nvidia-json", "NVIDIA DeepStream: minimal JSON, or nv.Frame as JSON", read_json)


# --- nv.Frame in protobuf

_STRING = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
_FLOAT = descriptor_pb2.FieldDescriptorProto.TYPE_FLOAT
_OPTIONAL = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
_REPEATED = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED

_TIMESTAMP = ".google.protobuf.Timestamp"
_MESSAGES: dict[str, dict[str, tuple[int, Any, Any]]] = {
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
    for name, fields in _MESSAGES.items():
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


def read_protobuf(message: bytes) -> list[FeedFrame]:
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
        _protobuf_object(entry, f"objects[{index}]", reading)
        for index, entry in enumerate(frame.objects)
    ]
    if not frame.sensorId:
        reading.fault("sensorId", "nothing", "the name of a sensor")
    reading.done()
    time_s = None
    if frame.HasField("timestamp"):
        time_s = frame.timestamp.seconds + frame.timestamp.nanos / 1e9
    return [FeedFrame(frame.sensorId, frame_number(frame.id), time_s, objects)]


def _protobuf_object(entry: Any, place: str, reading: Reading) -> dict[str, Any]:
    if not entry.HasField("bbox"):
        reading.fault(f"{place}.bbox", "nothing", "a box")
    box = [getattr(entry.bbox, name) for name in CORNERS]
    for name, value in (*zip(CORNERS, box, strict=True), ("confidence", entry.confidence)):
        if not math.isfinite(value):
            reading.fault(f"{place}.{name}", str(value), "a finite number")
    return detection(entry.type, box, entry.confidence, track_of(entry.id))


PROTOBUF = Schema(
    "nvidia-protobuf",
    "NVIDIA DeepStream and Metropolis: nv.Frame",
    read_protobuf,
    Framing.LENGTH,
)
