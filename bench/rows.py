"""Rows of the result: one figure of ours beside one of another program, and a goal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal, NamedTuple

from bench.measuring import Sample

NOISE = 0.1
"""Fraction by which the ratio of the same programs varies over hours on one machine."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on the ratio of two medians.

    Attributes:
        kind: ``times``: the other's figure divided by ours is at least the bound; ``share``: ours
            divided by the other's is at most the bound.
        bound: The bound; None: the ratio is only shown.
        is_open: Whether the goal is known to be missed; the page gives the reason.
    """

    kind: Literal["times", "share"]
    bound: float | None = None
    is_open: bool = False

    def ratio(self, ours: float, other: float) -> float:
        """The ratio that is compared with the bound."""
        return other / ours if self.kind == "times" else ours / other

    def met(self, ratio: float) -> bool | None:
        """Whether the goal is met; None if there is no bound."""
        if self.bound is None:
            return None
        return ratio >= self.bound if self.kind == "times" else ratio <= self.bound

    def met_but_for(self, noise: float, ratio: float) -> bool | None:
        """Whether the goal is met if the ratio may be wrong by the fraction `noise`."""
        return self.met(ratio * (1 + noise) if self.kind == "times" else ratio / (1 + noise))

    def __str__(self) -> str:
        """The goal in a few characters."""
        if self.bound is None:
            return "shown only"
        sign = "at least" if self.kind == "times" else "at most"
        return f"{sign} {self.bound:g}x"


def at_least(bound: float) -> Goal:
    """A goal: ours is at least so many times as fast."""
    return Goal("times", bound)


def at_most(bound: float) -> Goal:
    """A goal: ours takes at most so many times as much as the other."""
    return Goal("share", bound)


def not_yet(goal: Goal) -> Goal:
    """The goal, marked as known to be missed: missing it is not reported as new."""
    return replace(goal, is_open=True)


SHOWN_TIMES = Goal("times")
"""No goal: the other's figure divided by ours is shown."""

SHOWN_SHARE = Goal("share")
"""No goal: ours divided by the other's is shown."""


class Point(NamedTuple):
    """A point of the picture of growth.

    Attributes:
        panel: Name of the quantity on the horizontal axis.
        series: Name of the evaluator.
        x: Value on the horizontal axis.
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
        other: The other's figures.
        other_name: Name of the other: a peer, a plain loop, or a limit.
        goal: Goal for the ratio of the medians.
        unit: Unit of the figures.
        note: A remark for readers, or empty.
        points: The row's points of the picture of growth.
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
        """Whether a goal that should be met is clearly missed, by each way to compare the runs.

        Other load on the machine delays some runs more than others, and programs that use both
        processors more than programs that use one. So the goal may also be met by the best runs of
        both sides, or by processor time. A miss within `NOISE` does not count.
        """
        best = self.goal.ratio(min(self.ours.values), min(self.other.values))
        ratios = [self.ratio, best]
        if self.ours.cpu_s and self.other.cpu_s:
            ratios.append(self.goal.ratio(median(self.ours.cpu_s), median(self.other.cpu_s)))
        missed = [self.goal.met_but_for(NOISE, ratio) is False for ratio in ratios]
        return not self.goal.is_open and all(missed)

    def as_json(self) -> dict[str, Any]:
        """The row for ``results.json``."""
        return {
            "name": self.name,
            "ours": self.ours.median,
            "other": self.other.median,
            "other_name": self.other_name,
            "ratio": self.ratio,
            "goal": str(self.goal),
            "met": self.met,
        }
