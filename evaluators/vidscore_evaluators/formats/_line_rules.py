"""Rules for one line of JSON lines, checked value by value to report everything that is wrong.

Readers check whole columns (`vidscore_evaluators.formats._line_columns`) and use this module only
for the lines of a block with a fault.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from vidscore_evaluators.annotations import BOX, NO_TRACK, POINT, QUADRILATERAL, ObjectFlag
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._file_masks import masks_of_entries
from vidscore_evaluators.formats._heads import FRAME_KEYS
from vidscore_evaluators.formats._json import show_value, type_name
from vidscore_evaluators.formats._table import (
    EXPECTED_COORDINATE,
    EXPECTED_STRING,
    GREATEST_EXACT,
    parse_string,
)
from vidscore_evaluators.formats._times import ARRIVAL, COLUMN
from vidscore_evaluators.formats.generic import ALIASES, FRAME_FLAG
from vidscore_evaluators.names import closest_name
from vidscore_evaluators.validation import (
    EXPECTED_TIME,
    MAXIMUM_COORDINATE_PX,
    MAXIMUM_FRAME_NUMBER,
    MAXIMUM_TIME_S,
)

REQUIRED = ("sequence", "frame", "objects")
SHAPES: Mapping[str, int] = MappingProxyType({"point": POINT, "box": BOX, "corners": QUADRILATERAL})
"""Number of coordinates of an object, by the key that holds them."""

OBJECT_KEYS = ("label", *SHAPES, "mask", "confidence", "track", "flags", "numbers")
OBJECT_FLAGS: Mapping[str, int] = MappingProxyType(
    {str(flag.name).lower(): int(flag) for flag in ObjectFlag}
)
MAXIMUM_OBJECTS = 10_000
"""Maximum number of objects in a frame."""

MAXIMUM_NUMBERS = 64
"""Maximum number of named numbers of an object."""

GREATEST_TRACK = 2**63 - 1
NUMBER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
SHAPE_NAMES = MappingProxyType({arity: name for name, arity in SHAPES.items()})

_EXPECTED_SHAPES = MappingProxyType(
    {
        "point": "[x, y]",
        "box": "[x1, y1, x2, y2]",
        "corners": "[x1, y1, x2, y2, x3, y3, x4, y4], or four [x, y]",
    }
)
_PLAIN_FRAME_KEYS = frozenset({*REQUIRED, COLUMN})
_FLAT_SHAPES = frozenset({"point", "box"})
_PLAIN_OBJECT_KEYS = _FLAT_SHAPES | {"label", "confidence", "track"}
_SHORT_NAME = 64
_OTHER_NAMES = MappingProxyType(
    {
        **{
            name: {"class": "label", "track_id": "track"}.get(meant, meant)
            for name, meant in ALIASES.items()
        },
        **dict.fromkeys(("class", "cls"), "label"),
        **dict.fromkeys(("bbox", "xyxy", "x1y1x2y2"), "box"),
        **dict.fromkeys(("track_id", "id"), "track"),
        **dict.fromkeys(("time", "timestamp"), COLUMN),
        **dict.fromkeys(("frame_id", "frame_number"), "frame"),
        **dict.fromkeys(("detections", "annotations", "boxes"), "objects"),
    }
)
"""Keys that other tools use for them."""


def line_faults(frame: object, arity: int | None) -> Iterator[Fault]:
    """Everything that is wrong with a line.

    Args:
        frame: The document of the line.
        arity: Coordinates of objects in earlier lines; None if there were none.
    """
    if not isinstance(frame, dict):
        yield Fault(type_name(frame), "an object, one frame per line")
        return
    if _is_plain(frame, arity):
        return
    for key in REQUIRED:
        if key not in frame:
            yield Fault("nothing", f"the keys {', '.join(REQUIRED)}", field=key)
    yield from _unknown_keys(frame, FRAME_KEYS, "")
    for key in ("domain", "sequence"):
        if key in frame:
            yield from _name_faults(key, frame[key], required=key == "sequence")
    if "frame" in frame and not _is_integer(frame["frame"], 0, MAXIMUM_FRAME_NUMBER):
        expected = f"an integer from 0 to {MAXIMUM_FRAME_NUMBER}"
        yield Fault(show_value(frame["frame"]), expected, field="frame")
    for key in (COLUMN, ARRIVAL):
        value = frame.get(key)
        if value is not None and not (_is_number(value) and 0 <= value <= MAXIMUM_TIME_S):
            yield Fault(show_value(value), EXPECTED_TIME, field=key)
    yield from _flag_faults("flags", frame.get("flags", []), (FRAME_FLAG,))
    yield from _objects_faults(frame.get("objects", []), arity)


def _is_plain(frame: Mapping[str, Any], arity: int | None) -> bool:
    """Whether a line has only the usual fields, with valid values.

    A feed has one line per message, too few for whole columns: its objects are checked here at
    once.
    """
    objects = frame.get("objects")
    sequence, number, time_s = frame.get("sequence"), frame.get("frame"), frame.get(COLUMN)
    if not (
        frame.keys() <= _PLAIN_FRAME_KEYS
        and type(sequence) is str
        and _is_plain_name(sequence)
        and type(number) is int
        and 0 <= number <= MAXIMUM_FRAME_NUMBER
        and (time_s is None or (type(time_s) is float and 0 <= time_s <= MAXIMUM_TIME_S))
        and type(objects) is list
        and len(objects) <= MAXIMUM_OBJECTS
        and set(map(type, objects)) <= {dict}
    ):
        return False
    kinds = set(map(tuple, objects))
    if len(kinds) != 1:
        return not objects
    columns = {key: list(map(itemgetter(key), objects)) for key in kinds.pop()}
    shapes = columns.keys() & _FLAT_SHAPES
    if not columns.keys() <= _PLAIN_OBJECT_KEYS or len(shapes) != 1:
        return False
    [shape] = shapes
    values, labels, tracks = columns[shape], columns.get("label", [""]), columns.get("track", [0])
    return (
        arity in (None, SHAPES[shape])
        and set(map(type, values)) == {list}
        and set(map(len, values)) == {SHAPES[shape]}
        and _are_numbers(list(chain.from_iterable(values)), MAXIMUM_COORDINATE_PX)
        and _are_numbers(columns.get("confidence", [1.0]), math.inf)
        and set(map(type, labels)) == {str}
        and all(map(_is_plain_name, set(labels) - {""}))
        and set(map(type, tracks)) == {int}
        and min(tracks) >= NO_TRACK
        and max(tracks) <= GREATEST_TRACK
    )


def _is_plain_name(name: str) -> bool:
    return name.isascii() and name.isprintable() and len(name) <= _SHORT_NAME and bool(name.strip())


def _are_numbers(values: Sequence[Any], most: float) -> bool:
    """Whether all are finite numbers of at most a given absolute value."""
    return (
        set(map(type, values)) <= {int, float}
        and math.isfinite(sum(values))
        and -most <= min(values)
        and max(values) <= most
    )


def shapes_of(entry: Mapping[str, object]) -> list[int]:
    """Numbers of coordinates of the shapes that an object has; a mask alone counts as a box."""
    return [SHAPES[key] for key in SHAPES if key in entry] or [BOX] * ("mask" in entry)


def _objects_faults(objects: object, arity: int | None) -> Iterator[Fault]:
    if not isinstance(objects, list):
        yield Fault(show_value(objects), "an array of objects", field="objects")
        return
    if len(objects) > MAXIMUM_OBJECTS:
        yield Fault(f"{len(objects)} objects", f"at most {MAXIMUM_OBJECTS}", field="objects")
        return
    yield from _size_faults(objects)
    for index, entry in enumerate(objects):
        place = f"objects[{index}]"
        if not isinstance(entry, dict):
            yield Fault(type_name(entry), "an object", field=place)
            continue
        yield from _object_faults(place, entry)
        given = shapes_of(entry)
        if len(given) == 1:
            arity = given[0] if arity is None else arity
            if given[0] != arity:
                expected = f"a {SHAPE_NAMES[arity]}, as all objects are"
                yield Fault(f"a {SHAPE_NAMES[given[0]]}", expected, field=place)


def _object_faults(place: str, entry: Mapping[str, object]) -> Iterator[Fault]:
    yield from _unknown_keys(entry, OBJECT_KEYS, f"{place}.")
    given = [key for key in SHAPES if key in entry]
    if len(given) > 1 or (not given and "mask" not in entry):
        found = " and ".join(given) or "no coordinates"
        yield Fault(found, "one of point, box, corners, mask", field=place)
    if "mask" in entry:
        yield from _mask_faults(f"{place}.mask", entry["mask"])
        if given not in ([], ["box"]):
            yield Fault(f"mask and {given[0]}", "a mask alone, or with its box", field=place)
    for key in given:
        yield from _coordinate_faults(f"{place}.{key}", key, entry[key])
    yield from _name_faults(f"{place}.label", entry.get("label", ""), required=False)
    confidence = entry.get("confidence", 1.0)
    if not _is_number(confidence):
        yield Fault(show_value(confidence), "a finite number", field=f"{place}.confidence")
    track = entry.get("track")
    if track is not None and not _is_integer(track, NO_TRACK, GREATEST_TRACK):
        yield Fault(show_value(track), "-1 or null (no track), 0 or more", field=f"{place}.track")
    yield from _flag_faults(f"{place}.flags", entry.get("flags", []), tuple(OBJECT_FLAGS))
    yield from _number_faults(f"{place}.numbers", entry.get("numbers", {}))


def _coordinate_faults(place: str, shape: str, values: object) -> Iterator[Fault]:
    numbers = flat_corners(values) if SHAPES[shape] == QUADRILATERAL else values
    if not isinstance(numbers, list) or len(numbers) != SHAPES[shape]:
        found = show_value(values)
        yield Fault(found, _EXPECTED_SHAPES[shape], field=place)
        return
    for index, value in enumerate(numbers):
        if not (_is_number(value) and abs(value) <= MAXIMUM_COORDINATE_PX):
            yield Fault(show_value(value), EXPECTED_COORDINATE, field=f"{place}[{index}]")


def _size_faults(objects: Sequence[object]) -> Iterator[Fault]:
    """Masks whose size differs from that of the frame's first mask."""
    first: Sequence[object] | None = None
    for index, entry in enumerate(objects):
        mask = entry.get("mask") if isinstance(entry, dict) else None
        size = mask.get("size") if isinstance(mask, dict) else None
        if not isinstance(size, list) or len(size) != 2:
            continue
        first = first or size
        if size != first:
            found, expected = (" by ".join(map(show_value, sides)) for sides in (size, first))
            expected = f"{expected}, as the first mask of the frame"
            yield Fault(found, expected, field=f"objects[{index}].mask.size")


