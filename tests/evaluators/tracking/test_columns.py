"""The further columns of trackeval's tables, means over classes, and HOTA at chosen thresholds."""

from __future__ import annotations

import math

import pytest
from tests.evaluators.presets.trackeval_tables import ALL_METRICS
from tests.evaluators.tracking.test_agreement import report_of
from tests.evaluators.tracking.tracking_data import random_tracking, sequence_of, trackeval_data

from vidscore_evaluators import score
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.jobs import sweep
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Case, Thing, make_annotations

SCENE = random_tracking(3)
BOX = (0.0, 0.0, 10.0, 10.0)
OTHER = (50.0, 0.0, 60.0, 10.0)


def two_classes(*found: Thing) -> Case:
    """A car and a bus in two frames, the bus not found."""
    truth = [Thing(BOX, "car", track_id=1), Thing(OTHER, "bus", track_id=2)]
    sides = [{("", "s"): dict.fromkeys((0, 1), things)} for things in (truth, [*found])]
    return Case(*(make_annotations(frames, arity=4) for frames in sides))


FOUND = Thing(BOX, "car", 0.9, 7)


@pytest.mark.parametrize("step", range(19))
def test_hota_at_one_threshold_equals_that_of_trackeval(step: int) -> None:
    """Of one sequence, at each of the 19 thresholds."""
    alone = sequence_of(SCENE, "s0")
    expected = ALL_METRICS["HOTA"].eval_sequence(trackeval_data(alone))
    report = report_of("hota", alone, thresholds=[(step + 1) / 20])
    for measure, field in (("hota", "HOTA"), ("ass_a", "AssA"), ("owta", "OWTA")):
        assert report.value(measure) == pytest.approx(expected[field][step], abs=1e-9)
    assert report.value("hota_0") == pytest.approx(expected["HOTA(0)"], abs=1e-9)


def test_hota_over_chosen_thresholds_is_the_mean_of_the_figures_at_each() -> None:
    chosen = (0.33, 0.5, 0.9)
    each = [report_of("hota", SCENE, thresholds=[value]).value("hota") for value in chosen]
    together = report_of("hota", SCENE, thresholds=chosen)
    assert together.value("hota") == pytest.approx(math.fsum(filter(None, each)) / 3, abs=1e-12)
    assert [*together.curve("hota_by_threshold").columns["threshold"]] == [*chosen]


def test_a_sweep_of_hota_equals_each_threshold_alone() -> None:
    """To the last bit, out of one tally."""
    swept = sweep(create_evaluator("hota"), "thresholds", *SCENE)
    assert len(swept) == 19
    for value, scores in swept.items():
        assert scores.blocks == report_of("hota", SCENE, thresholds=[value]).scores.blocks


def test_hota_without_a_threshold_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        create_evaluator("hota", {"thresholds": []})


def test_means_over_classes_count_only_classes_of_the_truth() -> None:
    """A car found, a bus missed and a false tram: 1 and 0; pooled, MOTA is (2 - 2) / 4."""
    case = two_classes(FOUND, Thing(OTHER, "tram", 0.8, 8))
    assert report_of("clear", case).value("mota_class_mean") == 0.5
    assert report_of("clear", case).value("mota") == 0.0
    assert report_of("hota", case).value("hota_class_mean") == pytest.approx(0.5, abs=1e-15)
    assert report_of("identity", case).value("idf1_class_mean") == 0.5


def test_a_class_with_as_many_misses_as_matches_counts_in_the_mean() -> None:
    """A car found in one of two frames, MOTA 1/2, beside a bus that is always found."""
    bus = Thing(OTHER, "bus", 0.8, 8)
    truth, found = two_classes(FOUND, bus)
    half = make_annotations({("", "s"): {0: [FOUND, bus], 1: [bus]}}, arity=4)
    assert report_of("clear", Case(truth, half)).value("mota_class_mean") == 0.75
    assert report_of("clear", Case(truth, found)).value("mota_class_mean") == 1.0


def test_without_classes_the_mean_over_classes_is_the_figure_itself() -> None:
    report = report_of("clear", SCENE)
    assert report.value("mota_class_mean") == report.value("mota")


def test_objects_detections_and_tracks_are_counted() -> None:
    report = report_of("clear", two_classes(FOUND))
    names = ("truth_objects", "detections", "truth_tracks", "detection_tracks")
    assert [report.value(name) for name in names] == [4, 2, 2, 1]
    assert [report.value(name, label="bus") for name in names] == [2, 0, 1, 0]


def test_motal_uses_the_logarithm_of_the_id_switches() -> None:
    """Four frames of one object with a new track in each: three switches in four objects."""
    truth = {("", "s"): {frame: [Thing(BOX, track_id=1)] for frame in range(4)}}
    found = {("", "s"): {frame: [Thing(BOX, "", 0.9, frame)] for frame in range(4)}}
    report = score("clear", make_annotations(truth), make_annotations(found))
    assert report.value("mota") == 0.25
    assert report.value("motal") == pytest.approx(1 - math.log10(3) / 4, abs=1e-15)


def test_false_positives_per_frame_equal_those_of_trackeval() -> None:
    """Frames of sequences with an empty side do not count, although their errors do."""
    there, stray = Thing(BOX, track_id=1), Thing(OTHER, "", 0.9, 8)
    truth = make_annotations(
        {("", "a"): {0: [there], 1: [there]}, ("", "b"): {0: [], 1: []}}, arity=4
    )
    found = make_annotations(
        {("", "a"): {0: [stray], 1: []}, ("", "b"): {0: [stray], 1: [stray]}}, arity=4
    )
    case = Case(truth, found)
    metric = ALL_METRICS["CLEAR"]
    own = {name: metric.eval_sequence(trackeval_data(sequence_of(case, name))) for name in "ab"}
    expected = metric.combine_sequences(own)["FP_per_frame"]
    report = report_of("clear", case)
    assert report.value("false_positives_per_frame") == expected == 1.5
    assert report.value("false_positives_per_frame", sequence="b") is None
