"""`vidscore trust ranking`: how reliable the order of some systems is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from vidscore_cli.command_tree import command
from vidscore_cli.input_paths import InputPath, name_and_path
from vidscore_cli.inputs import (
    InputChoice,
    Settings,
    create_evaluators,
    doubts,
    read_data,
    read_specification,
    select_evaluators,
    sent_specification,
    typed_fields,
)
from vidscore_cli.options import (
    ANYWHERE,
    NumberRange,
    all_faults_option,
    confidence_scale_option,
    evaluator_options,
    image_size_option,
    input_format_option,
    number_option,
    server_options,
    truth_option,
    workers_option,
)
from vidscore_cli.output import check_folder, check_output, deliver_json, write_atomically
from vidscore_cli.progress import ProgressBar
from vidscore_cli.records import within
from vidscore_cli.remote import ALL_TYPED, open_client, to_frames
from vidscore_cli.reporting import show_warnings
from vidscore_cli.sites import ServerChoice
from vidscore_cli.trust_output import (
    WAITING,
    deliver_tables,
    form_options,
    outcome_of,
    seed_option,
    show_progress,
)
from vidscore_cli.unwritable import about
from vidscore_evaluators.errors import InputError

if TYPE_CHECKING:
    from vidscore_client import Client, EvaluatorChoice
    from vidscore_evaluators.annotations import Annotations
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.formats.source import Source
    from vidscore_evaluators.specification import BenchmarkSpec
    from vidscore_evaluators.trust.analyses import Document
    from vidscore_evaluators.trust.ranking import Questions

ALIKE = (
    "Systems that share a letter under `alike` cannot be told apart by other draws of sequences."
)

NOTES = (
    "Over the values, R_S is the number of other ranks of a system, R_std the standard deviation",
    "of its ranks, R_Sen the mean change from one value to the next.",
)

READING = "reading"

TOO_FEW = (
    "at least two systems are needed: give --truth, and --system twice or more, "
    "or name a --benchmark"
)


class RankingExamination(Struct, frozen=True):
    """Options of `vidscore trust ranking`, by name."""

    evaluators: tuple[str, ...]
    settings: tuple[str, ...]
    manifest: str | None
    truth: str | None
    systems: tuple[str, ...]
    benchmark: str | None
    submissions: tuple[str, ...]
    server: ServerChoice
    server_is_typed: bool
    input_format: str
    image_size: tuple[int, int] | None
    confidence_scale: str | None
    draws: int
    noise_px: float
    trials: int
    seed: int
    workers: int
    pictures: str | None
    format_: str
    output: str


@command(
    "ranking",
    examples=(
        "vidscore trust ranking f1 --truth truth --system a=detections --system b=truth",
        "vidscore trust ranking --benchmark sky --draws 100",
    ),
)
@evaluator_options()
@truth_option(required=False)
@click.option(
    "--system",
    "systems",
    metavar="[NAME=]PATH",
    type=InputPath(),
    multiple=True,
    help=f"Detections of a system: {ANYWHERE}; two or more systems are needed.",
)
@input_format_option()
@image_size_option()
@confidence_scale_option()
@click.option(
    "--benchmark",
    metavar="BENCHMARK",
    help="Examine the ranking of this hosted benchmark, on its server, instead of files.",
)
@click.option(
    "--submission",
    "submissions",
    metavar="SUBMISSION",
    multiple=True,
    help="One of its scored submissions; name two or more. [default: all]",
)
@server_options()
@number_option("--draws", 0, 100_000, 1000, "Draws of sequences for the bootstrap; 0 for none.")
@click.option(
    "--noise-px",
    type=NumberRange(0.0, 1000.0),
    default=0.0,
    show_default=True,
    help="Move each coordinate of the truth by up to this many pixels, and see what changes.",
)
@number_option("--trials", 1, 10_000, 20, "Trials with noise.")
@seed_option()
@workers_option()
@click.option(
    "--pictures",
    metavar="FOLDER",
    type=click.Path(),
    help="Write an SVG picture of the ranks over each parameter to this folder, which may be new.",
)
@form_options()
@all_faults_option()
def ranking(**choices: Any) -> None:
    """Examine how reliable the order of some systems is.

    Would another threshold, other sequences, other annotations, or another evaluator change it?
    EVALUATOR is one or more names that `vidscore evaluators` lists; those that compare boxes by IoU
    also run with GIoU unless their base is set. The systems are files or, with --benchmark,
    submissions; without an EVALUATOR, the benchmark's own evaluators rank them. With files and
    --server, that server examines them and stores nothing.
    """
    from vidscore_evaluators.trust.ranking import Questions

    source = click.get_current_context().get_parameter_source("server")
    there = source is click.core.ParameterSource.COMMANDLINE
    typed = RankingExamination(server_is_typed=there, **choices)
    check_output(typed.output)
    if typed.pictures is not None:
        check_folder(typed.pictures, "--pictures")
    questions = Questions(
        draws=typed.draws, noise_px=typed.noise_px, trials=typed.trials, seed=typed.seed
    )
    if typed.benchmark is None:
        document = _examine_files(typed, questions)
    else:
        _refuse_options_of_files(typed)
        document = _examine_hosted(typed, typed.benchmark, questions)
    _deliver(document, typed)


def _refuse_options_of_files(typed: RankingExamination) -> None:
    given = {
        "--truth": typed.truth,
        "--system": typed.systems,
        "--manifest": typed.manifest,
        "--input-format": typed.input_format != "auto",
        "--image-size": typed.image_size,
        "--confidence-scale": typed.confidence_scale,
        "--workers": typed.workers != 1,
    }
    names = [name for name, value in given.items() if value]
    if names:
        raise click.UsageError(f"not together with --benchmark: {', '.join(names)}")


def _examine_files(typed: RankingExamination, questions: Questions) -> Document:
    from vidscore_evaluators.trust.analyses import RankingAnalysis
    from vidscore_evaluators.trust.systems import Contest, Request

    if typed.submissions:
        raise click.UsageError("--submission needs --benchmark")
    paths = _system_paths(typed.systems)
    manifest = read_specification(typed.manifest)
    specification, settings = select_evaluators(typed.evaluators, typed.settings, manifest)
    if typed.server_is_typed:
        return _examine_there(typed, questions, paths, specification, settings)
    chosen = create_evaluators(specification, typed.evaluators, settings)
    evaluators = [each for one in chosen for each in _variants(one, settings.get(one.name, {}))]
    with ProgressBar() as bar:
        bar.stage(READING)
        truth, systems = _read_sides(typed, paths, evaluators, specification)
        contest = Contest.of(truth, systems, specification)
        analysis = RankingAnalysis(tuple(map(Request.of, evaluators)), contest, questions)
        return analysis.run(workers=typed.workers, progress=bar.show)


def _examine_there(
    typed: RankingExamination,
    questions: Questions,
    paths: dict[str, str],
    specification: BenchmarkSpec,
    settings: Settings,
) -> Document:
    """Let the typed server examine the files; it may have evaluators that are unknown here."""
    from vidscore_client import RankingQuestions
    from vidscore_evaluators.convert import to_dict

    if typed.workers != 1:
        raise click.UsageError("not together with --server: --workers")
    sent, _ = sent_specification(specification, typed.evaluators, settings)
    fields = typed_fields(sent, typed.evaluators, settings)
    with ProgressBar() as bar:
        bar.stage(READING)
        truth, systems = _read_sides(typed, paths, (), specification)
    with ProgressBar() as bar, open_client(typed.server, typed=fields) as client:
        bar.stage("sending")
        return client.trust.examine_upload(
            [to_frames(truth)],
            {name: [to_frames(detections)] for name, detections in systems.items()},
            evaluators=[(entry.name, settings.get(entry.name, {})) for entry in sent.evaluators],
            specification=to_dict(sent),
            questions=RankingQuestions(**asdict(questions)),
            on_progress=partial(show_progress, bar),
        )


def _examine_hosted(typed: RankingExamination, benchmark: str, questions: Questions) -> Document:
    """Let the server examine the ranking of a benchmark that it hosts."""
    from vidscore_client import RankingQuestions

    with ProgressBar() as bar, open_client(typed.server, typed=ALL_TYPED) as client:
        bar.stage(WAITING)
        analysis = client.trust.examine_ranking(
            benchmark,
            [within(benchmark, submission) for submission in typed.submissions],
            evaluators=_choices(client, benchmark, typed.evaluators, typed.settings),
            questions=RankingQuestions(**asdict(questions)),
        )
        return outcome_of(analysis, bar)


def _deliver(document: Document, typed: RankingExamination) -> None:
    from vidscore_evaluators.trust.pictures import ranking_pictures
    from vidscore_evaluators.trust.tables import doubt_of_draws, ranking_tables

    if typed.pictures is not None:
        folder = Path(typed.pictures)
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise about(folder, error) from None
        for name, picture in ranking_pictures(document):
            write_atomically(folder / name, picture.encode())
    if typed.format_ == "json":
        deliver_json(document, typed.output)
        return
    drawn = any(one["bootstrap"] is not None for one in document["rankings"])
    doubt = doubt_of_draws(document)
    notes = ([ALIKE] if drawn else []) + ([] if doubt is None else [doubt])
    deliver_tables(ranking_tables(document), [*notes, *NOTES], typed.output)


def _variants(evaluator: Evaluator[Any], settings: dict[str, str]) -> list[Evaluator[Any]]:
    """The evaluator with both bases, unless one was typed."""
    from vidscore_evaluators.trust.systems import with_both_bases

    return [evaluator] if "base" in settings else with_both_bases(evaluator)


def _system_paths(typed: Sequence[str]) -> dict[str, str]:
    """Path of each system's detections, by name; by default the name of the file."""
    paths: dict[str, str] = {}
    for entry in typed:
        name, path = name_and_path(entry)
        name = name or (Path(path).stem if path == entry else "")
        if not name:
            raise click.UsageError(f"--system {entry}: expected PATH or NAME=PATH")
        if name in paths:
            raise click.UsageError(f"--system {entry}: there is a system {name} already")
        paths[name] = path
    return paths


