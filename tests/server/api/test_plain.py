"""Plain values of messages that hold others without a type, and what may stand for messages."""

from __future__ import annotations

from google.longrunning import operations_pb2

from vidscore_protos.v1 import benchmark_pb2, organiser_pb2
from vidscore_server.api.pages import fill, plain
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.policy import Policy


def test_a_message_without_a_type_has_the_name_of_its_type() -> None:
    operation = operations_pb2.Operation(name="operations/x")
    operation.metadata.Pack(organiser_pb2.RescoreMetadata(submissions_done=2))
    found = plain(operation)
    assert found["metadata"]["type"] == "RescoreMetadata"
    assert found["metadata"]["submissions_done"] == 2
    assert (found["error"], found["response"]) == (None, None)


def test_a_definition_and_a_policy_stand_for_their_messages() -> None:
    document = {"title": "Sky", "evaluators": [{"name": "spotgeo"}]}
    request = organiser_pb2.CreateBenchmarkRequest()
    fill(request, {"benchmark": definition_from_dict(document)})
    assert request.benchmark.specification.title == "Sky"
    changed = benchmark_pb2.Benchmark()
    fill(changed, {"policy": Policy(visibility="live")})
    assert changed.policy.visibility == benchmark_pb2.VISIBILITY_LIVE
