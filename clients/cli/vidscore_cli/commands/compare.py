"""`vidscore compare`: whether a system is better than another, and what makes the difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import click

from vidscore_cli.command_tree import command
from vidscore_cli.comparison_output import FORMATS, deliver_comparisons
from vidscore_cli.input_paths import name_and_path
from vidscore_cli.inputs import (
    FileOptions,
    create_evaluators,
    doubts,
    read_data,
    read_specification,
    select_evaluators,
    select_part,
)
from vidscore_cli.options import (
    NumberRange,
    all_faults_option,
    confidence_scale_option,
    evaluator_options,
    format_option,
    image_size_option,
    input_format_option,
    number_option,
    on_error_option,
    output_option,
    selection_options,
    truth_option,
    workers_option,
)
from vidscore_cli.output import check_output, say
from vidscore_cli.progress import ProgressBar
from vidscore_cli.reporting import show_warnings
from vidscore_cli.session import ExitCode
from vidscore_cli.trust_output import seed_option
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.remote_files import RemotePath, data_path

if TYPE_CHECKING:
    from vidscore_evaluators.selection import Selected, Selection
    from vidscore_evaluators.trust.comparisons import Comparison


class FileComparison(FileOptions, frozen=True):
    """Options of `vidscore compare`, by name."""

    on_error: Literal["refuse", "skip"]
    selection: Selection
    draw: str
    draws: int
    coverage: float
    seed: int
    top: int
    fail_if_worse: bool
    workers: int
    format_: str
    output: str


@command(
    "compare",
    examples=(
        "vidscore compare clear --truth gt/ tracks/ others/",
        "vidscore compare map clear --truth gt/ ours=tracks/ theirs=others/ --top 10",
        "vidscore compare clear --truth gt/ tracks/ others/ --fail-if-worse",
    ),
)
@evaluator_options("[EVALUATOR]... A B [C]...")
@truth_option()
@input_format_option()
@image_size_option()
@confidence_scale_option()
@on_error_option()
@selection_options()
@click.option(
    "--draw",
    type=click.Choice(["sequences", "frames"]),
    default="sequences",
    show_default=True,
    help="What is drawn for the intervals: whole sequences, or frames, if these are independent "
    "images, as in COCO.",
)
@number_option("--draws", 1, 100_000, 1000, "Number of draws for the intervals.")
@click.option(
    "--coverage",
    type=NumberRange(0.5, 0.999),
    default=0.95,
    show_default=True,
    help="Probability that an interval covers a figure on other sequences.",
)
@seed_option()
@number_option(
    "--top",
    0,
    1000,
    5,
    "Number of labels, domains, sequences and frames to list that made a difference.",
)
@click.option(
    "--fail-if-worse",
    is_flag=True,
    help="Exit with 6 if a later system is worse than the first in the ranking measure, "
    "with an interval that excludes 0; never with fewer than 6 sequences.",
)
@workers_option()
@format_option(*FORMATS)
@output_option()
@all_faults_option()
def compare(**choices: Any) -> int:
    """Say whether a system is better than another, how certain that is, and why.

    EVALUATOR is as for `vidscore score`. The arguments after the evaluators are the systems: files
    or folders of detections, or NAME=PATH; each later one is compared with the first. Intervals
    come from random draws of the sequences, or of frames, the same for all systems. For the ranking
    scores, the labels, domains, sequences and frames that made the difference are listed. Write a
    system with the name of an evaluator as ./f1.
    """
    typed = FileComparison(**choices)
    check_output(typed.output)
    names, paths = _split(typed.evaluators)
    systems = _named(paths)
    manifest = read_specification(typed.manifest)
    specification, settings = select_evaluators(names, typed.settings, manifest)
    evaluators = create_evaluators(specification, names, settings)
    parts: dict[str, Selected] = {}
    with ProgressBar() as bar:
        bar.stage("reading")
        warnings = []
        truth = None
        for system, path in systems.items():
            pair = read_data(typed.choice(path, typed.on_error), specification, truth)
            truth = pair.truth
            parts[system] = select_part(typed.selection, evaluators, pair, specification)
            whose = parts[system]
            warnings += [(warning, whose.pair.place_of) for warning in doubts(whose)]
        comparisons = _compared(typed, parts, bar)
    for warning, place_of in {warning: (warning, place) for warning, place in warnings}.values():
        show_warnings([warning], place_of)
    deliver_comparisons(comparisons, typed.format_, typed.output)
    return _check(comparisons) if typed.fail_if_worse else ExitCode.OK


def _compared(
    typed: FileComparison, parts: dict[str, Selected], bar: ProgressBar
) -> list[Comparison]:
    from vidscore_evaluators.comparison import contest_of
    from vidscore_evaluators.trust.comparisons import compare_systems
    from vidscore_evaluators.trust.systems import Drawn

    first = next(iter(parts.values()))
    pairs = {name: part.pair for name, part in parts.items()}
    contest = contest_of(first.evaluators, pairs, first.specification, Drawn(typed.draw))
    found = []
    for evaluator in first.evaluators:
        bar.stage(f"comparing by {evaluator.name}")
        found.append(
            compare_systems(
                evaluator,
                contest,
                draws=typed.draws,
                coverage=typed.coverage,
                seed=typed.seed,
                top=typed.top,
                workers=typed.workers,
                progress=bar.advance,
            )
        )
    return found


def _check(comparisons: Sequence[Comparison]) -> ExitCode:
    """Report systems that are worse than the first on standard error; return the exit code.

    A warning says if there are too few sequences to find any.
    """
    from vidscore_evaluators.trust.differences import Verdict

    if not all(pair.are_enough for one in comparisons for pair in one.pairs):
        say(f"Warning: --fail-if-worse finds nothing: {comparisons[0].doubts[0]}", err=True)
    worse = [
        f"{answer} (--fail-if-worse)"
        for one in comparisons
        for pair, answer in zip(one.pairs, one.answers, strict=True)
        if pair.verdict is Verdict.WORSE
    ]
    for line in worse:
        say(f"Error: {line}", err=True)
    return ExitCode.THRESHOLD if worse else ExitCode.OK


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Evaluators, which come first, and systems."""
    from vidscore_evaluators.presets import preset_names
    from vidscore_evaluators.registry import evaluator_names

    known = {*evaluator_names(), *preset_names()}
    count = next(
        (row for row, word in enumerate(words) if word not in known and word[-5:] != ".toml"),
        len(words),
    )
    return list(words[:count]), list(words[count:])


