"""Areas of boxes and quadrilaterals in rational numbers, as an oracle of geometry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations

Point = tuple[Fraction, Fraction]
Box = tuple[Fraction, Fraction, Fraction, Fraction]


def points(coordinates: Sequence[float]) -> tuple[Point, ...]:
    numbers = [Fraction(number) for number in coordinates]
    return tuple(zip(numbers[::2], numbers[1::2], strict=True))


def envelope(corners: Sequence[Point]) -> Box:
    xs, ys = zip(*corners, strict=True)
    return (min(xs), min(ys), max(xs), max(ys))


def area(box: Box) -> Fraction:
    return (box[2] - box[0]) * (box[3] - box[1])


def overlap_ratio(a: Box, b: Box) -> Fraction:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    shared = width * height if width > 0 and height > 0 else Fraction(0)
    union = area(a) + area(b) - shared
    return shared / union if union else Fraction(0)


def _turn(a: Point, b: Point, c: Point) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def turns(corners: Sequence[Point]) -> list[Fraction]:
    """Twice the signed area of each three corners."""
    return [_turn(*three) for three in combinations(corners, 3)]


def crosses(corners: Sequence[Point]) -> bool:
    """Whether opposite sides of a quadrilateral cross."""
    a, b, c, d = corners

    def apart(p: Point, q: Point, r: Point, s: Point) -> bool:
        return _turn(p, q, r) * _turn(p, q, s) < 0 and _turn(r, s, p) * _turn(r, s, q) < 0

    return apart(a, b, c, d) or apart(b, c, d, a)


def _hull(points: Iterable[Point]) -> list[Point]:
    """Convex hull by gift wrapping along two chains."""
    ordered = sorted(set(points))
    chains = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[Point] = []
        for point in sequence:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return [*chains[0], *chains[1]]


def triangles(corners: Sequence[Point]) -> list[list[Point]]:
    """Cut a quadrilateral, or its hull where sides cross, into counter-clockwise triangles."""
    shape = _hull(corners) if crosses(corners) else list(corners)
    cuts = [[shape[0], shape[i], shape[i + 1]] for i in range(1, len(shape) - 1)]
    if len(shape) == 4 and _turn(*cuts[0]) * _turn(*cuts[1]) < 0:
        # The corner opposite the first points inwards: cut along the other diagonal.
        cuts = [[shape[1], shape[2], shape[3]], [shape[1], shape[3], shape[0]]]
    turned = [cut if _turn(*cut) > 0 else cut[::-1] for cut in cuts]
    return [cut for cut in turned if _turn(*cut) != 0]


def _clip(polygon: list[Point], start: Point, end: Point) -> list[Point]:
    """Part of a convex polygon to the left of a line."""
    kept: list[Point] = []
    for here, there in zip(polygon, [*polygon[1:], *polygon[:1]], strict=True):
        mine, theirs = _turn(start, end, here), _turn(start, end, there)
        if mine >= 0:
            kept.append(here)
        if mine * theirs < 0:
            part = mine / (mine - theirs)
            kept.append(
                (here[0] + part * (there[0] - here[0]), here[1] + part * (there[1] - here[1]))
            )
    return kept


def _polygon_area(polygon: list[Point]) -> Fraction:
    ends = [*polygon[1:], *polygon[:1]]
    return (
        sum((a[0] * b[1] - b[0] * a[1] for a, b in zip(polygon, ends, strict=True)), Fraction(0))
        / 2
    )


@cache
def area_inside(box: Box, regions: tuple[tuple[Point, ...], ...]) -> Fraction:
    """Area of a box inside a union of regions, by inclusion and exclusion over triangles."""
    x1, y1, x2, y2 = box
    pieces = [cut for region in regions for cut in triangles(region)]
    total = Fraction(0)
    for count in range(1, len(pieces) + 1):
        for chosen in combinations(pieces, count):
            part = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
            for cut in chosen:
                for start, end in zip(cut, [*cut[1:], *cut[:1]], strict=True):
                    part = _clip(part, start, end)
            total += (-1) ** (count + 1) * _polygon_area(part)
    return total


def shared_by_triangles(first: Sequence[Point], second: Sequence[Point]) -> Fraction:
    """Area that two quadrilaterals share: the sum over all pairs of their triangles."""
    total = Fraction(0)
    for part in triangles(first):
        for cut in triangles(second):
            clipped = part
            for start, end in zip(cut, [*cut[1:], *cut[:1]], strict=True):
                clipped = _clip(clipped, start, end)
            total += _polygon_area(clipped)
    return total
