"""A benchmark's policy: what participants see, may do and are ranked by; budgets; names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from vidscore_evaluators.errors import Fault
from vidscore_evaluators.parameters import parameter

DAY_S = 86_400
YEAR_S = 366 * DAY_S

FROM_TRUTH = -1
"""As a number of submissions: the number that `default_budget` gives for the truth."""

MOST_SUBMISSIONS = 2**31 - 1
"""Maximum of submissions of a team, per day or in all: the greatest number on the wire."""

STEP_FROM_TRUTH = 0.0
"""As a step: the step that `default_step` gives for the truth."""


class Visibility(StrEnum):
    """What participants see of scores."""

    LADDER = "ladder"
    """Progress while it runs, then ranking measures alone, released by the Ladder mechanism."""
    FINAL = "final"
    """Progress while it runs, then the released measures, rounded to the step."""
    LIVE = "live"
    """Live scores on completed sequences, then the whole report."""
    BOOTSTRAP = "bootstrap"
    """As ``ladder``, but the Ladder gets a bootstrap estimate of the score."""

    @property
    def is_ladder(self) -> bool:
        """Whether scores are released by the Ladder mechanism."""
        return self in {Visibility.LADDER, Visibility.BOOTSTRAP}


@dataclass(frozen=True)
class Policy:
    """The choices of an organiser; `vidscore_evaluators.parameters` reads and checks them."""

    visibility: Literal["ladder", "final", "live", "bootstrap"] = parameter(
        "ladder", "What participants see of scores."
    )
    ladder_step: float = parameter(
        STEP_FROM_TRUTH,
        "Step to which scores are rounded, unless they are live. Under ladder and bootstrap a "
        "score is released only if it beats the team's best by a step. 0: as the truth allows.",
        minimum=0.0,
    )
    released_measures: tuple[str, ...] = parameter(
        (),
        "Measures that are released besides those that rank; ladder and bootstrap release none.",
    )
    outcomes: Literal["none", "own"] = parameter(
        "none",
        "Outcomes of a score that participants see: none, or whether each of their team's own "
        "detections is right, which reveals where objects are. Each score for which outcomes are "
        "shown counts as one more submission.",
    )
    minimum_frames: int = parameter(
        100,
        "Minimum number of scored frames that a live score covers.",
        minimum=1,
        maximum=1_000_000_000,
    )
    quiet_timeout_s: float = parameter(
        3600.0,
        "Time without an append after which a submission is sealed or cancelled.",
        unit="s",
        minimum=1.0,
        maximum=YEAR_S,
    )
    quiet_action: Literal["seal", "cancel"] = parameter(
        "seal",
        "What happens to a quiet submission, and to an open one when the benchmark closes.",
    )
    truth_timeout_s: float = parameter(
        7.0 * DAY_S,
        "Time after which a submission that waits for truth is scored on the frames that have it.",
        unit="s",
        minimum=1.0,
        maximum=YEAR_S,
    )
    submissions_per_day: int = parameter(
        0,
        "Maximum number of scored submissions of a team per day (UTC); 0: no limit.",
        minimum=0,
        maximum=MOST_SUBMISSIONS,
    )
    submissions_in_all: int = parameter(
        FROM_TRUTH,
        "Maximum number of scored submissions of a team in all; 0: no limit; "
        "-1: as many as the size of the truth allows.",
        minimum=FROM_TRUTH,
        maximum=MOST_SUBMISSIONS,
    )
    ranking_measure: str = parameter(
        "", "Measure that ranks instead of the evaluator's own order; empty: that order."
    )
    selection: Literal["best", "latest"] = parameter(
        "best", "Which submission of a team is on the board."
    )
    earlier_first: bool = parameter(
        False, "Whether, among equal scores, the submission that was sealed first ranks first."
    )
    private_sequences: tuple[str, ...] = parameter(
        (),
        "Sequences whose scores are not released before the benchmark closes, and which decide "
        "the final order; as sequence in any domain, or as domain/sequence. A number instead of "
        "names is private_share.",
    )
    private_share: float = parameter(
        0.0,
        "Fraction of the sequences that is private; the server draws them once the truth is "
        "complete. 0: none, or those that private_sequences names.",
        minimum=0.0,
        exclusive_maximum=1.0,
    )
    final_submissions: int = parameter(
        2,
        "Maximum number of submissions that a team may choose for the final order.",
        minimum=1,
        maximum=100,
    )
    public_board: bool = parameter(True, "Whether viewers and participants see the board.")
    public_board_web: bool = parameter(
        False, "Whether the benchmark and its board are shown without a token, as to viewers."
    )
    release_curves: bool = parameter(
        False,
        "Whether participants see curves: of their own scores, and of the best systems on the "
        "board; always if scores are live.",
    )
    rescore: Literal["automatic", "review"] = parameter(
        "automatic",
        "Whether a board moves by itself once all submissions are scored again, or only when an "
        "organiser publishes it.",
    )

    @property
    def shown(self) -> Visibility:
        """`visibility` as an enum."""
        return Visibility(self.visibility)

    @property
    def shows_own_outcomes(self) -> bool:
        """Whether participants see the outcomes of their own detections."""
        return self.outcomes == "own"

    @property
    def keeps_private(self) -> bool:
        """Whether some sequences are private."""
        return bool(self.private_sequences) or self.private_share > 0.0

    @property
    def releases_curves(self) -> bool:
        """Whether participants see curves."""
        return self.release_curves or self.shown is Visibility.LIVE

    def faults(self) -> Iterator[Fault]:
        """Faults of combinations of choices that are valid alone."""
        if self.private_sequences and self.private_share:
            found = f"{self.private_share:g} together with private_sequences"
            yield Fault(found, "a fraction or names, not both", field="private_share")
        if self.public_board_web and not self.public_board:
            expected = "false, or public_board = true: viewers do not see the board either"
            yield Fault("true", expected, field="public_board_web")
        if self.shown.is_ladder:
            yield from self._ladder_faults()

    def _ladder_faults(self) -> Iterator[Fault]:
        """Faults of choices that would release more than the Ladder does."""
        name = self.visibility
        if self.released_measures:
            found = ", ".join(self.released_measures)[:80]
            expected = f"no further measures if visibility is {name}"
            yield Fault(found, expected, field="released_measures")
        if self.selection == "latest":
            expected = f"best, because {name} releases nothing but a team's best"
            yield Fault("latest", expected, field="selection")
        if self.shows_own_outcomes:
            expected = f"none, because outcomes reveal every score, and {name} releases few"
            yield Fault("own", expected, field="outcomes")
        if self.release_curves:
            expected = f"false, because curves reveal every score, and {name} releases few"
            yield Fault("true", expected, field="release_curves")


# --- Budgets: how many scores of hidden truth a team may see before they reveal it

GAIN = 0.2
"""Maximum gain beyond chance that all answers together may give a team, in `default_budget`."""

SMALLEST_BUDGET = 5
"""Minimum budget, because fewer are of no use to a team; it applies until the truth is complete."""

SMALLEST_LIVE_BUDGET = 3
"""The same with live scores: each submission gets an answer for every sequence."""

LARGEST_BUDGET = 1000


class TruthSize(Struct, frozen=True):
    """Size of a complete truth without private sequences, because no answer depends on them.

    Attributes:
        objects: Objects in all frames.
        sequences: Sequences.
    """

    objects: int
    sequences: int


def default_budget(objects: int, sequences: int, *, least: int = SMALLEST_BUDGET) -> int:
    """Default number of submissions that a team may have scored on a hidden truth in all.

    A holdout of n independent samples that answers k adaptive questions, each with its score, can
    be overfitted by about sqrt(k / n): Blum and Hardt, "The Ladder: A Reliable Leaderboard for
    Machine Learning Competitions" (ICML 2015), section 4, give an attack that does it; Dwork,
    Feldman, Hardt, Pitassi, Reingold and Roth, "The reusable holdout: Preserving validity in
    adaptive data analysis" (Science 349, 2015), the bound for answering from the samples as they
    are. With a gain of at most g this allows k = g^2 n questions, one for every 25 samples if g is
    0.2. The Ladder allows more, but needs a bounded score and independent samples.

    Objects are not independent: those of a sequence are often the same thing, frame after frame.
    The number of independent samples is at most the number of objects, and at least the number of
    sequences with objects; n is the geometric mean of both, because the truth itself does not tell
    how similar its frames are.

    Args:
        objects: Number of objects behind one shown score.
        sequences: Number of sequences behind it.
        least: Minimum budget.

    Returns:
        From `least` to `LARGEST_BUDGET`.
    """
    samples = math.sqrt(objects * min(objects, sequences))
    return min(max(least, math.floor(GAIN**2 * samples)), LARGEST_BUDGET)


def budget_of(policy: Policy, size: TruthSize | None) -> int:
    """Submissions in all that a team may have scored; 0 for any number.

    With live scores, each sequence has its own scores: then one answer covers one sequence.

    Args:
        policy: The benchmark's policy.
        size: Size of the newest complete truth; None while there is none.
    """
    if policy.submissions_in_all != FROM_TRUTH:
        return policy.submissions_in_all
    size = size or TruthSize(0, 0)
    if policy.shown is Visibility.LIVE:
        objects = size.objects // max(1, size.sequences)
        return default_budget(objects, 1, least=SMALLEST_LIVE_BUDGET)
    return default_budget(size.objects, size.sequences)


# --- The step: the smallest difference between scores that is more than chance

LEAST_STEP = 0.01
"""Minimum default step, for a large truth."""

SPREAD = 0.2
"""Standard deviation of a system's scores between sequences, assumed by `standard_error`."""

