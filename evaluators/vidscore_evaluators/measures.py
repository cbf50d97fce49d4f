"""Measures: the scores that an evaluator declares, with all that a reader needs to use them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Direction(StrEnum):
    """Which way a measure gets better."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"
    """A count or a figure that says nothing about quality alone."""


class Dissimilarity(StrEnum):
    """How a measure becomes a dissimilarity: 0 for equal sets, larger for worse ones."""

    NONE = "none"
    VALUE = "value"
    """The measure is one already."""
    ONE_MINUS = "one_minus"
    """1 - value."""


class Averaging(StrEnum):
    """How a measure over many frames comes about."""

    POOLED = "pooled"
    """From counts or sums over all frames, once."""
    MEAN = "mean"
    """The mean of values of smaller parts."""
    MEDIAN = "median"
    """The median of values of smaller parts."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One score that an evaluator reports.

    Attributes:
        name: Name in reports, lower case with underscores.
        description: What it says, in one sentence.
        unit: ``count``, ``ratio``, ``px``, ``px^2`` ...
        minimum: Least value it can take; None where there is none.
        maximum: Greatest value it can take; None where there is none.
        direction: Which way is better.
        averaging: How values over many frames come about.
        dissimilarity: How it becomes a dissimilarity, for questions of trust.
        of_nothing: Value of a system that finds nothing, where the measure has no bound on its
            worse side; None where it has one, or where nothing is known.
    """

    name: str
    description: str
    unit: str = "ratio"
    minimum: float | None = 0.0
    maximum: float | None = 1.0
    direction: Direction = Direction.HIGHER
    averaging: Averaging = Averaging.POOLED
    dissimilarity: Dissimilarity = Dissimilarity.NONE
    of_nothing: float | None = None

    @property
    def useful_range(self) -> tuple[float | None, float | None]:
        """Least and greatest value of systems that are of any use; None where there is none."""
        least, greatest = self.minimum, self.maximum
        if self.direction is Direction.HIGHER and least is None:
            return self.of_nothing, greatest
        if self.direction is Direction.LOWER and greatest is None:
            return least, self.of_nothing
        return least, greatest


def count_measure(name: str, description: str, direction: Direction = Direction.NONE) -> Measure:
    """A measure that is a whole number of things, at least 0."""
    return Measure(name, description, unit="count", maximum=None, direction=direction)
