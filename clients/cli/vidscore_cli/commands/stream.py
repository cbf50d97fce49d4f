"""`vidscore stream`: replay files to a server, frame by frame, and show how the scores change."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.inputs import (
    FileOptions,
    read_data,
    read_specification,
    select_evaluators,
    sent_specification,
    typed_fields,
)
from vidscore_cli.live import LiveDisplay, RunningScores, frame_total, steps_at
from vidscore_cli.options import (
    NumberRange,
    all_faults_option,
    data_options,
    evaluator_options,
    format_option,
    output_option,
    server_options,
    strict_option,
    view_options,
)
from vidscore_cli.output import check_output
from vidscore_cli.remote import geometry_of, open_client, to_frames, to_reports
from vidscore_cli.reporting import Presentation, View, write_reports
from vidscore_cli.sites import ServerChoice
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_client import LiveReport
    from vidscore_evaluators.annotations import Annotations
    from vidscore_evaluators.report import Report
    from vidscore_evaluators.specification import BenchmarkSpec

LIVE_INTERVAL_S = 0.2


class Replay(FileOptions, frozen=True):
    """Options of `vidscore stream`, by name."""

    server: ServerChoice
    detections: str
    rate_fps: float
    full_speed: bool
    format_: str
    output: str
    sequences: bool
    curves: bool
    strict: bool


@command(
    "stream",
    examples=(
        "vidscore stream spotgeo --truth truth.json --detections detections.json --full-speed",
        "vidscore stream spotgeo --truth truth.json --detections detections.json --rate 50",
    ),
)
@evaluator_options()
@server_options()
@data_options()
@click.option(
    "--rate",
    "rate_fps",
    metavar="FPS",
    type=NumberRange(min=0.001, max=1e6),
    default=30.0,
    show_default=True,
    help="Frames to send per second.",
)
@click.option("--full-speed", is_flag=True, help="Send as fast as the server accepts frames.")
@format_option("table", "json", "csv")
@output_option()
@view_options()
@strict_option()
@all_faults_option()
def stream(**choices: Any) -> None:
    """Replay files to a server and watch the scores change.

    The final report equals that of `vidscore score`, to the last bit.
    """
    from vidscore_evaluators.report import with_warnings

    replay = Replay(**choices)
    check_output(replay.output)
    manifest = read_specification(replay.manifest)
    specification, settings = select_evaluators(replay.evaluators, replay.settings, manifest)
    sent, presets = sent_specification(specification, replay.evaluators, settings)
    typed = typed_fields(sent, replay.evaluators, settings)
    pair = read_data(replay.choice(replay.detections), specification)
    sides = (pair.truth.annotations, pair.detections.annotations)
    streamed = _stream(replay, *sides, sent, typed)
    # The server does not know the warnings about the files.
    reports = [
        replace(
            with_warnings(report, pair.warnings),
            preset=presets.get(report.evaluator, report.preset),
        )
        for report in streamed
    ]
    view = View(sequences=replay.sequences, curves=replay.curves)
    write_reports(
        reports, Presentation(replay.format_, replay.output, view, replay.strict, pair.place_of)
    )


class ReplayProgress(RunningScores):
    """Progress of the server; updated by the stream's thread.

    Args:
        frame_count: Total number of frames to send.
        ranking: For each evaluator, the measures by which systems are ranked.
    """

    def __init__(self, frame_count: int, ranking: Mapping[str, Sequence[str]]) -> None:
        super().__init__(ranking, f"0 of {counted(frame_count, 'frame')}")
        self._frame_count = frame_count

    def take(self, live: LiveReport) -> None:
        """Show the newest report."""
        coverage = live.coverage
        waiting = coverage.frames_waiting_for_detections + coverage.frames_waiting_for_truth
        others = f", {waiting} wait for their other side" if waiting else ""
        frames = f"{coverage.paired_frames} of {counted(self._frame_count, 'frame')}{others}"
        self.show(frames, to_reports(live.reports))


def _stream(
    replay: Replay,
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec,
    typed: tuple[str, ...],
) -> list[Report]:
    from vidscore_client import Live
    from vidscore_evaluators.convert import to_dict

    rate_fps = None if replay.full_speed else replay.rate_fps
    with open_client(replay.server, typed=typed) as client:
        ranking = {entry.name: entry.ranking for entry in client.evaluators()}
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
