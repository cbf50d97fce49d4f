"""A hosting server in the test process, and callers of every role."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import grpc
import pytest
from google.longrunning import operations_pb2_grpc
from google.protobuf.field_mask_pb2 import FieldMask
from tests.server.running import PlayedWorkers
from tests.server.scene import Refused, points, refused
from tests.support.sites import new_site_with_teams

from vidscore_protos.v1 import (
    access_service_pb2,
    access_service_pb2_grpc,
    annotations_pb2,
    benchmark_pb2,
    benchmark_service_pb2,
    benchmark_service_pb2_grpc,
    organiser_pb2,
    report_pb2,
    specification_pb2,
    submission_service_pb2,
    submission_service_pb2_grpc,
    token_pb2,
    trust_service_pb2_grpc,
)
from vidscore_server.application import ScoringServer
from vidscore_server.domain.hosting import Hosting
from vidscore_server.executors import JobRunner
from vidscore_server.settings import load_settings
from vidscore_server.store.sqlite import open_sqlite_store

Answer = TypeVar("Answer")
Metadata = tuple[tuple[str, str], ...]

BENCHMARK = "benchmarks/dots"
TRUTH = points({1: [(10.0, 20.0), (300.0, 200.0)], 2: [], 3: [(50.5, 60.5)], 4: [], 5: []})


def end_of(*batches: annotations_pb2.AnnotationBatch) -> organiser_pb2.UploadTruthEnd:
    """The message that ends an upload of these batches."""
    return organiser_pb2.UploadTruthEnd(
        frame_count=sum(len(batch.frame_numbers) for batch in batches)
    )


@dataclass
class PlayedClock:
    """A clock that only moves when a test moves it."""

    now: datetime = field(default_factory=lambda: datetime(2026, 5, 1, 12, tzinfo=UTC))
    waiting: list[tuple[datetime, asyncio.Future[None]]] = field(default_factory=list)

    def __call__(self) -> datetime:
        return self.now

    async def until(self, time: datetime) -> None:
        if time > self.now:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.waiting.append((time, future))
            await future

    def pass_by(self, **time: float) -> None:
        self.now += timedelta(**time)
        due = [entry for entry in self.waiting if entry[0] <= self.now]
        self.waiting = [entry for entry in self.waiting if entry[0] > self.now]
        for _, future in due:
            future.get_loop().call_soon_threadsafe(_resolve, future)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


@dataclass(frozen=True)
class Client:
    """A caller with a token, or without one if the secret is empty."""

    channel: grpc.aio.Channel
    secret: str
    benchmarks: benchmark_service_pb2_grpc.BenchmarkServiceAsyncStub
    submissions: submission_service_pb2_grpc.SubmissionServiceAsyncStub
    access: access_service_pb2_grpc.AccessServiceAsyncStub
    operations: operations_pb2_grpc.OperationsStub
    trust: trust_service_pb2_grpc.TrustServiceAsyncStub

    @property
    def metadata(self) -> Metadata:
        return (("authorization", f"Bearer {self.secret}"),) if self.secret else ()

    async def create_benchmark(
        self, benchmark_id: str = "dots", *, public: Iterable[str] | None = None, **policy: object
    ) -> benchmark_pb2.Benchmark:
        return await self.create(dots(**policy), benchmark_id, public=public)

    async def create(
        self,
        benchmark: benchmark_pb2.Benchmark,
        benchmark_id: str = "dots",
        *,
        public: Iterable[str] | None = None,
    ) -> benchmark_pb2.Benchmark:
        """Create a benchmark; `public` are the kinds of names that participants may know."""
        if public is not None:
            kinds = [f"NAME_KIND_{kind.upper()}" for kind in public]
            benchmark.public_names.CopyFrom(benchmark_pb2.PublicNames(kinds=kinds))
        request = organiser_pb2.CreateBenchmarkRequest(
            benchmark_id=benchmark_id, benchmark=benchmark
        )
        answer = await self.benchmarks.CreateBenchmark(request, metadata=self.metadata)
        return answer.benchmark

    async def benchmark(self) -> benchmark_service_pb2.GetBenchmarkResponse:
        """The benchmark, as this caller sees it."""
        request = benchmark_service_pb2.GetBenchmarkRequest(name=BENCHMARK)
        return await self.benchmarks.GetBenchmark(request, metadata=self.metadata)

    async def update(
        self, benchmark: benchmark_pb2.Benchmark, *paths: str
    ) -> benchmark_pb2.Benchmark:
        """Give fields of the benchmark the values of another one."""
        benchmark.name = BENCHMARK
        request = organiser_pb2.UpdateBenchmarkRequest(
            benchmark=benchmark, update_mask=FieldMask(paths=paths)
        )
        answer = await self.benchmarks.UpdateBenchmark(request, metadata=self.metadata)
        return answer.benchmark

    async def upload(
        self,
        *batches: annotations_pb2.AnnotationBatch,
        complete: bool = True,
        merge: bool = False,
        request_id: str = "",
    ) -> organiser_pb2.TruthRevision:
        header = organiser_pb2.UploadTruthHeader(
            benchmark=BENCHMARK, complete=complete, merge=merge, request_id=request_id
        )
        requests = [
            organiser_pb2.UploadTruthRequest(header=header),
            *(organiser_pb2.UploadTruthRequest(truth=batch) for batch in batches),
            organiser_pb2.UploadTruthRequest(end=end_of(*batches)),
        ]
        answer = await self.benchmarks.UploadTruth(iter(requests), metadata=self.metadata)
        return answer.revision

    async def submission(self, name: str = "one") -> str:
        """Create a submission and open its default stream; returns the stream's name."""
        created = await self.submissions.CreateSubmission(
            submission_service_pb2.CreateSubmissionRequest(
                benchmark=BENCHMARK, submission_id=name, title=name.title()
            ),
            metadata=self.metadata,
        )
        await self.open(created.submission.name)
        return f"{created.submission.name}/streams/default"

    async def open(self, submission: str, stream: str = "") -> submission_service_pb2.StreamInfo:
        answer = await self.submissions.OpenStream(
            submission_service_pb2.OpenStreamRequest(submission=submission, stream=stream),
            metadata=self.metadata,
        )
        return answer.stream

    async def append(
        self, stream: str, offset: int, batch: annotations_pb2.AnnotationBatch, epoch: int = 1
    ) -> int:
        answer = await self.submissions.AppendBatch(
            append(stream, offset, batch, epoch),
            metadata=self.metadata,
        )
        return answer.next_offset

    async def stream(self, appends: Iterable[submission_service_pb2.AppendRequest]) -> list[int]:
        requests = list(appends)
        call = self.submissions.AppendFrames(iter(requests), metadata=self.metadata)
        return [response.next_offset async for response in call]

    async def seal(
        self, name: str = "one", frames: int | None = None
    ) -> submission_service_pb2.Submission:
        answer = await self.submissions.SealSubmission(
            submission_service_pb2.SealSubmissionRequest(
                name=f"{BENCHMARK}/submissions/{name}", expected_frame_count=frames
            ),
            metadata=self.metadata,
        )
        return answer.submission

    async def cancel(self, name: str = "one") -> submission_service_pb2.Submission:
        request = submission_service_pb2.CancelSubmissionRequest(
            name=f"{BENCHMARK}/submissions/{name}"
        )
        answer = await self.submissions.CancelSubmission(request, metadata=self.metadata)
        return answer.submission

    async def retry(
        self, name: str = "one", request_id: str = ""
    ) -> submission_service_pb2.Submission:
        request = submission_service_pb2.RetrySubmissionRequest(
            name=f"{BENCHMARK}/submissions/{name}", request_id=request_id
        )
        answer = await self.submissions.RetrySubmission(request, metadata=self.metadata)
        return answer.submission

    async def choose(
        self, name: str = "one", *, undo: bool = False
    ) -> submission_service_pb2.Submission:
        request = submission_service_pb2.ChooseSubmissionRequest(
            name=f"{BENCHMARK}/submissions/{name}", undo=undo
        )
        answer = await self.submissions.ChooseSubmission(request, metadata=self.metadata)
        return answer.submission

    async def listed(self) -> list[str]:
        """Short names of the submissions that are listed."""
        request = submission_service_pb2.ListSubmissionsRequest(benchmark=BENCHMARK)
        answer = await self.submissions.ListSubmissions(request, metadata=self.metadata)
        return [entry.name.rpartition("/")[2] for entry in answer.submissions]

    async def get(self, name: str = "one") -> submission_service_pb2.Submission:
        answer = await self.submissions.GetSubmission(
            submission_service_pb2.GetSubmissionRequest(name=f"{BENCHMARK}/submissions/{name}"),
            metadata=self.metadata,
        )
        return answer.submission

    async def ended(self, name: str = "one") -> submission_service_pb2.WatchSubmissionResponse:
        """Wait until a submission has ended."""
        request = submission_service_pb2.WatchSubmissionRequest(
            name=f"{BENCHMARK}/submissions/{name}"
        )
        last = submission_service_pb2.WatchSubmissionResponse()
        async with asyncio.timeout(60):
            async for response in self.submissions.WatchSubmission(request, metadata=self.metadata):
                last = response
        return last

    async def told(
        self, name: str, change: Awaitable[object]
    ) -> list[submission_service_pb2.Submission]:
        """A submission that runs before and after a change, as seen by a caller who watches it."""
        request = submission_service_pb2.WatchSubmissionRequest(
            name=f"{BENCHMARK}/submissions/{name}"
        )
        call = self.submissions.WatchSubmission(request, metadata=self.metadata)
        responses = aiter(call)
        async with asyncio.timeout(60):
            before = (await anext(responses)).submission
            await change
            after = (await anext(responses)).submission
        call.cancel()
        return [before, after]

    async def scores(self, name: str = "one") -> list[submission_service_pb2.SubmissionScore]:
        answer = await self.submissions.ListScores(
            submission_service_pb2.ListScoresRequest(submission=f"{BENCHMARK}/submissions/{name}"),
            metadata=self.metadata,
        )
        return list(answer.scores)

    async def outcomes(
        self, name: str = "one", **asked: object
    ) -> list[submission_service_pb2.ReadOutcomesResponse]:
        """Every response of ReadOutcomes."""
        request = submission_service_pb2.ReadOutcomesRequest(
            submission=f"{BENCHMARK}/submissions/{name}",
            **asked,  # type: ignore[arg-type]
        )
        call = self.submissions.ReadOutcomes(request, metadata=self.metadata)
        return [response async for response in call]

    async def begin(self, batch: annotations_pb2.AnnotationBatch, name: str = "one") -> str:
        """Create a submission with its first frames; returns the name of their stream."""
        stream = await self.submission(name)
        await self.append(stream, 0, batch)
        return stream

    async def submit(self, batch: annotations_pb2.AnnotationBatch, name: str = "one") -> None:
        """Create a complete submission and seal it."""
        await self.begin(batch, name)
        await self.seal(name)

    async def board(self, **asked: object) -> benchmark_service_pb2.GetLeaderboardResponse:
        request = benchmark_service_pb2.GetLeaderboardRequest(benchmark=BENCHMARK, **asked)  # type: ignore[arg-type]
        return await self.benchmarks.GetLeaderboard(request, metadata=self.metadata)


