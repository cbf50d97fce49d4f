"""Positions of the labels of lines: beside their own line, on nothing else. Widths of texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

TEXT_SIZE = 12.0
"""Size of text on curves; widths are at this size."""

_STRONG = 1.14
"""Factor by which bold letters are wider."""

# DejaVu Sans has the widest letters of the common fonts; with any other, room is left.
_WIDTHS = {
    **dict.fromkeys("'ijlIJ ,./:;\\|-", 0.37),
    **dict.fromkeys('()[]t!rf"', 0.46),
    **dict.fromkeys("ABCDEFGHKLNOPQRSTUVXYZ&w", 0.8),
    **dict.fromkeys("mMW@%#+<=>^~", 1.0),
}
"""Widths in ems of ASCII characters that are not as wide as a digit."""

_DIGIT, _OTHER, _FULL = 0.65, 0.8, 1.0


def text_width(text: str, *, strong: bool = False) -> float:
    """Width of a text at `TEXT_SIZE` in a font with wide letters."""
    ems = sum(_ems(text))
    return TEXT_SIZE * ems * (_STRONG if strong else 1.0)


def fitted(text: str, width: float, *, strong: bool = False) -> str:
    """Shorten a text to a width; its end stays, because long names differ there most often."""
    kept = len(text)
    shown = text
    while kept > 2 and text_width(shown, strong=strong) > width:
        kept -= 1
        shown = f"{text[: (kept - 1) // 2]}{ELLIPSIS}{text[-(kept // 2) :]}"
    return shown


def _ems(text: str) -> Iterator[float]:
    # Letters with accents are as wide as those without; the accents have no width.
    for character in unicodedata.normalize("NFD", text):
        if character.isascii():
            yield _WIDTHS.get(character, _DIGIT)
        elif unicodedata.category(character) in ("Mn", "Me", "Cf"):
            yield 0.0
        else:
            letter = character.isalpha() and unicodedata.east_asian_width(character) not in "WF"
            yield _OTHER if letter else _FULL


_PLACES = 24
"""Number of places along a line that are tried."""

_SPACING = 3.0
"""Distance of the points into which lines are cut, to test what a label would cover."""

_BAND_SPACING = 8.0
"""The same across bands; less than the height of a label."""

_COARSE = 4
"""One in so many points of a line is used to measure the distance to the line."""

_DISTANCE = 6.0

_FAR = 40.0
"""A label this far from its line, on average, costs as much as one at the line's beginning."""

_SHORT = 120.0
"""Width to which a name is shortened that has no good place in full."""

_SHORT_COST = 4.0


class Placed(Struct, frozen=True):
    """A label on the picture: its text, its left end and its baseline."""

    text: str
    x: float
    y: float


