"""`vidscore score`: detections in files against truth in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any, Literal

import click

from vidscore_cli.archives import (
    ArchiveOptions,
    archive_options,
    merging_by_dask,
    reading_of,
    wanted_of_shard,
    write_tally,
)
from vidscore_cli.command_tree import command
from vidscore_cli.inputs import (
    InputChoice,
    chosen_evaluators,
    read_data,
    read_truth,
    select_part,
)
from vidscore_cli.many_systems import PARQUET, score_each, systems_matching, write_systems
from vidscore_cli.options import (
    all_faults_option,
    data_options,
    evaluator_options,
    format_option,
    on_error_option,
    online_option,
    output_option,
    selection_options,
    strict_option,
    view_options,
    workers_option,
)
from vidscore_cli.output import STDOUT, check_output
from vidscore_cli.progress import ProgressBar
from vidscore_cli.reporting import Presentation, View, write_reports
from vidscore_cli.session import ExitCode
from vidscore_cli.thresholds import check_thresholds, fail_under_option, parse_thresholds

if TYPE_CHECKING:
    from vidscore_cli.reporting import Locate
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.formats import Pair
    from vidscore_evaluators.report import Report
    from vidscore_evaluators.selection import Selection
    from vidscore_evaluators.shards.merging import Merged
    from vidscore_evaluators.specification import BenchmarkSpec


class FileScoring(ArchiveOptions, frozen=True):
    """Options of `vidscore score`, by name."""

    detections: str
    on_error: Literal["refuse", "skip"]
    selection: Selection
    online: bool
    workers: int
    format_: str
    output: str
    sequences: bool
    curves: bool
    strict: bool
    fail_under: tuple[str, ...]


@command(
    "score",
    examples=(
        "vidscore score spotgeo --truth truth.json --detections detections.json",
        "vidscore score neovision2 --truth truth/ --detections detections/ --format json",
        "vidscore score spotgeo --set tau=5 --truth truth.json --detections detections.json",
        "vidscore score mot17 --truth gt/ --detections tracks/",
        "vidscore score clear --truth gt/ --detections tracks/ --fail-under mota=0.8",
        "vidscore score clear --truth gt/ --detections tracks/ --sequence MOT17-02 --frames 1:2",
        "vidscore score clear --truth gt/ --detections tracks/ --shard 3/64 --tally 3.tally",
        "vidscore score clear --truth gt/ --detections 'runs/*/' --format csv --output runs.csv",
    ),
)
@evaluator_options()
@data_options()
@on_error_option()
@selection_options()
@online_option()
@workers_option()
@archive_options()
@format_option("table", "json", "csv", "markdown", "latex", PARQUET)
@output_option()
@view_options()
@strict_option()
@fail_under_option()
@all_faults_option()
def score(**choices: Any) -> int:
    """Score detections in files against truth in files.

    EVALUATOR is one or more names of evaluators or presets that `vidscore evaluators` lists, or
    the file of a preset of your own; a --manifest may name them instead. The exit code is 6 if a
    threshold of --fail-under is not met.

    Detections may be a pattern in quotes, such as 'runs/*/': each path that it matches is a system,
    and all are written as one table, best first. If a system cannot be scored, it is named, the
    others are still scored, and the exit code is 1.
    """
    typed = FileScoring(**choices)
    if typed.online and typed.selection.frames is not None:
        raise click.UsageError("--online and --frames exclude each other; choose whole sequences")
    typed.check(online=typed.online)
    check_output(typed.output)
    if typed.tally is not None:
        check_output(typed.tally, "--tally")
    specification, evaluators = chosen_evaluators(typed.evaluators, typed.settings, typed.manifest)
    if typed.cut_frames is not None:
        from vidscore_evaluators.shards.dealing import check_cut

        check_cut(evaluators, typed.cut_frames)
    thresholds = parse_thresholds(typed.fail_under, evaluators)
    systems = systems_matching(typed.detections)
    if systems is not None:
        _refuse_of_one(typed)
        return _score_systems(typed, systems, evaluators, specification)
    if typed.format_ == PARQUET:
        raise click.UsageError(f"--format {PARQUET} needs several systems: --detections 'runs/*/'")
    with ProgressBar() as bar:
        scored = _score(typed, evaluators, specification, bar)
    if scored is None:
        return ExitCode.OK
    reports, locate = scored
    view = View(sequences=typed.sequences, curves=typed.curves)
    write_reports(reports, Presentation(typed.format_, typed.output, view, typed.strict, locate))
    return check_thresholds(thresholds, reports)


def _score(
    typed: FileScoring,
    evaluators: Sequence[Evaluator[Any]],
    specification: BenchmarkSpec,
    bar: ProgressBar,
) -> tuple[Sequence[Report], Locate] | None:
    """Reports and the places of frames; None if a tally file was written instead."""
    choice = typed.choice(typed.detections, typed.on_error)
    if typed.dask is not None:
        with _merging(typed, specification, bar) as merge:
            merged = merge(choice)
        return merged.reports, merged.place_of
    bar.stage("reading")
    wanted = wanted_of_shard(typed, specification, choice, typed.selection)
    pair = read_data(choice, specification, wanted=wanted)
    if typed.tally is not None:
        part = select_part(typed.selection, evaluators, pair, specification)
        bar.stage("scoring")
        reading = reading_of(typed, choice, typed.selection)
        write_tally(part, typed, reading, workers=typed.workers, progress=bar)
        return None
    return _reports(typed, evaluators, pair, specification, bar), pair.place_of


def _reports(
    typed: FileScoring,
    evaluators: Sequence[Evaluator[Any]],
    pair: Pair,
    specification: BenchmarkSpec,
    bar: ProgressBar,
) -> Sequence[Report]:
    from vidscore_evaluators.scoring import score_pair

    part = select_part(typed.selection, evaluators, pair, specification)
    bar.stage("scoring")
    return score_pair(
        part.evaluators,
        part.pair,
        part.specification,
        online=typed.online,
        workers=typed.workers,
        progress=bar.advance,
    )


def _merging(
    typed: FileScoring, specification: BenchmarkSpec, bar: ProgressBar
) -> AbstractContextManager[Callable[[InputChoice], Merged]]:
    return merging_by_dask(
        specification, typed.selection, typed, workers=typed.workers, progress=bar
    )


def _refuse_of_one(typed: FileScoring) -> None:
    """Refuse options of the report of one system.

    Raises:
        click.UsageError: If one was typed.
    """
    for option, wanted in (
        ("--tally", typed.tally is not None),
        ("--sequences", typed.sequences),
        ("--curves", typed.curves),
        ("--fail-under", bool(typed.fail_under)),
    ):
        if wanted:
            raise click.UsageError(
                f"{option} can only be used with one system, not with a pattern of several"
            )
    if typed.format_ == PARQUET and typed.output == STDOUT:
        raise click.UsageError(f"--format {PARQUET} needs --output: the file to write")


def _score_systems(
    typed: FileScoring,
    systems: Sequence[str],
    evaluators: Sequence[Evaluator[Any]],
    specification: BenchmarkSpec,
) -> int:
    """Score each system of a pattern and write the table of all."""
    with ProgressBar() as bar, ExitStack() as stack:
        if typed.dask is not None:
            merge = stack.enter_context(_merging(typed, specification, bar))

            def score_one(system: str) -> Sequence[Report]:
                return merge(typed.choice(system, typed.on_error)).reports
        else:
            bar.stage("reading")
            truth = read_truth(
                typed.truth,
                typed.input_format,
                specification,
                image_size=typed.image_size,
                on_error=typed.on_error,
            )

            def score_one(system: str) -> Sequence[Report]:
                bar.stage(f"scoring {system}")
                choice = typed.choice(system, typed.on_error)
                pair = read_data(choice, specification, truth)
                return _reports(typed, evaluators, pair, specification, bar)

        scored = score_each(systems, evaluators, score_one, strict=typed.strict)
    missing_count = len(systems) - len(scored)
    return write_systems(evaluators, scored, missing_count, typed.format_, typed.output)
