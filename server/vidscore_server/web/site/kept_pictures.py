"""A bounded cache for pages of pictures; each visit checks whether an entry is still valid.

The views of organisers and of teams are cached separately.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.figures.frames import FrameCounts, FrameTable
from vidscore_evaluators.outcome_table import Outcomes
from vidscore_server.runtime import Kept

MOST_FRAMES = 2_000_000
"""Maximum frames of a submission with pictures, and of all cached submissions."""

MOST_ROWS = 1_000_000
"""Maximum objects and outcomes of a shown sequence, and of all cached sequences."""

_RUNS_PER_ROW = 16
"""Number of mask runs that take the memory of one object."""

Span = tuple[int, int]


def size_of(side: Annotations) -> int:
    """Size of a side in objects; masks add to it by the number of their runs."""
    runs = 0 if side.masks is None else len(side.masks.runs)
    return side.object_count + runs // _RUNS_PER_ROW


class Overview(Struct, frozen=True, eq=False):
    """What happened in each frame of a submission.

    Attributes:
        score: Resource name of the score that is explained.
        frames: All frames that the visitor may see.
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
        truth: Its truth; None for a team, and if it has none.
    """

    score: str
    outcomes: Outcomes
    detections: Annotations | None
    truth: Annotations | None


class KeptPictures(Struct):
    """Caches the data of pages of pictures between visits."""

    overviews: Kept[Overview] = field(default_factory=lambda: Kept(MOST_FRAMES))
    sequences: Kept[SequenceRows] = field(default_factory=lambda: Kept(MOST_ROWS))