_READABLE = (Decimal(1), Decimal(2), Decimal(5), Decimal(10))


def standard_error(objects: int, sequences: int) -> float:
    """Standard error of a ranking measure over a truth, for any submissions.

    Before any submission, nothing can be resampled, and a figure computed from a submission would
    reveal something about the truth. So this is a bound for measures from 0 to 1: the error of a
    proportion over all objects, which is largest for one half (a variance of 0.25), plus a spread
    of 0.2 between sequences, which averages out over their number only.

    Args:
        objects: Number of objects behind a score.
        sequences: Number of sequences with objects.
    """
    return math.sqrt(0.25 / max(1, objects) + SPREAD**2 / max(1, sequences))


def default_step(size: TruthSize | None, span: float = 1.0) -> float:
    """The step if the policy sets none: no finer than the truth can distinguish systems.

    Args:
        size: Size of the newest complete truth; None, if there is none yet, counts as one object.
        span: Range of the measure that ranks first.

    Returns:
        At least `LEAST_STEP` of the span, rounded up to 1, 2 or 5 times a power of ten.
    """
    size = size or TruthSize(0, 0)
    error = max(LEAST_STEP, standard_error(size.objects, size.sequences))
    return readable_above(error * span)


def readable_above(value: float) -> float:
    """Round a positive value up to 1, 2 or 5 times a power of ten."""
    exact = Decimal(repr(value))
    unit = Decimal(1).scaleb(exact.adjusted())
    return float(next(step * unit for step in _READABLE if step * unit >= exact))


