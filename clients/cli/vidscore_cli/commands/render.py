"""`vidscore render`: truth, detections and outcomes drawn onto videos or images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from vidscore_cli.command_tree import command
from vidscore_cli.input_paths import InputPath, refuse_input
from vidscore_cli.inputs import (
    FileOptions,
    check_outcomes,
    chosen_evaluators,
    doubts,
    read_data,
    select_part,
    typed_operating_point,
)
from vidscore_cli.options import (
    NumberRange,
    all_faults_option,
    data_options,
    evaluator_options,
    format_option,
    number_option,
    on_error_option,
    operating_point_options,
    selection_options,
)
from vidscore_cli.output import (
    STDOUT,
    atomic_folder,
    check_folder_of,
    deliver_json,
    deliver_table,
    headed,
    led_to,
    neighbour_of,
    remove,
    removing_at_a_signal,
)
from vidscore_cli.progress import ProgressBar
from vidscore_cli.reporting import show_warnings
from vidscore_cli.unwritable import about
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_evaluators.arrays import IntArray
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.render.drawing import Chosen
    from vidscore_evaluators.render.picture import Drawing
    from vidscore_evaluators.render.scored import FrameView, ScoredFrames
    from vidscore_evaluators.render.writers import PictureWriter
    from vidscore_evaluators.selection import Selected, Selection

HIDDEN = {
    "hits": "hit",
    "false-alarms": "false_alarm",
    "misses": "miss",
    "id-switches": "id_switch",
    "ignored": "ignored",
    "plates": "",
}
"""What can be left out of pictures, and the kind of it."""

LISTED = 20
"""Maximum number of frames that the summary for people names."""


class Rendering(FileOptions, frozen=True):
    """Options of `vidscore render`, by name."""

    detections: str
    on_error: Literal["refuse", "skip"]
    selection: Selection
    at_threshold: float | None
    at_confidence: float | None
    outcomes_of: str | None
    media: str | None
    first_frame: int | None
    output: str
    image_format: str
    frames_per_s: float | None
    scale: float | None
    worst: int | None
    worst_by: str
    tails: int
    hide: tuple[str, ...]
    format_: str

    @property
    def is_video(self) -> bool:
        """Whether a video is written, not a folder of pictures."""
        return Path(self.output).suffix.lower() == ".mp4"


@command(
    "render",
    examples=(
        "vidscore render clear --truth gt/ --detections tracks/ --media images/ --output clear.mp4",
        "vidscore render spotgeo --truth truth.json --detections detections.json --output frames",
        "vidscore render mot17 --truth gt/ --detections tracks/ --worst 20 --output worst/",
    ),
)
@evaluator_options()
@data_options()
@on_error_option()
@selection_options()
@operating_point_options()
@click.option(
    "--outcomes-of",
    metavar="EVALUATOR",
    help="Evaluator whose outcomes are drawn, if there are several, or if a preset has "
    "several. [default: the first that has outcomes]",
)
@click.option(
    "--media",
    metavar="PATH",
    type=InputPath(),
    help="A video, a folder of images, or a folder with a video or folder of images for "
    "each sequence. [default: a blank canvas]",
)
@click.option(
    "--first-frame",
    metavar="NUMBER",
    type=click.IntRange(0, 1_000_000_000),
    help="Number of the first frame of a video. [default: that of the manifest or of the input "
    "format, else 0]",
)
@click.option(
    "--output",
    metavar="PATH",
    type=click.Path(),
    required=True,
    help="A video with the suffix .mp4, or a new folder of pictures; written completely "
    "or not at all.",
)
@click.option(
    "--image-format",
    type=click.Choice(["png", "jpeg"]),
    default="png",
    show_default=True,
    help="Format of the pictures in a folder.",
)
@click.option(
    "--frames-per-s",
    metavar="NUMBER",
    type=NumberRange(0.1, 1000.0),
    help="Frame rate of the written video. [default: that of the media, else 25]",
)
@click.option(
    "--scale",
    metavar="FACTOR",
    type=NumberRange(0.05, 16.0),
    help="Size of the pictures relative to the media. [default: 1, and more for small images]",
)
@click.option(
    "--worst",
    metavar="NUMBER",
    type=click.IntRange(1, 1_000_000),
    help="Draw only this many of the worst frames. [default: all]",
)
@click.option(
    "--worst-by",
    type=click.Choice(["mistakes", "share"]),
    default="mistakes",
    show_default=True,
    help="How to rank bad frames: by misses, false alarms and id switches, or by the sum "
    "of shares, for measures that are distances.",
)
@number_option(
    "--tails", 0, 10_000, 20, "Number of earlier frames over which the tail of a track is drawn."
)
@click.option(
    "--hide",
    type=click.Choice(list(HIDDEN)),
    multiple=True,
    help="Do not draw this; may be repeated.",
)
@format_option("table", "json")
@all_faults_option()
def render(**choices: Any) -> None:
    """Draw truth, detections and outcomes onto videos or images.

    Everything is scored, as by `vidscore outcomes`; --frames and --worst choose the frames to draw.
    A strip below each picture counts the outcomes in it.
    """
    from vidscore_evaluators.formats.video import load_opencv

    typed = Rendering(**choices)
    _check_output(typed)
    load_opencv()
    specification, evaluators = chosen_evaluators(typed.evaluators, typed.settings, typed.manifest)
    evaluator = _drawn_evaluator(evaluators, typed.outcomes_of, typed=bool(typed.evaluators))
    with ProgressBar() as bar:
        bar.stage("reading")
        pair = read_data(typed.choice(typed.detections, typed.on_error), specification)
        part = select_part(_without_frames(typed.selection), [evaluator], pair, specification)
        bar.stage("scoring")
        frames, order = _frames_to_draw(typed, part, bar)
        chosen = _media(typed, frames, order, part)
        bar.stage("drawing")
        _draw(typed, frames, order, chosen, part, bar)
    show_warnings(tuple(doubts(part)), part.pair.place_of)
    views = map(frames.view, order.tolist())
    if typed.format_ == "json":
        deliver_json(_document(typed, evaluator, views), STDOUT)
    else:
        lines = _lines(typed, evaluator, views, chosen, len(order))
        deliver_table(headed(f"{typed.output}: written", lines), STDOUT)


def _check_output(typed: Rendering) -> None:
    """Refuse an output that cannot be written, before any work is done.

    Raises:
        click.BadParameter: If it is of the wrong kind, or is not new.
        OSError: If the path is impossible.
    """
    path, hint = Path(typed.output), "--output"
    check_folder_of(path, hint)
    refuse_input(typed.output, hint)
    if typed.is_video:
        if path.is_dir():
            raise click.BadParameter(f"{path} is a folder, expected a file", param_hint=hint)
    elif path.suffix.lower() in {".avi", ".gif", ".jpeg", ".jpg", ".mkv", ".mov", ".png", ".webm"}:
        said = f"{path} is neither a video with the suffix .mp4 nor the name of a folder"
        raise click.BadParameter(said, param_hint=hint)
    elif path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise click.BadParameter(f"{path} exists, expected a new folder", param_hint=hint)


def _drawn_evaluator(
    evaluators: Sequence[Evaluator[Any]], name: str | None, *, typed: bool
) -> Evaluator[Any]:
    """The evaluator whose outcomes are drawn.

    Raises:
        click.UsageError: If the typed one is not among them, or has no outcomes.
        ParameterError: If none that a manifest names has outcomes; it says which ones have.
    """
    from vidscore_evaluators.names import name_advice

    if name is not None:
        named = [one for one in evaluators if one.name == name]
        if not named:
            advice = name_advice(name, [one.name for one in evaluators])
            raise click.BadParameter(
                f"{name!r} does not score; {advice}", param_hint="--outcomes-of"
            )
        check_outcomes(named, typed=True)
        return named[0]
    offering = [one for one in evaluators if one.has_outcomes]
    if not offering:
        check_outcomes(evaluators, typed=typed)
    return offering[0]


def _without_frames(selection: Selection) -> Selection:
    """The same part, but of all frames: outcomes in one depend on those before it."""
    from vidscore_evaluators.selection import Selection as Part

    return Part(domains=selection.domains, sequences=selection.sequences, labels=selection.labels)


def _frames_to_draw(
    typed: Rendering, part: Selected, bar: ProgressBar
) -> tuple[ScoredFrames, IntArray]:
    """All scored frames, and the rows of those that are drawn: ascending, or the worst first.

    Raises:
        click.UsageError: If no frame was chosen.
    """
    from vidscore_evaluators.errors import ParameterError
    from vidscore_evaluators.outcome_table import OperatingPoint
    from vidscore_evaluators.render.drawing import scored_frames
    from vidscore_evaluators.render.scored import WorstBy

    at = OperatingPoint(typed.at_threshold, typed.at_confidence)
    [evaluator] = part.evaluators
    with typed_operating_point():
        frames = scored_frames(evaluator, part.pair, part.specification, at, progress=bar.advance)
    try:
        rows = frames.select(typed.selection)
    except ParameterError as error:
        raise click.UsageError(error.faults[0].description) from None
    if typed.worst is not None:
        rows = frames.worst(rows, typed.worst, WorstBy(typed.worst_by))
    return frames, rows


def _media(typed: Rendering, frames: ScoredFrames, order: IntArray, part: Selected) -> Chosen:
    import numpy as np

    from vidscore_evaluators.render.drawing import choose_media

    path = None if typed.media is None else Path(typed.media)
    return choose_media(
        path, frames, np.sort(order), part.pair, part.specification, typed.first_frame
    )


def _draw(
    typed: Rendering,
    frames: ScoredFrames,
    order: IntArray,
    chosen: Chosen,
    part: Selected,
    bar: ProgressBar,
) -> None:
    """Draw in the order of frames, even the worst ones: media are read fastest in this order."""
    import numpy as np

    from vidscore_evaluators.render.drawing import draw_frames, first_pixel_of

    drawing = _drawing(typed, first_pixel_of(part.pair))
    with _writer(typed, chosen.frames_per_s) as writer:
        draw_frames(
            frames,
            np.sort(order),
            chosen.of,
            writer,
            drawing=drawing,
            tail_frames=typed.tails,
            progress=bar.advance,
        )


def _drawing(typed: Rendering, first_pixel: float) -> Drawing:
    from vidscore_evaluators.render.picture import Drawing as Wanted
    from vidscore_evaluators.render.style import Kind

    hidden = frozenset(Kind(HIDDEN[name]) for name in typed.hide if HIDDEN[name])
    return Wanted(hidden, "plates" not in typed.hide, typed.scale, first_pixel)


@contextmanager
def _writer(typed: Rendering, frames_per_s: float) -> Iterator[PictureWriter]:
    """Writer of the pictures; the video or folder appears only when it is complete."""
    from vidscore_evaluators.render.writers import FolderWriter, VideoWriter

    path = Path(typed.output)
    if not typed.is_video:
        with atomic_folder(path) as folder:
            yield FolderWriter(folder, typed.image_format)
        return
    whole = led_to(path)
    neighbour = neighbour_of(whole, ".part.mp4")  # OpenCV needs the suffix
    try:
        with removing_at_a_signal(neighbour):
            with VideoWriter(neighbour, typed.frames_per_s or frames_per_s) as writer:
                yield writer
            neighbour.replace(whole)
    except OSError as error:
        raise about(path, error) from None
    finally:
        remove(neighbour)


def _document(
    typed: Rendering, evaluator: Evaluator[Any], views: Iterable[FrameView]
) -> dict[str, Any]:
    from vidscore_evaluators.render.writers import picture_file

    return {
        "output": typed.output,
        "evaluator": evaluator.name,
        "frames": [
            {
                "domain": view.sequence.domain,
                "sequence": view.sequence.sequence,
                "frame": view.number,
                "picture": None
                if typed.is_video
                else picture_file(view.sequence, view.number, typed.image_format),
                **{kind.value: count for kind, count in view.counts.items()},
            }
            for view in views
        ],
    }


def _lines(
    typed: Rendering,
    evaluator: Evaluator[Any],
    views: Iterable[FrameView],
    chosen: Chosen,
    count: int,
) -> Iterator[str]:
    """The summary for people."""
    from vidscore_evaluators.annotations import sequence_name
    from vidscore_evaluators.render.strip import counts_in_words

    of = f"{evaluator.name} of {evaluator.preset}" if evaluator.preset else evaluator.name
    yield f"{'outcomes':9} {of}"
    yield f"{'frames':9} {count}, {counted(len(chosen.of), 'sequence')}"
    if typed.media is None:
        guessed = ", of the size that its objects need" if chosen.guessed else ""
        yield f"{'media':9} none: drawn on a blank canvas{guessed}"
    if typed.worst is not None:
        for view in islice(views, LISTED):
            name = " ".join(filter(None, [sequence_name(view.sequence), f"frame {view.number}"]))
            yield f"{'worst':9} {name}: {counts_in_words(view.counts)}"
