"""Which names of a benchmark participants may know."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class SubmittedNames:
    """Names that a submission has, which its team knows.

    Attributes:
        domains: Domains.
        labels: Labels, without their case: that is not looked at by every evaluator.
    """

    domains: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()

    def __or__(self, other: SubmittedNames) -> SubmittedNames:
        """Both together."""
        return SubmittedNames(self.domains | other.domains, self.labels | other.labels)

    def has(self, domain: str | None, label: str | None) -> bool:
        """Whether a domain and a label are among them; None is no name."""
        return (domain is None or domain in self.domains) and (
            label is None or label.casefold() in self.labels
        )


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
