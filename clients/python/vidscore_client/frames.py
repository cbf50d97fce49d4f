"""Frames as columns: what is sent, whole batches at a time.

Frames are rows of the frame columns; the objects of frame f are the rows
``frame_starts[f]:frame_starts[f + 1]`` of the object columns. Sequences and class labels are
indices into small tables. Arrays of the right type are not copied, so they must not change until
the stream has ended.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vidscore_client._values import UNORDERED, counted, is_list, shown
from vidscore_client.errors import InputError
from vidscore_client.masks import Masks, masks_of

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]

Geometry = Literal["point", "box", "quadrilateral"]
"""Shape of objects: x, y | x1, y1, x2, y2 | x1, y1, ..., x4, y4."""

Side = Literal["truth", "detections"]
"""One of the two inputs of a score."""

GEOMETRY_OF_ARITY: Mapping[int, Geometry] = MappingProxyType(
    {2: "point", 4: "box", 8: "quadrilateral"}
)
ARITIES: Mapping[Geometry, int] = MappingProxyType(
    {geometry: arity for arity, geometry in GEOMETRY_OF_ARITY.items()}
)
"""Coordinates per object, by geometry."""

MAXIMUM_INDEX = 2**32 - 1

_LEAST, _GREATEST = -(2**63), 2**63 - 1
"""Range of integers on the wire."""


class ObjectFlag(IntFlag):
    """Special kinds of objects, as bits."""

    IGNORE = 1
    """A don't-care object: not ground truth, and a detection of it is no false positive."""
    CROWD = 2
    """A group of objects under one outline."""
    REGION = 4
    """An area in which nothing is scored."""
    DISTRACTOR = 8
    """An object of a class that systems may confuse with the scored one."""


class FrameFlag(IntFlag):
    """Special kinds of frames, as bits."""

    DONT_CARE = 1
    """The frame is left out of every count and average."""