# --- Public names


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


class SubmittedNames(Struct, frozen=True):
    """Names in a submission, which its team knows.

    Attributes:
        domains: Domains.
        labels: Labels, case-folded, because not every evaluator respects case.
    """

    domains: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()

    def __or__(self, other: SubmittedNames) -> SubmittedNames:
        """The union of both."""
        return SubmittedNames(self.domains | other.domains, self.labels | other.labels)

    def has(self, domain: str | None, label: str | None) -> bool:
        """Whether a domain and a label are among them; None always is."""
        return (domain is None or domain in self.domains) and (
            label is None or label.casefold() in self.labels
        )


def in_order(kinds: Iterable[NameKind]) -> list[str]:
    """Kinds as texts, in the order in which they are declared."""
    chosen = set(kinds)
    return [kind.value for kind in NameKind if kind in chosen]


def withheld_warning(public: frozenset[NameKind]) -> str:
    """Warning to every submission if names are withheld; otherwise empty.

    It depends on `public` only, so nobody learns a name from it. Frame counts, which are withheld
    unless an organiser publishes them, are mentioned only beside other names: nobody would read a
    warning that every submission gets.
    """
    if public >= DEFAULT_PUBLIC_NAMES:
        return ""
    *others, last = (_WORDS[kind] for kind in NameKind if kind not in public)
    words = f"{', '.join(others)} and {last}" if others else last
    return (
        f"the benchmark does not publish its {words}: those of the submission are not checked, and "
        "detections with unknown ones get no score"
    )
