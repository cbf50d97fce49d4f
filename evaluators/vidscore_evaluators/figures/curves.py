"""Curves as SVG: lines over two axes, told apart by their strokes and labelled beside them.

Screen readers can read the picture: its title and description say what it shows. It sets no
colours: lines have that of the surrounding text, and the style sheet of a page may set others by
the classes ``a``, ``b``, ``b dots`` and ``c`` (first, second, third and further lines), ``band``,
``pt`` and ``f-ink`` (operating points of the first and of other lines), ``ptl`` (its guides),
``ax`` and ``gr`` (axis, grid) and ``strong`` (the first line's label).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked
from vidscore_evaluators.figures._labels import Area, Drawn, Placed, place_labels, text_width
from vidscore_evaluators.figures.axes import Axis, Scale, scale_of
from vidscore_evaluators.figures.markup import coordinate, markup_text, number_text

WIDTH, HEIGHT = 460, 340
"""Size of the picture in its own units; text is 12 high."""

_TOP, _BOTTOM, _RIGHT, _LEAST_LEFT = 30.0, 298.0, 448.0, 44.0
_TICK_GAP = 8.0

STROKES: tuple[tuple[str, str], ...] = (
    ("a", ""),
    ("b", "6 4"),
    ("b dots", "2 3"),
    ("c", "10 3 2 3"),
    ("c", "14 4"),
    ("c", "6 3 2 3 2 3"),
)
"""Class and dashes of the first line, the second and so on; they repeat after the last."""


class Line(Struct, frozen=True, eq=False):
    """One line.

    Attributes:
        label: Its name; empty for a single line.
        x: (N,) values in order along the line; NaN is a gap.
        y: (N,) values; NaN is a gap.
        band: (N,) lower and upper ends of an interval around y, or None.
        point: The operating point, in values, or None.
    """

    label: str
    x: FloatArray
    y: FloatArray
    band: tuple[FloatArray, FloatArray] | None = None
    point: tuple[float, float] | None = None


class CurveChart(Struct, frozen=True, eq=False, dict=True):
    """Lines over two axes.

    Attributes:
        title: What it shows, such as ``ROC curve of falcon and mole``.
        x: The horizontal axis.
        y: The vertical axis.
        lines: The lines; without any, the chart shows no data.
    """

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]

    def finding(self) -> str:
        """In sentences: the operating point of each line, or else where it begins and ends."""
        return " ".join(_sentence(line, self.x, self.y) for line in self.lines)

    def position(self, x: float, y: float) -> tuple[float, float]:
        """Position of a point on the picture, from its left and upper edges; NaN if it has none.

        Args:
            x: Value on the horizontal axis.
            y: Value on the vertical axis.
        """
        [across] = self._across.positions(np.array([x], dtype=np.float64)).tolist()
        [down] = self._down.positions(np.array([y], dtype=np.float64)).tolist()
        return across, down

    def svg(self, name: str = "", inside: str = "") -> str:
        """The picture.

        Args:
            name: Prefix of the ids of its title and description, unique on a page; empty to use a
                digest of the picture.
            inside: Markup drawn on top, such as links at operating points.
        """
        body = "".join([*self._grid(), *self._lines(), inside])
        title = f">{markup_text(self.title)}</title>"
        told = f">{markup_text(self.finding())}</desc>"
        digest = hashlib.blake2s((title + told + body).encode(), digest_size=6).hexdigest()
        own = markup_text(name or f"curves-{digest}")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
            f' width="{WIDTH}" height="{HEIGHT}" role="img"'
            f' aria-labelledby="{own}-title {own}-desc" fill="currentColor" font-size="12"'
            f' font-family="ui-sans-serif, system-ui, sans-serif">'
            f'<title id="{own}-title"{title}<desc id="{own}-desc"{told}{body}</svg>'
        )

    @cached_property
    def _down(self) -> Scale:
        values = [part for line in self.lines for part in _ordinates(line)]
        return scale_of(self.y, values, _BOTTOM, _TOP)

    @cached_property
    def _across(self) -> Scale:
        values = [line.x for line in self.lines]
        values += [np.array([line.point[0]]) for line in self.lines if line.point is not None]
        widest = max(map(text_width, self._down.texts))
        return scale_of(self.x, values, max(_LEAST_LEFT, widest + 2 * _TICK_GAP), _RIGHT)

    def _grid(self) -> Iterator[str]:
        left, quiet = self._across.start, 'stroke="currentColor" stroke-opacity=".15" fill="none"'
        heights = self._down.positions(np.array(self._down.ticks))
        for height, text in zip(heights.tolist(), self._down.texts, strict=True):
            row, baseline = coordinate(height), coordinate(height + 4)
            yield f'<path class="gr" {quiet} d="M{coordinate(left)} {row}H{coordinate(_RIGHT)}"/>'
            end = coordinate(left - _TICK_GAP)
            yield f'<text x="{end}" y="{baseline}" text-anchor="end">{text}</text>'
        for column, text in _readable(self._across):
            x = coordinate(column)
            yield f'<text x="{x}" y="316" text-anchor="middle">{text}</text>'
        axis = 'stroke="currentColor" stroke-opacity=".5" fill="none"'
        yield (
            f'<path class="ax" {axis} d="M{coordinate(left)} {coordinate(_BOTTOM)}'
            f'H{coordinate(_RIGHT)}"/>'
        )
        yield f'<text x="{WIDTH - 12}" y="334" text-anchor="end">{markup_text(self.x.label)}</text>'
        yield f'<text x="0" y="12">{markup_text(self.y.label)}</text>'

    def _lines(self) -> Iterator[str]:
        drawn = [_Drawn.of(line, self._across, self._down) for line in self.lines]
        if not any(part.runs for part in drawn):
            middle = coordinate((self._across.start + _RIGHT) / 2)
            yield f'<text x="{middle}" y="164" text-anchor="middle">no defined point</text>'
            return
        yield from (part.band for part in drawn if part.band)
        strokes = [STROKES[number % len(STROKES)] for number in range(len(drawn))]
        # The first line is on top, and so drawn last.
        for part, (name, dashes) in reversed(list(zip(drawn, strokes, strict=True))):
            if part.runs:
                dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
                yield (
                    f'<path class="{name}" fill="none" stroke="currentColor" stroke-width="2"'
                    f'{dashed} d="{part.path}"/>'
                )
        for number, line in enumerate(self.lines):
            yield from self._point(line, first=number == 0)
        yield from self._labels(drawn)

    def _point(self, line: Line, *, first: bool) -> Iterator[str]:
        """The operating point; the first line's has guides to both axes."""
        if line.point is None or np.isnan(self.position(*line.point)).any():
            return
        x, y = map(coordinate, self.position(*line.point))
        if first:
            yield (
                '<path class="ptl" fill="none" stroke="currentColor" stroke-dasharray="2 3"'
                f' d="M{x} {coordinate(_BOTTOM)}V{y}H{coordinate(self._across.start)}"/>'
            )
        name, radius = ("pt", 6) if first else ("f-ink", 5)
        yield f'<circle class="{name}" cx="{x}" cy="{y}" r="{radius}"/>'

    def _labels(self, drawn: Sequence[_Drawn]) -> Iterator[str]:
        points = [self.position(*line.point) for line in self.lines if line.point is not None]
        area = Area(self._across.start + 4, _TOP - 12, _RIGHT, _BOTTOM - 2)
        places = place_labels(
            [line.label for line in self.lines],
            [Drawn(part.points, part.bands) for part in drawn],
            np.array(points, dtype=np.float64).reshape(-1, 2),
            area,
        )
        for number, place in enumerate(places):
            if place is not None:
                yield _label(place, first=number == 0)


