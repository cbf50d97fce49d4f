"""Each kind of mistake by hand, and the laws that hold for all of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from vidscore_evaluators.annotations import BOX, ObjectFlag
from vidscore_evaluators.detection.errors import KINDS, MISSED
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Number, Report
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

VIDEO = ("", "video")
ALL_KINDS = (MISSED, *KINDS)


def score(truth: list[Thing], detections: list[Thing], **parameters: object) -> Report:
    evaluator = create_evaluator("errors", {"interpolation": "all-point"} | parameters)
    return evaluator.report(
        evaluator.tally(
            make_annotations({VIDEO: {0: truth}}, arity=4),
            make_annotations({VIDEO: {0: detections}}, arity=4),
        )
    )


def box(left: float, label: str = "a", confidence: float = 1.0, width: float = 10.0) -> Thing:
    return Thing((left, 0.0, left + width, 10.0), label, confidence)


def counts(report: Report, label: str | None = None) -> dict[str, Number]:
    found = {kind: report.value(kind, label=label) for kind in ALL_KINDS}
    return {kind: number for kind, number in found.items() if number}


def gains(report: Report, label: str | None = None) -> dict[str, Number]:
    found = {kind: report.value(f"ap_gain_{kind}", label=label) for kind in ALL_KINDS}
    return {kind: gain for kind, gain in found.items() if gain}


def test_missed() -> None:
    """One of two found, AP 1/2; without the missed one it is 1."""
    report = score([box(0), box(50)], [box(0)])
    assert (counts(report), gains(report)) == ({"missed": 1}, {"missed": 0.5})


def test_false_alarm() -> None:
    """A more confident false positive halves the precision of the only object: AP 1/2."""
    report = score([box(0)], [box(0, confidence=0.5), box(50, confidence=0.9)])
    assert (counts(report), gains(report)) == ({"false_alarm": 1}, {"false_alarm": 0.5})


def test_poor_localisation() -> None:
    """IoU 4/10: no match, but the object is meant; it does not also count as missed."""
    report = score([box(0)], [box(0, width=4)])
    assert (counts(report), gains(report)) == (
        {"poor_localisation": 1},
        {"poor_localisation": 1.0},
    )


def test_duplicate() -> None:
    """The second detection of one object, before another object is found: AP (1 + 2/3) / 2."""
    detections = [box(0, confidence=0.9), box(1, confidence=0.8), box(50, confidence=0.7)]
    report = score([box(0), box(50)], detections)
    assert counts(report) == {"duplicate": 1}
    assert gains(report) == {"duplicate": pytest.approx(1 - (1 + 2 / 3) / 2)}


def test_a_wrong_class_is_corrected_in_the_class_of_the_object() -> None:
    """A b with the label a: AP of a is 1/2, of b 0; corrected, both are 1."""
    detections = [box(0, "a", 0.5), box(50, "a", 0.9)]
    report = score([box(0, "a"), box(50, "b")], detections)
    assert counts(report) == {"wrong_class": 1}
    assert counts(report, "a") == {"wrong_class": 1}
    assert gains(report, "a") == {"wrong_class": 0.5}
    assert gains(report, "b") == {"wrong_class": 1.0}
    assert gains(report) == {"wrong_class": 0.75}


def test_both_wrong() -> None:
    """IoU 4/10 with an object of another class: neither place nor class is right."""
    report = score([box(0, "a"), box(50, "b")], [box(0, "a", 0.5), box(50, "a", 0.9, width=4)])
    assert counts(report) == {"both_wrong": 1, "missed": 1}
    assert gains(report, "a") == {"both_wrong": 0.5}


def test_an_object_goes_to_the_most_confident_mistake_that_points_at_it() -> None:
    """Two poor localisations of one object: corrected, one is true and the other is removed."""
    report = score([box(0)], [box(0, width=4, confidence=0.9), box(1, width=4, confidence=0.8)])
    assert counts(report) == {"poor_localisation": 2}
    assert gains(report)["poor_localisation"] == 1.0


def test_a_mistake_that_points_at_a_found_object_is_removed_when_corrected() -> None:
    """A poor localisation beside a match cannot become a second match."""
    report = score([box(0)], [box(0, confidence=0.5), box(0, width=4, confidence=0.9)])
    assert counts(report) == {"poor_localisation": 1}
    assert gains(report) == {"poor_localisation": 0.5}


def test_finding_a_class_that_is_missed_completely_has_no_gain() -> None:
    """Without its only object nothing of the class would be left to score."""
    report = score([box(0)], [])
    assert (report.value("missed"), report.value("ap_gain_missed")) == (1, None)


def test_a_detection_beside_an_absorber_is_a_false_alarm() -> None:
    """IoU 4/10 with an object that only absorbs: no kind of mistake applies."""
    ignored = Thing((0.0, 0.0, 10.0, 10.0), "a", flags=ObjectFlag.IGNORE)
    report = score([ignored, box(50)], [box(50), box(0, width=4)])
    assert counts(report) == {"false_alarm": 1}


def test_the_background_threshold_is_at_most_the_threshold() -> None:
    """A background threshold above the threshold is refused by name."""
    create_evaluator("errors", {"threshold": 0.3, "background_threshold": 0.3})
    with pytest.raises(ParameterError, match="background_threshold"):
        create_evaluator("errors", {"threshold": 0.3, "background_threshold": 0.4})


@pytest.mark.slow
@settings(max_examples=example_count(80), deadline=None)
@given(
    cases(
        Needs((BOX,), (BOX,), confidences=True),
        object_flags=(0, 0, 0, ObjectFlag.IGNORE, ObjectFlag.CROWD),
        labels=("a", "b"),
    )
)
def test_kinds_add_up_to_the_false_detections(scene: Case) -> None:
    """Each false positive of `map` has one kind, no gain is negative, and AP is that of `map`."""
    evaluator = create_evaluator("errors", {"interpolation": "all-point"})
    report = evaluator.report(evaluator.tally(*scene))
    single = create_evaluator("map", {"thresholds": (0.5,)})
    tally = single.tally(*scene)
    assert report.value("ap") == single.report(tally).value("ap")
    table = tally.tables["outcomes"]
    column = single.grid("thresholds").index(0.5)
    outcomes = (table.number("outcomes_0").astype(int) // 3**column) % 3
    false = int(table.count("detections")[outcomes == 2].sum())
    assert sum(int(report.value(kind) or 0) for kind in KINDS) == false
    assert all((report.value(f"ap_gain_{kind}") or 0.0) >= 0.0 for kind in ALL_KINDS)
