"""Every built-in evaluator passes the contract suite, in at least one configuration.

The suite itself is beside each evaluator's other tests, where its labels, frames and flags are
chosen; this module checks that none is missing.
"""

from __future__ import annotations

import importlib
from functools import cache

import pytest
from tests.support.tree import ROOT

from vidscore_evaluators.registry import _BUILT_IN as BUILT_IN
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import EvaluatorContract


@cache
def _suites() -> list[type[EvaluatorContract]]:
    """Suites that pytest collects below this folder: classes named Test in modules named test_."""
    suites = []
    for path in sorted((ROOT / "tests/evaluators").rglob("test_*contract*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for value in vars(importlib.import_module(name)).values():
            is_suite = isinstance(value, type) and issubclass(value, EvaluatorContract)
            if is_suite and value.__name__.startswith("Test"):
                suites.append(value)
    return suites


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_an_evaluator_is_under_the_contract(name: str) -> None:
    assert [suite for suite in _suites() if suite.evaluator.name == name]


@pytest.mark.parametrize("profile", ["protocol", "kelvins"])
def test_both_profiles_of_spotgeo_are_under_the_contract(profile: str) -> None:
    evaluator = create_evaluator("spotgeo", {"profile": profile})
    assert [suite for suite in _suites() if suite.evaluator.identity == evaluator.identity]


@pytest.mark.parametrize(
    ("parameter", "value"), [("frames", "all"), ("merged_shape", "union"), ("thresholds", "all")]
)
def test_each_variant_of_neovision2_is_under_the_contract(parameter: str, value: str) -> None:
    assert [
        suite
        for suite in _suites()
        if suite.evaluator.name == "neovision2"
        and getattr(suite.evaluator.parameters, parameter) == value
    ]


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_every_law_is_checked_for_every_evaluator(name: str) -> None:
    """A law that all suites of an evaluator override would never be checked for it."""
    suites = [suite for suite in _suites() if suite.evaluator.name == name]
    for law in [law for law in vars(EvaluatorContract) if law.startswith("test_")]:
        own = getattr(EvaluatorContract, law)
        assert any(getattr(suite, law) is own for suite in suites), law
