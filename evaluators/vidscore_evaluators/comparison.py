"""Comparing systems: files or arrays of several systems against the first of them, in one call.

`compare` is the library function, ``from vidscore_evaluators import compare``; `contest_of` takes
input that is already read. `vidscore_evaluators.trust.differences` has the computation.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from vidscore_evaluators.arguments import check_arguments
from vidscore_evaluators.errors import Fault, InputError, ParameterError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.formats import AUTO, OnError, Pair
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.preparation import Data, DataChoice, check_sides, judged_by, prepare
from vidscore_evaluators.remote_files import DataPath, data_path
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.selection import ALL, Selected, Selection
from vidscore_evaluators.selection import select as choose_part
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.trust.comparisons import Comparison, compare_systems
from vidscore_evaluators.trust.differences import TOP
from vidscore_evaluators.trust.resampling import COVERAGE, DRAWS
from vidscore_evaluators.trust.systems import Contest, Drawn


def compare(  # noqa: PLR0913 - a notebook's one call; all but three have defaults
    evaluator: str | EvaluatorSpec | Sequence[str | EvaluatorSpec],
    truth: Data,
    systems: Mapping[str, Data] | Sequence[str | os.PathLike[str]],
    *,
    draw: Literal["sequences", "frames"] = "sequences",
    draws: int = DRAWS,
    coverage: float = COVERAGE,
    seed: int = 1,
    top: int = TOP,
    specification: BenchmarkSpec | None = None,
    manifest: str | os.PathLike[str] | None = None,
    format: str = AUTO,  # noqa: A002 - the usual name
    on_error: OnError = "refuse",
    confidence_scale: str | None = None,
    select: Selection = ALL,
    workers: int = 1,
    progress: Progress | None = None,
    **parameters: Any,
) -> Comparison | Any:
    """Compare systems with the first of them, with confidence intervals of the differences.

    ``print(compare("f1", "truth/", ["a/", "b/"]))``

    Args:
        evaluator: Name of an evaluator or preset, or several, as for `score`.
        truth: A path, annotations, or arrays by the column names of generic CSV.
        systems: Detections of at least two systems, by name; systems given as paths alone are named
            after their files.
        draw: What is drawn for the intervals: whole sequences, or frames, if these are independent
            images, as in COCO.
        draws: Number of draws.
        coverage: Probability that an interval covers a figure on other sequences.
        seed: Seed of the draws.
        top: How many labels, domains, sequences and frames to list.
        specification: As for `score`; so are the other arguments.
        manifest: The same as a TOML file.
        format: Name of the files' format, or ``auto``.
        on_error: ``refuse`` to raise an error for a malformed row; ``skip`` to leave such rows out.
        confidence_scale: How to map the confidences of detections to numbers from 0 to 1.
        select: The part of the data to compare on; all by default.
        workers: Processes to use; the result does not depend on it.
        progress: Called with (steps done, steps in all), for one evaluator after another.
        parameters: Parameters, if there is one evaluator; a preset takes none.

    Returns:
        A comparison. For a preset of several evaluators a tuple in the order of its file; for
        several evaluators or presets a list.

    Raises:
        InputError: With every fault of the data, or if there are fewer than two systems.
        ParameterError: With every fault of the parameters, or if frames are to be drawn for an
            evaluator that judges whole sequences.
        SpecificationError: With every fault of the specification, or of a preset's file.
        UnknownEvaluatorError: If an evaluator is unknown.
    """
    check_arguments(
        evaluator=evaluator,
        systems=systems,
        draw=draw,
        draws=draws,
        coverage=coverage,
        seed=seed,
        top=top,
        specification=specification,
        manifest=manifest,
        format=format,
        on_error=on_error,
        confidence_scale=confidence_scale,
        select=select,
        workers=workers,
        progress=progress,
    )
    single = isinstance(evaluator, str | EvaluatorSpec)
    if parameters and not single:
        raise ParameterError(
            [Fault("parameters for several evaluators", "EvaluatorSpec(name, parameters) for each")]
        )
    judges = judged_by(
        evaluator, specification=specification, manifest=manifest, parameters=parameters
    )
    choice = DataChoice(format, on_error, confidence_scale)
    parts: dict[str, Selected] = {}
    held: Data | Source = truth
    for name, detections in named_systems(systems).items():
        whole = prepare(judges, held, detections, choice)
        held = whole.pair.truth  # read once
        parts[name] = choose_part(select, whole.evaluators, whole.pair, whole.specification)
    first = next(iter(parts.values()))
    contest = contest_of(
        first.evaluators,
        {name: part.pair for name, part in parts.items()},
        first.specification,
        Drawn(draw),
    )
    compared = [
        compare_systems(
            one,
            contest,
            draws=int(draws),
            coverage=float(coverage),
            seed=int(seed),
            top=int(top),
            workers=workers,
            progress=progress,
        )
        for one in first.evaluators
    ]
    if not single:
        return compared
    return compared[0] if len(compared) == 1 else tuple(compared)


def contest_of(
    evaluators: Sequence[Evaluator[Any]],
    pairs: Mapping[str, Pair],
    specification: BenchmarkSpec,
    drawn: Drawn = Drawn.SEQUENCES,
) -> Contest:
    """Systems to be compared.

    Args:
        evaluators: Evaluators of the specification.
        pairs: The same truth with the detections of each system, by name.
        specification: The benchmark's specification.
        drawn: What is drawn for intervals.

    Raises:
        InputError: With every fault of an input, with file and line, or entry; or if there are
            fewer than two systems.
    """
    if len(pairs) < 2:
        raise InputError([Fault(f"{len(pairs) or 'no'} system", "at least two to be compared")])
    for pair in pairs.values():
        sides = (pair.truth.annotations, pair.detections.annotations)
        try:
            check_sides(evaluators, *sides, specification)
        except InputError as error:
            raise type(error)([pair.locate(fault) for fault in error.faults]) from None
    truth = next(iter(pairs.values())).truth.annotations
    systems = {name: pair.detections.annotations for name, pair in pairs.items()}
    return Contest.of(truth, systems, specification, drawn)


def named_systems(
    systems: Mapping[str, Data] | Sequence[str | os.PathLike[str]],
) -> dict[str, Data]:
    """Systems by name; systems given as paths alone are named after their files.

    Raises:
        InputError: If there are fewer than two systems, or a path occurs twice.
    """
    if isinstance(systems, Mapping):
        named = dict(systems)
    else:
        paths = [data_path(path) for path in systems]
        named = dict(zip(system_names(paths), paths, strict=True))
    if len(named) < 2:
        raise InputError([Fault(f"{len(named) or 'no'} system", "at least two to be compared")])
    return named


def system_names(paths: Sequence[DataPath]) -> list[str]:
    """A name for each path: its file name, with as many of its folders as make it unique.

    Raises:
        InputError: If a path occurs twice.
    """
    whole = [Path(path).absolute() for path in paths]
    repeated = [str(path) for row, path in enumerate(paths) if whole[row] in whole[:row]]
    if repeated:
        raise InputError([Fault(f"{path} twice", "each system once") for path in repeated])
    names = [path.stem or str(path) for path in whole]
    depth = 1
    while len(set(names)) < len(names) and depth < max(len(path.parts) for path in whole):
        depth += 1
        names = [
            _long_name(path, depth) if names.count(name) > 1 else name
            for path, name in zip(whole, names, strict=True)
        ]
    # Files whose names differ only in their suffix.
    return [
        str(path) if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]


def _long_name(path: Path, depth: int) -> str:
    """The last folders of a path and the name of its file."""
    return "/".join([*path.parts[1:][-depth:-1], path.stem])
