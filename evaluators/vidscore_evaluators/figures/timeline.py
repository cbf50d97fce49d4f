"""Timelines: bins of the frames of a sequence, and strips that show them.

Above its base line, a strip shows hits, and misses from the top, as fractions of the objects of a
bin. Below it are false alarms, on a scale common to all strips. Diamonds are id switches, and a
line is the running score.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.figures.frames import FrameCounts
from vidscore_evaluators.figures.markup import coordinate, markup_text

BINS = 75
"""Maximum number of bins of a strip."""

WIDTH, HEIGHT = 600.0, 36.0
_TOP, _BASE, _BELOW = 1.0, 25.0, 26.0
_ROOM_ABOVE, _ROOM_BELOW = _BASE - _TOP, HEIGHT - _BELOW
_OVERLAP = 0.1
"""Width by which a bar covers the next one, so that no light line is between them."""
_DIAMOND = "l3.5 4.5-3.5 4.5-3.5-4.5z"


class Bins(Struct, frozen=True, eq=False):
    """B bins of the frames of a sequence, whose lengths differ by at most one frame.

    Attributes:
        starts: (B,) first frame of each, as a row of the sequence.
        lengths: (B,) numbers of frames.
        numbers: (B,) number of the first frame.
        counts: What happened in each.
        worst: (B,) number of the frame with the most mistakes; of several, the first.
        running: (B,) running score at the end; NaN if undefined.
    """

    starts: IntArray
    lengths: IntArray
    numbers: IntArray
    counts: FrameCounts
    worst: IntArray
    running: FloatArray

    def __len__(self) -> int:
        """Number of bins B."""
        return len(self.starts)


def bin_frames(counts: FrameCounts, numbers: IntArray, *, tracked: bool, bins: int = BINS) -> Bins:
    """Put the frames of a sequence into bins.

    Args:
        counts: Counts of its F frames, at least one.
        numbers: (F,) their numbers.
        tracked: Whether identities count in the running score.
        bins: Maximum number of bins; each has at least one frame.
    """
    count = min(bins, len(numbers))
    starts = (np.arange(count) * len(numbers)) // count
    ends = np.append(starts[1:], len(numbers))
    lengths = ends - starts
    # The first frame with the most mistakes in each bin: descending mistakes, then ascending rows.
    bin_of = np.repeat(np.arange(count), lengths)
    order = np.lexsort((np.arange(len(numbers)), -counts.mistakes, bin_of))
    return Bins(
        starts=starts,
        lengths=lengths,
        numbers=numbers[starts],
        counts=counts.summed(starts),
        worst=numbers[order[starts]],
        running=running_score(counts.running(), tracked=tracked)[ends - 1],
    )


def running_score(counts: FrameCounts, *, tracked: bool) -> FloatArray:
    """(F,) scores: 1 - (misses + false alarms + id switches) / objects if tracked.

    That is MOTA; otherwise F1, 2 hits / (2 hits + misses + false alarms). NaN if undefined.
    """
    objects = counts.hits + counts.misses
    above, below = (
        (objects - counts.mistakes, objects)
        if tracked
        else (2 * counts.hits, 2 * counts.hits + counts.misses + counts.false_alarms)
    )
    scores = np.full(len(counts), np.nan)
    np.divide(above, below, out=scores, where=below > 0)
    return scores


def strip_svg(
    bins: Bins, title: str, *, most_false_alarms: float, now: float | None = None, css: str = ""
) -> str:
    """A strip of 600 x 36, stretched to the available room.

    Args:
        bins: What it shows.
        title: Its text for screen readers.
        most_false_alarms: False alarms per frame that fill the room below the line.
        now: Frame, as a row of the sequence, to highlight; None for none.
        css: An additional class.
    """
    step = WIDTH / max(1, len(bins))
    left: FloatArray = np.arange(len(bins), dtype=np.float64) * step
    counts = bins.counts
    objects = counts.hits + counts.misses
    share = np.divide(counts.hits, objects, out=np.zeros(len(bins)), where=objects > 0)
    found = share * _ROOM_ABOVE
    missed = np.where(objects > 0, _ROOM_ABOVE - found, 0.0)
    alarms = counts.false_alarms / bins.lengths / max(most_false_alarms, 1e-9)
    below = np.minimum(alarms, 1.0) * _ROOM_BELOW
    below[counts.false_alarms > 0] = np.maximum(below[counts.false_alarms > 0], 1.0)
    width = step + _OVERLAP
    parts = [
        _path(_bars(left, _BASE - found, width, found), "f-tp"),
        _path(_bars(left, np.full(len(bins), _TOP), width, missed), "f-fn"),
        _path(_bars(left, np.full(len(bins), _BELOW), width, below), "f-fp"),
        f'<path class="base" d="M0 25.5h{WIDTH:.0f}"/>',
        _path(_diamonds(left + step / 2, counts.id_switches), "f-sw"),
        _path(_running(left + step / 2, bins.running), "run"),
    ]
    if now is not None:
        row = int(np.searchsorted(bins.starts, now, side="right")) - 1
        framed = f"M{coordinate(row * step)} 0h{coordinate(step)}v{HEIGHT:.0f}h-{coordinate(step)}z"
        parts.append(_path(framed, "now"))
    return (
        f'<svg viewBox="0 0 600 36" role="img" class="{f"strip {css}".strip()}" '
        f'preserveAspectRatio="none"><title>{markup_text(title)}</title>{"".join(parts)}</svg>'
    )


def _path(data: str, css: str) -> str:
    """A path element; empty without data."""
    return f'<path class="{css}" d="{data}"/>' if data else ""


def _bars(left: FloatArray, top: FloatArray, width: float, height: FloatArray) -> str:
    """Vertical rectangles of one width, without those of no height."""
    shown = height > 0
    columns = (column[shown].tolist() for column in (left, top, height))
    across = coordinate(width)
    return "".join(
        f"M{coordinate(x)} {coordinate(y)}h{across}v{coordinate(tall)}h-{across}z"
        for x, y, tall in zip(*columns, strict=True)
    )


def _diamonds(middle: FloatArray, id_switches: IntArray) -> str:
    return "".join(f"M{coordinate(x)} 21{_DIAMOND}" for x in middle[id_switches > 0].tolist())


def _running(middle: FloatArray, running: FloatArray) -> str:
    """The running score, 1 at the top and 0 on the base line, where it is defined."""
    defined = ~np.isnan(running)
    height = _BASE - np.clip(running[defined], 0.0, 1.0) * _ROOM_ABOVE
    points = zip(middle[defined].tolist(), height.tolist(), strict=True)
    joined = "L".join(f"{coordinate(x)} {coordinate(y)}" for x, y in points)
    return f"M{joined}" if joined else ""