@dataclass(frozen=True)
class Hosted:
    """A hosting server and its callers."""

    server: ScoringServer
    clock: PlayedClock
    workers: PlayedWorkers
    channel: grpc.aio.Channel
    organiser: Client
    red: Client
    blue: Client
    viewer: Client
    address: str

    @property
    def nobody(self) -> Client:
        """A caller without a token."""
        return self.client("")

    @property
    def hosting(self) -> Hosting:
        """The hosting part of the server."""
        assert self.server.hosting is not None
        return self.server.hosting

    def client(self, secret: str) -> Client:
        return _client(self.channel, secret)

    async def expire(self) -> None:
        """Let the server process everything that is due now."""
        await self.hosting.expirer.expire()


@asynccontextmanager
async def hosting(
    folder: Path,
    clock: PlayedClock | None = None,
    *,
    held: bool = False,
    authorities: bytes | None = None,
    executor: JobRunner | None = None,
    **flags: object,
) -> AsyncIterator[Hosted]:
    """A hosting server over a store in a folder; its workers may be paused from the start.

    Large work goes to `executor`, which outlives the server, or else to its workers.

    With `authorities`, the server encrypts with a certificate of theirs for `localhost`.
    """
    path = folder / "store.db"
    clock = clock or PlayedClock()
    secrets = new_site_with_teams(path, clock.now)
    settings = load_settings(
        flags={
            "listen": "127.0.0.1:0",
            "store": str(path),
            "upkeep_interval_ms": 100,
            # The clock leaps, and by four of these limits in an outage.
            "heartbeat_interval_s": 3600,
            "minimum_live_interval_ms": 10,
            **flags,
        }
    )
    store = open_sqlite_store(path)
    workers = PlayedWorkers()
    if held:
        workers.gate.clear()
    server = ScoringServer(settings, workers, store, clock, executor)
    has_begun = _first_round(server)
    address = str(await server.start())
    try:
        async with _channel(address, authorities) as channel:
            await channel.channel_ready()
            await has_begun.wait()
            organiser, red, blue, viewer = (_client(channel, secret) for secret in secrets)
            yield Hosted(server, clock, workers, channel, organiser, red, blue, viewer, address)
    finally:
        await server.stop(0)
        store.close()


