"""Messages as plain values, and back."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from google.longrunning import operations_pb2
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st
from tests.server.scene import points

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, organiser_pb2, report_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api import pages
from vidscore_server.api.batches import read_stored_batch
from vidscore_server.api.pages import fill, plain
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.policy import Policy
from vidscore_server.runtime import LARGE
from vidscore_server.web.site.service import Visitor

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def _filled(message: Message, **values: object) -> Message:
    fill(message, values)
    return message


def test_times_enums_numbers_and_missing_fields_become_plain_values() -> None:
    message = pb.Submission(
        name="benchmarks/b/submissions/s",
        state=pb.SUBMISSION_STATE_WAITING_FOR_TRUTH,
        frame_count=1 << 40,
        streams=[pb.StreamInfo(stream="default", epoch=2)],
    )
    message.create_time.FromDatetime(NOON)
    found = plain(message)
    assert found["state"] == "waiting_for_truth"
    assert found["frame_count"] == 1 << 40
    assert found["create_time"] == NOON
    assert found["seal_time"] is None
    [stream] = found["streams"]
    assert (stream["stream"], stream["epoch"], stream["next_offset"]) == ("default", 2, 0)
    assert found["warnings"] == []


@pytest.mark.parametrize("count", [1, LARGE])
async def test_only_a_large_answer_is_converted_in_a_thread(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes seconds; nothing else would be answered meanwhile."""
    scores = [report_pb2.Score(measure="f1") for _ in range(count)]
    threads: list[threading.Thread] = []

    class Calls:
        rpcs = MappingProxyType({"/vidscore.v1.A/B": None})

        async def unary(self, *_: object) -> Message:
            return report_pb2.Report(scores=scores)

    def record(_: Message) -> dict[str, object]:
        threads.append(threading.current_thread())
        return {}

    monkeypatch.setattr(pages, "plain", record)
    monkeypatch.setattr(pages, "_request", lambda *_: None)
    calls = pages.PageCalls(Calls(), None)  # type: ignore[arg-type]
    await calls.call("A/B", Visitor())
    assert (threads == [threading.main_thread()]) == (count == 1)


def test_a_missing_optional_number_is_none_and_not_zero() -> None:
    assert plain(benchmark_pb2.Policy())["ladder_step"] is None
    assert plain(benchmark_pb2.Policy(ladder_step=0.0))["ladder_step"] == 0.0


def test_maps_are_dictionaries_and_durations_seconds() -> None:
    assert plain(report_pb2.Report(software={"numpy": "2"}))["software"] == {"numpy": "2"}
    policy = benchmark_pb2.Policy()
    policy.quiet_timeout.FromMilliseconds(1500)
    assert plain(policy)["quiet_timeout"] == 1.5


def test_an_unspecified_enum_is_an_empty_word() -> None:
    assert plain(benchmark_pb2.Policy())["visibility"] == ""


def test_a_field_that_a_message_lacks_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill(pb.Submission(), {"nmae": "x"})


def test_annotations_can_replace_a_batch() -> None:
    batch = points({1: [(10.0, 20.0)], 2: []})
    annotations = read_stored_batch(batch.SerializeToString(), 2)
    message = _filled(pb.AppendRequest(), stream="s", offset=3, detections=annotations)
    assert isinstance(message, pb.AppendRequest)
    assert message.offset == 3
    assert list(message.detections.frame_numbers) == [1, 2]
    assert isinstance(message.detections, annotations_pb2.AnnotationBatch)


def test_a_mask_is_a_list_of_paths() -> None:
    message = _filled(organiser_pb2.UpdateBenchmarkRequest(), update_mask=["policy.visibility"])
    assert plain(message)["update_mask"] == ["policy.visibility"]


@given(
    st.builds(
        benchmark_pb2.Policy,
        visibility=st.sampled_from([0, 1, 2, 3]),
        ladder_step=st.none() | st.floats(0.0, 1.0),
        released_measures=st.lists(st.text(max_size=5), max_size=3),
        submissions_in_all=st.integers(-1, 1 << 20),
        public_board=st.none() | st.booleans(),
    )
)
def test_plain_values_can_fill_a_message_again(policy: benchmark_pb2.Policy) -> None:
    assert _filled(benchmark_pb2.Policy(), **plain(policy)) == policy


# --- Messages that contain messages of any type, and plain values for them


def test_a_message_without_a_type_has_the_name_of_its_type() -> None:
    operation = operations_pb2.Operation(name="operations/x")
    operation.metadata.Pack(organiser_pb2.RescoreMetadata(submissions_done=2))
    found = plain(operation)
    assert found["metadata"]["type"] == "RescoreMetadata"
    assert found["metadata"]["submissions_done"] == 2
    assert (found["error"], found["response"]) == (None, None)


def test_a_definition_and_a_policy_can_replace_their_messages() -> None:
    document = {"title": "Sky", "evaluators": [{"name": "spotgeo"}]}
    request = organiser_pb2.CreateBenchmarkRequest()
    fill(request, {"benchmark": definition_from_dict(document)})
    assert request.benchmark.specification.title == "Sky"
    changed = benchmark_pb2.Benchmark()
    fill(changed, {"policy": Policy(visibility="live")})
    assert changed.policy.visibility == benchmark_pb2.VISIBILITY_LIVE
