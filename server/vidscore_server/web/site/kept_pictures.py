"""What pages of pictures keep between visits, bounded; each visit asks whether it still holds.

What organisers see is kept apart from what teams see.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

from msgspec import Struct, field

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.figures.frames import FrameCounts, FrameTable
from vidscore_evaluators.outcome_table import Outcomes

MOST_FRAMES = 2_000_000
"""Frames of a submission that has pictures, and those of the ones that are kept together."""

MOST_ROWS = 1_000_000
"""Objects and outcomes of a sequence that is shown, and of those that are kept together."""

_RUNS_PER_ROW = 16
"""Runs of masks that take the memory of an object."""

Span = tuple[int, int]
Held = TypeVar("Held")


def size_of(side: Annotations) -> int:
    """Objects of a side; those with masks count for more, by the runs of these."""
    runs = 0 if side.masks is None else len(side.masks.runs)
    return side.object_count + runs // _RUNS_PER_ROW


class Kept(Generic[Held]):
    """What was read last, up to a size.

    Args:
        most: Bound of the sizes together; what is larger is not kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, tuple[Held, int]] = OrderedDict()

    def get(self, key: Hashable) -> Held | None:
        """What is kept under a key; None where nothing is."""
        if key not in self._found:
            return None
        self._found.move_to_end(key)
        return self._found[key][0]

    def put(self, key: Hashable, value: Held, size: int) -> None:
        """Keep something in place of what was under its key.

        Args:
            key: The key.
            value: What is kept.
            size: How large it is.
        """
        self._found.pop(key, None)
        self._found[key] = value, size
        while sum(own for _, own in self._found.values()) > self._most:
            self._found.popitem(last=False)

    def drop(self, key: Hashable) -> None:
        """Keep nothing under a key."""
        self._found.pop(key, None)


class Overview(Struct, frozen=True, eq=False):
    """What happened in each frame of a submission.

    Attributes:
        score: Resource name of the score that is explained.
        frames: Every frame that the visitor may know of.
        counts: What happened in each.
        nothing: A table of outcomes without rows.
        sent: By sequence and stream, offsets between which its detections are.
        truth: By sequence, offsets between which its truth is; empty for a team.
        revision: Revision of that truth; 0 for a team.
    """

    score: str
    frames: FrameTable
    counts: FrameCounts
    nothing: Outcomes
    sent: Mapping[tuple[SequenceKey, str], Span]
    truth: Mapping[tuple[SequenceKey, str], Span]
    revision: int


class SequenceRows(Struct, frozen=True, eq=False):
    """The columns of a sequence.

    Attributes:
        score: Resource name of the score that is explained.
        outcomes: Its outcomes.
        detections: Its detections.
        truth: Its truth; None for a team, and where it has none.
    """

    score: str
    outcomes: Outcomes
    detections: Annotations | None
    truth: Annotations | None


class KeptPictures(Struct):
    """What pages of pictures keep between visits."""

    overviews: Kept[Overview] = field(default_factory=lambda: Kept(MOST_FRAMES))
    sequences: Kept[SequenceRows] = field(default_factory=lambda: Kept(MOST_ROWS))
