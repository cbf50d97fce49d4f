"""Figures of outcomes equal the report's: points of curves, and scores at other thresholds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import BOX, ObjectFlag, empty_annotations
from vidscore_evaluators.evaluator import Evaluator, Needs
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Curve, Number, Report
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

EVERY_FLAG = (0, 0, 0, 0, *(flag.value for flag in ObjectFlag))

SCENES = cases(Needs((BOX,), (BOX,), confidences=True), object_flags=EVERY_FLAG)
SURE_SCENES = cases(
    Needs((BOX,), (BOX,), confidences=True, unit_confidences=True), object_flags=EVERY_FLAG
)
"""Confidences from 0 to 1, which an optimal assignment needs."""

THRESHOLDS = (0.3, 0.5, 0.75)


def report_of(evaluator: Evaluator[Any], case: Case) -> Report:
    return evaluator.report(evaluator.tally(*case))


def sure_enough(case: Case, confidence: float) -> Case:
    """The case without the detections below a confidence."""
    detections = case.detections
    return Case(case.truth, detections.take_objects(detections.confidences >= confidence))


def points_of(
    evaluator: Evaluator[Any], case: Case, threshold: float, domain: str | None, label: str
) -> list[Mapping[str, Number]]:
    """Figures of a class at each confidence of a detection, in descending order."""
    aligned = align(*case)
    figures = []
    for confidence in np.unique(case.detections.confidences)[::-1].tolist():
        at = OperatingPoint(threshold, confidence)
        part = evaluator.outcomes(aligned, at).where(domain=domain, label=label)
        figures.append(evaluator.outcome_figures(part, at))
    return figures


def class_curves(report: Report, name: str) -> Iterator[Curve]:
    """The curves of single classes that have objects."""
    for curve in report.curves:
        values = list(curve.columns.values())[-1]
        if curve.name == name and curve.label is not None and values[0] is not None:
            yield curve


def has_point(figures: Mapping[str, Number]) -> bool:
    """Whether a point has figures: no row counts if there are none."""
    return figures.get("recall") is not None


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ["greedy", "best"])
@settings(max_examples=example_count(15), deadline=None)
@given(case=SCENES)
def test_points_form_the_precision_recall_curve(assignment: str, case: Case) -> None:
    """At each recall level the curve has the maximum precision of the points at or beyond it."""
    check_precision_recall(case, assignment)


@pytest.mark.slow
@settings(max_examples=example_count(15), deadline=None)
@given(case=SURE_SCENES)
def test_points_form_the_curve_of_an_optimal_assignment(case: Case) -> None:
    check_precision_recall(case, "optimal")


def check_precision_recall(case: Case, assignment: str) -> None:
    evaluator = create_evaluator("map", {"thresholds": THRESHOLDS, "assignment": assignment})
    report = report_of(evaluator, case)
    for threshold in THRESHOLDS:
        for curve in class_curves(report, f"precision_recall_{100 * threshold:g}"):
            assert curve.label is not None
            figures = points_of(evaluator, case, threshold, curve.domain, curve.label)
            points = [
                (point["recall"], point["precision"])
                for point in figures
                if has_point(point) and point["precision"] is not None
            ]
            for level, precision in zip(*curve.columns.values(), strict=True):
                beyond = [own for recall, own in points if recall >= level]
                assert precision == max(beyond, default=0.0), (threshold, curve.label, level)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ["greedy", "best"])
@settings(max_examples=example_count(15), deadline=None)
@given(case=SCENES)
def test_points_form_the_miss_rate_curve(assignment: str, case: Case) -> None:
    """At each rate of false positives per frame it has the miss rate of the last point below."""
    for threshold in THRESHOLDS:
        evaluator = create_evaluator("log-amr", {"threshold": threshold, "assignment": assignment})
        report = report_of(evaluator, case)
        for name, measure, before in (("miss_rate", "miss_rate", 1.0), ("roc", "recall", 0.0)):
            for curve in class_curves(report, name):
                assert curve.label is not None
                points = points_of(evaluator, case, threshold, curve.domain, curve.label)
                for rate, value in zip(*curve.columns.values(), strict=True):
                    below = [
                        point[measure]
                        for point in points
                        if has_point(point) and (point["false_positives_per_frame"] or 0) <= rate
                    ]
                    assert value == [before, *below][-1], (threshold, curve, rate)


@pytest.mark.parametrize(("classes", "expected"), [("separate", 1 / 3), ("ignore", 1.0)])
@pytest.mark.parametrize("name", ["coco", "map", "errors"])
def test_average_precision_of_the_rows_separates_classes_like_the_report(
    name: str, classes: str, expected: float
) -> None:
    """A car labelled bus, more confident than both buses: AP 0 and 2/3; ignoring classes, 1."""
    chosen: dict[str, object] = {"classes": classes}
    if name != "errors":
        chosen["thresholds"] = [0.5]
    evaluator = create_evaluator(name, chosen)
    case = mislabelled()
    at = OperatingPoint(0.5)
    figures = evaluator.outcome_figures(evaluator.outcomes(align(*case), at), at)
    report = report_of(evaluator, case)
    assert figures["ap"] == report.value("ap")
    assert figures["ap"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("classes", "expected"), [("separate", (1.0 + 1e-10 ** (1 / 9)) / 2), ("ignore", 1e-10)]
)
def test_the_miss_rate_of_the_rows_separates_classes_like_the_report(
    classes: str, expected: float
) -> None:
    """The car is missed; buses are found from one false alarm a frame on, the last of nine rates.

    A miss rate of 0 counts as 1e-10.
    """
    evaluator = create_evaluator("log-amr", {"classes": classes})
    case = mislabelled()
    figures = evaluator.outcome_figures(evaluator.outcomes(align(*case)))
    report = report_of(evaluator, case)
    assert figures["log_amr"] == report.value("log_amr")
    assert figures["log_amr"] == pytest.approx(expected)


def mislabelled() -> Case:
    """A car and two buses, all found in place and labelled bus, the car with most confidence."""
    truth = [Thing((50.0 * n, 0.0, 50.0 * n + 10.0, 10.0), "bus" if n else "car") for n in range(3)]
    found = [Thing(thing.coordinates, "bus", 0.9 - n / 10) for n, thing in enumerate(truth)]
    key = ("", "s")
    return Case(*(make_annotations({key: {1: things}}, arity=4) for things in (truth, found)))


@pytest.mark.parametrize(("classes", "expected"), [("separate", 2 / 5), ("ignore", 1.0)])
def test_the_mean_of_f1_separates_classes_like_the_report(classes: str, expected: float) -> None:
    """0 for the car, 4/5 for the buses."""
    evaluator = create_evaluator("f1", {"classes": classes})
    case = mislabelled()
    figures = evaluator.outcome_figures(evaluator.outcomes(align(*case)))
    assert figures["f1_class_mean"] == report_of(evaluator, case).value("f1_class_mean")
    assert figures["f1_class_mean"] == pytest.approx(expected)


@settings(max_examples=example_count(12), deadline=None)
@given(case=SCENES)
def test_the_log_average_miss_rate_of_the_rows_is_that_of_the_report(case: Case) -> None:
    """At every threshold, over everything and for each domain and class."""
    evaluator = create_evaluator("log-amr")
    report = report_of(evaluator, case)
    for threshold in (0.0, 0.25, 0.5, 0.9):
        at = OperatingPoint(threshold)
        table = evaluator.outcomes(align(*case), at)
        for curve in report.curves:
            if curve.name == "log_amr_by_threshold":
                part = table.where(domain=curve.domain, label=curve.label)
                expected = dict(zip(*curve.columns.values(), strict=True))[threshold]
                assert evaluator.outcome_figures(part, at)["log_amr"] == expected


def test_figures_per_frame_need_the_number_of_frames() -> None:
    """Rows of a file do not show frames without rows."""
    evaluator = create_evaluator("log-amr")
    thing = make_annotations({("", "s"): {0: [(0, 0, 10, 10)], 1: []}})
    table = evaluator.outcomes(align(thing, thing))
    figures = evaluator.outcome_figures(table)
    assert (figures["false_positives_per_frame"], figures["log_amr"]) == (0.0, 1e-10)
    figures = evaluator.outcome_figures(replace(table, frame_counts=None))
    assert set(figures) == {
        *("true_positives", "false_positives", "false_negatives"),
        *("miss_rate", "recall"),
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"assignment": "best", "interpolation": "11-point"},
        {"ties": "row", "interpolation": "101-point"},
        {"class_mean": "frames", "dont_care": "visdrone"},
        {"classes": "ignore", "maximum_detections": 2},
    ],
)
@settings(max_examples=example_count(12), deadline=None)
@given(case=SCENES)
def test_ap_of_the_rows_is_that_of_the_report(parameters: dict[str, Any], case: Case) -> None:
    """At every threshold, over everything and for each domain and class."""
    evaluator = create_evaluator("map", parameters)
    report = report_of(evaluator, case)
    for threshold in (0.0, 0.25, 0.5, 0.9):
        at = OperatingPoint(threshold)
        table = evaluator.outcomes(align(*case), at)
        for curve in report.curves:
            if curve.name == "ap_by_threshold":
                part = table.where(domain=curve.domain, label=curve.label)
                figures = evaluator.outcome_figures(part, at)
                expected = dict(zip(*curve.columns.values(), strict=True))[threshold]
                if "precision" in figures and parameters.get("class_mean") == "frames":
                    # A mean over one class may differ from the class's own row in the last bit.
                    assert figures.get("ap_at_threshold", expected) == expected
                else:
                    assert figures["ap_at_threshold"] == expected


@pytest.mark.parametrize("name", ["map", "coco"])
@settings(max_examples=example_count(12), deadline=None)
@given(case=SCENES)
def test_ap_at_a_threshold_is_the_measure_of_its_name(name: str, case: Case) -> None:
    """`ap_50` and `ap_75` if the threshold is theirs, and `ap` if it is the only one."""
    evaluator = create_evaluator(name)
    report = report_of(evaluator, case)
    for measure, threshold in (("ap_50", 0.5), ("ap_75", 0.75)):
        at = OperatingPoint(threshold)
        table = evaluator.outcomes(align(*case), at)
        figures = evaluator.outcome_figures(table, at)
        assert figures[measure] == report.value(measure)
        assert {"ap_50", "ap_75", "ap"} & set(figures) == {measure}
    single = create_evaluator(name, {"thresholds": [0.35]})
    report = report_of(single, case)
    figures = single.outcome_figures(single.outcomes(align(*case)))
    assert figures["ap"] == figures["ap_at_threshold"] == report.value("ap")
    assert not {"ap_50", "ap_75"} & set(figures)
    if name == "coco":
        assert figures["ar_100"] == report.value("ar_100")


@pytest.mark.parametrize("name", ["map", "coco", "errors"])
def test_a_subset_of_detections_has_no_ap(name: str) -> None:
    """A confidence leaves detections out, so the rest has counts, but no AP."""
    evaluator = create_evaluator(name)
    nothing = Case(empty_annotations(BOX), empty_annotations(BOX))
    at = OperatingPoint(confidence=0.5)
    figures = evaluator.outcome_figures(evaluator.outcomes(align(*nothing), at), at)
    assert figures
    assert not [measure for measure in figures if measure.startswith("ap")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["f1", "errors"])
@settings(max_examples=example_count(25), deadline=None)
@given(case=SCENES)
def test_figures_at_a_point_equal_the_report_of_its_detections(name: str, case: Case) -> None:
    """As if the threshold were the evaluator's, without the detections below the confidence."""
    evaluator = create_evaluator(name)
    for threshold in (0.15, 0.5, 0.8):
        own = create_evaluator(name, {"threshold": threshold})
        for confidence in (None, 0.15, 0.95):
            at = OperatingPoint(threshold, confidence)
            limit = -math.inf if confidence is None else confidence
            rows = {row[:4]: row.value for row in report_of(own, sure_enough(case, limit)).rows()}
            table = evaluator.outcomes(align(*case), at)
            for domain, label, sequence in {key[:3] for key in rows}:
                part = table.where(domain=domain, label=label, sequence=sequence)
                for measure, value in evaluator.outcome_figures(part, at).items():
                    key = (domain, label, sequence, measure)
                    assert key not in rows or value == rows[key], (at, key)


@settings(max_examples=example_count(25), deadline=None)
@given(case=SCENES)
def test_f1_is_the_mean_of_the_shares_of_counted_rows(case: Case) -> None:
    """2 TP of m + n rows."""
    evaluator = create_evaluator("f1")
    table = evaluator.outcomes(align(*case))
    counted = int(np.count_nonzero(~table.are(Outcome.IGNORED)))
    expected = float(table.shares.sum()) / counted if counted else 1.0
    assert report_of(evaluator, case).value("f1") == expected
