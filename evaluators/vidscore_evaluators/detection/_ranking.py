"""Ranking of detections and limits on their number, shared by `map` and `coco`.

Scorers differ in what they use from a file besides its content. pycocotools and VOCdevkit rank
detections of equal confidence one by one, in the order of the files. Here that is optional, and the
order is sequence, frame and row of the frame, so that files, streams, any split and any number of
workers give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vidscore_evaluators._scene_builder import AsGiven
from vidscore_evaluators.arrays import FloatArray, IntArray, run_starts
from vidscore_evaluators.criterion import SceneParameters
from vidscore_evaluators.detection._outcomes import (
    TRUE,
    OutcomeArray,
    decode,
    domain_and_class,
    encode,
)
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.tally import Table, TableSchema, build_table, merge_tables

Ties = Literal["step", "row"]
BoxAreas = Literal["corners", "given"]
Limit = Literal["class", "frame"]

NUMBERS = (1, 10, 100, 500)
"""Numbers of first detections of a frame at which recall is reported."""


@dataclass(frozen=True)
class RankingParameters(SceneParameters):
    """The shared parameters, and those for the input's form."""

    ties: Ties = parameter(
        "step",
        "Whether equal confidences are one step of the curve, or are ranked by sequence, frame "
        "and row of the frame.",
    )
    box_areas: BoxAreas = parameter(
        "corners",
        "Whether a box's area is that of its corners, or width times height if the format has "
        "these.",
    )

    @property
    def as_given(self) -> AsGiven:
        """How the input's form counts, besides its content."""
        return AsGiven(row_order=self.ties == "row", box_areas=self.box_areas == "given")


def frame_ranks(scene: Scene) -> FloatArray:
    """(D,) position of each detection among the rows of its frame, from 0.

    Raises:
        ValueError: If the scene was made without the order of rows.
    """
    if scene.detections.places is None:
        raise ValueError("a scene without the order of rows")
    return scene.detections.places


def first_table(
    scene: Scene, outcomes: OutcomeArray, rematch: Callable[[Scene], OutcomeArray] | None
) -> Table:
    """Count the true positives among the first detections of frames, by class and outcomes.

    Args:
        scene: The scene, of D detections.
        outcomes: (D, K) outcomes of all.
        rematch: Matches a part of the scene again, if the first detections are the first rows of a
            frame. None if they are the most confident of a class.

    Returns:
        Rows whose key ``first`` is a number of `NUMBERS`. With `rematch`, they cover that many
        detections; else each detection is counted only at the least number that includes it.
    """
    if rematch is None:
        places = np.searchsorted(NUMBERS, scene.detections.ranks, side="right")
        inside = np.flatnonzero(places < len(NUMBERS))
        parts = [_first_rows(scene, outcomes, inside, np.array(NUMBERS)[places[inside]])]
    else:
        ranks, parts = frame_ranks(scene), []
        for number in NUMBERS:
            part = scene.take_detections(ranks < number)
            rows = np.arange(len(part.detections), dtype=np.int64)
            parts.append(_first_rows(part, rematch(part), rows, np.full(len(rows), number)))
    return merge_tables(parts)


def first_found(
    table: Table, column_count: int, *, disjoint: bool
) -> dict[int, dict[tuple[str | None, str], IntArray]]:
    """Read a `first_table`.

    Args:
        table: The table.
        column_count: Thresholds K of its outcomes.
        disjoint: Whether each detection is counted at one number only.

    Returns:
        For each number the (K,) true positives of each class in each domain, and in all (None).
    """
    found: dict[int, dict[tuple[str | None, str], IntArray]] = {number: {} for number in NUMBERS}
    domains, classes, first = table.codes("domain"), table.codes("class"), table.number("first")
    runs = run_starts(domains, classes, first)
    true = (decode(table, column_count) == TRUE) * table.count("detections")[:, np.newaxis]
    totals = np.add.reduceat(true, runs, axis=0) if len(runs) else true
    for row, total in zip(runs.tolist(), totals, strict=True):
        domain, label = table.vocabulary[domains[row]], table.vocabulary[classes[row]]
        for number, of_number in found.items():
            if first[row] == number or (disjoint and first[row] < number):
                for key in {(domain or None, label), (None, label)}:
                    of_number[key] = of_number.get(key, np.zeros_like(total)) + total
    return found


def _first_rows(scene: Scene, outcomes: OutcomeArray, rows: IntArray, first: IntArray) -> Table:
    """The table of some detections, with the number at which each is counted."""
    chosen = outcomes[rows]
    codes = encode(np.where(chosen == TRUE, chosen, 0).astype(np.int8))
    schema = TableSchema(
        texts=("domain", "class"),
        numbers=("first", *(f"outcomes_{index}" for index in range(len(codes)))),
        counts=("detections",),
    )
    return build_table(
        schema,
        *domain_and_class(scene, scene.detections.groups[rows]),
        numbers=[first.astype(np.float64), *codes],
        counts=[np.ones(len(rows), dtype=np.int64)],
    )
