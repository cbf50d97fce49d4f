"""Entries of COCO's arrays as columns, with a rule for each key.

The usual case is processed as whole columns; entries are checked one by one only if something is
wrong.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, compress, repeat
from operator import contains, itemgetter
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import BOX, NO_TRACK
from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray, require
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.formats._coco_segmentations import ListedSegmentations, Segmentations
from vidscore_evaluators.formats._json import is_integer, show_value, type_name
from vidscore_evaluators.formats._table import EXPECTED_STRING, parse_string
from vidscore_evaluators.formats.source import FaultList
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.validation import (
    EXPECTED_TIME,
    MAXIMUM_COORDINATE_PX,
    MAXIMUM_FRAME_NUMBER,
    MAXIMUM_TIME_S,
)

MASK_ROW = "mask_row"
"""Column of the mask of each entry, made from its segmentation."""

MAXIMUM_AREA_PX = 4 * MAXIMUM_COORDINATE_PX**2
"""Maximum area of an object, in square pixels."""

BOX_EXPECTED = "[x, y, width, height] in pixels, sizes not negative"


class Rule(Struct, frozen=True):
    """The rule of a key.

    Attributes:
        expected: Description of its values, for error messages.
        holds: Whether one value follows the rule.
        column: Makes a column of values; a ValueError means that some value breaks the rule.
        default: Value of a missing key; None if the key is required.
        unique: Whether values must be distinct.
        fits: Whether the numbers of a column are within the rule's bounds.
    """

    expected: str
    holds: Callable[[object], bool]
    column: Callable[[list[Any]], Any]
    default: Any = None
    unique: bool = False
    fits: Callable[[AnyArray], bool] = lambda _: True


Rules = Mapping[str, Rule]


class Entries(Struct, frozen=True, eq=False):
    """N well-formed entries.

    Attributes:
        columns: A column for each key.
        positions: (N,) index of each in its array.
        masks: Masks that the column `MASK_ROW` refers to; None if no entry has one.
    """

    columns: Mapping[str, Any]
    positions: IntArray
    masks: Masks | None = None

    def __len__(self) -> int:
        """Number of entries N."""
        return len(self.positions)

    def integers(self, key: str) -> IntArray:
        """(N,) integers; all -1 if the array has no such key."""
        missing = np.full(len(self), NO_TRACK, dtype=np.int64)
        column: IntArray = self.columns.get(key, missing)
        return column

    def ids(self, key: str) -> AnyArray:
        """(N,) integers, or objects if some are strings."""
        column: AnyArray = self.columns[key]
        return column

    def numbers(self, key: str) -> FloatArray:
        """(N,) numbers; NaN if a key is left out."""
        column: FloatArray = self.columns[key]
        return column

    def strings(self, key: str) -> list[str]:
        """N strings."""
        column: list[str] = self.columns[key]
        return column

    def boxes(self) -> FloatArray:
        """(N, 4) boxes as x, y, width, height; NaN if one is left out."""
        column: FloatArray = self.columns["bbox"]
        return column

    def segmentations(self) -> Segmentations:
        """N segmentations; an omitted one is `Form.NOTHING`."""
        column: Segmentations = self.columns["segmentation"]
        return column

    def take(self, rows: BoolArray) -> Entries:
        """Keep some entries, given as a mask."""
        if rows.all():
            return self
        return replace(
            self,
            columns={
                key: list(compress(column, rows)) if isinstance(column, list) else column[rows]
                for key, column in self.columns.items()
            },
            positions=self.positions[rows],
        )


def read_entries(
    entries: list[Any], rules: Rules, source: str, array: str, faults: FaultList
) -> Entries:
    """Read an array.

    Args:
        entries: Its entries.
        rules: The rule of each key; other keys are not read.
        source: Name of the file.
        array: Key of the array, for error messages; empty if it is the whole document.
        faults: List to add faults to.

    Returns:
        The entries that follow the rules.
    """
    positions = np.arange(len(entries), dtype=np.int64)
    try:
        return Entries(_columns(entries, rules), positions)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        good = _explain(entries, rules, source, array, faults)
        kept = [entries[index] for index in good]
        return Entries(_columns(kept, rules), np.array(good, dtype=np.int64))


def _columns(entries: list[Any], rules: Rules) -> dict[str, Any]:
    columns = {}
    present = set(chain.from_iterable(entries))
    for key, rule in rules.items():
        default = rule.default
        values = _values(entries, key, default) if key in present else [default] * len(entries)
        column = rule.column(values)
        if rule.unique:
            given = [value for value in values if value != default]
            require(len(set(given)) == len(given))
        columns[key] = column
    return columns


def _values(entries: list[Any], key: str, default: Any) -> list[Any]:
    """Values of a key that some entries have; without a default, all must have it."""
    try:
        return list(map(itemgetter(key), entries))
    except KeyError:
        if default is None:
            raise
        return [entry.get(key, default) for entry in entries]


def _explain(
    entries: Sequence[Any], rules: Rules, source: str, array: str, faults: FaultList
) -> list[int]:
    """Add every fault; return the indices of the entries without one."""
    seen: dict[str, set[Any]] = {key: set() for key, rule in rules.items() if rule.unique}
    good = []
    for index, entry in enumerate(entries):
        problems = list(_problems(entry, rules, seen))
        for key, found, expected in problems:
            field = ".".join(filter(None, (array, key))) or None
            faults.add(Fault(found, expected, source=source, entry=index, field=field))
        if not problems:
            good.append(index)
    return good


def _problems(
    entry: object, rules: Rules, seen: Mapping[str, set[Any]]
) -> Iterator[tuple[str, str, str]]:
    if not isinstance(entry, dict):
        required = ", ".join(key for key, rule in rules.items() if rule.default is None)
        yield "", type_name(entry), f"an object with {required}"
        return
    for key, rule in rules.items():
        if key not in entry:
            if rule.default is None:
                yield key, "nothing", rule.expected
        elif not rule.holds(entry[key]):
            yield key, _shown(entry[key]), rule.expected
        elif rule.unique:
            if entry[key] in seen[key]:
                yield key, f"{show_value(entry[key])} again", "each once"
            seen[key].add(entry[key])


def _shown(value: object) -> str:
    """A value; in full if it may be meant as a box."""
    if isinstance(value, list) and len(value) <= BOX:
        return "[" + ", ".join(map(show_value, value)) + "]"
    return show_value(value)


# --- rules -----------------------------------------------------------------------------------


def _integer(greatest: int, default: Any = None, *, unique: bool = False) -> Rule:
    least = 0 if default is None else min(0, default)

    def fits(array: AnyArray) -> bool:
        return bool(((array >= least) & (array <= greatest)).all())

    def column(values: list[Any]) -> IntArray:
        require(set(map(type, values)) <= {int})
        array = np.array(values, dtype=np.int64)
        require(fits(array))
        return array

    return Rule(
        f"an integer from {least} to {greatest}",
        lambda value: is_integer(value, least, greatest),
        column,
        default,
        unique,
        fits,
    )


def _id(*, unique: bool = False) -> Rule:
    """An integer, or a string, which some training tools write."""
    number, string = _integer(MAXIMUM_FRAME_NUMBER), _string()

    def holds(value: object) -> bool:
        return number.holds(value) or string.holds(value)

    def column(values: list[Any]) -> AnyArray:
        if set(map(type, values)) <= {int}:
            return cast("AnyArray", number.column(values))
        require(all(map(holds, values)))
        return np.array(values, dtype=object)

    expected = f"{number.expected}, or a string"
    return Rule(expected, holds, column, unique=unique, fits=number.fits)


def _anything() -> Rule:
    """Strings; any other value counts as missing."""

    def column(values: list[Any]) -> list[str]:
        return [value if isinstance(value, str) else "" for value in values]

    return Rule("anything", lambda _: True, column, "")


def _size() -> Rule:
    """Sizes in pixels, as integers; any other value counts as missing, which is 0."""

    def column(values: list[Any]) -> IntArray:
        sizes = [value if _is_size(value) else 0 for value in values]
        return np.array([min(size, MAXIMUM_COORDINATE_PX) for size in sizes], dtype=np.int64)

    return Rule("anything", lambda _: True, column, 0)


def _is_size(value: object) -> bool:
    """Whether a value is a number of pixels; some tools write 640.0."""
    return (type(value) is int or (type(value) is float and value.is_integer())) and value > 0


def _number(least: float, greatest: float, default: float | None) -> Rule:
    def holds(value: object) -> bool:
        return type(value) in (int, float) and least <= value <= greatest  # type: ignore[operator]

    def fits(array: AnyArray) -> bool:
        return bool((np.isnan(array) | ((array >= least) & (array <= greatest))).all())

    def column(values: list[Any]) -> FloatArray:
        require(set(map(type, values)) <= {int, float})
        array = np.array(values, dtype=np.float64)
        require(fits(array))
        return array

    expected = f"a number from {least:g} to {greatest:g}"
    return Rule(expected, holds, column, default, fits=fits)


def _finite(default: float | None = None) -> Rule:
    greatest = sys.float_info.max
    return replace(_number(-greatest, greatest, default), expected="a finite number")


def _string(default: str | None = None, *, unique: bool = False) -> Rule:
    def holds(value: object) -> bool:
        return isinstance(value, str) and (
            value == default or (bool(value) and parse_string(value) == value)
        )

    def column(values: list[Any]) -> list[Any]:
        require(all(map(holds, values)))
        return values

    return Rule(EXPECTED_STRING + ", not empty", holds, column, default, unique)


def _box() -> Rule:
    def holds(value: object) -> bool:
        return (
            isinstance(value, list)
            and len(value) == BOX
            and all(type(number) in (int, float) for number in value)
            and all(abs(number) <= MAXIMUM_COORDINATE_PX for number in value)
            and min(value[2:]) >= 0
        )

    def fits(array: AnyArray) -> bool:
        largest = np.abs(array).max(initial=0.0)
        return bool(largest <= MAXIMUM_COORDINATE_PX and array[:, 2:].min(initial=0.0) >= 0.0)

    def column(values: list[Any]) -> FloatArray:
        require(set(map(type, values)) <= {list})
        require(set(map(len, values)) <= {BOX})
        numbers = list(chain.from_iterable(values))
        require(set(map(type, numbers)) <= {int, float})
        array = np.fromiter(numbers, dtype=np.float64, count=len(numbers)).reshape(-1, BOX)
        require(fits(array))
        return array

    return Rule(BOX_EXPECTED, holds, column, fits=fits)


def _segmentation() -> Rule:
    def column(values: list[Any]) -> ListedSegmentations:
        require(_are_segmentations(values))
        return ListedSegmentations.of(values)

    expected = "polygons [[x, y, ...], ...], or an object with size [height, width] and counts"
    return Rule(expected, lambda value: _are_segmentations([value]), column, ())


def _are_segmentations(values: Sequence[object]) -> bool:
    """Whether all values have a form of COCO; their polygons and runs may still be invalid."""
    kinds = set(map(type, values))
    if not kinds <= {list, tuple, dict, type(None)}:
        return False
    if kinds <= {tuple}:  # JSON has no tuples: all are left out
        return True
    lists: list[Any] = [value for value in values if value and type(value) is not dict]
    parts = list(chain.from_iterable(lists))
    return (
        set(map(type, parts)) <= {list}
        and set(map(type, chain.from_iterable(parts))) <= {int, float}
        and _are_runs([value for value in values if type(value) is dict])
    )


def _are_runs(values: Sequence[dict[str, object]]) -> bool:
    """Whether objects have a size, and runs or a string of them."""
    sizes: list[Any] = list(map(dict.get, values, repeat("size")))
    if not set(map(type, sizes)) <= {list} or not set(map(len, sizes)) <= {2}:
        return False
    sides = list(chain.from_iterable(sizes))
    return (
        set(map(type, map(dict.get, values, repeat("counts")))) <= {str, list}
        and set(map(type, sides)) <= {int}
        and 0 <= min(sides, default=0) <= max(sides, default=0) < 1 << 31
    )


def fitting(rules: Rules, entries: list[Any]) -> Rules:
    """Rules that allow a segmentation without a box, if some entries have that.

    A missing box is NaN.
    """
    objects = [entry for entry in entries if isinstance(entry, dict)]
    if all(map(contains, objects, repeat("bbox"))):
        return rules
    if all("bbox" in entry or "segmentation" not in entry for entry in objects):
        return rules
    box = rules["bbox"]

    def column(values: list[Any]) -> FloatArray:
        given = np.array([value is not _NO_BOX for value in values], dtype=np.bool_)
        boxes = np.full((len(values), BOX), np.nan)
        boxes[given] = box.column([value for value in values if value is not _NO_BOX])
        return boxes

    return MappingProxyType({**rules, "bbox": replace(box, column=column, default=_NO_BOX)})


_NO_BOX: tuple[float, ...] = ()
_ID = _integer(MAXIMUM_FRAME_NUMBER)
_OPTIONAL_ID = _integer(MAXIMUM_FRAME_NUMBER, NO_TRACK)
_UNIQUE_ID = _integer(MAXIMUM_FRAME_NUMBER, unique=True)
_FLAG = _integer(1, 0)
_OBJECT: Rules = {
    "image_id": _id(),
    "category_id": _ID,
    "bbox": _box(),
    "track_id": _OPTIONAL_ID,
    "instance_id": _OPTIONAL_ID,
    "segmentation": _segmentation(),
}
VIDEO_RULES: Rules = MappingProxyType({"id": _UNIQUE_ID, "name": _string("", unique=True)})
IMAGE_RULES: Rules = MappingProxyType(
    {
        "id": _id(unique=True),
        "file_name": _anything(),
        "width": _size(),
        "height": _size(),
        "video_id": _OPTIONAL_ID,
        "frame_id": _OPTIONAL_ID,
        "frame_index": _OPTIONAL_ID,
        "time_s": replace(_number(0.0, MAXIMUM_TIME_S, math.nan), expected=EXPECTED_TIME),
    }
)
CATEGORY_RULES: Rules = MappingProxyType({"id": _UNIQUE_ID, "name": _string(unique=True)})
ANNOTATION_RULES: Rules = MappingProxyType(
    {
        **_OBJECT,
        "iscrowd": _FLAG,
        "ignore": _FLAG,
        "area": _number(0.0, MAXIMUM_AREA_PX, float("nan")),
        "score": _finite(1.0),
    }
)
RESULT_RULES: Rules = MappingProxyType({**_OBJECT, "score": _finite()})
NAMED_RESULT_RULES: Rules = MappingProxyType(
    {
        "file_name": _string(),
        **{key: rule for key, rule in RESULT_RULES.items() if key != "image_id"},
    }
)
"""Rules of results that name their image's file in place of its id."""
