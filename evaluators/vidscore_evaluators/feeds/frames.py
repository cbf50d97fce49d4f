"""The frames of messages in one form for all schemas, and the information that they lack."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b
from typing import Any

from msgspec import Struct, field, structs

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._json import parse_json, show_value, type_name

MAXIMUM_MESSAGE_BYTES = 1 << 20
"""Maximum length of a message."""

MAXIMUM_DOCUMENT_BYTES = 1 << 26
"""Maximum length of an input that is a single message, such as a CSV file."""

_DIGITS = re.compile(r"[0-9]{1,18}")


class Unsaid(StrEnum):
    """Information that scoring needs and a feed lacks."""

    FRAME_NUMBER = "frame-number"
    """Frame number in the video; it must be computed from a time and a rate."""
    FRAME_TIME = "frame-time"
    """Time of capture; the feed has the time of publishing, or none."""
    SENSOR = "sensor"
    """The camera."""
    RESOLUTION = "resolution"
    """The size of the image to which coordinates refer."""
    EMPTY_FRAMES = "empty-frames"
    """Frames without objects; the feed sends nothing if nothing was detected."""
    EVERY_FRAME = "every-frame"
    """Unchanged frames; the feed reports only changes."""
    CONFIDENCE = "confidence"
    """Confidences of detections."""


class Unit(StrEnum):
    """Units of coordinates."""

    PIXELS = "pixels"
    FRACTION = "fraction"
    """Fraction of the image's width and height, from its upper left corner."""


class Framing(StrEnum):
    """How messages are separated in a stream of bytes; brokers and datagrams need no framing."""

    LINES = "lines"
    """One message per line."""
    LENGTH = "length"
    """The length of a message before it, in four bytes, big-endian."""
    DOCUMENT = "document"
    """The whole input is one message."""


class FeedFrame(Struct, frozen=True):
    """One frame, according to a message of a feed.

    Attributes:
        sensor: The camera, as the feed names it, or None.
        number: Number of the frame, or None.
        time_s: Time of the frame in seconds on the feed's clock, or None.
        objects: Its objects, as in JSON lines; coordinates in `unit`.
        unit: Unit of the coordinates.
        size_px: Width and height of the image, if the feed has them.
        unsaid: Information about the frame that the message lacks. A schema gives what other
            attributes do not show; the rest is added.
        domain: Domain of the sequence, if the feed has it.
    """

    sensor: str | None
    number: int | None
    time_s: float | None
    objects: Sequence[Mapping[str, Any]]
    unit: Unit = Unit.PIXELS
    size_px: tuple[float, float] | None = None
    unsaid: frozenset[Unsaid] = field(default_factory=frozenset)
    domain: str = ""

    def __post_init__(self) -> None:
        """Add to `unsaid` what the other attributes lack."""
        lacks = {
            Unsaid.SENSOR: self.sensor is None,
            Unsaid.FRAME_NUMBER: self.number is None,
            Unsaid.FRAME_TIME: self.time_s is None,
            Unsaid.RESOLUTION: self.size_px is None,
            Unsaid.CONFIDENCE: any("confidence" not in entry for entry in self.objects),
        }
        found = self.unsaid.union(name for name, is_so in lacks.items() if is_so)
        structs.force_setattr(self, "unsaid", found)


class FeedColumns(Struct, frozen=True, eq=False):
    """The frames of many messages, as the feed has them.

    Attributes:
        frames: The frames, in pixels; the sequence of a frame is its sensor. An object without a
            confidence has NaN.
        unsaid: Information that some of the messages lack.
    """

    frames: Annotations
    unsaid: frozenset[Unsaid]


class Schema(Struct, frozen=True):
    """A schema of messages; a plug-in of the group ``vidscore.schemas`` is one.

    Attributes:
        name: Name that users type.
        title: A short description.
        read: Reads the frames of one message, depending only on its bytes. Raises an `InputError`
            with every fault if they break the schema.
        framing: How messages are separated in a stream of bytes.
        message_types: Types of these messages in recordings.
        read_many: Reads the frames of many messages at once, one each and the same as `read`, given
            the messages and the number of an object's coordinates. If in doubt, it raises a
            `ValueError`, and each message is read on its own. None if there is no faster way.
    """

    name: str
    title: str
    read: Callable[[bytes], list[FeedFrame]]
    framing: Framing = Framing.LINES
    message_types: tuple[str, ...] = ()
    read_many: Callable[[Sequence[bytes], int], FeedColumns] | None = None


class Reading:
    """Gets values from a parsed message and collects faults."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def fault(self, place: str, found: str, expected: str) -> None:
        """Add a fault."""
        self.faults.append(Fault(found, expected, field=place or None))

    def number(self, value: object, place: str) -> float:
        """A finite number; else 0 and a fault."""
        if type(value) in (int, float) and math.isfinite(value):  # type: ignore[arg-type]
            return float(value)  # type: ignore[arg-type]
        self.fault(place, _shown(value), "a finite number")
        return 0.0

    def optional_number(self, value: object, place: str) -> float | None:
        """A finite number, or None if it is absent."""
        return None if value is None else self.number(value, place)

    def text(self, value: object, place: str) -> str:
        """A string, or the digits of an integer; else an empty string and a fault."""
        if type(value) is int:
            return str(value)
        if isinstance(value, str):
            return value
        self.fault(place, _shown(value), "a string")
        return ""

    def entries(self, value: object, place: str) -> list[Any]:
        """An array; else an empty one and a fault."""
        if isinstance(value, list):
            return value
        self.fault(place, _shown(value), "an array")
        return []

    def entry(self, value: object, place: str) -> Mapping[str, Any]:
        """A JSON object; else an empty one and a fault."""
        if isinstance(value, dict):
            return value
        self.fault(place, _shown(value), "an object")
        return {}

    def done(self) -> None:
        """Finish reading.

        Raises:
            InputError: With every fault, if there are any.
        """
        if self.faults:
            raise InputError(self.faults)


def _shown(value: object) -> str:
    return "nothing" if value is None else show_value(value)


def json_object(message: bytes, expected: str) -> dict[str, Any]:
    """Parse a message as a JSON object.

    Raises:
        InputError: If it is not one, or is too long.
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
    """Convert an ISO 8601 time to seconds since 1970; without an offset, it is UTC."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        reading.fault(place, show_value(text), "a time, such as 2026-01-31T12:00:00.040Z")
        return None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def frame_number(text: str) -> int | None:
    """A frame number from an identity; None if that is not a number."""
    return int(text) if _DIGITS.fullmatch(text) else None


def track_number(identity: str) -> int | None:
    """An integer for a track's identity, always the same; None if that is empty."""
    if not identity:
        return None
    if _DIGITS.fullmatch(identity):
        return int(identity)
    digest = blake2b(identity.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def detection(
    label: str, box: Sequence[float], confidence: float | None, track: int | None
) -> dict[str, Any]:
    """An object for JSON lines; unknown values are omitted."""
    entry: dict[str, Any] = {"label": label} if label else {}
    entry["box"] = list(box)
    if confidence is not None:
        entry["confidence"] = confidence
    if track is not None:
        entry["track"] = track
    return entry
