"""Messages as dictionaries, of client and server, have the keys of the policy's fields."""

from __future__ import annotations

import dataclasses

import pytest

from vidscore_client._specification import encode_definition
from vidscore_evaluators.convert import rules_of
from vidscore_evaluators.errors import SpecificationError
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_protos.dictionaries import DEFINITION, POLICY, SPECIFICATION, show_definition
from vidscore_protos.v1 import benchmark_pb2
from vidscore_server.api.definitions import read_definition, write_definition
from vidscore_server.domain.definition import KEYS
from vidscore_server.domain.policy import Policy

DOCUMENT = {
    "title": "Roads",
    "evaluators": [{"name": "map", "parameters": {"thresholds": [0.5, 0.75]}}],
    "sequences": [
        {"name": "s", "first_frame": 1, "frame_count": 7, "dont_care_frames": [[1, 4], [7, 7]]},
        {"domain": "night", "name": "t", "frame_count": 2},
    ],
    "truth_geometry": "box",
    "detection_geometry": "box",
    "public_names": ["sequences", "frame_counts"],
    "live": {"frame_rate": 25.0, "frames": "held by the participant"},
    "policy": {
        "visibility": "ladder",
        "quiet_timeout_s": 90.0,
        "submissions_in_all": 0,
        "private_sequences": ["s"],
    },
}


def test_rules_of_a_policy_and_keys_of_its_dictionary_match() -> None:
    assert {*POLICY} == {field.name for field in dataclasses.fields(Policy)}


def test_a_definition_has_the_keys_of_its_fields() -> None:
    assert {*SPECIFICATION} == {*rules_of(BenchmarkSpec)}
    assert {*SPECIFICATION, *DEFINITION, "policy"} == {*KEYS}


def test_what_a_client_writes_is_returned_by_the_server_with_defaults() -> None:
    message = write_definition(read_definition(encode_definition(DOCUMENT)))
    found = show_definition(message)
    policy = found.pop("policy")
    assert found == {key: DOCUMENT[key] for key in found}
    assert found.keys() == DOCUMENT.keys() - {"policy"}
    assert policy.items() >= DOCUMENT["policy"].items()  # type: ignore[attr-defined]
    assert policy["selection"] == "best"


@pytest.mark.parametrize(
    ("field", "number", "found"),
    [("visibility", 77, "'77'"), ("outcomes", 9, "'9'"), ("rescore", 5, "'5'")],
)
def test_an_unknown_enum_value_is_a_fault_with_its_number(
    field: str, number: int, found: str
) -> None:
    message = encode_definition(DOCUMENT)
    setattr(message.policy, field, number)
    with pytest.raises(SpecificationError) as error:
        read_definition(message)
    [fault] = error.value.faults
    assert (fault.field, fault.found) == (f"policy.{field}", found)


def test_a_client_shows_an_unknown_enum_value_as_its_number() -> None:
    message = benchmark_pb2.Benchmark()
    message.policy.visibility = 77  # type: ignore[assignment]
    message.public_names.kinds.append(8)  # type: ignore[arg-type]
    message.live.frames = 6  # type: ignore[assignment]
    found = show_definition(message)
    assert found["policy"]["visibility"] == "77"
    assert found["public_names"] == ["kind 8"]
    assert found["live"] == {"frames": "source 6"}
