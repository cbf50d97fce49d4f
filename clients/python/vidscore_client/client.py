"""The synchronous client."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from types import TracebackType
from typing import Any, Self

import grpc

from vidscore.v1.benchmark_service_pb2_grpc import BenchmarkServiceStub
from vidscore.v1.organiser_pb2 import UploadTruthRequest
from vidscore.v1.ranking_service_pb2 import ExamineUploadRequest
from vidscore.v1.ranking_service_pb2_grpc import RankingServiceStub
from vidscore.v1.scoring_service_pb2 import ScoreRequest
from vidscore.v1.scoring_service_pb2_grpc import ScoringServiceStub
from vidscore.v1.server_service_pb2_grpc import ServerServiceStub
from vidscore.v1.submission_service_pb2 import AppendRequest, WatchSubmissionRequest
from vidscore.v1.submission_service_pb2_grpc import SubmissionServiceStub
from vidscore_client._access_operations import list_audit_records
from vidscore_client._append_plan import AppendPlan
from vidscore_client._endpoint import Endpoint, make_endpoint
from vidscore_client._forgotten import Ending
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
from vidscore_client._stream_plan import StreamPlan, plan_stream
from vidscore_client._submission_operations import open_stream
from vidscore_client._upload import UNHURRIED, plan_upload
from vidscore_client._versions import check_metadata
from vidscore_client.access import Tokens
from vidscore_client.benchmarks import Benchmarks
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
from vidscore_client.stream import ScoreStream
from vidscore_client.submission_stream import SubmissionStream
from vidscore_client.submissions import Submissions
from vidscore_client.trust import Trust


def connect(
    target: str,
    *,
    tls: bool | Tls = False,
    token: str | None = None,
    timeout_s: float = 10.0,
    allow_plaintext_token: bool = False,
    keepalive: Keepalive = DEFAULT_KEEPALIVE,
) -> Client:
    """Make a client of a server; the connection itself is made by the first call.

    Proxies that the environment names (``https_proxy``, ``no_proxy``) are used for other machines.

    Args:
        target: Address: ``host:port``, ``[address]:port`` or ``unix:path``.
        tls: Whether to encrypt: `Tls` names certificates, True trusts the system's authorities.
        token: Sent with each call as ``authorization: Bearer``.
        timeout_s: Seconds that a call, or the opening of a stream, may take.
        allow_plaintext_token: Whether the token may go unencrypted to another machine.
        keepalive: How a connection is found out that has gone silent.

    Raises:
        InputError: If an argument is wrong, a certificate cannot be used, or the token would go
            unencrypted to another machine.
    """
    return Client(
        make_endpoint(
            target,
            tls=tls,
            token=token,
            timeout_s=timeout_s,
            allow_plaintext_token=allow_plaintext_token,
            keepalive=keepalive,
        )
    )


class Client:
    """A connection to a server; made by `connect`.

    Every method may be called from any thread, and a client may have any number of streams open.
    As a context manager it is closed at the end of the block.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        """Make the channel; nothing is sent yet."""
        self._endpoint = endpoint
        self._channel = _open_channel(endpoint)
        self._streams: weakref.WeakSet[ScoreStream] = weakref.WeakSet()
        self._submitting: weakref.WeakSet[SubmissionStream] = weakref.WeakSet()
        # A client that is forgotten, or still open when the interpreter ends, is closed.
        self._close_channel = Ending(self, self._channel.close)

    @property
    def submissions(self) -> Submissions:
        """Submissions to hosted benchmarks."""
        return Submissions(self._run, self._open_watch)

    @property
    def benchmarks(self) -> Benchmarks:
        """Hosted benchmarks."""
        return Benchmarks(self._run, self._upload_truth)

    @property
    def trust(self) -> Trust:
        """How far rankings and criteria can be relied on."""
        return Trust(self._run, self._open_examination)

    @property
    def tokens(self) -> Tokens:
        """Tokens, for organisers."""
        return Tokens(self._run)

    def audit(
        self, maximum: int | None = None, wanted: AuditFilter = AuditFilter()
    ) -> list[AuditRecord]:
        """Who did what, newest first. For organisers.

        Args:
            maximum: Most records wanted; None for all.
            wanted: Which records.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(list_audit_records(maximum, wanted))

    def server(self) -> ServerInfo:
        """What the server is; it answers clients of any version.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(get_server())

    def export_backup(self, write: Callable[[bytes], object], benchmark: str | None = None) -> None:
        """Take a backup while the server goes on. For organisers.

        Args:
            write: Called with each piece of the file. It holds hidden truth and hashes of tokens:
                let nobody else read it.
            benchmark: The benchmark; None for the whole site.

        Raises:
            NotFoundError: If there is no such benchmark.
            VidscoreError: If the call fails; what was written is no backup then.
        """
        self._refuse_if_closed()
        stub = ServerServiceStub(self._channel)
        try:
            call: Any = stub.ExportBackup(
                export_request(benchmark), metadata=self._endpoint.metadata
            )
            for response in call:
                write(response.chunk)
        except grpc.RpcError as failure:
            raise error_from_failure(failure) from failure

    def import_backup(self, chunks: Iterable[bytes]) -> str:
        """Add a benchmark out of its backup: whole, or not at all. For organisers.

        Args:
            chunks: The file, in pieces of any size.

        Returns:
            Full name of the benchmark.

        Raises:
            InvalidArgumentError: If it is damaged, or of other tables; nothing was added.
            ConflictError: If a benchmark of that name is there.
            VidscoreError: If the call fails.
        """
        self._refuse_if_closed()
        stub = ServerServiceStub(self._channel)
        try:
            answer = stub.ImportBackup(import_requests(chunks), metadata=self._endpoint.metadata)
        except grpc.RpcError as failure:
            raise error_from_failure(failure) from failure
        return answer.benchmark

    def evaluators(self) -> list[EvaluatorDescription]:
        """Every evaluator of the server, built-in ones first.

        Raises:
            VidscoreError: If the call fails.
        """
        return self._run(list_evaluators())

    def evaluator(self, name: str) -> EvaluatorDescription:
        """One evaluator.

        Raises:
            NotFoundError: If the server has none of that name.
            VidscoreError: If the call fails.
        """
        return self._run(get_evaluator(name))

    def health(self, service: str = "") -> Health:
        """Whether the server takes calls, by the standard health protocol.

        Args:
            service: Full name of a service; empty for the server as a whole.

        Raises:
            NotFoundError: If the server does not know the service.
            VidscoreError: If the call fails.
        """
        return self._run(check_health(service))

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
    ) -> ScoreStream:
        """Open a stream that takes truth and detections frame by frame.

        Args:
            evaluators: What judges: names, or (name, parameters). Where given, they stand in the
                place of the specification's own.
            specification: What the data alone cannot say, in its JSON form or as the message.
            truth_geometry: Shape of the truth's objects.
            detection_geometry: Shape of the detections.
            live: When live reports are wanted; None for never.
            batching: How frames are put together, and what happens where the server is slow.
            timeout_s: Seconds that the whole stream may take; None for no limit.

        Raises:
            InputError: If an argument is wrong.
            InvalidArgumentError: If the server refuses the configuration.
            UnavailableError: If the server cannot be reached.
            VidscoreError: If the stream cannot be opened for another reason.
        """
        geometries = (truth_geometry, detection_geometry)
        plan = plan_stream(evaluators, specification, geometries, live, batching, timeout_s)
        return self._open_stream(plan)

    def score(
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
        """Send everything and wait for the final reports.

        Args:
            evaluators: What judges, as in `score_stream`.
            truth: Batches of the truth; may be a generator.
            detections: Batches of detections; may be a generator.
            specification: What the data alone cannot say.
            truth_geometry: Shape of the truth's objects; None for that of its first batch.
            detection_geometry: Shape of the detections; None for that of their first batch.
            timeout_s: Seconds that it may take; None for no limit.

        Returns:
            A report for each evaluator, in the order in which they were asked for.

        Raises:
            InputError: If an argument is wrong.
            VidscoreError: If the server refuses it or fails.
        """
        upload = plan_upload(truth, detections, truth_geometry, detection_geometry)
        with self.score_stream(
            evaluators,
            specification=specification,
            truth_geometry=upload.truth_geometry,
            detection_geometry=upload.detection_geometry,
            batching=UNHURRIED,
            timeout_s=timeout_s,
        ) as stream:
            for side, frames in upload.batches:
                stream.send_batch(side, frames)
            return stream.finish()

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
    ) -> SubmissionStream:
        """Open a stream of detections into a submission to a hosted benchmark.

        The submission is created where it is not there. A program that dies and starts again goes
        on by naming the same submission and stream: `SubmissionStream.next_offset` tells how many
        frames are durable, and ``replay=True`` leaves exactly these out of what is sent.

        Args:
            benchmark: The benchmark.
            submission: Last part of the submission's name: 1 to 63 lower-case letters, digits and
                hyphens, a letter first; None to let the server choose.
            stream: Which of the submission's streams this program writes. Programs that send at
                once each take one of their own; opening one that another program writes shuts
                that program out.
            title: Title for people, of a new submission.
            replay: Whether the same frames are sent again from the first one on, in the same
                order, so that those that are durable already are left out.
            batching: How frames are put together, and what happens where the server is slow.
            delivery: How frames are held until they are acknowledged, and what happens after a
                break.

        Raises:
            NotFoundError: If there is no such benchmark.
            QuotaExceededError: If the team may have no more submissions.
            SubmissionEndedError: If the submission takes no more frames.
            VidscoreError: If the stream cannot be opened for another reason.
        """
        opened = self._run(open_stream(benchmark, submission, stream, title))
        plan = AppendPlan(opened, batching, delivery, replay)

        def open_call(requests: Iterator[AppendRequest]) -> Any:
            stub = SubmissionServiceStub(self._channel)
            return stub.AppendFrames(requests, metadata=self._endpoint.metadata)

        submitting = SubmissionStream(plan, open_call, self._run, self.submissions)
        self._submitting.add(submitting)
        return submitting

    def close(self) -> None:
        """Close every open stream and the connection; may be called again.

        Streams into submissions deliver what they have taken, as their own `close` does; streams
        that score are cancelled.

        Raises:
            VidscoreError: What a stream that could not deliver everything failed with; the rest is
                closed all the same.
        """
        with ExitStack() as closing:
            closing.callback(self.detach)
            for submitting in list(self._submitting):
                closing.callback(submitting.close)

    def detach(self) -> None:
        """End every open stream at once, giving up what is not delivered, and the connection."""
        for stream in list(self._streams):
            stream.cancel()
        for submitting in list(self._submitting):
            submitting.detach()
        self._close_channel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        else:
            self.detach()

    def _open_stream(self, plan: StreamPlan) -> ScoreStream:
        self._refuse_if_closed()

        def open_call(requests: Iterator[ScoreRequest], timeout_s: float | None) -> Any:
            stub = ScoringServiceStub(self._channel)
            return stub.Score(requests, timeout=timeout_s, metadata=self._endpoint.metadata)

        stream = ScoreStream(plan, open_call, self._endpoint.timeout_s, owner=self)
        self._streams.add(stream)
        return stream

    def _upload_truth(self, requests: Iterator[UploadTruthRequest], timeout_s: float | None) -> Any:
        self._refuse_if_closed()
        stub = BenchmarkServiceStub(self._channel)
        return stub.UploadTruth(requests, timeout=timeout_s, metadata=self._endpoint.metadata)

    def _open_examination(
        self, requests: Iterator[ExamineUploadRequest], timeout_s: float | None
    ) -> Any:
        self._refuse_if_closed()
        stub = RankingServiceStub(self._channel)
        return stub.ExamineUpload(requests, timeout=timeout_s, metadata=self._endpoint.metadata)

    def _run(self, operation: Operation[ResultType]) -> ResultType:
        self._refuse_if_closed()
        go_on: Callable[[], UnaryRequest] = partial(operation.send, None)
        while True:
            try:
                request = go_on()
            except StopIteration as finished:
                result: ResultType = finished.value
                return result
            try:
                go_on = partial(operation.send, self._call(request))
            except VidscoreError as error:
                go_on = partial(operation.throw, error)  # an operation may know what to do

    def _open_watch(self, request: WatchSubmissionRequest, timeout_s: float | None) -> Any:
        self._refuse_if_closed()
        stub = SubmissionServiceStub(self._channel)
        return stub.WatchSubmission(request, timeout=timeout_s, metadata=self._endpoint.metadata)

    def _call(self, request: UnaryRequest) -> Any:
        method = self._channel.unary_unary(
            request.path,
            request_serializer=type(request.message).SerializeToString,
            response_deserializer=request.response.FromString,
        )
        try:
            response, call = method.with_call(
                request.message,
                timeout=self._endpoint.timeout_s,
                metadata=self._endpoint.metadata,
            )
        except grpc.RpcError as failure:
            raise error_from_failure(failure) from failure
        check_metadata(call.trailing_metadata())
        return response

    def _refuse_if_closed(self) -> None:
        if self._close_channel.has_come:
            raise ClosedError("the client is closed")


def _open_channel(endpoint: Endpoint) -> grpc.Channel:
    if endpoint.credentials is None:
        return grpc.insecure_channel(endpoint.target, endpoint.options)
    return grpc.secure_channel(endpoint.target, endpoint.credentials, endpoint.options)
