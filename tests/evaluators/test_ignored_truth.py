"""Limits, distractors of one label, competitors and forgiven heights, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from vidscore_evaluators import score
from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.errors import InputError, ParameterError
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec, DomainSpec
from vidscore_evaluators.testing import Thing, make_annotations

HERE = (0.0, 0.0, 30.0, 30.0)
NEAR = (3.0, 0.0, 33.0, 30.0)  # IoU with HERE: 27 / 33
BESIDE = (100.0, 0.0, 130.0, 30.0)
LOW = (200.0, 7.0, 230.0, 32.0)
VIDEO = ("", "s")


def side(*things: Thing) -> Annotations:
    return make_annotations({VIDEO: {0: list(things)}}, arity=4)


def counts(truth: Annotations, found: Annotations, **parameters: Any) -> tuple[object, ...]:
    """Objects, matches and false positives by CLEAR."""
    specification = BenchmarkSpec(domains=(DomainSpec("", ("Car", "Pedestrian")),))
    report = score("clear", truth, found, specification=specification, **parameters)
    return tuple(report.value(name) for name in ("truth_objects", "matches", "false_positives"))


def car(box: tuple[float, ...], track: int, **columns: float) -> Thing:
    return Thing(box, "Car", 1.0, track, columns=columns)


FOUND = side(Thing(HERE, "Car", 0.9, 7), Thing(BESIDE, "Car", 0.8, 8))


@pytest.mark.parametrize(
    ("columns", "limit", "value"),
    [
        ({"truncation": 0.5}, "maximum_truncation", 0.25),
        ({"occlusion": 3.0}, "maximum_occlusion", 2.0),
        ({"visibility": 0.2}, "minimum_visibility", 0.25),
    ],
)
def test_an_object_beyond_a_limit_is_ignored_and_absorbs(
    columns: dict[str, float], limit: str, value: float
) -> None:
    """Without the limit both are matched; with it one object is left, and nothing is false."""
    [name] = columns
    level = {"visibility": 1.0}.get(name, 0.0)
    truth = side(car(HERE, 1, **{name: level}), car(BESIDE, 2, **columns))
    assert counts(truth, FOUND) == (2, 2, 0)
    assert counts(truth, FOUND, **{limit: value}) == (1, 1, 0)
    for tolerance in (1e-9, 0.0):
        assert counts(truth, FOUND, **{limit: columns[name]}, threshold_tolerance=tolerance) == (
            2,
            2,
            0,
        )


def test_an_unknown_level_is_never_beyond_a_limit() -> None:
    truth = side(car(HERE, 1, occlusion=0.0), car(BESIDE, 2))
    assert counts(truth, FOUND, maximum_occlusion=0) == (2, 2, 0)


def test_without_a_limit_no_level_is_beyond_it() -> None:
    """This includes levels outside every scale."""
    truth = side(car(HERE, 1, visibility=-1.0), car(BESIDE, 2, truncation=9.0, occlusion=9.0))
    assert counts(truth, FOUND) == (2, 2, 0)


def test_an_object_below_the_minimum_height_is_ignored() -> None:
    truth, found = side(car(HERE, 1), car(LOW, 2)), side(car(LOW, 7))
    for tolerance in (1e-9, 0.0):
        limits = {"minimum_height_px": 25, "threshold_tolerance": tolerance}
        assert counts(truth, found, **limits) == (2, 1, 0)
    assert counts(truth, found, minimum_height_px=26) == (1, 0, 0)
    flat = (200.0, 7.0, 230.0, 7.25)
    assert counts(side(car(flat, 2)), side(car(flat, 7)), minimum_height_px=0.5) == (0, 0, 0)


@pytest.mark.parametrize("tolerance", [1e-9, 0.0])
def test_exactly_the_threshold_is_enough_to_absorb(tolerance: float) -> None:
    """Half of the detection is inside the object, which has nothing outside: an IoU of 0.5."""
    ignored = Thing((0.0, 0.0, 30.0, 15.0), "Car", 1.0, 1, ObjectFlag.IGNORE)
    truth, found = side(ignored), side(car(HERE, 7))
    assert counts(truth, found, dont_care="mots", threshold_tolerance=tolerance) == (0, 0, 0)


def test_an_unmatched_detection_up_to_the_forgiven_height_is_not_counted() -> None:
    truth, found = side(car(HERE, 1)), side(car(HERE, 7), car(LOW, 8))
    assert counts(truth, found, forgiven_height_px=24) == (1, 1, 1)
    assert counts(truth, found, forgiven_height_px=25) == (1, 1, 0)
    assert counts(truth, found, forgiven_height_px=30) == (1, 1, 0)  # Matched detections stay.


@pytest.mark.parametrize("name", ["f1", "map", "clear"])
def test_every_criterion_forgives_small_detections(name: str) -> None:
    truth, found = side(car(HERE, 1)), side(car(HERE, 7), car(LOW, 8))
    measure = {"f1": "f1", "map": "ap", "clear": "mota"}[name]
    assert score(name, truth, found, forgiven_height_px=25).value(measure) == 1.0


@pytest.mark.parametrize("rule", ["standard", "motchallenge", "kitti", "mots", "visdrone"])
def test_an_ignored_object_absorbs_even_if_the_truth_has_nothing_else(rule: str) -> None:
    truth, found = side(Thing(HERE, "Car", 1.0, 1, ObjectFlag.IGNORE)), side(car(HERE, 7))
    assert counts(truth, found, dont_care=rule) == (0, 0, 0)


def test_a_removed_object_leaves_its_detection_false() -> None:
    ignored = Thing(BESIDE, "Car", 1.0, 2, ObjectFlag.IGNORE)
    truth = side(car(HERE, 1), ignored)
    assert counts(truth, FOUND) == (1, 1, 0)
    assert counts(truth, FOUND, ignored_objects="drop") == (1, 1, 1)


def test_a_neighbour_absorbs_only_detections_of_its_label() -> None:
    truth = side(Thing(HERE, "Van", 1.0, 1), Thing(BESIDE, "Van", 1.0, 2))
    found = side(Thing(HERE, "Car", 0.9, 7), Thing(BESIDE, "Pedestrian", 0.8, 8))
    assert counts(truth, found) == (0, 0, 2)
    assert counts(truth, found, neighbour_classes=["Van=Car"]) == (0, 0, 1)


def test_an_unscored_object_keeps_a_detection_from_a_distractor() -> None:
    """A tram matches the detection, which is then false; without it a distractor removes it."""
    truth = side(
        Thing(HERE, "Tram", 1.0, 1), Thing(NEAR, "poster", 1.0, 2), Thing(BESIDE, "Car", 1.0, 3)
    )
    found = side(Thing(HERE, "Car", 0.9, 7))
    rule: dict[str, Any] = {"dont_care": "motchallenge", "distractor_classes": ["poster"]}
    assert counts(truth, found, **rule) == (1, 0, 0)
    assert counts(truth, found, **rule, match_unscored_classes=True) == (1, 0, 1)


def test_kitti_forgives_by_a_single_region_only() -> None:
    """Two regions of 40 % each make 80 % together, but neither has half."""
    parts = ((0.0, 0.0, 12.0, 30.0), (18.0, 0.0, 30.0, 30.0))
    regions = [Thing(part, "DontCare", flags=ObjectFlag.REGION) for part in parts]
    truth, found = side(*regions), side(car(HERE, 7))
    assert counts(truth, found) == (0, 0, 0)
    assert counts(truth, found, dont_care="kitti") == (0, 0, 1)


def test_a_missing_column_is_named_with_its_source() -> None:
    """One fault per column, whatever the criterion."""
    truth = side(car(HERE, 1))
    with pytest.raises(InputError) as caught:
        score("f1", truth, FOUND, maximum_truncation=0, minimum_visibility=0.5)
    assert [str(fault) for fault in caught.value.faults] == [
        (
            "truth, columns.truncation: found truth without the column truncation, expected the "
            "truncation of each object, because a limit is set for it; the formats kitti-tracking, "
            "visdrone-det and visdrone-mot have it; in generic-csv it is a column truncation"
        ),
        (
            "truth, columns.visibility: found truth without the column visibility, expected the "
            "visibility of each object, because a limit is set for it; the format motchallenge has "
            "it, "
            "in truth of nine columns; in generic-csv it is a column visibility"
        ),
    ]


def test_the_rule_of_kitti_says_that_it_is_incomplete_until_its_limits_are_set() -> None:
    truth = side(car(HERE, 1, truncation=0.0, occlusion=0.0))
    whole: dict[str, Any] = {
        "maximum_truncation": 0,
        "maximum_occlusion": 2,
        "forgiven_height_px": 25,
    }
    nothing: dict[str, Any] = {}
    for parameters, codes in ((nothing, ["rule_incomplete"]), (whole, [])):
        report = score("clear", truth, FOUND, dont_care="kitti", **parameters)
        assert [warning.code for warning in report.warnings] == codes


@pytest.mark.parametrize("name", ["clear", "coco"])
@pytest.mark.parametrize("entry", ["Van", "Van=", "=Car"])
def test_an_invalid_pair_of_neighbouring_labels_is_refused(name: str, entry: str) -> None:
    with pytest.raises(ParameterError, match="two labels, such as Van=Car"):
        create_evaluator(name, {"neighbour_classes": [entry]})


def test_a_tolerance_at_which_every_object_would_lie_in_a_region_is_refused() -> None:
    """visdrone removes what lies in regions by half. One region would remove all other objects."""
    create_evaluator("f1", {"dont_care": "visdrone", "threshold_tolerance": 0.49})
    create_evaluator("f1", {"dont_care": "standard", "threshold_tolerance": 0.5})
    with pytest.raises(ParameterError, match=r"threshold_tolerance: found 0\.5 .* less than 0\.5"):
        create_evaluator("f1", {"dont_care": "visdrone", "threshold_tolerance": 0.5})


@pytest.mark.parametrize("limit", ["minimum_height_px", "forgiven_height_px"])
def test_points_have_no_height(limit: str) -> None:
    with pytest.raises(ParameterError, match=f"{limit}: .* points have none"):
        create_evaluator("f1", {"base": "euclidean", limit: 25})
