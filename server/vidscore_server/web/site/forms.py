"""Forms: their values, their faults, and what a browser has sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, field

from vidscore_evaluators.errors import Fault, fault_lines
from vidscore_server.web.site.service import ServiceError

MOST_FAULTS = 50
"""Maximum number of faults that a page lists."""


class Form(Struct, frozen=True):
    """A form as a page shows it.

    Attributes:
        values: Values of its fields, by name.
        faults: Faults, by field.
        others: Faults that belong to no field of the form.
        message: The refusal, in a sentence; empty if nothing was refused.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    faults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    message: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether it was sent and refused."""
        return bool(self.message or self.faults or self.others)

    def value(self, name: str) -> str:
        """The value of a field."""
        return self.values.get(name, "")

    def faults_of(self, name: str) -> tuple[str, ...]:
        """The faults of a field."""
        return self.faults.get(name, ())


def typed(fields: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a sent form, without files and its key."""
    return {
        name: value for name, value in fields.items() if isinstance(value, str) and name != "csrf"
    }


def read_utc(
    values: Mapping[str, str], names: Iterable[str]
) -> tuple[dict[str, datetime | None], dict[str, tuple[str, ...]]]:
    """Times without an offset, as in UTC; None for an empty field; and faults by field."""
    times: dict[str, datetime | None] = {}
    faults: dict[str, tuple[str, ...]] = {}
    for name in names:
        text = values.get(name, "").strip()
        try:
            times[name] = _in_utc(datetime.fromisoformat(text)) if text else None
        except (ValueError, OverflowError):
            faults[name] = (f"Found {text[:80]}, expected a date and time in UTC.",)
    return times, faults


def refused_by_service(
    values: Mapping[str, str], error: ServiceError, names: Mapping[str, str]
) -> Form:
    """A form that a call refused.

    Args:
        values: The typed values.
        error: The refusal.
        names: Fields of the form by paths of the request, or by their beginnings.
    """
    pairs = [(_field_of(fault.field, names), fault) for fault in error.faults]
    by_field = [(name, fault.description) for name, fault in pairs if name]
    others = [
        ": ".join(filter(None, [fault.field, fault.description]))
        for name, fault in pairs
        if not name
    ]
    # A message that only repeats the faults would say them twice.
    message = "Nothing was changed." if pairs else error.message
    return Form(values, _grouped(by_field), tuple(others[:MOST_FAULTS]), message)


def refused_input(
    values: Mapping[str, str], faults: Iterable[Fault], names: Mapping[str, str]
) -> Form:
    """A form in which faults were found before anything was called.

    Args:
        values: The typed values.
        faults: The faults.
        names: Fields of the form by fields of the input, or by their beginnings.
    """
    pairs = [(_field_of(fault.field or "", names), fault) for fault in faults]
    by_field = [(name, fault.description) for name, fault in pairs if name]
    others = fault_lines([fault for name, fault in pairs if not name], MOST_FAULTS)
    return Form(values, _grouped(by_field), tuple(others), "Nothing was changed.")


def _in_utc(time: datetime) -> datetime:
    return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)


def _field_of(path: str, names: Mapping[str, str]) -> str:
    """Field of a form for a path such as ``benchmark.policy.ladder_step``; empty for none."""
    candidates = [
        known for known in names if path == known or path.startswith((f"{known}[", f"{known}."))
    ]
    return names[max(candidates, key=len)] if candidates else ""


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, text in pairs:
        found.setdefault(name, []).append(text[:1].upper() + text[1:])
    return {name: tuple(texts[:MOST_FAULTS]) for name, texts in found.items()}
