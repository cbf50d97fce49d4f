"""Frigate's events: one tracked object, sent whenever something about it changes.

This is not a feed of frames. Frigate sends nothing for a frame in which no object has changed, and
a message contains only one object. It becomes a frame with this object alone.
"""

from __future__ import annotations

from vidscore_evaluators.feeds.frames import (
    FeedFrame,
    Reading,
    Schema,
    Unsaid,
    detection,
    json_object,
    track_number,
)

_UNSAID = frozenset({Unsaid.EMPTY_FRAMES, Unsaid.EVERY_FRAME})
_CORNERS = 4


def read(message: bytes) -> list[FeedFrame]:
    """The frame of an event; none for an end, or an event that Frigate considers a false positive.

    Raises:
        InputError: With every fault of the event.
    """
    event = json_object(message, "an event of Frigate as JSON")
    reading = Reading()
    kind = reading.text(event.get("type"), "type")
    after = reading.entry(event.get("after"), "after")
    sensor = reading.text(after.get("camera"), "after.camera")
    time_s = reading.number(after.get("frame_time"), "after.frame_time")
    corners = reading.entries(after.get("box"), "after.box")
    if len(corners) != _CORNERS:
        reading.fault("after.box", f"an array of {len(corners)}", "[x1, y1, x2, y2]")
    box = [reading.number(value, f"after.box[{row}]") for row, value in enumerate(corners)]
    score = reading.number(after.get("score"), "after.score")
    label = reading.text(after.get("label"), "after.label")
    track = track_number(reading.text(after.get("id"), "after.id"))
    reading.done()
    if kind == "end" or after.get("false_positive"):
        return []
    return [FeedFrame(sensor, None, time_s, [detection(label, box, score, track)], unsaid=_UNSAID)]


SCHEMA = Schema("frigate", "Frigate: events of tracked objects", read)
