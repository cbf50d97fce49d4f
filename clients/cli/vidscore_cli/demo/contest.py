"""The course of the demo: actions on the server, and the text about them."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from pathlib import Path

from msgspec import Struct
from rich.console import Group, RenderableType
from rich.text import Text

from vidscore_cli.demo.network import Relay, ServerProcess
from vidscore_cli.demo.scenes import DETECTORS, Show, make_shows
from vidscore_cli.demo.teams import Board, Organiser, Participant
from vidscore_cli.failures import ServerFailedError
from vidscore_cli.live import LiveDisplay
from vidscore_cli.output import STDOUT, deliver_table, indented, write_atomically
from vidscore_cli.remote import open_client
from vidscore_cli.report_table import GridView
from vidscore_cli.sites import ServerChoice
from vidscore_cli.stopping import interrupted_by_signals
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report, report_to_json
from vidscore_evaluators.report_grids import ALL, Grid, format_number
from vidscore_evaluators.scoring import score_annotations

UNLUCKY = ("mole", "streets")
"""Team and benchmark of the connection that is cut."""

SIGNAL_DELAY_S = 0.5
"""Maximum time for which Ctrl-C goes unnoticed. Python handles signals in its main thread; one that
comes just before this thread waits for a lock does not end the wait."""

EXAMPLE_FOLDER = "demo-files"

Reports = dict[str, dict[str, Report]]
"""Benchmark -> team -> report."""


class Place(Struct, frozen=True):
    """A row of a comparison: a measure, over one domain and class or over all."""

    measure: str
    domain: str | None = None
    label: str | None = None


def demonstrate(
    seed: int, speed: float, folder: Path | None, make_store: Callable[[Path], str]
) -> None:
    """Run the demo.

    Args:
        seed: Seed of the simulation.
        speed: How many times faster than real time the videos run.
        folder: Folder for the truth and the detections; None to write none.
        make_store: Creates a store at a path, and returns the secret of its organiser's token.

    Raises:
        ServerFailedError: If the server's reports are not those of this process.
    """
    _say("vidscore demo: two simulated detectors compete in two hosted benchmarks.", style="bold")
    shows = make_shows(seed)
    with interrupted_by_signals(), tempfile.TemporaryDirectory() as temporary:
        store = Path(temporary) / "site.db"
        secret = make_store(store)
        with ServerProcess("--workers", "1", "--store", str(store)) as server:
            organiser = ServerChoice(server.address, token=secret)
            with open_client(organiser) as client:
                reports = _compete(Organiser(client), server.address, shows, speed)
    _say("\nFinal scores: higher NMOTDA and F1 are better, lower MSE is better", style="bold")
    _show_scores(shows, reports)
    _say("\nCheck", style="bold")
    _check(shows, reports, server)
    if folder is not None:
        write_files(shows, folder)
    _say("\nTry next", style="bold")
    for purpose, line in next_steps(shows, folder):
        _say(f"  {purpose}:")
        _say(f"    {line}")


def show_site(seed: int, speed: float, web: str, make_store: Callable[[Path], str]) -> None:
    """Run the competition on a server with a site, until Ctrl-C.

    Args:
        seed: Seed of the simulation.
        speed: How many times faster than real time the videos run.
        web: Address of the site, ``host:port``.
        make_store: Creates a store at a path, and returns the secret of its organiser's token.
    """
    _say("vidscore demo: two simulated detectors compete, and a site shows it.", style="bold")
    shows = make_shows(seed)
    with interrupted_by_signals(), tempfile.TemporaryDirectory() as temporary:
        store = Path(temporary) / "site.db"
        secret = make_store(store)
        options = ("--workers", "1", "--store", str(store), "--web", web)
        with ServerProcess(*options) as server:
            with open_client(ServerChoice(server.address, token=secret)) as client:
                organiser = Organiser(client)
                _say(f"\nThe site is at {server.site}; the boards are open to everyone. To see and")
                _say("do more, sign in there with one of these tokens, which end with the demo:")
                tokens = {detector.name: organiser.admit(detector.name) for detector in DETECTORS}
                for name, token in {"organiser": secret, **tokens}.items():
                    _say(f"  {name:10}{token}")
                _compete(organiser, server.address, shows, speed, tokens)
            _say(f"\nThe site stays at {server.site} until Ctrl-C.")
            with suppress(KeyboardInterrupt):
                threading.Event().wait()


def _compete(
    organiser: Organiser,
    address: str,
    shows: Sequence[Show],
    speed: float,
    tokens: Mapping[str, str] | None = None,
) -> Reports:
    tokens = tokens or {detector.name: organiser.admit(detector.name) for detector in DETECTORS}
    _say(f"\nThe server runs at {address}. An organiser hosts two benchmarks on it, with truth")
    _say("that participants cannot read:")
    for show in shows:
        organiser.host(show)
        title = f"{show.benchmark} ({show.evaluator}):"
        _say(f"  {title:22}{show.about}, {show.truth.frame_count} frames")
    _say("\nTwo teams, falcon (sharp) and mole (hasty), now stream their detections to it,")
    _say(f"{speed:g} times faster than real time. Halfway through the streets, the connection of")
    _say("mole is cut.")
    _say("\nFrames that are safe on the server, and scores over completed videos (- before the")
    _say("first is complete). NMOTDA and F1 are 1 for a system that makes no mistake:")
    with Relay(address) as relay:
        _stream_all(tokens, relay, address, shows, speed)
        if relay.connections < 2:
            raise ServerFailedError("the connection of mole was cut and not restored")
    _say("\n  The connection of mole was restored automatically; every frame arrived once.")
    _say("\nLeaderboards", style="bold")
    for show in shows:
        _say(f"  {show.benchmark + ':':9}{_ranking(organiser, show)}")
    return {
        show.benchmark: {
            detector.name: organiser.report(show, detector.name) for detector in DETECTORS
        }
        for show in shows
    }


def _stream_all(
    tokens: Mapping[str, str], relay: Relay, address: str, shows: Sequence[Show], speed: float
) -> None:
    """Let every team stream every show at once."""
    board = Board(shows)
    display = LiveDisplay(sys.stdout, board.draw, board.line, keep=True)
    running: list[Future[None]] = []
    # If this is interrupted, the clients are aborted, which ends the threads.
    with (
        display,
        ThreadPoolExecutor(2 * len(DETECTORS) * len(shows)) as pool,
        ExitStack() as clients,
    ):
        for detector in DETECTORS:
            team = detector.name
            participant = Participant(team, board, display)
            for show in shows:
                cut = relay.cut if (team, show.benchmark) == UNLUCKY else None
                reached = address if cut is None else relay.address
                server = ServerChoice(reached, token=tokens[team])
                client = clients.enter_context(open_client(server))
                running.append(pool.submit(participant.stream, client, show, speed, pool, cut))
        for future in running:
            while wait([future], timeout=SIGNAL_DELAY_S).not_done:
                pass
            future.result()


def _ranking(organiser: Organiser, show: Show) -> str:
    """The leaderboard in one line."""
    board = organiser.board(show)
    measure = board.ranking[0]
    places = (
        f"{row.rank}. {row.team} ({format_number(row.scores[measure])})" for row in board.rows
    )
    return f"{', '.join(places)}  by {measure}"


def _show_scores(shows: Sequence[Show], reports: Reports) -> None:
    streets, sky = (reports[show.benchmark] for show in shows)
    sky_measures = ("f1", "mse", "true_positives", "false_negatives", "false_positives")
    grids = (
        compare_places("streets: NMOTDA by domain and class", _places(streets), streets),
        compare_measures("sky: all sequences", sky_measures, sky),
    )
    for grid in grids:
        _print(Text(""), indented(Group(Text(grid.title), GridView(grid))))


def compare_measures(title: str, measures: Sequence[str], reports: Mapping[str, Report]) -> Grid:
    """Scores over everything, one line per measure.

    Args:
        title: Title of the table.
        measures: Measures in the order of the lines.
        reports: Report of each system.
    """
    grid = Grid(title, ("measure", *reports), leading=1)
    for measure in measures:
        grid.lines.append((measure, *_scores(Place(measure), reports)))
    return grid


def compare_places(title: str, places: Sequence[Place], reports: Mapping[str, Report]) -> Grid:
    """Scores of domains and classes, one line each; the score of all classes is their mean.

    Args:
        title: Title of the table.
        places: Measure, domain and class of each line.
        reports: Report of each system.
    """
    grid = Grid(title, ("domain", "label", *reports), leading=2)
    for place in places:
        names = (place.domain or ALL, place.label or ALL)
        grid.lines.append((*names, *_scores(place, reports)))
    return grid


def _scores(place: Place, reports: Mapping[str, Report]) -> list[str]:
    return [
        format_number(report.value(place.measure, domain=place.domain, label=place.label))
        for report in reports.values()
    ]


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
        classes = [row.label for row in counts if row.domain == domain]
        places.extend(Place("nmotda", domain, label) for label in classes)
        places.append(Place("weighted_mean_nmotda", domain))
    return [*places, Place("weighted_mean_nmotda")]


def _check(shows: Sequence[Show], reports: Reports, server: ServerProcess) -> None:
    differing = [
        f"{show.benchmark} of {system}"
        for show in shows
        for system, report in reports[show.benchmark].items()
        if report_to_json(report) != report_to_json(_score_here(show, system))
    ]
    if differing:
        raise ServerFailedError(
            f"the server's report differs from this process's: {', '.join(differing)}"
        )
    _say("  The same detections scored without a server: the same reports, bit for bit.")
    _say(f"  The server has stopped (exit code {server.exit_code}).")


def _score_here(show: Show, system: str) -> Report:
    specification = show.specification
    evaluators = [create_evaluator(show.evaluator, {}, specification)]
    return score_annotations(evaluators, show.truth, show.detections[system], specification)[0]


def write_files(shows: Sequence[Show], folder: Path) -> None:
    """Write the truth and the detections of each show, as generic CSV.

    Args:
        shows: The shows.
        folder: The folder; created if it does not exist.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for show in shows:
        _write(show.truth, Side.TRUTH, _file(folder, show, "truth"))
        for system, detections in show.detections.items():
            _write(detections, Side.DETECTIONS, _file(folder, show, system))


