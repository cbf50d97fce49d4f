"""Kinds of mistakes, confusion and sweeps over confidence, compared with counts and reports."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from tests.support.street import CAR, NOTHING, PERSON, scene_of, street

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.explanation.answer import (
    NARROW_SPACE,
    answer,
    ends,
    figure,
    in_words,
    percent,
)
from vidscore_evaluators.explanation.figures import Uncertainty, figure_rows
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.explanation.mistakes import confusion, kind_rows
from vidscore_evaluators.explanation.sweep import sweep_confidences
from vidscore_evaluators.outcome_table import OperatingPoint
from vidscore_evaluators.report_grids import format_number
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.trust.resampling import Interval


def test_kinds_and_gains_equal_those_of_the_report(tmp_path: Path) -> None:
    material = street(tmp_path, "errors")
    for row in kind_rows(material, OperatingPoint()):
        for index, system in enumerate(material.systems):
            report = material.reports[system][0]
            assert row.counts[index] == report.value(row.kind.name)
            assert row.gains[index] == report.value(f"ap_gain_{row.kind.name}")


def test_gains_are_known_only_for_all_detections(tmp_path: Path) -> None:
    material = street(tmp_path, "errors")
    rows = kind_rows(material, OperatingPoint(confidence=0.5))
    assert {gain for row in rows for gain in row.gains} == {None}
    assert {row.kind.name: row.counts for row in rows}["false_alarm"] == (0, 0)


def test_confusion_counts_labels_of_objects_against_those_of_detections(tmp_path: Path) -> None:
    """mole finds five of six cars and no person; its false positives are a car and a person."""
    material = street(tmp_path, "errors")
    judgement = material.judge(material.judges[0], OperatingPoint())
    falcon, mole = (confusion(one) for one in judgement.systems)
    assert falcon.labels == mole.labels == ("Car", "Person")
    assert falcon.counts.tolist() == [[6, 0, 0], [0, 3, 1], [1, 0, 0]]
    assert mole.counts.tolist() == [[5, 0, 1], [0, 0, 4], [1, 1, 0]]
    assert mole.frames.tolist() == [[0, -1, 5], [-1, -1, 0], [2, 2, -1]]


@pytest.mark.parametrize("evaluator", ["f1", "map", "errors"])
def test_a_sweep_has_the_counts_of_outcomes_at_each_confidence(
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


def test_neovision2_is_matched_again_at_each_confidence(tmp_path: Path) -> None:
    """The more confident detection covers half the car, and is right unless both are there."""
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
    """Only frame 0 counts: frame 1 is don't-care, and the truth has no frame 2."""
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


def test_a_wrong_label_on_a_found_object_counts_as_no_object(tmp_path: Path) -> None:
    truth = [("001", 0, "Car", CAR, 1.0, 1), ("001", 0, "Person", PERSON, 1.0, 2)]
    found = [*truth, ("001", 0, "Person", CAR, 0.8, 3)]
    material = scene_of(tmp_path, truth, found, "errors")
    counted = confusion(material.judge(material.judges[0], OperatingPoint()).systems[0])
    assert counted.labels == ("Car", "Person")
    assert counted.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("evaluator", ["f1", "map"])
def test_bands_lie_between_percentiles_of_drawn_sequences(tmp_path: Path, evaluator: str) -> None:
    """falcon finds 7 of 8 objects of Tower/001, with a false positive at 0.2; of Tower/002 both.

    If a draw has each of them twice, and both are of one domain, Student's t is 12.7 and all draws
    lie between the ends; as domains of their own, 2.5 % lie below 0.875 + 0.025 * 0.125.
    """
    material = street(tmp_path, evaluator)
    falcon, mole = sweep_confidences(material, material.judges[0])
    alone = [SequenceKey("day", "001"), SequenceKey("night", "002")]
    recall, precision = falcon.bands(np.array([[2, 0], [0, 2]]), alone)
    assert falcon.confidences.tolist() == [0.2, 0.3, 0.4, 0.8, 0.9]
    assert recall[0].tolist() == pytest.approx([0.878125] * 5)
    assert recall[1].tolist() == pytest.approx([0.996875] * 5)
    assert precision[0].tolist() == pytest.approx([0.878125, 1, 1, 1, 1])
    assert precision[1].tolist() == pytest.approx([0.996875, 1, 1, 1, 1])
    wider = falcon.bands(np.array([[2, 0], [0, 2]]), material.contest.sequences)[0]
    assert wider[0].tolist() == pytest.approx([0.875] * 5)
    assert wider[1].tolist() == pytest.approx([1.0] * 5)
    nothing_left = mole.bands(np.array([[1, 1]]), alone)[1]
    assert [bool(np.isnan(end[-1])) for end in nothing_left] == [True, True]


