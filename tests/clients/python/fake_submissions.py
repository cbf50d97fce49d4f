"""A server that stores submissions in memory by the offset protocol, and fails on request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from tests.clients.python.fake_server import WAIT_S, abort, error_info
from tests.support.ports import HOST, free_port

from vidscore_protos.v1 import (
    annotations_pb2,
    benchmark_pb2,
    benchmark_service_pb2,
    benchmark_service_pb2_grpc,
    submission_service_pb2,
    submission_service_pb2_grpc,
)

NAME = "benchmarks/streets/submissions/run"
STREAM = f"{NAME}/streams/default"

Frame = tuple[str, int]

Fault = Callable[[submission_service_pb2.AppendRequest, grpc.ServicerContext], None]
"""Happens once to an append; it may end the call through its context."""


@dataclass
class Faults:
    """Faults of the next appends, in order.

    Attributes:
        before: Before a batch is stored.
        after: After it is stored, before it is acknowledged.
        sealing: After the submission is sealed, before the answer.
    """

    before: list[Fault | None] = field(default_factory=list)
    after: list[Fault | None] = field(default_factory=list)
    sealing: list[Fault | None] = field(default_factory=list)


@dataclass
class FakeSubmissions:
    """The server as a test sees it.

    Attributes:
        target: Its address.
        faults: Its faults.
        stored: Frames of the submission's one stream, in order.
        batches: Number of frames and bytes of every stored batch, by its offset.
        offsets: Offset and epoch of every received batch, stored or not.
        epoch: Epoch of the stream's writer; 0 before the first.
        state: State of the submission; None before it is created.
        expected: The frame counts expected by the last sealing.
        creations: Names of all requests to create a submission.
        refuse_creation: Code and reason with which creation is refused; None to accept it.
        created_by_another: Whether the submission exists all the same by then.
        go_on: Unset to hold appends before they are stored.
        watches: The revision from which each watcher asked.
        watch_script: The answers to each watcher; None cuts the connection.
        readings: The request of each reader of outcomes.
        outcome_script: The answers to each of them; None cuts the connection, a code and a reason
            refuse the call.
        refuse_benchmark: Code and reason with which a request for the benchmark is refused.
        metadata: Metadata of the last request for the benchmark.
        limits: Limits that are stated when a stream is opened.
        stop: Kills the server, and with it every call.
        start: Starts it again at the same address.
    """

    target: str
    faults: Faults = field(default_factory=Faults)
    stored: list[Frame] = field(default_factory=list)
    batches: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    offsets: list[tuple[int, int]] = field(default_factory=list)
    epoch: int = 0
    state: submission_service_pb2.SubmissionState | None = None
    expected: int | None = None
    creations: list[str] = field(default_factory=list)
    refuse_creation: tuple[grpc.StatusCode, str] | None = None
    created_by_another: bool = False
    go_on: threading.Event = field(default_factory=threading.Event)
    watches: list[int] = field(default_factory=list)
    watch_script: list[Any] = field(default_factory=list)
    readings: list[submission_service_pb2.ReadOutcomesRequest] = field(default_factory=list)
    outcome_script: list[Any] = field(default_factory=list)
    refuse_benchmark: tuple[grpc.StatusCode, str] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    stop: Callable[[], None] = lambda: None
    start: Callable[[], None] = lambda: None

    def message(self) -> submission_service_pb2.Submission:
        """The submission in its current state."""
        streams = [self.stream()] if self.epoch else []
        return submission_service_pb2.Submission(
            name=NAME, state=self.state, frame_count=len(self.stored), streams=streams, revision=7
        )

    def stream(self) -> submission_service_pb2.StreamInfo:
        """Its one stream."""
        return submission_service_pb2.StreamInfo(
            stream="default", epoch=self.epoch, next_offset=len(self.stored)
        )

    def append(
        self, append: submission_service_pb2.AppendRequest, context: grpc.ServicerContext
    ) -> int:
        """Follow the offset protocol."""
        self.go_on.wait(WAIT_S)
        self.offsets.append((append.offset, append.epoch))
        happen(self.faults.before, append, context)
        with self.lock:
            next_offset = self._store(append, context)
        happen(self.faults.after, append, context)
        return next_offset

    def _store(
        self, append: submission_service_pb2.AppendRequest, context: grpc.ServicerContext
    ) -> int:
        if append.stream != STREAM:
            refuse(context, grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        if append.epoch != self.epoch:
            refuse(context, grpc.StatusCode.ABORTED, "EPOCH_STALE")
        if self.state != submission_service_pb2.SUBMISSION_STATE_OPEN:
            refuse(context, grpc.StatusCode.FAILED_PRECONDITION, "SUBMISSION_ENDED")
        frames = frames_of(append.detections)
        known = (len(frames), append.detections.SerializeToString(deterministic=True))
        facts = {"next_offset": str(len(self.stored))}
        if append.offset > len(self.stored):
            refuse(context, grpc.StatusCode.OUT_OF_RANGE, "OFFSET_GAP", **facts)
        if append.offset < len(self.stored):
            if append.offset + len(frames) > len(self.stored):
                refuse(context, grpc.StatusCode.OUT_OF_RANGE, "OFFSET_STRADDLES", **facts)
            if self.batches.get(append.offset) != known:
                refuse(context, grpc.StatusCode.ALREADY_EXISTS, "CONTENT_DIFFERS", **facts)
            return len(self.stored)
        if set(frames) & set(self.stored):
            refuse(context, grpc.StatusCode.ALREADY_EXISTS, "FRAME_EXISTS")
        self.batches[append.offset] = known
        self.stored += frames
        return len(self.stored)


def frames_of(batch: annotations_pb2.AnnotationBatch) -> list[Frame]:
    """Sequence and number of every frame of a batch."""
    return [
        (batch.sequences[row].sequence, number)
        for row, number in zip(batch.frame_sequences, batch.frame_numbers, strict=True)
    ]


def update(state: str, revision: int) -> submission_service_pb2.WatchSubmissionResponse:
    """A message for a watcher."""
    return submission_service_pb2.WatchSubmissionResponse(
        submission=submission_service_pb2.Submission(
            name=NAME,
            state=f"SUBMISSION_STATE_{state}",
            revision=revision,
        )
    )


def happen(
    faults: list[Fault | None], append: submission_service_pb2.AppendRequest, context: Any
) -> None:
    """Let the next fault happen, if there is one."""
    if faults and (fault := faults.pop(0)) is not None:
        fault(append, context)


def refuse(
    context: grpc.ServicerContext, code: grpc.StatusCode, reason: str, **metadata: str
) -> None:
    """End a call with a status and a reason."""
    abort(context, code, reason.lower().replace("_", " "), [error_info(reason, **metadata)])


def refusing(code: grpc.StatusCode, reason: str = "") -> Fault:
    """A fault that ends the call with a status."""
    return lambda _append, context: (
        refuse(context, code, reason) if reason else abort(context, code, "broken")
    )


def lose_the_connection(_append: submission_service_pb2.AppendRequest, context: Any) -> None:
    """The call breaks as it does when its connection is cut."""
    abort(context, grpc.StatusCode.UNAVAILABLE, "Socket closed")


class _Benchmarks(benchmark_service_pb2_grpc.BenchmarkServiceServicer):
    def __init__(self, fake: FakeSubmissions) -> None:
        self._fake = fake

    def GetBenchmark(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's name
        self._fake.metadata = dict(context.invocation_metadata())
        if self._fake.refuse_benchmark is not None:
            refuse(context, *self._fake.refuse_benchmark)
        if request.name != "benchmarks/streets":
            refuse(context, grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        return benchmark_service_pb2.GetBenchmarkResponse(
            benchmark=benchmark_pb2.Benchmark(
                name=request.name, detection_geometry=annotations_pb2.GEOMETRY_BOX
            )
        )

    def GetLeaderboard(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Two pages of one row each."""
        del context
        rank, team = (2, "owl") if request.page_token else (1, "falcon")
        return benchmark_service_pb2.GetLeaderboardResponse(
            rows=[benchmark_service_pb2.LeaderboardRow(rank=rank, team=team)],
            next_page_token="" if request.page_token else "second",
        )


