"""The output of `vidscore evaluators`."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from tests.clients.cli.helpers import run

from vidscore_cli.commands.evaluators import load_all
from vidscore_cli.completions import complete_evaluator
from vidscore_evaluators import registry
from vidscore_evaluators.presets import find_preset, preset_names
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


def test_values_of_a_sweep_are_left_out_only_if_the_steps_are_equal() -> None:
    shown = run("evaluators", "spotgeo").output
    assert "Swept over 4, 5, 6, 8, 10, 12, 15, 20." in shown
    assert "Swept over 0, 1, ..., 6." in shown


def test_one_evaluator_shows_measures_with_unit_range_and_direction() -> None:
    lines = run("evaluators", "spotgeo").output.splitlines()
    f1 = next(line for line in lines if line.strip().startswith("f1 "))
    assert f1.split()[:6] == ["f1", "ratio", "0", "to", "1", "higher"]
    assert "Ranks by: f1, then mse" in lines


def test_masks_are_listed_only_for_evaluators_that_compare_them() -> None:
    needs = {name: run("evaluators", name).output for name in ("f1", "hota", "spotgeo")}
    assert "Needs:    upright boxes or corners or points or masks, confidences\n" in needs["f1"]
    assert "Needs:    upright boxes or corners or points or masks, tracks\n" in needs["hota"]
    assert "Needs:    points\n" in needs["spotgeo"]


def test_one_evaluator_as_json_has_the_schema_of_its_parameters() -> None:
    document = json.loads(run("evaluators", "spotgeo", "--format", "json").stdout)
    assert document["needs"]["truth"] == ["points (x, y)"]
    assert document["ranking"] == ["f1", "mse"]
    assert document["parameters"]["properties"]["tau"]["default"] == 10.0


def test_an_unknown_evaluator_is_a_usage_error_with_a_suggestion() -> None:
    result = run("evaluators", "spotgio")
    assert result.exit_code == 2
    assert "no evaluator is called 'spotgio'; did you mean spotgeo?" in result.stderr


def test_presets_are_listed_by_benchmark_with_the_official_scorer() -> None:
    lines = run("evaluators").output.splitlines()
    at = lines.index("MOTChallenge")
    found = next(line for line in lines[at:] if line.split()[:1] == ["mot17"])
    assert find_preset("mot17").scorer in found


def test_the_presets_alone_are_a_list_in_json_too() -> None:
    documents = json.loads(run("evaluators", "--presets", "--format", "json").stdout)
    assert [document["name"] for document in documents] == list(preset_names())
    own = find_preset("mot17")
    [found] = [document for document in documents if document["name"] == "mot17"]
    assert found == json.loads(run("evaluators", "mot17", "--format", "json").stdout)
    assert found["labels"] == list(own.labels or ())
    assert (found["format"], found["scorer"]) == (own.format, own.scorer)
    assert [entry["name"] for entry in found["evaluators"]] == [
        entry.name for entry in own.evaluators
    ]


def test_one_preset_shows_its_evaluators_parameters_labels_and_format() -> None:
    own = find_preset("mot17")
    text = run("evaluators", "mot17").output
    assert f"Reproduces: {own.scorer}" in text
    assert f"Files:      {own.format}" in text
    assert f"Labels:     {', '.join(own.labels or ())}" in text
    for entry in own.evaluators:
        assert entry.name in text
        assert all(name in text for name in entry.parameters)


def test_the_toml_of_a_preset_is_a_valid_preset(tmp_path: Path) -> None:
    path = str(tmp_path / "my.toml")
    assert run("evaluators", "mot17", "--format", "toml", "--output", path).exit_code == 0
    assert replace(find_preset(path), name="mot17") == find_preset("mot17")
    shown = json.loads(run("evaluators", path, "--format", "json").stdout)
    assert shown["name"] == "my.toml"


@pytest.mark.parametrize("arguments", [(), ("f1",), ("spotgeo",)])
def test_only_a_preset_may_be_a_file(arguments: tuple[str, ...]) -> None:
    result = run("evaluators", *arguments, "--format", "toml")
    assert result.exit_code == 2
    assert "name a preset" in result.stderr


def test_a_file_that_is_not_a_preset_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("titel = 1")
    result = run("evaluators", str(tmp_path / "my.toml"))
    assert result.exit_code == 1
    assert "titel: unknown key; did you mean title?" in result.stderr


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        (("score", "mot17", "--set", "base=giou"), "the preset mot17 fixes its parameters"),
        (("score", "mot17", "--set", "hota.base=giou"), "the preset mot17 fixes its parameters"),
        (("score", "mot17", "hota"), "hota of the preset mot17 and by itself"),
        (("trust", "consistency", "mot17"), "mot17 is a preset, for files of its benchmark"),
        (("trust", "criterion", "mot17"), "mot17 is a preset, for files of its benchmark"),
        (("validate", "gt", "--evaluator", "mot71"), "did you mean mot17?"),
    ],
)
def test_options_that_do_not_fit_a_preset_are_a_usage_error(
    typed: tuple[str, ...], reason: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    files = ("--truth", "gt", "--detections", "tracks") if typed[0] == "score" else ()
    result = run(*typed, *files)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_check_uses_the_format_of_the_preset(tmp_path: Path) -> None:
    """The content of a tracker's file alone does not show its format."""
    (tmp_path / "own.toml").write_text(
        'title = "x"\nbenchmark = "x"\nversion = "1.0.0"\nscorer = "x"\nformat = "yolo-text"\n'
        '[[evaluators]]\nname = "f1"\n'
    )
    (tmp_path / "boxes.csv").write_text("sequence,frame,x1,y1,x2,y2\ns,1,1,2,3,4\n")
    asked = ("validate", str(tmp_path / "boxes.csv"))
    assert run(*asked).exit_code == 0
    assert run(*asked, "--evaluator", str(tmp_path / "own.toml")).exit_code != 0
    both = (*asked, "--evaluator", str(tmp_path / "own.toml"), "--input-format", "generic-csv")
    assert run(*both).exit_code == 0


def test_names_of_presets_are_completed() -> None:
    command, parameter = click.Command("score"), click.Argument(["name"])
    found = complete_evaluator(click.Context(command), parameter, "mot1")
    assert "mot17" in found
    assert "spotgeo" in complete_evaluator(click.Context(command), parameter, "spot")


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


def test_a_plug_in_with_the_name_of_a_built_in_evaluator_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("f1", "theirs:F1", registry.ENTRY_POINT_GROUP)
    vars(point).update(dist=SimpleNamespace(name="theirs"))
    monkeypatch.setattr(registry, "_plug_ins", lambda: {"f1": [point]})
    said = run("evaluators").stderr
    assert "Warning: the evaluator 'f1' of theirs is never used: vidscore has one of" in said
