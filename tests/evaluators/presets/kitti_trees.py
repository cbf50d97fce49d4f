"""Trees of KITTI tracking files: labels with don't-care regions, a sequence map, and results."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tests.evaluators.presets.trackeval_tables import write_rows
from tests.evaluators.presets.tracking_worlds import Row, World
from trackeval.datasets import Kitti2DBox

TYPES = ("Car", "Van", "Truck", "Pedestrian", "Person", "Cyclist", "Tram", "Misc")
KINDS = (0, 0, 0, 0, 1, 1, 3, 3, 3, 4, 5, 2)
"""Types by how often they come."""

RESTS = (-10, 1.5, 1.6, 4.0, 0.0, 1.7, 20.0, -1.6)
"""Dimensions, place and angle, which no scorer reads."""


def write_tree(
    root: Path, worlds: Mapping[str, World], random: np.random.Generator
) -> tuple[Path, Path]:
    """Write the layout that trackeval expects.

    Returns:
        The folders of truth and of detections.
    """
    truth, results = root / "gt" / "label_02", root / "trackers" / "T" / "data"
    for name, world in worlds.items():
        rows = [*map(_truth_row, world.truth), *_regions(world, random)]
        rows.sort(key=lambda row: int(str(row[0])))
        write_rows(truth / f"{name}.txt", rows, " ")
        write_rows(results / f"{name}.txt", [_found_row(row) for row in world.found], " ")
    lengths = [[name, "empty", "000000", f"{world.frames:06d}"] for name, world in worlds.items()]
    write_rows(root / "gt" / "evaluate_tracking.seqmap.training", lengths, " ")
    return truth, results


def _corners(row: Row) -> tuple[float, ...]:
    left, top, width, height = row.box
    return (left, top, round(left + width, 2), round(top + height, 2))


def _truth_row(row: Row) -> list[object]:
    """Levels in turn: plain, truncated, heavily occluded, and partly occluded, which is scored."""
    truncated, occluded = [(0, 0), (1, 0), (0, 3), (0, 2)][row.level]
    return [
        row.frame,
        row.track,
        TYPES[row.kind],
        truncated,
        occluded,
        -1.5,
        *_corners(row),
        *RESTS[1:],
    ]


def _found_row(row: Row) -> list[object]:
    score = round(3.0 - row.track / 300, 3)
    return [row.frame, row.track, TYPES[row.kind], -1, -1, -10, *_corners(row), *RESTS[1:], score]


def _regions(world: World, random: np.random.Generator) -> list[list[object]]:
    """In most frames a few areas, which may overlap, of any size."""
    rows: list[list[object]] = []
    for frame in range(world.frames):
        for _ in range(int(random.poisson(1.5))):
            left, top = np.round(random.uniform(0, 90, 2), 2).tolist()
            width, height = np.round(random.uniform(5, 50, 2), 2).tolist()
            corners = (left, top, round(left + width, 2), round(top + height, 2))
            dimensions = (-1000, -1000, -1000, -10, -1, -1, -1)
            rows.append([frame, -1, "DontCare", -1, -1, -10, *corners, *dimensions])
    return rows


def dataset_of(root: Path) -> Any:
    """trackeval's dataset over such a tree."""
    with contextlib.redirect_stdout(io.StringIO()):
        return Kitti2DBox(
            {
                "GT_FOLDER": str(root / "gt"),
                "TRACKERS_FOLDER": str(root / "trackers"),
                "PRINT_CONFIG": False,
            }
        )
