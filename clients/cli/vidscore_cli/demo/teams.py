"""The demo's organiser and participants, who use a server as people would."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from vidscore_cli.demo.board import Board
from vidscore_cli.demo.scenes import Show
from vidscore_cli.hosted import refuse_unscored
from vidscore_cli.live import LiveDisplay, steps_at
from vidscore_cli.remote import geometry_of, open_client, to_frames, to_reports
from vidscore_cli.sites import ServerChoice
from vidscore_client import Client, Delivery, Leaderboard, SubmissionUpdate
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.report import Report

MINIMUM_FRAMES = 5
"""Frames that a live score covers at least: one of the short videos."""


class Organiser:
    """Does what an organiser does.

    Args:
        client: A client with an organiser's token.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def host(self, show: Show) -> None:
        """Create a benchmark and upload its truth."""
        detections = next(iter(show.detections.values()))
        self._client.benchmarks.create(
            show.benchmark,
            {
                **to_dict(show.specification),
                "truth_geometry": geometry_of(show.truth),
                "detection_geometry": geometry_of(detections),
                "description": f"A simulated competition over {show.about}.",
                "policy": {
                    "visibility": "live",
                    "minimum_frames": MINIMUM_FRAMES,
                    "public_board_web": True,
                },
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


class Participant:
    """One team.

    Args:
        team: Its name, and that of its submissions.
        board: Told how far the team has come.
        display: Told that there is something new on the board.
    """

    def __init__(self, team: str, board: Board, display: LiveDisplay) -> None:
        self._team = team
        self._board = board
        self._display = display

    def stream(
        self,
        server: ServerChoice,
        show: Show,
        speed: float,
        pool: ThreadPoolExecutor,
        cut: Callable[[], None] | None,
    ) -> None:
        """Stream the detections of a show, frame by frame, and wait for the score.

        Args:
            server: The server, and the team's token.
            show: The show.
            speed: How many times faster than real time.
            pool: Where the submission is watched meanwhile.
            cut: Breaks the connection; called halfway.

        Raises:
            NotScoredError: If the submission ends without a score.
        """
        detections = show.detections[self._team]
        halfway = detections.frame_count // 2
        delivery = Delivery(on_acknowledged=lambda count: self._take_frames(show, count))
        with (
            open_client(server) as client,
            client.submit(show.benchmark, self._team, delivery=delivery) as stream,
        ):
            watching = pool.submit(
                client.submissions.wait,
                stream.submission,
                on_change=lambda update: self._take_update(show, update),
            )
            for step in steps_at(show.rate_fps * speed, detections, detections):
                stream.send_batch(to_frames(step.detections))
                if cut is not None and step.frames_sent >= halfway:
                    cut()
                    cut = None
            stream.seal(expected_frame_count=detections.frame_count)
            refuse_unscored(watching.result())

    def _take_frames(self, show: Show, count: int) -> None:
        self._board.take_frames(self._team, show, count)
        self._display.changed()

    def _take_update(self, show: Show, update: SubmissionUpdate) -> None:
        for score in update.scores:
            self._board.take_score(self._team, show, score.report.value(show.headline))
        self._display.changed()
