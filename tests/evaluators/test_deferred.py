"""A deferred value is like any other value, and is computed once, when it is first read."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import weakref
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from vidscore_evaluators import jobs
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.deferred import Deferred, DeferredField, given
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.validation import Columns, build_annotations


@dataclass(frozen=True)
class _Pair:
    first: DeferredField[int] = DeferredField()
    second: DeferredField[int] = DeferredField(Deferred.of(7))


class _Counter:
    """A computation that counts its runs."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        return 5


def test_a_value_is_computed_once_when_it_is_first_read() -> None:
    compute = _Counter()
    deferred = Deferred(compute)
    assert compute.calls == 0
    assert [deferred.get(), deferred.get()] == [5, 5]
    assert compute.calls == 1


def test_a_value_of_none_is_computed_once_too() -> None:
    calls: list[None] = []
    deferred = Deferred(lambda: calls.append(None))
    deferred.get()
    deferred.get()
    assert len(calls) == 1


def test_the_inputs_of_a_computation_are_released_with_the_value() -> None:
    column = np.arange(3)
    seen = weakref.ref(column)
    deferred = Deferred(partial(np.sum, column))
    del column
    assert seen() is not None
    assert deferred.get() == 3
    assert seen() is None


def test_a_derived_value_is_deferred_only_if_its_source_is() -> None:
    compute = _Counter()
    waiting = Deferred(compute).then(lambda value: value + 1)
    assert compute.calls == 0
    assert waiting.get() == 6
    seen: list[int] = []
    Deferred.of(3).then(seen.append)
    assert seen == [3]


def test_a_failing_computation_fails_at_every_read() -> None:
    deferred: Deferred[float] = Deferred(lambda: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            deferred.get()


def test_a_field_accepts_a_value_or_a_function_that_computes_it() -> None:
    compute = _Counter()
    pair = _Pair(Deferred(compute))
    assert compute.calls == 0
    assert (pair.first, pair.second) == (5, 7)
    assert _Pair(5) == pair == _Pair(5, Deferred(lambda: 7))
    assert _Pair(5, 8) != pair
    assert repr(pair) == "_Pair(first=5, second=7)"
    assert hash(pair) == hash(_Pair(5))


def test_a_field_without_a_default_is_required() -> None:
    with pytest.raises(TypeError, match="first"):
        _Pair()


def test_a_field_of_a_frozen_dataclass_is_frozen() -> None:
    pair = _Pair(1)
    with pytest.raises(FrozenInstanceError):
        pair.first = 2  # type: ignore[misc]  # that is the mistake


def test_a_replaced_instance_keeps_the_other_values() -> None:
    assert replace(_Pair(Deferred(_Counter())), second=1) == _Pair(5, 1)


def test_a_field_returns_the_given_value() -> None:
    compute = _Counter()
    pair = _Pair(Deferred(compute))
    found = given(pair, "first")
    assert compute.calls == 0
    assert (found.get(), given(pair, "second").get()) == (5, 7)


def test_copies_and_pickles_have_the_value() -> None:
    pair = _Pair(Deferred(_Counter()))
    assert pickle.loads(pickle.dumps(pair)) == _Pair(5)
    for copied in (copy.copy(pair), copy.deepcopy(pair)):
        assert copied == _Pair(5)


# --- Reports of small inputs, whose digests and warnings are computed when they are read


BOXES: list[list[float]] = [[0, 0, 10, 10], [20, 0, 30, 10], [0, 20, 10, 30]]


def _side(label: str, shift: float = 0.0) -> Annotations:
    """Three frames of a sequence with one box each; the table lists the second sequence first."""
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


def test_a_deferred_report_equals_one_that_was_computed_at_once() -> None:
    """`Evaluator.tally` computes everything at once."""
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
    """Whether a report still holds the coordinates of the truth after this use."""
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
def test_reading_everything_of_a_report_releases_the_columns(
    use: Callable[[Report], object],
) -> None:
    assert not _held(use)


def test_a_report_of_large_data_holds_no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "DEFERRED_BYTES", 0)
    assert not _held(lambda report: report.value("f1"))


def test_a_tally_holds_no_columns() -> None:
    """A live stream keeps many tallies."""
    truth = _side("car")
    seen = weakref.ref(truth.coordinates)
    tally = create_evaluator("f1").tally(truth, truth)
    del truth
    gc.collect()
    assert seen() is None
    assert tally.truth != tally.truth + tally.truth
