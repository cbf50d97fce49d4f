"""Scorer: scores in one process, frame by frame, as a detector returns its objects.

It is a `vidscore_evaluators.live.StreamScorer` that gets both sides of a frame together. At any
time its reports equal those of `vidscore_evaluators.scoring.score` over the same frames.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import (
    ARITIES,
    QUADRILATERAL,
    Annotations,
    ObjectFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.arguments import check_arguments
from vidscore_evaluators.arrays import AnyArray, FlagArray, as_names, hidden_values
from vidscore_evaluators.errors import Fault, InputError, ParameterError
from vidscore_evaluators.live import StreamScorer
from vidscore_evaluators.names import counted, name_advice
from vidscore_evaluators.presets import evaluators_of
from vidscore_evaluators.report import Number, Report
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, checked_spec
from vidscore_evaluators.validation import Columns, build_annotations

FRAMES_PER_TALLY = 1000
"""Number of frames whose columns are held before they are tallied."""


class Scorer:
    """Scores frames as they come.

    ``scorer.update(7, truth={"boxes": t, "labels": a}, detections={"boxes": d, "scores": s})``

    Args:
        evaluator: Name of an evaluator or preset; an `EvaluatorSpec` also has parameters.
        labels: Name of each class number, as a list or by number; its digits by default.
        sequence: Sequence of frames that are given without one.
        domain: Domain of frames that are given without one.
        specification: What the data lacks: labels, frames, don't-care frames.
        parameters: Parameters of the evaluator; a preset takes none.

    Raises:
        ParameterError: With every fault of the parameters.
        SpecificationError: With every fault of the specification.
        UnknownEvaluatorError: If the evaluator is unknown.
    """

    def __init__(
        self,
        evaluator: str | EvaluatorSpec,
        *,
        labels: Labels | None = None,
        sequence: str = "",
        domain: str = "",
        specification: BenchmarkSpec | None = None,
        **parameters: Any,
    ) -> None:
        check_arguments(
            evaluator=evaluator,
            labels=labels,
            sequence=sequence,
            domain=domain,
            specification=specification,
        )
        if not isinstance(evaluator, str | EvaluatorSpec):
            raise ParameterError([Fault(repr(evaluator), "one evaluator", field="evaluator")])
        scene = checked_spec(specification)
        given = EvaluatorSpec(evaluator) if isinstance(evaluator, str) else evaluator
        wanted = EvaluatorSpec(given.name, {**given.parameters, **parameters})
        self._evaluators = evaluators_of(wanted, scene, files=True)
        self._labels = labels
        self._key = SequenceKey(domain, sequence)
        self._stream = StreamScorer(self._evaluators, scene)
        needs = self._evaluators[0].needs
        self._arities = {
            Side.TRUTH: needs.truth_arities[0],
            Side.DETECTIONS: needs.detection_arities[0],
        }
        self._reports: list[Report] | None = None

    def update(
        self,
        frame: int,
        *,
        truth: Any,
        detections: Any,
        sequence: str | None = None,
        domain: str | None = None,
    ) -> None:
        """Add a frame.

        Each side is an (N, 4) array of boxes x1, y1, x2, y2 in pixels ((N, 2) for points, (N, 8)
        for corners); or a mapping to arrays, with ``boxes`` and optionally ``scores``, ``labels``
        (class numbers or names), ``track_ids``, ``iscrowd``, ``ignore`` and ``area``, as in
        torchmetrics; or supervision's ``Detections``; or None for no objects.

        Args:
            frame: Its number, at least 0, unique within its sequence.
            truth: The objects of the truth.
            detections: The detections.
            sequence: Its sequence; the scorer's by default.
            domain: Its domain; the scorer's by default.

        Raises:
            GeometryError: If the evaluator cannot use the coordinates, or frames differ in them.
            InputError: With every fault, or if the frame was given before. Nothing changes then.
        """
        key = SequenceKey(
            self._key.domain if domain is None else domain,
            self._key.sequence if sequence is None else sequence,
        )
        given = {Side.TRUTH: truth, Side.DETECTIONS: detections}
        sides = {
            side: _frame_annotations(side, (key, frame), objects, self._labels, self._arities[side])
            for side, objects in given.items()
        }
        self._stream.add_both(sides[Side.TRUTH], sides[Side.DETECTIONS])
        self._arities = {side: batch.arity for side, batch in sides.items()}
        self._reports = None
        if self.frame_count % FRAMES_PER_TALLY == 0:
            self._stream.compact()

    @property
    def frame_count(self) -> int:
        """Number of frames so far."""
        return self._stream.coverage.paired

    def report(self) -> Report | Any:
        """The report of the frames so far; for a preset of several evaluators, a tuple of reports.

        An evaluator with rules on whole sequences scores all frames again for the first report
        after an update; any other scores only the frames since the last report.
        """
        reports = self._live()
        return reports[0] if len(reports) == 1 else tuple(reports)

    def value(
        self,
        measure: str,
        *,
        domain: str | None = None,
        label: str | None = None,
        sequence: str | None = None,
    ) -> Number:
        """One score of the frames so far; None if it is undefined.

        Args:
            measure: The measure; if several evaluators have it, the first gives it.
            domain: Only of this domain.
            label: Only of this label.
            sequence: Only of this sequence.

        Raises:
            KeyError: If there is no such score; the message lists the measures.
        """
        reports = self._live()
        having = [
            report
            for report, evaluator in zip(reports, self._evaluators, strict=True)
            if measure in {one.name for one in evaluator.measures}
        ]
        [report, *_] = [*having, *reports]
        return report.value(measure, domain=domain, label=label, sequence=sequence)

    def __repr__(self) -> str:
        """The evaluators and the number of frames."""
        names = ", ".join(evaluator.name for evaluator in self._evaluators)
        return f"<Scorer {names}: {counted(self.frame_count, 'frame')}>"

    def _live(self) -> list[Report]:
        if self._reports is None:
            self._reports = self._stream.live_reports()
        return self._reports


# --- objects as detectors and other libraries give them --------------------------------------


Labels = Mapping[int, str] | Sequence[str]
"""Name of each class number."""

_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("boxes", "xyxy", "points", "coordinates"), "coordinates"),
        **dict.fromkeys(("scores", "confidence", "confidences"), "confidences"),
        **dict.fromkeys(("labels", "class_id", "classes"), "labels"),
        **dict.fromkeys(("track_ids", "tracker_id", "track_id"), "track_ids"),
        "iscrowd": "crowd",
        "crowd": "crowd",
        "ignore": "ignore",
        "area": "area",
    }
)
"""Fields by their names in torchmetrics, supervision and here."""

_FLAGS = MappingProxyType({"crowd": ObjectFlag.CROWD, "ignore": ObjectFlag.IGNORE})
"""Fields of flags: booleans, or 0 and 1."""

_ATTRIBUTES = ("xyxy", "confidence", "class_id", "tracker_id")
"""Attributes of supervision's ``Detections``; other classes call these otherwise."""

