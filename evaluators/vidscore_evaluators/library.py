"""The library: read files, score detections against truth, in one call each.

What a notebook uses, through ``from vidscore_evaluators import read, score``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, overload

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.confidences import ConfidenceScale
from vidscore_evaluators.errors import Fault, InputError, ParameterError
from vidscore_evaluators.evaluator import Evaluator, Side
from vidscore_evaluators.formats import AUTO, OnError, Pair, read_pair, read_source
from vidscore_evaluators.formats.manifest import read_manifest
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.formats.source import ReadLimits, Source
from vidscore_evaluators.processes import Progress
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report, ReportWarning
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

Data = str | os.PathLike[str] | Annotations | Mapping[str, Any]
"""A path, annotations, or arrays by the column names of generic CSV."""


def read(
    path: str | os.PathLike[str],
    *,
    side: Side | str = Side.TRUTH,
    format: str = AUTO,  # noqa: A002 - what everyone calls it
    on_error: OnError = "refuse",
    limits: ReadLimits = ReadLimits(),
    image_size: tuple[int, int] | None = None,
    confidence_scale: str | None = None,
) -> Annotations:
    """Read truth or detections.

    Args:
        path: File or folder.
        side: ``truth`` or ``detections``; some formats allow more in the truth.
        format: Name of a format, or ``auto`` to go by the content.
        on_error: ``refuse`` to raise where a row is broken, ``skip`` to leave it out.
        limits: How much to take in.
        image_size: Width and height of every image in pixels, for formats that do not say it.
        confidence_scale: How to map confidences to numbers from 0 to 1: ``sigmoid``, or the bounds
            ``MIN,MAX`` that become 0 and 1; as they are if left out.

    Raises:
        InputError: With every fault, each with file, line and column or entry.
        ParameterError: If there is no such scale.
    """
    source = read_source(
        Path(path),
        Side(side),
        format_name=format,
        on_error=on_error,
        limits=limits,
        image_size=image_size,
    )
    return scaled(source, confidence_scale).annotations


def scaled(source: Source, confidence_scale: str | None) -> Source:
    """Detections on a scale of `ConfidenceScale.parse`; as they are where there is none.

    Raises:
        InputError: If a confidence lies outside the scale's bounds.
        ParameterError: If there is no such scale.
    """
    if confidence_scale is None:
        return source
    scale = ConfidenceScale.parse(confidence_scale)
    try:
        return replace(source, annotations=scale.scaled(source.annotations))
    except InputError as error:
        raise InputError([source.locate(fault) for fault in error.faults]) from None


@overload
def score(  # type: ignore[overload-overlap]  # a str is a Sequence too; this signature is its
    evaluator: str | EvaluatorSpec,
    truth: Data,
    detections: Data,
    *,
    specification: BenchmarkSpec | None = ...,
    manifest: str | os.PathLike[str] | None = ...,
    format: str = ...,
    on_error: OnError = ...,
    confidence_scale: str | None = ...,
    workers: int = ...,
    progress: Progress | None = ...,
    **parameters: Any,
) -> Report: ...


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
    workers: int = ...,
    progress: Progress | None = ...,
) -> list[Report]: ...


def score(  # noqa: PLR0913 - a notebook's one call; all but three have defaults
    evaluator: str | EvaluatorSpec | Sequence[str | EvaluatorSpec],
    truth: Data,
    detections: Data,
    *,
    specification: BenchmarkSpec | None = None,
    manifest: str | os.PathLike[str] | None = None,
    format: str = AUTO,  # noqa: A002 - what everyone calls it
    on_error: OnError = "refuse",
    confidence_scale: str | None = None,
    workers: int = 1,
    progress: Progress | None = None,
    **parameters: Any,
) -> Report | list[Report]:
    """Score detections against truth.

    ``score("neovision2", "truth/", "detections/", overlap_threshold=0.3).value("nmotda")``

    Args:
        evaluator: Name of an evaluator, or several. An `EvaluatorSpec` carries parameters too.
        truth: What is there: a path, annotations, or arrays by the column names of generic CSV
            (a dictionary or a data frame).
        detections: What a system says is there; likewise.
        specification: What the data cannot say: frames, classes, don't-care frames.
        manifest: The same, as a TOML file; parameters that it sets for an evaluator hold unless
            they are given here.
        format: Name of the files' format, or ``auto`` to go by their content.
        on_error: ``refuse`` to score nothing where a row is broken; ``skip`` to leave such rows
            out, with a warning in the report.
        confidence_scale: How to map the confidences of detections to numbers from 0 to 1, for
            evaluators that need them so: ``sigmoid``, or ``MIN,MAX``.
        workers: Processes to use; 1 for this one alone. The scores do not depend on it.
        progress: Called with (frames done, frames in all).
        parameters: Parameters of the evaluator, where there is one.

    Returns:
        A report, or for several evaluators a list of reports in their order.

    Raises:
        InputError: With every fault of the data.
        ParameterError: With every fault of the parameters.
        SpecificationError: With every fault of the specification.
        UnknownEvaluatorError: If there is no such evaluator.
    """
    scene = _scene(specification, manifest)
    single = isinstance(evaluator, str | EvaluatorSpec)
    wanted = [evaluator] if isinstance(evaluator, str | EvaluatorSpec) else list(evaluator)
    if parameters and not single:
        raise ParameterError(
            [Fault("parameters for several evaluators", "EvaluatorSpec(name, parameters) for each")]
        )
    requests = [_request(entry, scene, parameters) for entry in wanted]
    scene = replace(scene, evaluators=tuple(requests))
    evaluators = [create_evaluator(entry.name, entry.parameters, scene) for entry in requests]
    pair = read_pair(
        _given(truth, Side.TRUTH),
        _given(detections, Side.DETECTIONS),
        format_name=format,
        on_error=on_error,
        known=frozenset(sequence.key for sequence in scene.sequences),
    )
    pair = replace(pair, detections=scaled(pair.detections, confidence_scale))
    reports = score_pair(evaluators, pair, scene, workers=workers, progress=progress)
    return reports[0] if single else reports


def score_pair(
    evaluators: Sequence[Evaluator[Any]],
    pair: Pair,
    specification: BenchmarkSpec = BenchmarkSpec(),
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Report]:
    """Score what `vidscore_evaluators.formats.read_pair` has read.

    Args:
        evaluators: Evaluators of the specification.
        pair: Both sides.
        specification: The benchmark's specification.
        workers: Processes to use.
        progress: Called with (frames done, frames in all).

    Returns:
        A report for each evaluator, with the warnings of reading before its own.

    Raises:
        InputError: If an evaluator's rules forbid something, with file and line, or entry.
    """
    try:
        reports = score_annotations(
            evaluators,
            pair.truth.annotations,
            pair.detections.annotations,
            specification,
            workers=workers,
            progress=progress,
        )
    except InputError as error:
        raise type(error)([pair.locate(fault) for fault in error.faults]) from None
    return [with_warnings(report, pair.warnings) for report in reports]


def with_warnings(report: Report, warnings: Sequence[ReportWarning]) -> Report:
    """The report with further warnings before its own."""
    # What files and specification both tell is told once.
    further = tuple(entry for entry in warnings if entry not in report.scores.warnings)
    if not further:
        return report
    scores = replace(report.scores, warnings=(*further, *report.scores.warnings))
    return replace(report, scores=scores)


def _scene(
    specification: BenchmarkSpec | None, manifest: str | os.PathLike[str] | None
) -> BenchmarkSpec:
    if manifest is None:
        return specification or BenchmarkSpec()
    if specification is not None:
        raise ParameterError([Fault("specification and manifest", "one of them")])
    return read_manifest(Path(manifest))


def _request(
    entry: str | EvaluatorSpec, scene: BenchmarkSpec, parameters: Mapping[str, Any]
) -> EvaluatorSpec:
    """The evaluator with the specification's parameters, under those that are given."""
    given = EvaluatorSpec(entry) if isinstance(entry, str) else entry
    standing = {listed.name: listed.parameters for listed in scene.evaluators}
    joined = {**standing.get(given.name, {}), **given.parameters, **parameters}
    return EvaluatorSpec(given.name, joined)


def _given(data: Data, side: Side) -> Path | Source:
    if isinstance(data, str | os.PathLike):
        return Path(data)
    if isinstance(data, Annotations):
        return Source(data, side.value)
    try:
        columns = {str(name): data[name] for name in data}
    except (TypeError, KeyError, IndexError):
        found, expected = type(data).__name__, "a path, Annotations, or arrays by column name"
        raise InputError([Fault(found, expected, source=side.value)]) from None
    return read_arrays(columns, side.value)
