"""Which evaluators score, with which parameters."""

from __future__ import annotations

import click
import pytest

from vidscore_cli.inputs import select_evaluators
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

NOTHING = BenchmarkSpec()
MANIFEST = BenchmarkSpec(
    title="both",
    evaluators=(EvaluatorSpec("spotgeo", {"tau": 5.0, "epsilon": 1.0}), EvaluatorSpec("other")),
)


def test_an_evaluator_is_chosen_by_name_with_its_settings() -> None:
    specification, typed = select_evaluators(["spotgeo"], ["tau=7", "spotgeo.epsilon=2"], NOTHING)
    assert specification.evaluators == (EvaluatorSpec("spotgeo", {"tau": "7", "epsilon": "2"}),)
    assert typed == {"spotgeo": {"tau": "7", "epsilon": "2"}}


def test_a_value_may_contain_an_equals_sign_and_dots() -> None:
    _, typed = select_evaluators(["a"], ["name=x=1.5"], NOTHING)
    assert typed == {"a": {"name": "x=1.5"}}


def test_the_manifest_names_the_evaluators_if_none_is_typed() -> None:
    specification, _ = select_evaluators([], [], MANIFEST)
    assert specification == MANIFEST


def test_a_typed_evaluator_keeps_its_parameters_of_the_manifest() -> None:
    specification, _ = select_evaluators(["spotgeo"], ["tau=7"], MANIFEST)
    assert specification.title == "both"
    assert specification.evaluators == (EvaluatorSpec("spotgeo", {"tau": "7", "epsilon": 1.0}),)


def test_with_several_evaluators_a_setting_addresses_one() -> None:
    specification, _ = select_evaluators(["a", "b"], ["b.x=1"], NOTHING)
    assert specification.evaluators == (EvaluatorSpec("a"), EvaluatorSpec("b", {"x": "1"}))


@pytest.mark.parametrize(
    ("names", "settings", "reason"),
    [
        ([], [], "no evaluator: name one or more"),
        (["a", "a"], [], "named twice"),
        (["a"], ["tau"], "--set tau: expected NAME=VALUE"),
        (["a"], ["=1"], "--set =1: expected NAME=VALUE"),
        (["a"], ["b.tau=1"], "b is not being scored; address one as a.tau"),
        (["a", "b"], ["tau=1"], "several evaluators are being scored; address one as a.tau, b.tau"),
    ],
)
def test_a_meaningless_selection_is_a_usage_error(
    names: list[str], settings: list[str], reason: str
) -> None:
    with pytest.raises(click.UsageError, match=reason.replace("+", r"\+")):
        select_evaluators(names, settings, NOTHING)
