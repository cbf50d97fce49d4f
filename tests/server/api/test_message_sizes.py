"""Small requests that stand for very much are refused, or read once there is memory for them."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from prometheus_client import generate_latest
from tests.server.domain.hosted import BENCHMARK, Hosted, hosting
from tests.server.running import PlayedWorkers, Running, serving
from tests.server.scene import configuration, points, refused
from tests.server.web.site.browsing import browsing
from tests.support.waiting import until

from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2, scoring_service_pb2_grpc
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_protos.v1.server_service_pb2 import GetServerRequest
from vidscore_protos.v1.server_service_pb2_grpc import ServerServiceStub
from vidscore_server.api import stream
from vidscore_server.api.message_sizes import (
    SMALL_BYTES,
    json_weight,
    size_limit,
    takes_large,
    weight_of,
)
from vidscore_server.domain.access import ROLES_BY_RPC
from vidscore_server.settings import Settings

MEBIBYTE = 1 << 20
MOST_BYTES = 64 * MEBIBYTE

TAKE_LARGE = {
    "BenchmarkService/CreateBenchmark",
    "BenchmarkService/RescoreSubmissions",
    "BenchmarkService/UpdateBenchmark",
    "BenchmarkService/UploadTruth",
    "RankingService/ExamineUpload",
    "ScoringService/Score",
    "ScoringService/ScoreBatch",
    "ServerService/ImportBackup",
    "SubmissionService/AnswerFrames",
    "SubmissionService/AppendBatch",
    "SubmissionService/AppendFrames",
    "SubmissionService/CheckDetections",
}

CHECK = "/vidscore.v1.SubmissionService/CheckDetections"
GET = "/vidscore.v1.BenchmarkService/GetBenchmark"


def _kind(message: Message) -> Descriptor:
    return cast(Descriptor, message.DESCRIPTOR)


def _delimited(field: int, data: bytes) -> bytes:
    size, digits = len(data), b""
    while size > 0x7F:
        digits += bytes([size & 0x7F | 0x80])
        size >>= 7
    return bytes([field << 3 | 2]) + digits + bytes([size]) + data


def _empty_sequences(count: int, field: int = 2) -> bytes:
    """A check, or another request, with a batch that names this many empty sequences."""
    return _delimited(1, BENCHMARK.encode()) + _delimited(field, b"\x0a\x00" * count)


async def _refused_call(hosted: Hosted, method: str, data: bytes, secret: str) -> Any:
    call: Any = hosted.channel.unary_unary(method)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call(data, metadata=[("authorization", f"Bearer {secret}")])
    return refused(caught.value)


def test_only_requests_with_frames_specifications_or_lists_may_be_large() -> None:
    assert {
        name.removeprefix("/vidscore.v1.") for name in ROLES_BY_RPC if takes_large(name)
    } == TAKE_LARGE


@pytest.mark.parametrize("inside", [b"", b"\x0a\x01\xff"], ids=["nothing", "no sequence"])
def test_fields_after_an_unknown_group_are_counted(inside: bytes) -> None:
    group = b"\xf3\x01" + inside + b"\xf4\x01"  # Field 30 is unknown in a batch.
    empty = b"\x0a\x00" * 1000
    kind = _kind(annotations_pb2.AnnotationBatch())
    assert len(annotations_pb2.AnnotationBatch.FromString(group + empty).sequences) == 1000
    alone = weight_of(kind, empty, MOST_BYTES).parts_bytes
    assert weight_of(kind, group + empty, MOST_BYTES).parts_bytes > alone >= 1000 * 48


@pytest.mark.parametrize(
    "message",
    [
        pb.CheckDetectionsRequest(benchmark=BENCHMARK, detections=points({1: [(1.0, 2.0)] * 99})),
        scoring_service_pb2.ScoreBatchRequest(truth=[points({1: [(1.0, 2.0)]})] * 3),
        scoring_service_pb2.ScoreBatchRequest(configuration=configuration("spotgeo")),
    ],
)
def test_the_estimated_size_of_a_message_is_a_small_multiple_of_its_bytes(message: Message) -> None:
    data = message.SerializeToString()
    weight = weight_of(_kind(message), data, MOST_BYTES)
    assert len(data) < sum(weight) < 40 * len(data)


def test_columns_weigh_the_size_of_their_numbers() -> None:
    request = pb.CheckDetectionsRequest()
    request.detections.coordinates.extend([1.0] * 1000)
    request.detections.track_ids.extend([1] * 1000)
    weight = weight_of(_kind(request), request.SerializeToString(), MOST_BYTES)
    assert weight.columns_bytes == 16_000
    assert weight.parts_bytes < 1000


_SEQUENCE = b"\x0a\x03\x0a\x01a"


@pytest.mark.parametrize(
    ("data", "weight"),
    [
        (b"", (0, 0)),
        (b"\x38\x02", (48, 0)),  # The geometry, a single number.
        (b"\x22\x03\x01\x02\x03", (48, 24)),  # Three frame numbers of eight bytes.
        (b"\xc2\x02\x02\x05\x05", (48, 8)),  # Two heights of masks, field 40, of four bytes.
        (b"\x42\x08" + b"\x00" * 8, (48, 8)),  # A coordinate.
        (b"\x12\x80\x01" + b"x" * 128, (48, 128)),  # A label.
        # Field 16 is unknown in a batch; here in each of its encodings.
        (b"\x80\x01\x05", (48, 0)),
        (b"\x81\x01" + b"\xff" * 8, (48, 0)),
        (b"\x82\x01\x02xx", (48, 2)),
        (b"\x85\x01" + b"\xff" * 4, (48, 0)),
        (b"\x83\x01\x0a\x01a\x84\x01", (3 * 48, 1)),
    ],
)
def test_a_field_and_the_fields_after_it_are_weighed(data: bytes, weight: tuple[int, int]) -> None:
    """A sequence with a domain of one letter: 48 + 2 * 8 for itself, 48 + 1 for the text."""
    kind = _kind(annotations_pb2.AnnotationBatch())
    assert weight_of(kind, data, MOST_BYTES) == weight
    followed = weight_of(kind, data + _SEQUENCE, MOST_BYTES)
    assert followed == (weight[0] + 48 + 16 + 48, weight[1] + 1)


def test_a_text_of_json_weighs_by_its_objects_arrays_and_quotation_marks() -> None:
    assert json_weight(b'{"a":["b",1]}') == 2 * 48 + 4 * 8


@pytest.mark.parametrize(
    ("method", "small", "limit"),
    [
        (CHECK, 1000, ("maximum_message_bytes", 5000)),
        (GET, 1000, ("maximum_small_message_bytes", 1000)),
        ("/another.Service/Method", 1000, ("maximum_small_message_bytes", 1000)),
        (GET, 5000, ("maximum_message_bytes", 5000)),
        (GET, 6000, ("maximum_message_bytes", 5000)),
    ],
)
def test_a_call_that_takes_no_frames_has_the_smaller_limit(
    method: str, small: int, limit: tuple[str, int]
) -> None:
    settings = Settings(maximum_message_bytes=5000, maximum_small_message_bytes=small)
    found = size_limit(method, settings)
    assert (found.name, found.maximum_bytes) == limit


@pytest.mark.parametrize("data", [b"\xff", b"\x0a\x05x", b"\x0b", b"\x80" * 20, b"\x09"])
def test_bytes_that_are_not_a_message_are_weighed_without_an_error(data: bytes) -> None:
    weight_of(_kind(pb.CheckDetectionsRequest()), data, MOST_BYTES)


def test_weighing_stops_after_too_many_parts() -> None:
    most = 10_000
    for parts in (_empty_sequences(100_000), b"\x18\x00" * 100_000, b"\xaa\x06\x00" * 100_000):
        weight = weight_of(_kind(pb.CheckDetectionsRequest()), parts, most)
        assert most < weight.parts_bytes < most + 1000


def test_objects_and_texts_of_json_have_weight_and_numbers_have_none() -> None:
    assert json_weight(b'{"x":[' + b"{}," * 5_500_000 + b"{}]}") > 3 * MOST_BYTES
    assert json_weight(b'{"x":[' + b"1.5," * 1_000_000 + b"1]}") < 1000


async def test_calls_without_frames_accept_only_small_messages(tmp_path: Path) -> None:
    async with hosting(tmp_path) as hosted:
        data = _delimited(1, b"x" * SMALL_BYTES)
        told = await _refused_call(hosted, GET, data, hosted.red.secret)
    assert told.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert told.metadata["limit"] == "maximum_small_message_bytes"
    assert told.metadata["maximum"] == str(SMALL_BYTES)


async def test_a_message_of_very_many_parts_is_refused_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(_: object) -> None:
        raise AssertionError("it is not read")

    async with hosting(tmp_path) as hosted:
        await hosted.organiser.create_benchmark()
        monkeypatch.setattr(stream.LargeRequest, "read", read)
        data = _empty_sequences(2_000_000)
        told = await _refused_call(hosted, CHECK, data, hosted.red.secret)
    assert told.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert told.metadata["limit"] == "maximum_unstored_call_bytes"


async def test_a_stream_message_of_very_many_parts_is_refused_before_it_is_decoded(
    tmp_path: Path,
) -> None:
    async with hosting(tmp_path) as hosted:
        append = "/vidscore.v1.SubmissionService/AppendFrames"
        stub: Any = hosted.channel.stream_stream(append)
        call = stub(
            iter([_empty_sequences(2_000_000, field=4)]),
            metadata=[("authorization", f"Bearer {hosted.red.secret}")],
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call.read()
    assert refused(caught.value).metadata["limit"] == "maximum_unstored_call_bytes"


async def test_json_of_very_many_objects_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loads(_: object) -> None:
        raise AssertionError("it is not taken apart")

    async with browsing(tmp_path) as site:
        monkeypatch.setattr("vidscore_server.api.http.protojson.orjson.loads", loads)
        body = b'{"x":[' + b"{}," * 2_000_000 + b"{}]}"
        key = {"authorization": f"Bearer {site.hosted.red.secret}"}
        small = "/vidscore.v1.AccessService/AcceptInvitation"
        for path, sent in ((small, {}), (GET, {}), (GET, key), (CHECK, key)):
            page = await site.nobody.ask(
                "POST", path, body, content_type="application/json", **sent
            )
            if path == GET and not sent:
                continue
            info = json.loads(page.body)["details"][0]["debug"]
            limit = "maximum_unstored" if path == CHECK else "maximum_small_message"
            assert info["metadata"]["limit"].startswith(limit), info


async def test_large_requests_of_a_team_are_read_when_there_is_memory_for_them() -> None:
    workers = PlayedWorkers()
    bounds = {"maximum_unstored_call_bytes": MEBIBYTE, "maximum_unstored_team_bytes": MEBIBYTE}
    async with serving(workers, **bounds) as running:
        workers.gate.clear()
        calls = [asyncio.ensure_future(_scored(running)) for _ in range(3)]
        await until(lambda: len(workers.jobs) == 1)
        await until(lambda: running.server.requests_budget.waiting_count == 2)
        assert len(workers.jobs) == 1
        assert running.server.requests_budget.held_bytes <= MEBIBYTE
        workers.gate.set()
        assert all(await asyncio.gather(*calls))
        assert running.server.requests_budget.held_bytes == 0


async def test_a_large_request_counts_as_a_message_with_its_frames() -> None:
    async with serving(PlayedWorkers()) as running:
        assert await _scored(running)
        shown = generate_latest(running.server._metrics._registry).decode()
    service = "vidscore.v1.ScoringService"
    [message] = re.findall(r"grpc_server_msg_received_total{.*ScoreBatch.*} (\S+)", shown)
    [frames] = re.findall(
        rf'frames_received_total{{grpc_service="{service}",side="truth"}} (\S+)', shown
    )
    assert (float(message), float(frames)) == (1, 40)


async def _scored(running: Running) -> bool:
    frames = points(dict.fromkeys(range(1, 41), [(1.0, 2.0)] * 1000))
    request = scoring_service_pb2.ScoreBatchRequest(
        configuration=configuration("f1", base="euclidean"), truth=[frames]
    )
    stub = scoring_service_pb2_grpc.ScoringServiceStub(running.channel)
    return bool((await stub.ScoreBatch(request)).reports)


async def test_an_opened_stream_and_the_server_state_the_limits(tmp_path: Path) -> None:
    async with hosting(tmp_path, maximum_batch_frames=7) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.red.submission()
        request = pb.OpenStreamRequest(submission=f"{BENCHMARK}/submissions/one")
        opened = await hosted.red.submissions.OpenStream(request, metadata=hosted.red.metadata)
        stub: Any = ServerServiceStub(hosted.channel)
        server = (await stub.GetServer(GetServerRequest())).server
    for limits in (opened.limits, server.limits):
        assert limits["maximum_batch_frames"] == 7
        assert limits["maximum_message_bytes"] == 16 << 20
