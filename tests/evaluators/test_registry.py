"""Evaluators are found by name, and unusable ones are reported with the reason."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.evaluators.toy import Toy, ToyParameters
from tests.support.plugin import PLUGIN, forget_plug_ins

from vidscore_evaluators import registry
from vidscore_evaluators.errors import ParameterError, PlugInError, UnknownEvaluatorError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.jobs import tally_in_parts
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.registry import (
    create_evaluator,
    evaluator_class,
    evaluator_names,
    unused_plug_ins,
    usable_evaluators,
)
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.tally_bytes import tally_to_bytes
from vidscore_evaluators.testing import make_annotations


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
def test_a_built_in_evaluator_has_its_registered_name(name: str) -> None:
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


def test_an_unknown_evaluator_gets_the_closest_known_one() -> None:
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
def test_a_name_in_another_case_or_that_of_a_measure_suggests_an_evaluator(
    name: str, advice: str
) -> None:
    with pytest.raises(UnknownEvaluatorError) as caught:
        evaluator_class(name)
    assert str(caught.value).startswith(f"no evaluator is called {name!r}; {advice}")


def test_a_plug_in_cannot_take_the_name_of_a_built_in_one(points: list[EntryPoint]) -> None:
    points.append(_point("spotgeo", "tests.evaluators.toy:Toy"))
    assert evaluator_class("spotgeo") is not Toy
    assert evaluator_names().count("spotgeo") == 1
    assert unused_plug_ins() == (
        "the evaluator 'spotgeo' of some-plugin is never used: vidscore has one of this name",
    )


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("no_such_module:Toy", "No module named 'no_such_module'"),
        ("tests.evaluators.toy:NoSuchClass", "NoSuchClass"),
        ("tests.evaluators.toy:toy", "is not a subclass of Evaluator"),
        ("tests.evaluators.toy:ToyParameters", "is not a subclass of Evaluator"),
    ],
)
def test_an_unusable_plug_in_is_named_with_the_reason(
    points: list[EntryPoint], value: str, why: str
) -> None:
    points.append(_point("toy", value))
    with pytest.raises(UnknownEvaluatorError, match=f"toy.*some-plugin.*{why}"):
        evaluator_class("toy")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("class Broken(", r"SyntaxError: '\(' was never closed \(broken.py, line 1\)"),
        ("raise ValueError('no model')", "ValueError: no model"),
        ("raise SystemExit('no model')", "SystemExit: no model"),
    ],
)
def test_a_plug_in_whose_module_fails_is_named_with_the_reason(
    points: list[EntryPoint], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, why: str
) -> None:
    """Whatever a module raises, or a list of all evaluators would fail because of one."""
    (tmp_path / "broken.py").write_text(f"{line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    points.append(_point("toy", "broken:Broken"))
    with pytest.raises(UnknownEvaluatorError, match=f"toy.*some-plugin.*{why}"):
        evaluator_class("toy")


@pytest.mark.parametrize(
    ("of", "function"), [(Toy, "__init__"), (ToyParameters, "faults")], ids=["class", "parameters"]
)
@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_an_evaluator_that_cannot_be_made_is_named_with_the_reason(
    points: list[EntryPoint],
    monkeypatch: pytest.MonkeyPatch,
    of: type,
    function: str,
    error: type[BaseException],
) -> None:
    """One benchmark with such an evaluator would otherwise fail each list of benchmarks."""

    def fail(*_: object) -> None:
        raise error("no model")

    points.append(_point("toy", "tests.evaluators.toy:Toy"))
    monkeypatch.setattr(of, function, fail, raising=False)
    reason = f"'toy' of some-plugin cannot be used: {error.__name__}: no model"
    with pytest.raises(UnknownEvaluatorError, match=reason):
        create_evaluator("toy")


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ({"unit": property(lambda _: 1 / 0)}, "unit of .* failed: ZeroDivisionError: division"),
        ({"growth": property(lambda _: "much")}, "growth of .* failed: it returned 'much'"),
        ({"useful_range": lambda *_: [].pop()}, "useful_range of .* failed: IndexError: pop from"),
        ({"useful_range": lambda *_: (0, "high")}, "expected two ends, each a number or None"),
        ({"useful_range": lambda *_: (0,)}, "expected two ends, each a number or None"),
    ],
)
def test_an_evaluator_that_does_not_say_how_it_is_used_is_refused_with_the_reason(
    points: list[EntryPoint],
    monkeypatch: pytest.MonkeyPatch,
    declared: dict[str, Any],
    reason: str,
) -> None:
    """One benchmark with such an evaluator would otherwise fail each list of benchmarks."""
    points.append(_point("odd", "tests.evaluators.toy:Odd"))
    odd = type("Odd", (Toy,), {"name": "odd", **declared})
    monkeypatch.setattr("tests.evaluators.toy.Odd", odd, raising=False)
    with pytest.raises(UnknownEvaluatorError, match=f"'odd' of .* cannot be used: .*{reason}"):
        create_evaluator("odd")


def test_an_evaluator_of_a_plug_in_is_named_with_its_distribution_if_it_fails(
    points: list[EntryPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    points.append(_point("toy", "tests.evaluators.toy:Toy", "another-plugin"))
    monkeypatch.setattr(Toy, "scores", lambda *_: sys.exit("no model"))
    toy = create_evaluator("toy")
    with pytest.raises(PlugInError, match=r"scores of .* of another-plugin failed: SystemExit: no"):
        toy.report(toy.identity_tally)


def test_a_list_of_evaluators_leaves_out_those_that_cannot_be_used(
    points: list[EntryPoint],
) -> None:
    points += [_point("ape", "x:Y"), _point("toy", "tests.evaluators.toy:Toy")]
    names = [entry.name for entry in usable_evaluators()]
    assert names == [*registry._BUILT_IN, "toy"]


@dataclass
class _Plain:
    limit: float = 1.0


@dataclass
class _Optional:
    limit: float | None = parameter(None, "A limit.")


@pytest.mark.parametrize(
    ("missing", "value", "why"),
    [
        ("name", None, "it calls itself None"),
        ("version", None, "its version is None, expected a string"),
        ("task", "detection", "its task is 'detection', expected a Task"),
        ("needs", None, "its needs is None, expected a Needs"),
        ("measures", None, "its measures is None, expected a tuple of Measure"),
        ("measures", (), "its measures is (), expected a tuple of Measure"),
        ("measures", ("x",), "its measures is ('x',), expected a tuple of Measure"),
        ("ranking", ("y",), "its ranking is ('y',), expected names of its measures"),
        ("ranking", "x", "its ranking is 'x', expected names of its measures"),
        ("ranking", ("objects",), "is ('objects',), expected names of its measures that have a"),
        ("Parameters", dict, "<class 'dict'>, expected a dataclass of fields made by"),
        ("Parameters", _Plain, "_Plain'>, expected a dataclass of fields made by"),
        ("Parameters", _Optional, "each a bool, int, float, str, Literal of strings, or tuple of"),
    ],
)
def test_a_class_that_does_not_declare_what_it_must_is_refused(
    points: list[EntryPoint],
    monkeypatch: pytest.MonkeyPatch,
    missing: str,
    value: object,
    why: str,
) -> None:
    monkeypatch.setattr(Toy, missing, value)
    points.append(_point("toy", "tests.evaluators.toy:Toy"))
    with pytest.raises(UnknownEvaluatorError, match=f"toy.*some-plugin.*{re.escape(why)}"):
        evaluator_class("toy")


def test_a_class_without_the_functions_of_an_evaluator_is_refused(
    points: list[EntryPoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Toy, "__abstractmethods__", frozenset({"tables", "growth"}))
    points.append(_point("toy", "tests.evaluators.toy:Toy"))
    with pytest.raises(UnknownEvaluatorError, match="it does not define growth, tables"):
        evaluator_class("toy")


def test_a_plug_in_must_have_its_registered_name(points: list[EntryPoint]) -> None:
    """A worker asks for the name that the evaluator gives itself."""
    points.append(_point("other", "tests.evaluators.toy:Toy"))
    with pytest.raises(UnknownEvaluatorError, match="calls itself 'toy'"):
        evaluator_class("other")


def test_two_plug_ins_of_one_name_are_refused(points: list[EntryPoint]) -> None:
    points += [_point("toy", "tests.evaluators.toy:Toy"), _point("toy", "x:Toy", "other-plugin")]
    with pytest.raises(UnknownEvaluatorError, match="some-plugin and other-plugin"):
        evaluator_class("toy")


def test_a_plug_in_that_is_installed_twice_counts_once(points: list[EntryPoint]) -> None:
    """An editable install may be found both by its folder and by its metadata."""
    points += [_point("toy", "tests.evaluators.toy:Toy")] * 2
    assert evaluator_class("toy") is Toy
    assert evaluator_names().count("toy") == 1


def test_every_invalid_parameter_is_named(points: list[EntryPoint]) -> None:
    points.append(_point("toy", "tests.evaluators.toy:Toy"))
    with pytest.raises(ParameterError) as caught:
        create_evaluator("toy", {"limit": "x", "hole": 1})
    assert [fault.field for fault in caught.value.faults] == ["limit", "hole"]


def test_an_evaluator_keeps_its_scene_and_not_the_other_evaluators(
    points: list[EntryPoint],
) -> None:
    points.append(_point("toy", "tests.evaluators.toy:Toy"))
    specification = BenchmarkSpec(title="t", evaluators=(EvaluatorSpec("toy"),))
    assert create_evaluator("toy", {}, specification).specification == BenchmarkSpec(title="t")


# --- An evaluator of another distribution works like a built-in one


TRUTH = make_annotations({("", name): {0: [(0, 0), (1, 1)], 1: []} for name in "abcd"})
DETECTIONS = make_annotations({("", name): {0: [(5, 5)]} for name in "abcd"})


@pytest.mark.usefixtures("counting_plugin")
def test_it_is_listed_after_the_built_in_ones() -> None:
    names = evaluator_names()
    assert names.index("count_error") > names.index("spotgeo")


@pytest.mark.usefixtures("counting_plugin")
def test_it_is_created_by_name_with_checked_parameters() -> None:
    evaluator = create_evaluator("count_error", {"confidence_threshold": "0.25"})
    assert evaluator.parameters.confidence_threshold == 0.25
    with pytest.raises(ParameterError, match=r"confidence_threshold: found 2, expected at most 1"):
        create_evaluator("count_error", {"confidence_threshold": 2})


@pytest.mark.usefixtures("counting_plugin")
def test_worker_processes_find_it_too() -> None:
    """One of two objects of each sequence is found, in the first of its two frames."""
    evaluator = create_evaluator("count_error")
    [tally] = tally_in_parts([evaluator], TRUTH, DETECTIONS, workers=2)
    assert tally_to_bytes(tally) == tally_to_bytes(evaluator.tally(TRUTH, DETECTIONS))
    assert evaluator.report(tally).value("count_error") == 0.5


def test_a_subprocess_finds_it_too(counting_plugin: Path) -> None:
    program = "from vidscore_evaluators.registry import *; print(evaluator_class('count_error'))"
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert "vidscore_plugin_counting.CountError" in printed.stdout
    assert os.environ["PYTHONPATH"].startswith(str(counting_plugin))


@pytest.mark.nightly
def test_it_passes_the_contract_suite_in_its_own_repository(counting_plugin: Path) -> None:
    """Its own tests run in its own folder, with only the installed packages."""
    del counting_plugin
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:asyncio", "-p", "no:cacheprovider"],
        cwd=PLUGIN,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


@pytest.fixture
def without_plugin(monkeypatch: pytest.MonkeyPatch, built_plugin: Path) -> Iterator[None]:
    """The plug-in is not installed, whatever other tests of this module left."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "path", [path for path in sys.path if path != str(built_plugin)])
        forget_plug_ins()
        yield
    forget_plug_ins()


@pytest.mark.usefixtures("without_plugin")
def test_without_the_distribution_there_is_no_such_evaluator() -> None:
    assert "count_error" not in evaluator_names()
    with pytest.raises(UnknownEvaluatorError, match="count_error"):
        create_evaluator("count_error")
