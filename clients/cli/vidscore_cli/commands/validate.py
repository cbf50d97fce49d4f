"""`vidscore validate`: faults, warnings and content of a file or folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct, field, structs

from vidscore_cli.command_tree import command
from vidscore_cli.completions import complete_evaluator
from vidscore_cli.failures import lines_of
from vidscore_cli.inputs import check_format_name, check_scale_of_side, create_alone
from vidscore_cli.options import (
    all_faults_option,
    confidence_scale_option,
    format_option,
    image_size_option,
    input_format_option,
    side_option,
    strict_option,
    truth_option,
)
from vidscore_cli.output import STDOUT, deliver_json, deliver_table, headed
from vidscore_cli.progress import ProgressBar
from vidscore_cli.reporting import show_warnings
from vidscore_cli.session import ExitCode, Session
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.names import counted
from vidscore_evaluators.remote_files import data_path

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vidscore_evaluators.annotations import Side
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.formats import OnError, Pair
    from vidscore_evaluators.formats.source import Source
    from vidscore_evaluators.plausibility.inputs import Spread
    from vidscore_evaluators.report import FrameExample, ReportWarning


class FileCheck(Struct, frozen=True):
    """Options of `vidscore validate`, by name."""

    path: str
    truth: str | None
    input_format: str
    image_size: tuple[int, int] | None
    confidence_scale: str | None
    side: str
    evaluator: str | None
    strict: bool
    format_: str

    @property
    def checked_side(self) -> Side:
        """Side of the data; with ground truth given, it is detections."""
        from vidscore_evaluators.annotations import Side

        return Side.DETECTIONS if self.truth is not None else Side(self.side)


class Checked(Struct, frozen=True):
    """Result of a check.

    Attributes:
        source: The data; None if nothing could be read.
        faults: Its faults.
        warnings: Its warnings.
        pair: It and the ground truth, if that was given.
    """

    source: Source | None
    faults: Sequence[Fault] = ()
    warnings: Sequence[ReportWarning] = field(default_factory=tuple)
    pair: Pair | None = None

    def place_of(self, example: FrameExample) -> str:
        """File and line, or entry, of the frame that a warning names."""
        if self.pair is not None:
            return self.pair.place_of(example)
        return "" if self.source is None else self.source.place_of(example.sequence, example.frame)


@command(
    "validate",
    examples=(
        "vidscore validate truth.json",
        "vidscore validate detections.json --side detections --evaluator spotgeo",
        "vidscore validate detections.json --truth truth.json",
    ),
)
@click.argument("path", type=click.Path(readable=False))
@truth_option(required=False, help_="Ground truth to compare PATH with; PATH is then detections.")
@input_format_option()
@image_size_option()
@confidence_scale_option()
@side_option()
@click.option(
    "--evaluator",
    metavar="NAME",
    shell_complete=complete_evaluator,
    help="Also check the data against the rules of this evaluator or preset.",
)
@strict_option()
@format_option("table", "json")
@all_faults_option()
@click.pass_obj
def validate(session: Session, /, **choices: Any) -> int:
    """List everything that is or looks wrong in a file or folder, and describe its content.

    The exit code is 1 if something is wrong. What only looks wrong is a warning.
    """
    typed = FileCheck(**choices)
    check_format_name(typed.input_format)
    check_scale_of_side(typed.confidence_scale, typed.checked_side)
    evaluators = [] if typed.evaluator is None else create_alone(typed.evaluator)
    with ProgressBar() as bar:
        bar.stage("reading")
        checked = _check(typed, evaluators)
    show_warnings(checked.warnings, checked.place_of)
    if typed.format_ == "json":
        document = {
            "path": typed.path,
            "side": typed.checked_side.value,
            **({} if checked.source is None else _summary(checked.source, checked)),
            "faults": [structs.asdict(fault) for fault in checked.faults],
        }
        deliver_json(document, STDOUT)
    elif checked.source is None or checked.faults:
        heading = f"{typed.path}: {counted(len(checked.faults), 'fault')}"
        lines = lines_of(checked.faults, session.all_faults)
        deliver_table(headed(heading, lines, "bold red"), STDOUT)
    else:
        deliver_table(_acceptance(typed.path, checked.source, checked), STDOUT)
    refused = checked.faults or (typed.strict and _beyond_notes(checked.warnings))
    return ExitCode.INPUT if refused else ExitCode.OK


def _check(typed: FileCheck, evaluators: Sequence[Evaluator[Any]]) -> Checked:
    from vidscore_evaluators.preparation import (
        can_be_read_again,
        refused_by,
        unknown_sequence_faults,
    )
    from vidscore_evaluators.specification import BenchmarkSpec

    side = typed.checked_side
    try:
        source, pair = _read(typed)
    except InputError as error:
        found = dict.fromkeys(error.faults)
        paths = [data_path(path) for path in (typed.path, typed.truth) if path is not None]
        with suppress(InputError):  # perhaps nothing else can be read
            if (evaluators or typed.truth) and all(map(can_be_read_again, paths)):
                rest, pair = _read(typed, on_error="skip")
                found |= dict.fromkeys(refused_by(evaluators, side, rest))
                if pair is not None:
                    found |= dict.fromkeys(unknown_sequence_faults(pair, BenchmarkSpec()))
        return Checked(None, tuple(found))
    faults = dict.fromkeys(refused_by(evaluators, side, source))  # common ones only once
    if pair is not None:
        faults |= dict.fromkeys(unknown_sequence_faults(pair, BenchmarkSpec()))
    return Checked(source, tuple(faults), tuple(_doubts(source, pair, side, evaluators)), pair)


def _read(typed: FileCheck, on_error: OnError = "refuse") -> tuple[Source, Pair | None]:
    from vidscore_evaluators.formats import read_pair, read_source
    from vidscore_evaluators.preparation import scaled
    from vidscore_evaluators.presets import format_of
    from vidscore_evaluators.specification import EvaluatorSpec

    entries = [] if typed.evaluator is None else [EvaluatorSpec(typed.evaluator)]
    format_name = format_of(entries, typed.input_format, files=True)
    if typed.truth is None:
        source = read_source(
            data_path(typed.path),
            typed.checked_side,
            format_name=format_name,
            on_error=on_error,
            image_size=typed.image_size,
            scaled=typed.confidence_scale is not None,
        )
        return scaled(source, typed.confidence_scale), None
    pair = read_pair(
        data_path(typed.truth),
        data_path(typed.path),
        format_name=format_name,
        on_error=on_error,
        image_size=typed.image_size,
        scaled=typed.confidence_scale is not None,
    )
    pair = structs.replace(pair, detections=scaled(pair.detections, typed.confidence_scale))
    return pair.detections, pair


def _doubts(
    source: Source, pair: Pair | None, side: Side, evaluators: Sequence[Evaluator[Any]]
) -> Iterator[ReportWarning]:
    from vidscore_evaluators.plausibility.image_sizes import warnings_of_positions
    from vidscore_evaluators.plausibility.inputs import (
        warnings_of_frames,
        warnings_of_pair,
        warnings_of_side,
    )
    from vidscore_evaluators.plausibility.labels import LabelUse

    ranked = any(evaluator.needs.ranked for evaluator in evaluators) if evaluators else None
    if pair is None:
        yield from source.warnings
        yield from warnings_of_positions(side, source.annotations, source.image_sizes)
        yield from warnings_of_side(side, source.annotations, ranked=ranked)
        return
    yield from pair.warnings
    yield from warnings_of_frames(pair.truth.annotations, pair.detections.annotations)
    uses = {evaluator.needs.labels for evaluator in evaluators}
    yield from warnings_of_pair(
        pair.truth.annotations,
        pair.detections.annotations,
        labels=next((use for use in LabelUse if use in uses), LabelUse.EXACT),
        ranked=ranked,
        tracked=any(evaluator.needs.tracks for evaluator in evaluators),
    )


def _beyond_notes(warnings: Sequence[ReportWarning]) -> list[ReportWarning]:
    return [warning for warning in warnings if not warning.is_note]


def _summary(source: Source, checked: Checked) -> dict[str, Any]:
    from vidscore_evaluators.annotations import ARITIES
    from vidscore_evaluators.plausibility.inputs import contents_of

    annotations = source.annotations
    contents = contents_of(annotations)
    beside = {} if checked.pair is None else {"only_in_truth": _only_in_truth(checked.pair)}
    return {
        "format": source.format,
        "shape": ARITIES[annotations.arity],
        "sequences": len(annotations.sequences),
        "frames": annotations.frame_count,
        "empty_frames": contents.empty_frames,
        "objects": annotations.object_count,
        "classes": [label for label in annotations.labels if label],
        "objects_by_class": contents.labels,
        **beside,
        "width_px": _spread(contents.width_px),
        "height_px": _spread(contents.height_px),
        "tracks": contents.tracks,
        "track_frames": _spread(contents.track_frames),
        "warnings": [
            {"code": warning.code, "message": warning.message, "count": warning.count}
            for warning in checked.warnings
        ],
    }


def _only_in_truth(pair: Pair) -> list[str]:
    """Labels without any detection: not a fault, but worth knowing."""
    from vidscore_evaluators.plausibility.inputs import contents_of

    detected = contents_of(pair.detections.annotations).labels
    return [label for label in contents_of(pair.truth.annotations).labels if label not in detected]


def _spread(spread: Spread | None) -> dict[str, float] | None:
    return None if spread is None else spread._asdict()


def _acceptance(path: str, source: Source, checked: Checked) -> RenderableType:
    count = len(_beyond_notes(checked.warnings))
    doubtful = counted(count, "thing looks", "things look")
    heading = f"{path}: readable, but {doubtful} wrong" if count else f"{path}: nothing is wrong"
    lines = [f"{name:10} {value}" for name, value in _shown(_summary(source, checked))]
    return headed(heading, lines)


def _shown(summary: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Lines of the summary, without empty entries."""
    from vidscore_evaluators.formats.source import listed_names

    for name in ("format", "shape", "sequences", "frames"):
        yield name, str(summary[name])
    if summary["empty_frames"]:
        yield "empty", f"{counted(summary['empty_frames'], 'frame')} without objects"
    yield "objects", str(summary["objects"])
    labels = [f"{name or '(none)'} {count}" for name, count in summary["objects_by_class"].items()]
    yield "classes", listed_names(labels) if summary["classes"] else "none"
    if summary.get("only_in_truth"):
        yield "missing", f"only in the ground truth: {listed_names(summary['only_in_truth'])}"
    for name in ("width", "height"):
        if spread := summary[f"{name}_px"]:
            yield name, f"{_range(spread)} px"
    if spread := summary["track_frames"]:
        yield "tracks", f"{summary['tracks']}, frames of each: {_range(spread)}"


def _range(spread: dict[str, float]) -> str:
    least, median, greatest = (f"{value:.4g}" for value in spread.values())
    return least if least == greatest else f"{least} to {greatest} (median {median})"
