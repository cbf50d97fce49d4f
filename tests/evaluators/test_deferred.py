"""What is computed when it is first read is like any other value, and is computed once."""

from __future__ import annotations

import copy
import pickle
import weakref
from dataclasses import FrozenInstanceError, dataclass, replace
from functools import partial

import numpy as np
import pytest

from vidscore_evaluators.deferred import Deferred, DeferredField, given


@dataclass(frozen=True)
class _Pair:
    first: DeferredField[int] = DeferredField()
    second: DeferredField[int] = DeferredField(Deferred.of(7))


class _Counter:
    """A computation that says how often it ran."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        return 5


def test_a_value_is_computed_once_and_not_before_it_is_asked_for() -> None:
    compute = _Counter()
    deferred = Deferred(compute)
    assert compute.calls == 0
    assert [deferred.get(), deferred.get()] == [5, 5]
    assert compute.calls == 1


def test_a_value_that_is_none_is_computed_once_too() -> None:
    calls: list[None] = []
    deferred = Deferred(lambda: calls.append(None))
    deferred.get()
    deferred.get()
    assert len(calls) == 1


def test_what_a_computation_needs_is_let_go_of_with_the_value() -> None:
    column = np.arange(3)
    seen = weakref.ref(column)
    deferred = Deferred(partial(np.sum, column))
    del column
    assert seen() is not None
    assert deferred.get() == 3
    assert seen() is None


def test_what_is_made_of_a_value_waits_only_where_the_value_does() -> None:
    compute = _Counter()
    waiting = Deferred(compute).then(lambda value: value + 1)
    assert compute.calls == 0
    assert waiting.get() == 6
    seen: list[int] = []
    Deferred.of(3).then(seen.append)
    assert seen == [3]


def test_a_computation_that_fails_fails_whenever_it_is_asked_for() -> None:
    deferred: Deferred[float] = Deferred(lambda: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            deferred.get()


def test_a_field_takes_a_value_or_what_computes_it() -> None:
    compute = _Counter()
    pair = _Pair(Deferred(compute))
    assert compute.calls == 0
    assert (pair.first, pair.second) == (5, 7)
    assert _Pair(5) == pair == _Pair(5, Deferred(lambda: 7))
    assert _Pair(5, 8) != pair
    assert repr(pair) == "_Pair(first=5, second=7)"
    assert hash(pair) == hash(_Pair(5))


def test_a_field_without_a_default_has_to_be_given() -> None:
    with pytest.raises(TypeError, match="first"):
        _Pair()


def test_a_field_of_a_frozen_dataclass_is_frozen() -> None:
    pair = _Pair(1)
    with pytest.raises(FrozenInstanceError):
        pair.first = 2  # type: ignore[misc]  # that is the mistake


def test_an_instance_with_another_value_keeps_those_that_are_not_named() -> None:
    assert replace(_Pair(Deferred(_Counter())), second=1) == _Pair(5, 1)


def test_a_field_is_found_as_it_was_given() -> None:
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
