"""Intel DL Streamer: output of ``gvametaconvert ! gvametapublish``, one JSON object per frame.

``timestamp`` is in nanoseconds from the start of the stream. The corners of a box are fractions of
the image in ``detection.bounding_box``; ``x``, ``y``, ``w`` and ``h`` are the same box in integer
pixels, used if the fractions or the size of the image are missing.
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
    json_object,
    track_number,
)

Size = tuple[float, float]

_NANOSECONDS = 1e9
_CORNERS = ("x_min", "y_min", "x_max", "y_max")


def read(message: bytes) -> list[FeedFrame]:
    """The frame of a message.

    Raises:
        InputError: With every fault of the message.
    """
    frame = json_object(message, "a frame of DL Streamer as JSON")
    reading = Reading()
    size = _size(frame, reading)
    objects = [
        _object(reading.entry(entry, f"objects[{index}]"), size, f"objects[{index}]", reading)
        for index, entry in enumerate(reading.entries(frame.get("objects", []), "objects"))
    ]
    sensor = None
    if "source" in frame:
        sensor = reading.text(frame["source"], "source")
    count = reading.optional_number(frame.get("timestamp"), "timestamp")
    reading.done()
    time_s = None if count is None else count / _NANOSECONDS
    unsaid = frozenset[Unsaid]() if "objects" in frame else frozenset({Unsaid.EMPTY_FRAMES})
    return [FeedFrame(sensor, None, time_s, objects, size_px=size, unsaid=unsaid)]


def _size(frame: Mapping[str, Any], reading: Reading) -> Size | None:
    if "resolution" not in frame:
        return None
    size = reading.entry(frame["resolution"], "resolution")
    width, height = (
        reading.number(size.get(name), f"resolution.{name}") for name in ("width", "height")
    )
    return width, height


def _object(
    entry: Mapping[str, Any], size: Size | None, place: str, reading: Reading
) -> dict[str, Any]:
    found = reading.entry(entry.get("detection", {}), f"{place}.detection")
    if size is not None and "bounding_box" in found:
        corners = reading.entry(found["bounding_box"], f"{place}.detection.bounding_box")
        scale = dict(zip(_CORNERS, (*size, *size), strict=True))
        box = [
            reading.number(corners.get(name), f"{place}.detection.bounding_box.{name}")
            * scale[name]
            for name in _CORNERS
        ]
    else:
        x, y, width, height = (
            reading.number(entry.get(name), f"{place}.{name}") for name in ("x", "y", "w", "h")
        )
        box = [x, y, x + width, y + height]
    confidence = reading.optional_number(found.get("confidence"), f"{place}.detection.confidence")
    label = reading.text(found.get("label", entry.get("roi_type", "")), f"{place}.label")
    track = track_number(reading.text(entry.get("id", ""), f"{place}.id"))
    return detection(label, box, confidence, track)


SCHEMA = Schema("dlstreamer", "Intel DL Streamer: JSON of gvametaconvert", read)