class Area(Struct, frozen=True):
    """A rectangle on the picture; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float


class Drawn(Struct, frozen=True, eq=False):
    """A line on the picture.

    Attributes:
        points: (N, 2) its points; rows of NaN are gaps.
        bands: Both edges of its intervals, each (2, K, 2) points from left to right.
    """

    points: FloatArray
    bands: Sequence[FloatArray] = ()


def place_labels(
    labels: Sequence[str], lines: Sequence[Drawn], others: FloatArray, inside: Area
) -> list[Placed | None]:
    """Place the labels of lines, the first of which is bold.

    A name that has no good place in full is cut in its middle.

    Args:
        labels: A label for each line; an empty one gets no place.
        lines: The lines.
        others: (K, 2) further points that no label may cover.
        inside: The area for labels.

    Returns:
        One place per line; None without a label or a line.
    """
    cut = [_densely(line.points) for line in lines]
    bands = [_within(line.bands) for line in lines]
    taken = np.concatenate([*cut, others])
    placed: list[Placed | None] = []
    for number, (label, line) in enumerate(zip(labels, cut, strict=True)):
        if not label or not len(line):
            placed.append(None)
            continue
        around = _Around(
            own=line,
            foreign=np.concatenate([*cut[:number], *cut[number + 1 :], others[:0]]),
            points=others,
            bands=(bands[number], np.concatenate([*bands[:number], *bands[number + 1 :], _NONE])),
            taken=taken,
        )
        place, box = around.best(label, inside, strong=number == 0)
        placed.append(place)
        across, down = np.meshgrid(
            np.linspace(box[0], box[2], 12), np.linspace(box[1], box[3], 4), indexing="ij"
        )
        taken = np.concatenate([taken, np.stack([across.ravel(), down.ravel()], axis=1)])
    return placed


_NONE: FloatArray = np.zeros((0, 2))


class _Around(Struct, frozen=True, eq=False):
    """What surrounds the label of a line, each as (N, 2) points.

    Attributes:
        own: The line.
        foreign: The other lines.
        points: Further points.
        bands: Points within the bands of the line, and within those of others.
        taken: Points that no label may cover: all lines, further points and the labels before.
    """

    own: FloatArray
    foreign: FloatArray
    points: FloatArray
    bands: tuple[FloatArray, FloatArray]
    taken: FloatArray

    def best(self, label: str, inside: Area, *, strong: bool) -> tuple[Placed, list[float]]:
        """The best place, with its left, top, right and bottom."""
        found = []
        whole, short = (
            fitted(label, room, strong=strong) for room in (inside.right - inside.left, _SHORT)
        )
        # Most names are short already; then both texts are one.
        for text, extra in {short: _SHORT_COST, whole: 0.0}.items():
            boxes = _boxes(self.own, text_width(text, strong=strong), inside)
            cost = self._costs(boxes, inside) + extra
            at = int(np.argmin(cost))
            found.append((float(cost[at]), text, boxes[at].tolist()))
        _, text, box = min(found, key=lambda entry: entry[0])
        return Placed(text, box[0], box[3] - 2.0), box

    def _costs(self, boxes: FloatArray, inside: Area) -> FloatArray:
        cost = 10.0 * _covered(boxes, self.taken, margin=2.0) + _outside(boxes, inside)
        # A label that is also close to another line could belong to either.
        for foreign in (self.foreign, self.points):
            cost += _covered(boxes, foreign, margin=_DISTANCE + 2.0)
        own, others = (_apart(boxes, line) for line in (self.own, self.foreign))
        cost += 6.0 * (own > others).mean(axis=1) + own.mean(axis=1) / _FAR
        own, others = (_covered(boxes, band, margin=0.0) for band in self.bands)
        cost += np.minimum(own, 20.0) / 20.0 + np.minimum(others, 20.0) / 4.0
        # Prefer the end of a line, where lines are usually furthest apart.
        return cost + np.linspace(1.0, 0.0, len(boxes))


def _within(bands: Sequence[FloatArray]) -> FloatArray:
    """(M, 2) points spread over bands."""
    parts = [_NONE]
    for lower, upper in bands:
        height = float(np.abs(lower - upper).max(initial=0.0))
        shares = np.linspace(0.0, 1.0, int(height / _BAND_SPACING) + 2)
        parts += [_densely(lower + (upper - lower) * share) for share in shares.tolist()]
    return np.concatenate(parts)


def _apart(boxes: FloatArray, line: FloatArray) -> FloatArray:
    """(B, 9) distances from a line of 9 points along the middle of each box."""
    if not len(line):
        return np.full((len(boxes), 9), np.inf)
    left, top, right, bottom = boxes.T[..., np.newaxis]
    across = left + (right - left) * np.linspace(0.0, 1.0, 9)
    places = np.stack(np.broadcast_arrays(across, (top + bottom) / 2), axis=2).reshape(-1, 2)
    points = line[::_COARSE]
    # Squared distances by a matrix product take a tenth of the time of differences.
    squares = (points**2).sum(axis=1) - 2.0 * (places @ points.T)
    nearest = squares.min(axis=1) + (places**2).sum(axis=1)
    distances: FloatArray = np.sqrt(np.maximum(nearest, 0.0)).reshape(across.shape)
    return distances


def _densely(line: FloatArray) -> FloatArray:
    """(M, 2) points along a line, at most `_SPACING` apart; none in its gaps."""
    if len(line) < 2:
        return line[~np.isnan(line).any(axis=1)]
    begin, end = line[:-1], line[1:]
    drawn = ~np.isnan(begin).any(axis=1) & ~np.isnan(end).any(axis=1)
    begin, end = begin[drawn], end[drawn]
    counts = np.ceil(np.hypot(*(end - begin).T) / _SPACING).astype(np.int64) + 1
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    part = (np.arange(counts.sum()) - starts) / np.repeat(np.maximum(counts - 1, 1), counts)
    first, last = np.repeat(begin, counts, axis=0), np.repeat(end, counts, axis=0)
    points: FloatArray = first + (last - first) * part[:, None]
    return points if len(points) else line[~np.isnan(line).any(axis=1)]


def _boxes(line: FloatArray, width: float, inside: Area) -> FloatArray:
    """(B, 4) boxes beside some places of a line: above and below it, before and after."""
    rows = np.unique(np.linspace(0, len(line) - 1, _PLACES).round().astype(np.int64))
    x, y = np.repeat(line[rows], 4, axis=0).T
    left = x + np.tile([_DISTANCE, _DISTANCE, -_DISTANCE - width, -_DISTANCE - width], len(rows))
    left = np.clip(left, inside.left, max(inside.left, inside.right - width))
    top = y + np.tile([-_DISTANCE - TEXT_SIZE, _DISTANCE], 2 * len(rows))
    return np.stack([left, top, left + width, top + TEXT_SIZE], axis=1)


def _covered(boxes: FloatArray, points: FloatArray, margin: float) -> FloatArray:
    """(B,) the number of points in each box, widened by a margin."""
    left, top, right, bottom = (boxes + margin * np.array([-1.0, -1.0, 1.0, 1.0])).T[:, :, None]
    x, y = points.T
    inside = (x >= left) & (x <= right) & (y >= top) & (y <= bottom)
    counts: FloatArray = inside.sum(axis=1, dtype=np.float64)
    return counts


def _outside(boxes: FloatArray, inside: Area) -> FloatArray:
    """(B,) a cost for reaching out of the area."""
    _, top, _, bottom = boxes.T
    out: FloatArray = np.maximum(inside.top - top, 0.0) + np.maximum(bottom - inside.bottom, 0.0)
    return out * 100.0
