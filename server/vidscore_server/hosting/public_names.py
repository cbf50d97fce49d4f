"""Which names of a benchmark participants may know."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class NameKind(StrEnum):
    """A kind of names that a benchmark has."""

    SEQUENCES = "sequences"
    """Sequences, with their domains."""
    LABELS = "labels"
    """Labels."""
    FRAME_COUNTS = "frame_counts"
    """First and last frame of each sequence."""


DEFAULT_PUBLIC_NAMES = frozenset({NameKind.SEQUENCES, NameKind.LABELS})

_WORDS = {
    NameKind.SEQUENCES: "sequences",
    NameKind.LABELS: "labels",
    NameKind.FRAME_COUNTS: "frames",
}


def in_order(kinds: Iterable[NameKind]) -> list[str]:
    """Kinds as texts, in the order in which they are declared."""
    chosen = set(kinds)
    return [kind.value for kind in NameKind if kind in chosen]


def withheld_warning(public: frozenset[NameKind]) -> str:
    """What everybody is told who submits where names are kept back; empty where none are.

    It depends on nothing but `public`, so nobody learns a name by it. Frame counts, which are kept
    back unless an organiser publishes them, are mentioned beside others alone: a warning that
    stands under every submission would be read by nobody.
    """
    if public >= DEFAULT_PUBLIC_NAMES:
        return ""
    words = " and ".join(_WORDS[kind] for kind in NameKind if kind not in public)
    return (
        f"the benchmark does not tell its {words}: whether it has those of the submission is not "
        "checked, and detections of others bring no score"
    )