def _mask_faults(place: str, mask: object) -> Iterator[Fault]:
    try:
        masks_of_entries([mask])
    except InputError as error:
        for fault in error.faults:
            field = ".".join(filter(None, (place, fault.field)))
            yield Fault(fault.found, fault.expected, field=field)


def flat_corners(values: object) -> object:
    """The entries of an array of pairs, one after the other; other values unchanged."""
    if isinstance(values, list) and all(
        isinstance(value, list) and len(value) == POINT for value in values
    ):
        return [number for value in values for number in value]
    return values


def _name_faults(place: str, value: object, *, required: bool) -> Iterator[Fault]:
    text = name_of(value)
    if text is None or (required and not text):
        expected = "the name of a sequence" if text == "" else EXPECTED_STRING
        yield Fault(show_value(value), expected, field=place)


def name_of(value: object) -> str | None:
    """A name: a string, or the digits of an integer; None for other values."""
    integer = integer_of(value)
    if integer is not None:
        return str(integer)
    return parse_string(value) if isinstance(value, str) else None


def integer_of(value: object) -> int | None:
    """An integer, which JSON may write with a point, as ``4.0``; None for other values."""
    if type(value) is float and value.is_integer() and abs(value) <= GREATEST_EXACT:
        return int(value)
    return value if type(value) is int else None


