"""The picture of the growth of time with frames, objects and classes.

It is written as SVG without a library, like the other pictures of the project.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from bench.rows import Point

PANEL_WIDTH, HEIGHT = 300, 260
LEFT, RIGHT, TOP, BOTTOM = 46, 16, 28, 40
COLOURS = ("#1b6ca8", "#c4501b", "#3f8f3f", "#7a4aa0")


def growth_picture(points: Sequence[Point]) -> str:
    """An SVG picture of time over what grows, one panel each, on logarithmic scales.

    For each series, a dashed line from its first point shows linear growth.

    Args:
        points: Points of all panels.
    """
    panels = list(dict.fromkeys(point.panel for point in points))
    series = list(dict.fromkeys(point.series for point in points))
    width = PANEL_WIDTH * len(panels)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}">',
        '<g font-family="sans-serif" font-size="11">',
        "<title>Time against what grows</title>",
        f'<rect width="{width}" height="{HEIGHT}" fill="white"/>',
    ]
    for number, name in enumerate(panels):
        mine = [point for point in points if point.panel == name]
        scales = _Scales.of(mine, number * PANEL_WIDTH)
        lines.extend(_frame(scales, name, sorted({point.x for point in mine})))
        for colour, entry in zip(COLOURS, series, strict=False):
            lines.extend(_curve(scales, [point for point in mine if point.series == entry], colour))
    for row, (colour, entry) in enumerate(zip(COLOURS, series, strict=False)):
        lines.append(_text(LEFT + 8, TOP + 14 + 14 * row, entry, colour=colour))
    return "\n".join([*lines, "</g>", "</svg>"]) + "\n"


@dataclass(frozen=True, slots=True)
class _Scales:
    """Scales of a panel: from numbers to pixels.

    Attributes:
        first_px: Left edge of the panel.
        xs: Minimum and maximum on the horizontal axis.
        times_s: Powers of ten below and above all times.
    """

    first_px: int
    xs: tuple[float, float]
    times_s: tuple[float, float]

    @classmethod
    def of(cls, points: Sequence[Point], first_px: int) -> _Scales:
        """Scales that cover some points."""
        xs = [point.x for point in points]
        exponents = [math.log10(point.time_s) for point in points]
        below, above = math.floor(min(exponents)), math.floor(max(exponents)) + 1
        return cls(first_px, (min(xs), max(xs)), (10.0**below, 10.0**above))

    def x(self, value: float) -> float:
        """Pixels from the left."""
        width = PANEL_WIDTH - LEFT - RIGHT
        return round(self.first_px + LEFT + width * _fraction(value, self.xs), 1)

    def y(self, time_s: float) -> float:
        """Pixels from the top."""
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _fraction(time_s, self.times_s), 1)


def _fraction(value: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return math.log(value / low) / math.log(high / low) if high > low else 0.5


def _frame(scales: _Scales, name: str, places: Sequence[float]) -> Iterator[str]:
    """A line and a label for each power of ten, and labels of the horizontal axis."""
    left, right = scales.first_px + LEFT, scales.first_px + PANEL_WIDTH - RIGHT
    lowest, highest = (round(math.log10(time_s)) for time_s in scales.times_s)
    for exponent in range(lowest, highest + 1):
        y = scales.y(10.0**exponent)
        yield f'<path d="M{left} {y}H{right}" stroke="#ddd"/>'
        yield _text(left - 4, y + 4, f"{10.0**exponent:g} s", anchor="end")
    for place in places:
        yield _text(scales.x(place), HEIGHT - BOTTOM + 14, f"{place:,.0f}", anchor="middle")
    yield _text((left + right) / 2, HEIGHT - 8, name, anchor="middle")


def _curve(scales: _Scales, points: Sequence[Point], colour: str) -> Iterator[str]:
    if not points:
        return
    ordered = sorted(points, key=lambda point: point.x)
    first, last = ordered[0], ordered[-1]
    path = " ".join(f"{scales.x(point.x)},{scales.y(point.time_s)}" for point in ordered)
    linear = scales.y(first.time_s * last.x / first.x)
    yield (
        f'<path d="M{scales.x(first.x)} {scales.y(first.time_s)}L{scales.x(last.x)} {linear}"'
        f' stroke="{colour}" stroke-dasharray="4 3" stroke-opacity="0.6"/>'
    )
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
    for point in ordered:
        x, y = scales.x(point.x), scales.y(point.time_s)
        yield f'<circle cx="{x}" cy="{y}" r="2.5" fill="{colour}"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "black") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}">{escape(text)}</text>'
