"""`vidscore stream`: replay files to a server, frame by frame, and show the scores move."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.text import Text

from vidscore_cli.inputs import InputChoice, read_data, read_specification
from vidscore_cli.live_scores import LiveDisplay
from vidscore_cli.output import check_output
from vidscore_cli.pacing import frame_total, steps_at
from vidscore_cli.remote import geometry_of, open_client, to_frames, to_reports
from vidscore_cli.report_layout import format_number, overall_grid
from vidscore_cli.report_table import GridView, View
from vidscore_cli.reporting import Presentation, write_reports
from vidscore_cli.selection import select_evaluators
from vidscore_cli.server_choice import ServerChoice
from vidscore_client import Live, LiveReport
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import with_warnings
from vidscore_evaluators.specification import BenchmarkSpec

LIVE_INTERVAL_S = 0.2


@dataclass(frozen=True)
class Replay:
    """What is typed after `vidscore stream`; the names are those of the options."""

    evaluators: tuple[str, ...]
    settings: tuple[str, ...]
    manifest: str | None
    server: ServerChoice
    truth: str
    detections: str
    input_format: str
    image_size: tuple[int, int] | None
    confidence_scale: str | None
    rate_fps: float
    full_speed: bool
    format_: str
    output: str
    sequences: bool
    curves: bool
    strict: bool


class ReplayProgress:
    """How far the server has come, for people; written by the stream's own thread.

    Args:
        frame_count: Frames that are sent in all.
        ranking: For each evaluator, the measures by which systems are ranked.
    """

    def __init__(self, frame_count: int, ranking: Mapping[str, Sequence[str]]) -> None:
        self._frame_count = frame_count
        self._ranking = ranking
        self._waiting = 0
        self._paired = 0
        self._reports: list[Report] = []

    def take(self, live: LiveReport) -> None:
        """Keep the newest report."""
        coverage = live.coverage
        self._reports = to_reports(live.reports)
        self._paired = coverage.paired_frames
        self._waiting = coverage.frames_waiting_for_detections + coverage.frames_waiting_for_truth

    def draw(self) -> RenderableType:
        """Frames, and the scores over everything so far."""
        if not self._reports:
            return Text(self._frames())
        return Group(Text(self._frames()), GridView(overall_grid(self._reports)))

    def line(self) -> str:
        """The same in one line: frames, and the scores by which systems are ranked."""
        scores = [
            f"{report.evaluator} {measure} {format_number(report.value(measure))}"
            for report in self._reports
            for measure in self._ranking[report.evaluator]
        ]
        return ", ".join([self._frames(), *scores])

    def _frames(self) -> str:
        waiting = f", {self._waiting} wait for their other side" if self._waiting else ""
        return f"{self._paired} of {self._frame_count} frames{waiting}"


def replay_files(replay: Replay) -> None:
    """Stream files to a server and write the final reports.

    Raises:
        click.ClickException: If the server refuses, fails or cannot be reached.
        VidscoreError: If the files are wrong.
    """
    check_output(replay.output)
    manifest = read_specification(replay.manifest)
    specification, _ = select_evaluators(replay.evaluators, replay.settings, manifest)
    choice = InputChoice(
        replay.truth,
        replay.detections,
        replay.input_format,
        replay.image_size,
        confidence_scale=replay.confidence_scale,
    )
    pair = read_data(choice, specification)
    sides = (pair.truth.annotations, pair.detections.annotations)
    streamed = _stream(replay, *sides, specification)
    # What was odd about the files the server cannot know.
    reports = [with_warnings(report, pair.warnings) for report in streamed]
    view = View(sequences=replay.sequences, curves=replay.curves)
    write_reports(
        reports, Presentation(replay.format_, replay.output, view, replay.strict, pair.place_of)
    )


def _stream(
    replay: Replay, truth: Annotations, detections: Annotations, specification: BenchmarkSpec
) -> list[Report]:
    typed = bool(replay.evaluators or replay.settings)
    rate_fps = None if replay.full_speed else replay.rate_fps
    with open_client(replay.server, typed=typed) as client:
        ranking = {
            entry.name: client.evaluator(entry.name).ranking for entry in specification.evaluators
        }
        progress = ReplayProgress(frame_total(truth, detections), ranking)
        display = LiveDisplay(sys.stderr, progress.draw, progress.line)

        def keep(live: LiveReport) -> None:
            progress.take(live)
            display.changed()

        with (
            client.score_stream(
                specification=to_dict(specification),
                truth_geometry=geometry_of(truth),
                detection_geometry=geometry_of(detections),
                live=Live(every_s=LIVE_INTERVAL_S, on_report=keep, summary_only=True),
            ) as stream,
            display,
        ):
            for step in steps_at(rate_fps, truth, detections):
                stream.send_batch("truth", to_frames(step.truth))
                stream.send_batch("detections", to_frames(step.detections))
            return to_reports(stream.finish())
