"""NVIDIA DeepStream's minimal JSON, and the JSON form of nv.Frame.

In the minimal form, an object is a string: ``id|left|top|right|bottom|class``, and after ``|#|``
the outputs of secondary classifiers, the last of which is the confidence. Without such a classifier
there is none. ``@timestamp`` is the time at which the message was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vidscore_evaluators.feeds.frames import (
    FeedFrame,
    Reading,
    Schema,
    Unsaid,
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


def read(message: bytes) -> list[FeedFrame]:
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


SCHEMA = Schema("nvidia-json", "NVIDIA DeepStream: minimal JSON, or nv.Frame as JSON", read)
