"""JSON is read as by protobuf's own reader, but all faults are reported."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.server.api.http.drawing import Drawing

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.testing.examples import example_count
from vidscore_protos.v1 import backup_pb2, scoring_service_pb2
from vidscore_protos.v1.submission_service_pb2 import AppendRequest, ListScoresRequest
from vidscore_server.api.http.openapi import openapi
from vidscore_server.api.http.protojson import MOST_FAULTS, read_json, read_value, write_json
from vidscore_server.api.local_calls import request_class
from vidscore_server.api.message_sizes import method_descriptor
from vidscore_server.domain.access import ROLES_BY_RPC

REQUESTS = [request_class(rpc) for rpc in ROLES_BY_RPC]
RESPONSES = [GetMessageClass(method_descriptor(rpc).output_type) for rpc in ROLES_BY_RPC]
KINDS = {kind.DESCRIPTOR.full_name: kind for kind in (*REQUESTS, *RESPONSES)}


LENIENT = re.compile(r"expected (an object|a number|one of [A-Z0-9_, ]+)$")
"""Protobuf's reader accepts any empty value as a message, and booleans as numbers."""

DOCUMENT = openapi(ROLES_BY_RPC)


@st.composite
def messages(draw: st.DrawFn) -> tuple[str, Any]:
    """The name of a message, and a value of its schema that may be invalid."""
    name = draw(st.sampled_from(sorted(KINDS)))
    wrong = draw(st.sampled_from([0.0, 0.0, 0.03]))
    schema = DOCUMENT["components"]["schemas"][name]
    value = Drawing(DOCUMENT).value(draw, schema, wrong)
    if isinstance(value, dict) and draw(st.booleans()):
        value = {snake(key): entry for key, entry in value.items()}
    return name, value


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)


@pytest.mark.slow
@settings(max_examples=example_count(400), deadline=None)
@given(messages())
def test_both_readers_read_the_same(drawn: tuple[str, Any]) -> None:
    name, value = drawn
    kind = KINDS[name]
    own, others = _own(kind(), value), _others(kind(), value)
    if own is None and others is not None:
        assert all(LENIENT.search(text) for text in faults_of(value, kind()))
    if own is not None:
        assert others is not None, value
        assert bytes_of(own) == bytes_of(others)
        back = kind()
        read_json(write_json(own), back)
        assert bytes_of(back) == bytes_of(own)


def bytes_of(message: Message) -> bytes:
    return message.SerializeToString(deterministic=True)


def _own(message: Message, value: Any) -> Message | None:
    try:
        read_json(json.dumps(value).encode(), message)
    except InputError:
        return None
    return message


def _others(message: Message, value: Any) -> Message | None:
    try:
        json_format.ParseDict(value, message)
        message.SerializeToString()
    except (json_format.Error, ArithmeticError, AttributeError, TypeError, ValueError):
        return None
    return message


def faults_of(value: Any, message: Message | None = None) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_value(value, message or AppendRequest())
    return [str(fault) for fault in caught.value.faults]


def test_every_fault_is_found() -> None:
    found = faults_of(
        {
            "offset": "1.5",
            "epoch": True,
            "stream": 3,
            "detections": {"coordinates": [1, "x"], "sequences": [{"domain": 1}, 2], "x": 1},
        }
    )
    whole = "an integer from -9223372036854775808 to 9223372036854775807"
    assert found == [
        f'offset: found "1.5", expected {whole}',
        f"epoch: found true, expected {whole}",
        "stream: found 3, expected a string",
        'detections.coordinates[1]: found "x", expected a number',
        "detections.sequences[0].domain: found 1, expected a string",
        "detections.sequences[1]: found 2, expected an object",
        "detections.x: found an unknown field, expected a field of AnnotationBatch",
    ]


def test_no_more_than_a_hundred_faults_are_collected() -> None:
    assert len(faults_of({"detections": {"labels": [1] * 1000}})) == MOST_FAULTS == 100


def test_a_field_given_by_both_of_its_names_is_a_fault() -> None:
    [found] = faults_of({"pageSize": 1, "page_size": 1}, ListScoresRequest())
    assert (
        found == "page_size: found pageSize and page_size, expected the field by one of its names"
    )


def test_two_fields_of_one_oneof_are_a_fault() -> None:
    [found] = faults_of({"truth": {}, "detections": {}}, scoring_service_pb2.ScoreRequest())
    assert found == "detections: found detections beside truth, expected one of the two"


@pytest.mark.parametrize("text", ["1e400", "-1e400"])
def test_a_number_out_of_bounds_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_json(f'{{"detections": {{"coordinates": [{text}]}}}}'.encode(), AppendRequest())


def test_columns_keep_every_bit() -> None:
    message = AppendRequest()
    numbers = [0.1, 1e-320, math.pi, -0.0, 5e300]
    text = json.dumps({"detections": {"coordinates": numbers, "frameNumbers": [2**62]}})
    read_json(text.encode(), message)
    assert [number.hex() for number in message.detections.coordinates] == [
        number.hex() for number in numbers
    ]
    assert list(message.detections.frame_numbers) == [2**62]


def test_bytes_are_read_in_either_base64_alphabet() -> None:
    for text in ("-_8=", "-_8", "+/8="):
        chunk = backup_pb2.ImportBackupRequest()
        read_value({"chunk": text}, chunk)
        assert chunk.chunk == b"\xfb\xff"
    assert faults_of({"chunk": "é"}, backup_pb2.ImportBackupRequest())


def test_a_quoted_value_is_shortened() -> None:
    [found] = faults_of({"epoch": "9" * 1000})
    assert len(found) < 250


def test_deep_nesting_is_a_fault() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = {"a": deep}
    assert faults_of(deep, struct_pb2.Struct())