class _Submissions(submission_service_pb2_grpc.SubmissionServiceServicer):
    def __init__(self, fake: FakeSubmissions) -> None:
        self._fake = fake

    def CreateSubmission(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._fake.creations.append(request.submission_id)
        if self._fake.refuse_creation is not None:
            if self._fake.created_by_another:
                self._fake.state = submission_service_pb2.SUBMISSION_STATE_OPEN
            refuse(context, *self._fake.refuse_creation)
        self._fake.state = submission_service_pb2.SUBMISSION_STATE_OPEN
        return submission_service_pb2.CreateSubmissionResponse(submission=self._fake.message())

    def GetSubmission(self, request: Any, context: Any) -> Any:  # noqa: N802
        if request.name != NAME or self._fake.state is None:
            refuse(context, grpc.StatusCode.NOT_FOUND, "NOT_FOUND")
        return submission_service_pb2.GetSubmissionResponse(submission=self._fake.message())

    def ListSubmissions(self, request: Any, context: Any) -> Any:  # noqa: N802
        del context
        return submission_service_pb2.ListSubmissionsResponse(
            submissions=[self._fake.message()],
            next_page_token="" if request.page_token else "second",
        )

    def OpenStream(self, request: Any, context: Any) -> Any:  # noqa: N802
        del request
        if self._fake.state != submission_service_pb2.SUBMISSION_STATE_OPEN:
            refuse(context, grpc.StatusCode.FAILED_PRECONDITION, "SUBMISSION_ENDED")
        self._fake.epoch += 1
        return submission_service_pb2.OpenStreamResponse(
            stream=self._fake.stream(), limits=self._fake.limits
        )

    def AppendFrames(self, request_iterator: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        for request in request_iterator:
            next_offset = self._fake.append(request, context)
            yield submission_service_pb2.AppendResponse(next_offset=next_offset)

    def AppendBatch(self, request: Any, context: Any) -> Any:  # noqa: N802
        next_offset = self._fake.append(request, context)
        return submission_service_pb2.AppendResponse(next_offset=next_offset)

    def SealSubmission(self, request: Any, context: Any) -> Any:  # noqa: N802
        if request.HasField("expected_frame_count"):
            self._fake.expected = request.expected_frame_count
            if self._fake.expected != len(self._fake.stored):
                refuse(context, grpc.StatusCode.FAILED_PRECONDITION, "FRAME_COUNT_DIFFERS")
        self._fake.state = submission_service_pb2.SUBMISSION_STATE_SEALED
        happen(self._fake.faults.sealing, submission_service_pb2.AppendRequest(), context)
        return submission_service_pb2.SealSubmissionResponse(submission=self._fake.message())

    def CancelSubmission(self, request: Any, context: Any) -> Any:  # noqa: N802
        del request, context
        self._fake.state = submission_service_pb2.SUBMISSION_STATE_CANCELLED
        return submission_service_pb2.CancelSubmissionResponse(submission=self._fake.message())

    def WatchSubmission(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        self._fake.watches.append(request.from_revision)
        for update in self._fake.watch_script.pop(0):
            if update is None:
                lose_the_connection(submission_service_pb2.AppendRequest(), context)
            yield update

    def ReadOutcomes(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        self._fake.readings.append(request)
        for answer in self._fake.outcome_script.pop(0):
            if answer is None:
                lose_the_connection(submission_service_pb2.AppendRequest(), context)
            if isinstance(answer, tuple):
                refuse(context, *answer)
            yield answer

    def ListScores(self, request: Any, context: Any) -> Any:  # noqa: N802
        del request, context
        return submission_service_pb2.ListScoresResponse(
            scores=[submission_service_pb2.SubmissionScore(name=f"{NAME}/scores/1")]
        )


@contextmanager
def taking_submissions() -> Iterator[FakeSubmissions]:
    """Run the server."""
    fake = FakeSubmissions(f"{HOST}:{free_port()}")
    fake.go_on.set()
    running: list[Any] = []
    with futures.ThreadPoolExecutor(max_workers=8) as pool:

        def start() -> None:
            server = grpc.server(pool, options=[("grpc.so_reuseport", 0)])
            submission_service_pb2_grpc.add_SubmissionServiceServicer_to_server(
                _Submissions(fake),  # type: ignore[abstract] # the other calls are not made
                server,
            )
            benchmarks = _Benchmarks(fake)  # type: ignore[abstract] # the other calls are not made
            benchmark_service_pb2_grpc.add_BenchmarkServiceServicer_to_server(benchmarks, server)
            server.add_insecure_port(fake.target)
            server.start()
            running.append(server)

        def stop() -> None:
            while running:
                running.pop().stop(None).wait()

        fake.start, fake.stop = start, stop
        start()
        try:
            yield fake
        finally:
            fake.go_on.set()
            stop()
