"""The demo's performers: stream detections to a hosted benchmark, as a live system would."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from vidscore_cli.demo_board import Board
from vidscore_cli.demo_scenes import Show
from vidscore_cli.hosted_submissions import refuse_unscored
from vidscore_cli.live_scores import LiveDisplay
from vidscore_cli.pacing import steps_at
from vidscore_cli.remote import open_client, to_frames
from vidscore_cli.server_choice import ServerChoice
from vidscore_client import Delivery, SubmissionUpdate


class Performer:
    """One team.

    Args:
        team: Its name, and that of its submissions.
        board: Told how far the team has come.
        display: Told that there is something new on the board.
    """

    def __init__(self, team: str, board: Board, display: LiveDisplay) -> None:
        """Stream nothing yet."""
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
