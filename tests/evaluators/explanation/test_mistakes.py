"""Kinds of mistakes, confusion and sweeps over confidence, held to counts and to reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.support.street import CAR, NOTHING, PERSON, scene_of, street

from vidscore_evaluators.explanation.answer import NARROW_SPACE, answer, figure, in_words, percent
from vidscore_evaluators.explanation.figures import Uncertainty, figure_rows
from vidscore_evaluators.explanation.mistakes import confusion, kind_rows
from vidscore_evaluators.explanation.sweep import sweep_confidences
from vidscore_evaluators.outcome_table import OperatingPoint


def test_kinds_and_gains_are_those_of_the_report(tmp_path: Path) -> None:
    material = street(tmp_path, "errors")
    for row in kind_rows(material, OperatingPoint()):
        for index, system in enumerate(material.systems):
            report = material.reports[system][0]
            assert row.counts[index] == report.value(row.kind.name)
            assert row.gains[index] == report.value(f"ap_gain_{row.kind.name}")


def test_gains_are_known_of_all_detections_alone(tmp_path: Path) -> None:
    material = street(tmp_path, "errors")
    rows = kind_rows(material, OperatingPoint(confidence=0.5))
    assert {gain for row in rows for gain in row.gains} == {None}
    assert {row.kind.name: row.counts for row in rows}["false_alarm"] == (0, 0)


def test_confusion_counts_labels_of_objects_against_those_of_detections(tmp_path: Path) -> None:
    """mole finds five of six cars and no person; its false alarms are a car and a person."""
    material = street(tmp_path, "errors")
    judgement = material.judge(material.judges[0], OperatingPoint())
    falcon, mole = (confusion(one) for one in judgement.systems)
    assert falcon.labels == mole.labels == ("Car", "Person")
    assert falcon.counts.tolist() == [[6, 0, 0], [0, 3, 1], [1, 0, 0]]
    assert mole.counts.tolist() == [[5, 0, 1], [0, 0, 4], [1, 1, 0]]
    assert mole.frames.tolist() == [[0, -1, 5], [-1, -1, 0], [2, 2, -1]]


@pytest.mark.parametrize("evaluator", ["f1", "map", "errors"])
def test_a_sweep_counts_what_outcomes_at_each_confidence_count(
    tmp_path: Path, evaluator: str
) -> None:
    material = street(tmp_path, evaluator)
    for index, sweep in enumerate(sweep_confidences(material, material.judges[0])):
        assert sweep.objects == 10
        for place, confidence in enumerate(sweep.confidences.tolist()):
            at = OperatingPoint(confidence=confidence)
            total = material.judge(material.judges[0], at).systems[index].counts.total()
            assert sweep.hits[place] == total.hits[0]
            assert sweep.false_alarms[place] == total.false_alarms[0]


def test_neovision2_is_matched_anew_at_each_confidence(tmp_path: Path) -> None:
    """The surer detection overlaps half the car, and is right unless the other one is there too."""
    truth = [("001", 0, "Car", CAR, 1.0, 1)]
    found = [
        ("001", 0, "Car", (10, 10, 50, 30), 0.9, 1),
        ("001", 0, "Car", CAR, 0.3, 2),
    ]
    material = scene_of(tmp_path, truth, found, "neovision2")
    [sweep] = sweep_confidences(material, material.judges[0])
    assert sweep.confidences.tolist() == [0.3, 0.9]
    assert sweep.hits.tolist() == [1, 1]
    assert sweep.false_alarms.tolist() == [1, 0]


def test_false_alarms_are_divided_by_the_frames_that_count(tmp_path: Path) -> None:
    """Frame 0 alone counts: truth does not care for frame 1, and does not know frame 2."""
    truth = [("001", frame, "Car", CAR, 1.0, 1) for frame in (0, 1)]
    found = [*truth, *(("001", frame, "Car", NOTHING, 0.5, 2) for frame in (0, 1, 2))]
    material = scene_of(tmp_path, truth, found, "log-amr", dont_care_frames=[1])
    [sweep] = sweep_confidences(material, material.judges[0])
    assert sweep.false_alarms_per_frame.tolist() == [1.0, 0.0]
    judgement = material.judge(material.judges[0], OperatingPoint())
    said = answer(material, [], judgement).heading
    assert (
        said == f"found finds 100{NARROW_SPACE}% of the objects, with 1.00 false alarms per frame"
    )


def test_a_wrong_label_on_an_object_that_is_found_stands_with_no_object(tmp_path: Path) -> None:
    truth = [("001", 0, "Car", CAR, 1.0, 1), ("001", 0, "Person", PERSON, 1.0, 2)]
    found = [*truth, ("001", 0, "Person", CAR, 0.8, 3)]
    material = scene_of(tmp_path, truth, found, "errors")
    counted = confusion(material.judge(material.judges[0], OperatingPoint()).systems[0])
    assert counted.labels == ("Car", "Person")
    assert counted.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("evaluator", ["f1", "map"])
def test_bands_lie_between_percentiles_of_drawn_sequences(tmp_path: Path, evaluator: str) -> None:
    """Of Tower/001 falcon finds 7 of 8 objects, with an alarm at 0.2; of Tower/002 both, with none.

    Of one draw with each of them twice, 2.5 % lie below 0.875 + 0.025 * 0.125.
    """
    material = street(tmp_path, evaluator)
    falcon, mole = sweep_confidences(material, material.judges[0])
    recall, precision = falcon.bands(np.array([[2, 0], [0, 2]]))
    assert falcon.confidences.tolist() == [0.2, 0.3, 0.4, 0.8, 0.9]
    assert recall[0].tolist() == pytest.approx([0.878125] * 5)
    assert recall[1].tolist() == pytest.approx([0.996875] * 5)
    assert precision[0].tolist() == pytest.approx([0.878125, 1, 1, 1, 1])
    assert precision[1].tolist() == pytest.approx([0.996875, 1, 1, 1, 1])
    nothing_left = mole.bands(np.array([[1, 1]]))[1]
    assert [bool(np.isnan(end[-1])) for end in nothing_left] == [True, True]


def test_bands_are_of_the_draws_that_intervals_are_of(tmp_path: Path) -> None:
    """Draws of both of the two sequences have each of them as often as the other is not drawn."""
    uncertainty = Uncertainty(street(tmp_path, "f1"), draws=50)
    assert uncertainty.times is not None
    assert uncertainty.times.shape == (50, 2)
    assert set(uncertainty.times.sum(axis=1).tolist()) == {2}
    assert Uncertainty(street(tmp_path, "f1"), draws=0).times is None


def test_what_has_no_confidence_has_no_sweep(tmp_path: Path) -> None:
    material = street(tmp_path, "identity", systems=1)
    for side in material.contest.systems.values():
        side.confidences[:] = 1.0
    assert sweep_confidences(material, material.judges[0]) == []


def test_the_interval_of_a_difference_is_paired(tmp_path: Path) -> None:
    """Of a system with itself it is nothing, on whatever sequences both are scored."""
    material = street(tmp_path, "f1")
    contest = type(material.contest)(
        material.contest.truth, dict.fromkeys(("one", "two"), material.contest.systems["falcon"])
    )
    reports = dict.fromkeys(("one", "two"), material.reports["falcon"])
    same = type(material).of(contest, material.evaluators, reports)
    uncertainty = Uncertainty(same, draws=30)
    uncertainty.compute()
    for row in figure_rows(same, uncertainty):
        interval = row.difference_interval
        assert interval is not None
        assert (row.difference, interval.low, interval.high) == (0.0, 0.0, 0.0)
        assert row.told_apart is False
    said = answer(same, figure_rows(same, uncertainty), None)
    assert said.heading == "one and two cannot be told apart"
    assert said.doubt[0] == "Two sequences are very few."


def test_a_single_sequence_has_no_interval(tmp_path: Path) -> None:
    material = street(tmp_path, "f1")
    truth = material.contest.truth.take_frames(material.contest.truth.frame_sequences == 0)
    alone = type(material).of(
        type(material.contest)(truth, material.contest.systems),
        material.evaluators,
        material.reports,
    )
    assert Uncertainty(alone, draws=30).draws == 0


def test_digits_tell_close_systems_apart(tmp_path: Path) -> None:
    material = street(tmp_path, "f1")
    [row, *_] = figure_rows(material, Uncertainty(material, 0))
    assert row.digits == 4
    close = type(row)(row.evaluator, row.measure, (0.1234511, 0.1234519), (None, None), None)
    assert close.digits == 6


def test_numbers_are_said_as_a_page_says_them() -> None:
    assert in_words(12) == "twelve"
    assert in_words(1234) == "1,234"
    assert percent(0.999) == "> 99\N{NO-BREAK SPACE}%"
    assert percent(0.001) == "< 1\N{NO-BREAK SPACE}%"
    assert percent(1.0) == "100\N{NO-BREAK SPACE}%"
    assert figure(-0.25, 2) == "\N{MINUS SIGN}0.25"
    assert figure(0.25, 2, signed=True) == "+0.25"
    assert figure(None) == "undefined"
    assert figure(np.float64(1234.5), 1) == "1,234.5"
