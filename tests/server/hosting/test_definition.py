"""Definitions of benchmarks: two forms without loss, and every fault at once."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from tests.server.store.records import NOON

from vidscore.v1 import benchmark_service_pb2 as pb
from vidscore_evaluators.errors import SpecificationError
from vidscore_server.codec.benchmark_codec import read_definition, write_benchmark
from vidscore_server.hosting.definition import Definition, definition_from_dict, definition_to_dict
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


def test_what_a_file_says_is_what_the_definition_has() -> None:
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
    assert read_definition(pb.Benchmark.FromString(message.SerializeToString())) == _read()


def test_every_fault_is_told_at_once() -> None:
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
        ({"policy": {"ladder_step": 0}}, "policy.ladder_step"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(change: dict[str, Any], field: str) -> None:
    assert field in _faults(tomllib.loads(TOML) | change)


def test_a_parameter_that_is_wrong_is_named_with_its_evaluator() -> None:
    document = tomllib.loads(TOML)
    document["evaluators"][0]["parameters"]["tau"] = -1.0
    assert _faults(document) == {"evaluators[0].parameters.tau"}


def test_a_message_with_an_unknown_enumeration_is_refused() -> None:
    message = write_benchmark(BenchmarkRecord("b", "", None, None, NOON, NOON), _read())
    message.policy.visibility = 77  # type: ignore[assignment]
    message.truth_geometry = 77  # type: ignore[assignment]
    with pytest.raises(SpecificationError) as caught:
        read_definition(message)
    fields = {fault.field for fault in caught.value.faults}
    assert fields == {"policy.visibility", "truth_geometry"}


def test_the_organisers_measure_ranks_in_place_of_the_evaluators_order() -> None:
    definition = _read()
    assert list(definition.ranking(definition.evaluators[0])) == ["mse"]