def test_bands_use_the_same_draws_as_intervals(tmp_path: Path) -> None:
    """In draws of the two sequences, each occurs as often as the other does not."""
    uncertainty = Uncertainty(street(tmp_path, "f1"), draws=50)
    assert uncertainty.times is not None
    assert uncertainty.times.shape == (50, 2)
    assert set(uncertainty.times.sum(axis=1).tolist()) == {2}
    assert Uncertainty(street(tmp_path, "f1"), draws=0).times is None


def test_detections_without_confidence_have_no_sweep(tmp_path: Path) -> None:
    material = street(tmp_path, "identity", systems=1)
    sides = {
        name: replace(side, confidences=np.ones(side.object_count))
        for name, side in material.contest.systems.items()
    }
    contest = replace(material.contest, systems=sides)
    material = type(material).of(contest, material.evaluators, material.reports)
    assert sweep_confidences(material, material.judges[0]) == []


def test_the_interval_of_a_difference_is_paired(tmp_path: Path) -> None:
    """For a system and itself it is empty, whatever sequences are drawn."""
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
    assert said.heading == "one and two cannot be told apart with so few sequences"
    assert said.doubts[0].startswith("2 sequences are too few to call a system better. ")


def test_the_answer_needs_enough_sequences_and_an_interval_that_excludes_zero(
    tmp_path: Path,
) -> None:
    """falcon finds nine objects with one false alarm, mole five with two, in two sequences."""
    material = street(tmp_path, "f1")
    uncertainty = Uncertainty(material, draws=30)
    judgement = material.judge(material.judges[0], OperatingPoint())

    def heading(enough: bool, *, pending: bool = False) -> str:
        rows = [replace(row, are_enough=enough) for row in figure_rows(material, uncertainty)]
        return answer(material, rows, judgement, pending=pending).heading

    assert heading(True, pending=True) == "falcon and mole: the intervals are being computed"
    few = "falcon and mole cannot be told apart with so few sequences"
    assert heading(False, pending=True) == few
    uncertainty.compute()
    assert figure_rows(material, uncertainty)[0].are_enough is False
    assert heading(False) == few
    assert heading(True) == "falcon finds more than mole, with fewer false alarms"


def test_copies_of_a_video_are_named(tmp_path: Path) -> None:
    """As of MOT17, whose videos come three times."""
    material = street(tmp_path, "f1")
    boxes = {frame: [Thing((frame, 0, 10 + frame, 10), "Car")] for frame in range(20)}
    truth = make_annotations({("", name): boxes for name in ("02-DPM", "02-SDP")}, arity=4)
    contest = type(material.contest)(truth, {"one": truth, "two": truth})
    reports = dict.fromkeys(("one", "two"), material.reports["falcon"])
    copied = type(material).of(contest, material.evaluators, reports)
    doubts = answer(copied, figure_rows(copied, Uncertainty(copied, 0)), None).doubts
    assert doubts[-1].startswith("02-DPM, 02-SDP have the same ground truth: ")


def test_one_sequence_in_each_domain_has_no_interval(tmp_path: Path) -> None:
    material = street(tmp_path, "f1")
    contest = material.contest
    keys = tuple(SequenceKey(key.sequence, key.sequence) for key in contest.truth.sequences)
    moved = type(contest)(
        replace(contest.truth, sequences=keys),
        {name: replace(side, sequences=keys) for name, side in contest.systems.items()},
    )
    apart = type(material).of(moved, material.evaluators, material.reports)
    uncertainty = Uncertainty(apart, draws=30)
    assert uncertainty.draws == 0
    said = answer(apart, figure_rows(apart, uncertainty), None)
    assert said.doubts[0].startswith("Each domain has only one sequence, so nothing can be said ")


def test_a_single_sequence_has_no_interval(tmp_path: Path) -> None:
    material = street(tmp_path, "f1")
    truth = material.contest.truth.take_frames(material.contest.truth.frame_sequences == 0)
    alone = type(material).of(
        type(material.contest)(truth, material.contest.systems),
        material.evaluators,
        material.reports,
    )
    assert Uncertainty(alone, draws=30).draws == 0


