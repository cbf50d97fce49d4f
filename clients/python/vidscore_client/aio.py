"""The asyncio client: the same methods as the synchronous one, awaited.

Arguments, reports, settings and errors are those of `vidscore_client`. A client belongs to the
event loop that it is made in.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Any, Self

import grpc

from vidscore.v1.benchmark_service_pb2_grpc import BenchmarkServiceStub
from vidscore.v1.organiser_pb2 import UploadTruthRequest
from vidscore.v1.ranking_service_pb2 import ExamineUploadRequest
from vidscore.v1.ranking_service_pb2_grpc import RankingServiceStub
from vidscore.v1.scoring_service_pb2_grpc import ScoringServiceStub
from vidscore.v1.server_service_pb2_grpc import ServerServiceStub
from vidscore.v1.submission_service_pb2 import WatchSubmissionRequest
from vidscore.v1.submission_service_pb2_grpc import SubmissionServiceStub
from vidscore_client._access_operations import list_audit_records
from vidscore_client._aio_hosting import AsyncBenchmarks, AsyncRescoring, AsyncTokens
from vidscore_client._aio_stream import AsyncScoreStream
from vidscore_client._aio_submission_stream import AsyncSubmissionStream
from vidscore_client._aio_submissions import AsyncSubmissions
from vidscore_client._aio_trust import AsyncTrust, AsyncTrustAnalysis
from vidscore_client._append_plan import AppendPlan
from vidscore_client._endpoint import Endpoint, make_endpoint
from vidscore_client._names import DEFAULT_STREAM
from vidscore_client._operations import (
    Health,
    Operation,
    ResultType,
    UnaryRequest,
    check_health,
    get_evaluator,
    list_evaluators,
)
from vidscore_client._server_operations import export_request, get_server, import_requests
from vidscore_client._specification import Specification
from vidscore_client._status import error_from_failure
from vidscore_client._stream_plan import plan_stream
from vidscore_client._submission_operations import open_stream
from vidscore_client._upload import UNHURRIED, plan_upload
from vidscore_client._versions import check_metadata
from vidscore_client.errors import ClosedError, VidscoreError
from vidscore_client.evaluators import EvaluatorChoice, EvaluatorDescription
from vidscore_client.frames import Frames, Geometry
from vidscore_client.hosting import AuditFilter, AuditRecord
from vidscore_client.reports import Report
from vidscore_client.servers import ServerInfo
from vidscore_client.settings import (
    DEFAULT_BATCHING,
    DEFAULT_DELIVERY,
    DEFAULT_KEEPALIVE,
    Batching,
    Delivery,
    Keepalive,
    Live,
    Tls,
)

__all__ = [
    "AsyncBenchmarks",
    "AsyncClient",
    "AsyncRescoring",
    "AsyncScoreStream",
    "AsyncSubmissionStream",
    "AsyncSubmissions",
    "AsyncTokens",
    "AsyncTrust",
    "AsyncTrustAnalysis",
    "connect",
]


def connect(
    target: str,
    *,
    tls: bool | Tls = False,
    token: str | None = None,
    timeout_s: float = 10.0,
    allow_plaintext_token: bool = False,
    keepalive: Keepalive = DEFAULT_KEEPALIVE,
) -> AsyncClient:
    """Make an asyncio client of a server; see `vidscore_client.connect`.

    To be called in the event loop that the client is for.
    """
    return AsyncClient(
        make_endpoint(
            target,
            tls=tls,
            token=token,
            timeout_s=timeout_s,
            allow_plaintext_token=allow_plaintext_token,
            keepalive=keepalive,
        )
    )


class AsyncClient:
    """A connection to a server; made by `connect`.

    Its methods may be called by any task of its event loop, and it may have any number of streams
    open. As an asynchronous context manager it is closed at the end of the block.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Make the channel; nothing is sent yet."""
        self._endpoint = endpoint
        self._channel = _open_channel(endpoint)
        self._streams: weakref.WeakSet[AsyncScoreStream] = weakref.WeakSet()
        self._submitting: weakref.WeakSet[AsyncSubmissionStream] = weakref.WeakSet()
        self._closed = False

    @property
    def submissions(self) -> AsyncSubmissions:
        """Submissions to hosted benchmarks."""
        return AsyncSubmissions(self._run, self._open_watch)

    @property
    def benchmarks(self) -> AsyncBenchmarks:
        """Hosted benchmarks."""
        return AsyncBenchmarks(self._run, self._upload_truth)

    @property
    def trust(self) -> AsyncTrust:
        """How far rankings and criteria can be relied on."""
        return AsyncTrust(self._run, self._open_examination)

    @property
    def tokens(self) -> AsyncTokens:
        """Tokens, for organisers."""
        return AsyncTokens(self._run)

    async def audit(
        self, maximum: int | None = None, wanted: AuditFilter = AuditFilter()
    ) -> list[AuditRecord]:
        """Who did what; see `vidscore_client.Client.audit`."""
        return await self._run(list_audit_records(maximum, wanted))

    async def server(self) -> ServerInfo:
        """What the server is; see `vidscore_client.Client.server`."""
        return await self._run(get_server())

    async def export_backup(
        self, write: Callable[[bytes], object], benchmark: str | None = None
    ) -> None:
        """Take a backup; see `vidscore_client.Client.export_backup`."""
        self._refuse_if_closed()
        stub: Any = ServerServiceStub(self._channel)
        try:
            call = stub.ExportBackup(export_request(benchmark), metadata=self._endpoint.metadata)
            async for response in call:
                write(response.chunk)
        except grpc.RpcError as failure:
            raise error_from_failure(failure) from failure

    async def import_backup(self, chunks: Iterable[bytes]) -> str:
        """Add a benchmark out of its backup; see `vidscore_client.Client.import_backup`."""
        self._refuse_if_closed()
        stub: Any = ServerServiceStub(self._channel)
        try:
            answer = await stub.ImportBackup(
                import_requests(chunks), metadata=self._endpoint.metadata
            )
        except grpc.RpcError as failure:
            raise error_from_failure(failure) from failure
        benchmark: str = answer.benchmark
        return benchmark

    async def evaluators(self) -> list[EvaluatorDescription]:
        """Every evaluator of the server; see `vidscore_client.Client.evaluators`."""
        return await self._run(list_evaluators())

    async def evaluator(self, name: str) -> EvaluatorDescription:
        """One evaluator; see `vidscore_client.Client.evaluator`."""
        return await self._run(get_evaluator(name))

    async def health(self, service: str = "") -> Health:
        """Whether the server takes calls; see `vidscore_client.Client.health`."""
        return await self._run(check_health(service))

    def score_stream(
        self,
        evaluators: Sequence[EvaluatorChoice] = (),
        *,
        specification: Specification | None = None,
        truth_geometry: Geometry = "box",
        detection_geometry: Geometry = "box",
        live: Live | None = None,
        batching: Batching = DEFAULT_BATCHING,
        timeout_s: float | None = None,
    ) -> AsyncScoreStream:
        """A stream that takes truth and detections frame by frame; opened by ``async with``.

        Arguments and errors are those of `vidscore_client.Client.score_stream`.
        """
        geometries = (truth_geometry, detection_geometry)
        plan = plan_stream(evaluators, specification, geometries, live, batching, timeout_s)
        stream = AsyncScoreStream(plan, self._open_call, self._endpoint.timeout_s)
        self._streams.add(stream)
        return stream

    async def score(
        self,
        evaluators: Sequence[EvaluatorChoice],
        truth: Iterable[Frames],
        detections: Iterable[Frames],
        *,
        specification: Specification | None = None,
        truth_geometry: Geometry | None = None,
        detection_geometry: Geometry | None = None,
        timeout_s: float | None = None,
    ) -> list[Report]:
        """Send everything and wait for the final reports; see `vidscore_client.Client.score`."""
        upload = plan_upload(truth, detections, truth_geometry, detection_geometry)
        async with self.score_stream(
            evaluators,
            specification=specification,
            truth_geometry=upload.truth_geometry,
            detection_geometry=upload.detection_geometry,
            batching=UNHURRIED,
            timeout_s=timeout_s,
        ) as stream:
            for side, frames in upload.batches:
                await stream.send_batch(side, frames)
            return await stream.finish()

    def submit(
        self,
        benchmark: str,
        submission: str | None = None,
        *,
        stream: str = DEFAULT_STREAM,
        title: str = "",
        replay: bool = False,
        batching: Batching = DEFAULT_BATCHING,
        delivery: Delivery = DEFAULT_DELIVERY,
    ) -> AsyncSubmissionStream:
        """A stream of detections into a submission; opened by ``async with``.

        Arguments and errors are those of `vidscore_client.Client.submit`.
        """

        async def open_plan() -> AppendPlan:
            opened = await self._run(open_stream(benchmark, submission, stream, title))
            return AppendPlan(opened, batching, delivery, replay)

        def open_call() -> Any:
            stub = SubmissionServiceStub(self._channel)
            return stub.AppendFrames(metadata=self._endpoint.metadata)

        submitting = AsyncSubmissionStream(open_plan, open_call, self._run, self.submissions)
        self._submitting.add(submitting)
        return submitting

    async def close(self) -> None:
        """Close every open stream and the connection; see `vidscore_client.Client.close`."""
        async with AsyncExitStack() as closing:
            closing.push_async_callback(self.detach)
            for submitting in list(self._submitting):
                closing.push_async_callback(submitting.close)

    async def detach(self) -> None:
        """End every open stream at once, giving up what is not delivered, and the connection."""
        self._closed = True
        for stream in list(self._streams):
            await stream.cancel()
        for submitting in list(self._submitting):
            await submitting.detach()
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await (self.close() if error is None else self.detach())

    def _open_call(self, timeout_s: float | None) -> Any:
        self._refuse_if_closed()
        stub = ScoringServiceStub(self._channel)
        return stub.Score(timeout=timeout_s, metadata=self._endpoint.metadata)

    def _upload_truth(self, requests: Iterator[UploadTruthRequest], timeout_s: float | None) -> Any:
        self._refuse_if_closed()
        stub: Any = BenchmarkServiceStub(self._channel)
        return stub.UploadTruth(requests, timeout=timeout_s, metadata=self._endpoint.metadata)

    def _open_examination(
        self, requests: Iterator[ExamineUploadRequest], timeout_s: float | None
    ) -> Any:
        self._refuse_if_closed()
        stub: Any = RankingServiceStub(self._channel)
        return stub.ExamineUpload(requests, timeout=timeout_s, metadata=self._endpoint.metadata)

    async def _run(self, operation: Operation[ResultType]) -> ResultType:
        self._refuse_if_closed()
        go_on: Callable[[], UnaryRequest] = partial(operation.send, None)
        while True:
            try:
                request = go_on()
            except StopIteration as finished:
                result: ResultType = finished.value
                return result
            try:
                go_on = partial(operation.send, await self._call(request))
            except VidscoreError as error:
                go_on = partial(operation.throw, error)  # an operation may know what to do

    def _open_watch(self, request: WatchSubmissionRequest, timeout_s: float | None) -> Any:
        self._refuse_if_closed()
        stub = SubmissionServiceStub(self._channel)
        return stub.WatchSubmission(request, timeout=timeout_s, metadata=self._endpoint.metadata)

    async def _call(self, request: UnaryRequest) -> Any:
        method: Any = self._channel.unary_unary(
            request.path,
            request_serializer=type(request.message).SerializeToString,
            response_deserializer=request.response.FromString,
        )
        try:
            call = method(
                request.message,
                timeout=self._endpoint.timeout_s,
                metadata=self._endpoint.metadata,
            )
            response = await call
        except grpc.RpcError as failure:
            raise error_from_failure(failure) from failure
        check_metadata(await call.trailing_metadata())
        return response

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise ClosedError("the client is closed")


def _open_channel(endpoint: Endpoint) -> grpc.aio.Channel:
    if endpoint.credentials is None:
        return grpc.aio.insecure_channel(endpoint.target, endpoint.options)
    return grpc.aio.secure_channel(endpoint.target, endpoint.credentials, endpoint.options)