_OBJECTS = "an array, a dictionary of arrays, or supervision's Detections"
_SHAPES = "(N, 4) boxes x1, y1, x2, y2, (N, 2) points or (N, 8) corners"


def _frame_annotations(
    side: Side,
    place: tuple[SequenceKey, int],
    objects: Any,
    labels: Labels | None,
    arity: int,
) -> Annotations:
    """One frame of one side.

    Args:
        side: The side, for messages.
        place: Sequence and frame number.
        objects: An array of coordinates; a mapping of `_NAMES` to arrays; an object with the
            attributes of supervision's ``Detections``; None for no objects.
        labels: Name of each class number; None to use its digits.
        arity: Coordinates per object, if there are no objects to tell.

    Raises:
        InputError: With every fault.
    """
    fields = _fields(side, objects, prefer_names=labels is None)
    coordinates = _array(side, "boxes", fields.get("coordinates", ()))
    if coordinates.size == 0 and coordinates.ndim != 2:
        coordinates = np.zeros((0, arity))
    if coordinates.ndim != 2 or coordinates.shape[1] not in ARITIES:
        raise _error(side, "boxes", f"an array of shape {coordinates.shape}", _SHAPES)
    columns = {
        name: _array(side, name, values) for name, values in fields.items() if name != "coordinates"
    }
    faults = list(_column_faults(side, columns, len(coordinates)))
    if faults:
        raise InputError(faults)
    names, rows = _named(side, columns.get("labels"), labels)
    (key, number) = place
    further = {"area": columns["area"]} if "area" in columns else {}
    return build_annotations(
        Columns(
            arity=int(coordinates.shape[1]),
            sequences=[key],
            frame_sequences=[0],
            frame_numbers=[number],
            object_counts=[len(coordinates)],
            coordinates=coordinates,
            labels=names,
            label_indices=rows,
            confidences=columns.get("confidences", ()),
            track_ids=columns.get("track_ids", ()),
            object_flags=_flags(columns, len(coordinates)),
            columns=further,
        ),
        source=side.value,
    )


def _column_faults(side: Side, columns: Mapping[str, AnyArray], count: int) -> Iterator[Fault]:
    """Columns of another length than the number of objects, and flags that are none."""
    for name, column in columns.items():
        if column.shape != (count,):
            found = f"an array of shape {column.shape}"
            yield _fault(side, name, found, f"one of {counted(count, 'value')}")
        elif name in _FLAGS and not np.isin(column, (0, 1)).all():
            yield _fault(side, name, "other values", "0 or 1 for each object")


