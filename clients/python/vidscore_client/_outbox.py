"""The send buffer: joins single frames into columns, and columns into batches; bounded in memory.

Pure: its caller passes the time (seconds on any monotonic clock), waits, locks and sends.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vidscore_client._limits import cut_smaller, limited
from vidscore_client._values import UNORDERED, counted, shown
from vidscore_client.errors import InputError, VidscoreError
from vidscore_client.frames import (
    MAXIMUM_INDEX,
    FloatArray,
    FrameFlag,
    Frames,
    IntArray,
    Side,
    check_range,
    coordinate_array,
    integers,
    label_text,
    numbers,
    parse_string,
)
from vidscore_client.masks import MaskInput, Masks, join_masks, masks_of
from vidscore_client.settings import Batching


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
    time_s: float | None
    masks: Masks | None

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
        time_s: float | None = None,
        masks: MaskInput | None = None,
    ) -> SingleFrame:
        """Check shapes and lengths, and copy, so that the caller may reuse its arrays.

        Raises:
            InputError: If an argument has a wrong shape or length.
        """
        boxes = coordinate_array(coordinates, arity, copy=True)
        count = len(boxes)
        return cls(
            key=(parse_string("domain", domain), parse_string("sequence", sequence)),
            number=_frame_number(frame),
            coordinates=boxes,
            labels=None if labels is None else _labels(labels, count),
            confidences=(
                None
                if confidences is None
                else numbers("confidences", confidences, count, copy=True)
            ),
            track_ids=(
                None if track_ids is None else integers("track_ids", track_ids, count, copy=True)
            ),
            flags=None if flags is None else _flags(flags, count),
            frame_flags=int(FrameFlag.DONT_CARE) if dont_care else 0,
            time_s=None if time_s is None else _time(time_s),
            masks=None if masks is None else join_masks([masks_of(masks, count)]),  # a copy
        )

    @property
    def object_count(self) -> int:
        """Number of objects N."""
        return len(self.coordinates)


def join(frames: Sequence[SingleFrame]) -> Frames:
    """Join frames into columns, in order.

    Args:
        frames: At least one frame; all of one arity, with masks of all objects or of none.
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
        frame_times_s=(
            None
            if all(frame.time_s is None for frame in frames)
            else np.array([frame.time_s for frame in frames], dtype=np.float64)
        ),
        masks=_joined_masks(frames),
    )


def _table(names: Sequence[Any]) -> tuple[tuple[Any, ...], IntArray]:
    """Unique names in order of appearance, and the row of each entry."""
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


def _joined_masks(frames: Sequence[SingleFrame]) -> Masks | None:
    known = [frame.masks for frame in frames if frame.object_count and frame.masks is not None]
    return join_masks(known) if known else None


def _labels(labels: Sequence[str | int], count: int) -> tuple[str, ...]:
    expected = f"{counted(count, 'string')}, one for each object"
    if isinstance(labels, str):
        raise InputError("labels", "a string", expected)
    if isinstance(labels, UNORDERED) or not isinstance(labels, Iterable):
        raise InputError("labels", shown(labels), expected)
    names = tuple(label_text(label) for label in labels)
    if len(names) != count:
        raise InputError("labels", counted(len(names), "value"), expected)
    return names


def _flags(flags: ArrayLike, count: int) -> IntArray:
    bits = integers("flags", flags, count, copy=True)
    check_range("flags", bits, MAXIMUM_INDEX)
    return bits


def _frame_number(frame: int) -> int:
    try:
        number = operator.index(frame)
    except TypeError:
        raise InputError("frame", shown(frame), "an integer") from None
    if not -(2**63) <= number < 2**63:
        raise InputError("frame", shown(number), "a 64-bit integer")
    return number


def _time(time_s: float) -> float | None:
    """A time to send, None for NaN; the server checks its value."""
    number = float(numbers("time_s", [time_s], 1)[0])
    return None if np.isnan(number) else number


FRAME_BYTES = 24
"""Maximum bytes that a frame adds to a message, without its objects: number 8, time 8, and 8 for
the row of its sequence, the count of its objects and its flags."""

OBJECT_BYTES = 24
"""Maximum bytes that an object adds besides its coordinates and named columns: confidence 8, track
id 10, label 5, flags 1."""

MASK_BYTES = 15
RUN_BYTES = 5
"""Maximum bytes that a mask adds without its runs, and that a run adds."""

AT_ONCE = float("-inf")
"""Due time of frames that need not wait."""

Item = SingleFrame | Frames


class Batch(NamedTuple):
    """Frames of one side for one message."""

    side: Side
    frames: Frames
    source_position: str | None = None


@dataclass
class _Ready:
    """Frames of one side that need not wait for others, and the number already taken."""

    side: Side
    frames: Frames
    source_position: str | None = None
    taken: int = 0


@dataclass
class _Gathering:
    """Single frames of one side that wait for others."""

    frames: list[SingleFrame] = field(default_factory=list)
    size: int = 0
    since_s: float = 0.0
    masked: bool | None = None  # whether objects have masks; None if there are none yet


