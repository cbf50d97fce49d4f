"""The table ``live`` of a benchmark's definition, as a dictionary and as a message, both ways."""

from __future__ import annotations

from typing import Any

from vidscore_client._convert import (
    PLAIN,
    UNLESS_DEFAULT,
    Fields,
    Form,
    entries,
    extend,
    fill_message,
    show_message,
)
from vidscore_client.errors import InputError
from vidscore_protos.v1 import benchmark_pb2

FRAME_SOURCES = {
    "held by the participant": benchmark_pb2.FRAME_SOURCE_PARTICIPANT,
    "sent by the organiser": benchmark_pb2.FRAME_SOURCE_ORGANISER,
}
"""Where the frames of a live benchmark come from, as people say it."""


def frame_source(number: int) -> str:
    """Where frames come from; what this client does not know is ``unknown``."""
    words = {int(source): word for word, source in FRAME_SOURCES.items()}
    return words.get(number, "unknown")


def _fill_source(message: Any, key: str, value: Any, path: str) -> None:
    if value not in FRAME_SOURCES:
        raise InputError(path, repr(value)[:80], " or ".join(map(repr, FRAME_SOURCES)))
    setattr(message, key, FRAME_SOURCES[value])


def _show_source(message: Any, key: str) -> str | None:
    number = getattr(message, key)
    return frame_source(number) if number else None


def _fill_times(message: Any, key: str, value: Any, path: str) -> None:
    extend(getattr(message, key), value, path, "a list of seconds")


_SEQUENCE: Fields = {
    "domain": UNLESS_DEFAULT,
    "name": PLAIN,
    "frame_rate": PLAIN,
    "frame_times_s": Form(_fill_times, lambda message, key: list(getattr(message, key)) or None),
}
_LIVE: Fields = {
    "frame_rate": PLAIN,
    "frames": Form(_fill_source, _show_source),
    "sequences": entries(_SEQUENCE),
}


def _fill_live(message: Any, _key: str, value: Any, path: str) -> None:
    message.live.SetInParent()
    fill_message(message.live, path, value, _LIVE)


def _show_live(message: Any, _key: str) -> dict[str, Any] | None:
    return show_message(message.live, _LIVE) if message.HasField("live") else None


LIVE = Form(_fill_live, _show_live)
"""The form of the key ``live`` of a definition."""
