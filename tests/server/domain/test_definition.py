"""Definitions of benchmarks: both forms are lossless, and all faults are reported at once."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from msgspec import structs
from tests.server.domain.hosted import Hosted, dots, refusal
from tests.server.store.records import NOON

from vidscore_evaluators.annotations import BOX, POINT, QUADRILATERAL, Side
from vidscore_evaluators.errors import GeometryError, SpecificationError
from vidscore_evaluators.evaluator import Direction
from vidscore_evaluators.presets import find_preset
from vidscore_protos.v1 import benchmark_pb2
from vidscore_server.api.definitions import read_definition, write_benchmark
from vidscore_server.domain.definition import (
    MAXIMUM_DESCRIPTION_LENGTH,
    Definition,
    definition_from_dict,
    definition_to_dict,
)
from vidscore_server.domain.policy import NameKind, TruthSize
from vidscore_server.store.records import BenchmarkRecord

TOML = """
title = "Dots"
truth_geometry = "point"
detection_geometry = "point"
open_time = 2026-05-01T00:00:00Z
close_time = 2026-06-01T02:00:00+02:00

[[evaluators]]
name = "spotgeo"
[evaluators.parameters]
tau = 8.0

[[sequences]]
name = "1"
frame_count = 5
frames = [1, [3, 4]]