def _flag_faults(place: str, words: object, known: tuple[str, ...]) -> Iterator[Fault]:
    expected = f"an array of words out of {', '.join(known)}"
    if not isinstance(words, list):
        yield Fault(show_value(words), expected, field=place)
        return
    for index, word in enumerate(words):
        if word not in known:
            yield Fault(show_value(word), expected, field=f"{place}[{index}]")


def _number_faults(place: str, numbers: object) -> Iterator[Fault]:
    if not isinstance(numbers, dict) or len(numbers) > MAXIMUM_NUMBERS:
        expected = f"an object of at most {MAXIMUM_NUMBERS} numbers by name"
        yield Fault(show_value(numbers), expected, field=place)
        return
    for name, value in numbers.items():
        if not NUMBER_NAME.fullmatch(name):
            expected = "a name of at most 64 letters, digits and underscores, no digit first"
            yield Fault(show_value(name), expected, field=place)
        elif value is not None and not _is_number(value):
            yield Fault(show_value(value), "a finite number, or null", field=f"{place}.{name}")


def _unknown_keys(
    entry: Mapping[str, object], known: tuple[str, ...], place: str
) -> Iterator[Fault]:
    for key in entry:
        if key not in known:
            meant = _OTHER_NAMES.get(key.casefold())
            meant = meant if meant in known else closest_name(key, known)
            found = f"the key {show_value(key)}"
            advice = f"did you mean {meant}?" if meant else None
            expected, where = f"of {', '.join(known)}", place.rstrip(".") or None
            yield Fault(found, expected, field=where, advice=advice)


def _is_integer(value: object, least: int, greatest: int) -> bool:
    integer = integer_of(value)
    return integer is not None and least <= integer <= greatest


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
