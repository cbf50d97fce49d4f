"""Objects of one frame as detectors and other libraries give them, as annotations of that frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import ARITIES, Annotations, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.arrays import AnyArray, FlagArray, as_names, hidden_values
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.names import name_advice
from vidscore_evaluators.validation import Columns, build_annotations

Labels = Mapping[int, str] | Sequence[str]
"""Name of each class number."""

NAMES: Mapping[str, str] = MappingProxyType(
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
"""What a field is, by its names in torchmetrics, supervision and here."""

_SHAPES = "(N, 4) boxes x1, y1, x2, y2, (N, 2) points or (N, 8) corners"


def frame_annotations(
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
        objects: An array of coordinates; a mapping of `NAMES` to arrays; an object with the
            attributes of supervision's ``Detections``; None for no objects.
        labels: Name of each class number; None to call it by its digits.
        arity: Coordinates of an object where there is none to tell.

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
    faults = [
        _fault(side, name, f"an array of shape {column.shape}", f"one of {len(coordinates)} values")
        for name, column in columns.items()
        if column.shape != (len(coordinates),)
    ]
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


def _fields(side: Side, objects: Any, *, prefer_names: bool) -> dict[str, Any]:
    """Values by what they are; what is None is not there."""
    if objects is None:
        return {}
    if isinstance(objects, Mapping):
        given = dict(objects)
    elif hasattr(objects, "xyxy"):
        given = _attributes(objects, prefer_names=prefer_names)
    else:
        given = {"boxes": objects}
    unknown = [name for name in given if name not in NAMES]
    if unknown:
        raise InputError(
            [
                Fault("unknown field", "", side.value, field=str(name), advice=advice)
                for name in unknown
                for advice in [name_advice(str(name), NAMES)]
            ]
        )
    found: dict[str, Any] = {}
    for name, values in given.items():
        if values is None:
            continue
        if NAMES[name] in found:
            raise _error(side, name, "a second name of the same field", "one of them")
        found[NAMES[name]] = values
    if found and "coordinates" not in found:
        raise _error(side, "boxes", "none", _SHAPES)
    return found


def _attributes(detections: Any, *, prefer_names: bool) -> dict[str, Any]:
    """The fields of supervision's ``Detections``, whose data may have the names of classes."""
    names = (getattr(detections, "data", None) or {}).get("class_name")
    numbers = getattr(detections, "class_id", None)
    return {
        "xyxy": detections.xyxy,
        "confidence": getattr(detections, "confidence", None),
        "class_id": names if numbers is None or (prefer_names and names is not None) else numbers,
        "tracker_id": getattr(detections, "tracker_id", None),
    }


def _array(side: Side, field: str, values: Any) -> AnyArray:
    """An array of anything that is one; tensors come from their device."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    if hidden_values(values) is not None:
        raise _error(side, field, "masked values", "none")
    try:
        return np.asarray(as_names(values) if field == "labels" else values)
    except ValueError:  # rows of different lengths
        return np.empty((), dtype=object)


def _named(
    side: Side, column: AnyArray | None, labels: Labels | None
) -> tuple[tuple[str, ...], Sequence[int] | AnyArray]:
    """A table of labels, and the row of each object in it."""
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
    """The name of a class number; None where it has none."""
    if labels is None:
        return str(number)
    if isinstance(labels, Mapping):
        return labels.get(number)
    return labels[number] if 0 <= number < len(labels) else None


def _flags(columns: Mapping[str, AnyArray], count: int) -> FlagArray:
    flags = np.zeros(count, dtype=np.uint8)
    for name, flag in (("crowd", ObjectFlag.CROWD), ("ignore", ObjectFlag.IGNORE)):
        if name in columns:
            flags[columns[name].astype(np.bool_)] |= np.uint8(flag)
    return flags


def _fault(side: Side, field: str, found: str, expected: str) -> Fault:
    return Fault(found, expected, source=side.value, field=field)


def _error(side: Side, field: str, found: str, expected: str) -> InputError:
    return InputError([_fault(side, field, found, expected)])
