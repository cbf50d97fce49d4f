"""A unary call over HTTP does and answers the same as over gRPC."""

from __future__ import annotations

import asyncio
import json
import zlib
from pathlib import Path
from typing import Any

from tests.server.api.http.asking import (
    FOUND,
    JSON,
    ONE,
    PROTO,
    STREAM,
    Caller,
    append_of,
    as_json,
    caller,
)
from tests.server.domain.hosted import BENCHMARK, TRUTH, append
from tests.server.web.site.browsing import Browsing, browsing

from vidscore_protos.v1 import submission_service_pb2

BATCH = "SubmissionService/AppendBatch"
GET = "SubmissionService/GetSubmission"
LIST = "SubmissionService/ListSubmissions"


async def test_a_team_submits_and_reads_its_scores(site: Browsing) -> None:
    """All three objects are found exactly, so F1 is 1 and the mean squared error is 0."""
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    red = caller(site, site.hosted.red)
    made = await red.value(
        "SubmissionService/CreateSubmission", {"benchmark": BENCHMARK, "submissionId": "one"}
    )
    assert made["submission"]["name"] == ONE
    opened = await red.value("SubmissionService/OpenStream", {"submission": ONE})
    assert opened["stream"] == {"stream": "default", "epoch": "1"}
    assert opened["limits"]["maximum_batch_frames"] == "100000"
    assert await red.value(BATCH, append_of(0)) == {"nextOffset": "3"}
    sealed = await red.value("SubmissionService/SealSubmission", {"name": ONE})
    assert sealed["submission"]["frameCount"] == "3"
    await site.hosted.red.ended()
    [score] = (await red.value("SubmissionService/ListScores", {"submission": ONE}))["scores"]
    values = {entry["measure"]: entry["value"]["number"] for entry in score["report"]["scores"]}
    assert values == {"f1": 1.0, "mse": 0.0}
    assert await red.value(GET, {"name": ONE}) == {
        "submission": as_json(await site.hosted.red.get())
    }


async def test_a_field_is_accepted_by_either_of_its_names(red: Caller) -> None:
    """Offsets work as over gRPC: a batch that is sent again is acknowledged again."""
    first = append_of(0)
    assert await red.value(BATCH, first) == {"nextOffset": "3"}
    columns = first["detections"]
    again = {"frame_numbers" if key == "frameNumbers" else key: columns[key] for key in columns}
    assert await red.value(BATCH, first | {"detections": again}) == {"nextOffset": "3"}


# --- Bytes of protobuf, and their checksums


async def test_a_protobuf_request_gets_a_protobuf_answer(red: Caller) -> None:
    request = append(STREAM, 0, FOUND)
    request.detections_crc32 = zlib.crc32(FOUND.SerializeToString())
    page = await red.post(BATCH, request.SerializeToString(), PROTO)
    assert (page.status, page.headers["content-type"]) == (200, PROTO)
    assert submission_service_pb2.AppendResponse.FromString(page.body).next_offset == 3


async def test_frames_that_were_damaged_in_transit_are_refused(red: Caller) -> None:
    request = append(STREAM, 0, FOUND)
    request.detections_crc32 = 1
    page = await red.post(BATCH, request.SerializeToString(), PROTO)
    assert (page.status, json.loads(page.body)["code"]) == (503, "unavailable")
    assert page.headers["content-type"] == JSON
    assert (await red.value(GET, {"name": ONE}))["submission"].get("frameCount") is None


async def test_a_checksum_beside_json_is_refused_with_advice(red: Caller) -> None:
    page = await red.post(BATCH, append_of(0) | {"detectionsCrc32": 1})
    assert page.status == 400
    assert "detections_crc32" in page.text
    assert "send it as application/proto, or without the checksum" in page.text


async def test_bytes_that_are_not_a_message_are_refused(red: Caller) -> None:
    page = await red.post(BATCH, b"\xff\xff", PROTO)
    assert (page.status, json.loads(page.body)["code"]) == (400, "invalid_argument")


# --- Limits


async def test_a_body_over_the_limit_is_refused_before_it_is_sent(tmp_path: Any) -> None:
    async with browsing(tmp_path, maximum_message_bytes=1 << 16) as site:
        red = caller(site, site.hosted.red)
        page = await red.post(GET, {"name": "x" * (1 << 16)})
        info = json.loads(page.body)["details"][0]["debug"]
        assert page.status == 429
        assert info["metadata"]["limit"] == "maximum_message_bytes"
        # The limit also holds for the size as protobuf: 20,000 numbers take 40,000 bytes as JSON,
        # and 160,000 as protobuf.
        of_message = append_of(0)
        of_message["detections"]["coordinates"] = [0] * 20_000
        page = await red.post(BATCH, json.dumps(of_message, separators=(",", ":")).encode())
        assert (page.status, "maximum_message_bytes" in page.text) == (429, True)


async def test_operations_are_called_like_other_methods(site: Browsing) -> None:
    organiser = caller(site, site.hosted.organiser)
    path = "/google.longrunning.Operations/ListOperations"
    page = await organiser.ask("POST", path, b"{}", content_type=JSON)
    assert (page.status, json.loads(page.body)) == (200, {})


async def test_calls_over_grpc_and_http_share_the_concurrency_limit_of_their_team(
    tmp_path: Path,
) -> None:
    """The limit is two: two gRPC calls whose message never arrives leave no place for HTTP."""
    async with browsing(tmp_path, maximum_calls=2) as site:
        hosted = site.hosted
        await hosted.organiser.create_benchmark()
        await hosted.red.submission("one")
        method: Any = hosted.channel.stream_unary(f"/vidscore.v1.{GET}")
        red = caller(site, hosted.red)
        held: list[Any] = []
        # One place may be free until the previous call has ended completely.
        async with asyncio.timeout(30):
            while (refused := await red.post(GET, {"name": ONE})).status == 200:
                held = [call for call in held if not call.done()]
                held += [method(metadata=hosted.red.metadata) for _ in range(2 - len(held))]
        assert refused.status == 429
        assert "maximum_calls" in refused.text
        listed = {"benchmark": BENCHMARK}
        assert await caller(site, hosted.blue).value(LIST, listed) == {}
        for call in held:
            call.cancel()
