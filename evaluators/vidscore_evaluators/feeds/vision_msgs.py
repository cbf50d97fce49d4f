"""ROS 2: ``vision_msgs/Detection2DArray``, as JSON and in the binary form of the wire and of bags.

Of several hypotheses for a detection, the one with the best score is used. The header's frame
(``frame_id``) is the sensor, and its stamp is the time of the frame; messages have no frame number.
A rotated box becomes its four corners.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds.frames import (
    FeedFrame,
    Framing,
    Reading,
    Schema,
    check_length,
    detection,
    json_object,
    track_number,
)
from vidscore_evaluators.names import counted

_NANOSECONDS = 1e9
_COVARIANCES = 36
_POSE_NUMBERS = 7 + _COVARIANCES
_DETECTION_BYTES = 60
_HYPOTHESIS_BYTES = 8 * (1 + _POSE_NUMBERS)


# --- JSON ------------------------------------------------------------------------------------


def read_json(message: bytes) -> list[FeedFrame]:
    """The frame of a message as JSON.

    Raises:
        InputError: With every fault of the message.
    """
    array = json_object(message, "a vision_msgs/Detection2DArray as JSON")
    reading = Reading()
    header = reading.entry(array.get("header"), "header")
    stamp = reading.entry(header.get("stamp"), "header.stamp")
    seconds = reading.number(stamp.get("sec"), "header.stamp.sec")
    fraction = reading.number(stamp.get("nanosec"), "header.stamp.nanosec")
    sensor = reading.text(header.get("frame_id"), "header.frame_id")
    objects = [
        _object_of_json(reading.entry(entry, f"detections[{row}]"), f"detections[{row}]", reading)
        for row, entry in enumerate(reading.entries(array.get("detections"), "detections"))
    ]
    reading.done()
    return [_frame(sensor, seconds + fraction / _NANOSECONDS, objects)]


def _object_of_json(entry: Mapping[str, Any], place: str, reading: Reading) -> dict[str, Any]:
    best: tuple[float, str] | None = None
    for row, result in enumerate(reading.entries(entry.get("results"), f"{place}.results")):
        at = f"{place}.results[{row}].hypothesis"
        hypothesis = reading.entry(reading.entry(result, at).get("hypothesis"), at)
        score = reading.number(hypothesis.get("score"), f"{at}.score")
        label = reading.text(hypothesis.get("class_id"), f"{at}.class_id")
        best = (score, label) if best is None or score > best[0] else best
    box = reading.entry(entry.get("bbox"), f"{place}.bbox")
    center = reading.entry(box.get("center"), f"{place}.bbox.center")
    # Before vision_msgs 4, the centre was a geometry_msgs/Pose2D, with x and y of its own.
    position = reading.entry(center.get("position", center), f"{place}.bbox.center.position")
    numbers = [
        reading.number(source.get(name), f"{place}.bbox.{name}")
        for source, name in (
            (position, "x"),
            (position, "y"),
            (center, "theta"),
            (box, "size_x"),
            (box, "size_y"),
        )
    ]
    return _object(best, numbers, reading.text(entry.get("id", ""), f"{place}.id"))


# --- CDR -------------------------------------------------------------------------------------


def read_cdr(message: bytes) -> list[FeedFrame]:
    """The frame of a message in CDR.

    Raises:
        InputError: If it is not such a message.
    """
    check_length(message)
    try:
        data = _CdrReader(message)
        time_s, sensor = _header(data)
        objects = [_object_of_cdr(data) for _ in range(data.count(_DETECTION_BYTES))]
        data.done()
    except _CdrError as error:
        expected = "a vision_msgs/Detection2DArray in CDR, of vision_msgs 4"
        raise InputError([Fault(str(error), expected)]) from None
    return [_frame(sensor, time_s, objects)]


def _header(data: _CdrReader) -> tuple[float, str]:
    seconds, nanoseconds = data.int32(), data.uint32()
    return seconds + nanoseconds / _NANOSECONDS, data.string()


def _object_of_cdr(data: _CdrReader) -> dict[str, Any]:
    _header(data)
    best: tuple[float, str] | None = None
    for _ in range(data.count(_HYPOTHESIS_BYTES)):
        label, score = data.string(), data.float64()
        data.skip_float64(_POSE_NUMBERS)
        if not math.isfinite(score):
            raise _CdrError(f"the score {score}")
        best = (score, label) if best is None or score > best[0] else best
    numbers = [data.float64() for _ in range(5)]
    if not all(map(math.isfinite, numbers)):
        raise _CdrError("a box that is not finite")
    return _object(best, numbers, data.string())


# --- both ------------------------------------------------------------------------------------


def _frame(sensor: str, time_s: float, objects: list[dict[str, Any]]) -> FeedFrame:
    return FeedFrame(sensor or None, None, time_s or None, objects)


def _object(best: tuple[float, str] | None, numbers: list[float], identity: str) -> dict[str, Any]:
    x, y, theta, width, height = numbers
    score, label = best if best is not None else (None, "")
    box = [x - width / 2, y - height / 2, x + width / 2, y + height / 2]
    entry = detection(label, box, score, track_number(identity))
    if theta:
        del entry["box"]
        cosine, sine = math.cos(theta), math.sin(theta)
        entry["corners"] = [
            coordinate
            for across, down in ((-1, -1), (1, -1), (1, 1), (-1, 1))
            for coordinate in (
                x + across * width / 2 * cosine - down * height / 2 * sine,
                y + across * width / 2 * sine + down * height / 2 * cosine,
            )
        ]
    return entry


JSON = Schema("vision-msgs-json", "ROS 2: vision_msgs/Detection2DArray as JSON", read_json)
CDR = Schema(
    "vision-msgs",
    "ROS 2: vision_msgs/Detection2DArray, of vision_msgs 4",
    read_cdr,
    Framing.LENGTH,
    ("vision_msgs/msg/Detection2DArray",),
)


# --- CDR, the encoding of DDS and so of ROS 2 (XCDR version 1) -------------------------------


_HEADER_BYTES = 4
_ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}


class _CdrError(Exception):
    """The bytes are invalid; the message says what was found."""


class _CdrReader:
    """Reads values one after the other; each is aligned to its own size.

    Args:
        message: The bytes, with their header.
    """

    def __init__(self, message: bytes) -> None:
        order = _ORDERS.get(message[:2])
        if order is None or len(message) < _HEADER_BYTES:
            raise _CdrError("another header than that of plain CDR")
        self._order = order
        self._data = memoryview(message)[_HEADER_BYTES:]
        self._at = 0

    def int32(self) -> int:
        """A signed integer of 32 bits."""
        return int(self._value("i", 4))

    def uint32(self) -> int:
        """An unsigned integer of 32 bits."""
        return int(self._value("I", 4))

    def float64(self) -> float:
        """A floating-point number of 64 bits."""
        return float(self._value("d", 8))

    def skip_float64(self, count: int) -> None:
        """Skip numbers of 64 bits."""
        self._align(8)
        self._take(8 * count)

    def string(self) -> str:
        """A string, which ends in a zero byte."""
        data = self._take(self.uint32())
        try:
            return bytes(data).removesuffix(b"\x00").decode()
        except UnicodeDecodeError:
            raise _CdrError("a string that is not UTF-8") from None

    def count(self, least_bytes: int) -> int:
        """The length of a sequence, bounded by the minimum size of its elements."""
        count = self.uint32()
        if count * least_bytes > len(self._data) - self._at:
            raise _CdrError(f"a sequence of {count} in {counted(len(self._data), 'byte')}")
        return count

    def done(self) -> None:
        """Refuse remaining bytes, except for padding to a multiple of four."""
        if len(self._data) - self._at >= _HEADER_BYTES:
            raise _CdrError(f"{len(self._data) - self._at} bytes more")

    def _value(self, code: str, size: int) -> float:
        self._align(size)
        value: float = struct.unpack(self._order + code, self._take(size))[0]
        return value

    def _align(self, size: int) -> None:
        self._at += -self._at % size

    def _take(self, size: int) -> memoryview:
        end = self._at + size
        if end > len(self._data):
            raise _CdrError(f"an end after {counted(len(self._data), 'byte')}")
        data = self._data[self._at : end]
        self._at = end
        return data
