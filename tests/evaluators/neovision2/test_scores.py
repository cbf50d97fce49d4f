"""NMOTDA, its averages, classes, and the content of a report (sections 3.2 to 3.4)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators.neovision2.helpers import (
    FAR,
    TEN,
    car,
    counts,
    points,
    score,
    score_frame,
    spared,
    video,
    warned,
)

from vidscore_evaluators.annotations import empty_annotations
from vidscore_evaluators.errors import GeometryError, ParameterError
from vidscore_evaluators.evaluator import Unit
from vidscore_evaluators.neovision2._input import ALL_CLASSES, TOWER_CLASSES
from vidscore_evaluators.neovision2.scores import ClassCounts, Costs, averages
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec, DomainSpec
from vidscore_evaluators.testing import Thing, make_annotations

# --- NMOTDA --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts_", "costs", "expected"),
    [
        pytest.param((10, 8, 3), (1, 1), 0.5, id="2 missed and 3 false of 10"),
        pytest.param((10, 10, 0), (1, 1), 1.0, id="perfect"),
        pytest.param((1, 0, 5), (1, 1), -5.0, id="there is no least value"),
        pytest.param((0, 0, 5), (1, 1), None, id="undefined without objects"),
        pytest.param((10, 8, 3), (2, 0.5), 0.45, id="4 and 1.5 of 10"),
        pytest.param((10, 0, 99), (0, 0), 1.0, id="no costs"),
    ],
)
def test_nmotda_is_one_minus_the_costs_per_object(
    counts_: tuple[int, int, int], costs: tuple[float, float], expected: float | None
) -> None:
    assert Costs(*costs).nmotda(ClassCounts(*counts_)) == expected


cost = st.floats(0, 1e9)
count = st.integers(0, 10**6)


@given(st.lists(st.tuples(count, count, count), max_size=4), cost, cost)
def test_scores_are_exact_and_rounded_once(
    numbers: list[tuple[int, int, int]], c_m: float, c_f: float
) -> None:
    several = [ClassCounts(missed + hits, hits, false) for missed, hits, false in numbers]
    total = sum(counts_.objects for counts_ in several)
    paid = sum(
        Fraction(c_m) * counts_.missed + Fraction(c_f) * counts_.false_positives
        for counts_ in several
        if counts_.objects
    )
    expected = float(1 - Fraction(paid) / total) if total else None
    assert Costs(c_m, c_f).weighted_mean(several) == expected


def test_averages_are_over_the_defined_values() -> None:
    """1 of 2 objects: 0.5; all of 6: 1; none of 1 and 2 false: -2. Undefined: 0 objects."""
    several = [
        ClassCounts(2, 1, 0),
        ClassCounts(6, 6, 0),
        ClassCounts(1, 0, 2),
        ClassCounts(0, 0, 9),
    ]
    assert averages(several, Costs(1, 1)) == {
        "weighted_mean_nmotda": (1 + 6 - 2) / 9,
        "mean_nmotda": -0.5 / 3,
        "median_nmotda": 0.5,
    }


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    several = [
        ClassCounts(4, 1, 0),
        ClassCounts(4, 3, 0),
        ClassCounts(4, 0, 0),
        ClassCounts(4, 4, 0),
    ]
    assert averages(several, Costs(1, 1))["median_nmotda"] == 0.5


def test_averages_of_nothing_are_undefined() -> None:
    assert set(averages([ClassCounts(0, 0, 1)], Costs(1, 1)).values()) == {None}


def test_a_domain_is_scored_over_all_frames_of_all_its_sequences() -> None:
    """0 of 1 found in one, 3 of 3 in the other: 1 - 1/4, not the mean of 0 and 1."""
    truth = make_annotations(
        {("Tower", "a"): {0: [car(*TEN)]}, ("Tower", "b"): {n: [car(*TEN)] for n in range(3)}}
    )
    detections = make_annotations({("Tower", "b"): {n: [car(*TEN)] for n in range(3)}})
    report = score(truth, detections)
    value = report.value
    assert value("nmotda", domain="Tower", label="Car") == 0.75
    assert value("nmotda", domain="Tower", label="Car", sequence="a") == 0
    assert value("nmotda", domain="Tower", label="Car", sequence="b") == 1
    assert value("detection_only_nmotda", domain="Tower", sequence="b") == 1
    assert value("evaluated_frames", domain="Tower", label="Car", sequence="b") == 3
    assert value("evaluated_frames", domain="Tower", label="Car") == 4
    assert warned(report) == {"sequences_without_detections": 1}


def test_averages_run_over_classes_domains_and_both() -> None:
    """Tower: Car 1/2, Person 0; Helicopter: Car 1 (of 2), Boat -1."""
    boat, person = Thing(FAR, "Boat"), Thing(FAR, "Person")
    truth = make_annotations(
        {
            ("Tower", "1"): {0: [car(*TEN), car(20, 0, 30, 10), person]},
            ("Helicopter", "1"): {0: [car(*TEN), car(20, 0, 30, 10), boat]},
        }
    )
    detections = make_annotations(
        {
            ("Tower", "1"): {0: [car(*TEN)]},
            ("Helicopter", "1"): {
                0: [car(*TEN), car(20, 0, 30, 10), Thing((40, 0, 50, 10), "Boat")]
            },
        }
    )
    value = score(truth, detections).value
    assert value("weighted_mean_nmotda", domain="Tower") == 1 / 3
    assert value("mean_nmotda", domain="Tower") == 0.25
    assert value("weighted_mean_nmotda", label="Car") == 0.75
    assert value("median_nmotda", label="Boat") == -1
    assert value("mean_nmotda", label="Bus") is None
    assert value("weighted_mean_nmotda") == (1 + 0 + 2 - 1) / 6
    assert value("mean_nmotda") == 0.125
    assert value("median_nmotda") == 0.25


# --- classes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "classes"),
    [
        ("Tower", TOWER_CLASSES),
        ("TOWERF", TOWER_CLASSES),
        ("tower-2", TOWER_CLASSES),
        ("Helicopter", ALL_CLASSES),
        ("heli", ALL_CLASSES),
        ("Harbour", ALL_CLASSES),
        ("", ALL_CLASSES),
    ],
)
def test_a_domains_name_decides_its_classes(domain: str, classes: tuple[str, ...]) -> None:
    report = score(video({0: []}, domain=domain), video({0: []}, domain=domain))
    reported = {
        row.label for row in report.rows() if row.measure == "nmotda" and row.domain == domain
    }
    assert reported == set(classes)
    assert len(ALL_CLASSES) == 10


def test_a_specification_can_say_otherwise() -> None:
    specification = BenchmarkSpec(domains=(DomainSpec("Tower", ("Tram", "car")),))
    report = score(
        video({0: [Thing(TEN, "TRAM"), Thing(FAR, "Bus")]}),
        video({0: [Thing(TEN, "tram")]}),
        specification,
    )
    assert counts(report, "Tram") == (1, 1, 0)
    assert counts(report, "car") == (0, 0, 0)
    assert {row.label for row in report.rows()} == {"Tram", "car", None}
    assert warned(report) == {"unlisted_objects": 1}


def test_a_domain_may_score_no_class_at_all() -> None:
    specification = BenchmarkSpec(domains=(DomainSpec("Tower", ()),))
    report = score(video({0: [car(*TEN)]}), video({0: [car(*TEN)]}), specification)
    assert counts(report, None) == (1, 1, 0)
    assert report.value("weighted_mean_nmotda", domain="Tower") is None
    assert warned(report) == {"unlisted_objects": 1, "unlisted_detections": 1}


def test_domains_may_write_a_class_in_different_ways() -> None:
    """Averages over domains treat both as one class, with the first domain's name for it."""
    specification = BenchmarkSpec(domains=(DomainSpec("A", ("CAR",)), DomainSpec("B", ("car",))))
    truth = make_annotations({(d, "1"): {0: [car(*TEN)]} for d in "AB"})
    report = score(truth, make_annotations({("B", "1"): {0: [car(*TEN)]}}), specification)
    assert report.value("nmotda", domain="B", label="car") == 1
    assert report.value("mean_nmotda", label="CAR") == 0.5


