"""The asyncio client: the same methods as the synchronous one, awaited.

Arguments, reports, settings and errors are those of `vidscore_client`. A client belongs to the
event loop in which it is made.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

from vidscore_client import servers
from vidscore_client._encoding import DEFAULT_STREAM
from vidscore_client._endpoint import make_endpoint
from vidscore_client._exchange import Exchange, plan_stream
from vidscore_client._sender import AppendPlan, Sender, open_append
from vidscore_client._specification import Specification
from vidscore_client._tasks import TaskTransport
from vidscore_client._transport import Transport
from vidscore_client._upload import UNHURRIED, plan_upload
from vidscore_client.access import AsyncTokens, list_audit_records
from vidscore_client.benchmarks import AsyncBenchmarks, AsyncRescoring
from vidscore_client.evaluators import EvaluatorChoice, EvaluatorDescription, PresetDescription
from vidscore_client.frames import Frames, Geometry
from vidscore_client.hosting import AuditFilter, AuditRecord, SubmissionState
from vidscore_client.live import LiveOutcome, OnFrame, OnStored, answer_live
from vidscore_client.organising import AsyncInvitations, Queue, get_queue
from vidscore_client.reports import Report
from vidscore_client.servers import Health, ServerInfo
from vidscore_client.settings import (
    DEFAULT_BATCHING,
    DEFAULT_DELIVERY,
    DEFAULT_KEEPALIVE,
    DEFAULT_RETRY,
    Batching,
    Delivery,
    Keepalive,
    Live,
    Retry,
    Tls,
)
from vidscore_client.stream import AsyncScoreStream
from vidscore_client.submission_stream import AsyncSubmissionStream
from vidscore_client.submissions import AsyncSubmissions
from vidscore_client.trust import AsyncTrust, AsyncTrustAnalysis

__all__ = [
    "AsyncBenchmarks",
    "AsyncClient",
    "AsyncInvitations",
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

    Call it in the client's event loop.
    """
    endpoint = make_endpoint(
        target,
        tls=tls,
        token=token,
        timeout_s=timeout_s,
        allow_plaintext_token=allow_plaintext_token,
        keepalive=keepalive,
    )
    return AsyncClient(TaskTransport(endpoint))


class AsyncClient:
    """A connection to a server; made by `connect`.

    Its methods may be called by any task of its event loop, and it may have any number of streams
    open. As an asynchronous context manager it is closed at the end of the block.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        # Opened calls of streams; their workers keep them alive, even if a stream is leaked.
        self._exchanges: weakref.WeakSet[Exchange] = weakref.WeakSet()
        self._senders: weakref.WeakSet[Sender] = weakref.WeakSet()

    @property
    def submissions(self) -> AsyncSubmissions:
        """Submissions to hosted benchmarks."""
        return AsyncSubmissions(self._transport)

    @property
    def benchmarks(self) -> AsyncBenchmarks:
        """Hosted benchmarks."""
        return AsyncBenchmarks(self._transport)

    @property
    def trust(self) -> AsyncTrust:
        """The reliability of rankings and criteria."""
        return AsyncTrust(self._transport)

    @property
    def tokens(self) -> AsyncTokens:
        """Tokens, for organisers."""
        return AsyncTokens(self._transport)

    @property
    def invitations(self) -> AsyncInvitations:
        """Invitations of teams."""
        return AsyncInvitations(self._transport)

    async def audit(
        self, maximum: int | None = None, wanted: AuditFilter = AuditFilter()
    ) -> list[AuditRecord]:
        """The audit record; see `vidscore_client.Client.audit`."""
        return await list_audit_records(self._transport, maximum, wanted)

    async def queue(self, states: Iterable[SubmissionState | str] = ()) -> Queue:
        """Waiting, running and failed submissions; see `vidscore_client.Client.queue`."""
        return await get_queue(self._transport, states)

    async def server(self) -> ServerInfo:
        """Describe the server; see `vidscore_client.Client.server`."""
        return await servers.get_server(self._transport)

    async def export_backup(
        self, write: Callable[[bytes], object], benchmark: str | None = None
    ) -> None:
        """Take a backup; see `vidscore_client.Client.export_backup`."""
        await servers.export_backup(self._transport, write, benchmark)

    async def import_backup(self, chunks: Iterable[bytes]) -> str:
        """Add a benchmark from its backup; see `vidscore_client.Client.import_backup`."""
        return await servers.import_backup(self._transport, chunks)

    async def evaluators(self) -> list[EvaluatorDescription]:
        """Every evaluator of the server; see `vidscore_client.Client.evaluators`."""
        return await servers.list_evaluators(self._transport)

    async def evaluator(self, name: str) -> EvaluatorDescription:
        """One evaluator; see `vidscore_client.Client.evaluator`."""
        return await servers.get_evaluator(self._transport, name)

    async def presets(self) -> list[PresetDescription]:
        """Every preset of the server; see `vidscore_client.Client.presets`."""
        return await servers.list_presets(self._transport)

    async def health(self, service: str = "") -> Health:
        """Whether the server accepts calls; see `vidscore_client.Client.health`."""
        return await servers.check_health(self._transport, service)

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
        return AsyncScoreStream(self._transport, plan, self._track_exchange)

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
            for batch in upload.batches:
                await stream.send_batch(batch.side, batch.frames)
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
            return await open_append(
                self._transport,
                benchmark,
                submission,
                stream,
                title,
                batching=batching,
                delivery=delivery,
                replay=replay,
            )

        return AsyncSubmissionStream(self._transport, open_plan, self._track_sender)

    async def answer_live(
        self,
        benchmark: str,
        on_frame: OnFrame,
        submission: str | None = None,
        *,
        title: str = "",
        on_stored: OnStored | None = None,
        seal: bool = True,
        retry: Retry = DEFAULT_RETRY,
    ) -> LiveOutcome:
        """Answer every frame of a live benchmark; see `vidscore_client.Client.answer_live`.

        `on_frame` may be a coroutine function.
        """
        return await answer_live(
            self._transport,
            benchmark,
            on_frame,
            submission,
            title,
            on_stored=on_stored,
            seal=seal,
            retry=retry,
        )

    async def close(self) -> None:
        """Close every open stream and the connection; see `vidscore_client.Client.close`."""
        async with AsyncExitStack() as closing:
            closing.push_async_callback(self.abort)
            for sender in list(self._senders):
                timeout_s = sender.plan.delivery.close_timeout_s
                closing.push_async_callback(sender.close, timeout_s)

    async def abort(self) -> None:
        """End every open stream and the connection at once; undelivered frames are given up."""
        for exchange in list(self._exchanges):
            await exchange.cancel()
        for sender in list(self._senders):
            await sender.abort()
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await (self.close() if error is None else self.abort())

    # Methods of the client, not of its sets: an open stream that has one keeps the client alive.
    def _track_exchange(self, exchange: Exchange) -> None:
        self._exchanges.add(exchange)

    def _track_sender(self, sender: Sender) -> None:
        self._senders.add(sender)

    def __del__(self, warn: Any = warnings.warn) -> None:
        if not self._transport.closed:
            warn("a client was never closed", ResourceWarning, source=self)
