"""Synthetic traffic: vehicles that drive through videos, and the output of a detector."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

Columns = dict[str, Any]
"""Columns of generic CSV by name."""

WIDTH, HEIGHT = 1920, 1080
BOX = ("x1", "y1", "x2", "y2")


@cache
def traffic(
    *,
    recall: float = 0.9,
    alarms: float = 1.0,
    noise_px: float = 2.0,
    speed_px: float = 12.0,
    vehicles: int = 5,
    frames: int = 40,
    seed: int = 1,
) -> tuple[Columns, Columns]:
    """Truth and detections of three videos, made once for all tests, which only read them.

    Args:
        recall: Fraction of vehicles that are detected.
        alarms: Average number of false positives per frame.
        noise_px: Standard deviation of each detected coordinate.
        speed_px: Standard deviation of the movement of a vehicle per frame, on each axis.
        vehicles: Vehicles in each video.
        frames: Frames of each video.
        seed: Seed.
    """
    random = np.random.default_rng(seed)
    truth: list[dict[str, Any]] = []
    detections: list[dict[str, Any]] = []
    for sequence in ("north", "south", "west"):
        centres = random.uniform((200, 200), (WIDTH - 200, HEIGHT - 200), (vehicles, 2))
        speeds = random.normal(0, speed_px, (vehicles, 2))
        halves = random.uniform(30, 80, (vehicles, 2))
        for frame in range(frames):
            place = {"sequence": sequence, "frame": frame}
            for number in range(vehicles):
                centre = centres[number] + frame * speeds[number]
                box = np.concatenate([centre - halves[number], centre + halves[number]])
                if box.min() < 0 or box[2] > WIDTH or box[3] > HEIGHT:
                    continue
                what = {**place, "class": ("car", "bus")[number % 2], "track_id": number}
                truth.append(what | dict(zip(BOX, box.tolist(), strict=True)))
                if random.random() < recall:
                    found = box + random.normal(0, noise_px, 4)
                    sure = {"confidence": random.uniform(0.4, 1)}
                    detections.append(what | sure | dict(zip(BOX, found.tolist(), strict=True)))
            for number in range(random.poisson(alarms)):
                corner = random.uniform((0, 0), (WIDTH - 150, HEIGHT - 150))
                box = np.concatenate([corner, corner + random.uniform(30, 150, 2)])
                what = {**place, "class": "car", "track_id": 100 + number}
                sure = {"confidence": random.uniform(0, 0.6)}
                detections.append(what | sure | dict(zip(BOX, box.tolist(), strict=True)))
    return _columns(truth), _columns(detections)


def _columns(rows: list[dict[str, Any]]) -> Columns:
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for column in columns.values():
        column.setflags(write=False)
    return columns


def without(columns: Columns, *names: str) -> Columns:
    """The columns without some of them."""
    return {name: column for name, column in columns.items() if name not in names}


def rows_where(columns: Columns, kept: Any) -> Columns:
    """Some of the rows."""
    return {name: column[kept] for name, column in columns.items()}


def with_boxes(columns: Columns, *boxes: Any) -> Columns:
    """The columns with other numbers under x1, y1, x2, y2."""
    return columns | dict(zip(BOX, boxes, strict=True))
