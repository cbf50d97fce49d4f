"""Small scored inputs with a known outcome for each object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vidscore_evaluators.alignment import Aligned, align
from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.outcome_table import Outcome, OutcomeBuilder, Outcomes
from vidscore_evaluators.render.scored import FrameView, ScoredFrames, SideView
from vidscore_evaluators.render.style import KINDS, Image, Kind

GREY = 100
"""Grey level of the pictures that are drawn on."""

Row = Mapping[str, Any]


def grey(width: int, height: int) -> Image:
    return np.full((height, width, 3), GREY, dtype=np.uint8)


def side_of(
    coordinates: Sequence[Sequence[float]], kinds: Sequence[Kind], arity: int = 4, **columns: Any
) -> SideView:
    count = len(kinds)
    given: dict[str, Any] = {
        "coordinates": np.array(coordinates, dtype=np.float64).reshape(count, arity),
        "kinds": np.array([KINDS.index(kind) for kind in kinds], dtype=np.uint8),
        "are_regions": np.zeros(count, dtype=np.bool_),
        "names": tuple(f"{row} car" for row in range(count)),
        "confidences": np.full(count, np.nan),
        "partners": np.full(count, -1, dtype=np.int64),
    }
    return SideView(**given | columns)


def view_of(truth: SideView | None = None, detections: SideView | None = None) -> FrameView:
    sides = {
        Side.TRUTH: truth or side_of([], []),
        Side.DETECTIONS: detections or side_of([], []),
    }
    return FrameView(SequenceKey("Tower", "street"), 7, False, sides)


def box(frame: int, x: float, *, sequence: str = "street", **further: Any) -> Row:
    """A box of 10 by 10 pixels."""
    corners = {"x1": x, "y1": 10.0, "x2": x + 10.0, "y2": 20.0}
    return {"sequence": sequence, "frame": frame, "class": "car", **corners, **further}


def aligned_of(truth: Sequence[Row], detections: Sequence[Row]) -> Aligned:
    sides = [
        read_arrays({name: [row[name] for row in rows] for name in rows[0]}, name).annotations
        for rows, name in ((truth, "truth"), (detections, "detections"))
    ]
    return align(*sides)


def scored(
    aligned: Aligned,
    matched: Sequence[tuple[int, int]],
    missed: Sequence[int],
    wrong: Sequence[int],
    *,
    switches: Sequence[int] = (),
    shares: FloatArray | None = None,
) -> ScoredFrames:
    return ScoredFrames(aligned, outcomes_of(aligned, matched, missed, wrong, switches, shares))


def outcomes_of(
    aligned: Aligned,
    matched: Sequence[tuple[int, int]],
    missed: Sequence[int],
    wrong: Sequence[int],
    switches: Sequence[int] = (),
    shares: FloatArray | None = None,
) -> Outcomes:
    """Outcomes of object rows: pairs that are matched, objects missed, detections that are wrong.

    Args:
        aligned: Both sides.
        matched: Pairs of an object and a detection.
        missed: Objects.
        wrong: Detections.
        switches: The pairs that are an id switch.
        shares: Share of each object of the truth.
    """
    builder = OutcomeBuilder(aligned)
    truth, detections = (np.array(rows, dtype=np.int64) for rows in zip(*matched, strict=True))
    builder.match(truth, detections)
    builder.set(Side.TRUTH, np.array(missed, dtype=np.int64), Outcome.FALSE_NEGATIVE)
    builder.set(Side.DETECTIONS, np.array(wrong, dtype=np.int64), Outcome.FALSE_POSITIVE)
    switched = np.isin(np.arange(len(matched)), switches)
    builder.break_track(truth, detections, switches=switched, fragments=np.zeros_like(switched))
    if shares is not None:
        builder.share(Side.TRUTH, np.arange(len(shares)), shares)
    return builder.build()
