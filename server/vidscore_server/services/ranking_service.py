"""RankingService: systems come in, how far their order can be relied on goes out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from vidscore.v1 import ranking_service_pb2 as pb
from vidscore.v1 import ranking_service_pb2_grpc, trust_pb2
from vidscore_evaluators.errors import Fault, InputError, LimitError
from vidscore_evaluators.trust.analyses import RankingAnalysis
from vidscore_server.analysis_process import run_analysis
from vidscore_server.aside import aside
from vidscore_server.codec.annotations_codec import batch_size
from vidscore_server.errors import message_order
from vidscore_server.runs.configuration import PATH
from vidscore_server.runs.examination import UploadedContest, read_examination
from vidscore_server.runs.newest import Newest
from vidscore_server.runs.places import Use
from vidscore_server.runs.sessions import Sessions
from vidscore_server.services.exchange import Requests, Responses
from vidscore_server.settings import Settings

Told = tuple[str, int, int]
"""Stage, pieces of it that are done, pieces in all."""


class RankingService(ranking_service_pb2_grpc.RankingServiceServicer):
    """Examines rankings without keeping anything.

    Args:
        settings: The server's limits.
        sessions: The runs that are open.
    """

    def __init__(self, settings: Settings, sessions: Sessions) -> None:
        """Serve nothing yet."""
        self._settings = settings
        self._sessions = sessions
        self._open_count = 0

    async def ExamineUpload(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self,
        requests: Requests[pb.ExamineUploadRequest],
        responses: Responses[pb.ExamineUploadResponse],
    ) -> None:
        """Examine the ranking of systems that are uploaded."""
        with self._sessions.open(Use.SCORING), self._place():
            async with asyncio.TaskGroup() as tasks:
                expiry = tasks.create_task(self._sessions.until_expired())
                analysis = await self._receive(requests)
                newest: Newest[Told] = Newest()
                tasks.create_task(_tell(newest, responses))
                document = await self._run(analysis, newest)
                newest.close()
                expiry.cancel()
        outcome = trust_pb2.TrustResponse(document_json=document)
        await responses.send(pb.ExamineUploadResponse(outcome=outcome))

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Hold a place for one upload, which may become large, and for its process."""
        maximum = self._settings.maximum_trust_analyses
        if self._open_count >= maximum:
            found = f"{self._open_count} uploads are being examined"
            raise LimitError(found, "maximum_trust_analyses", maximum)
        self._open_count += 1
        try:
            yield
        finally:
            self._open_count -= 1

    async def _receive(self, requests: Requests[pb.ExamineUploadRequest]) -> RankingAnalysis:
        first = await anext(requests, None)
        if first is None:
            raise message_order("the end of the stream", f"a {PATH}")
        if _kind_of(first) != PATH:
            raise message_order(_kind_of(first), f"a {PATH}")
        # In a thread, because whoever asks first for an evaluator may wait for imports.
        contest = await asyncio.to_thread(self._contest, first.configuration)
        async for request in requests:
            kind = _kind_of(request)
            if kind == PATH:
                raise message_order(f"a second {PATH}", "truth or detections")
            if kind == "truth":
                await aside(batch_size(request.truth), contest.add_truth, request.truth)
            else:
                batch = request.detections
                await aside(batch_size(batch), contest.add_detections, request.system, batch)
        return await asyncio.to_thread(contest.analysis)

    def _contest(self, message: pb.ExaminationConfiguration) -> UploadedContest:
        return UploadedContest(read_examination(message, self._settings), self._settings)

    async def _run(self, analysis: RankingAnalysis, newest: Newest[Told]) -> str:
        limit_s = self._settings.trust_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                return await run_analysis(
                    analysis,
                    workers=self._settings.trust_workers,
                    on_progress=lambda *told: newest.put(told),
                )
        except TimeoutError:
            raise LimitError("the analysis takes longer", "trust_timeout_s", limit_s) from None


def _kind_of(request: pb.ExamineUploadRequest) -> str:
    kind: str | None = request.WhichOneof("message")
    if kind is None:
        expected = "a configuration, truth or detections"
        raise InputError([Fault("nothing", expected, field="message")])
    return kind


async def _tell(newest: Newest[Told], responses: Responses[pb.ExamineUploadResponse]) -> None:
    async for stage, done, total in newest:
        progress = trust_pb2.TrustMetadata(stage=stage, pieces_done=done, pieces_in_all=total)
        await responses.send(pb.ExamineUploadResponse(progress=progress))
