"""Pictures of rankings: rank against threshold, with one colour per system.

As in the paper's Figs. 1 and 12. They are SVG written by hand, since a few lines and labels need no
library. Where systems share a rank, their line has the colours of all of them in turn, and a name
stands beside its own rank, which a thin line connects with the end of the curve.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.figures._labels import fitted, text_width
from vidscore_evaluators.figures.markup import markup_text
from vidscore_evaluators.trust.systems import title_of

ROW_HEIGHT = 28
LEFT, PLOT, TOP, BOTTOM = 52, 420, 40, 52
END = LEFT + PLOT
LEADER, RANK, NAME = END + 24, END + 44, END + 50
"""Where the line to a name ends; the right end of its rank; where it begins."""

LEAST_NAMES, MOST_NAMES = 118.0, 320.0
"""Least and greatest width of the names; longer ones are cut in their middle."""

LEAST_TICK_GAP = 36
"""Minimum number of pixels between the labels of two values."""

DASH = 8


def ranking_pictures(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(file name, SVG) of the ranks over each parameter, for each evaluator.

    Args:
        document: From `vidscore_evaluators.trust.analyses.ranking_document`.
    """
    systems: Sequence[str] = document["systems"]
    for one in document["rankings"]:
        title = title_of(one["evaluator"], one["parameters"])
        for sweep in one["sweeps"]:
            parameter = sweep["parameter"]
            ranks = np.array([sweep["ranks"][system] for system in systems], dtype=np.int64).T
            name = re.sub(r"[^a-z0-9_]+", "-", f"{title} {parameter}".lower())
            heading = f"{title}: rank by {parameter}"
            yield f"{name}.svg", rank_picture(heading, parameter, sweep["values"], ranks, systems)


def rank_picture(
    title: str, parameter: str, values: Sequence[float], ranks: IntArray, systems: Sequence[str]
) -> str:
    """An SVG picture of ranks over values of a parameter.

    Args:
        title: Its caption.
        parameter: Name of the parameter.
        values: V values, ascending.
        ranks: (V, K) ranks, 1 for the best; systems that tie have equal ones.
        systems: Names of the K systems.
    """
    names = max((text_width(name) for name in systems), default=0.0)
    width = math.ceil(NAME + min(max(names, LEAST_NAMES), MOST_NAMES))
    height = TOP + ROW_HEIGHT * max(1, len(systems) - 1) + BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">',
        '<g font-family="sans-serif" font-size="12">',
        f"<title>{markup_text(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        _text(LEFT, 20, fitted(title, width - LEFT, strong=True), weight="bold"),
        _text(LEFT, height - 10, parameter),
        *_grid(values, len(systems)),
        *_curves(len(values), ranks, systems),
        *_shared(ranks),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def colour_of(index: int, count: int) -> str:
    """Colour of a system: evenly spaced hues, light and dark in turn so that neighbours differ."""
    return f"hsl({360 * index / max(1, count):.0f} 70% {(38, 55)[index % 2]}%)"


def _grid(values: Sequence[float], system_count: int) -> Iterator[str]:
    """A line and a number for each rank, and values below it if there is room."""
    for rank in range(1, system_count + 1):
        y = _y(rank)
        yield f'<path d="M{LEFT} {y:g}H{END}" stroke="#ddd"/>'
        yield _text(LEFT - 12, y + 4, str(rank), anchor="end")
    gap = PLOT / max(1, len(values) - 1)
    step = max(1, math.ceil(LEAST_TICK_GAP / gap))
    for index in range(0, len(values), step):
        x, y = _x(index, len(values)), _y(system_count) + 20
        yield _text(x, y, f"{values[index]:g}", anchor="middle")


def _curves(count: int, ranks: IntArray, systems: Sequence[str]) -> Iterator[str]:
    last = ranks[-1].tolist()
    places = _label_places(last)
    for index, name in enumerate(systems):
        colour = colour_of(index, len(systems))
        stroke = f'fill="none" stroke="{colour}"'
        points = [(_x(column, count), _y(rank)) for column, rank in enumerate(ranks[:, index])]
        drawn = " ".join(f"{x:.1f},{y:g}" for x, y in points)
        y = _y(places[index])
        # A single value has no line: the one to the name begins at its point.
        begin = f"{points[-1][0]:g} {points[-1][1]:g}"
        yield f"<g><title>{markup_text(name)}</title>"
        yield f'<polyline points="{drawn}" {stroke} stroke-width="2.5"/>'
        yield f'<path d="M{begin}L{LEADER} {y:g}" {stroke}/>'
        yield _text(RANK, y + 4, f"{last[index]}.", anchor="end")
        yield _text(NAME, y + 4, fitted(name, MOST_NAMES))
        yield "</g>"


def _shared(ranks: IntArray) -> Iterator[str]:
    """Dashes in the colours of all systems that go from one rank to another together."""
    count, systems = ranks.shape
    for column in range(count - 1):
        begin, end = ranks[column], ranks[column + 1]
        x, after = _x(column, count), _x(column + 1, count)
        for pair in dict.fromkeys(zip(begin.tolist(), end.tolist(), strict=True)):
            together = np.flatnonzero((begin == pair[0]) & (end == pair[1])).tolist()
            if len(together) == 1:
                continue
            path = f"M{x:.1f} {_y(pair[0]):g}L{after:.1f} {_y(pair[1]):g}"
            for turn, index in enumerate(together):
                yield (
                    f'<path d="{path}" fill="none" stroke="{colour_of(index, systems)}" '
                    f'stroke-width="2.5" stroke-dasharray="{DASH} {DASH * (len(together) - 1)}" '
                    f'stroke-dashoffset="{x - LEFT - DASH * turn:.1f}"/>'
                )


def _label_places(ranks: Sequence[int]) -> list[int]:
    """Rows of the names: at the last rank; tied names are placed below each other."""
    order = sorted(range(len(ranks)), key=lambda index: (ranks[index], index))
    places = [0] * len(ranks)
    for place, index in enumerate(order, 1):
        places[index] = place
    return places


def _x(column: int, count: int) -> float:
    return LEFT + PLOT * (column / (count - 1) if count > 1 else 0.5)


def _y(rank: float) -> float:
    return TOP + ROW_HEIGHT * (rank - 1)


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "") -> str:
    extra = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="#222"{extra}>'
        f"{markup_text(text)}</text>"
    )