def _named(words: Sequence[str]) -> dict[str, str]:
    """Path of each system, by name.

    Raises:
        click.UsageError: If there are fewer than two, a name or path comes twice, or there is
            nothing at a path.
    """
    from vidscore_evaluators.comparison import system_names

    split = [name_and_path(word) for word in words]
    try:
        names = system_names([data_path(path) for _, path in split])
    except InputError as error:
        raise click.UsageError("\n".join(fault.description for fault in error.faults)) from None
    named: dict[str, str] = {}
    for (given, path), name in zip(split, names, strict=True):
        if (given or name) in named:
            raise click.UsageError(f"there are two systems {given or name}: name them NAME=PATH")
        named[given or name] = path
    if len(named) < 2:
        raise click.UsageError(
            "at least two systems are needed after the evaluators: files or folders of detections"
        )
    _refuse_missing(named)
    return named


def _refuse_missing(named: dict[str, str]) -> None:
    """Refuse missing paths; a misspelled evaluator would otherwise pass as one."""
    from vidscore_evaluators.names import did_you_mean
    from vidscore_evaluators.presets import preset_names
    from vidscore_evaluators.registry import evaluator_names

    known = [*evaluator_names(), *preset_names()]
    for path in named.values():
        place = data_path(path)
        if path == "-" or isinstance(place, RemotePath) or place.exists():
            continue
        if path in known:
            raise click.UsageError(f"found {path} after a system, expected all evaluators first")
        advice = did_you_mean(path, known) or "vidscore evaluators lists these"
        raise click.UsageError(f"{path} is neither a file or folder nor an evaluator; {advice}")