def test_case_does_not_matter_and_reports_use_the_lists_names() -> None:
    report = score_frame([Thing(TEN, "cAR")], [Thing(TEN, "CAR")])
    assert counts(report, "Car") == (1, 1, 0)


def test_other_labels_are_counted_and_take_no_part_in_classes() -> None:
    """A boat is not a class of the tower domain; a don't-care object's label does not matter."""
    truth = [Thing(TEN, "Boat"), spared(*FAR, label="Ambiguous")]
    report = score_frame(truth, [Thing(TEN, "DCR"), Thing(TEN, "Ambiguous")])
    assert all(counts(report, label) == (0, 0, 0) for label in TOWER_CLASSES)
    assert counts(report, None) == (1, 1, 0)
    assert warned(report) == {"unlisted_objects": 1, "unlisted_detections": 2}


def test_flags_of_detections_are_ignored() -> None:
    """A detector cannot remove its own detections."""
    flagged = [Thing(TEN, "Car", flags=flag) for flag in (1, 4)]
    assert counts(score_frame([car(*TEN)], flagged)) == (1, 1, 1)


# --- the report ----------------------------------------------------------------------------------


def test_an_empty_input_has_undefined_averages_and_no_domains() -> None:
    report = score(empty_annotations(8), empty_annotations(4))
    assert [row[:3] for row in report.rows()] == [(None, None, None)] * 3
    assert {row.value for row in report.rows()} == {None}
    assert report.curves == ()
    assert [warning.code for warning in report.warnings] == ["no_objects"]


