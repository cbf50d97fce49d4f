"""Changes that people make to columns of boxes, by mistake and otherwise."""

from __future__ import annotations

import numpy as np
from tests.evaluators.plausibility.traffic import (
    BOX,
    HEIGHT,
    WIDTH,
    Columns,
    rows_where,
    with_boxes,
)


def corners(columns: Columns) -> list[np.ndarray]:
    return [columns[name] for name in BOX]


def as_sizes(columns: Columns) -> Columns:
    """x, y, width, height under the names of two corners."""
    a, b, c, d = corners(columns)
    return with_boxes(columns, a, b, c - a, d - b)


def as_centres(columns: Columns) -> Columns:
    a, b, c, d = corners(columns)
    return with_boxes(columns, (a + c) / 2, (b + d) / 2, c - a, d - b)


def read_as_sizes(columns: Columns) -> Columns:
    """Two corners read as x, y, width, height: COCO results that contain corners."""
    a, b, c, d = corners(columns)
    return with_boxes(columns, a, b, a + c, b + d)


def read_as_centres(columns: Columns) -> Columns:
    """Two corners read as centre and size: YOLO results that contain corners."""
    a, b, c, d = corners(columns)
    return with_boxes(columns, a - c / 2, b - d / 2, a + c / 2, b + d / 2)


def height_first(columns: Columns) -> Columns:
    """x, y, height, width, read as x, y, width, height."""
    a, b, c, d = corners(columns)
    return with_boxes(columns, a, b, a + (d - b), b + (c - a))


def scaled(columns: Columns, across: float, down: float) -> Columns:
    a, b, c, d = corners(columns)
    return with_boxes(columns, a * across, b * down, c * across, d * down)


def from_below(columns: Columns, height: float = HEIGHT) -> Columns:
    """Boxes with y counted from the bottom of the image."""
    a, b, c, d = corners(columns)
    return with_boxes(columns, a, height - d, c, height - b)


def from_the_right(columns: Columns) -> Columns:
    """Boxes with x counted from the right of the image."""
    a, b, c, d = corners(columns)
    return with_boxes(columns, WIDTH - c, b, WIDTH - a, d)


def shifted(columns: Columns, across: float, down: float) -> Columns:
    """Boxes elsewhere in the image."""
    a, b, c, d = corners(columns)
    return with_boxes(columns, a + across, b + down, c + across, d + down)


def moved(columns: Columns, frames: int) -> Columns:
    return columns | {"frame": columns["frame"] + frames}


def labelled(columns: Columns, **names: str) -> Columns:
    return columns | {"class": np.array([names.get(name, name) for name in columns["class"]])}


def some_labelled(columns: Columns, label: str) -> Columns:
    """Every tenth object with another label."""
    every_tenth = np.arange(len(columns["class"])) % 10 == 0
    return columns | {"class": np.where(every_tenth, label, columns["class"])}


def numbered(columns: Columns, *, labels: int = 5, step: int = 0) -> Columns:
    """Each vehicle with one of a few ids; false positives too."""
    return columns | {"class": (columns["track_id"] + step) % labels}


def guessed(columns: Columns, labels: int = 5) -> Columns:
    """Track ids unrelated to the vehicle."""
    guesses = np.random.default_rng(1).integers(0, labels, len(columns["frame"]))
    return columns | {"class": guesses}


def confused(columns: Columns, **names: str) -> Columns:
    """Four in five objects of some labels with other labels."""
    others = labelled(columns, **names)["class"]
    some = np.arange(len(others)) % 5 > 0
    return columns | {"class": np.where(some, others, columns["class"])}


def joined(*parts: Columns) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def renamed(columns: Columns, **names: str) -> Columns:
    return {names.get(name, name): column for name, column in columns.items()}


def moved_in_time(columns: Columns) -> Columns:
    """Every detection in the sequence and frame of another one."""
    order = (np.arange(len(columns["frame"])) * 7 + len(columns["frame"]) // 2) % len(
        columns["frame"]
    )
    return columns | {"frame": columns["frame"][order], "sequence": columns["sequence"][order]}


def points_with_sizes(columns: Columns) -> Columns:
    """The first frames as x, y, w, h, in the range of spotGEO."""
    few = rows_where(columns, columns["frame"] < 5)
    place = {"sequence": few["sequence"], "frame": few["frame"] + 1}
    return place | {"x": few["x1"] / 4, "y": few["y1"] / 4, "w": few["x2"], "h": few["y2"]}


def in_tower(columns: Columns) -> Columns:
    domain = np.full(len(columns["frame"]), "Tower")
    return labelled(columns, car="Car") | {"domain": domain}