def _fields(side: Side, objects: Any, *, prefer_names: bool) -> dict[str, Any]:
    """Values by field; None counts as missing."""
    if objects is None:
        return {}
    if isinstance(objects, Mapping):
        given = dict(objects)
    elif all(hasattr(objects, name) for name in _ATTRIBUTES):
        given = _attributes(objects, prefer_names=prefer_names)
    elif hasattr(objects, "xyxy") or hasattr(objects, "boxes"):
        other = f"an object of type {type(objects).__name__}"
        advice = "give a dictionary of its boxes, scores and labels"
        raise InputError([Fault(other, _OBJECTS, side.value, advice=advice)])
    else:
        given = {"boxes": objects}
    unknown = [name for name in given if name not in _NAMES]
    if unknown:
        raise InputError(
            [
                Fault("unknown field", "", side.value, field=str(name), advice=advice)
                for name in unknown
                for advice in [name_advice(str(name), _NAMES)]
            ]
        )
    found: dict[str, Any] = {}
    for name, values in given.items():
        if values is None:
            continue
        if _NAMES[name] in found:
            raise _error(side, name, "a second name of the same field", "one of them")
        found[_NAMES[name]] = values
    if found and "coordinates" not in found:
        raise _error(side, "boxes", "none", _SHAPES)
    return found


def _attributes(detections: Any, *, prefer_names: bool) -> dict[str, Any]:
    """The fields of supervision's ``Detections``.

    Its data may include class names, and the corners of oriented boxes, which count instead of the
    upright boxes around them.
    """
    data = getattr(detections, "data", None) or {}
    names, corners = data.get("class_name"), data.get("xyxyxyxy")
    numbers = detections.class_id
    return {
        "boxes": detections.xyxy if corners is None else np.reshape(corners, (-1, QUADRILATERAL)),
        "confidence": detections.confidence,
        "class_id": names if numbers is None or (prefer_names and names is not None) else numbers,
        "tracker_id": detections.tracker_id,
    }


def _array(side: Side, field: str, values: Any) -> AnyArray:
    """Convert anything array-like to an array; tensors are copied from their device."""
    if hasattr(values, "detach"):
        values = _on_cpu(values.detach().cpu())
    if hidden_values(values) is not None:
        raise _error(side, field, "masked values", "none")
    try:
        array = np.asarray(as_names(values) if field == "labels" else values)
        if array.dtype.kind != "O" or any(isinstance(value, str) for value in array.flat):
            return array
        return np.array(array.tolist())  # numbers as objects, as of a data frame with texts
    except ValueError:  # rows of different lengths
        return np.empty((), dtype=object)


def _on_cpu(tensor: Any) -> AnyArray:
    try:
        array: AnyArray = tensor.numpy()
    except TypeError:  # numpy has no bfloat16, of which float32 holds every number
        array = tensor.float().numpy()
    return array


def _named(
    side: Side, column: AnyArray | None, labels: Labels | None
) -> tuple[tuple[str, ...], Sequence[int] | AnyArray]:
    """A table of labels, and the index into it of each object."""
    if column is None or len(column) == 0:
        return (), ()
    if column.dtype.kind == "O" and all(isinstance(value, str) for value in column):
        column = column.astype(np.str_)
    if column.dtype.kind == "U":
        texts, places = np.unique(column, return_inverse=True)
        return tuple(texts.tolist()), places
    if (
        column.dtype.kind not in "iuf"
        or not (np.isfinite(column) & (column == np.floor(column))).all()
    ):
        raise _error(side, "labels", f"values of type {column.dtype}", "integers or names")
    numbers, places = np.unique(column, return_inverse=True)
    names = [_name(int(number), labels) for number in numbers.tolist()]
    unnamed = [number for number, name in zip(numbers.tolist(), names, strict=True) if name is None]
    if unnamed:
        raise InputError(
            [
                _fault(side, "labels", f"class {number:g}", "a number that labels= names")
                for number in unnamed
            ]
        )
    table = tuple(dict.fromkeys(name for name in names if name is not None))
    rows = np.array([table.index(name) for name in names if name is not None], dtype=np.int64)
    return table, rows[places]


def _name(number: int, labels: Labels | None) -> str | None:
    """The name of a class number; None if it has none."""
    if labels is None:
        return str(number)
    if isinstance(labels, Mapping):
        return labels.get(number)
    return labels[number] if 0 <= number < len(labels) else None


def _flags(columns: Mapping[str, AnyArray], count: int) -> FlagArray:
    flags = np.zeros(count, dtype=np.uint8)
    for name, flag in _FLAGS.items():
        if name in columns:
            flags[columns[name].astype(np.bool_)] |= np.uint8(flag)
    return flags


def _fault(side: Side, field: str, found: str, expected: str) -> Fault:
    return Fault(found, expected, source=side.value, field=field)


def _error(side: Side, field: str, found: str, expected: str) -> InputError:
    return InputError([_fault(side, field, found, expected)])
