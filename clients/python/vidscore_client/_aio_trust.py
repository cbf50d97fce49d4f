"""How far rankings and criteria can be relied on, for an asyncio client; made public by `aio`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import grpc

from vidscore_client._aio_long_work import AsyncLongWork
from vidscore_client._aio_status import StatusWatch
from vidscore_client._aio_submissions import Run
from vidscore_client._specification import Specification
from vidscore_client._trust_operations import (
    DEFAULT_QUESTIONS,
    TRUST,
    examine_ranking,
    test_criterion,
)
from vidscore_client._trust_upload import (
    Examined,
    OnProgress,
    no_outcome,
    read_response,
    upload_requests,
)
from vidscore_client._uploading import Kept
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import Frames
from vidscore_client.hosting import RankingQuestions, TrustDocument, TrustProgress
from vidscore_client.trust import OpenUpload


class AsyncTrust:
    """Trust analyses; `AsyncClient.trust`. See `vidscore_client.Trust`."""

    def __init__(self, run: Run, open_upload: OpenUpload) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
            open_upload: Makes calls of ExamineUpload.
        """
        self._run = run
        self._open_upload = open_upload

    async def examine_ranking(
        self,
        benchmark: str,
        submissions: Iterable[str] = (),
        *,
        evaluators: Sequence[EvaluatorChoice] = (),
        questions: RankingQuestions = DEFAULT_QUESTIONS,
        comment: str = "",
    ) -> AsyncTrustAnalysis:
        """Begin to examine a ranking; see `vidscore_client.Trust.examine_ranking`."""
        status = await self._run(
            examine_ranking(benchmark, submissions, evaluators, questions, comment)
        )
        return AsyncTrustAnalysis(self._run, TRUST, status)

    async def examine_upload(
        self,
        truth: Iterable[Frames],
        systems: Mapping[str, Iterable[Frames]],
        *,
        evaluators: Sequence[EvaluatorChoice] = (),
        specification: Specification | None = None,
        questions: RankingQuestions = DEFAULT_QUESTIONS,
        on_progress: OnProgress | None = None,
        timeout_s: float | None = None,
    ) -> TrustDocument:
        """Examine the order of some systems; see `vidscore_client.Trust.examine_upload`."""
        given = Examined(truth, systems, evaluators, specification, questions)
        requests = Kept(upload_requests(given))
        call = self._open_upload(requests, timeout_s)
        status = StatusWatch(call)
        try:
            async for response in call:
                document = read_response(response, on_progress)
                if document is not None:
                    return document
        except asyncio.CancelledError:
            requests.raise_error()
            raise
        except grpc.RpcError as failure:
            requests.raise_error()
            await status.raise_meant(failure)
        finally:
            call.cancel()
        raise no_outcome()

    async def test_criterion(
        self,
        test: str,
        criteria: Sequence[EvaluatorChoice] = (),
        *,
        strata: int | None = None,
        realisations: int | None = None,
        seed: int | None = None,
        comment: str = "",
    ) -> AsyncTrustAnalysis:
        """Begin a test of criteria; see `vidscore_client.Trust.test_criterion`."""
        plan = {"strata": strata, "realisations": realisations, "seed": seed}
        status = await self._run(test_criterion(test, criteria, comment, **plan))
        return AsyncTrustAnalysis(self._run, TRUST, status)

    async def analysis(self, name: str) -> AsyncTrustAnalysis:
        """An analysis that was begun before; see `vidscore_client.Trust.analysis`."""
        return AsyncTrustAnalysis(self._run, TRUST, await self._run(TRUST.get(name)))


class AsyncTrustAnalysis(AsyncLongWork[TrustProgress, TrustDocument]):
    """A trust analysis that runs on the server; see `vidscore_client.TrustAnalysis`."""
