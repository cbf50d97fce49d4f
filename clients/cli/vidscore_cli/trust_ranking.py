"""`vidscore trust ranking`: how far the order of some systems can be relied on."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from vidscore_cli.inputs import InputChoice, read_data, read_specification
from vidscore_cli.output import check_output, deliver, write_atomically
from vidscore_cli.progress import ProgressBar
from vidscore_cli.selection import create_evaluators, select_evaluators
from vidscore_cli.trust_tables import deliver_tables
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.scoring import check_sides
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.trust.pictures import rank_picture
from vidscore_evaluators.trust.ranking import Questions, RankingTrust, examine
from vidscore_evaluators.trust.ranking_tables import ranking_document, ranking_tables
from vidscore_evaluators.trust.systems import Contest, with_both_bases

ALIKE = (
    "Systems that share a letter under `alike` cannot be told apart by other draws of sequences."
)
NOTES = (
    "Over the values, R_S is how many other ranks a system has, R_std the standard deviation of",
    "its ranks, R_Sen the mean change from one value to the next.",
)


@dataclass(frozen=True)
class RankingExamination:
    """What is typed after `vidscore trust ranking`; the names are those of the options."""

    evaluators: tuple[str, ...]
    settings: tuple[str, ...]
    manifest: str | None
    truth: str
    systems: tuple[str, ...]
    input_format: str
    image_size: tuple[int, int] | None
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
    paths = _system_paths(typed.systems)
    _check_folder(typed.pictures)
    manifest = read_specification(typed.manifest)
    specification, settings = select_evaluators(typed.evaluators, typed.settings, manifest)
    chosen = create_evaluators(specification, typed.evaluators, settings)
    evaluators = [each for one in chosen for each in _variants(one, settings.get(one.name, {}))]
    questions = Questions(
        draws=typed.draws,
        noise_px=typed.noise_px,
        trials=typed.trials,
        seed=typed.seed,
        workers=typed.workers,
    )
    with ProgressBar() as bar:
        bar.stage("reading")
        contest = _read_contest(typed, paths, evaluators, specification)
        examined = []
        for evaluator in evaluators:
            bar.stage(f"examining {evaluator.name}")
            examined.append(examine(evaluator, contest, questions, bar.advance))
    if typed.pictures is not None:
        _write_pictures(Path(typed.pictures), list(paths), examined)
    if typed.format_ == "json":
        document = ranking_document(list(paths), examined, typed.seed)
        deliver(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False), typed.output)
    else:
        notes = [ALIKE, *NOTES] if any(one.bootstrap for one in examined) else NOTES
        deliver_tables(ranking_tables(list(paths), examined, typed.seed), notes, typed.output)


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


def _read_contest(
    typed: RankingExamination,
    paths: dict[str, str],
    evaluators: Sequence[Evaluator[Any]],
    specification: BenchmarkSpec,
) -> Contest:
    systems: dict[str, Annotations] = {}
    truth: Annotations | None = None
    for name, path in paths.items():
        choice = InputChoice(typed.truth, path, typed.input_format, typed.image_size)
        pair = read_data(choice, specification)
        truth, systems[name] = pair.truth.annotations, pair.detections.annotations
        try:
            check_sides(evaluators, truth, systems[name], specification)
        except InputError as error:
            raise type(error)([pair.locate(fault) for fault in error.faults]) from None
    if truth is None or len(systems) < 2:
        raise click.UsageError("at least two systems are needed: give --system twice or more")
    return Contest.of(evaluators, truth, systems, specification)


def _write_pictures(folder: Path, systems: Sequence[str], examined: Sequence[RankingTrust]) -> None:
    for one in examined:
        for sweep in one.sweeps:
            title = f"{one.title}: rank by {sweep.parameter}"
            name = re.sub(r"[^a-z0-9_]+", "-", f"{one.title} {sweep.parameter}".lower())
            picture = rank_picture(title, sweep.parameter, sweep.values, sweep.ranks, systems)
            write_atomically(folder / f"{name}.svg", picture.encode())
