"""Noninterference: private data changes no byte that a participant receives before closing.

Two sites with the same secret differ only in the truth of a private sequence. A team that finds
all of it at one site and nothing at the other calls every RPC about benchmarks and submissions.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import grpc
import pytest
from google.protobuf import message_factory
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from msgspec import structs
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, hosting
from tests.server.domain.streets import BOX, streets
from tests.server.domain.test_planted_truth import CASES, NEAR, OPEN, batch
from tests.server.domain.test_roles import METHODS
from tests.support.varieties import mostly_nightly

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_server.domain.access import ROLES_BY_RPC
from vidscore_server.domain.names import SubmissionName
from vidscore_server.store.records import Role

pytestmark = pytest.mark.usefixtures("tracer")

FRAMES = (1, 2)
FOUND = batch("night", "harbour", "car", FRAMES, BOX, BOX)
OTHER_BOXES = (70.0, 70.0, 90.0, 90.0), (40.0, 0.0, 60.0, 9.0)
ELSEWHERE = batch("night", "harbour", "car", FRAMES, *OTHER_BOXES)
"""Two truths of the private sequence; the team detects the objects of the first."""

ASKED = [
    rpc
    for rpc in CASES
    if rpc.split("/")[1] in {"vidscore.v1.BenchmarkService", "vidscore.v1.SubmissionService"}
    if Role.PARTICIPANT in ROLES_BY_RPC[rpc]
]
SETTINGS = [
    ("LADDER", "NONE"), ("FINAL", "OWN"), ("LIVE", "OWN"), ("BOOTSTRAP", "NONE"), ("FINAL", "NONE"),
]  # fmt: skip


async def _host(
    hosted: Hosted, private: annotations_pb2.AnnotationBatch, visibility: str, outcomes: str
) -> None:
    """A benchmark, a scored submission, a worse one, and an open one."""
    # Digests and noise are keyed; with different secrets every byte of them would differ.
    structs.force_setattr(hosted.hosting.context, "secret", bytes(32))
    message = streets()
    message.specification.evaluators.add(name="tracer")
    message.policy.visibility = getattr(benchmark_pb2, f"VISIBILITY_{visibility}")
    message.policy.outcomes = getattr(benchmark_pb2, f"OUTCOMES_SHOWN_{outcomes}")
    message.policy.minimum_frames = 1
    message.policy.unlimited_submissions = True
    message.policy.private_sequences.append("night/harbour")
    time = Timestamp()
    time.FromDatetime(hosted.clock.now + timedelta(hours=1))
    message.close_time.CopyFrom(time)
    await hosted.organiser.create(message)
    await hosted.organiser.upload(OPEN, private)
    for name, public in (("one", OPEN), ("three", NEAR)):
        stream = await hosted.red.begin(public, name)
        await hosted.red.append(stream, len(public.frame_numbers), FOUND)
        await hosted.red.seal(name)
        await hosted.red.ended(name)
    stream = await hosted.red.submission("two")
    await hosted.red.append(stream, 0, FOUND)
    await hosted.red.append(stream, len(FRAMES), OPEN)


async def _told(client: Client, rpc: str, request: Message) -> list[str]:
    """Every answer of a call and its error, without the digest of all truth."""
    method = METHODS[rpc]
    words = {True: "stream", False: "unary"}
    kind = f"{words[bool(method.client_streaming)]}_{words[bool(method.server_streaming)]}"
    multi = getattr(client.channel, kind)(
        rpc,
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
    )
    sent = iter([request]) if method.client_streaming else request
    call = multi(sent, metadata=client.metadata, timeout=60)
    answers: list[Message] = []
    error = ""
    try:
        if method.server_streaming:
            async for answer in call:
                answers.append(answer)  # noqa: PERF401 - what came before an error counts
        else:
            answers.append(await call)
    except grpc.aio.AioRpcError as caught:
        error = f"{caught.code()} {caught.details()}"
    for answer in answers:
        for benchmark in (getattr(answer, "benchmark", None), *getattr(answer, "benchmarks", ())):
            if isinstance(benchmark, benchmark_pb2.Benchmark):
                benchmark.truth_digest = ""  # It shows that truth has changed, as a revision does.
    return [error, *(repr(answer.SerializeToString(deterministic=True)) for answer in answers)]


async def _everything(hosted: Hosted) -> dict[str, list[str]]:
    found = {}
    for caller, client in (("red", hosted.red), ("viewer", hosted.viewer)):
        for rpc in ASKED:
            for row, request in enumerate(CASES[rpc](rpc)):
                found[f"{caller} {rpc} {row}"] = await _told(client, rpc, request)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("visibility", "outcomes"), mostly_nightly(SETTINGS, gate=3, unpacked=True)
)
async def test_private_data_changes_nothing_before_the_closing_and_something_after(
    tmp_path: Path, visibility: str, outcomes: str
) -> None:
    told, after, live = [], [], []
    for name, private in (("a", FOUND), ("b", ELSEWHERE)):
        (tmp_path / name).mkdir()
        async with hosting(tmp_path / name) as hosted:
            await _host(hosted, private, visibility, outcomes)
            newest = await hosted.hosting.live.newest(SubmissionName("dots", "two"))
            live.append(None if newest is None else newest.reports)
            told.append(await _everything(hosted))
            hosted.clock.pass_by(hours=1)
            after.append([row.scores[0].value for row in (await hosted.red.board()).rows])
    assert told[0].keys() == told[1].keys()
    for asked, answer in told[0].items():
        assert answer == told[1][asked], asked
        assert "ListScores" not in asked or "harbour" not in str(answer)
    assert live[0] == live[1]
    assert bool(live[0]) == (visibility == "LIVE")
    answered = [asked for asked, [error, *_] in told[0].items() if not error]
    assert len(answered) > 10
    assert after[0] != after[1]


@pytest.mark.slow
async def test_the_comparison_finds_what_an_organiser_may_see(tmp_path: Path) -> None:
    found = []
    rpc = "/vidscore.v1.SubmissionService/ListScores"
    for name, private in (("a", FOUND), ("b", ELSEWHERE)):
        (tmp_path / name).mkdir()
        async with hosting(tmp_path / name) as hosted:
            await _host(hosted, private, "LADDER", "NONE")
            found.append(await _told(hosted.organiser, rpc, CASES[rpc](rpc)[0]))
    assert found[0] != found[1]
    assert BENCHMARK in found[0][1]
