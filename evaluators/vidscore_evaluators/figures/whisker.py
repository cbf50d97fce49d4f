"""Whiskers: a value and its interval on a scale common to a whole column."""

from __future__ import annotations

from collections.abc import Sequence

from vidscore_evaluators.figures.markup import coordinate

WIDTH = 200.0
_ROWS = (6.0, 15.0)
"""Heights of the first and second system."""

Interval = tuple[float, float | None, float | None]
"""Value, and both ends if known."""


def whisker_svg(intervals: Sequence[Interval | None], scale: tuple[float, float]) -> str:
    """Draw up to two values with intervals, the first on top; hidden from screen readers.

    The figures must be beside it as text.

    Args:
        intervals: One per system; None if undefined.
        scale: Ends of the scale.
    """
    low, high = scale

    def place(value: float) -> str:
        share = (value - low) / (high - low)
        return coordinate(WIDTH * min(1.0, max(0.0, share)))

    parts = []
    rows = _ROWS if len(intervals) > 1 else (10.0,)
    for index, (entry, y) in enumerate(zip(intervals, rows, strict=False)):
        if entry is None:
            continue
        value, first, last = entry
        css = ' class="alt"' if index else ""
        if first is not None and last is not None:
            parts.append(
                f'<line{css} x1="{place(first)}" x2="{place(last)}" '
                f'y1="{coordinate(y)}" y2="{coordinate(y)}"/>'
            )
        parts.append(f'<path{css} d="M{place(value)} {coordinate(y)}h0"/>')
    return (
        '<svg class="wh" viewBox="0 0 200 20" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )
