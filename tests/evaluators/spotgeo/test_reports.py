"""The rows of a report, what is left out and counted, and how reports are ranked."""

from __future__ import annotations

from tests.evaluators.spotgeo.helpers import Sequences, make_points, score

from vidscore_evaluators.annotations import Annotations, concatenate
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Thing, make_annotations

WHOLE_SET = [
    "true_positives",
    "false_negatives",
    "false_positives",
    "precision",
    "recall",
    "f1",
    "one_minus_f1",
    "sse",
    "mse",
]
SEQUENCE_COUNTS = ["true_positives", "false_negatives", "false_positives", "sse", "mse"]


def keys(report: Report) -> list[tuple[str | None, str | None, str | None, str]]:
    return [row[:4] for row in report.rows()]


def test_without_domains_there_are_rows_of_the_whole_set_and_of_each_sequence() -> None:
    truth = make_points({"10": {1: []}, "2": {1: [(1, 1)]}})
    assert keys(score(truth, make_points({}))) == [
        *((None, None, None, measure) for measure in WHOLE_SET),
        *((None, None, "10", measure) for measure in SEQUENCE_COUNTS),
        *((None, None, "2", measure) for measure in SEQUENCE_COUNTS),
    ]


def test_named_domains_have_rows_of_their_own() -> None:
    """A domain's rows are those of a set of its sequences; an unnamed one has none."""
    day = make_points({"1": {1: [(1, 1)]}}, domain="day")
    night = make_points({"1": {1: [(1, 1)]}, "2": {1: [(5, 5)]}}, domain="night")
    rest = make_points({"1": {1: [(1, 1)]}})
    truth, found = concatenate([day, night, rest]), concatenate([day, rest])
    for profile in ("protocol", "kelvins"):
        report = score(truth, found, profile=profile)
        assert [key for key in keys(report) if key[3] == "f1"] == [
            (None, None, None, "f1"),
            ("day", None, None, "f1"),
            ("night", None, None, "f1"),
        ]
        for domain, side in (("day", day), ("night", make_points({}))):
            alone = score({"day": day, "night": night}[domain], side, profile=profile)
            for measure in WHOLE_SET:
                assert report.value(measure, domain=domain) == alone.value(measure)


def test_counts_are_integers_and_figures_are_floats() -> None:
    report = score(make_points({"1": {1: [(1, 1)]}}), make_points({}))
    for row in report.rows():
        expected = int if row.measure.endswith(("positives", "negatives")) else float
        assert type(row.value) is expected, row


def test_frames_without_detections_count_as_missed() -> None:
    truth = make_points({"1": {1: [(1, 1)], 2: [(1, 1)]}})
    report = score(truth, make_points({"1": {1: [(1, 1)]}}))
    assert (report.value("true_positives"), report.value("false_negatives")) == (1, 1)


def test_detections_in_frames_that_the_truth_does_not_list_are_counted_separately() -> None:
    truth = make_points({"1": {1: [(1, 1)]}})
    report = score(truth, make_points({"1": {1: [(1, 1)], 2: [(1, 1), (2, 2)], 3: []}}))
    assert report.value("false_positives") == 0
    assert [(warning.code, warning.count) for warning in report.warnings] == [
        ("unevaluated_detections", 2)
    ]


def test_dont_care_frames_are_left_out_and_counted() -> None:
    """Neither their objects nor their detections count; a sequence of only such frames is absent.

    Detections in a don't-care frame are in a listed frame, and not counted as unevaluated.
    """
    frames = {("", "1"): {1: [(1.0, 1.0)], 2: [(9.0, 9.0)]}, ("", "2"): {1: [(5.0, 5.0)]}}
    truth = make_annotations(frames, dont_care=[(("", "1"), 2), (("", "2"), 1)])
    report = score(truth, make_points({"1": {1: [(1, 1)], 2: [(200, 200)]}, "2": {1: [(5, 5)]}}))
    assert [report.value(measure) for measure in WHOLE_SET[:3]] == [1, 0, 0]
    assert [(warning.code, warning.count) for warning in report.warnings] == [
        ("dont_care_frames", 2)
    ]
    assert {row.sequence for row in report.rows()} == {None, "1"}


def test_classes_have_no_influence() -> None:
    truth = make_annotations({("", "1"): {1: [Thing((1, 1), "satellite")]}})
    found = make_annotations({("", "1"): {1: [Thing((1, 1), "debris")]}})
    assert score(truth, found).value("f1") == 1.0


def ranked(truth: Annotations, systems: dict[str, Sequences]) -> list[str]:
    evaluator = create_evaluator("spotgeo")
    reports = {name: score(truth, make_points(found)) for name, found in systems.items()}
    return sorted(reports, key=lambda name: evaluator.rank_key(reports[name]))


def test_systems_rank_by_f1_and_then_by_mse() -> None:
    truth = make_points({"1": {1: [(0, 0), (50, 50)]}})
    systems: dict[str, Sequences] = {
        "one hit": {"1": {1: [(0, 0)]}},
        "two hits, 6 px off": {"1": {1: [(0, 6), (50, 50)]}},
        "two hits, 5 px off": {"1": {1: [(0, 5), (50, 50)]}},
    }
    assert ranked(truth, systems) == ["two hits, 5 px off", "two hits, 6 px off", "one hit"]


def test_the_same_f1_of_different_counts_is_a_tie_that_mse_decides() -> None:
    """TP 3, FP 4, FN 0 and TP 3, FP 0, FN 4 have P and R swapped and F1 = 6/10 both.

    As floats 2PR / (P + R) need not tie; from the integers they do. MSE is 400/7 for both, and
    a pixel more of error decides.
    """
    spots = [(50.0 * number, 0.0) for number in range(7)]
    few, all_of_them = make_points({"1": {1: spots[:3]}}), make_points({"1": {1: spots}})
    alarms, misses = score(few, all_of_them), score(all_of_them, few)
    evaluator = create_evaluator("spotgeo")
    assert alarms.value("f1") == misses.value("f1") == 0.6
    assert evaluator.rank_key(alarms) == evaluator.rank_key(misses)
    near = make_points({"1": {1: [(0, 4), *spots[1:3]]}})
    worse = score(all_of_them, near)
    assert worse.value("f1") == misses.value("f1")
    assert evaluator.rank_key(misses) < evaluator.rank_key(worse)
