"""What teams see of their scores as messages."""

from __future__ import annotations

from vidscore_protos.v1 import organiser_pb2
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.policy_preview import SeenScores, TeamView


def write_team_view(view: TeamView) -> organiser_pb2.TeamView:
    """What a team sees, and would see, as a message."""
    return organiser_pb2.TeamView(
        team=view.team,
        evaluator=view.evaluator,
        now=_write_seen(view.benchmark, view.now),
        then=_write_seen(view.benchmark, view.then),
    )


def _write_seen(benchmark: str, seen: SeenScores) -> organiser_pb2.SeenScores:
    name = str(SubmissionName(benchmark, seen.submission)) if seen.submission else ""
    return organiser_pb2.SeenScores(
        submission=name,
        rank=seen.rank,
        values=[
            organiser_pb2.SeenValue(measure=measure, value=value)
            for measure, value in seen.values.items()
        ],
        score_count=seen.score_count,
        curve_count=seen.curve_count,
        outcome_submission_count=seen.outcome_submission_count,
    )
