"""Pictures of ranks: rank against threshold, one colour a system (as the paper's Figs. 1 and 12).

Drawn as SVG by hand: a few lines and texts need no library.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from vidscore_evaluators.arrays import IntArray

WIDTH, ROW_HEIGHT = 640, 28
LEFT, RIGHT, TOP, BOTTOM = 52, 168, 40, 52
LEAST_TICK_GAP = 36
"""Pixels between the labels of two values."""


def rank_picture(
    title: str, parameter: str, values: Sequence[float], ranks: IntArray, systems: Sequence[str]
) -> str:
    """An SVG picture of ranks over values of a parameter.

    Args:
        title: What the picture shows.
        parameter: Name of the parameter.
        values: V values, ascending.
        ranks: (V, K) ranks, 1 for the best.
        systems: Names of the K systems.
    """
    height = TOP + ROW_HEIGHT * max(1, len(systems) - 1) + BOTTOM
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">',
        '<g font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        _text(LEFT, 20, title, weight="bold"),
        _text(LEFT, height - 10, parameter),
        *_grid(values, len(systems)),
        *_curves(values, ranks, systems),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def colour_of(index: int, count: int) -> str:
    """Colour of a system: evenly spaced hues, light and dark in turn so that neighbours differ."""
    return f"hsl({360 * index / max(1, count):.0f} 70% {(38, 55)[index % 2]}%)"


def _grid(values: Sequence[float], system_count: int) -> Iterator[str]:
    """A line and a number for each rank, and the values below as far as they have room."""
    for rank in range(1, system_count + 1):
        y = _y(rank)
        yield f'<path d="M{LEFT} {y:g}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield _text(LEFT - 12, y + 4, str(rank), anchor="end")
    gap = (WIDTH - LEFT - RIGHT) / max(1, len(values) - 1)
    step = max(1, math.ceil(LEAST_TICK_GAP / gap))
    for index in range(0, len(values), step):
        x, y = _x(index, len(values)), _y(system_count) + 20
        yield _text(x, y, f"{values[index]:g}", anchor="middle")


def _curves(values: Sequence[float], ranks: IntArray, systems: Sequence[str]) -> Iterator[str]:
    last = ranks[-1].tolist()
    places = _label_places(last)
    for index, name in enumerate(systems):
        colour = colour_of(index, len(systems))
        points = " ".join(
            f"{_x(column, len(values)):.1f},{_y(rank):g}"
            for column, rank in enumerate(ranks[:, index].tolist())
        )
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'
        yield _text(WIDTH - RIGHT + 10, _y(places[index]) + 4, name, colour=colour)


def _label_places(ranks: Sequence[int]) -> list[int]:
    """Where names stand: at the last rank, those of a tie below each other."""
    order = sorted(range(len(ranks)), key=lambda index: (ranks[index], index))
    places = [0] * len(ranks)
    for place, index in enumerate(order, 1):
        places[index] = place
    return places


def _x(column: int, count: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (column / (count - 1) if count > 1 else 0.5)


def _y(rank: float) -> float:
    return TOP + ROW_HEIGHT * (rank - 1)


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#222", weight: str = ""
) -> str:
    extra = f' font-weight="{weight}"' if weight else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{colour}"{extra}>'
        f"{escape(text)}</text>"
    )
