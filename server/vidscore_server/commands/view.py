"""`vidscore view`: a page that shows what scores are made of."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.input_paths import InputPath, name_and_path
from vidscore_cli.inputs import (
    FileOptions,
    chosen_evaluators,
    read_data,
    select_part,
    typed_operating_point,
)
from vidscore_cli.options import (
    all_faults_option,
    confidence_scale_option,
    evaluator_options,
    image_size_option,
    input_format_option,
    number_option,
    operating_point_options,
    selection_options,
    truth_option,
)
from vidscore_cli.output import check_output, deliver, say
from vidscore_cli.progress import ProgressBar
from vidscore_cli.reporting import show_warnings_of
from vidscore_evaluators.errors import InputError, ParameterError
from vidscore_evaluators.names import escape_controls

if TYPE_CHECKING:
    from vidscore_cli.reporting import Locate
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.explanation.material import Material
    from vidscore_evaluators.formats import Pair
    from vidscore_evaluators.report import Report
    from vidscore_evaluators.selection import Selected, Selection
    from vidscore_evaluators.specification import BenchmarkSpec
    from vidscore_server.web.viewer import Pictures, Viewer

MOST_SYSTEMS = 2


class Viewing(FileOptions, frozen=True):
    """Options of `vidscore view`, by their names."""

    detections: tuple[str, ...]
    selection: Selection
    media: str | None
    at_threshold: float | None
    at_confidence: float | None
    draws: int
    output: str | None
    port: int
    no_browser: bool


@command(
    "view",
    examples=(
        "vidscore view clear errors --truth gt/ --detections tracks/",
        "vidscore view clear --truth gt/ --detections tracks/ --detections others/ --media images/",
        "vidscore view clear --truth gt/ --detections tracks/ --output report.html",
    ),
)
@evaluator_options()
@truth_option()
@click.option(
    "--detections",
    metavar="[NAME=]PATH",
    type=InputPath(),
    multiple=True,
    required=True,
    help="Detections of a system: a file or a folder; a second one is compared with the first.",
)
@input_format_option()
@image_size_option()
@confidence_scale_option()
@selection_options()
@click.option(
    "--media",
    metavar="PATH",
    type=InputPath(),
    help="Video, folder of images, or folder with either for each sequence, to show objects on.",
)
@operating_point_options()
@number_option("--draws", 0, 100_000, 200, "Draws of sequences for intervals; 0 for none.")
@click.option(
    "--output",
    metavar="FILE",
    type=click.Path(),
    help="Write the page as one file that needs no server, instead of serving it.",
)
@number_option("--port", 0, 65_535, 0, "Port of this machine to serve on; 0 for a free one.")
@click.option("--no-browser", is_flag=True, help="Print the address, and do not open a browser.")
@all_faults_option()
def view(**choices: Any) -> None:
    """Show on one page how scores arise, down to the frame and the object.

    EVALUATOR is one or more names, as for `vidscore score`. The page is served to this machine
    only, at an address that nobody can guess, until Ctrl-C. With --output it is a file, which has
    the worst frames.
    """
    typed = Viewing(**choices)
    if typed.output is not None:
        check_output(typed.output)
    paths = _system_paths(typed.detections)
    specification, evaluators = chosen_evaluators(typed.evaluators, typed.settings, typed.manifest)
    with ProgressBar() as bar:
        bar.stage("reading")
        material, pictures, places = _material(typed, paths, evaluators, specification, bar)
        bar.stage("looking at objects")
        with typed_operating_point():
            _check_point(material)
        viewer = _viewer(typed, material, pictures)
        if typed.output is not None:
            _write(typed, viewer, bar)
    for name, place_of in places.items():
        show_warnings_of(material.reports[name], place_of)
    if typed.output is None:
        _serve(typed, viewer)


def _system_paths(typed: Sequence[str]) -> dict[str, str]:
    """Path of each system's detections, by name: by default, the file's name."""
    if len(typed) > MOST_SYSTEMS:
        raise click.UsageError(f"--detections: {len(typed)} systems, expected one or two")
    paths: dict[str, str] = {}
    for entry in typed:
        name, path = name_and_path(entry)
        name = escape_controls(name or (Path(path).stem or path if path == entry else ""))
        if not name:
            raise click.UsageError(f"--detections {entry}: expected PATH or NAME=PATH")
        if name in paths:
            raise click.UsageError(
                f"--detections {entry}: there is a system {name} already; name it NAME=PATH"
            )
        paths[name] = path
    return paths


def _material(
    typed: Viewing,
    paths: dict[str, str],
    evaluators: Sequence[Evaluator[Any]],
    specification: BenchmarkSpec,
    bar: ProgressBar,
) -> tuple[Material, Pictures | None, dict[str, Locate]]:
    """Read and score every system; also return a locator of each system's frames."""
    from vidscore_evaluators.explanation.material import Material
    from vidscore_evaluators.outcome_table import OperatingPoint
    from vidscore_evaluators.preparation import check_sides
    from vidscore_evaluators.scoring import score_pair
    from vidscore_evaluators.trust.systems import Contest

    reports: dict[str, list[Report]] = {}
    systems = {}
    places: dict[str, Locate] = {}
    pair: Pair | None = None
    part: Selected | None = None
    for name, path in paths.items():
        truth = None if pair is None else pair.truth
        pair = read_data(typed.choice(path), specification, truth)
        part = select_part(typed.selection, evaluators, pair, specification)
        sides = part.pair.truth.annotations, part.pair.detections.annotations
        try:
            check_sides(part.evaluators, *sides, part.specification)
        except InputError as error:
            raise type(error)([part.pair.locate(fault) for fault in error.faults]) from None
        bar.stage(f"scoring {name}")
        systems[name], places[name] = sides[1], part.pair.place_of
        reports[name] = score_pair(
            part.evaluators, part.pair, part.specification, progress=bar.advance
        )
    if pair is None or part is None:
        raise click.UsageError("--detections: no system, expected one or two")
    contest = Contest.of(part.pair.truth.annotations, systems, part.specification)
    at = OperatingPoint(typed.at_threshold, typed.at_confidence)
    material = Material.of(contest, part.evaluators, reports, at)
    return material, _pictures(typed, part, pair, specification), places


