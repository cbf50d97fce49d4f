"""Leaderboards of hosted benchmarks, and the checklist of their design."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from vidscore_client.reports import Curve


@dataclass(frozen=True)
class LeaderboardRow:
    """One submission on the board.

    Attributes:
        rank: Rank from 1 on; equal scores share one. 0 if the row stands apart.
        team: Team.
        submission: Full name of the submission, where it may be seen; otherwise empty.
        title: Its title.
        seal_time: When it was sealed.
        scores: Released measures by name; None if one is undefined.
        truth_revision: Revision of the truth that the scores are under.
        evaluator_version: Version of the evaluator that they are by.
        apart: Whether they cannot be compared with those of the ranked rows: the submission could
            not be scored again under the same truth, evaluator and parameters.
        tier: Tier from 1 on: the difference of systems in one tier to the best of them is not
            significant. None if it has none.
        first_probability: How probable it is to be first on other sequences; None if that is
            not shown.
        submission_count: Submissions of the team that count as scored.
        curves: Curves of the first rows, where the policy releases them.
        disqualification: Why the submission is disqualified and not ranked; empty if it is not.
    """

    rank: int
    team: str
    submission: str
    title: str
    seal_time: datetime | None
    scores: Mapping[str, float | None]
    truth_revision: int = 0
    evaluator_version: str = ""
    apart: bool = False
    tier: int | None = None
    first_probability: float | None = None
    submission_count: int = 0
    curves: tuple[Curve, ...] = ()
    disqualification: str = ""


@dataclass(frozen=True)
class Leaderboard:
    """Submissions in rank order.

    Attributes:
        rows: The rows, best rank first, and after them those that stand apart.
        ranking: Measures that rank, first one first.
        truth_revision: Revision of the truth that the ranked scores are under; 0 for none.
        newest_truth_revision: Newest revision of the truth that is complete; 0 for none.
        submissions_to_rescore: Scored submissions that are to be scored again before the board
            moves, for organisers alone.
        publishable: Whether an organiser may move the board with `publish_leaderboard`.
        tiers_note: What the tiers are, or why there are none; empty from an earlier server.
        tiers_stale: Whether the tiers are older than the board.
        further_measures: Measures of the rows that do not rank: those released beside.
        submission_count: Submissions of all teams that count as scored.
        sequence_count: Sequences of the complete truth; None if it may not be known.
    """

    rows: tuple[LeaderboardRow, ...]
    ranking: tuple[str, ...]
    truth_revision: int
    newest_truth_revision: int = 0
    submissions_to_rescore: int = 0
    publishable: bool = False
    further_measures: tuple[str, ...] = ()
    submission_count: int = 0
    sequence_count: int | None = None
    tiers_note: str = ""
    tiers_stale: bool = False


@dataclass(frozen=True)
class ChecklistItem:
    """A question about the design of a benchmark.

    Attributes:
        question: The question.
        answer: The answer.
        advice: What to do where the answer is weak, for organisers alone; empty for nothing.
    """

    question: str
    answer: str
    advice: str = ""