def _read_sides(
    typed: RankingExamination,
    paths: dict[str, str],
    evaluators: Sequence[Evaluator[Any]],
    specification: BenchmarkSpec,
) -> tuple[Annotations, dict[str, Annotations]]:
    from vidscore_evaluators.selection import Selected
    from vidscore_evaluators.trust.systems import check_system

    if typed.truth is None or len(paths) < 2:
        raise click.UsageError(TOO_FEW)
    read: Source | None = None
    truth: Annotations | None = None
    systems: dict[str, Annotations] = {}
    for name, path in paths.items():
        choice = InputChoice(
            typed.truth,
            path,
            typed.input_format,
            typed.image_size,
            confidence_scale=typed.confidence_scale,
        )
        pair = read_data(choice, specification, read)
        told = () if read is None else read.warnings
        read = pair.truth
        truth, systems[name] = read.annotations, pair.detections.annotations
        try:
            check_system(evaluators, truth, systems[name], specification)
        except InputError as error:
            raise type(error)([pair.locate(fault) for fault in error.faults]) from None
        part = Selected(list(evaluators), pair, specification)
        show_warnings([one for one in doubts(part) if one not in told], pair.place_of)
    if truth is None:
        raise click.UsageError(TOO_FEW)
    return truth, systems


def _choices(
    client: Client, benchmark: str, names: Sequence[str], settings: Sequence[str]
) -> list[EvaluatorChoice]:
    """The typed evaluators with their typed settings; the server knows the rest."""
    from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

    if not names and not settings:
        return []
    own = client.benchmarks.get(benchmark).definition["evaluators"]
    hosted = BenchmarkSpec(evaluators=tuple(EvaluatorSpec(entry["name"]) for entry in own))
    specification, typed = select_evaluators(names, settings, hosted)
    return [(entry.name, typed.get(entry.name, {})) for entry in specification.evaluators]
