"""ScoringService: three ways in and out of one scoring session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any

from vidscore.v1 import scoring_service_pb2, scoring_service_pb2_grpc
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Side
from vidscore_evaluators.report import Report
from vidscore_server.codec.report_codec import write_coverage, write_reports
from vidscore_server.errors import message_order
from vidscore_server.runs.configuration import PATH, RunConfiguration
from vidscore_server.runs.newest import Newest
from vidscore_server.runs.places import Use
from vidscore_server.runs.scoring_session import Live, ScoringSession
from vidscore_server.runs.sessions import Sessions
from vidscore_server.services.exchange import Requests, Responses
from vidscore_server.settings import Settings, limits_of
from vidscore_server.workers import WorkerPool

ScoreResponses = Responses[scoring_service_pb2.ScoreResponse]


class ScoringService(scoring_service_pb2_grpc.ScoringServiceServicer):
    """Scores without keeping anything.

    Args:
        settings: The server's limits.
        workers: Who tallies.
        sessions: The runs that are open.
    """

    def __init__(self, settings: Settings, workers: WorkerPool, sessions: Sessions) -> None:
        """Serve nothing yet."""
        self._settings = settings
        self._workers = workers
        self._sessions = sessions
        self._turn = asyncio.Lock()

    async def Score(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self, requests: Requests[scoring_service_pb2.ScoreRequest], responses: ScoreResponses
    ) -> None:
        """Score a live stream."""
        async with self._running(with_live=True) as (session, tasks):
            await session.configure(await _configuration_of(requests))
            await responses.send(self._started())
            tasks.create_task(session.keep_tallying())
            tasks.create_task(_send_live(session.live, session.configuration, responses))
            await _receive_all(session, requests)
            reports = await session.finish()
        final = scoring_service_pb2.FinalReport(reports=await _written(reports))
        await responses.send(scoring_service_pb2.ScoreResponse(final=final))

    async def ScoreBatch(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's responses
        self, request: scoring_service_pb2.ScoreBatchRequest, responses: Responses[Any]
    ) -> scoring_service_pb2.ScoreBatchResponse:
        """Score one message."""
        del responses
        async with self._running(with_live=False) as (session, tasks):
            await session.configure(request.configuration)
            tasks.create_task(session.keep_tallying())
            for side, batches in (
                (Side.TRUTH, request.truth),
                (Side.DETECTIONS, request.detections),
            ):
                for index, batch in enumerate(batches):
                    await session.receive(side, batch, f"{side.value}[{index}]")
            reports = await session.finish()
        return scoring_service_pb2.ScoreBatchResponse(reports=await _written(reports))

    @asynccontextmanager
    async def _running(
        self, *, with_live: bool
    ) -> AsyncIterator[tuple[ScoringSession, asyncio.TaskGroup]]:
        """A session with a place of its own, and the tasks that end with it."""
        with self._sessions.open(Use.SCORING):
            session = ScoringSession(
                self._settings, self._workers, with_live=with_live, turn=self._turn
            )
            async with asyncio.TaskGroup() as tasks:
                expiry = tasks.create_task(self._sessions.until_expired())
                yield session, tasks
                expiry.cancel()

    def _started(self) -> scoring_service_pb2.ScoreResponse:
        started = scoring_service_pb2.ScoreStarted(
            server_version=metadata.version("vidscore"), limits=limits_of(self._settings)
        )
        return scoring_service_pb2.ScoreResponse(started=started)


async def _configuration_of(
    requests: Requests[Any],
) -> scoring_service_pb2.ScoreConfiguration:
    request: scoring_service_pb2.ScoreRequest | None = await anext(requests, None)
    if request is None:
        raise message_order("the end of the stream", "a configuration")
    kind = _kind_of(request)
    if kind != PATH:
        raise message_order(kind, "a configuration")
    return request.configuration


async def _receive_all(session: ScoringSession, requests: Requests[Any]) -> None:
    async for request in requests:
        kind = _kind_of(request)
        if kind == PATH:
            await session.configure(request.configuration)
        else:
            await session.receive(Side(kind), getattr(request, kind), kind)


def _kind_of(request: scoring_service_pb2.ScoreRequest) -> str:
    kind: str | None = request.WhichOneof("message")
    if kind is None:
        expected = "a configuration, truth or detections"
        raise InputError([Fault("nothing", expected, field="message")])
    return kind


async def _send_live(
    live: Newest[Live], configuration: RunConfiguration, responses: ScoreResponses
) -> None:
    summary_only = configuration.live is not None and configuration.live.summary_only
    async for entry in live:
        message = scoring_service_pb2.LiveReport(
            reports=await _written(entry.reports, summary_only=summary_only),
            coverage=write_coverage(entry.coverage),
        )
        await responses.send(scoring_service_pb2.ScoreResponse(live=message))


async def _written(reports: Sequence[Report], *, summary_only: bool = False) -> list[Any]:
    return await asyncio.to_thread(write_reports, reports, summary_only=summary_only)
