"""Outcomes in the form in which one would write them on paper."""

from __future__ import annotations

from typing import NamedTuple

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.outcome_table import OUTCOMES, SIDES, OperatingPoint, Outcomes


class Row(NamedTuple):
    """One object or detection.

    Attributes:
        side: ``truth`` or ``detections``.
        frame: Its frame.
        row: Its index in the frame.
        outcome: Its outcome.
        partner: Row of its partner, or -1.
        share: What it adds to the measure.
    """

    side: str
    frame: int
    row: int
    outcome: str
    partner: int
    share: float


def outcomes_of(
    evaluator: Evaluator[object],
    truth: Annotations,
    detections: Annotations,
    at: OperatingPoint = OperatingPoint(),
) -> Outcomes:
    """The table of an evaluator."""
    return evaluator.outcomes(align(truth, detections), at)


def rows_of(table: Outcomes) -> list[Row]:
    """Every row of a table."""
    columns = (table.frames, table.rows, table.outcomes, table.partners, table.shares)
    return [
        Row(SIDES[side].value, frame, row, OUTCOMES[outcome].value, partner, share)
        for side, frame, row, outcome, partner, share in zip(
            table.sides.tolist(), *(column.tolist() for column in columns), strict=True
        )
    ]
