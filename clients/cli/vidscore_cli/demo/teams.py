"""The demo's organiser and participants, which use a server like people, and their board."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct, field
from rich.console import RenderableType

from vidscore_cli.demo.scenes import DETECTORS, Show
from vidscore_cli.hosted import refuse_unscored
from vidscore_cli.live import LiveDisplay, steps_at
from vidscore_cli.output import indented
from vidscore_cli.remote import geometry_of, to_frames, to_reports
from vidscore_cli.report_table import plain_table
from vidscore_client import Client, Delivery, Leaderboard, SubmissionUpdate
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.report import Number, Report
from vidscore_evaluators.report_grids import format_number

MINIMUM_FRAMES = 5
"""Minimum number of frames of a live score: one of the short videos."""


class Board(Struct):
    """Progress of each system in each show; updated by the threads of the streams."""

    shows: Sequence[Show]
    frames: dict[tuple[str, str], int] = field(default_factory=dict)
    scores: dict[tuple[str, str], Number] = field(default_factory=dict)

    def cells(self, system: str, show: Show) -> tuple[str, str]:
        """Number of durable frames, and the score over completed videos."""
        key = (system, show.benchmark)
        score = format_number(self.scores[key]) if key in self.scores else "-"
        return f"{self.frames.get(key, 0)}/{show.truth.frame_count}", score

    def draw(self) -> RenderableType:
        """A table with one line per system."""
        table = plain_table("system")
        for show in self.shows:
            table.add_column(f"{show.benchmark}\nframes", justify="right", min_width=10)
            table.add_column(show.headline_label, justify="right", min_width=9)
        for detector in DETECTORS:
            pairs = (self.cells(detector.name, show) for show in self.shows)
            table.add_row(detector.name, *(cell for pair in pairs for cell in pair))
        return indented(table)

    def line(self) -> str:
        """The same as plain text, one line per system."""
        lines = []
        for detector in DETECTORS:
            line = f"  {detector.name:8}"
            for show in self.shows:
                frames, score = self.cells(detector.name, show)
                line += f"{show.benchmark} {frames:>7} frames, {show.headline_label} {score:10}"
            lines.append(line.rstrip())
        return "\n".join(lines)


class Organiser:
    """Acts as an organiser.

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
        """Create a token for a team, and return its secret."""
        return self._client.tokens.create("participant", team=team).secret

    def board(self, show: Show) -> Leaderboard:
        """The leaderboard of a show."""
        return self._client.benchmarks.leaderboard(show.benchmark)

    def report(self, show: Show, submission: str) -> Report:
        """The whole report of a submission, which only organisers see."""
        [score] = self._client.submissions.scores(f"{show.benchmark}/{submission}")
        [report] = to_reports([score.report])
        return report


class Participant:
    """One team.

    Args:
        team: Its name, and that of its submissions.
        board: Gets the progress of the team.
        display: Redraws the board after a change.
    """

    def __init__(self, team: str, board: Board, display: LiveDisplay) -> None:
        self._team = team
        self._board = board
        self._display = display

    def stream(
        self,
        client: Client,
        show: Show,
        speed: float,
        pool: ThreadPoolExecutor,
        cut: Callable[[], None] | None,
    ) -> None:
        """Stream the detections of a show, frame by frame, and wait for the score.

        Args:
            client: Has the team's token.
            show: The show.
            speed: How many times faster than real time.
            pool: Runs the task that watches the submission.
            cut: Breaks the connection; called halfway.

        Raises:
            NotScoredError: If the submission ends without a score.
        """
        detections = show.detections[self._team]
        halfway = detections.frame_count // 2
        delivery = Delivery(on_acknowledged=lambda count: self._take_frames(show, count))
        with client.submit(show.benchmark, self._team, delivery=delivery) as stream:
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
        self._board.frames[self._team, show.benchmark] = count
        self._display.changed()

    def _take_update(self, show: Show, update: SubmissionUpdate) -> None:
        for score in update.scores:
            value = score.report.value(show.headline)
            self._board.scores[self._team, show.benchmark] = value
        self._display.changed()