def _check_point(material: Material) -> None:
    """Refuse an operating point that no evaluator supports; one that does is enough.

    Raises:
        ParameterError: From the first evaluator.
    """
    refused: list[ParameterError] = []
    for judge in material.judges if len(material.frames) else ():
        try:
            material.judge(judge, material.at)  # which keeps it for the page
        except ParameterError as error:
            refused.append(error)
        else:
            return
    if refused:
        raise refused[0]


def _pictures(
    typed: Viewing, part: Selected, pair: Pair, specification: BenchmarkSpec
) -> Pictures | None:
    """Pictures of the frames of `part`; None without media. The media cover all of `pair`."""
    if typed.media is None:
        return None
    from vidscore_evaluators.formats.video import load_opencv

    load_opencv()
    from vidscore_evaluators.render.drawing import media_of_pair
    from vidscore_evaluators.render.pictures import MediaPictures

    truth = part.pair.truth.annotations
    used = sorted({truth.sequences[row] for row in set(truth.frame_sequences.tolist())})
    return MediaPictures(media_of_pair(Path(typed.media), used, pair, specification))


def _viewer(typed: Viewing, material: Material, pictures: Pictures | None) -> Viewer:
    from vidscore_evaluators.explanation.figures import Uncertainty
    from vidscore_server.web.view import View
    from vidscore_server.web.viewer import Viewer

    viewer = Viewer(
        material,
        Uncertainty(material, typed.draws),
        pictures=pictures,
        truth_name=escape_controls(Path(typed.truth).stem),
    )
    viewer.context(View())  # computed now, so that the first page loads at once
    return viewer


def _write(typed: Viewing, viewer: Viewer, bar: ProgressBar) -> None:
    from vidscore_server.web.document import written_page

    bar.stage("drawing sequences again")
    viewer.uncertainty.compute(progress=bar.advance)
    bar.stage("writing")
    deliver(written_page(viewer, _command(typed)).decode(), str(typed.output))


def _command(typed: Viewing) -> str:
    """The command that serves the same page."""
    options: list[tuple[str, Sequence[object]]] = [
        ("--truth", [typed.truth]),
        ("--detections", typed.detections),
        ("--set", typed.settings),
        ("--manifest", [typed.manifest]),
        ("--input-format", [None if typed.input_format == "auto" else typed.input_format]),
        ("--confidence-scale", [typed.confidence_scale]),
        ("--domain", typed.selection.domains or ()),
        ("--sequence", typed.selection.sequences or ()),
        ("--label", typed.selection.labels or ()),
        ("--frames", [typed.selection.typed_frames]),
        ("--media", [typed.media]),
        ("--at-threshold", [typed.at_threshold]),
        ("--at-confidence", [typed.at_confidence]),
    ]
    words = [
        word
        for option, values in options
        for value in values
        if value is not None
        for word in (option, str(value))
    ]
    return escape_controls(shlex.join(["vidscore", "view", *typed.evaluators, *words]))


def _serve(typed: Viewing, viewer: Viewer) -> None:
    from vidscore_server.web.serving import serve_viewer

    viewer.uncertainty.start()

    def opened(address: str) -> None:
        say(f"The page is at {address}")
        say("Ctrl-C ends it.", err=True)
        if not typed.no_browser:
            import webbrowser

            webbrowser.open(address)

    serve_viewer(viewer, typed.port, opened)
