"""Times and durations to messages and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from vidscore_evaluators.errors import Fault, InputError


def write_time(time: datetime | None) -> Timestamp | None:
    """A time as a message; None stays None, which leaves a field absent."""
    if time is None:
        return None
    message = Timestamp()
    message.FromDatetime(time)
    return message


def read_time(message: Timestamp, field: str) -> datetime:
    """A message as a time in UTC.

    Raises:
        InputError: If it lies outside the years 1 to 9999.
    """
    try:
        return message.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError):
        found = f"{message.seconds} s since 1970"
        raise InputError([Fault(found, "a time in the years 1 to 9999", field=field)]) from None


def write_duration(seconds: float) -> Duration:
    """Seconds as a message."""
    message = Duration()
    message.FromTimedelta(timedelta(seconds=seconds))
    return message


def read_seconds(message: Duration) -> float:
    """A message as seconds."""
    return message.seconds + message.nanos / 1e9