[policy]
visibility = "final"
released_measures = ["precision"]
quiet_timeout_s = 60
ranking_measure = "mse"
selection = "latest"
submissions_per_day = 3
"""


def _read() -> Definition:
    return definition_from_dict(tomllib.loads(TOML))


def _faults(document: dict[str, Any]) -> set[str | None]:
    with pytest.raises(SpecificationError) as caught:
        definition_from_dict(document, source="x.toml")
    assert {fault.source for fault in caught.value.faults} == {"x.toml"}
    return {fault.field for fault in caught.value.faults}


def test_a_definition_has_the_content_of_its_file() -> None:
    definition = _read()
    assert definition.specification.evaluators[0].parameters == {"tau": 8.0}
    assert definition.policy.quiet_timeout_s == 60.0
    assert definition.close_time is not None
    assert definition.close_time.isoformat() == "2026-06-01T00:00:00+00:00"


def test_the_dictionary_form_is_lossless() -> None:
    assert definition_from_dict(definition_to_dict(_read())) == _read()


def test_the_message_form_is_lossless() -> None:
    record = BenchmarkRecord("b", "", None, None, NOON, NOON)
    message = write_benchmark(record, _read())
    assert (
        read_definition(benchmark_pb2.Benchmark.FromString(message.SerializeToString())) == _read()
    )


def test_every_fault_is_reported_at_once() -> None:
    document = tomllib.loads(TOML)
    document |= {
        "truth_geometry": "circle",
        "open_time": "soon",
        "unknown": 1,
        "policy": {"visibility": "all", "minimum_frames": 0, "quiet": 1},
    }
    document["sequences"][0]["frame_count"] = -1
    assert _faults(document) == {
        "truth_geometry",
        "open_time",
        "unknown",
        "policy.visibility",
        "policy.minimum_frames",
        "policy.quiet",
        "sequences[0].frame_count",
    }


def test_an_unknown_setting_of_a_policy_is_called_a_setting() -> None:
    """Only evaluators have parameters."""
    with pytest.raises(SpecificationError, match=r"policy\.quota: unknown setting; there are"):
        definition_from_dict({"policy": {"quota": 5}}, source="x.toml")


def test_a_key_below_the_head_of_a_table_is_told_its_place() -> None:
    """In TOML, what follows [policy] belongs to it."""
    with pytest.raises(
        SpecificationError,
        match=r"policy\.close_time: unknown setting; write it above the first \[table\]",
    ):
        definition_from_dict({"policy": {"close_time": "2026-05-01T00:00:00Z"}}, source="x.toml")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"evaluators": []}, "evaluators"),
        ({"evaluators": [{"name": "spotgo"}]}, "evaluators[0].name"),
        ({"detection_geometry": "box"}, "detection_geometry"),
        ({"close_time": "2026-04-01T00:00:00Z"}, "close_time"),
        ({"close_time": "2026-07-01T00:00:00"}, "close_time"),
        ({"policy": {"ranking_measure": "speed"}}, "policy.ranking_measure"),
        ({"policy": {"visibility": "final", "released_measures": ["x"]}},
         "policy.released_measures"),
        ({"policy": {"released_measures": ["precision"]}}, "policy.released_measures"),
        ({"policy": {"selection": "latest"}}, "policy.selection"),
        ({"policy": 3}, "policy"),
        ({"public_names": "sequences"}, "public_names"),
        ({"public_names": ["sequence"]}, "public_names"),
        ({"public_names": ["labels", "frame_counts"]}, "public_names"),
        ({"public_names": ["sequences"], "policy": {"visibility": "live"}}, "public_names"),
        ({"public_names": ["labels"], "policy": {"outcomes": "own", "visibility": "final"}},
         "public_names"),
        ({"close_time": "2026-05-01T00:00:00Z"}, "close_time"),
        ({"description": 3}, "description"),
        ({"description": "x" * (MAXIMUM_DESCRIPTION_LENGTH + 1)}, "description"),
        ({"evaluators": [{"name": "spotgeo"}, {"name": "coco"}]}, "truth_geometry"),
        ({"policy": {"ladder_step": -0.1}}, "policy.ladder_step"),
        ({"policy": {"visibility": "bootstrap", "selection": "latest"}}, "policy.selection"),
        ({"policy": {"private_share": 1.0}}, "policy.private_share"),
        ({"policy": {"private_sequences": 1}}, "policy.private_share"),
        ({"policy": {"private_sequences": ["a"], "private_share": 0.5}}, "policy.private_share"),
        ({"policy": {"final_submissions": 0}}, "policy.final_submissions"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_named(change: dict[str, Any], field: str) -> None:
    assert field in _faults(tomllib.loads(TOML) | change)


@pytest.mark.parametrize(
    "change",
    [
        {"policy": {"visibility": "live"}},
        {"policy": {"visibility": "final", "outcomes": "own"}},
        {"close_time": "2026-05-01T00:00:01Z"},
        {"description": "x" * MAXIMUM_DESCRIPTION_LENGTH},
    ],
)
def test_values_at_the_limits_are_accepted(change: dict[str, Any]) -> None:
    document = tomllib.loads(TOML)
    document.pop("public_names", None)
    definition_from_dict(document | change)


def test_evaluators_that_judge_different_objects_are_refused_together() -> None:
    with pytest.raises(SpecificationError) as caught:
        definition_from_dict({"evaluators": [{"name": "spotgeo"}, {"name": "coco"}]})
    assert [(fault.field, fault.found) for fault in caught.value.faults] == [
        ("truth_geometry", "spotgeo, coco"),
        ("detection_geometry", "spotgeo, coco"),
    ]


def test_the_step_is_that_of_the_policy_or_follows_from_the_truth() -> None:
    """The range of F1 is 1; for 3000 objects in 5 sequences its error is 0.09, else 0.54."""
    steps = {}
    for own in (0.0, 0.02):
        definition = definition_from_dict(
            {"evaluators": [{"name": "spotgeo"}], "policy": {"ladder_step": own}}
        )
        [evaluator] = definition.evaluators
        for size in (None, TruthSize(3000, 5)):
            sized = structs.replace(definition, truth_size=size)
            steps[own, size] = (sized.step(evaluator), sized.step_from_truth(evaluator))
    assert list(steps.values()) == [(1.0, 1.0), (0.1, 0.1), (0.02, 1.0), (0.02, 0.1)]


def test_objects_have_the_shape_of_their_side_once_it_is_chosen() -> None:
    definition = definition_from_dict({"evaluators": [{"name": "f1"}], "truth_geometry": "box"})
    assert definition.arity(Side.TRUTH) == BOX
    with pytest.raises(LookupError):
        definition.arity(Side.DETECTIONS)


def test_names_are_public_by_default() -> None:
    assert _read().public_names == {NameKind.SEQUENCES, NameKind.LABELS}
    assert definition_from_dict(tomllib.loads("public_names = []" + TOML)).public_names == set()


@pytest.mark.parametrize("public", [[], ["sequences"], ["sequences", "labels", "frame_counts"]])
def test_public_names_are_in_both_forms_without_loss(public: list[str]) -> None:
    definition = definition_from_dict({**tomllib.loads(TOML), "public_names": public})
    assert definition_to_dict(definition)["public_names"] == public
    assert definition_from_dict(definition_to_dict(definition)) == definition
    message = write_benchmark(BenchmarkRecord("b", "", None, None, NOON, NOON), definition)
    assert (
        read_definition(benchmark_pb2.Benchmark.FromString(message.SerializeToString()))
        == definition
    )


@pytest.mark.parametrize(
    ("names", "arities"),
    [
        (["spotgeo"], (POINT, POINT)),
        (["f1"], (None, None)),
        (["f1", "neovision2"], (None, None)),
    ],
)
def test_missing_shapes_follow_from_evaluators_that_allow_only_one(
    names: list[str], arities: tuple[int | None, int | None]
) -> None:
    definition = definition_from_dict({"evaluators": [{"name": name} for name in names]})
    assert (definition.truth_arity, definition.detection_arity) == arities
    assert definition_from_dict(definition_to_dict(definition)) == definition


@pytest.mark.parametrize(
    ("given", "uploaded", "settled"),
    [
        ({}, BOX, (BOX, BOX)),
        ({}, QUADRILATERAL, (QUADRILATERAL, QUADRILATERAL)),
        ({}, None, (BOX, BOX)),
        ({"detection_geometry": "box"}, QUADRILATERAL, (QUADRILATERAL, BOX)),
        ({"truth_geometry": "quadrilateral"}, None, (QUADRILATERAL, QUADRILATERAL)),
    ],
)
def test_truth_decides_shapes_that_were_still_open(
    given: dict[str, str], uploaded: int | None, settled: tuple[int, int]
) -> None:
    """For an upload without any batch, upright boxes are assumed."""
    definition = definition_from_dict({"evaluators": [{"name": "f1"}], **given})
    done = definition.with_truth_of(uploaded)
    assert (done.truth_arity, done.detection_arity) == settled


@pytest.mark.parametrize("truth", ["box", None])
def test_truth_of_a_wrong_shape_is_refused(truth: str | None) -> None:
    document = {"evaluators": [{"name": "f1"}], "truth_geometry": truth}
    definition = definition_from_dict({key: value for key, value in document.items() if value})
    with pytest.raises(GeometryError):
        definition.with_truth_of(POINT)


def test_faults_around_a_specification_are_reported_beside_those_in_it() -> None:
    document = tomllib.loads(TOML) | {"titel": "x"}
    document["evaluators"][0]["name"] = "spotgo"
    document["sequences"][0]["frame_cont"] = 1
    assert _faults(document) == {"titel", "evaluators[0].name", "sequences[0].frame_cont"}


def test_an_invalid_parameter_is_named_with_its_evaluator() -> None:
    document = tomllib.loads(TOML)
    document["evaluators"][0]["parameters"]["tau"] = -1.0
    assert _faults(document) == {"evaluators[0].parameters.tau"}


def test_an_unknown_evaluator_is_reported_in_one_sentence_with_a_suggestion() -> None:
    with pytest.raises(SpecificationError) as caught:
        definition_from_dict({"title": "Dots", "evaluators": [{"name": "spotgo"}]})
    [fault] = caught.value.faults
    assert fault.description == "no evaluator is called 'spotgo'; did you mean spotgeo?"


def test_a_message_with_an_unknown_enum_value_is_refused() -> None:
    message = write_benchmark(BenchmarkRecord("b", "", None, None, NOON, NOON), _read())
    message.policy.visibility = 77  # type: ignore[assignment]
    message.truth_geometry = 77  # type: ignore[assignment]
    with pytest.raises(SpecificationError) as caught:
        read_definition(message)
    fields = {fault.field for fault in caught.value.faults}
    assert fields == {"policy.visibility", "truth_geometry"}


def test_the_organisers_measure_ranks_instead_of_the_evaluators_order() -> None:
    definition = _read()
    assert list(definition.ranking(definition.evaluators[0])) == ["mse"]


@pytest.mark.parametrize("names", [("spotgeo", "f1"), ("f1", "spotgeo")])
def test_a_measure_ranks_only_under_evaluators_that_state_its_direction(
    names: tuple[str, ...],
) -> None:
    """spotgeo counts true positives without stating a direction."""
    taken = {"spotgeo": {}, "f1": {"base": "euclidean"}}
    definition = definition_from_dict(
        {
            "evaluators": [{"name": name, "parameters": taken[name]} for name in names],
            "policy": {"ranking_measure": "true_positives"},
        }
    )
    ranking = {one.name: definition.ranking(one) for one in definition.evaluators}
    assert ranking == {
        "f1": {"true_positives": Direction.HIGHER},
        "spotgeo": {"f1": Direction.HIGHER, "mse": Direction.LOWER},
    }


def test_a_preset_scores_with_its_evaluators_and_keeps_its_name() -> None:
    """Boards rank by the first evaluator, and name the labels that it scores."""
    definition = definition_from_dict({"evaluators": [{"name": "mot17"}]})
    expected = [entry.name for entry in find_preset("mot17").evaluators]
    assert [evaluator.name for evaluator in definition.evaluators] == expected
    assert list(definition.configurations) == expected
    assert definition.listed_labels == find_preset("mot17").labels
    assert definition_to_dict(definition)["evaluators"] == [{"name": "mot17"}]


@pytest.mark.parametrize(
    ("evaluators", "field"),
    [
        ([{"name": "mot17", "parameters": {"base": "giou"}}], "evaluators[0].parameters.base"),
        ([{"name": "mot17"}, {"name": "hota"}], "evaluators"),
        ([{"name": "/etc/mot17.toml"}], "evaluators[0].name"),
    ],
)
def test_an_invalid_preset_name_is_named(evaluators: list[dict[str, Any]], field: str) -> None:
    with pytest.raises(SpecificationError) as caught:
        definition_from_dict({"evaluators": evaluators})
    assert [fault.field for fault in caught.value.faults] == [field]


# --- Descriptions of benchmarks: lines of Markdown that an update may change


async def described(hosted: Hosted) -> str:
    return (await hosted.viewer.benchmark()).benchmark.description


async def test_a_description_may_have_lines_and_is_shown_to_everyone(hosted: Hosted) -> None:
    message = dots()
    message.description = "# Dots\r\n\r\n\tFind *them*."
    await hosted.organiser.create(message)
    assert await described(hosted) == "# Dots\n\n\tFind *them*."


@pytest.mark.parametrize("changed", ["Other words.", ""])
async def test_an_update_can_change_the_description_alone(hosted: Hosted, changed: str) -> None:
    message = dots(submissions_per_day=3)
    message.description = "Words."
    await hosted.organiser.create(message)
    update = dots()
    update.description = changed
    updated = await hosted.organiser.update(update, "description")
    assert updated.description == changed
    assert updated.policy.submissions_per_day == 3
    assert await described(hosted) == changed


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "a\u202eb", "a\x00", "x" * (MAXIMUM_DESCRIPTION_LENGTH + 1)]
)
async def test_a_description_with_control_characters_or_over_the_limit_is_refused(
    hosted: Hosted, text: str
) -> None:
    message = dots()
    message.description = text
    assert "description" in str(await refusal(hosted.organiser.create(message)))
