"""A benchmark's policy: what is shown of scores, what is allowed, what ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from vidscore_evaluators.errors import Fault
from vidscore_evaluators.parameters import parameter
from vidscore_server.hosting.leaderboards import Selection

DAY_S = 86_400
YEAR_S = 366 * DAY_S

FROM_TRUTH = -1
"""As a number of submissions: so many as `default_budget` gives for the truth."""


class Visibility(StrEnum):
    """What participants see of scores."""

    LADDER = "ladder"
    """Progress while it runs, then ranking measures alone, released by the Ladder mechanism."""
    FINAL = "final"
    """Progress while it runs, then the released measures, rounded to the step."""
    LIVE = "live"
    """Live scores on completed sequences, then the whole report."""


class Rescore(StrEnum):
    """How a board moves once what stands on it was scored again."""

    AUTOMATIC = "automatic"
    REVIEW = "review"
    """An organiser looks at the differences and publishes them."""


class QuietAction(StrEnum):
    """What becomes of a submission that nobody continues, and of an open one at closing."""

    SEAL = "seal"
    CANCEL = "cancel"


@dataclass(frozen=True)
class Policy:
    """The choices of an organiser; `vidscore_evaluators.parameters` reads and checks them."""

    visibility: Literal["ladder", "final", "live"] = parameter(
        "ladder", "What participants see of scores."
    )
    ladder_step: float = parameter(
        0.01,
        "Scores are rounded to it, unless they are live; under ladder one is released only where "
        "it beats the team's best by so much.",
        exclusive_minimum=0.0,
    )
    released_measures: tuple[str, ...] = parameter(
        (), "Measures that are released besides those that rank; none are under ladder."
    )
    minimum_frames: int = parameter(
        100, "Fewest scored frames that a live score may cover.", minimum=1
    )
    quiet_timeout_s: float = parameter(
        3600.0,
        "A submission to which nothing is appended for so long is sealed or cancelled.",
        unit="s",
        minimum=1.0,
        maximum=YEAR_S,
    )
    quiet_action: Literal["seal", "cancel"] = parameter(
        "seal", "What becomes of a quiet submission, and of an open one at closing."
    )
    truth_timeout_s: float = parameter(
        7.0 * DAY_S,
        "A submission that waits for truth is scored on what is there after so long.",
        unit="s",
        minimum=1.0,
        maximum=YEAR_S,
    )
    submissions_per_day: int = parameter(
        0, "Scored submissions that a team may have in a day (UTC); 0: no limit.", minimum=0
    )
    submissions_in_all: int = parameter(
        FROM_TRUTH,
        "Scored submissions that a team may have in all; 0: no limit; "
        "-1: as many as the size of the truth allows.",
        minimum=FROM_TRUTH,
    )
    ranking_measure: str = parameter(
        "", "Measure that ranks in place of the evaluator's own order; empty: that order."
    )
    selection: Literal["best", "latest"] = parameter(
        "best", "Which submission of a team stands on the board."
    )
    earlier_first: bool = parameter(
        False, "Whether of equal scores the submission that was sealed first ranks first."
    )
    public_board: bool = parameter(True, "Whether viewers and participants see the board.")
    rescore: Literal["automatic", "review"] = parameter(
        "automatic",
        "Whether a board moves by itself once all was scored again, or an organiser publishes it.",
    )

    @property
    def shown(self) -> Visibility:
        """`visibility` as what it means."""
        return Visibility(self.visibility)

    def faults(self) -> Iterator[Fault]:
        """What is wrong between choices that are right alone."""
        if self.shown is not Visibility.LADDER:
            return
        if self.released_measures:
            found = ", ".join(self.released_measures)[:80]
            expected = "no further measures where visibility is ladder"
            yield Fault(found, expected, field="released_measures")
        if Selection(self.selection) is Selection.LATEST:
            expected = "best, because ladder releases nothing but a team's best"
            yield Fault("latest", expected, field="selection")
