"""The plug-in of tests/plugin, installed while a test module needs it."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.tree import ROOT

from vidscore_evaluators import presets, registry
from vidscore_evaluators.presets import _files
from vidscore_evaluators.registry import evaluator_class

PLUGIN = ROOT / "tests/plugin"


def forget_plug_ins() -> None:
    """Make the next lookup search for plug-ins again."""
    registry._plug_ins.cache_clear()
    evaluator_class.cache_clear()
    _files._plug_ins.cache_clear()
    presets._named_preset.cache_clear()


@pytest.fixture(scope="session")
def built_plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the plug-in's wheel and unpack it into a folder from which it can be imported."""
    folder = tmp_path_factory.mktemp("plugin")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=PLUGIN,
        check=True,
        capture_output=True,
    )
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def counting_plugin(built_plugin: Path) -> Iterator[Path]:
    """Install the evaluator ``count_error`` here, in worker processes and in subprocesses.

    Only for the module that asks; all other modules have only the built-in evaluators.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(built_plugin))
        inherited = os.environ.get("PYTHONPATH")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(built_plugin), inherited])))
        forget_plug_ins()
        yield built_plugin
    sys.modules.pop("vidscore_plugin_counting", None)
    importlib.invalidate_caches()
    forget_plug_ins()