def next_steps(shows: Sequence[Show], folder: Path | None) -> list[tuple[str, str]]:
    """Commands that run unchanged, each after its purpose.

    Args:
        shows: The shows.
        folder: Folder of their files; None if none were written.
    """
    program = _program()
    everything = ("List the evaluators", f"{program} evaluators")
    if folder is None:
        keep = f"{program} demo --speed 100 --files {EXAMPLE_FOLDER}"
        return [("Run the demo again and keep its data as files", keep), everything]
    streets, sky = shows
    truth, mole = (shlex.quote(str(_file(folder, streets, name))) for name in ("truth", "mole"))
    systems = " ".join(
        f"--system {shlex.quote(str(_file(folder, sky, name)))}" for name in sky.detections
    )
    sky_truth = shlex.quote(str(_file(folder, sky, "truth")))
    return [
        (
            "Score the files of mole",
            f"{program} score {streets.evaluator} --truth {truth} --detections {mole}",
        ),
        (
            "Find out whether falcon is ahead of mole by more than chance",
            f"{program} trust ranking {sky.evaluator} --truth {sky_truth} {systems}",
        ),
        everything,
    ]


def _file(folder: Path, show: Show, name: str) -> Path:
    return folder / f"{show.benchmark}-{name}.csv"


def _write(annotations: Annotations, side: Side, file: Path) -> None:
    conversion = convert(Source(annotations, str(file)), "generic-csv", side)
    write_atomically(file, conversion.files[""])


def _program() -> str:
    """The command that starts this vidscore from the current folder."""
    own = Path(sysconfig.get_path("scripts"), "vidscore")
    found = shutil.which("vidscore")
    if found is not None and Path(found).resolve() == own.resolve():
        return "vidscore"
    near = own.is_relative_to(Path.cwd())
    return shlex.quote(os.path.relpath(own) if near else str(own))


def _say(text: str, style: str = "") -> None:
    _print(Text(text, style=style))


def _print(*parts: RenderableType) -> None:
    deliver_table(Group(*parts), STDOUT)
