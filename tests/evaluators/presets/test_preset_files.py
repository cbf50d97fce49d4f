"""A preset's file is read completely or refused with every fault, whatever it contains."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.errors import InputError, SpecificationError
from vidscore_evaluators.formats.manifest import write_document
from vidscore_evaluators.presets import Preset, find_preset, read_preset, write_preset
from vidscore_evaluators.presets._files import _FOLDER, MAXIMUM_BYTES, MAXIMUM_EVALUATORS
from vidscore_evaluators.registry import is_evaluator
from vidscore_evaluators.specification import EvaluatorSpec

GOOD = """
title = "Streets"
benchmark = "Street scenes"
version = "1.2.3"
scorer = "streets.py 2"
format = "generic-csv"
labels = ["car", "bus"]

[[evaluators]]
name = "f1"
parameters = { threshold = 0.25, distractor_classes = ["tram"] }

[[evaluators]]
name = "map"
"""

FILES = sorted(_FOLDER.glob("*.toml"))


def written(folder: Path, text: str) -> Path:
    path = folder / "streets.toml"
    path.write_text(text)
    return path


def faults_of(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_preset(path, "streets")
    assert {fault.source for fault in caught.value.faults} == {str(path)}
    return [f"{fault.field}: {fault.description}" for fault in caught.value.faults]


def test_a_file_has_everything_but_its_name(tmp_path: Path) -> None:
    assert read_preset(written(tmp_path, GOOD), "streets") == Preset(
        title="Streets",
        benchmark="Street scenes",
        version="1.2.3",
        scorer="streets.py 2",
        evaluators=(
            EvaluatorSpec("f1", {"threshold": 0.25, "distractor_classes": ("tram",)}),
            EvaluatorSpec("map"),
        ),
        format="generic-csv",
        labels=("car", "bus"),
        name="streets",
    )


def test_a_users_own_file_is_named_by_its_file_name(tmp_path: Path) -> None:
    """With its suffix, so a copy of `mot17` under its own name cannot be mistaken for it."""
    path = tmp_path / "mot17.toml"
    path.write_text(GOOD)
    assert find_preset(str(path)).name == "mot17.toml"


def test_every_fault_is_reported_at_once_with_its_place(tmp_path: Path) -> None:
    broken = (
        GOOD.replace('title = "Streets"', 'titel = "Streets"')
        .replace("1.2.3", "1.2")
        .replace("generic-csv", "generic")
        .replace('"bus"', '"Car"')
        .replace("threshold", "treshold")
        .replace('"map"', '"hotta"')
    )
    faults = faults_of(written(tmp_path, broken))
    assert [fault.partition(": ")[0] for fault in faults] == [
        "titel",
        "version",
        "format",
        "labels",
        "title",
        "evaluators[0].parameters.treshold",
        "evaluators[1].name",
    ]
    assert faults[0] == "titel: unknown key; did you mean title?"
    assert "found '1.2', expected a version such as '1.0.0'" in faults[1]
    assert "did you mean hota?" in faults[6]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("title =", 'name = "x"\ntitle ='), "name: found 'x', expected no name"),
        (('labels = ["car", "bus"]', "labels = []"), "labels: found [], expected at least one"),
        (("0.25", "1.5"), "evaluators[0].parameters.threshold: found 1.5, expected at most 1"),
        (('name = "map"', 'name = "mot17"'), "evaluators[1].name: no evaluator is called 'mot17'"),
        (('name = "map"', 'name = "f1"'), "evaluators[1].name: found 'f1', expected a unique name"),
        (("Street scenes", "Street\\nscenes"), "benchmark: found 'Street\\nscenes', expected a"),
        (("0.25", "2026-01-01"), "evaluators[0].parameters.threshold: found "),
        (("parameters = {", "parameter = {"), "evaluators[0].parameter: unknown key"),
    ],
)
def test_each_fault_is_reported(tmp_path: Path, change: tuple[str, str], fault: str) -> None:
    assert any(
        found.startswith(fault) for found in faults_of(written(tmp_path, GOOD.replace(*change)))
    )


@pytest.mark.slow
def test_a_preset_has_at_least_one_evaluator_and_a_limited_number(tmp_path: Path) -> None:
    head = GOOD.partition("[[")[0]
    assert faults_of(written(tmp_path, head)) == ["evaluators: missing"]
    assert faults_of(written(tmp_path, f"{head}evaluators = []")) == [
        "evaluators: found 0, expected 1 to 64 evaluators"
    ]
    many = "".join(f'[[evaluators]]\nname = "e{index}"\n' for index in range(1000))
    assert f"evaluators: found 1000, expected 1 to {MAXIMUM_EVALUATORS} evaluators" in faults_of(
        written(tmp_path, head + many)
    )


def test_a_file_must_exist_be_small_and_be_toml(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="file not found"):
        find_preset(str(tmp_path / "none.toml"))
    large = written(tmp_path, GOOD + "#" * MAXIMUM_BYTES)
    assert "bytes, expected at most" in faults_of(large)[0]
    assert "invalid TOML" in faults_of(written(tmp_path, "title = "))[0]
    assert "32 parts" in faults_of(written(tmp_path, "a." * 40 + "b = 1"))[0]
    (tmp_path / "streets.toml").write_bytes(b"title = '\xff'")
    assert "UTF-8" in faults_of(tmp_path / "streets.toml")[0]
    assert faults_of(written(tmp_path, "a = " + "[" * 5000)) != []


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=8)
    | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


@given(
    changes=st.dictionaries(
        st.sampled_from([*tomllib.loads(GOOD), "name", "x"]), VALUES, min_size=1, max_size=3
    )
)
def test_whatever_a_key_contains_the_preset_is_read_or_refused_by_name(
    changes: dict[str, object], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No error but that of a specification; what is read can be written and read again."""
    document = {**tomllib.loads(GOOD), **changes}
    plain = {key: value for key, value in document.items() if value is not None}
    try:
        path = written(tmp_path_factory.mktemp("any"), write_document(plain))
    except (TypeError, ValueError):
        return  # Not a value of TOML.
    try:
        preset = read_preset(path, "streets")
    except SpecificationError:
        return
    path.write_text(write_preset(preset))
    assert read_preset(path, "streets") == preset


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_of_our_own_presets_is_read_and_written_again(path: Path, tmp_path: Path) -> None:
    preset = find_preset(path.stem)
    copy = tmp_path / "copy.toml"
    copy.write_text(write_preset(preset))
    assert read_preset(copy, path.stem) == preset


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_preset_with_an_evaluators_name_is_that_evaluator(path: Path) -> None:
    """Otherwise the name would mean two things."""
    if is_evaluator(path.stem):
        assert find_preset(path.stem).evaluators == (EvaluatorSpec(path.stem),)