@dataclass(frozen=True, eq=False)
class Frames:
    """F whole frames of one side with N objects, as columns.

    Lengths and index ranges are checked here; the server checks everything else.

    Attributes:
        sequences: Table of (domain, sequence) names; the domain is empty if there is only one.
        frame_sequences: (F,) rows of `sequences`.
        frame_numbers: (F,) frame numbers.
        frame_starts: (F + 1,) offsets into the object columns, from 0 to N.
        coordinates: (N, 2 | 4 | 8) pixels.
        labels: Table of class labels; an integer stands for its digits.
        label_indices: (N,) rows of `labels`; None for all 0, if there are not several labels.
        confidences: (N,) finite numbers, higher is surer; None for all 1.
        track_ids: (N,) identities of tracks, -1 where there is none; None for all -1.
        flags: (N,) bits of `ObjectFlag`; None for all 0.
        frame_flags: (F,) bits of `FrameFlag`; None for all 0.
        columns: Further (N,) numbers by name.
        frame_times_s: (F,) seconds at which the frames were captured, on any one clock, NaN where
            unknown; None if all are.
        masks: Masks of N boxes; None if there are none.

    Raises:
        InputError: If a column has the wrong length or type, an integer has more than 64 bits, an
            index points outside its table, or nothing says which of several labels objects have.
    """

    sequences: Sequence[tuple[str, str]]
    frame_sequences: IntArray
    frame_numbers: IntArray
    frame_starts: IntArray
    coordinates: FloatArray
    labels: Sequence[str | int] = ()
    label_indices: IntArray | None = None
    confidences: FloatArray | None = None
    track_ids: IntArray | None = None
    flags: IntArray | None = None
    frame_flags: IntArray | None = None
    columns: Mapping[str, FloatArray] = field(default_factory=lambda: MappingProxyType({}))
    frame_times_s: FloatArray | None = None
    masks: Masks | None = None

    def __post_init__(self) -> None:
        """Convert the columns to arrays, and check that they fit together."""
        self._check_sequences()
        if isinstance(self.labels, (str, *UNORDERED)) or not isinstance(self.labels, Iterable):
            raise InputError("labels", shown(self.labels), "a list of strings")
        self._set("labels", tuple(label_text(label) for label in self.labels))
        self._set("frame_numbers", integers("frame_numbers", self.frame_numbers))
        self._set("coordinates", coordinate_array(self.coordinates))
        for name in ("frame_sequences", "frame_flags"):
            self._set_integers(name, self.frame_count)
        for name in ("label_indices", "track_ids", "flags"):
            self._set_integers(name, self.object_count)
        if self.label_indices is None and len(self.labels) > 1 and self.object_count:
            # Probably a label for each object, as for `send`; all would get the first one.
            found = f"None beside {len(self.labels)} labels"
            raise InputError("label_indices", found, "for each object the row of its label")
        if self.confidences is not None:
            column = numbers("confidences", self.confidences, self.object_count)
            self._set("confidences", column)
        if not isinstance(self.columns, Mapping):
            raise InputError("columns", shown(self.columns), "a dictionary of columns")
        columns = {
            parse_string("columns", name): numbers(f"columns[{name!r}]", values, self.object_count)
            for name, values in self.columns.items()
        }
        self._set("columns", MappingProxyType(columns))
        if self.frame_times_s is not None:
            times_s = numbers("frame_times_s", self.frame_times_s, self.frame_count)
            self._set("frame_times_s", None if np.isnan(times_s).all() else times_s)
        if self.masks is not None:
            self._set("masks", masks_of(self.masks, self.object_count))
        self._check_starts()
        for name, greatest in (
            ("frame_sequences", len(self.sequences) - 1),
            ("label_indices", max(len(self.labels), 1) - 1),
            ("flags", MAXIMUM_INDEX),
            ("frame_flags", MAXIMUM_INDEX),
        ):
            check_range(name, getattr(self, name), greatest)

    @property
    def frame_count(self) -> int:
        """Number of frames F."""
        return len(self.frame_numbers)

    @property
    def object_count(self) -> int:
        """Number of objects N."""
        return len(self.coordinates)

    @property
    def arity(self) -> int:
        """Coordinates per object: 2, 4 or 8."""
        return int(self.coordinates.shape[1])

    def part(self, first: int, last: int) -> Frames:
        """Frames `first` up to but not including `last`, as views of the same columns."""
        start, end = int(self.frame_starts[first]), int(self.frame_starts[last])
        return Frames(
            sequences=self.sequences,
            frame_sequences=self.frame_sequences[first:last],
            frame_numbers=self.frame_numbers[first:last],
            frame_starts=self.frame_starts[first : last + 1] - start,
            coordinates=self.coordinates[start:end],
            labels=self.labels,
            label_indices=_cut(self.label_indices, start, end),
            confidences=_cut(self.confidences, start, end),
            track_ids=_cut(self.track_ids, start, end),
            flags=_cut(self.flags, start, end),
            frame_flags=_cut(self.frame_flags, first, last),
            columns={name: column[start:end] for name, column in self.columns.items()},
            frame_times_s=_cut(self.frame_times_s, first, last),
            masks=None if self.masks is None else self.masks.part(start, end),
        )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _set_integers(self, name: str, length: int) -> None:
        values = getattr(self, name)
        if values is not None:
            self._set(name, integers(name, values, length))

    def _check_sequences(self) -> None:
        expected = "(domain, sequence), two strings"
        if not is_list(self.sequences):
            raise InputError("sequences", shown(self.sequences), f"a list of {expected}")
        for row, key in enumerate(self.sequences):
            if not is_list(key) or len(key) != 2:
                raise InputError(f"sequences[{row}]", shown(key), expected)
            for name in key:
                parse_string("sequences", name)

    def _check_starts(self) -> None:
        starts = integers("frame_starts", self.frame_starts, self.frame_count + 1)
        if starts[0] != 0 or starts[-1] != self.object_count or np.any(starts[1:] < starts[:-1]):
            expected = f"offsets that ascend from 0 to the number of objects, {self.object_count}"
            raise InputError("frame_starts", f"{starts[0]} ... {starts[-1]}", expected)
        # Sizes are computed from them, for which smaller integers would overflow.
        self._set("frame_starts", starts.astype(np.int64, copy=False))


