"""Masks of objects as columns of runs, also from the objects of COCO's tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from vidscore_client._values import counted, is_list, shown
from vidscore_client.errors import InputError

MAXIMUM_RUN = 2**32 - 1

_ZERO, _MORE, _SIGN, _DIGIT, _BITS = 48, 32, 16, 31, 5
"""COCO's texts: the character of 0, the continuation bit, the sign bit, and the bits of a digit."""

_MOST_CHARACTERS = 8
"""Maximum characters of a number: seven hold the difference of any two runs."""


@dataclass(frozen=True, eq=False)
class Masks:
    """Masks of N objects.

    A mask is a list of runs, column by column: pixels outside and inside the object in turn,
    beginning outside. Shapes are checked here; the server checks the rest.

    Attributes:
        sizes: (N, 2) height and width of the image in pixels.
        starts: (N + 1,) offsets into `runs`.
        runs: (R,) lengths of runs.

    Raises:
        InputError: If a column has the wrong shape or type, or a number is out of range.
    """

    sizes: NDArray[Any]
    starts: NDArray[Any]
    runs: NDArray[Any]

    def __post_init__(self) -> None:
        """Convert the columns to arrays, and check that they fit together."""
        for name, width in (("sizes", 2), ("starts", 1), ("runs", 1)):
            values = _array(name, getattr(self, name))
            if values.size == 0:
                values = values.astype(np.int64).reshape((-1, 2) if width == 2 else -1)
            if (
                values.dtype.kind not in "iu"
                or values.ndim != width
                or values.shape[1:] != (2,) * (width - 1)
            ):
                found = f"{values.dtype} of shape {values.shape}"
                raise InputError(f"masks.{name}", found, "integers; in sizes, two per mask")
            object.__setattr__(self, name, values)
        for name in ("sizes", "runs"):
            values = getattr(self, name)
            if values.size and not 0 <= values.min() <= values.max() <= MAXIMUM_RUN:
                found = f"{values.min()} to {values.max()}"
                raise InputError(f"masks.{name}", found, f"integers from 0 to {MAXIMUM_RUN}")
        starts = self.starts
        if (
            len(starts) != self.count + 1
            or starts[0] != 0
            or starts[-1] != len(self.runs)
            or np.any(starts[1:] < starts[:-1])
        ):
            expected = f"{counted(self.count + 1, 'offset')} ascending from 0 to {len(self.runs)}"
            raise InputError("masks.starts", f"{starts[:1]} ... {starts[-1:]}", expected)
        self._widen()

    def _widen(self) -> None:
        """Make columns signed, so that they never become floats, and offsets wide enough."""
        for name in ("sizes", "starts", "runs"):
            values = getattr(self, name)
            if name == "starts" or values.dtype == np.uint64:
                object.__setattr__(self, name, values.astype(np.int64, copy=False))

    @property
    def count(self) -> int:
        """Number of masks N."""
        return len(self.sizes)

    def part(self, first: int, last: int) -> Masks:
        """Masks `first` up to but not including `last`, as views of the same columns."""
        starts = self.starts[first : last + 1]
        return Masks(self.sizes[first:last], starts - starts[0], self.runs[starts[0] : starts[-1]])

    @classmethod
    def of(cls, entries: Sequence[Mapping[str, Any]]) -> Masks:
        """Masks from COCO's objects, such as those of ``pycocotools.mask.encode``.

        Args:
            entries: N objects with ``size``, height and width, and ``counts``, a list of runs or a
                compressed text.

        Raises:
            InputError: If one is invalid.
        """
        if not is_list(entries):
            raise InputError("masks", shown(entries), "Masks, or a list of objects")
        sizes = np.zeros((len(entries), 2), dtype=np.int64)
        runs: list[NDArray[np.int64]] = []
        for row, entry in enumerate(entries):
            try:
                height, width = entry["size"]
                sizes[row] = height, width
                runs.append(_runs(entry["counts"]))
            except (KeyError, TypeError, ValueError, OverflowError):
                expected = "an object with size [height, width] and counts, runs or a string"
                raise InputError(f"masks[{row}]", shown(entry), expected) from None
        starts = np.concatenate([[0], np.cumsum([len(part) for part in runs], dtype=np.int64)])
        return cls(sizes, starts, np.concatenate([np.zeros(0, dtype=np.int64), *runs]))


def _array(name: str, values: object) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"masks.{name}", "something else", "integers") from None


MaskInput: TypeAlias = Masks | Sequence[Mapping[str, Any]]
"""Masks as columns, or COCO's objects."""


def masks_of(masks: MaskInput, count: int) -> Masks:
    """Masks of the given number of objects.

    Args:
        masks: The masks.
        count: Number of objects.

    Raises:
        InputError: If the number of masks differs.
    """
    found = masks if isinstance(masks, Masks) else Masks.of(masks)
    if found.count != count:
        raise InputError("masks", counted(found.count, "mask"), f"{count}, one for each object")
    return found


def join_masks(parts: Sequence[Masks]) -> Masks:
    """The masks of several parts, one after the other; at least one part."""
    counts = np.concatenate([np.diff(part.starts) for part in parts])
    return Masks(
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([part.runs for part in parts]),
    )


def _runs(counts: object) -> NDArray[np.int64]:
    if isinstance(counts, str | bytes):
        return _runs_of_text(counts.encode("ascii") if isinstance(counts, str) else counts)
    runs = np.asarray(counts)
    if runs.ndim != 1 or (runs.size and runs.dtype.kind not in "iu"):
        raise ValueError
    return runs.astype(np.int64)


def _runs_of_text(text: bytes) -> NDArray[np.int64]:
    """Runs of a compressed text.

    Its numbers have digits of five bits, lowest first; from the fourth one on, they are differences
    to the run before the last one.
    """
    digits = np.frombuffer(text, dtype=np.uint8).astype(np.int64) - _ZERO
    if len(digits) == 0:
        return digits
    ends = np.flatnonzero((digits & _MORE) == 0)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    lengths = ends - starts + 1
    wrong = digits.min() < 0 or digits.max() > _DIGIT + _MORE
    if wrong or len(ends) == 0 or ends[-1] != len(digits) - 1 or lengths.max() > _MOST_CHARACTERS:
        raise ValueError
    places = np.arange(len(digits)) - np.repeat(starts, lengths)
    numbers = np.add.reduceat((digits & _DIGIT) << (_BITS * places), starts)
    numbers -= ((digits[ends] & _SIGN) != 0).astype(np.int64) << (_BITS * lengths)
    numbers[1::2] = np.cumsum(numbers[1::2])
    numbers[2::2] = np.cumsum(numbers[2::2])
    return numbers