class _Drawn(Struct, frozen=True, eq=False):
    """A line on the picture: (N, 2) points, the runs of them that are drawn, and its path.

    `bands` are both edges of the intervals around it, each as (2, K, 2) points.
    """

    points: FloatArray
    runs: list[IntArray]
    path: str
    bands: list[FloatArray]

    @classmethod
    def of(cls, line: Line, across: Scale, down: Scale) -> _Drawn:
        """Choose the points to draw, with NaN between runs."""
        x, y = across.positions(line.x), down.positions(line.y)
        runs = _thin(x, y)
        gap = np.full((1, 2), np.nan)
        parts = [np.stack([x[run], y[run]], axis=1) for run in runs]
        joined = [row for part in parts for row in (part, gap)]
        return cls(
            points=np.concatenate([gap, *joined]),
            runs=runs,
            path="".join(map(_path, parts)),
            bands=[] if line.band is None else list(_bands(x, line.band, runs, down)),
        )

    @property
    def band(self) -> str:
        """Its intervals as markup, or empty."""
        shapes = "".join(
            f"M{'L'.join(_pairs(np.concatenate([lower, upper[::-1]])))}Z"
            for lower, upper in self.bands
        )
        return f'<path class="band" opacity=".1" d="{shapes}"/>' if shapes else ""


def _path(points: FloatArray) -> str:
    """A run as a path; a single point is a short stroke, because else it would be invisible."""
    if len(points) == 1:
        [[x, y]] = points.tolist()
        return f"M{coordinate(x - 1.5)} {coordinate(y)}h3"
    return "M" + "L".join(_pairs(points))


def _pairs(points: FloatArray) -> Iterator[str]:
    return (f"{coordinate(x)} {coordinate(y)}" for x, y in points.tolist())