def check_range(name: str, values: IntArray | None, greatest: int) -> None:
    """Refuse a column with integers outside 0 to `greatest`.

    Raises:
        InputError: If there is one.
    """
    if values is None or len(values) == 0:
        return
    if values.min() < 0 or values.max() > greatest:
        found = f"{values.min()} to {values.max()}"
        raise InputError(name, found, f"integers from 0 to {greatest}")


def coordinate_array(values: ArrayLike, arity: int | None = None, *, copy: bool = False) -> Any:
    """Coordinates of N objects as an (N, arity) array.

    Args:
        values: (N, arity) numbers, or an empty list for no objects.
        arity: Coordinates per object; None to accept 2, 4 or 8.
        copy: Whether the caller may change `values` afterwards.

    Raises:
        InputError: If the shape is wrong, or the values are not numbers.
    """
    allowed = tuple(ARITIES.values()) if arity is None else (arity,)
    expected = "numbers of shape " + " or ".join(f"(N, {number})" for number in allowed)
    array = _convert("coordinates", values, expected, copy=copy)
    if array.ndim == 1 and len(array) == 0 and arity is not None:
        return array.reshape(0, arity)
    if array.ndim != 2 or array.shape[1] not in allowed:
        raise InputError("coordinates", f"shape {array.shape}", expected)
    return array


def numbers(name: str, values: ArrayLike, length: int, *, copy: bool = False) -> FloatArray:
    """A column of numbers.

    Raises:
        InputError: If it is not a column of `length` numbers.
    """
    expected = counted(length, "number")
    array = _convert(name, values, expected, copy=copy)
    if array.shape != (length,):
        raise InputError(name, f"shape {array.shape}", expected)
    return array


def integers(
    name: str, values: ArrayLike, length: int | None = None, *, copy: bool = False
) -> IntArray:
    """A column of integers that fit on the wire.

    Raises:
        InputError: If it is not a column of `length` integers, or one is too large.
    """
    expected = "integers" if length is None else counted(length, "integer")
    _refuse_hidden(name, values, expected)
    try:
        array = np.array(values) if copy else np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        raise InputError(name, "something else", expected) from None
    if array.size == 0 and array.dtype.kind not in "iu":
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise InputError(name, f"values of type {array.dtype}", expected)
    if array.ndim != 1 or (length is not None and len(array) != length):
        raise InputError(name, f"shape {array.shape}", expected)
    if array.dtype == np.uint64:
        # Joined with a column of signed integers, it would become a column of floats.
        if array.max(initial=0) > _GREATEST:
            found = str(array.max())
            raise InputError(name, found, f"integers from {_LEAST} to {_GREATEST}")
        array = array.astype(np.int64)
    return array


def parse_string(name: str, value: object) -> str:
    """A string that can be sent.

    Raises:
        InputError: If it is none.
    """
    try:
        if isinstance(value, str):
            value.encode()
            return value
    except UnicodeEncodeError:  # half of a surrogate pair, which is not valid Unicode
        pass
    raise InputError(name, shown(value), "a string")


def label_text(value: object) -> str:
    """A class label that can be sent; an integer stands for its digits.

    Raises:
        InputError: If it is neither a string nor an integer.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        try:
            return str(int(value))
        except ValueError:  # with more digits than Python prints
            raise InputError("labels", shown(value), "a shorter number") from None
    return parse_string("labels", value)


def _refuse_hidden(name: str, values: object, expected: str) -> None:
    """Refuse masked values, which numpy would return without their mask."""
    masked = sys.modules.get("numpy.ma")  # loaded whenever one of its arrays exists
    kinds = getattr(masked, "MaskedArray", ())  # not there while another thread imports the module
    if masked is not None and isinstance(values, kinds) and masked.is_masked(values):
        raise InputError(name, "masked values", expected)


def _convert(name: str, values: ArrayLike, expected: str, *, copy: bool) -> FloatArray:
    _refuse_hidden(name, values, expected)
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "") in ("m", "M", "c"):  # numbers with any unit, or some of them
        raise InputError(name, f"values of type {dtype}", expected)
    try:
        if copy:
            return np.array(values, dtype=np.float64)
        return np.asarray(values, dtype=np.float64)
    except (ValueError, TypeError, OverflowError):
        raise InputError(name, "something else", expected) from None


def _cut(column: Any, start: int, end: int) -> Any:
    return None if column is None else column[start:end]
