"""`vidscore score`: detections in files against truth in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from vidscore_cli.archives import (
    ArchiveChoice,
    archive_options,
    merge_by_dask,
    wanted_of_shard,
    write_tally,
)
from vidscore_cli.command_tree import command
from vidscore_cli.inputs import (
    FileOptions,
    InputChoice,
    check_format_name,
    create_evaluators,
    read_data,
    read_specification,
    select_evaluators,
    select_part,
)
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
from vidscore_cli.output import check_output
from vidscore_cli.progress import ProgressBar
from vidscore_cli.reporting import Presentation, View, write_reports
from vidscore_cli.session import ExitCode
from vidscore_cli.thresholds import check_thresholds, fail_under_option, parse_thresholds

if TYPE_CHECKING:
    from vidscore_cli.reporting import Locate
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.formats.source import Wanted
    from vidscore_evaluators.report import Report
    from vidscore_evaluators.selection import Selection
    from vidscore_evaluators.shards.dealing import Shard
    from vidscore_evaluators.specification import BenchmarkSpec


@dataclass(frozen=True)
class FileScoring(FileOptions):
    """Options of `vidscore score`, by their names."""

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
    shard: Shard | None
    tally: str | None
    dask: str | None
    shards: int
    run_folder: str | None

    @property
    def archive(self) -> ArchiveChoice:
        """How the scoring is cut."""
        return ArchiveChoice(self.shard, self.tally, self.dask, self.shards, self.run_folder)


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
    ),
)
@evaluator_options()
@data_options()
@on_error_option()
@selection_options()
@online_option()
@workers_option()
@archive_options()
@format_option("table", "json", "csv", "markdown", "latex")
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
    """
    typed = FileScoring(**choices)
    if typed.online and typed.selection.frames is not None:
        raise click.UsageError("--online and --frames exclude each other; choose whole sequences")
    typed.archive.check(online=typed.online)
    check_output(typed.output)
    if typed.tally is not None:
        check_output(typed.tally, "--tally")
    manifest = read_specification(typed.manifest)
    specification, settings = select_evaluators(typed.evaluators, typed.settings, manifest)
    evaluators = create_evaluators(specification, typed.evaluators, settings)
    thresholds = parse_thresholds(typed.fail_under, evaluators)
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
    """Reports and the places of frames; None where a tally file was written in their place."""
    from vidscore_evaluators.scoring import score_pair

    choice = typed.choice(typed.detections, typed.on_error)
    if typed.dask is not None:
        merged = merge_by_dask(
            specification,
            choice,
            typed.selection,
            typed.archive,
            workers=typed.workers,
            progress=bar,
        )
        return merged.reports, merged.place_of
    bar.stage("reading")
    pair = read_data(choice, specification, wanted=_wanted(typed, choice, specification))
    part = select_part(typed.selection, evaluators, pair, specification)
    bar.stage("scoring")
    if typed.tally is not None:
        write_tally(part, typed.archive, workers=typed.workers, progress=bar)
        return None
    reports = score_pair(
        part.evaluators,
        part.pair,
        part.specification,
        online=typed.online,
        workers=typed.workers,
        progress=bar.advance,
    )
    return reports, pair.place_of


def _wanted(typed: FileScoring, data: InputChoice, specification: BenchmarkSpec) -> Wanted | None:
    """The sequences of the shard that was typed, where it need not read the others."""
    if typed.shard is None:
        return None
    check_format_name(data.input_format)
    return wanted_of_shard(typed.shard, specification, data, typed.selection)
