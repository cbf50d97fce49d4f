"""What goes wrong in an evaluator of a plug-in names it, and its results are checked."""

from __future__ import annotations

import copy
import math
import pickle
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from tests.evaluators.toy import Toy, ToyParameters

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError, ParameterError, PlugInError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.outcome_table import OutcomeBuilder
from vidscore_evaluators.plug_ins import contained
from vidscore_evaluators.report import Block, Curve, Scores
from vidscore_evaluators.testing import Thing, make_annotations

TRUTH = make_annotations({("", "a"): {0: [(1, 1)], 1: []}})
NOTHING = make_annotations({("", "a"): {0: [], 1: []}}, arity=2)
WHOLE: dict[str, Any] = {"frames": [2], "objects": [1], "x": [1.0]}


def _with(**functions: Any) -> Evaluator[Any]:
    """A plug-in's evaluator: a toy in which some functions are others."""
    return contained(type("Odd", (Toy,), functions), "some-plugin")(ToyParameters())


def _scoring(scores: object) -> Evaluator[Any]:
    return _with(scores=lambda *_: scores)


def _report(evaluator: Evaluator[Any]) -> Any:
    return evaluator.report(evaluator.tally(TRUTH, TRUTH))


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def _raise(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object) -> None:
        raise error

    return fail


CALLS: dict[str, Callable[[Evaluator[Any]], object]] = {
    "tables": lambda toy: toy.tally(TRUTH, TRUTH),
    "scores": _report,
    "faults": lambda toy: toy.input_faults(Side.TRUTH, TRUTH),
    "outcomes": lambda toy: toy.outcomes(align(TRUTH, TRUTH)),
    "grid": lambda toy: toy.grid("limit"),
    "rank_key": lambda toy: toy.rank_key(_report(toy)),
    "warnings": lambda toy: _report(toy).warnings,
    "useful_range": lambda toy: toy.useful_range("x"),
}


@pytest.mark.parametrize("function", CALLS)
@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError("no frames"), SystemExit("no frames"), InputError([Fault("no frames", "")])],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_a_function_names_it_its_distribution_and_the_error(
    function: str, error: BaseException
) -> None:
    odd = _with(**{function: _raise(error)})
    with pytest.raises(PlugInError) as caught:
        CALLS[function](odd)
    found = f"{function} of the evaluator 'toy' of some-plugin failed: {type(error).__name__}"
    assert str(caught.value) == f"{found}: no frames"
    assert caught.value.__cause__ is error
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("name", ["unit", "growth", "adds_sequences"])
def test_an_error_of_a_property_names_it_too(name: str) -> None:
    odd = _with(**{name: property(lambda _: sys.exit())})
    with pytest.raises(PlugInError, match=f"^{name} of the evaluator 'toy' of some-plugin failed"):
        getattr(odd, name)


def test_an_error_is_told_once_however_many_functions_it_passes() -> None:
    odd = _with(
        tables=_raise(ZeroDivisionError("no frames")),
        scores=lambda self, _: self.tables(align(TRUTH, TRUTH)),
    )
    with pytest.raises(PlugInError, match=r"^tables of .* failed: ZeroDivisionError: no frames$"):
        odd.scores(_with().tally(TRUTH, TRUTH))


def _written(annotations: Annotations) -> None:
    annotations.columns["other"] = np.zeros(1)  # type: ignore[index]
    for column in (annotations.columns["area"], annotations.coordinates):
        column[:] = 7


@pytest.mark.parametrize(
    ("function", "write"),
    [
        ("tables", lambda _, aligned: _written(aligned.detections)),
        ("outcomes", lambda _, aligned: _written(aligned.truth)),
        ("faults", lambda *found: _written(found[-1])),
        ("tables", lambda _, aligned: aligned.listed.sort()),
    ],
)
def test_a_function_cannot_write_into_its_input(function: str, write: Callable[..., Any]) -> None:
    given = make_annotations({("", "a"): {0: [Thing((1, 1), columns={"area": 3})], 1: []}})
    aligned = align(given, given)
    odd = _with(**{function: write})
    arguments = (Side.TRUTH, given) if function == "faults" else (aligned,)
    with pytest.raises(PlugInError, match=rf"^{function} of .* failed: ValueError: .*read-only"):
        getattr(odd, function)(*arguments)
    for side in (given, aligned.truth, aligned.detections):
        assert side.coordinates.tolist() == [[1, 1]]
        assert {name: column.tolist() for name, column in side.columns.items()} == {"area": [3]}
        assert side.coordinates.flags.writeable


def test_an_operating_point_is_refused_as_by_a_built_in_evaluator() -> None:
    refusal = ParameterError([Fault("0.3", "no threshold", field="threshold")])
    odd = _with(outcomes=_raise(refusal))
    with pytest.raises(ParameterError, match="expected no threshold"):
        odd.outcomes(align(TRUTH, TRUTH))


