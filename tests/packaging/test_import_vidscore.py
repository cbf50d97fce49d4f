"""`import vidscore` is the library: complete, typed, and fast to import."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.packaging.test_wheels import DISTRIBUTIONS, build
from tests.support.tree import ROOT
from tools.library_types import STUB, library_types

import vidscore
import vidscore_evaluators
from vidscore_evaluators.scoring import score

ARRAYS = {"sequence": ["street"], "frame": [0], "x": [1.0], "y": [2.0]}


@pytest.mark.parametrize("name", vidscore_evaluators.__all__)
def test_it_exports_what_the_evaluators_export(name: str) -> None:
    assert getattr(vidscore, name) is getattr(vidscore_evaluators, name)
    assert name in dir(vidscore)


def test_a_name_that_it_does_not_export_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'vidscore' has no attribute 'scores'"):
        _ = vidscore.scores  # type: ignore[attr-defined]


def test_its_types_are_those_of_the_registry() -> None:
    assert STUB.read_text("utf-8") == library_types(), "run `make docs`"


def test_its_types_have_every_option_of_score() -> None:
    parameters = inspect.signature(score).parameters.values()
    options = {entry.name for entry in parameters if entry.kind is entry.KEYWORD_ONLY}
    [declared] = [
        text for text in library_types().split("\nclass ") if text.startswith("_Options(")
    ]
    assert {line.split(":")[0] for line in _fields(declared)} == options


def _fields(declared: str) -> list[str]:
    lines = (line.strip() for line in declared.splitlines()[1:])
    return [line for line in lines if line and not line.startswith('"""')]


def test_an_unknown_parameter_of_an_evaluator_is_a_type_error_too() -> None:
    """The type checker of `make check` refuses an unused ignore comment."""
    report: vidscore.Report = vidscore.score("f1", ARRAYS, ARRAYS, base="euclidean", cutoff_px=5)
    assert report.value("f1") == 1.0
    with pytest.raises(vidscore.ParameterError):
        vidscore.score("f1", ARRAYS, ARRAYS, tresholds=5)  # type: ignore[call-overload]


def test_a_numpy_array_may_replace_a_list_for_type_checkers_too() -> None:
    box = {"sequence": ["a"], "frame": [0], "x1": [0.0], "y1": [0.0], "x2": [9.0], "y2": [9.0]}
    report = vidscore.score("map", box, box, thresholds=np.linspace(0.5, 0.9, 5))
    assert report.parameters["thresholds"] == (0.5, 0.6, 0.7, 0.8, 0.9)
    assert json.loads(report.to_json())["parameters"]["thresholds"] == [0.5, 0.6, 0.7, 0.8, 0.9]


def test_the_type_of_a_preset_says_how_many_reports_there_are() -> None:
    """And that it takes no parameters; arrays need no format."""
    box = {"sequence": ["a"], "frame": [0], "x1": [0.0], "y1": [0.0], "x2": [9.0], "y2": [9.0]}
    report: vidscore.Report = vidscore.score("coco-detection", box, box)
    assert (report.evaluator, report.preset, report.value("ap")) == ("coco", "coco-detection", 1.0)
    with pytest.raises(vidscore.ParameterError):
        vidscore.score("mot17", box, box, base="giou")  # type: ignore[call-overload]
    with pytest.raises(vidscore.InputError):
        _reports(vidscore.score("mot17", "none", "none"))


def _reports(several: tuple[vidscore.Report, ...]) -> None:
    del several


def test_importing_it_imports_no_numpy() -> None:
    program = "import sys, vidscore; print('numpy' in sys.modules)"
    assert _run(program) == "False"


def test_the_client_alone_has_the_former_name_of_its_protocol(tmp_path: Path) -> None:
    _unpack(tmp_path, "vidscore-client")
    assert _run(_USE_FORMER_NAME, tmp_path) == "True"


@pytest.mark.nightly
def test_both_distributions_share_a_folder(tmp_path: Path) -> None:
    _unpack(tmp_path, *DISTRIBUTIONS)
    use = "import vidscore; assert callable(vidscore.score)\n" + _USE_FORMER_NAME
    assert _run(use, tmp_path) == "True"


_USE_FORMER_NAME = """
import vidscore.v1, vidscore_protos.v1
print(vidscore.v1 is vidscore_protos.v1 and vidscore_protos.__file__.startswith(sys.path[0]))
"""


def _unpack(folder: Path, *distributions: str) -> None:
    """Install wheels into a folder; no file may be in two of them."""
    for name in distributions:
        with zipfile.ZipFile(build(DISTRIBUTIONS[name][0], "wheel", folder / "dist")) as wheel:
            assert [file for file in wheel.namelist() if (folder / file).is_file()] == []
            wheel.extractall(folder)


def _run(program: str, folder: Path | None = None) -> str:
    """The output of a program with this folder in place of the source tree."""
    head = "import sys\n"
    if folder is not None:
        others = f"[path for path in sys.path if path and not path.startswith({_SOURCES!r})]"
        head += f"sys.path = [{str(folder)!r}, *{others}]\n"
    done = subprocess.run(
        [sys.executable, "-c", head + program], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


_SOURCES = tuple(str(ROOT / root) for root in ("evaluators", "server", "clients"))
