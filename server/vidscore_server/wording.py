"""Numbers with what they count, in messages."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """``1 frame``, ``2 frames``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def are(count: int) -> str:
    """``is`` for one thing, ``are`` for any other number of them."""
    return "is" if count == 1 else "are"