def test_what_a_plug_in_returns_rightly_is_unchanged() -> None:
    plain = Toy(ToyParameters())
    assert _report(_with()) == _report(plain)
    assert not _with().has_outcomes
    assert type(_with(__doc__="It counts.")).__doc__ == "It counts."
    over = make_annotations({("", "a"): {0: [(101, 1)]}})
    assert _with().input_faults(Side.TRUTH, over) == plain.input_faults(Side.TRUTH, over)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, _pickled])
def test_copies_of_an_evaluator_are_under_control_too(copied: Callable[..., Any]) -> None:
    """Comparisons and scorers hold evaluators, and are copied and pickled with them."""
    toy = contained(Toy, "some-plugin")(ToyParameters(limit=7.0))
    same = copied(toy)
    assert type(same) is type(toy)
    assert same.parameters == toy.parameters
    assert _report(same) == _report(toy)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_undefined_and_ranks_last(value: float) -> None:
    curve = Curve("growth", {"x": [0, 1], "y": [value, 0.5]})
    odd = _scoring(Scores((Block(WHOLE | {"x": [value]}),), (curve,)))
    report = _report(odd)
    assert report.value("x") is None
    assert report.curve("growth").columns == {"x": [0, 1], "y": [None, 0.5]}
    worst = _report(_scoring(Scores((Block(WHOLE | {"x": [-1e300]}),))))
    assert odd.rank_key(worst) < odd.rank_key(report)


def test_a_score_may_leave_its_range_by_a_rounding_and_is_unchanged() -> None:
    over = 1.0 + 2.0**-52
    *counts, x = Toy.measures
    fractions = (*counts, structs.replace(x, unit="ratio", minimum=0.0, maximum=1.0))
    assert _report(_with(measures=fractions, scores=lambda *_: _block(x=[over]))).value("x") == over
    with pytest.raises(PlugInError, match=r"x is 1.001, outside of its declared range"):
        _report(_with(measures=fractions, scores=lambda *_: _block(x=[1.001])))


def _block(**columns: Any) -> Scores:
    return Scores((Block({**WHOLE, **columns}),))


def _warning(warning: Any) -> Scores:
    return replace(_block(), warnings=(warning,))


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        (None, "it returned None, expected Scores"),
        (_block(x=[True]), "x is True (bool), expected an int of at most 64 bits, a float or None"),
        (_block(x=[np.float64(1)]), "x is np.float64(1.0) (float64), expected an int"),
        (_block(frames=np.array([1])), "frames is np.int64(1) (int64), expected an int"),
        (_block(x=["1"]), "x is '1' (str), expected an int"),
        (_block(frames=[2**63]), "frames is 9223372036854775808 (int), expected an int"),
        (_block(frames=[-1]), "frames is -1, outside of its declared range"),
        (_block(frames=[1.5]), "frames is 1.5, outside of its declared range"),
        (_block(y=[1.0]), "y is none of its measures"),
        (_block(x=[1.0, 2.0]), "the columns of a block have different lengths"),
        (Scores(()), "there is no score over everything of x"),
        (
            replace(_block(), curves=(Curve("c", {"x": [0], "y": []}),)),
            "the columns of a curve c have different lengths: {'x': 1, 'y': 0}",
        ),
        (
            Scores((Block(WHOLE, sequences=("a", "b", "c")),)),
            "a block has 3 names for 1 scores, expected one or as many",
        ),
        (_warning("careful"), "it returned ('careful',), expected a Report"),
    ],
)
def test_scores_of_another_form_are_an_error_of_the_plug_in(scores: object, problem: str) -> None:
    with pytest.raises(PlugInError) as caught:
        _report(_scoring(scores))
    start = "scores of the evaluator 'toy' of some-plugin failed: "
    assert str(caught.value).startswith(start + problem)


@pytest.mark.parametrize(
    ("function", "value", "problem"),
    [
        ("tables", None, "it returned None, expected a mapping from names to Table"),
        ("tables", {"all": [1]}, "expected a mapping from names to Table"),
        ("faults", ["a large x"], "it returned 'a large x', expected a sequence of Fault"),
        ("faults", None, "TypeError: 'NoneType' object is not iterable"),
        ("faults", [Fault("x", "y", entry=2)], "it returned 2, expected the row of a frame"),
        ("faults", [Fault("x", "y", entry=-1)], "it returned -1, expected the row of a frame"),
        ("outcomes", [], r"it returned \[\], expected Outcomes"),
        ("outcomes", OutcomeBuilder(align(NOTHING, TRUTH)).build(), "it returned 1 outcomes, expe"),
        ("warnings", ["careful"], "it returned 'careful', expected a sequence of ReportWarning"),
        ("rank_key", None, "it returned None, expected a tuple of pairs"),
        ("rank_key", (0.5,), r"it returned \(0.5,\), expected a tuple of pairs"),
        ("rank_key", ((False, math.nan),), r"it returned \(\(False, nan\),\), expected"),
        ("rank_key", ((False, None),), r"it returned \(\(False, None\),\), expected"),
    ],
)
def test_another_result_than_the_expected_one_is_an_error_of_the_plug_in(
    function: str, value: object, problem: str
) -> None:
    odd = _with(**{function: lambda *_: value})
    with pytest.raises(PlugInError, match=f"^{function} of the evaluator .*{problem}"):
        CALLS[function](odd)
