"""Inverted confidences give a warning; uninformative ones do not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.evaluators.plausibility.changes import joined, labelled
from tests.evaluators.plausibility.traffic import Columns, rows_where, traffic

from vidscore_evaluators import score
from vidscore_evaluators.report import ReportWarning

CODE = "confidences_inverted"
TRUTH, DETECTIONS = traffic(frames=60, speed_px=3.0, alarms=2.0)


def found_in(evaluator: str, truth: Columns, detections: Columns) -> list[ReportWarning]:
    report = score(evaluator, truth, detections)
    return [warning for warning in report.warnings if warning.code == CODE]


def inverted(columns: Columns) -> Columns:
    return columns | {"confidence": 1 - columns["confidence"]}


@pytest.mark.parametrize("evaluator", ["map", "coco", "log-amr", "errors"])
def test_1_minus_p_gives_a_warning_for_evaluators_that_rank(evaluator: str) -> None:
    [warning] = found_in(evaluator, TRUTH, inverted(DETECTIONS))
    assert warning.count == len(DETECTIONS["frame"])


def test_distances_are_warned_of() -> None:
    assert found_in("map", TRUTH, DETECTIONS | {"confidence": 40 / DETECTIONS["confidence"]})


def test_evaluators_that_do_not_rank_give_no_warning() -> None:
    assert found_in("f1", TRUTH, inverted(DETECTIONS)) == []


def random(seed: int = 0) -> Columns:
    values = np.random.default_rng(seed).random(len(DETECTIONS["frame"]))
    return DETECTIONS | {"confidence": values}


def many_for_each() -> Columns:
    """Without suppression: five unconfident detections beside the confident one of each object."""
    found = rows_where(DETECTIONS, DETECTIONS["track_id"] < 100)
    further = [
        found | {"x1": found["x1"] + step, "confidence": found["confidence"] / 20}
        for step in range(1, 6)
    ]
    return joined(DETECTIONS, *further)


def of_another_label() -> tuple[Columns, Columns]:
    """Confident about labels that the truth lacks, and less about its own."""
    truth = rows_where(TRUTH, TRUTH["class"] == "car")
    made_up = DETECTIONS["track_id"] >= 100
    others = labelled(rows_where(DETECTIONS, made_up), car="tree")
    return truth, joined(rows_where(DETECTIONS, ~made_up), others | {"confidence": others["x1"]})


def mannequin() -> tuple[Columns, Columns]:
    """One thing that is not an object is found in every frame, more confidently than the rest."""
    found = rows_where(DETECTIONS, DETECTIONS["track_id"] < 100)
    sure = rows_where(found, found["track_id"] == 0)
    corners = zip(("x1", "y1", "x2", "y2"), (1500.0, 900.0, 1600.0, 1000.0), strict=True)
    places = {name: np.full(len(sure["frame"]), value) for name, value in corners}
    dressed = sure | places | {"confidence": np.full(len(sure["frame"]), 0.99)}
    return TRUTH, joined(found, dressed)


def hard_to_see() -> tuple[Columns, Columns]:
    """One stationary object is found, but never confidently."""
    still = {"x1": 800.0, "y1": 400.0, "x2": 900.0, "y2": 500.0}
    sides = [rows_where(side, side["track_id"] == 0) for side in (TRUTH, DETECTIONS)]
    truth, found = (
        side | {name: np.full(len(side["frame"]), value) for name, value in still.items()}
        for side in sides
    )
    made_up = rows_where(DETECTIONS, DETECTIONS["track_id"] >= 100)
    return truth, joined(found | {"confidence": found["confidence"] / 100}, made_up)


HONEST: dict[str, Callable[[], tuple[Columns, Columns]]] = {
    "right": lambda: (TRUTH, DETECTIONS),
    "at random": lambda: (TRUTH, random()),
    "at random, another time": lambda: (TRUTH, random(1)),
    "all equal": lambda: (TRUTH, DETECTIONS | {"confidence": np.ones(len(DETECTIONS["frame"]))}),
    "many detections of each object": lambda: (TRUTH, many_for_each()),
    "sure of things that have no label of the truth": of_another_label,
    "one false alarm that lasts": mannequin,
    "one object that stands still": hard_to_see,
    "a bad detector": lambda: traffic(recall=0.2, alarms=9.0),
    "an inexact detector": lambda: traffic(noise_px=15.0),
    "half of the objects are not in the truth": lambda: (
        rows_where(TRUTH, TRUTH["track_id"] % 2 == 0),
        DETECTIONS,
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_other_confidences_give_no_warning(name: str) -> None:
    assert found_in("map", *HONEST[name]()) == []
