"""An evaluator of another distribution is an evaluator like those that are built in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.plugin import PLUGIN, forget_plug_ins

from vidscore_evaluators.errors import ParameterError, UnknownEvaluatorError
from vidscore_evaluators.jobs import tally_in_parts
from vidscore_evaluators.registry import create_evaluator, evaluator_names
from vidscore_evaluators.tally_bytes import tally_to_bytes
from vidscore_evaluators.testing import make_annotations

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
    """Of two objects each sequence has one found, in the first of its two frames."""
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
def test_it_passes_the_contract_suite_in_a_repository_of_its_own(counting_plugin: Path) -> None:
    """Its own tests run in its own folder, with nothing but the installed packages."""
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