def _bands(
    x: FloatArray, band: tuple[FloatArray, FloatArray], runs: Sequence[IntArray], down: Scale
) -> Iterator[FloatArray]:
    """(2, K, 2) edges of the interval around a line, where both of its ends are known."""
    lower, upper = (down.positions(end) for end in band)
    for run in runs:
        known = ~np.isnan(lower[run]) & ~np.isnan(upper[run])
        for part in np.split(run, np.flatnonzero(np.diff(known)) + 1):
            if known[np.searchsorted(run, part[0])] and len(part) > 1:
                edges = [np.stack([x[part], end[part]], axis=1) for end in (lower, upper)]
                yield np.stack(edges)


def _label(place: Placed, *, first: bool) -> str:
    strong = ' class="strong" font-weight="600"' if first else ""
    x, y = coordinate(place.x), coordinate(place.y)
    return f'<text{strong} x="{x}" y="{y}">{markup_text(place.text)}</text>'


def _readable(scale: Scale) -> Iterator[tuple[float, str]]:
    """Positions and texts of ticks within the picture; some are omitted if they would touch."""
    positions = scale.positions(np.array(scale.ticks)).tolist()
    before = -np.inf
    for position, text in zip(positions, scale.texts, strict=True):
        half = text_width(text) / 2
        middle = min(position, WIDTH - half)
        if middle - half >= before:
            yield middle, text
            before = middle + half + _TICK_GAP


def _ordinates(line: Line) -> Iterator[FloatArray]:
    yield line.y
    yield from line.band or ()
    if line.point is not None:
        yield np.array([line.point[1]])


def _sentence(line: Line, x: Axis, y: Axis) -> str:
    whose = f"{line.label}: " if line.label else ""
    if line.point is not None:
        across, up = map(number_text, line.point)
        return f"{whose}{y.label} {up} at {x.label} {across}."
    known = np.flatnonzero(np.isfinite(line.x) & np.isfinite(line.y))
    if not len(known):
        return f"{whose}no defined point."
    low, high = known[np.argmin(line.y[known])], known[np.argmax(line.y[known])]
    ends = [
        f"{number_text(line.y[at])} at {x.label} {number_text(line.x[at])}" for at in (low, high)
    ]
    return f"{whose}{y.label} from {ends[0]} to {ends[1]}."


# --- lines with many points, thinned so that they look the same -------------------------------


_MOST_POINTS = 400
"""Upper bound on the points of a thinned line."""

_POINTS_PER_STRETCH = 4
_LEAST_GAP = 2.0
"""If there are too many gaps to keep, shorter ones are drawn over."""


def _thin(x: FloatArray, y: FloatArray) -> list[IntArray]:
    """Choose the points of a line, in runs between its gaps.

    The line is cut into stretches of equal length on the picture. The first, highest, lowest and
    last point of each are kept, so no peak is lost, however short.

    Args:
        x: (N,) positions on the picture; NaN is a gap.
        y: (N,) positions, likewise.

    Returns:
        Indices of the points of each run, ascending; at most `_MOST_POINTS` in all.
    """
    kept = np.flatnonzero(~np.isnan(x) & ~np.isnan(y))
    if not len(kept):
        return []
    steps = np.hypot(np.diff(x[kept]), np.diff(y[kept]))
    breaks = np.diff(kept) > 1
    if len(kept) > _MOST_POINTS:
        stretches = _MOST_POINTS // _POINTS_PER_STRETCH
        breaks = _widest(breaks, steps, stretches // 2)
        chosen = _extremes(y[kept], breaks, steps, stretches - int(breaks.sum()) - 1)
    else:
        chosen = np.arange(len(kept))
    runs = np.concatenate([[0], np.cumsum(breaks)])[chosen]
    return np.split(kept[chosen], np.flatnonzero(np.diff(runs)) + 1)


def _widest(breaks: BoolArray, steps: FloatArray, most: int) -> BoolArray:
    """The widest gaps, at most `most`."""
    wide = np.flatnonzero(breaks & (steps >= _LEAST_GAP))
    if len(wide) > most:
        wide = wide[np.argsort(-steps[wide], kind="stable")[:most]]
    return marked(len(breaks), wide)


def _extremes(y: FloatArray, breaks: BoolArray, steps: FloatArray, stretches: int) -> IntArray:
    """(M,) first, highest, lowest and last point of each stretch."""
    lengths = np.concatenate([[0.0], np.cumsum(np.where(breaks, 0.0, steps))])
    total = lengths[-1] or 1.0
    stretch = np.minimum((lengths / total * stretches).astype(np.int64), stretches - 1)
    changes = np.flatnonzero((np.diff(stretch) > 0) | breaks) + 1
    starts = np.concatenate([[0], changes])
    ends = np.concatenate([changes, [len(y)]]) - 1
    group = np.repeat(np.arange(len(starts)), ends - starts + 1)
    order = np.lexsort((y, group))
    return np.unique(np.concatenate([starts, order[starts], order[ends], ends]))
