"""A server that plays a script: the test decides its answers, and it records its requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2_grpc

from vidscore_client import __version__
from vidscore_protos.v1 import (
    evaluator_service_pb2,
    evaluator_service_pb2_grpc,
    report_pb2,
    scoring_service_pb2,
    scoring_service_pb2_grpc,
)

Requests = Iterator[scoring_service_pb2.ScoreRequest]
Responses = Iterator[scoring_service_pb2.ScoreResponse]
Script = Callable[[Requests, grpc.ServicerContext], Responses]

SERVER_VERSION = ".".join([*__version__.split(".")[:2], "987"])
"""Version of a server of the client's own minor version."""

WAIT_S = 60.0
"""Time after which a waiting test fails."""


@dataclass
class FakeServer:
    """The server as a test sees it.

    Attributes:
        target: Its address.
        requests: Every message of a scoring stream, in order of arrival.
        metadata: Metadata of every call.
        finished: Set when a scripted stream has ended in any way.
        stop: Kills the server, and with it every call.
    """

    target: str = ""
    requests: list[scoring_service_pb2.ScoreRequest] = field(default_factory=list)
    metadata: list[Mapping[str, Any]] = field(default_factory=list)
    finished: threading.Event = field(default_factory=threading.Event)
    stop: Callable[[], None] = lambda: None

    def sent(self, side: str) -> list[tuple[str, int]]:
        """Sequence and number of every frame of a side, in order of arrival."""
        return [
            (batch.sequences[row].sequence, number)
            for batch in self.batches(side)
            for row, number in zip(batch.frame_sequences, batch.frame_numbers, strict=True)
        ]

    def batches(self, side: str) -> list[Any]:
        """Every batch of a side."""
        return [
            getattr(request, side)
            for request in self.requests
            if request.WhichOneof("message") == side
        ]


class _Scoring(scoring_service_pb2_grpc.ScoringServiceServicer):
    def __init__(self, server: FakeServer, script: Script) -> None:
        self._server = server
        self._script = script

    def Score(self, request_iterator: Any, context: Any) -> Responses:  # noqa: N802 - grpc's name
        self._server.metadata.append(dict(context.invocation_metadata()))
        context.add_callback(self._server.finished.set)
        return self._script(self._recorded(request_iterator), context)

    def ScoreBatch(self, request: Any, context: Any) -> Any:  # noqa: N802
        raise NotImplementedError

    def _recorded(self, requests: Requests) -> Requests:
        for request in requests:
            self._server.requests.append(request)
            yield request


class _Evaluators(evaluator_service_pb2_grpc.EvaluatorServiceServicer):
    """Serves its evaluators one per page."""

    def __init__(self, server: FakeServer, names: Sequence[str]) -> None:
        self._server = server
        self._names = names

    def ListEvaluators(self, request: Any, context: Any) -> Any:  # noqa: N802
        self._server.metadata.append(dict(context.invocation_metadata()))
        index = int(request.page_token or 0)
        last = index + 1 >= len(self._names)
        return evaluator_service_pb2.ListEvaluatorsResponse(
            evaluators=[_evaluator(name) for name in self._names[index : index + 1]],
            next_page_token="" if last else str(index + 1),
        )

    def GetEvaluator(self, request: Any, context: Any) -> Any:  # noqa: N802
        name = request.name.removeprefix("evaluators/")
        if name not in self._names:
            abort(context, grpc.StatusCode.NOT_FOUND, f"no evaluator is called {name!r}")
        return evaluator_service_pb2.GetEvaluatorResponse(evaluator=_evaluator(name))

    def ListPresets(self, request: Any, context: Any) -> Any:  # noqa: N802
        """One preset per page: all labels, then none."""
        del context
        first = not request.page_token
        preset = evaluator_service_pb2.Preset(name="presets/street", version="1.0.0")
        preset.evaluators.add(name="f1").parameters.add(name="threshold", number=0.25)
        if not first:
            preset.name = "presets/sky"
            preset.labels.names.extend(["plane", "bird"])
        return evaluator_service_pb2.ListPresetsResponse(
            presets=[preset], next_page_token="1" if first else ""
        )


def _evaluator(name: str) -> evaluator_service_pb2.Evaluator:
    return evaluator_service_pb2.Evaluator(name=f"evaluators/{name}", version="1")


@contextmanager
def serving(
    script: Script | None = None,
    *,
    evaluators: Sequence[str] = (),
    health: Any = None,
    credentials: grpc.ServerCredentials | None = None,
) -> Iterator[FakeServer]:
    """Run a scripted server.

    Args:
        script: Its answers to scoring streams; None for `accept`.
        evaluators: Names of its evaluators.
        health: Implements the standard health protocol; None for nothing.
        credentials: Certificates; None for plain connections.
    """
    fake = FakeServer()
    with futures.ThreadPoolExecutor(max_workers=8) as pool:
        server = grpc.server(pool, options=[("grpc.so_reuseport", 0)])
        scoring_service_pb2_grpc.add_ScoringServiceServicer_to_server(
            _Scoring(fake, script or accept), server
        )
        evaluator_service_pb2_grpc.add_EvaluatorServiceServicer_to_server(
            _Evaluators(fake, evaluators), server
        )
        if health is not None:
            health_pb2_grpc.add_HealthServicer_to_server(health, server)
        address = "127.0.0.1:0"
        port = (
            server.add_insecure_port(address)
            if credentials is None
            else server.add_secure_port(address, credentials)
        )
        fake.target = f"127.0.0.1:{port}"

        def stop() -> None:
            server.stop(None).wait()

        fake.stop = stop
        server.start()
        try:
            yield fake
        finally:
            fake.stop()


