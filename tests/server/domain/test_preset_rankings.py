"""What ranks in a trust analysis of a benchmark that names a preset."""

from __future__ import annotations

import pytest

from vidscore_evaluators.presets import find_preset
from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.trust_plans import ranking_evaluators

DEFINITION = definition_from_dict({"evaluators": [{"name": "mot17"}]})
HOTA = next(entry for entry in find_preset("mot17").evaluators if entry.name == "hota")


def test_its_evaluators_rank_with_its_parameters_and_labels() -> None:
    found = ranking_evaluators(DEFINITION, ())
    names = [entry.name for entry in find_preset("mot17").evaluators]
    assert list(dict.fromkeys(one.name for one in found)) == names
    assert {one.classes for one in found} == {find_preset("mot17").labels}
    created = found[0].request(DEFINITION.specification).create()
    assert created.specification.classes == find_preset("mot17").labels


def test_an_evaluator_of_it_that_is_named_keeps_what_the_preset_sets() -> None:
    [found] = ranking_evaluators(DEFINITION, [EvaluatorSpec("hota", {"base": "giou"})])
    assert found.parameters["base"] == "giou"
    assert {name: found.parameters[name] for name in HOTA.parameters} == dict(HOTA.parameters)
    assert found.classes == find_preset("mot17").labels


def test_a_preset_may_rank_a_benchmark_of_others() -> None:
    other = definition_from_dict({"evaluators": [{"name": "f1"}], "truth_geometry": "box"})
    found = ranking_evaluators(other, [EvaluatorSpec("mot17")])
    assert found[0].classes == find_preset("mot17").labels
    assert ranking_evaluators(other, ())[0].classes is None


def test_a_preset_takes_no_parameters_here_either() -> None:
    with pytest.raises(ExceptionGroup) as caught:
        ranking_evaluators(DEFINITION, [EvaluatorSpec("mot17", {"base": "giou"})])
    assert caught.group_contains(Exception, match="fixes its parameters")


def test_an_evaluator_ranks_once_by_itself_or_of_a_preset() -> None:
    """By itself it would be completed by what the preset sets, and both rankings be the same."""
    with pytest.raises(ExceptionGroup) as caught:
        ranking_evaluators(DEFINITION, [EvaluatorSpec("hota"), EvaluatorSpec("mot17")], "chosen")
    [error] = caught.value.exceptions
    assert str(error) == (
        "chosen: found hota by itself and of the preset mot17, expected each evaluator once; "
        "score them one after the other"
    )
