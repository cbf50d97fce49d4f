"""What is scored: evaluators, both sides and the chosen part, out of what a caller names."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError, ParameterError
from vidscore_evaluators.formats import OnError, read_pair
from vidscore_evaluators.formats.data_frames import DataFrame, columns_of
from vidscore_evaluators.formats.manifest import read_manifest
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.presets import create_evaluators, format_of
from vidscore_evaluators.selection import Selected, Selection
from vidscore_evaluators.selection import select as choose_part
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.validation import ConfidenceScale

Data = str | os.PathLike[str] | Annotations | Mapping[str, Any] | DataFrame
"""A path, annotations, or arrays by the column names of generic CSV: a dictionary, a data frame."""


def prepare(  # noqa: PLR0913 - as `score`
    evaluator: str | EvaluatorSpec | Sequence[str | EvaluatorSpec],
    truth: Data | Source,
    detections: Data,
    *,
    specification: BenchmarkSpec | None,
    manifest: str | os.PathLike[str] | None,
    format_name: str,
    on_error: OnError,
    confidence_scale: str | None,
    selection: Selection,
    parameters: Mapping[str, Any],
    image_size: tuple[int, int] | None = None,
) -> Selected:
    """Create evaluators, read data and choose a part of it.

    Arguments are those of `vidscore_evaluators.scoring.score` and, for files,
    `vidscore_evaluators.formats.read_pair`.
    """
    scene = _scene(specification, manifest)
    wanted = [evaluator] if isinstance(evaluator, str | EvaluatorSpec) else list(evaluator)
    requests = [_request(entry, scene, parameters) for entry in wanted]
    scene = replace(scene, evaluators=tuple(requests))
    evaluators = create_evaluators(scene, files=True)
    pair = read_pair(
        _given(truth, Side.TRUTH),
        _given(detections, Side.DETECTIONS),
        format_name=format_of(requests, format_name, files=True),
        on_error=on_error,
        image_size=image_size,
        known=frozenset(sequence.key for sequence in scene.sequences),
    )
    pair = replace(pair, detections=scaled(pair.detections, confidence_scale))
    return choose_part(selection, evaluators, pair, scene)


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
    """The evaluator with its parameters of the specification, overridden by those given."""
    given = EvaluatorSpec(entry) if isinstance(entry, str) else entry
    standing = {listed.name: listed.parameters for listed in scene.evaluators}
    joined = {**standing.get(given.name, {}), **given.parameters, **parameters}
    return EvaluatorSpec(given.name, joined)


def _given(data: Data | Source, side: Side) -> Path | Source:
    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike):
        return Path(data)
    if isinstance(data, Annotations):
        return Source(data, side.value)
    return read_arrays(columns_of(data, side.value), side.value)


def scaled(source: Source, confidence_scale: str | None) -> Source:
    """Detections with confidences mapped by `ConfidenceScale.parse`; unchanged without a scale.

    Raises:
        InputError: If a confidence lies outside the scale's bounds.
        ParameterError: If the scale is invalid.
    """
    if confidence_scale is None:
        return source
    scale = ConfidenceScale.parse(confidence_scale)
    try:
        return replace(source, annotations=scale.scaled(source.annotations))
    except InputError as error:
        raise InputError([source.locate(fault) for fault in error.faults]) from None
