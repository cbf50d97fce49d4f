"""The description of an evaluator on the wire equals what its class declares."""

from __future__ import annotations

import pytest
from google.protobuf.json_format import MessageToDict

from vidscore_evaluators.parameters import json_schema
from vidscore_evaluators.registry import evaluator_class
from vidscore_protos.v1 import annotations_pb2, evaluator_service_pb2
from vidscore_server.api.server import write_evaluator

pytestmark = pytest.mark.usefixtures("moody")


def test_the_schema_of_the_parameters_is_the_json_schema() -> None:
    chosen = evaluator_class("moody")
    message = write_evaluator(chosen)
    assert MessageToDict(message.parameters_schema) == json_schema(chosen.Parameters)


def test_names_measures_and_needs_are_those_of_the_class() -> None:
    message = write_evaluator(evaluator_class("moody"))
    assert message.name == "evaluators/moody"
    assert (message.version, message.task) == ("1", "detection")
    assert [measure.name for measure in message.measures] == ["frames", "objects", "detections"]
    assert list(message.ranking) == ["objects"]
    assert list(message.truth_geometries) == [annotations_pb2.GEOMETRY_POINT]
    assert list(message.detection_geometries) == [annotations_pb2.GEOMETRY_POINT]
    assert (message.uses_confidences, message.needs_tracks) == (True, False)


def test_a_measure_without_an_upper_bound_has_none_on_the_wire() -> None:
    [frames, *_] = write_evaluator(evaluator_class("moody")).measures
    assert frames.HasField("minimum")
    assert not frames.HasField("maximum")
    assert frames.direction == evaluator_service_pb2.DIRECTION_NONE
    assert (frames.unit, frames.averaging) == ("count", "pooled")
