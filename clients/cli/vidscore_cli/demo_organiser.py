"""The demo's organiser: hosts benchmarks, admits teams, and reads the board."""

from __future__ import annotations

from vidscore_cli.demo_scenes import Show
from vidscore_cli.remote import geometry_of, to_frames, to_reports
from vidscore_client import Client, Leaderboard
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import spec_to_dict

MINIMUM_FRAMES = 5
"""Frames that a live score covers at least: one of the short videos."""


class Organiser:
    """Does what an organiser does.

    Args:
        client: A client with an organiser's token.
    """

    def __init__(self, client: Client) -> None:
        """Host nothing yet."""
        self._client = client

    def host(self, show: Show) -> None:
        """Create a benchmark and upload its truth."""
        detections = next(iter(show.detections.values()))
        self._client.benchmarks.create(
            show.benchmark,
            {
                **spec_to_dict(show.specification),
                "truth_geometry": geometry_of(show.truth),
                "detection_geometry": geometry_of(detections),
                "policy": {"visibility": "live", "minimum_frames": MINIMUM_FRAMES},
            },
        )
        truth = [to_frames(show.truth)]
        self._client.benchmarks.upload_truth(show.benchmark, truth, complete=True)

    def admit(self, team: str) -> str:
        """Make a token for a team; gives its secret."""
        return self._client.tokens.create("participant", team=team).secret

    def board(self, show: Show) -> Leaderboard:
        """The leaderboard of a show."""
        return self._client.benchmarks.leaderboard(show.benchmark)

    def report(self, show: Show, submission: str) -> Report:
        """The whole report of a submission, which organisers alone see."""
        [score] = self._client.submissions.scores(f"{show.benchmark}/{submission}")
        [report] = to_reports([score.report])
        return report
