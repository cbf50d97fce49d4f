"""Preparation of a scoring, from arguments: evaluators, both sides, their checks, the selection."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.alignment import resolve, unknown_sequences
from vidscore_evaluators.annotations import ARITIES, Annotations, SequenceKey, Side, with_arity
from vidscore_evaluators.errors import Fault, InputError, ParameterError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.formats import AUTO, OnError, Pair, read_pair
from vidscore_evaluators.formats.manifest import read_manifest
from vidscore_evaluators.formats.plain_arrays import DataFrame, columns_of, read_arrays
from vidscore_evaluators.formats.source import SKIPPED_ROWS, Source, Wanted
from vidscore_evaluators.plausibility.listed_names import listed_name_warnings
from vidscore_evaluators.presets import create_evaluators, format_of
from vidscore_evaluators.remote_files import DataPath, data_path, path_text
from vidscore_evaluators.selection import ALL, Selected, Selection
from vidscore_evaluators.selection import select as choose_part
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, checked_spec
from vidscore_evaluators.validation import ConfidenceScale

Data = str | os.PathLike[str] | Annotations | Mapping[str, Any] | DataFrame
"""A path, annotations, or arrays by the column names of generic CSV: a dictionary, a data frame."""

_FRAMELESS = "the truth has no frame of it; a manifest with its frame_count lists them"


class DataChoice(Struct, frozen=True):
    """How the data is read, and which part of it is scored.

    Attributes:
        format_name: Name of the files' format, or ``auto``.
        on_error: Whether malformed rows are refused or skipped.
        confidence_scale: How confidences are mapped to numbers from 0 to 1, if they are.
        selection: The part of the data that is scored.
        image_size: Width and height of every image in pixels, where it is needed and known.
        cut_frames: Frame numbers of a part of a sequence, where shards cut them; None where they
            leave them whole.
    """

    format_name: str = AUTO
    on_error: OnError = "refuse"
    confidence_scale: str | None = None
    selection: Selection = ALL
    image_size: tuple[int, int] | None = None
    cut_frames: int | None = None


def judged_by(
    evaluator: str | EvaluatorSpec | Sequence[str | EvaluatorSpec],
    *,
    specification: BenchmarkSpec | None,
    manifest: str | os.PathLike[str] | None,
    parameters: Mapping[str, Any],
) -> BenchmarkSpec:
    """A specification with the evaluators that judge, as arguments of `score` say.

    Raises:
        InputError: With every fault of the manifest.
        ParameterError: If there are a specification and a manifest.
        SpecificationError: With every fault of the specification.
    """
    scene = _scene(specification, manifest)
    wanted = [evaluator] if isinstance(evaluator, str | EvaluatorSpec) else list(evaluator)
    return dataclasses.replace(
        scene, evaluators=tuple(_request(entry, scene, parameters) for entry in wanted)
    )


def prepare(
    specification: BenchmarkSpec,
    truth: Data | Source,
    detections: Data,
    choice: DataChoice,
    wanted: Wanted | None = None,
) -> Selected:
    """Create the evaluators of a specification, read data and choose a part of it.

    Args:
        specification: The benchmark's specification, with its evaluators.
        truth: The truth, or the source read from it.
        detections: The detections.
        choice: How both are read, and which part counts.
        wanted: Sequences to read alone, as for `vidscore_evaluators.formats.read_source`.

    Raises:
        InputError: With every fault of the data.
        ParameterError: With every fault of the parameters.
        SpecificationError: With every fault of the specification, or of a preset's file.
        UnknownEvaluatorError: If an evaluator is unknown.
    """
    evaluators = create_evaluators(specification, files=True)
    sides = _given(truth, Side.TRUTH), _given(detections, Side.DETECTIONS)
    pair = read_sides(specification, *sides, choice, wanted)
    return choose_part(choice.selection, evaluators, fitted(pair, evaluators), specification)


def read_sides(
    specification: BenchmarkSpec,
    truth: DataPath | Source,
    detections: DataPath | Source,
    choice: DataChoice,
    wanted: Wanted | None = None,
) -> Pair:
    """Read both sides of a specification.

    Args:
        specification: Their specification; if no format was chosen, its presets determine it.
        truth: The truth, or its path.
        detections: The detections, or their path.
        choice: How both are read.
        wanted: Sequences to read alone, as for `vidscore_evaluators.formats.read_source`.

    Raises:
        InputError: With every fault of the data: unreadable rows, rows that the evaluators' rules
            refuse, and unknown sequences.
    """
    read = partial(
        read_pair,
        truth,
        detections,
        format_name=format_of(specification.evaluators, choice.format_name, files=True),
        image_size=choice.image_size,
        known=frozenset(sequence.key for sequence in specification.sequences),
        wanted=wanted,
        scaled=choice.confidence_scale is not None,
    )
    try:
        pair = read(on_error=choice.on_error)
    except InputError as error:
        if choice.on_error == "skip" or not all(map(can_be_read_again, (truth, detections))):
            raise
        rest = partial(read, on_error="skip")
        refused = _refused_of_rest(rest, specification, choice.confidence_scale)
        raise InputError(list(dict.fromkeys([*error.faults, *refused]))) from None
    pair = structs.replace(pair, detections=scaled(pair.detections, choice.confidence_scale))
    return with_listed_names(pair, specification)


def _refused_of_rest(
    read: Callable[[], Pair], specification: BenchmarkSpec, confidence_scale: str | None
) -> Iterator[Fault]:
    """Faults of the readable rows: those that evaluators refuse, and unknown sequences."""
    try:
        pair = read()
        detections = scaled(pair.detections, confidence_scale)
    except InputError:
        return
    evaluators = create_evaluators(specification, files=True)
    pair = fitted(structs.replace(pair, detections=detections), evaluators)
    for side, source in ((Side.TRUTH, pair.truth), (Side.DETECTIONS, pair.detections)):
        yield from refused_by(evaluators, side, source)
    yield from unknown_sequence_faults(pair, specification)


def checked_truth(
    evaluators: Sequence[Evaluator[Any]], pair: Pair, specification: BenchmarkSpec
) -> Annotations:
    """Check both sides of a pair; return the frames of the truth that are evaluated.

    Args:
        evaluators: Evaluators of the specification.
        pair: Both sides, as read.
        specification: The benchmark's specification.

    Raises:
        InputError: With every fault, each with file and line, or entry.
    """
    truth, detections = pair.truth.annotations, pair.detections.annotations
    try:
        resolved = resolve(specification, truth)
        listing = pair.truth.listing
        listed = None if listing is None else listing.with_frames
        check_sides(evaluators, truth, detections, specification, listed)
    except InputError as error:
        raise type(error)([pair.locate(fault) for fault in error.faults]) from None
    return resolved


def check_sides(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec,
    listed: Sequence[SequenceKey] | None = None,
) -> None:
    """Refuse invalid input before any evaluator sees it.

    Args:
        evaluators: Evaluators of the specification.
        truth: The truth.
        detections: The detections.
        specification: The benchmark's specification.
        listed: Sequences that have a frame in the whole truth, if `truth` is a part of it: the
            truth of a cut sequence may be in one part and its detections in another.

    Raises:
        GeometryError: If an evaluator cannot use the coordinates of a side.
        InputError: With every fault.
    """
    if listed is None:
        listed = truth.used_sequences
    detected = detections.used_sequences
    faults: list[Fault] = []
    if listed != detected:
        unknown = unknown_sequences(specification, listed, detected)
        firsts = _first_rows(detections) if unknown else {}
        frameless = dict.fromkeys(truth.sequences, _FRAMELESS)
        faults = [
            structs.replace(fault, entry=firsts[key], advice=frameless.get(key, fault.advice))
            for key, fault in unknown.items()
        ]
    for evaluator in evaluators:
        for side, annotations in ((Side.TRUTH, truth), (Side.DETECTIONS, detections)):
            evaluator.check_arity(side, annotations.arity, annotations.columns)
            faults.extend(evaluator.input_faults(side, annotations))
    if faults:
        raise InputError(list(dict.fromkeys(faults)))


def _first_rows(side: Annotations) -> dict[SequenceKey, int]:
    """Row of the first frame of each sequence that has one."""
    used, rows = np.unique(side.frame_sequences, return_index=True)
    keys = [side.sequences[index] for index in used.tolist()]
    return dict(zip(keys, rows.tolist(), strict=True))


def refused_by(evaluators: Sequence[Evaluator[Any]], side: Side, source: Source) -> Iterator[Fault]:
    """Faults of a side by the evaluators' rules, each with its file and line, or entry.

    Args:
        evaluators: The evaluators.
        side: Which side it is.
        source: The side; if its shape is not known, the shape is not checked.
    """
    annotations = source.annotations
    for evaluator in evaluators:
        try:
            if source.tells_shape:
                evaluator.check_arity(side, annotations.arity, annotations.columns)
            found = evaluator.input_faults(side, annotations)
        except InputError as error:
            found = list(error.faults)
        yield from map(source.locate, found)


def unknown_sequence_faults(pair: Pair, specification: BenchmarkSpec) -> list[Fault]:
    """A fault for each sequence of detections that nothing knows, with its first line or entry.

    Of a truth without its broken rows it is not known which sequences it has.

    Args:
        pair: Both sides, as read.
        specification: The benchmark's specification.
    """
    if any(warning.code == SKIPPED_ROWS for warning in pair.truth.warnings):
        return []
    truth, listing = pair.truth.annotations, pair.truth.listing
    listed = None if listing is None else listing.with_frames
    try:
        check_sides((), truth, pair.detections.annotations, specification, listed)
    except InputError as error:
        return [pair.locate(fault) for fault in error.faults]
    return []


def can_be_read_again(data: DataPath | Source) -> bool:
    """Whether reading a side twice gives the same: not from a pipe or another machine."""
    if isinstance(data, Source):
        return True
    try:
        return isinstance(data, Path) and (data.is_file() or data.is_dir())
    except (OSError, ValueError):  # as of a name that is too long, or no UTF-8
        return False


def fitted(pair: Pair, evaluators: Sequence[Evaluator[Any]]) -> Pair:
    """The pair, whose sides that say no shape have one that the evaluators take.

    Args:
        pair: Both sides, as read.
        evaluators: The evaluators.
    """
    truth, detections = pair.truth, pair.detections
    if truth.tells_shape and detections.tells_shape:
        return pair
    return structs.replace(
        pair,
        truth=_fitted(truth, detections, [one.needs.truth_arities for one in evaluators]),
        detections=_fitted(detections, truth, [one.needs.detection_arities for one in evaluators]),
    )


def _fitted(source: Source, other: Source, accepted: Sequence[tuple[int, ...]]) -> Source:
    """A side that says no shape has that of the other side, or else one that evaluators take."""
    if source.tells_shape:
        return source
    common = [arity for arity in ARITIES if all(arity in one for one in accepted)]
    wanted = other.annotations.arity if other.tells_shape else source.annotations.arity
    arity = wanted if wanted in common or not common else common[0]
    return structs.replace(source, annotations=with_arity(source.annotations, arity))


def with_listed_names(pair: Pair, specification: BenchmarkSpec) -> Pair:
    """The pair with a warning of names that the specification lists and the whole data lacks.

    Args:
        pair: Both sides, as read.
        specification: The benchmark's specification.
    """
    if not (specification.sequences or specification.domains):
        return pair
    keys = (
        key
        for source in (pair.truth, pair.detections)
        for key in (source.annotations if source.listing is None else source.listing).sequences
    )
    found = tuple(listed_name_warnings(specification, keys))
    if not found:
        return pair
    # Warnings about names come first: merged shards add up the counted ones after these.
    truth = structs.replace(pair.truth, warnings=(*found, *pair.truth.warnings))
    return structs.replace(pair, truth=truth)


def _scene(
    specification: BenchmarkSpec | None, manifest: str | os.PathLike[str] | None
) -> BenchmarkSpec:
    if manifest is None:
        return checked_spec(specification)
    if specification is not None:
        raise ParameterError([Fault("specification and manifest", "one of them")])
    return read_manifest(Path(path_text(manifest)))


def _request(
    entry: str | EvaluatorSpec, scene: BenchmarkSpec, parameters: Mapping[str, Any]
) -> EvaluatorSpec:
    """The evaluator with its parameters of the specification, overridden by those given."""
    given = EvaluatorSpec(entry) if isinstance(entry, str) else entry
    standing = {listed.name: listed.parameters for listed in scene.evaluators}
    joined = {**standing.get(given.name, {}), **given.parameters, **parameters}
    return EvaluatorSpec(given.name, joined)


def _given(data: Data | Source, side: Side) -> DataPath | Source:
    if isinstance(data, Source):
        return data
    if isinstance(data, str | os.PathLike):
        return data_path(data)
    if isinstance(data, Annotations):
        # Without objects, the number of coordinates is an arbitrary choice.
        return Source(data, side.value, tells_shape=data.object_count > 0)
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
        return structs.replace(source, annotations=scale.scaled(source.annotations))
    except InputError as error:
        raise InputError([source.locate(fault) for fault in error.faults]) from None
