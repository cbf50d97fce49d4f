"""`vidscore trust ranking`: how far the order of some systems can be relied on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from vidscore_cli.inputs import InputChoice, read_data, read_specification
from vidscore_cli.output import check_output, deliver_json, write_atomically
from vidscore_cli.progress import ProgressBar
from vidscore_cli.selection import Settings, create_evaluators, select_evaluators
from vidscore_cli.server_choice import ServerChoice
from vidscore_cli.trust_remote import examine_files, examine_hosted
from vidscore_cli.trust_tables import deliver_tables
from vidscore_cli.warning_lines import show_warnings
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.formats import Pair
from vidscore_evaluators.plausibility.inputs import warnings_of_pair
from vidscore_evaluators.report import ReportWarning
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.trust.analyses import Document, RankingAnalysis
from vidscore_evaluators.trust.ranking import Questions
from vidscore_evaluators.trust.systems import Contest, Request, check_system, with_both_bases
from vidscore_evaluators.trust.tables import ranking_pictures, ranking_tables

ALIKE = (
    "Systems that share a letter under `alike` cannot be told apart by other draws of sequences."
)
NOTES = (
    "Over the values, R_S is how many other ranks a system has, R_std the standard deviation of",
    "its ranks, R_Sen the mean change from one value to the next.",
)

READING = "reading"

TOO_FEW = (
    "at least two systems are needed: give --truth, and --system twice or more, "
    "or name a --benchmark"
)


@dataclass(frozen=True)
class RankingExamination:
    """What is typed after `vidscore trust ranking`; the names are those of the options."""

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


def examine_ranking(typed: RankingExamination) -> None:
    """Examine the ranking of systems by evaluators, and write what is found.

    Raises:
        click.UsageError: If what was typed is wrong.
        VidscoreError: If the files are.
    """
    check_output(typed.output)
    _check_folder(typed.pictures)
    questions = Questions(
        draws=typed.draws, noise_px=typed.noise_px, trials=typed.trials, seed=typed.seed
    )
    if typed.benchmark is None:
        document = _examine_files(typed, questions)
    else:
        _refuse_options_of_files(typed)
        evaluators = (typed.evaluators, typed.settings)
        document = examine_hosted(
            typed.server, typed.benchmark, typed.submissions, evaluators, questions
        )
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
    if typed.submissions:
        raise click.UsageError("--submission: of which --benchmark?")
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
    """Let the server that was typed examine the files; it may have other evaluators than this."""
    if typed.workers != 1:
        raise click.UsageError("not together with --server: --workers")
    with ProgressBar() as bar:
        bar.stage(READING)
        truth, systems = _read_sides(typed, paths, (), specification)
    return examine_files(typed.server, (truth, systems), specification, settings, questions)


def _deliver(document: Document, typed: RankingExamination) -> None:
    if typed.pictures is not None:
        for name, picture in ranking_pictures(document):
            write_atomically(Path(typed.pictures) / name, picture.encode())
    if typed.format_ == "json":
        deliver_json(document, typed.output)
        return
    drawn = any(one["bootstrap"] is not None for one in document["rankings"])
    deliver_tables(ranking_tables(document), [ALIKE, *NOTES] if drawn else NOTES, typed.output)


def _variants(evaluator: Evaluator[Any], settings: dict[str, str]) -> list[Evaluator[Any]]:
    """The evaluator with both bases, unless one was typed."""
    return [evaluator] if "base" in settings else with_both_bases(evaluator)


def _system_paths(typed: Sequence[str]) -> dict[str, str]:
    """Path of each system's detections, by its name: that of the file unless another is given."""
    paths: dict[str, str] = {}
    for entry in typed:
        name, equals, path = entry.partition("=")
        name, path = (name, path) if equals else (Path(entry).stem, entry)
        if not name or not path:
            raise click.UsageError(f"--system {entry}: expected PATH or NAME=PATH")
        if name in paths:
            raise click.UsageError(f"--system {entry}: there is a system {name} already")
        paths[name] = path
    return paths


def _check_folder(pictures: str | None) -> None:
    if pictures is not None and not Path(pictures).is_dir():
        raise click.BadParameter(f"there is no folder {pictures}", param_hint="--pictures")


def _read_sides(
    typed: RankingExamination,
    paths: dict[str, str],
    evaluators: Sequence[Evaluator[Any]],
    specification: BenchmarkSpec,
) -> tuple[Annotations, dict[str, Annotations]]:
    if typed.truth is None or len(paths) < 2:
        raise click.UsageError(TOO_FEW)
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
        pair = read_data(choice, specification)
        truth, systems[name] = pair.truth.annotations, pair.detections.annotations
        try:
            check_system(evaluators, truth, systems[name], specification)
        except InputError as error:
            raise type(error)([pair.locate(fault) for fault in error.faults]) from None
        show_warnings((*pair.warnings, *_doubts(evaluators, pair)), pair.place_of)
    if truth is None:
        raise click.UsageError(TOO_FEW)
    return truth, systems


def _doubts(evaluators: Sequence[Evaluator[Any]], pair: Pair) -> Iterator[ReportWarning]:
    """What does not look right to one evaluator or another."""
    sides = (pair.truth.annotations, pair.detections.annotations)
    for needs in dict.fromkeys((one.needs.labels, one.needs.ranked) for one in evaluators):
        yield from warnings_of_pair(*sides, labels=needs[0], ranked=needs[1])
