"""`vidscore demo`: the main job from end to end, with simulated systems and a real server."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from vidscore_cli.comparison import Place, compare_measures, compare_places, rank_systems
from vidscore_cli.demo_scenes import DETECTORS, Show, make_shows
from vidscore_cli.failures import ServerFailedError
from vidscore_cli.live_scores import LiveDisplay
from vidscore_cli.output import STDOUT, deliver_table
from vidscore_cli.pacing import frame_total, steps_at
from vidscore_cli.remote import geometry_of, server_errors, to_frames, to_reports
from vidscore_cli.report_layout import format_number
from vidscore_cli.report_table import grid_table, plain_table
from vidscore_cli.server_process import ServerProcess
from vidscore_client import Client, Live, LiveReport, connect
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.report_json import report_to_json
from vidscore_evaluators.scoring import score_annotations

LIVE_INTERVAL_S = 0.2

Reports = dict[str, dict[str, Report]]
"""Evaluator -> system -> report."""


@dataclass
class _Board:
    """How far each system has come with each show; written by the streams' own threads."""

    totals: Mapping[str, int]
    headlines: Mapping[str, str]
    latest: dict[tuple[str, str], LiveReport] = field(default_factory=dict)

    def cells(self, system: str, evaluator: str) -> tuple[str, str]:
        """Frames that both sides have sent, and the score over exactly these."""
        report = self.latest.get((system, evaluator))
        if report is None:
            return f"0/{self.totals[evaluator]}", "-"
        value = report.reports[0].value(self.headlines[evaluator])
        return f"{report.coverage.paired_frames}/{self.totals[evaluator]}", format_number(value)

    def draw(self) -> RenderableType:
        """A table with a line for each system."""
        table = plain_table("system")
        for evaluator, headline in self.headlines.items():
            table.add_column("frames", justify="right")
            table.add_column(f"{evaluator}\n{headline}", justify="right")
        for detector in DETECTORS:
            pairs = (self.cells(detector.name, evaluator) for evaluator in self.headlines)
            table.add_row(detector.name, *(cell for pair in pairs for cell in pair))
        return _indented(table)

    def line(self) -> str:
        """The same in one line."""
        parts = []
        for detector in DETECTORS:
            for evaluator in self.headlines:
                frames, score = self.cells(detector.name, evaluator)
                parts.append(f"{detector.name} {evaluator} {frames} {score}")
        return "  " + " | ".join(parts)


def demonstrate(seed: int, speed: float) -> None:
    """Run the demo.

    Args:
        seed: Seed of the simulation.
        speed: How many times faster than real time the videos run.

    Raises:
        ServerFailedError: If the server's reports are not those of this process.
    """
    _say("vidscore demo: two simulated detectors are scored live by a server.", style="bold")
    shows = make_shows(seed)
    with ServerProcess() as server:
        _say(
            f"\nThe server runs at {server.address}. Two systems, falcon (sharp) and mole (hasty),"
        )
        _say(f"now stream their detections to it, {speed:g} times faster than real time:")
        for show in shows:
            frames = frame_total(show.truth, show.truth)
            _say(f"  {show.evaluator + ':':12}{show.about}, {frames} frames")
        _say("\nScores so far, over the frames that have come:", style="bold")
        with server_errors(server.address), connect(server.address) as client:
            reports = _stream_all(client, shows, speed)
    _say("\nFinal scores (higher NMOTDA and F1 are better, lower MSE is better)", style="bold")
    _show_scores(shows, reports)
    _say("\nRanking", style="bold")
    _show_ranking(reports)
    _say("\nCheck", style="bold")
    _check(shows, reports, server)


def _stream_all(client: Client, shows: Sequence[Show], speed: float) -> Reports:
    board = _Board(
        totals={show.evaluator: frame_total(show.truth, show.truth) for show in shows},
        headlines={show.evaluator: show.headline for show in shows},
    )
    reports: Reports = {show.evaluator: {} for show in shows}
    pairs = [(show, detector.name) for show in shows for detector in DETECTORS]
    display = LiveDisplay(sys.stdout, board.draw, board.line, keep=True)
    with display, ThreadPoolExecutor(len(pairs)) as pool:
        running = [
            pool.submit(_stream, client, show, system, speed, board, display)
            for show, system in pairs
        ]
        for (show, system), future in zip(pairs, running, strict=True):
            reports[show.evaluator][system] = future.result()
    return reports


def _stream(
    client: Client, show: Show, system: str, speed: float, board: _Board, display: LiveDisplay
) -> Report:
    """Stream one system's detections of one show, frame by frame, as a live system would."""

    def keep(report: LiveReport) -> None:
        board.latest[system, show.evaluator] = report
        display.changed()

    detections = show.detections[system]
    with client.score_stream(
        [show.evaluator],
        truth_geometry=geometry_of(show.truth),
        detection_geometry=geometry_of(detections),
        live=Live(every_s=LIVE_INTERVAL_S, on_report=keep, summary_only=True),
    ) as stream:
        for step in steps_at(show.rate_fps * speed, show.truth, detections):
            stream.send_batch("truth", to_frames(step.truth))
            stream.send_batch("detections", to_frames(step.detections))
        return to_reports(stream.finish())[0]


def _show_scores(shows: Sequence[Show], reports: Reports) -> None:
    streets, sky = (reports[show.evaluator] for show in shows)
    classes = [
        Place("nmotda", row.domain, row.class_)
        for row in next(iter(streets.values())).rows()
        if row.measure == "nmotda" and row.sequence is None and row.domain is not None
    ]
    domains = dict.fromkeys(place.domain for place in classes)
    places = [
        place
        for domain in domains
        for place in [
            *(entry for entry in classes if entry.domain == domain),
            Place("weighted_mean_nmotda", domain),
        ]
    ]
    places.append(Place("weighted_mean_nmotda"))
    grids = (
        compare_places("neovision2: NMOTDA", places, streets),
        compare_measures(
            "spotgeo", ("f1", "mse", "true_positives", "false_negatives", "false_positives"), sky
        ),
    )
    for grid in grids:
        _say(f"  {grid.title}")
        _print(_indented(grid_table(grid)))
        _say("")


def _show_ranking(reports: Reports) -> None:
    for name, by_system in reports.items():
        order = rank_systems(create_evaluator(name), by_system)
        places = ", ".join(f"{rank}. {system}" for rank, system in order)
        _say(f"  {name + ':':12}{places}")


def _check(shows: Sequence[Show], reports: Reports, server: ServerProcess) -> None:
    differing = [
        f"{show.evaluator} of {system}"
        for show in shows
        for system, report in reports[show.evaluator].items()
        if report_to_json(report) != report_to_json(_score_here(show, system))
    ]
    if differing:
        raise ServerFailedError(
            f"the server's report differs from this process's: {', '.join(differing)}"
        )
    _say("  The same detections scored without a server: the same reports, bit for bit.")
    _say(f"  The server has stopped (exit code {server.exit_code}).")


def _score_here(show: Show, system: str) -> Report:
    evaluators = [create_evaluator(show.evaluator)]
    return score_annotations(evaluators, show.truth, show.detections[system])[0]


def _indented(table: Table) -> Padding:
    return Padding(table, (0, 0, 0, 2), expand=False)


def _say(text: str, style: str = "") -> None:
    _print(Text(text, style=style))


def _print(*parts: RenderableType) -> None:
    deliver_table(Group(*parts), STDOUT)
