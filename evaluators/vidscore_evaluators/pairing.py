"""Pair frames that come from two sides in any interleaving.

`Pairing` keeps the frames of which only one side has come and hands out those of which both
have: they are what a live report covers. It knows nothing of evaluators, clocks or threads, so a
server, a test and a notebook can all drive it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey, concatenate
from vidscore_evaluators.errors import Fault, InputError, LimitError
from vidscore_evaluators.evaluator import Side

FrameKey = tuple[SequenceKey, int]


@dataclass(frozen=True, slots=True)
class Coverage:
    """How far two sides of a stream have come.

    Attributes:
        paired: Frames that both sides have sent.
        waiting_for_detections: Frames of the truth whose detections have not come.
        waiting_for_truth: Frames of the detections whose truth has not come.
    """

    paired: int
    waiting_for_detections: int
    waiting_for_truth: int


@dataclass
class _Half:
    """What one side has sent: every frame's key, and where those are that still wait."""

    seen: set[FrameKey] = field(default_factory=set)
    waiting: dict[FrameKey, tuple[Annotations, int]] = field(default_factory=dict)
    held_bytes: int = 0
    _frames_left: dict[int, int] = field(default_factory=dict)

    def put(self, keys: list[FrameKey], batch: Annotations) -> None:
        """Let the frames of a batch wait; the batch is held until the last of them is taken."""
        if not keys:
            return
        self.seen.update(keys)
        self.waiting.update((key, (batch, row)) for row, key in enumerate(keys))
        self._frames_left[id(batch)] = len(keys)
        self.held_bytes += batch.held_bytes

    def take(self, keys: list[FrameKey]) -> Annotations:
        """Take waiting frames out, batch by batch."""
        batches: dict[int, Annotations] = {}
        rows: dict[int, list[int]] = {}
        for key in keys:
            batch, row = self.waiting.pop(key)
            batches[id(batch)] = batch
            rows.setdefault(id(batch), []).append(row)
        for name, batch in batches.items():
            self._frames_left[name] -= len(rows[name])
            if self._frames_left[name] == 0:
                del self._frames_left[name]
                self.held_bytes -= batch.held_bytes
        return concatenate(
            [batch.take_frames(np.array(rows[name])) for name, batch in batches.items()]
        )


class Pairing:
    """Truth and detections on their way to each other.

    Args:
        maximum_waiting: Frames that may wait on the two sides together.
    """

    def __init__(self, maximum_waiting: int) -> None:
        """Start with nothing."""
        self._maximum_waiting = maximum_waiting
        self._halves = {side: _Half() for side in Side}
        self._paired = 0

    @property
    def coverage(self) -> Coverage:
        """How far both sides have come."""
        return Coverage(
            paired=self._paired,
            waiting_for_detections=len(self._halves[Side.TRUTH].waiting),
            waiting_for_truth=len(self._halves[Side.DETECTIONS].waiting),
        )

    @property
    def held_bytes(self) -> int:
        """Memory that the batches cost of which a frame still waits."""
        return sum(half.held_bytes for half in self._halves.values())

    def seen(self, side: Side) -> set[FrameKey]:
        """Every frame that a side has sent."""
        return self._halves[side].seen

    def add(self, side: Side, batch: Annotations) -> tuple[Annotations, Annotations] | None:
        """Take in whole frames of one side.

        Args:
            side: Whose frames they are.
            batch: The frames; none of them sent before on that side.

        Returns:
            (truth, detections) of the frames that are complete now, or None.

        Raises:
            InputError: With every frame that came before on that side. Nothing is taken in.
            LimitError: If more frames would wait than allowed. Nothing is taken in.
        """
        mine = self._halves[side]
        theirs = self._halves[Side.DETECTIONS if side is Side.TRUTH else Side.TRUTH]
        keys = frame_keys(batch)
        _refuse_repeats(side, keys, mine.seen)
        complete = [key for key in keys if key in theirs.waiting]
        self._refuse_too_many(len(keys) - 2 * len(complete))
        mine.put(keys, batch)
        self._paired += len(complete)
        if not complete:
            return None
        return self._halves[Side.TRUTH].take(complete), self._halves[Side.DETECTIONS].take(complete)

    def drain(self, side: Side) -> Annotations | None:
        """Take out all frames of a side that still wait; None where there are none."""
        half = self._halves[side]
        return half.take(list(half.waiting)) if half.waiting else None

    def _refuse_too_many(self, more: int) -> None:
        waiting = sum(len(half.waiting) for half in self._halves.values()) + more
        if more > 0 and waiting > self._maximum_waiting:
            raise LimitError(
                f"{waiting} frames would wait for their other side",
                "maximum_waiting_frames",
                self._maximum_waiting,
            )


def frame_keys(batch: Annotations) -> list[FrameKey]:
    """Sequence and number of every frame of a batch, in order."""
    return [
        (batch.sequences[index], number)
        for index, number in zip(
            batch.frame_sequences.tolist(), batch.frame_numbers.tolist(), strict=True
        )
    ]


def _refuse_repeats(side: Side, keys: list[FrameKey], seen: set[FrameKey]) -> None:
    repeats = []
    within: set[FrameKey] = set()
    for row, key in enumerate(keys):
        if key in seen or key in within:
            repeats.append(
                Fault(
                    source=side.value,
                    entry=row,
                    found=f"frame {key[1]} of sequence {'/'.join(filter(None, key[0]))} again",
                    expected="each frame once",
                )
            )
        within.add(key)
    if repeats:
        raise InputError(repeats)
