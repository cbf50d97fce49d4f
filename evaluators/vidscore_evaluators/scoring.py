"""Scoring: read files, score detections against truth, in one call each.

`read`, `score` and `outcomes` are the library, ``from vidscore_evaluators import read, score``;
`score_pair`, `outcomes_of_pair` and `score_annotations` take input that is already read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from vidscore_evaluators.alignment import read_only, resolve
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.arguments import check_arguments
from vidscore_evaluators.errors import Fault, InputError, ParameterError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.formats import AUTO, OnError, Pair, read_source
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.jobs import outcomes_in_parts, tally_in_parts
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes, concatenate_outcomes
from vidscore_evaluators.preparation import (
    Data,
    DataChoice,
    check_sides,
    checked_truth,
    judged_by,
    prepare,
    scaled,
)
from vidscore_evaluators.registry import usable_evaluators
from vidscore_evaluators.remote_files import data_path
from vidscore_evaluators.report import Report, with_warnings
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.selection import ALL, Selection
from vidscore_evaluators.shards.dealing import SHARDS
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.streaming_accuracy import score_online

if TYPE_CHECKING:
    from concurrent.futures import Executor


def read(
    path: str | os.PathLike[str],
    *,
    side: Side | str = Side.TRUTH,
    format: str = AUTO,  # noqa: A002 - the usual name
    on_error: OnError = "refuse",
    limits: ReadLimits = ReadLimits(),
    image_size: tuple[int, int] | None = None,
    confidence_scale: str | None = None,
) -> Annotations:
    """Read truth or detections.

    Args:
        path: File or folder, or an address such as ``s3://bucket/truth``.
        side: ``truth`` or ``detections``; some formats allow more in the truth.
        format: Name of a format, or ``auto`` to detect it by content.
        on_error: ``refuse`` to raise an error for a malformed row, ``skip`` to leave it out.
        limits: Limits of size.
        image_size: Width and height of every image in pixels, for formats that lack it.
        confidence_scale: How to map confidences to numbers from 0 to 1: ``sigmoid``, or the bounds
            ``MIN,MAX`` that map to 0 and 1; unchanged by default.

    Returns:
        The annotations. Their arrays cannot be written to, because reports may hold them.

    Raises:
        InputError: With every fault, with file, line and column or entry.
        ParameterError: With every other wrong argument.
    """
    check_arguments(
        path=path,
        side=side,
        format=format,
        on_error=on_error,
        limits=limits,
        image_size=image_size,
        confidence_scale=confidence_scale,
    )
    source = read_source(
        data_path(path),
        Side(side),
        format_name=format,
        on_error=on_error,
        limits=limits,
        image_size=image_size,
        scaled=confidence_scale is not None,
    )
    return read_only(scaled(source, confidence_scale).annotations)


@overload
def score(  # type: ignore[overload-overlap]  # a str is a Sequence too; this signature takes it
    evaluator: str | EvaluatorSpec,
    truth: Data,
    detections: Data,
    *,
    specification: BenchmarkSpec | None = ...,
    manifest: str | os.PathLike[str] | None = ...,
    format: str = ...,
    on_error: OnError = ...,
    confidence_scale: str | None = ...,
    select: Selection = ...,
    online: bool = ...,
    workers: int = ...,
    executor: Executor | None = ...,
    shards: int = ...,
    progress: Progress | None = ...,
    **parameters: Any,
) -> Report | Any: ...  # a tuple for a preset of several evaluators, which no type can tell


@overload
def score(
    evaluator: Sequence[str | EvaluatorSpec],
    truth: Data,
    detections: Data,
    *,
    specification: BenchmarkSpec | None = ...,
    manifest: str | os.PathLike[str] | None = ...,
    format: str = ...,
    on_error: OnError = ...,
    confidence_scale: str | None = ...,
    select: Selection = ...,
    online: bool = ...,
    workers: int = ...,
    executor: Executor | None = ...,
    shards: int = ...,
    progress: Progress | None = ...,
) -> list[Report]: ...


def score(  # noqa: PLR0913 - a notebook's one call; all but three have defaults
    evaluator: str | EvaluatorSpec | Sequence[str | EvaluatorSpec],
    truth: Data,
    detections: Data,
    *,
    specification: BenchmarkSpec | None = None,
    manifest: str | os.PathLike[str] | None = None,
    format: str = AUTO,  # noqa: A002 - the usual name
    on_error: OnError = "refuse",
    confidence_scale: str | None = None,
    select: Selection = ALL,
    online: bool = False,
    workers: int = 1,
    executor: Executor | None = None,
    shards: int = SHARDS,
    progress: Progress | None = None,
    **parameters: Any,
) -> Report | list[Report] | tuple[Report, ...]:
    """Score detections against truth.

    ``score("neovision2", "truth/", "detections/", overlap_threshold=0.3).value("nmotda")``

    Args:
        evaluator: Name of an evaluator or preset, or several. An `EvaluatorSpec` also has
            parameters. A name that ends in ``.toml`` is the path of a preset file.
        truth: A path, annotations, or arrays by the column names of generic CSV (a dictionary or a
            data frame).
        detections: Likewise.
        specification: What the data lacks: frames, labels, don't-care frames.
        manifest: The same as a TOML file; its evaluator parameters apply unless overridden here.
        format: Name of the files' format. ``auto`` takes that of the preset or, if it has none,
            detects it by content.
        on_error: ``refuse`` to raise an error for a malformed row; ``skip`` to leave such rows out,
            with a warning in the report.
        confidence_scale: How to map the confidences of detections to numbers from 0 to 1, for
            evaluators that need them so: ``sigmoid``, or ``MIN,MAX``.
        select: The part of the data to score; all by default.
        online: Whether to judge each frame of the truth against the last answer that had arrived by
            its time (streaming accuracy), not against the answer to the frame itself.
        workers: Processes to use; 1 for this one alone. The scores do not depend on it.
        executor: Runs the scoring in place of this process; both sides must then be paths, which
            its workers read themselves.
        shards: Number of parts for the executor; the scores do not depend on it.
        progress: Called with (frames done, frames in all); with an executor, it counts shards.
        parameters: Parameters, if there is one evaluator; a preset takes none.

    Returns:
        A report. For a preset of several evaluators a tuple of reports in the order of its file;
        for several evaluators or presets a list of reports in their order.

    Raises:
        InputError: With every fault of the data.
        ParameterError: With every fault of the parameters.
        SpecificationError: With every fault of the specification, or of a preset's file.
        UnknownEvaluatorError: If an evaluator is unknown.
    """
    check_arguments(
        evaluator=evaluator,
        specification=specification,
        manifest=manifest,
        format=format,
        on_error=on_error,
        confidence_scale=confidence_scale,
        select=select,
        online=online,
        workers=workers,
        executor=executor,
        shards=shards,
        progress=progress,
    )
    single = isinstance(evaluator, str | EvaluatorSpec)
    if parameters and not single:
        raise ParameterError(
            [Fault("parameters for several evaluators", "EvaluatorSpec(name, parameters) for each")]
        )
    if online and select.frames is not None:
        # Answers to frames before the chosen ones would count in the chosen ones.
        raise ParameterError(
            [Fault("chosen frames", "whole sequences, with online", field="select")]
        )
    judges = judged_by(
        evaluator, specification=specification, manifest=manifest, parameters=parameters
    )
    choice = DataChoice(format, on_error, confidence_scale, select)
    if executor is not None:
        from vidscore_evaluators.shards.tasks import reports_by  # noqa: PLC0415 - few need it

        if online:
            raise ParameterError([Fault("an executor", "none, with online", field="executor")])
        reports = reports_by(executor, judges, truth, detections, choice, int(shards), progress)
    else:
        task = prepare(judges, truth, detections, choice)
        reports = score_pair(
            task.evaluators,
            task.pair,
            task.specification,
            online=online,
            workers=workers,
            progress=progress,
        )
    if not single:
        return reports
    return reports[0] if len(reports) == 1 else tuple(reports)


def outcomes(  # noqa: PLR0913 - as `score`
    evaluator: str | EvaluatorSpec,
    truth: Data,
    detections: Data,
    *,
    at_threshold: float | None = None,
    at_confidence: float | None = None,
    specification: BenchmarkSpec | None = None,
    manifest: str | os.PathLike[str] | None = None,
    format: str = AUTO,  # noqa: A002 - the usual name
    on_error: OnError = "refuse",
    confidence_scale: str | None = None,
    select: Selection = ALL,
    progress: Progress | None = None,
    **parameters: Any,
) -> Outcomes | Any:
    """What became of each object and each detection under the rules of an evaluator.

    ``outcomes("f1", "truth/", "detections/").count(Outcome.FALSE_POSITIVE, Side.DETECTIONS)``

    Args:
        evaluator: Name of an evaluator or preset, as for `score`.
        truth: A path, annotations, or arrays by the column names of generic CSV (a dictionary or a
            data frame).
        detections: Likewise.
        at_threshold: Similarity that a match needs, for evaluators with thresholds; by default the
            evaluator's own, or the first if it has several.
        at_confidence: Detections below it are ignored; by default none are.
        specification: As for `score`; so are the other arguments.
        manifest: The same as a TOML file.
        format: Name of the files' format, or ``auto``.
        on_error: ``refuse`` to raise an error for a malformed row; ``skip`` to leave such rows out.
        confidence_scale: How to map the confidences of detections to numbers from 0 to 1.
        select: The part of the data to look at; rows of other labels are left out.
        progress: Called with (frames done, frames in all).
        parameters: Parameters of the evaluator; a preset takes none.

    Returns:
        The table. For a preset of several evaluators a tuple of tables in the order of its file.

    Raises:
        InputError: With every fault of the data.
        ParameterError: With every fault of the parameters, or if an evaluator has no outcomes.
        SpecificationError: With every fault of the specification, or of a preset's file.
        UnknownEvaluatorError: If the evaluator is unknown.
    """
    check_arguments(
        evaluator=evaluator,
        at_threshold=at_threshold,
        at_confidence=at_confidence,
        specification=specification,
        manifest=manifest,
        format=format,
        on_error=on_error,
        confidence_scale=confidence_scale,
        select=select,
        progress=progress,
    )
    judges = judged_by(
        evaluator, specification=specification, manifest=manifest, parameters=parameters
    )
    choice = DataChoice(format, on_error, confidence_scale, select)
    task = prepare(judges, truth, detections, choice)
    check_outcomes_offered(task.evaluators)
    # numpy's numbers are numbers too, but the kernels do not take 32-bit floats.
    point = (None if at is None else float(at) for at in (at_threshold, at_confidence))
    at = OperatingPoint(*point)
    sides = (task.pair.truth.annotations, task.pair.detections.annotations)
    most_rows = sum(side.object_count for side in sides)
    tables = [
        concatenate_outcomes(
            map(
                select.of_outcomes,
                outcomes_of_pair(entry, task.pair, task.specification, at, progress=progress),
            ),
            most_rows,
        )
        for entry in task.evaluators
    ]
    return tables[0] if len(tables) == 1 else tuple(tables)


def score_pair(
    evaluators: Sequence[Evaluator[Any]],
    pair: Pair,
    specification: BenchmarkSpec = BenchmarkSpec(),
    *,
    online: bool = False,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Report]:
    """Score a pair that `vidscore_evaluators.formats.read_pair` has read.

    Args:
        evaluators: Evaluators of the specification.
        pair: Both sides.
        specification: The benchmark's specification.
        online: As for `score`.
        workers: Processes to use.
        progress: Called with (frames done, frames in all).

    Returns:
        A report for each evaluator, with the warnings of the reader first.

    Raises:
        InputError: If an evaluator's rules forbid something, with file and line, or entry.
    """
    truth, detections = pair.truth.annotations, pair.detections.annotations
    judge = partial(
        score_annotations,
        evaluators,
        truth,
        specification=specification,
        workers=workers,
        progress=progress,
    )
    try:
        if online:
            check_sides(evaluators, truth, detections, specification)
            evaluated = resolve(specification, truth)
            reports = score_online(evaluators, evaluated, detections, judge)
        else:
            reports = judge(detections)
    except InputError as error:
        raise type(error)([pair.locate(fault) for fault in error.faults]) from None
    return [with_warnings(report, pair.warnings) for report in reports]


def check_outcomes_offered(evaluators: Sequence[Evaluator[Any]]) -> None:
    """Refuse evaluators that have no outcomes.

    Raises:
        ParameterError: If there are any; it names those that have outcomes.
    """
    without = [evaluator.name for evaluator in evaluators if not evaluator.has_outcomes]
    if without:
        offered = [entry.name for entry in usable_evaluators() if entry.offers_outcomes()]
        expected = f"an evaluator that has outcomes: {', '.join(offered)}"
        raise ParameterError([Fault(name, expected) for name in without])


def outcomes_of_pair(
    evaluator: Evaluator[Any],
    pair: Pair,
    specification: BenchmarkSpec,
    at: OperatingPoint,
    *,
    progress: Progress | None,
) -> Iterator[Outcomes]:
    """Outcomes of a pair that `vidscore_evaluators.formats.read_pair` has read, part by part.

    Args:
        evaluator: An evaluator of the specification that has outcomes.
        pair: Both sides.
        specification: The benchmark's specification.
        at: The operating point on the evaluator's curves.
        progress: Called with (frames done, frames in all).

    Yields:
        Rows of whole sequences, in ascending order of sequence.

    Raises:
        InputError: If the evaluator's rules forbid something, with file and line, or entry.
        ParameterError: If the evaluator has no outcomes, or none at this point.
    """
    truth = checked_truth([evaluator], pair, specification)
    detections = pair.detections.annotations
    yield from outcomes_in_parts(evaluator, truth, detections, at, progress=progress)


def score_annotations(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec = BenchmarkSpec(),
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Report]:
    """Score detections with every evaluator.

    Args:
        evaluators: Evaluators of one specification.
        truth: Truth, as read.
        detections: Detections, as read.
        specification: The benchmark's specification.
        workers: Processes to use; 1 for this one alone. The scores do not depend on it.
        progress: Called with (frames done, frames in all).

    Returns:
        A report for each evaluator.

    Raises:
        InputError: If detections name a sequence that neither truth nor specification knows, or
            an evaluator's own rules forbid something; with every fault.
    """
    resolved = resolve(specification, truth)
    check_sides(evaluators, truth, detections, specification)
    tallies = tally_in_parts(
        evaluators, resolved, detections, workers=workers, progress=progress, defers=True
    )
    return [evaluator.report(tally) for evaluator, tally in zip(evaluators, tallies, strict=True)]
