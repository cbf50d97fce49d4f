"""Quotas: how many submissions a team may have scored, by day and in all.

Charged for what is scored or on its way there; what fails or is cancelled costs nothing.
"""

from __future__ import annotations

from datetime import datetime

from vidscore_server.errors import QuotaError
from vidscore_server.hosting.policy import Policy
from vidscore_server.store.contract import Reader


def refuse_over_quota(
    reader: Reader, benchmark: str, team: str, policy: Policy, now: datetime
) -> None:
    """Refuse where a team has more than it may; count what is about to be, too.

    Args:
        reader: A state that the submission in question is already in.
        benchmark: The benchmark.
        team: The team.
        policy: The benchmark's policy.
        now: The time.

    Raises:
        QuotaError: If a quota is exceeded.
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    quotas = (
        ("submissions_per_day", policy.submissions_per_day, midnight),
        ("submissions_in_all", policy.submissions_in_all, None),
    )
    for name, maximum, since in quotas:
        if maximum and reader.scored_count(benchmark, team, since) > maximum:
            raise QuotaError(
                f"the team's quota {name} of {maximum} is used up; submissions that run count",
                quota=name,
                maximum=str(maximum),
            )
