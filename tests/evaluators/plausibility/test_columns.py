"""Further columns give a warning if they may be a missing one, and not beside the column itself."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluators.plausibility.traffic import Columns, traffic, without

from vidscore_evaluators import score
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.plausibility.inputs import warnings_of_side

TRUTH, DETECTIONS = traffic()


def numbers(columns: Columns) -> FloatArray:
    made: FloatArray = np.linspace(0.0, 9.0, len(columns["frame"]))
    return made


@pytest.mark.parametrize(
    "name",
    ["objectness_score", "logit", "category_id", "w", "width", "camera_id", "track_age"],
)
def test_a_column_beside_the_one_that_it_resembles_gives_no_warning(name: str) -> None:
    further = DETECTIONS | {name: numbers(DETECTIONS)}
    assert score("map", TRUTH, further).warnings == ()


@pytest.mark.parametrize("name", ["annotator_confidence", "width", "category_id"])
def test_the_truth_may_have_columns_that_it_does_not_need(name: str) -> None:
    assert score("map", TRUTH | {name: numbers(TRUTH)}, DETECTIONS).warnings == ()


@pytest.mark.parametrize(
    ("missing", "name"), [("confidence", "objectness_score"), ("class", "category_no")]
)
def test_a_column_in_place_of_the_one_that_it_resembles_gives_a_warning(
    missing: str, name: str
) -> None:
    further = without(DETECTIONS, missing) | {name: numbers(DETECTIONS)}
    [warning] = [one for one in score("f1", TRUTH, further).warnings if one.code == "unused_column"]
    assert f"values in the column {name} of the detections are not used" in warning.message
    assert f"if they are {missing}, rename the column to that" in warning.message


def test_a_single_side_gives_no_warning_about_a_column_beside_its_labels() -> None:
    further = DETECTIONS | {"category_id": numbers(DETECTIONS)}
    found = read_arrays(further, "detections")
    assert warnings_of_side(Side.DETECTIONS, found.annotations) == ()


FLAGS = {
    "ignore": "ignore",
    "Ignored": "ignore",
    "difficult": "ignore",
    "iscrowd": "crowd",
    "is_crowd": "crowd",
    "distractor": "distractor",
    "dont_care_frame": "dont_care_frame",
}


def ones(columns: Columns, count: int) -> FloatArray:
    made: FloatArray = (np.arange(len(columns["frame"])) < count).astype(np.float64)
    return made


@pytest.mark.parametrize(("name", "flag"), FLAGS.items())
def test_a_column_of_flags_in_the_truth_gives_a_warning(name: str, flag: str) -> None:
    [warning] = score("map", TRUTH | {name: ones(TRUTH, 3)}, DETECTIONS).warnings
    assert warning.code == "unused_column"
    assert f"a 1 in the column {name} of the ground truth has no effect" in warning.message
    assert warning.message.endswith(f"write {flag} into a column flags")
    assert warning.count == 3


@pytest.mark.parametrize("name", FLAGS)
def test_a_column_of_flags_gives_no_warning_without_a_1_in_detections_or_beside_the_flag(
    name: str,
) -> None:
    assert score("map", TRUTH | {name: ones(TRUTH, 0)}, DETECTIONS).warnings == ()
    assert score("map", TRUTH, DETECTIONS | {name: ones(DETECTIONS, 3)}).warnings == ()
    flagged = {name: ones(TRUTH, 3), "flags": np.full(len(TRUTH["frame"]), FLAGS[name])}
    found = read_arrays(TRUTH | flagged, "truth")
    assert warnings_of_side(Side.TRUTH, found.annotations) == ()
