"""`vidscore demo`: the main job from end to end, with simulated systems and a real server."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from vidscore_cli.comparison import Place, compare_measures, compare_places, rank_systems
from vidscore_cli.demo_board import Board
from vidscore_cli.demo_scenes import DETECTORS, Show, make_shows
from vidscore_cli.failures import ServerFailedError
from vidscore_cli.live_scores import LiveDisplay
from vidscore_cli.output import STDOUT, deliver_table
from vidscore_cli.pacing import steps_at
from vidscore_cli.remote import geometry_of, open_client, to_frames, to_reports
from vidscore_cli.report_layout import format_number
from vidscore_cli.report_table import GridView
from vidscore_cli.server_choice import ServerChoice
from vidscore_cli.server_process import ServerProcess
from vidscore_client import Client, Live, LiveReport
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.report_json import report_to_json
from vidscore_evaluators.scoring import score_annotations

LIVE_INTERVAL_S = 0.2

Reports = dict[str, dict[str, Report]]
"""Evaluator -> system -> report."""


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
            _say(f"  {show.evaluator + ':':12}{show.about}, {show.truth.frame_count} frames")
        _say("\nScores so far, over the frames that have come:", style="bold")
        with open_client(ServerChoice(server.address)) as client:
            reports = _stream_all(client, shows, speed)
    _say("\nFinal scores: higher NMOTDA and F1 are better, lower MSE is better", style="bold")
    _show_scores(shows, reports)
    _say("\nRanking", style="bold")
    _show_ranking(shows, reports)
    _say("\nCheck", style="bold")
    _check(shows, reports, server)


def _stream_all(client: Client, shows: Sequence[Show], speed: float) -> Reports:
    board = Board(shows)
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
    client: Client, show: Show, system: str, speed: float, board: Board, display: LiveDisplay
) -> Report:
    """Stream one system's detections of one show, frame by frame, as a live system would."""

    def keep(live: LiveReport) -> None:
        board.take(system, show, live.coverage.paired_frames, to_reports(live.reports)[0])
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
        (final,) = to_reports(stream.finish())
    board.take(system, show, show.truth.frame_count, final)
    return final


def _show_scores(shows: Sequence[Show], reports: Reports) -> None:
    streets, sky = (reports[show.evaluator] for show in shows)
    sky_measures = ("f1", "mse", "true_positives", "false_negatives", "false_positives")
    grids = (
        compare_places("neovision2: NMOTDA by domain and class", _places(streets), streets),
        compare_measures("spotgeo: all sequences", sky_measures, sky),
    )
    for grid in grids:
        _print(Text(""), _indented(Group(Text(grid.title), GridView(grid))))


def _places(streets: Mapping[str, Report]) -> list[Place]:
    """Classes that occur, then their mean, domain by domain; then the mean over everything."""
    counts = [
        row
        for row in next(iter(streets.values())).rows()
        if row.measure == "ground_truth_objects"
        and row.sequence is None
        and row.domain
        and row.value
    ]
    places: list[Place] = []
    for domain in dict.fromkeys(row.domain for row in counts):
        classes = [row.class_ for row in counts if row.domain == domain]
        places.extend(Place("nmotda", domain, class_) for class_ in classes)
        places.append(Place("weighted_mean_nmotda", domain))
    return [*places, Place("weighted_mean_nmotda")]


def _show_ranking(shows: Sequence[Show], reports: Reports) -> None:
    for show in shows:
        by_system = reports[show.evaluator]
        order = rank_systems(create_evaluator(show.evaluator), by_system)
        places = (
            f"{rank}. {system} ({format_number(by_system[system].value(show.headline))})"
            for rank, system in order
        )
        _say(f"  {show.evaluator + ':':12}by {show.headline + ':':21} {', '.join(places)}")


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


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2), expand=False)


def _say(text: str, style: str = "") -> None:
    _print(Text(text, style=style))


def _print(*parts: RenderableType) -> None:
    deliver_table(Group(*parts), STDOUT)