class Outbox:
    """A bounded queue that turns frames into batches.

    Args:
        batching: Sizes and times.
    """

    def __init__(self, batching: Batching) -> None:
        self._batching = batching
        self._gathering: dict[Side, _Gathering] = {
            "truth": _Gathering(),
            "detections": _Gathering(),
        }
        self._ready: deque[_Ready] = deque()
        self._gathered_due_s: float | None = None  # time at which the first gathering is due
        self._frames = 0
        self._bytes = 0

    @property
    def frames(self) -> int:
        """Number of waiting frames."""
        return self._frames

    @property
    def due_s(self) -> float | None:
        """Time at which `take` has a batch; None if nothing waits."""
        return AT_ONCE if self._ready else self._gathered_due_s

    def limit(self, limits: Mapping[str, int]) -> None:
        """Limit batches to a server's stated limits."""
        self._batching = limited(self._batching, limits)

    def cut_smaller(self, error: VidscoreError, frames: int) -> bool:
        """Make smaller batches than one that a server refused.

        Args:
            error: The refusal.
            frames: Maximum number of frames that the refused batch has.

        Returns:
            Whether batches were larger before.
        """
        before, self._batching = self._batching, cut_smaller(self._batching, error, frames)
        return self._batching != before

    def offer(
        self, side: Side, item: Item, now_s: float, source_position: str | None = None
    ) -> bool:
        """Accept a frame or a batch if there is room for it.

        Args:
            side: Its side.
            item: The frame or batch.
            now_s: The time.
            source_position: Source position after a batch; its last message carries it.

        Returns:
            Whether it was accepted.
        """
        count, size = _frame_count(item), item_size(item)
        if self._frames and (
            self._frames + count > self._batching.queue_frames
            or self._bytes + size > self._batching.queue_bytes
        ):
            return False
        self._frames += count
        self._bytes += size
        if isinstance(item, Frames):
            self._seal(side)
            self._ready.append(_Ready(side, item, source_position))
        else:
            self._gather(side, item, size, now_s)
        return True

    def flush(self) -> None:
        """Make all frames due now."""
        for side in self._gathering:
            self._seal(side)

    def take(self, now_s: float) -> Batch | None:
        """The next due batch, of at most the size of a message."""
        for side, waiting in self._gathering.items():
            if waiting.frames and now_s >= waiting.since_s + self._batching.batch_interval_s:
                self._seal(side)
        if not self._ready:
            return None
        head = self._ready[0]
        end = head.taken + self._frames_that_fit(head.frames, head.taken)
        is_last = end >= head.frames.frame_count
        position = head.source_position if is_last else None
        batch = Batch(head.side, head.frames.part(head.taken, end), position)
        head.taken = end
        if is_last:
            self._ready.popleft()
        self._frames -= batch.frames.frame_count
        self._bytes -= item_size(batch.frames)
        return batch

    def put_back(self, side: Side, frames: Frames, source_position: str | None) -> None:
        """Put back the batch that was taken last, to be cut again."""
        self._ready.appendleft(_Ready(side, frames, source_position))
        self._frames += frames.frame_count
        self._bytes += item_size(frames)

    def _gather(self, side: Side, frame: SingleFrame, size: int, now_s: float) -> None:
        waiting = self._gathering[side]
        masked = None if not frame.object_count else frame.masks is not None
        fits = waiting.size + size <= self._batching.batch_bytes
        # A message has masks of all of its objects or of none.
        if not fits or (None not in {masked, waiting.masked} and masked != waiting.masked):
            waiting = self._seal(side)
        if masked is not None:
            waiting.masked = masked
        waiting.frames.append(frame)
        waiting.size += size
        if len(waiting.frames) == 1:
            waiting.since_s = now_s
            self._note_due()
        if len(waiting.frames) >= self._batching.batch_frames:
            self._seal(side)

    def _seal(self, side: Side) -> _Gathering:
        waiting = self._gathering[side]
        if not waiting.frames:
            return waiting
        self._ready.append(_Ready(side, join(waiting.frames)))
        self._gathering[side] = _Gathering()
        self._note_due()
        return self._gathering[side]

    def _note_due(self) -> None:
        started = [waiting.since_s for waiting in self._gathering.values() if waiting.frames]
        self._gathered_due_s = min(started) + self._batching.batch_interval_s if started else None

    def _frames_that_fit(self, frames: Frames, first: int) -> int:
        """Frames from `first` on that fit into a message; at least one."""
        starts = frames.frame_starts[first : first + self._batching.batch_frames + 1]
        counts = np.arange(1, len(starts))
        sizes = FRAME_BYTES * counts + _object_size(frames) * (starts[1:] - starts[0])
        if frames.masks is not None:
            runs = frames.masks.starts[starts]
            sizes += MASK_BYTES * (starts[1:] - starts[0]) + RUN_BYTES * (runs[1:] - runs[0])
        fitting = int(np.searchsorted(sizes, self._batching.batch_bytes, side="right"))
        return max(1, fitting)


def _frame_count(item: Item) -> int:
    return item.frame_count if isinstance(item, Frames) else 1


def item_size(item: Item) -> int:
    """Upper bound on the bytes of the item's message, without its tables."""
    if isinstance(item, Frames):
        size = FRAME_BYTES * item.frame_count + _object_size(item) * item.object_count
    else:
        arity = int(item.coordinates.shape[1])
        size = FRAME_BYTES + (OBJECT_BYTES + 8 * arity) * item.object_count
    if item.masks is None:
        return size
    return size + MASK_BYTES * item.masks.count + RUN_BYTES * len(item.masks.runs)


def _object_size(frames: Frames) -> int:
    return OBJECT_BYTES + 8 * (frames.arity + len(frames.columns))