def _first_round(server: ScoringServer) -> asyncio.Event:
    """Set when the server has done what is due at its start; tests ask for later rounds themselves.

    In a server, no two rounds run at the same time.
    """
    assert server.hosting is not None
    has_ended, work = asyncio.Event(), server.hosting.work

    async def first() -> None:
        try:
            await work()
        finally:
            has_ended.set()

    server.hosting.work = first  # type: ignore[method-assign]
    return has_ended


def _channel(address: str, authorities: bytes | None) -> grpc.aio.Channel:
    if authorities is None:
        return grpc.aio.insecure_channel(address)
    name = (("grpc.ssl_target_name_override", "localhost"),)
    credentials = grpc.ssl_channel_credentials(authorities)
    return grpc.aio.secure_channel(address, credentials, options=name)


async def create_token(
    organiser: Client, role: token_pb2.Role, team: str = "", **more: object
) -> str:
    """Create a token; returns its secret."""
    request = access_service_pb2.CreateTokenRequest(role=role, team=team, **more)  # type: ignore[arg-type]
    answer = await organiser.access.CreateToken(request, metadata=organiser.metadata)
    return answer.secret


def dots(**policy: object) -> benchmark_pb2.Benchmark:
    """A benchmark of points under spotGEO, with the defaults of a large truth unless given.

    These are: any number of submissions, and a step of 0.01.
    """
    policy = {"ladder_step": 0.01, **policy}
    if "submissions_in_all" not in policy:
        policy = {"unlimited_submissions": True, **policy}
    return benchmark_pb2.Benchmark(
        specification=specification_pb2.BenchmarkSpec(
            title="Dots", evaluators=[specification_pb2.EvaluatorSpec(name="spotgeo")]
        ),
        truth_geometry=annotations_pb2.GEOMETRY_POINT,
        detection_geometry=annotations_pb2.GEOMETRY_POINT,
        policy=benchmark_pb2.Policy(**policy),  # type: ignore[arg-type]
    )


def append(
    stream: str, offset: int, batch: annotations_pb2.AnnotationBatch, epoch: int = 1
) -> submission_service_pb2.AppendRequest:
    """One append."""
    return submission_service_pb2.AppendRequest(
        stream=stream, epoch=epoch, offset=offset, detections=batch
    )


def values(report: report_pb2.Report) -> dict[str, float]:
    """Scores of a report over everything."""
    return {
        score.measure: score.value.number
        if score.value.HasField("number")
        else float(score.value.count)
        for score in report.scores
        if not any(score.HasField(name) for name in ("domain", "label", "sequence"))
    }


async def refusal(call: Awaitable[object]) -> Refused:
    """The status of a call that must be refused."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return refused(caught.value)


def _client(channel: grpc.aio.Channel, secret: str) -> Client:
    return Client(
        channel,
        secret,
        benchmark_service_pb2_grpc.BenchmarkServiceStub(channel),
        submission_service_pb2_grpc.SubmissionServiceStub(channel),
        access_service_pb2_grpc.AccessServiceStub(channel),
        operations_pb2_grpc.OperationsStub(channel),
        trust_service_pb2_grpc.TrustServiceStub(channel),
    )
