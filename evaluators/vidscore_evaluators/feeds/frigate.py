"""Frigate's events: one tracked object, whenever something about it has changed.

This is no feed of frames. Frigate says nothing of a frame in which no object has changed, and of
each message only one object is known; what is made of it is a frame with this object alone.
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

_UNSAID = frozenset(
    {Unsaid.FRAME_NUMBER, Unsaid.EMPTY_FRAMES, Unsaid.EVERY_FRAME, Unsaid.RESOLUTION}
)
_CORNERS = 4


def read(message: bytes) -> list[FeedFrame]:
    """The frame of an event; none of one that Frigate itself takes for a mistake, or of an end.

    Raises:
        InputError: With everything that is wrong with it.
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
