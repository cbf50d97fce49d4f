"""What pages of pictures keep between visits, bounded; each visit asks whether it still holds.

What organisers see is kept apart from what teams see.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.figures.frames import FrameCounts, FrameTable
from vidscore_evaluators.outcome_table import Outcomes
from vidscore_server.runtime import Kept

MOST_FRAMES = 2_000_000
"""Frames of a submission that has pictures, and those of the ones that are kept together."""

MOST_ROWS = 1_000_000
"""Objects and outcomes of a sequence that is shown, and of those that are kept together."""

_RUNS_PER_ROW = 16
"""Runs of masks that take the memory of an object."""

Span = tuple[int, int]


def size_of(side: Annotations) -> int:
    """Objects of a side; those with masks count for more, by the runs of these."""
    runs = 0 if side.masks is None else len(side.masks.runs)
    return side.object_count + runs // _RUNS_PER_ROW


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
