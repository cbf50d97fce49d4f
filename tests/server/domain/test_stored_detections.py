"""ReadDetections: a team reads back what it has sent, in order, and can resume."""

from __future__ import annotations

import grpc
import numpy as np
from tests.server.domain.hosted import BENCHMARK, TRUTH, Client, Hosted, refusal
from tests.server.scene import HERE, points

from vidscore_evaluators.annotations import POINT, concatenate
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.batches import data_of, read_stored_batch
from vidscore_server.api.requests import MAXIMUM_RESPONSE_BYTES
from vidscore_server.api.stored_frames import write_pieces

ONE = f"{BENCHMARK}/submissions/one"


async def _read(client: Client, **asked: object) -> list[pb.ReadDetectionsResponse]:
    request = pb.ReadDetectionsRequest(**({"submission": ONE} | asked))  # type: ignore[arg-type]
    call = client.submissions.ReadDetections(request, metadata=client.metadata)
    return [response async for response in call]


def _numbers(responses: list[pb.ReadDetectionsResponse]) -> list[tuple[str, int]]:
    return [
        (response.stream, number)
        for response in responses
        for number in response.detections.frame_numbers
    ]


async def _two_streams(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(TRUTH)
    stream = await hosted.red.submission()
    await hosted.red.append(stream, 0, points({3: HERE, 1: HERE}))
    await hosted.red.append(stream, 2, points({2: []}))
    await hosted.red.open(ONE, "camera")
    await hosted.red.append(f"{ONE}/streams/camera", 0, points({5: HERE, 4: HERE}))


async def test_frames_are_read_back_as_they_were_sent(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(points({3: HERE, 1: []}))
    for client in (hosted.red, hosted.organiser):
        [response] = await _read(client)
        assert response.detections == points({3: HERE, 1: []})
        assert (response.stream, response.next_offset) == ("default", 2)


async def test_streams_are_sorted_by_name_and_frames_by_offset(hosted: Hosted) -> None:
    await _two_streams(hosted)
    expected = [("camera", 5), ("camera", 4), ("default", 3), ("default", 1), ("default", 2)]
    assert _numbers(await _read(hosted.red)) == expected


async def test_a_broken_call_resumes_from_stream_and_offset(hosted: Hosted) -> None:
    await _two_streams(hosted)
    expected = _numbers(await _read(hosted.red))
    for left_out, (stream, offset) in enumerate(
        [("camera", 0), ("camera", 1), ("camera", 2), ("default", 1), ("default", 2)]
    ):
        found = _numbers(await _read(hosted.red, stream=stream, offset=offset))
        assert found == expected[left_out:]
    assert await _read(hosted.red, stream="default", offset=3) == []


async def test_an_offset_needs_its_stream_and_is_not_negative(hosted: Hosted) -> None:
    await _two_streams(hosted)
    assert (await refusal(_read(hosted.red, offset=1))).code is grpc.StatusCode.INVALID_ARGUMENT
    wrong = await refusal(_read(hosted.red, stream="camera", offset=-1))
    assert wrong.code is grpc.StatusCode.INVALID_ARGUMENT


async def test_frames_of_a_cancelled_submission_are_gone(hosted: Hosted) -> None:
    await _two_streams(hosted)
    await hosted.red.cancel()
    assert (await refusal(_read(hosted.red))).reason == "SUBMISSION_ENDED"


async def test_another_team_gets_no_frame(hosted: Hosted) -> None:
    await _two_streams(hosted)
    assert (await refusal(_read(hosted.blue))).code is grpc.StatusCode.NOT_FOUND


async def test_submissions_are_listed_by_team_and_state(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.red.begin(points({1: HERE}), "one")
    await hosted.red.submit(points({2: HERE}), "two")
    await hosted.blue.begin(points({1: HERE}), "three")

    async def listed(client: Client, **asked: object) -> list[str]:
        request = pb.ListSubmissionsRequest(benchmark=BENCHMARK, **asked)  # type: ignore[arg-type]
        answer = await client.submissions.ListSubmissions(request, metadata=client.metadata)
        return sorted(entry.name.rpartition("/")[2] for entry in answer.submissions)

    receiving = pb.SUBMISSION_STATE_RECEIVING
    assert await listed(hosted.organiser) == ["one", "three", "two"]
    assert await listed(hosted.organiser, team="red") == ["one", "two"]
    assert await listed(hosted.organiser, state=receiving) == ["one", "three"]
    assert await listed(hosted.organiser, team="red", state=receiving) == ["one"]
    assert await listed(hosted.red, team="blue") == []
    assert await listed(hosted.red, state=receiving) == ["one"]
    assert (await refusal(listed(hosted.red, state=99))).code is grpc.StatusCode.INVALID_ARGUMENT


def test_a_long_run_is_split_into_messages_of_bounded_size_with_their_own_names() -> None:
    one = read_stored_batch(data_of(points({1: [(1.0, 2.0)] * 1000})), POINT)
    frames = concatenate([one] * 150)
    pieces = list(write_pieces(frames))
    assert len(pieces) > 1
    assert all(piece.ByteSize() <= MAXIMUM_RESPONSE_BYTES for piece in pieces)
    assert sum(len(piece.frame_numbers) for piece in pieces) == 150
    assert np.unique([len(piece.sequences) for piece in pieces]).tolist() == [1]
