"""A server killed on a live clock loses no acknowledged answer, and the clock continues."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

import grpc
import pytest
from tests.crash.nursery import Nursery
from tests.crash.servers import KilledServer
from tests.server.domain.hosted import BENCHMARK
from tests.server.domain.live_scene import SUBMISSION, TOLD, live_dots
from tests.server.scene import HERE, parameter, points

from vidscore_protos.v1 import (
    benchmark_pb2,
    benchmark_service_pb2_grpc,
    organiser_pb2,
    submission_service_pb2_grpc,
)
from vidscore_protos.v1 import submission_service_pb2 as pb

pytestmark = pytest.mark.slow

RATE = 20.0
TIMEOUT_S = 60.0
ENOUGH = 6
"""Number of answers after which a call that nobody kills is ended."""


class System:
    """Answers frames until the server dies, and records the responses."""

    def __init__(self, secret: str) -> None:
        self.metadata = (("authorization", f"Bearer {secret}"),)
        self.given: list[pb.FrameNow] = []
        self.stored: list[pb.AnswerStored] = []

    def answer(self, channel: grpc.Channel, *first: pb.AnswerFramesRequest) -> None:
        """Answer each frame; the requests `first` are sent before any frame arrives."""
        requests: SimpleQueue[pb.AnswerFramesRequest | None] = SimpleQueue()
        for request in (pb.AnswerFramesRequest(submission=SUBMISSION), *first):
            requests.put(request)
        stub = submission_service_pb2_grpc.SubmissionServiceStub(channel)
        sent: Iterator[pb.AnswerFramesRequest] = iter(requests.get, None)
        before = len(self.stored)
        try:
            for response in stub.AnswerFrames(sent, metadata=self.metadata, timeout=TIMEOUT_S):
                if response.WhichOneof("event") == "stored":
                    self.stored.append(response.stored)
                else:
                    self.given.append(response.frame)
                    if not response.frame.repeated:
                        requests.put(answer_to(response.frame.position))
                if len(self.stored) - before >= ENOUGH:
                    requests.put(None)
        except grpc.RpcError:
            requests.put(None)  # The server has died.


def answer_to(position: int) -> pb.AnswerFramesRequest:
    return pb.AnswerFramesRequest(position=position, detections=points({position + 1: HERE}))


def prepare(channel: grpc.Channel, system: System) -> None:
    """A clock of eight minutes, and a draft of a submission."""
    benchmark = live_dots(frame_rate=RATE)
    benchmark.specification.sequences[0].frame_count = 10_000
    # spotGEO has sequences of five frames.
    [evaluator] = benchmark.specification.evaluators
    evaluator.name = "f1"
    evaluator.parameters.append(parameter("base", "euclidean"))
    kinds = [f"NAME_KIND_{kind.upper()}" for kind in TOLD]
    benchmark.public_names.CopyFrom(benchmark_pb2.PublicNames(kinds=kinds))
    benchmark_service_pb2_grpc.BenchmarkServiceStub(channel).CreateBenchmark(
        organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=benchmark),
        metadata=system.metadata,
    )
    submission_service_pb2_grpc.SubmissionServiceStub(channel).CreateSubmission(
        pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id="one"),
        metadata=system.metadata,
    )


# Commits: the heartbeat, the benchmark, the draft, its stream, the clock, and two for each frame.
@pytest.mark.parametrize(
    ("failpoint", "acknowledged"),
    [
        # The clock gives out frames whether they are answered or not; by the sixth, one answer is
        # stored.
        ("after_give_out=kill@6", 1),
        ("before_acknowledge=kill@2", 1),
        ("before_commit=kill@12", 0),
        ("after_commit=kill@13", 0),
    ],
)
def test_no_acknowledged_answer_is_lost_and_the_clock_goes_on_by_the_stores_time(
    tmp_path: Path, nursery: Nursery, failpoint: str, acknowledged: int
) -> None:
    server = KilledServer(tmp_path, nursery=nursery)
    system = System(server.secret)
    try:
        server.start(failpoint)
        with grpc.insecure_channel(server.address) as channel:
            prepare(channel, system)
            system.answer(channel)
        assert server.dies_within(TIMEOUT_S)
        before = list(system.stored)
        assert len(before) >= acknowledged
        since_s = time.monotonic()
        last = system.given[-1]
        server.start()
        with grpc.insecure_channel(server.address) as channel:
            away_s = time.monotonic() - since_s
            again = [answer_to(stored.position) for stored in before]
            system.answer(channel, *again)
            stub = submission_service_pb2_grpc.SubmissionServiceStub(channel)
            record = stub.GetSubmission(
                pb.GetSubmissionRequest(name=SUBMISSION), metadata=system.metadata
            )
        # Acknowledged answers are there unchanged, and are acknowledged again.
        assert system.stored[len(before) : 2 * len(before)] == before
        # No frame is given out twice as new, and frames that have passed meanwhile are not given
        # out.
        positions = [frame.position for frame in system.given if not frame.repeated]
        assert positions == sorted(set(positions))
        following = next(frame for frame in system.given if frame.position > last.position)
        assert following.due_s + 1 / RATE >= last.due_s + away_s
        # Each answer is stored once: the acknowledged ones, and at most one more.
        own = {stored.position for stored in system.stored}
        assert len(own) <= record.submission.frame_count <= len(own) + 1
    finally:
        with suppress(AssertionError):
            server.kill()
    assert server.incidents() == []
