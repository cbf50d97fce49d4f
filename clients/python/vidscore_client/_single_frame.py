"""One frame as a live loop gives it, and how many of them become columns."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vidscore_client.errors import InputError
from vidscore_client.frames import (
    FloatArray,
    FrameFlag,
    Frames,
    IntArray,
    coordinate_array,
    label_text,
    numbers,
    text,
    whole_numbers,
)


@dataclass(frozen=True, slots=True)
class SingleFrame:
    """One frame with N objects; the attributes are those of `SingleFrame.of`, checked."""

    key: tuple[str, str]
    number: int
    coordinates: FloatArray
    labels: tuple[str, ...] | None
    confidences: FloatArray | None
    track_ids: IntArray | None
    flags: IntArray | None
    frame_flags: int

    @classmethod
    def of(  # noqa: PLR0913 - one argument for each column of the wire
        cls,
        arity: int,
        sequence: str,
        frame: int,
        coordinates: ArrayLike,
        *,
        labels: Sequence[str | int] | None = None,
        confidences: ArrayLike | None = None,
        track_ids: ArrayLike | None = None,
        flags: ArrayLike | None = None,
        domain: str = "",
        dont_care: bool = False,
    ) -> SingleFrame:
        """Check shapes and lengths, and copy, so that the caller may reuse its arrays.

        Raises:
            InputError: If an argument has another shape or length than it should.
        """
        boxes = coordinate_array(coordinates, arity, copy=True)
        count = len(boxes)
        return cls(
            key=(text("domain", domain), text("sequence", sequence)),
            number=_frame_number(frame),
            coordinates=boxes,
            labels=None if labels is None else _labels(labels, count),
            confidences=(
                None
                if confidences is None
                else numbers("confidences", confidences, count, copy=True)
            ),
            track_ids=(
                None
                if track_ids is None
                else whole_numbers("track_ids", track_ids, count, copy=True)
            ),
            flags=None if flags is None else _flags(flags, count),
            frame_flags=int(FrameFlag.DONT_CARE) if dont_care else 0,
        )

    @property
    def object_count(self) -> int:
        """Number of objects N."""
        return len(self.coordinates)


def join(frames: Sequence[SingleFrame]) -> Frames:
    """Columns of frames, in their order.

    Args:
        frames: At least one frame; all of one arity.
    """
    counts = [frame.object_count for frame in frames]
    starts = np.zeros(len(frames) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    sequences, frame_sequences = _table([frame.key for frame in frames])
    labels, label_indices = _table(
        [label for frame in frames for label in frame.labels or ("",) * frame.object_count]
    )
    return Frames(
        sequences=sequences,
        frame_sequences=frame_sequences,
        frame_numbers=np.array([frame.number for frame in frames], dtype=np.int64),
        frame_starts=starts,
        coordinates=np.concatenate([frame.coordinates for frame in frames]),
        labels=labels,
        label_indices=label_indices,
        confidences=_joined([frame.confidences for frame in frames], counts, 1.0),
        track_ids=_joined([frame.track_ids for frame in frames], counts, -1),
        flags=_joined([frame.flags for frame in frames], counts, 0),
        frame_flags=np.array([frame.frame_flags for frame in frames], dtype=np.int64),
    )


def _table(names: Sequence[Any]) -> tuple[tuple[Any, ...], IntArray]:
    """Each name once, in order of appearance, and for each entry its row."""
    rows: dict[Any, int] = {}
    indices = [rows.setdefault(name, len(rows)) for name in names]
    return tuple(rows), np.array(indices, dtype=np.int64)


def _joined(columns: Sequence[Any], counts: Sequence[int], default: float) -> Any:
    if all(column is None for column in columns):
        return None
    return np.concatenate(
        [
            np.full(count, default) if column is None else column
            for column, count in zip(columns, counts, strict=True)
        ]
    )


def _labels(labels: Sequence[str | int], count: int) -> tuple[str, ...]:
    expected = f"{count} texts, one for each object"
    if isinstance(labels, str):
        raise InputError("labels", "one text", expected)
    names = tuple(label_text(label) for label in labels)
    if len(names) != count:
        raise InputError("labels", f"{len(names)} values", expected)
    return names


def _flags(flags: ArrayLike, count: int) -> IntArray:
    bits = whole_numbers("flags", flags, count, copy=True)
    if count and bits.min() < 0:
        raise InputError("flags", str(bits.min()), "bits of ObjectFlag")
    return bits


def _frame_number(frame: int) -> int:
    try:
        number = operator.index(frame)
    except TypeError:
        raise InputError("frame", repr(frame)[:80], "a whole number") from None
    if not -(2**63) <= number < 2**63:
        raise InputError("frame", str(number), "a whole number of 64 bits")
    return number
