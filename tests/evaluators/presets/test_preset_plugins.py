"""Presets of another distribution work like built-in ones."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.clients.cli.helpers import run, well
from tests.support.plugin import forget_plug_ins

from vidscore_evaluators.errors import UnknownEvaluatorError
from vidscore_evaluators.presets import (
    broken_plug_ins,
    create_evaluators,
    find_preset,
    is_built_in,
    preset_names,
)
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

TEXT = """
title = "Birds"
benchmark = "Birds"
version = "1.0.0"
scorer = "none"
[[evaluators]]
name = "f1"
"""


@pytest.mark.usefixtures("counting_plugin")
def test_a_package_with_files_provides_presets() -> None:
    assert preset_names().index("counting-people") > preset_names().index("spotgeo")
    assert not is_built_in("counting-people")
    [evaluator] = create_evaluators(BenchmarkSpec(evaluators=(EvaluatorSpec("counting-people"),)))
    assert (evaluator.name, evaluator.preset) == ("count_error", "counting-people")
    assert evaluator.parameters.confidence_threshold == 0.25
    assert evaluator.specification.classes == ("person",)


class Point:
    """An entry point whose object is already loaded."""

    def __init__(self, name: str, value: object) -> None:
        self.name = name
        self.dist = SimpleNamespace(name=f"{name}-dist")
        self._value = value

    def load(self) -> object:
        if isinstance(self._value, BaseException):
            raise self._value
        return self._value


class Points:
    """A replacement for the entry points."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def are(self, **values: object) -> None:
        points = [Point(name, value) for name, value in values.items()]
        found = metadata.entry_points

        def played(**asked: str) -> object:
            return points if asked == {"group": "vidscore.presets"} else found(**asked)

        self._monkeypatch.setattr("importlib.metadata.entry_points", played)
        forget_plug_ins()


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Iterator[Points]:
    yield Points(monkeypatch)
    monkeypatch.undo()
    forget_plug_ins()


def test_a_folder_and_a_file_provide_presets(tmp_path: Path, points: Points) -> None:
    for name in ("birds.toml", "gulls.toml", "notes.txt"):
        (tmp_path / name).write_text(TEXT)
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone/owls.toml").write_text(TEXT)
    points.are(folder=str(tmp_path), file=tmp_path / "alone/owls.toml")
    assert preset_names()[-3:] == ("birds", "gulls", "owls")
    assert find_preset("owls").name == "owls"


def test_an_unusable_preset_is_reported_and_hides_no_other(tmp_path: Path, points: Points) -> None:
    (tmp_path / "birds.toml").write_text(TEXT)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/Bad Name.toml").write_text(TEXT)
    points.are(
        broken=ImportError("no module named x"),
        ended=SystemExit("no licence"),
        number=4,
        nowhere=str(tmp_path / "none"),
        named=str(tmp_path / "bad"),
        birds=str(tmp_path),
    )
    assert preset_names()[-1] == "birds"
    assert [line.partition(" cannot be used: ")[0] for line in broken_plug_ins()] == [
        f"the presets {name!r} of {name}-dist"
        for name in ("broken", "ended", "number", "nowhere", "named")
    ]
    with pytest.raises(UnknownEvaluatorError, match="no module named x"):
        find_preset("gulls")


def test_a_built_in_name_stays_built_in_and_another_has_one_owner(
    tmp_path: Path, points: Points
) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        for name in ("mot17", "birds"):
            (tmp_path / folder / f"{name}.toml").write_text(TEXT)
    points.are(one=str(tmp_path / "one"), two=str(tmp_path / "two"))
    assert find_preset("mot17").title != "Birds"
    with pytest.raises(UnknownEvaluatorError, match="'birds' is defined twice"):
        find_preset("birds")


def test_an_unusable_preset_is_a_warning_in_lists(tmp_path: Path, points: Points) -> None:
    (tmp_path / "birds.toml").write_text(TEXT.replace("f1", "f2"))
    (tmp_path / "hota.toml").write_text(TEXT)
    points.are(birds=str(tmp_path))
    listed = run("evaluators", "--presets")
    assert "mot17" in well(listed)
    assert "preset birds cannot be used" in listed.stderr
    assert "an evaluator has its name" in listed.stderr
    with pytest.raises(UnknownEvaluatorError) as caught:
        find_preset("birds")
    assert str(tmp_path) not in str(caught.value)
