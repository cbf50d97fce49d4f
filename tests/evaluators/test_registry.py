"""Evaluators are found by name, and what cannot be used says why."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest
from tests.evaluators.toy import Toy

from vidscore_evaluators import registry
from vidscore_evaluators.errors import ParameterError, UnknownEvaluatorError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.registry import create_evaluator, evaluator_class, evaluator_names
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """Entry points as if they were installed; a test adds its own."""
    found: list[EntryPoint] = []
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group: [*found] if group == registry.ENTRY_POINT_GROUP else [],
    )
    monkeypatch.setattr(registry, "_plug_ins", registry._plug_ins.__wrapped__)
    evaluator_class.cache_clear()
    yield found
    evaluator_class.cache_clear()


def _point(name: str, value: str, distribution: str = "some-plugin") -> EntryPoint:
    point = EntryPoint(name, value, registry.ENTRY_POINT_GROUP)
    vars(point).update(dist=SimpleNamespace(name=distribution))
    return point


@pytest.mark.parametrize("name", list(registry._BUILT_IN))
def test_a_built_in_evaluator_is_called_what_it_is_registered_as(name: str) -> None:
    assert issubclass(evaluator_class(name), Evaluator)
    assert create_evaluator(name).name == name


def test_names_of_plug_ins_follow_in_order(points: list[EntryPoint]) -> None:
    built_in = evaluator_names()
    points += [_point("zebra", "tests.evaluators.toy:Toy"), _point("ape", "x:Y")]
    assert evaluator_names() == (*built_in, "ape", "zebra")


def test_a_plug_in_is_loaded_by_its_entry_point(points: list[EntryPoint]) -> None:
    points.append(_point("toy", "tests.evaluators.toy:Toy"))
    assert evaluator_class("toy") is Toy
    assert create_evaluator("toy", {"limit": "5"}).parameters.limit == 5.0


def test_an_unknown_name_gets_the_closest_known_one() -> None:
    with pytest.raises(UnknownEvaluatorError, match="'spotgoe'; did you mean spotgeo"):
        evaluator_class("spotgoe")
    with pytest.raises(UnknownEvaluatorError, match="there are spotgeo, neovision2"):
        create_evaluator("")


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("F1", "did you mean f1?"),
        ("MAP", "did you mean map?"),
        ("mota", "mota is a measure of clear"),
        ("AP", "AP is a measure of map"),
        ("AP50", "AP50 is a measure of map"),
        ("idf1", "idf1 is a measure of identity"),
        ("SpotGoe", "did you mean spotgeo?"),
    ],
)
def test_a_name_in_another_case_or_that_of_a_measure_leads_to_an_evaluator(
    name: str, advice: str
) -> None:
    with pytest.raises(UnknownEvaluatorError) as caught:
        evaluator_class(name)
    assert str(caught.value).startswith(f"no evaluator is called {name!r}; {advice}")


def test_a_plug_in_cannot_take_the_name_of_a_built_in_one(points: list[EntryPoint]) -> None:
    points.append(_point("spotgeo", "tests.evaluators.toy:Toy"))
    assert evaluator_class("spotgeo") is not Toy
    assert evaluator_names().count("spotgeo") == 1


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module:Toy", "No module named 'no_such_module'"),
        ("tests.evaluators.toy:NoSuchClass", "NoSuchClass"),
        ("tests.evaluators.toy:toy", "is no subclass of Evaluator"),
        ("tests.evaluators.toy:ToyParameters", "is no subclass of Evaluator"),
    ],
)
def test_a_plug_in_that_cannot_be_used_is_named_with_the_reason(
    points: list[EntryPoint], value: str, why: str
) -> None:
    points.append(_point("toy", value))
    with pytest.raises(UnknownEvaluatorError, match=f"toy.*some-plugin.*{why}"):
        evaluator_class("toy")


def test_a_plug_in_must_be_called_what_it_is_registered_as(points: list[EntryPoint]) -> None:
    """A worker asks for the name that the evaluator gives itself."""
    points.append(_point("other", "tests.evaluators.toy:Toy"))
    with pytest.raises(UnknownEvaluatorError, match="calls itself 'toy'"):
        evaluator_class("other")


def test_two_plug_ins_of_one_name_are_refused(points: list[EntryPoint]) -> None:
    points += [_point("toy", "tests.evaluators.toy:Toy"), _point("toy", "x:Toy", "other-plugin")]
    with pytest.raises(UnknownEvaluatorError, match="some-plugin and other-plugin"):
        evaluator_class("toy")


def test_a_plug_in_that_is_installed_twice_is_one(points: list[EntryPoint]) -> None:
    """An editable install may be found both by its folder and by its metadata."""
    points += [_point("toy", "tests.evaluators.toy:Toy")] * 2
    assert evaluator_class("toy") is Toy
    assert evaluator_names().count("toy") == 1


def test_every_wrong_parameter_is_named(points: list[EntryPoint]) -> None:
    points.append(_point("toy", "tests.evaluators.toy:Toy"))
    with pytest.raises(ParameterError) as caught:
        create_evaluator("toy", {"limit": "x", "hole": 1})
    assert [fault.field for fault in caught.value.faults] == ["limit", "hole"]


def test_an_evaluator_keeps_its_scene_and_not_its_company(points: list[EntryPoint]) -> None:
    points.append(_point("toy", "tests.evaluators.toy:Toy"))
    specification = BenchmarkSpec(title="t", evaluators=(EvaluatorSpec("toy"),))
    assert create_evaluator("toy", {}, specification).specification == BenchmarkSpec(title="t")
