"""What a message of a feed says of frames, in one shape for all schemas, and what it leaves out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any

from msgspec import Struct, field

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._json import parse_json, show_value, type_name

MAXIMUM_MESSAGE_BYTES = 1 << 20
"""Longest message that is read."""

MAXIMUM_DOCUMENT_BYTES = 1 << 26
"""Longest input that is one message in all, such as a CSV file."""

_DIGITS = re.compile(r"[0-9]{1,18}")


class Unsaid(StrEnum):
    """Something that scoring needs and that a feed does not say."""

    FRAME_NUMBER = "frame-number"
    """Which frame of the video it is: a time or a rate has to tell it."""
    FRAME_TIME = "frame-time"
    """When the frame was captured: the feed's time is that of publishing, or there is none."""
    SENSOR = "sensor"
    """Which camera it is."""
    RESOLUTION = "resolution"
    """The size of the image that the coordinates are of."""
    EMPTY_FRAMES = "empty-frames"
    """Frames without an object: the feed is silent where nothing was detected."""
    EVERY_FRAME = "every-frame"
    """Frames in which nothing has changed: the feed reports changes only."""
    CONFIDENCE = "confidence"
    """How sure the system is."""


class Unit(StrEnum):
    """What coordinates are measured in."""

    PIXELS = "pixels"
    FRACTION = "fraction"
    """Of the width and height of the image, from its upper left corner."""


class Framing(StrEnum):
    """How messages are told apart in a stream of bytes; brokers and datagrams need none."""

    LINES = "lines"
    """One message per line."""
    LENGTH = "length"
    """The length of a message before it, in four bytes, the highest first."""
    DOCUMENT = "document"
    """All of the input is one message."""


class FeedFrame(Struct, frozen=True):
    """One frame, as a message of a feed tells it.

    Attributes:
        sensor: The camera, as the feed names it; None where it does not.
        number: Number of the frame; None where the feed does not say it.
        time_s: The feed's time of it, in seconds on the feed's clock; None where there is none.
        objects: Its objects, as in JSON lines; coordinates in `unit`.
        unit: What their coordinates are measured in.
        size_px: Width and height of the image, where the feed says it.
        unsaid: What the message does not say of the frame.
        domain: Domain of the sequence, where the feed has it.
    """

    sensor: str | None
    number: int | None
    time_s: float | None
    objects: Sequence[Mapping[str, Any]]
    unit: Unit = Unit.PIXELS
    size_px: tuple[float, float] | None = None
    unsaid: frozenset[Unsaid] = field(default_factory=frozenset)
    domain: str = ""


class FeedColumns(Struct, frozen=True, eq=False):
    """The frames of many messages, as the feed tells them.

    Attributes:
        frames: The frames, with pixels; the sequence of a frame is its sensor, and the confidence
            of an object that has none is NaN.
        unsaid: What some of the messages do not say.
    """

    frames: Annotations
    unsaid: frozenset[Unsaid]


class Schema(Struct, frozen=True):
    """A schema of messages; a plug-in of the group ``vidscore.schemas`` is one.

    Attributes:
        name: What users type.
        title: What it is, in a few words.
        read: The frames of one message. It depends on the bytes alone, and raises an `InputError`
            with every fault where they break the schema.
        framing: How messages are told apart in a stream of bytes.
        message_types: What recordings call the type of these messages.
        read_many: The frames of many messages at once, one each and the same that `read` gives,
            from the messages and the number of an object's coordinates. It raises a `ValueError`
            where it cannot be sure; then each message is read by itself. None where there is no
            faster way.
    """

    name: str
    title: str
    read: Callable[[bytes], list[FeedFrame]]
    framing: Framing = Framing.LINES
    message_types: tuple[str, ...] = ()
    read_many: Callable[[Sequence[bytes], int], FeedColumns] | None = None


class Reading:
    """Takes values out of a parsed message and gathers what is wrong with them."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, place: str, found: str, expected: str, advice: str | None = None) -> None:
        """Note that something is wrong."""
        self.faults.append(Fault(found, expected, field=place or None, advice=advice))

    def number(self, value: object, place: str) -> float:
        """A finite number; 0 and a fault where it is none."""
        if type(value) in (int, float) and math.isfinite(value):  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
        self.fault(place, _shown(value), "a finite number")
        return 0.0

    def optional_number(self, value: object, place: str) -> float | None:
        """A finite number, or None where there is none."""
        return None if value is None else self.number(value, place)

    def text(self, value: object, place: str) -> str:
        """A string, or the digits of an integer; empty and a fault where it is neither."""
        if type(value) is int:
            return str(value)
        if isinstance(value, str):
            return value
        self.fault(place, _shown(value), "a string")
        return ""

    def entries(self, value: object, place: str) -> list[Any]:
        """An array; empty and a fault where it is none."""
        if isinstance(value, list):
            return value
        self.fault(place, _shown(value), "an array")
        return []

    def entry(self, value: object, place: str) -> Mapping[str, Any]:
        """An object of JSON; empty and a fault where it is none."""
        if isinstance(value, dict):
            return value
        self.fault(place, _shown(value), "an object")
        return {}

    def done(self) -> None:
        """End the reading.

        Raises:
            InputError: With every fault, if there are any.
        """
        if self.faults:
            raise InputError(self.faults)


def _shown(value: object) -> str:
    return "nothing" if value is None else show_value(value)


def json_object(message: bytes, expected: str) -> dict[str, Any]:
    """The object of JSON that a message is.

    Raises:
        InputError: If it is none, or too long.
    """
    check_length(message)
    document = parse_json(message, "message", expected)
    if not isinstance(document, dict):
        raise InputError([Fault(type_name(document), expected)])
    return document


def check_length(message: bytes, most: int = MAXIMUM_MESSAGE_BYTES) -> None:
    """Refuse a message that is too long.

    Raises:
        InputError: If it is.
    """
    if len(message) > most:
        raise InputError([Fault(f"a message of {len(message)} bytes", f"at most {most}")])


def utc_seconds(text: str, place: str, reading: Reading) -> float | None:
    """Seconds since 1970 of a time in ISO 8601; without an offset it is UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        reading.fault(place, show_value(text), "a time, such as 2026-01-31T12:00:00.040Z")
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def frame_number(text: str) -> int | None:
    """A frame number out of an identity; None where it is no number."""
    return int(text) if _DIGITS.fullmatch(text) else None


def track_number(identity: str) -> int | None:
    """An integer for an identity of a track, the same at all times; None for an empty one."""
    if not identity:
        return None
    if _DIGITS.fullmatch(identity):
        return int(identity)
    digest = blake2b(identity.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def detection(
    label: str, box: Sequence[float], confidence: float | None, track: int | None
) -> dict[str, Any]:
    """An object as JSON lines have it; what is not known is left out."""
    entry: dict[str, Any] = {"label": label} if label else {}
    entry["box"] = list(box)
    if confidence is not None:
        entry["confidence"] = confidence
    if track is not None:
        entry["track"] = track
    return entry
