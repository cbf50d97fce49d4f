"""The testing package names its requirements, and nothing else needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import settings

from vidscore_evaluators.testing import examples


def _python(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )


@pytest.mark.parametrize("name", ["pytest", "hypothesis"])
def test_a_missing_requirement_is_named(name: str) -> None:
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


# --- Properties with their own number of examples scale up with the profile


@pytest.mark.parametrize(
    ("profile", "expected"), [(1, 6), (40, 6), (100, 6), (199, 6), (200, 12), (1000, 60)]
)
def test_a_profile_with_more_examples_multiplies_those_of_a_property(
    monkeypatch: pytest.MonkeyPatch, profile: int, expected: int
) -> None:
    monkeypatch.setattr(examples, "settings", lambda: settings(max_examples=profile))
    assert examples.example_count(6) == expected
