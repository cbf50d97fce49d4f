"""Trees of MOTChallenge files: truth with all classes, its sequence map, and results."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.evaluators.presets.trackeval_tables import write_rows
from tests.evaluators.presets.tracking_worlds import Row, World
from trackeval.datasets import MotChallenge2DBox

CLASSES = range(1, 14)
"""Numbers of all classes."""

KINDS = (1, 1, 1, 1, 2, 3, 6, 6, 7, 8, 12, 13, 4)
"""Classes with their frequency: pedestrians, all distractors, and classes that absorb."""


def write_tree(root: Path, benchmark: str, worlds: Mapping[str, World]) -> tuple[Path, Path]:
    """Write the layout that trackeval expects.

    Returns:
        The folders of truth and of detections.
    """
    split = f"{benchmark}-train"
    truth, results = root / "gt" / split, root / "trackers" / split / "T" / "data"
    for name, world in worlds.items():
        old = benchmark == "MOT15"
        rows = [_old_row(row) if old else _truth_row(row) for row in world.truth]
        write_rows(truth / name / "gt" / "gt.txt", rows, ",")
        info = [["[Sequence]"], [f"name={name}"], [f"seqLength={world.frames}"]]
        write_rows(truth / name / "seqinfo.ini", info, "")
        write_rows(results / f"{name}.txt", [_found_row(row) for row in world.found], ",")
    write_rows(
        root / "gt" / "seqmaps" / f"{split}.txt", [["name"], *([name] for name in worlds)], ""
    )
    return truth, results


def _truth_row(row: Row) -> list[object]:
    """Level 1 is a pedestrian that is not considered; other classes never are."""
    considered = int(row.kind == 1 and row.level != 1)
    return [row.frame + 1, row.track, *row.box, considered, row.kind, round(1 - row.level / 4, 2)]


def _old_row(row: Row) -> list[object]:
    return [row.frame + 1, row.track, *row.box, int(row.level != 1), -1, -1, -1]


def _found_row(row: Row) -> list[object]:
    return [row.frame + 1, row.track, *row.box, 1 - row.track / 4096, -1, -1, -1]


def dataset_of(root: Path, benchmark: str) -> Any:
    """trackeval's dataset over such a tree."""
    with contextlib.redirect_stdout(io.StringIO()):
        return MotChallenge2DBox(
            {
                "GT_FOLDER": str(root / "gt"),
                "TRACKERS_FOLDER": str(root / "trackers"),
                "BENCHMARK": benchmark,
                "PRINT_CONFIG": False,
            }
        )
