"""Records as rows and back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from vidscore_server.store.records import Role, SubmissionState

RecordType = TypeVar("RecordType")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ENUMERATIONS = {"state": SubmissionState, "role": Role}


def to_row(record: Any) -> dict[str, Any]:
    """Column values of a record; times become whole microseconds."""
    return {name: _to_column(getattr(record, name)) for name in _names_of(type(record))}


def from_row(record: type[RecordType], row: Mapping[Any, Any], **given: Any) -> RecordType:
    """Build a record from a row.

    Args:
        record: Its class.
        row: Columns by name; those that the record has no field for are passed over.
        given: Fields that the row does not have.
    """
    names = _names_of(record)
    values = {name: _from_column(name, row[name]) for name in names if name not in given}
    return record(**values, **given)


def from_microseconds(microseconds: int) -> datetime:
    """The time, in UTC."""
    return _EPOCH + microseconds * _MICROSECOND


def to_microseconds(time: datetime) -> int:
    """Whole microseconds since 1970, UTC."""
    return (time - _EPOCH) // _MICROSECOND


def _names_of(record: type[Any]) -> tuple[str, ...]:
    names: tuple[str, ...] = record.__match_args__  # the fields of a dataclass, in order
    return names


def _to_column(value: Any) -> Any:
    return to_microseconds(value) if isinstance(value, datetime) else value


def _from_column(name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "time" or name.endswith("_time"):
        return from_microseconds(value)
    return _ENUMERATIONS[name](value) if name in _ENUMERATIONS else value