def test_a_listed_class_without_objects_has_counts_and_an_undefined_score() -> None:
    report = score_frame([], [car(*TEN)])
    assert counts(report) == (0, 0, 1)
    assert report.value("nmotda", domain="Tower", label="Car") is None
    assert report.value("az", domain="Tower", label="Car") is None
    assert counts(report, None) == (0, 0, 1)
    assert report.value("detection_only_nmotda", domain="Tower") is None


def test_costs_affect_every_score() -> None:
    """One of two objects missed and one false: 1 - (0.5 + 0.25) / 2."""
    report = score_frame([car(*TEN), car(20, 0, 30, 10)], [car(*TEN), car(*FAR)], c_m=0.5, c_f=0.25)
    assert report.value("nmotda", domain="Tower", label="Car") == 0.625
    assert report.value("detection_only_nmotda", domain="Tower") == 0.625
    assert report.value("weighted_mean_nmotda") == 0.625


def test_the_two_public_domains_have_fifteen_class_scores_and_two_for_detection_only() -> None:
    truth = make_annotations({(d, "1"): {0: [car(*TEN)]} for d in ("Tower", "Helicopter")})
    rows = [row for row in score(truth, truth).rows() if row.domain and not row.sequence]
    assert sum(row.measure == "nmotda" for row in rows) == 15
    assert sum(row.measure == "detection_only_nmotda" for row in rows) == 2


def test_the_ranking_is_by_the_weighted_mean_over_everything() -> None:
    evaluator = create_evaluator("neovision2")
    truth = video({0: [car(*TEN), car(*FAR)]})
    better = score(truth, video({0: [car(*TEN)]}))
    worse = score(truth, video({0: []}))
    undefined = score(video({0: []}), video({0: []}))
    keys = [evaluator.rank_key(report) for report in (undefined, worse, better)]
    assert sorted(keys) == keys[::-1]


def test_points_are_refused() -> None:
    with pytest.raises(GeometryError, match="corners or upright boxes"):
        score(empty_annotations(2), empty_annotations(4))


@pytest.mark.parametrize(
    "wrong",
    [
        {"overlap_threshold": 0},
        {"overlap_threshold": 1.1},
        {"region_share": -0.1},
        {"c_m": -1},
        {"confidence_threshold": 1.5},
        {"frames": "some"},
        {"merged_shape": "hull"},
        {"thresholds": "eleven"},
        {"az_limit": 0},
    ],
)
def test_parameters_outside_their_bounds_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        create_evaluator("neovision2", wrong)


def test_whole_sequences_are_needed_only_if_the_last_frame_decides() -> None:
    assert create_evaluator("neovision2").unit is Unit.FRAME
    assert create_evaluator("neovision2", {"frames": "all"}).unit is Unit.SEQUENCE


# --- the protocol's own example: a system's output of Table 4, against its true objects -----------


FIRST = (701, 489, 870, 489, 870, 560, 701, 560)
SECOND = (861, 768, 1051, 768, 1051, 839, 861, 839)
THIRD = (452, 492, 621, 492, 621, 563, 452, 563)

OUTPUT = {
    0: [Thing(FIRST, "Car")],
    4: [Thing(SECOND, "Car"), Thing(THIRD, "Car", 0.5), Thing(THIRD, "Truck", 0.7)],
}
TRUTH = {0: [Thing(FIRST, "Car")], 4: [Thing(SECOND, "Car"), Thing(THIRD, "Car")]}


def test_of_two_labels_of_a_box_the_right_one_is_rewarded_and_the_wrong_one_penalised() -> None:
    """The last two rows are one box; its truth here is a car."""
    key = ("TowerF", "001")
    report = score(make_annotations({key: TRUTH}), make_annotations({key: OUTPUT}))
    of = {"domain": "TowerF"}
    assert counts(report, "Car", **of) == (3, 3, 0)
    assert counts(report, "Truck", **of) == (0, 0, 1)
    assert counts(report, None, **of) == (3, 3, 0)
    assert report.value("nmotda", label="Car", **of) == 1
    assert report.value("nmotda", label="Truck", **of) is None
    assert report.value("evaluated_frames", label="Car", **of) == 2


def test_its_confidences_give_its_curves() -> None:
    """The car of the last box counts from 0.45 down, its truck and the merged box from 0.65."""
    key = ("Tower", "001")
    report = score(make_annotations({key: TRUTH}), make_annotations({key: OUTPUT}))
    cars, trucks, merged = (points(report, label) for label in ("Car", "Truck", None))
    assert (cars[0.95], cars[0.55], cars[0.45]) == ((2, 0), (2, 0), (3, 0))
    assert (trucks[0.75], trucks[0.65]) == ((0, 0), (0, 1))
    assert (merged[0.75], merged[0.65]) == ((2, 0), (3, 0))
