"""The challenge's rules: every violation is reported, and limits are inclusive."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.spotgeo.helpers import make_points

from vidscore_evaluators.annotations import Annotations, ObjectFlag, Side
from vidscore_evaluators.errors import InputError, ParameterError
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.spotgeo import FAULTS_PER_RULE

LAWFUL = make_points({"7": {1: [(-0.5, -0.5), (639.5, 479.5)], 5: []}})


def faults(side: Side, given: Annotations, **parameters: object) -> list[str]:
    return [str(fault) for fault in create_evaluator("spotgeo", parameters).faults(side, given)]


@pytest.mark.parametrize("side", Side)
def test_the_edges_of_the_image_and_of_a_sequence_are_allowed(side: Side) -> None:
    assert faults(side, LAWFUL) == []


@pytest.mark.parametrize("side", Side)
def test_every_coordinate_outside_the_image_is_named(side: Side) -> None:
    outside = make_points({"7": {1: [(-0.51, 0), (3, 480)], 2: [(1, 1)], 3: [(640, 500)]}})
    width, height = "expected x from -0.5 to 639.5", "expected y from -0.5 to 479.5"
    place = f"{side}, entry"
    assert faults(side, outside) == [
        f"{place} 0, coordinates: found x = -0.51 in frame 1 of sequence 7, {width}",
        f"{place} 2, coordinates: found x = 640.0 in frame 3 of sequence 7, {width}",
        f"{place} 0, coordinates: found y = 480.0 in frame 1 of sequence 7, {height}",
        f"{place} 2, coordinates: found y = 500.0 in frame 3 of sequence 7, {height}",
    ]


@pytest.mark.parametrize("side", Side)
def test_frames_are_numbered_from_one_to_five(side: Side) -> None:
    wrong = make_points({"7": {0: [], 1: [], 6: []}}, domain="night")
    place, expected = f"{side}, entry", "expected frames 1 to 5"
    assert faults(side, wrong) == [
        f"{place} 0, frame_numbers: found frame 0 of sequence night/7, {expected}",
        f"{place} 2, frame_numbers: found frame 6 of sequence night/7, {expected}",
    ]


def test_a_frame_of_a_sequence_without_a_name_is_named_by_its_number() -> None:
    [fault] = faults(Side.DETECTIONS, make_points({"": {6: []}}))
    assert fault == "detections, entry 0, frame_numbers: found frame 6, expected frames 1 to 5"


def test_thirty_detections_per_frame_are_allowed_and_thirty_one_are_not() -> None:
    crowd = make_points({"7": {1: [(9, 9)] * 30, 2: [(9, 9)] * 31}})
    [fault] = faults(Side.DETECTIONS, crowd)
    assert fault == (
        "detections, entry 1, frame_object_counts: "
        "found 31 detections in frame 2 of sequence 7, expected at most 30"
    )
    assert faults(Side.TRUTH, crowd) == []


def test_the_limits_are_parameters() -> None:
    limits = {
        "image_width": 10,
        "image_height": 20,
        "maximum_detections": 1,
        "frames_per_sequence": 9,
    }
    assert faults(Side.DETECTIONS, make_points({"7": {9: [(9.5, 19.5)]}}), **limits) == []
    broken = make_points({"7": {10: [(9.6, 19.6), (1, 1)]}})
    assert len(faults(Side.DETECTIONS, broken, **limits)) == 4


def test_a_flagged_object_of_the_truth_is_refused_because_spotgeo_knows_no_flags() -> None:
    flags = np.array([0, ObjectFlag.IGNORE | ObjectFlag.CROWD], dtype=np.uint8)
    [fault] = faults(Side.TRUTH, replace(LAWFUL, flags=flags))
    assert fault == (
        "truth, entry 0, object_flags: found an object flagged ignore, crowd in "
        "frame 1 of sequence 7, expected no flags: spotGEO has ordinary objects only"
    )


def test_violations_of_one_rule_are_listed_up_to_a_bound() -> None:
    many = make_points({"7": {1: [(-1, -1)] * (FAULTS_PER_RULE + 1)}})
    assert len(faults(Side.TRUTH, many)) == 2 * FAULTS_PER_RULE


def test_nothing_is_scored_when_a_rule_is_broken() -> None:
    wrong = make_points({"7": {1: [(-1, 0)], 2: [(0, -1)]}})
    with pytest.raises(InputError) as caught:
        score_annotations([create_evaluator("spotgeo")], LAWFUL, wrong)
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"epsilon": 10.0}, "epsilon"),
        ({"tau": 3.0}, "epsilon"),
        ({"tau": 0.0}, "tau"),
        ({"epsilon": -0.1}, "epsilon"),
        ({"profile": "leaderboard"}, "profile"),
        ({"maximum_detections": 0}, "maximum_detections"),
        ({"image_width": 0}, "image_width"),
    ],
)
def test_parameters_outside_their_bounds_are_refused_by_name(
    parameters: dict[str, object], field: str
) -> None:
    """0 <= epsilon < tau, and limits of at least 1."""
    with pytest.raises(ParameterError) as caught:
        create_evaluator("spotgeo", parameters)
    assert [fault.field for fault in caught.value.faults] == [field]


def test_epsilon_just_below_tau_is_allowed() -> None:
    assert create_evaluator("spotgeo", {"tau": 5, "epsilon": 4.999}).parameters.epsilon == 4.999