def started(**limits: int) -> scoring_service_pb2.ScoreResponse:
    """The server's first message."""
    return scoring_service_pb2.ScoreResponse(
        started=scoring_service_pb2.ScoreStarted(server_version=SERVER_VERSION, limits=limits)
    )


def live(paired: int) -> scoring_service_pb2.ScoreResponse:
    """A live report whose only score is the number of paired frames."""
    return scoring_service_pb2.ScoreResponse(
        live=scoring_service_pb2.LiveReport(
            reports=[_report(paired)],
            coverage=scoring_service_pb2.Coverage(
                paired_frames=paired, frames_waiting_for_detections=1, frames_waiting_for_truth=2
            ),
        )
    )


def final(frames: int) -> scoring_service_pb2.ScoreResponse:
    """A final report whose only score is a number of frames."""
    return scoring_service_pb2.ScoreResponse(
        final=scoring_service_pb2.FinalReport(reports=[_report(frames)])
    )


def accept(requests: Requests, _context: grpc.ServicerContext) -> Responses:
    """Accept everything; the final report counts the frames of both sides."""
    next(requests)
    yield started()
    yield final(sum(_frame_count(request) for request in requests))


def script(*responses: scoring_service_pb2.ScoreResponse) -> Script:
    """Accept the stream, answer at once, and end when the client has closed its side."""

    def answer(requests: Requests, _context: grpc.ServicerContext) -> Responses:
        next(requests)
        yield started()
        yield from responses
        yield final(sum(_frame_count(request) for request in requests))

    return answer


def limited(**limits: int) -> Script:
    """Accept everything, and state limits."""

    def answer(requests: Requests, _context: grpc.ServicerContext) -> Responses:
        next(requests)
        yield started(**limits)
        yield final(sum(_frame_count(request) for request in requests))

    return answer


def slow(go_on: threading.Event) -> Script:
    """Accept the stream and take no frame before `go_on`."""

    def answer(requests: Requests, _context: grpc.ServicerContext) -> Responses:
        next(requests)
        yield started()
        go_on.wait(WAIT_S)
        yield final(sum(_frame_count(request) for request in requests))

    return answer


def answer_each(requests: Requests, _context: grpc.ServicerContext) -> Responses:
    """Answer each batch with a live report that counts the batches."""
    next(requests)
    yield started()
    yield from (live(count) for count, _ in enumerate(requests, start=1))
    yield final(0)


def refuse_first_batch(requests: Requests, context: grpc.ServicerContext) -> Responses:
    """Accept the stream, and refuse its first batch with thirty violations, two of them listed."""
    next(requests)
    yield started()
    next(requests)
    details = [
        error_info("INVALID_INPUT", violations="30"),
        bad_request(("truth.coordinates[0]", "found nan"), ("truth.labels", "found two")),
    ]
    abort(context, grpc.StatusCode.INVALID_ARGUMENT, "many faults", details)


def end_at_once(requests: Requests, _context: grpc.ServicerContext) -> Responses:
    """Accept the stream, and end it with OK but without a final report."""
    next(requests)
    yield started()


def enough(requests: Requests, _context: grpc.ServicerContext) -> Responses:
    """Send the final report after the first batch, whatever else is sent."""
    next(requests)
    yield started()
    next(requests)
    yield final(1)


def never_accept(requests: Requests, _context: grpc.ServicerContext) -> Responses:
    """Accept everything and answer nothing."""
    yield from (started() for request in requests if request.WhichOneof("message") is None)


def refuse_configuration(requests: Requests, context: grpc.ServicerContext) -> Responses:
    """Refuse the stream."""
    next(requests)
    details = [error_info("UNKNOWN_EVALUATOR")]
    abort(context, grpc.StatusCode.NOT_FOUND, "no evaluator is called 'fake'", details)
    yield started()


def abort(
    context: grpc.ServicerContext,
    code: grpc.StatusCode,
    message: str,
    details: Sequence[Message] = (),
) -> None:
    """End a call with a status and its details."""
    status = status_pb2.Status(code=code.value[0], message=message)
    for detail in details:
        packed = AnyMessage()
        packed.Pack(detail)
        status.details.append(packed)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(code, message)


def error_info(reason: str, domain: str = "vidscore", **metadata: str) -> Any:
    """A machine-readable reason."""
    return error_details_pb2.ErrorInfo(reason=reason, domain=domain, metadata=metadata)


def bad_request(*violations: tuple[str, str]) -> Any:
    """Field violations."""
    return error_details_pb2.BadRequest(
        field_violations=[
            error_details_pb2.BadRequest.FieldViolation(field=name, description=text)
            for name, text in violations
        ]
    )


def _frame_count(request: scoring_service_pb2.ScoreRequest) -> int:
    return len(request.truth.frame_numbers) + len(request.detections.frame_numbers)


def _report(frames: int) -> report_pb2.Report:
    score = report_pb2.Score(measure="frames", value=report_pb2.Value(count=frames))
    return report_pb2.Report(evaluator="fake", version="1", scores=[score])
