"""The testing package says what it needs, and nothing else needs it."""

from __future__ import annotations

import subprocess
import sys

import pytest


def _python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )


@pytest.mark.parametrize("name", ["pytest", "hypothesis"])
def test_what_is_missing_is_named(name: str) -> None:
    done = _python(f"import sys; sys.modules[{name!r}] = None; import vidscore_evaluators.testing")
    assert done.returncode == 1
    assert "needs pytest and hypothesis: pip install pytest hypothesis" in done.stderr


def test_scoring_needs_neither() -> None:
    program = (
        "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None\n"
        "from vidscore_evaluators.registry import create_evaluator, evaluator_names\n"
        "print([create_evaluator(name).name for name in evaluator_names()])"
    )
    done = _python(program)
    assert done.returncode == 0, done.stderr
    assert "spotgeo" in done.stdout
