"""Reports of small inputs compute digests and warnings when they are read, and nothing differs."""

from __future__ import annotations

import dataclasses
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from vidscore_evaluators import jobs
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.validation import Columns, build_annotations

BOXES: list[list[float]] = [[0, 0, 10, 10], [20, 0, 30, 10], [0, 20, 10, 30]]


def _side(label: str, shift: float = 0.0) -> Annotations:
    """Three frames of a sequence with a box each, the second sequence first in the table."""
    return build_annotations(
        Columns(
            sequences=[("", "b"), ("", "a")],
            labels=[label],
            frame_sequences=[0, 1, 1],
            frame_numbers=[1, 2, 1],
            object_counts=[1, 1, 1],
            arity=4,
            coordinates=np.ravel(np.array(BOXES) + shift),
            label_indices=[0, 0, 0],
        )
    )


def _evaluators() -> list[Evaluator[Any]]:
    return [create_evaluator(name) for name in ("f1", "ospa", "map")]


def test_a_report_that_waits_equals_one_that_was_computed_at_once() -> None:
    """`Evaluator.tally` computes all of it at once."""
    truth, detections = _side("car"), _side("cat", 1.0)
    evaluators = _evaluators()
    for evaluator, waiting in zip(
        evaluators, score_annotations(evaluators, truth, detections), strict=True
    ):
        whole = evaluator.report(evaluator.tally(truth, detections))
        assert whole.warnings
        assert waiting.to_json() == whole.to_json()
        assert waiting == whole


def test_digests_are_the_fingerprints_of_both_sides() -> None:
    truth, detections = _side("car"), _side("car", 1.0)
    [report] = score_annotations([create_evaluator("f1")], truth, detections)
    assert report.truth_digest == str(fingerprint(truth))
    assert report.detections_digest == str(fingerprint(detections))


def test_a_report_with_other_scores_keeps_its_digests() -> None:
    truth = _side("car")
    [report] = score_annotations([create_evaluator("f1")], truth, truth)
    assert dataclasses.replace(report, preset="p").truth_digest == str(fingerprint(truth))


def _held(use: Callable[[Report], object]) -> bool:
    """Whether a report that was used so still holds the coordinates of the truth."""
    truth = _side("car")
    seen = weakref.ref(truth.coordinates)
    [report] = score_annotations([create_evaluator("f1")], truth, _side("car", 1.0))
    del truth
    use(report)
    gc.collect()
    return seen() is not None


def test_columns_are_held_until_digests_and_warnings_are_read() -> None:
    assert _held(lambda report: report.value("f1"))
    assert not _held(
        lambda report: (report.truth_digest, report.detections_digest, report.warnings)
    )


@pytest.mark.parametrize(
    "use", [Report.to_json, pickle.dumps, lambda report: report == dataclasses.replace(report)]
)
def test_who_takes_all_of_a_report_makes_it_hold_no_columns(
    use: Callable[[Report], object],
) -> None:
    assert not _held(use)


def test_a_report_of_much_data_holds_no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "DEFERRED_BYTES", 0)
    assert not _held(lambda report: report.value("f1"))


def test_a_tally_holds_no_columns() -> None:
    """A live stream keeps tallies, and many of them."""
    truth = _side("car")
    seen = weakref.ref(truth.coordinates)
    tally = create_evaluator("f1").tally(truth, truth)
    del truth
    gc.collect()
    assert seen() is None
    assert tally.truth != tally.truth + tally.truth
