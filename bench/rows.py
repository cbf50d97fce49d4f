"""Rows of the result: one figure of ours beside one of another, and what we want of the two."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal, NamedTuple

from bench.measuring import Sample

NOISE = 0.1
"""Share by which ratios of equal programs differ from one hour of a machine to the next."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What the ratio of two medians should be.

    Attributes:
        kind: ``times`` the other's figure divided by ours must reach the bound, ``share``: ours
            divided by the other's must stay within it.
        bound: The bound; None where the ratio is shown and no more.
        is_open: Whether it is known not to be met yet; the page says what is in the way.
    """

    kind: Literal["times", "share"]
    bound: float | None = None
    is_open: bool = False

    def ratio(self, ours: float, other: float) -> float:
        """The ratio that is held against the bound."""
        return other / ours if self.kind == "times" else ours / other

    def met(self, ratio: float) -> bool | None:
        """Whether the goal is met; None where there is no bound."""
        if self.bound is None:
            return None
        return ratio >= self.bound if self.kind == "times" else ratio <= self.bound

    def met_but_for(self, noise: float, ratio: float) -> bool | None:
        """Whether the goal is met by a ratio that may be off by so much of it."""
        return self.met(ratio * (1 + noise) if self.kind == "times" else ratio / (1 + noise))

    def __str__(self) -> str:
        """The goal in a few characters."""
        if self.bound is None:
            return "shown only"
        sign = "at least" if self.kind == "times" else "at most"
        return f"{sign} {self.bound:g}x"


def at_least(bound: float) -> Goal:
    """Ours is to be so many times as fast."""
    return Goal("times", bound)


def at_most(bound: float) -> Goal:
    """Ours is to take no more than so many times what the other takes."""
    return Goal("share", bound)


def not_yet(goal: Goal) -> Goal:
    """A goal that is known not to be met yet: it stays, and missing it is no news."""
    return replace(goal, is_open=True)


SHOWN_TIMES = Goal("times")
"""No goal: the ratio is shown as how many times as fast ours is."""

SHOWN_SHARE = Goal("share")
"""No goal: the ratio is shown as ours divided by the other's."""


class Point(NamedTuple):
    """A point of a picture of how time grows.

    Attributes:
        panel: What time is drawn against.
        series: Whose time it is.
        x: Place along the panel's axis.
        time_s: The time.
    """

    panel: str
    series: str
    x: float
    time_s: float


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of ours beside another.

    Attributes:
        name: What was measured.
        ours: Our figures.
        other: The other's.
        other_name: What the other is: a peer, a plain loop, or a limit.
        goal: What the ratio of the medians should be.
        unit: Unit of the figures.
        note: What a reader must know, if anything.
        points: Points of the picture of growth that the row knows of.
    """

    name: str
    ours: Sample
    other: Sample
    other_name: str
    goal: Goal
    unit: str = "s"
    note: str = ""
    points: tuple[Point, ...] = ()

    @property
    def ratio(self) -> float:
        """Ratio of the medians."""
        return self.goal.ratio(self.ours.median, self.other.median)

    @property
    def met(self) -> bool | None:
        """Whether the goal is met."""
        return self.goal.met(self.ratio)

    @property
    def is_wrong(self) -> bool:
        """Whether a goal is missed by far that should be met, however one looks at the runs.

        Other work on the machine delays some runs more than others, and whoever uses both
        processors more than who uses one: so the goal may also be met by the best runs of both
        sides, or by processor time. What is left of `NOISE` is
        no miss either.
        """
        best = self.goal.ratio(min(self.ours.values), min(self.other.values))
        ratios = [self.ratio, best]
        if self.ours.cpu_s and self.other.cpu_s:
            ratios.append(self.goal.ratio(median(self.ours.cpu_s), median(self.other.cpu_s)))
        missed = [self.goal.met_but_for(NOISE, ratio) is False for ratio in ratios]
        return not self.goal.is_open and all(missed)

    def as_json(self) -> dict[str, Any]:
        """The row as it stands in ``results.json``."""
        return {
            "name": self.name,
            "ours": self.ours.median,
            "other": self.other.median,
            "other_name": self.other_name,
            "ratio": self.ratio,
            "goal": str(self.goal),
            "met": self.met,
        }
