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
        rank: Rank from 1 on; equal scores share one. 0: the row is not ranked.
        team: Team.
        submission: Full name of the submission, if it is visible; otherwise empty.
        title: Its title.
        seal_time: When it was sealed.
        scores: Released measures by name; None if one is undefined.
        truth_revision: Revision of the truth of the scores.
        evaluator_version: Version of the evaluator of the scores.
        apart: Whether the scores cannot be compared with those of ranked rows, because the
            submission could not be scored again under the same truth, evaluator and parameters.
        tier: Tier from 1 on: systems of a tier do not differ significantly from its best system.
            None if it has none.
        first_probability: Probability of being first on other sequences; None if it is not shown.
        submission_count: Number of the team's submissions that count as scored.
        curves: Curves, for the first rows, if the policy releases them.
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
        rows: The rows, best rank first, followed by rows that cannot be compared.
        ranking: Ranking measures, in rank order.
        truth_revision: Revision of the truth of the ranked scores; 0 for none.
        newest_truth_revision: Newest complete revision of the truth; 0 for none.
        submissions_to_rescore: Number of scored submissions to score again before the board moves,
            for organisers only.
        publishable: Whether an organiser may move the board with `publish_leaderboard`.
        tiers_note: Explanation of the tiers, or why there are none; empty from an older server.
        tiers_stale: Whether the tiers are older than the board.
        further_measures: Released measures of the rows that do not rank.
        submission_count: Number of submissions of all teams that count as scored.
        sequence_count: Number of sequences of the complete truth; None if hidden.
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
        advice: How to improve a weak answer, for organisers only; empty for nothing.
    """

    question: str
    answer: str
    advice: str = ""
