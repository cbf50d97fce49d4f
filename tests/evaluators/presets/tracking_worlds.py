"""Seeded worlds of tracked boxes in which preprocessing rules interact, for files of any layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Style = Literal["decimals", "grid"]
"""``decimals``: coordinates of two decimals, so that ties are rare, and rounded exact thresholds
that are added by hand. ``grid``: few coordinates, so that boxes, sums and thresholds tie.
"""


@dataclass(frozen=True)
class Row:
    """One object of the truth, or one detection.

    Attributes:
        frame: Number from 0.
        track: Track id.
        kind: Index of its class.
        box: Left, top, width and height.
        level: A number from 0 to 3 for what else a file says: flags, truncation, occlusion.
    """

    frame: int
    track: int
    kind: int
    box: tuple[float, float, float, float]
    level: int = 0


@dataclass(frozen=True)
class World:
    """One sequence: its truth, its detections and its number of frames."""

    truth: list[Row]
    found: list[Row]
    frames: int


def make_world(
    random: np.random.Generator, kinds: Sequence[int], style: Style, frames: int = 12
) -> World:
    """Objects of all kinds that crowd each other, and a tracker that confuses them."""
    extent, count = (90, 12) if style == "decimals" else (24, 5)
    places = random.uniform(0, extent, (count, 2))
    sizes = random.uniform(14, 46, (count, 2)) if style == "decimals" else np.full((count, 2), 12.0)
    kind_of = random.choice(kinds, count)
    levels = random.choice([0, 0, 0, 1, 2, 3], count)
    names = np.arange(count) + 50
    truth: list[Row] = []
    found: list[Row] = []
    for frame in range(frames):
        if random.random() < 0.1:
            continue  # Neither side has a row.
        places = places + random.normal(0, 4, places.shape)
        if random.random() < 0.25:
            one, other = random.choice(count, 2, replace=False)
            names[[one, other]] = names[[other, one]]
        shown, seen = random.random(count) < 0.85, random.random(count) < 0.75
        if random.random() < 0.1:
            shown[:] = False
        for index in range(count):
            box = _rounded((*places[index], *sizes[index]), style)
            level = int(levels[index]) if random.random() < 0.8 else 0
            row = Row(frame, index + 1, int(kind_of[index]), box, level)
            if shown[index]:
                truth.append(row)
            if seen[index]:
                shift = (*random.normal(0, 4, 2), *random.normal(0, 2, 2))
                near = _rounded(tuple(a + b for a, b in zip(box, shift, strict=True)), style)
                taken = int(random.choice(kinds)) if random.random() < 0.3 else row.kind
                found.append(Row(frame, int(names[index]), taken, near))
        for extra in range(int(random.poisson(0.7))):
            height = float(random.choice([25.0, random.uniform(8, 40)]))  # KITTI's limit is 25.
            sides = (float(random.uniform(8, 40)), height)
            box = _rounded((*random.uniform(0, extent, 2), *sides), style)
            found.append(Row(frame, 200 + extra, int(random.choice(kinds)), box))
    world = World(truth, found, frames)
    return _with_exact_thresholds(random, world, kinds) if style == "decimals" else world


def _rounded(box: Sequence[float], style: Style) -> tuple[float, float, float, float]:
    left, top, width, height = box
    if style == "decimals":
        return (
            round(float(left), 2),
            round(float(top), 2),
            round(max(1.0, float(width)), 2),
            round(max(1.0, float(height)), 2),
        )
    step = 6.0  # Pixels of the grid.
    sides = [max(1.0, round(float(size) / step)) * step for size in (width, height)]
    return (round(float(left) / step) * step, round(float(top) / step) * step, sides[0], sides[1])


def _with_exact_thresholds(
    random: np.random.Generator, world: World, kinds: Sequence[int]
) -> World:
    """Far from everything else, pairs of boxes whose IoU is k/20 on paper, in their own tracks."""
    truth, found = list(world.truth), list(world.found)
    for step in range(1, 20):
        # Two boxes of width w, d apart, have an IoU of (w - d) / (w + d).
        kind, level = int(random.choice(kinds)), int(random.choice([0, 0, 1, 2, 3]))
        for frame in range(0, world.frames, 3):
            unit = round(float(random.uniform(0.1, 2.0)), 1)
            # Small x coordinates, so that rounding is of the order of trackeval's tolerance.
            left, top = round(float(random.uniform(0, 3)), 1), 1000.0 + 40 * step
            width, apart = round((20 + step) * unit, 1), (20 - step) * unit
            truth.append(Row(frame, 1000 + step, kind, (left, top, width, 30.0), level))
            moved = (round(left + apart, 1), top, width, 30.0)
            found.append(Row(frame, 2000 + step, kind, moved))
    return World(truth, found, world.frames)


def without(world: World, side: Literal["truth", "found"]) -> World:
    """The same sequence with nothing on one side."""
    return replace(world, truth=[]) if side == "truth" else replace(world, found=[])


def shuffled_rows(rows: Sequence[Row], random: np.random.Generator) -> list[Row]:
    """The same rows in another order within their frames."""
    order = random.permutation(len(rows))
    return sorted((rows[index] for index in order.tolist()), key=lambda row: row.frame)
