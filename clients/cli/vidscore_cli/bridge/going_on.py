"""Resuming a source: offsets, and faults of a source that is not the one read before."""

from __future__ import annotations

from vidscore_evaluators.errors import Fault


def offset_and_mark(offset: int | list[int] | None) -> tuple[int, int | None]:
    """An offset, and the CRC-32 that identifies the source; None from older bridges."""
    if isinstance(offset, list):
        return offset[0], offset[1]
    return offset or 0, None


def ends_before(path: str, found: str, begin: int) -> Fault:
    """The fault of a source that now ends before the part that was read."""
    return Fault(found, f"at least the {begin} read before", source=path)


def replaced(path: str, found: str, begin: str) -> Fault:
    """The fault of a source that begins differently from the one read before."""
    expected = f"the source that begins with the {begin} read before"
    return Fault(found, expected, source=path, advice="use another submission for another source")
