"""Figures of reports: what is undefined stays undefined, and rows come in one order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from vidscore_evaluators.report import Block, Number


class Figures(NamedTuple):
    """Every measure of one domain, class and sequence; None stands for all of them."""

    domain: str | None
    class_: str | None
    sequence: str | None
    values: Mapping[str, Number]


def block_of(figures: Sequence[Figures]) -> Block:
    """Figures that all have the same measures as one block of a report."""
    names = figures[0].values if figures else ()
    return Block(
        measures={name: [entry.values[name] for entry in figures] for name in names},
        domains=[entry.domain for entry in figures],
        classes=[entry.class_ for entry in figures],
        sequences=[entry.sequence for entry in figures],
    )


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values that are defined; None where none is."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def ratio(part: int, whole: int) -> float | None:
    """Part of a whole; None where there is no whole."""
    return part / whole if whole else None


def named(names: Iterable[str]) -> list[str]:
    """Each name once, ascending; what has no name has no rows of its own in a report."""
    return sorted({name for name in names if name})


def scopes(domains: Iterable[str]) -> list[str | None]:
    """None for all domains together, and each domain that has a name."""
    return [None, *named(domains)]
