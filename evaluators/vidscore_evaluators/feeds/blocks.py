"""The frames of many messages as columns, with the benchmark's names."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, SequenceKey, rows_by_sequence
from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds.frames import FeedFrame, Schema, Unit, Unsaid
from vidscore_evaluators.feeds.mapping import FrameMap
from vidscore_evaluators.formats._line_columns import columns_of_lines
from vidscore_evaluators.formats._line_rules import line_faults


class FeedBlock(Struct, frozen=True, eq=False):
    """The frames of some messages.

    Attributes:
        frames: The frames, in the order of their messages. An object without a confidence has NaN.
        messages: (F,) the message of each frame.
        unsaid: Information that some of the messages lack.
        sizes_px: Image sizes that the messages state.
        in_fractions: Whether some of the coordinates were fractions of the image.
    """

    frames: Annotations
    messages: IntArray
    unsaid: frozenset[Unsaid] = frozenset()
    sizes_px: frozenset[tuple[float, float]] = field(default_factory=frozenset)
    in_fractions: bool = False

    def take(self, rows: BoolArray) -> FeedBlock:
        """Select some of the frames."""
        if rows.all():
            return self
        return replace(self, frames=self.frames.take_frames(rows), messages=self.messages[rows])


def read_block(
    schema: Schema, naming: FrameMap, messages: Sequence[tuple[bytes, str]], arity: int
) -> FeedBlock:
    """Read messages.

    Args:
        schema: Their schema.
        naming: Names the sequences and frames.
        messages: Their bytes, and the source's name of the place that each came from.
        arity: Number of coordinates of the benchmark's detections.

    Raises:
        InputError: If any breaks a rule; for a single message, with every fault.
    """
    if schema.read_many is not None:
        with suppress(ValueError):  # the slower way below reports the faults of each message
            found = schema.read_many([data for data, _ in messages], arity)
            frames = naming.named(found.frames, [topic for _, topic in messages])
            return FeedBlock(frames, np.arange(len(messages)), found.unsaid)
    told: list[FeedFrame] = []
    lines: list[dict[str, Any]] = []
    rows: list[int] = []
    for row, (data, topic) in enumerate(messages):
        for frame in schema.read(data):
            told.append(frame)
            lines.append(naming.line(frame, topic))
            rows.append(row)
    return FeedBlock(
        frames=_columns(lines, arity),
        messages=np.array(rows, dtype=np.int64),
        unsaid=frozenset[Unsaid]().union(*(frame.unsaid for frame in told)),
        sizes_px=frozenset(frame.size_px for frame in told if frame.size_px is not None),
        in_fractions=any(frame.unit is Unit.FRACTION and frame.objects for frame in told),
    )


def numbers_by_sequence(frames: Annotations) -> list[tuple[SequenceKey, IntArray, list[int]]]:
    """For each sequence that has frames: its key, their rows, and their numbers in order."""
    return [
        (key, rows, frames.frame_numbers[rows].tolist())
        for key, rows in rows_by_sequence(frames).items()
    ]


def _columns(lines: Sequence[dict[str, Any]], arity: int) -> Annotations:
    try:
        return columns_of_lines(lines, arity, np.nan)
    except ValueError:
        faults = [fault for line in lines for fault in line_faults(line, arity)]
        raise InputError(faults) from None
