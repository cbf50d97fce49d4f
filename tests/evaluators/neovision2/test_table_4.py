"""The protocol's own example of a system output (section 4, Table 4), against its true objects."""

from __future__ import annotations

from tests.evaluators.neovision2.helpers import counts, points, score

from vidscore_evaluators.testing import Thing, make_annotations

FIRST = (701, 489, 870, 489, 870, 560, 701, 560)
SECOND = (861, 768, 1051, 768, 1051, 839, 861, 839)
THIRD = (452, 492, 621, 492, 621, 563, 452, 563)

OUTPUT = {
    0: [Thing(FIRST, "Car")],
    4: [Thing(SECOND, "Car"), Thing(THIRD, "Car", 0.5), Thing(THIRD, "Truck", 0.7)],
}
TRUTH = {0: [Thing(FIRST, "Car")], 4: [Thing(SECOND, "Car"), Thing(THIRD, "Car")]}


def test_of_two_labels_of_a_box_the_right_one_is_awarded_and_the_wrong_one_penalised() -> None:
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


def test_its_confidences_make_its_curves() -> None:
    """The car of the last box counts from 0.45 down, its truck and the merged box from 0.65."""
    key = ("Tower", "001")
    report = score(make_annotations({key: TRUTH}), make_annotations({key: OUTPUT}))
    cars, trucks, merged = (points(report, label) for label in ("Car", "Truck", None))
    assert (cars[0.95], cars[0.55], cars[0.45]) == ((2, 0), (2, 0), (3, 0))
    assert (trucks[0.75], trucks[0.65]) == ((0, 0), (0, 1))
    assert (merged[0.75], merged[0.65]) == ((2, 0), (3, 0))
