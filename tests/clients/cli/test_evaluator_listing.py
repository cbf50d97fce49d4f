"""What `vidscore evaluators` shows."""

from __future__ import annotations

import json

import pytest
from tests.clients.cli.helpers import run

from vidscore_cli.commands.evaluators import load_all
from vidscore_evaluators import registry
from vidscore_evaluators.registry import evaluator_names


def test_every_evaluator_is_listed_under_its_task() -> None:
    lines = run("evaluators").output.splitlines()
    assert lines[0] == "Detection"
    first_words = [line.split()[0] for line in lines if line.startswith("  ")]
    assert set(evaluator_names()) <= set(first_words)


def test_the_list_as_json_has_every_evaluator_with_its_measures() -> None:
    documents = json.loads(run("evaluators", "--format", "json").stdout)
    by_name = {document["name"]: document for document in documents}
    assert set(by_name) == set(evaluator_names())
    assert "f1" in [measure["name"] for measure in by_name["spotgeo"]["measures"]]


def test_one_evaluator_shows_parameters_with_default_unit_and_bounds() -> None:
    result = run("evaluators", "spotgeo")
    assert result.exit_code == 0
    line = next(line for line in result.output.splitlines() if line.strip().startswith("tau "))
    assert "10 px" in line
    assert "number > 0" in line


def test_one_evaluator_shows_measures_with_unit_range_and_direction() -> None:
    lines = run("evaluators", "spotgeo").output.splitlines()
    f1 = next(line for line in lines if line.strip().startswith("f1 "))
    assert f1.split()[:6] == ["f1", "ratio", "0", "to", "1", "higher"]
    assert "Ranks by: f1, then mse" in lines


def test_one_evaluator_as_json_has_the_schema_of_its_parameters() -> None:
    document = json.loads(run("evaluators", "spotgeo", "--format", "json").stdout)
    assert document["needs"]["truth"] == ["points (x, y)"]
    assert document["ranking"] == ["f1", "mse"]
    assert document["parameters"]["properties"]["tau"]["default"] == 10.0


def test_an_unknown_evaluator_is_a_usage_error_with_a_suggestion() -> None:
    result = run("evaluators", "spotgio")
    assert result.exit_code == 2
    assert "no evaluator is called 'spotgio'; did you mean spotgeo?" in result.stderr


def test_a_plug_in_that_cannot_be_loaded_does_not_hide_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = {**registry._BUILT_IN, "broken": "no_such_module:Thing"}
    monkeypatch.setattr(registry, "_BUILT_IN", broken)
    classes, sentences = load_all(["broken", "spotgeo"])
    assert [chosen.name for chosen in classes] == ["spotgeo"]
    assert sentences == [
        "evaluator broken cannot be loaded (ModuleNotFoundError: No module named 'no_such_module')"
    ]