def test_digits_distinguish_close_systems(tmp_path: Path) -> None:
    material = street(tmp_path, "f1")
    [row, *_] = figure_rows(material, Uncertainty(material, 0))
    assert row.digits == 4
    close = replace(row, values=(0.1234511, 0.1234519))
    assert close.digits == 6


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.0027, 0.0884, "+0.003 to +0.088"),
        (-0.00004, 0.145, "-0.00004 to +0.14500"),
        (-0.0, 0.25, "0.000 to +0.250"),
        (-1e-15, 0.25, "-1e-15 to +0.250"),
        (12, 1500, "+12.000 to +1,500.000"),
    ],
)
def test_an_end_of_an_interval_is_not_0_unless_it_is(low: float, high: float, said: str) -> None:
    """Whether an interval excludes 0 is what it is looked at for."""
    shown = ends(Interval(0.1, low, high), signed=True)
    assert shown.replace("\N{MINUS SIGN}", "-") == said


def test_without_objects_the_answer_praises_nobody(tmp_path: Path) -> None:
    material = street(tmp_path, "map", systems=1)
    contest = material.contest
    nothing = contest.truth.take_objects(np.zeros(contest.truth.object_count, dtype=np.bool_))
    reports = {"falcon": score_annotations(material.evaluators, nothing, nothing)}
    empty = type(material).of(
        type(contest)(nothing, {"falcon": nothing}), material.evaluators, reports
    )
    judgement = empty.judge(empty.judges[0], OperatingPoint())
    said = answer(empty, figure_rows(empty, Uncertainty(empty, 0)), judgement)
    assert said.heading == "The AP of falcon is undefined"
    assert said.sentences == ("There is no object to find.",)


def test_sequences_are_named_only_if_they_have_many_of_the_mistakes(tmp_path: Path) -> None:
    """falcon's two mistakes are both in the first sequence; one miss in each of four is spread."""

    def said(material: Material) -> str:
        judgement = material.judge(material.judges[0], OperatingPoint())
        rows = figure_rows(material, Uncertainty(material, 0))
        return answer(material, rows, judgement).sentences[1]

    some = said(street(tmp_path, "f1"))
    assert some.startswith("One of two sequences, Tower/001, holds 100\N{NO-BREAK SPACE}% of its")
    rows = [(name, frame, "Car", CAR, 1.0, 1) for name in "abcd" for frame in (0, 1)]
    even = said(scene_of(tmp_path, rows, [row for row in rows if row[1] == 0], "f1"))
    assert even == (
        "Its mistakes are spread over the sequences; most of them are objects that are missed."
    )


def test_numbers_are_written_for_a_page() -> None:
    assert in_words(12) == "twelve"
    assert in_words(1234) == "1,234"
    assert percent(0.999) == "> 99\N{NO-BREAK SPACE}%"
    assert percent(0.001) == "< 1\N{NO-BREAK SPACE}%"
    assert percent(1.0) == "100\N{NO-BREAK SPACE}%"
    assert figure(-0.25, 2) == "\N{MINUS SIGN}0.25"
    assert figure(0.25, 2, signed=True) == "+0.25"
    assert figure(None) == "undefined"
    assert figure(np.float64(1234.5), 1) == "1,234.5"


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.99999, 4, "0.9999"),
        (-0.99999, 4, "\N{MINUS SIGN}0.9999"),
        (1234.99999, 4, "1,234.9999"),
        (1e-9, 4, "1e\N{MINUS SIGN}09"),
        (1.0, 4, "1.0000"),
        (0.99999, 5, "0.99999"),
        (1.0004, 2, "1.00"),
    ],
)
def test_a_fraction_is_never_shown_as_an_integer_as_in_a_terminal(
    value: float, digits: int, text: str
) -> None:
    assert figure(value, digits) == text


@pytest.mark.parametrize("digits", [2, 4])
def test_a_very_large_figure_does_not_widen_a_page_or_a_terminal(digits: int) -> None:
    """It had 309 digits; below 10^15 it is written in full."""
    assert figure(1e308, digits) == "1e+308"
    assert figure(-1.23456e15, digits) == "\N{MINUS SIGN}1.235e+15"
    assert figure(999_999_999_999_999.0, digits) == f"999,999,999,999,999.{'0' * digits}"
    assert format_number(1.23456e15) == "1.235e+15"
