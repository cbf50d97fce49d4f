"""How far rankings and criteria can be relied on, for an asyncio client; made public by `aio`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vidscore_client._aio_long_work import AsyncLongWork
from vidscore_client._aio_submissions import Run
from vidscore_client._trust_operations import (
    DEFAULT_QUESTIONS,
    TRUST,
    examine_ranking,
    test_criterion,
)
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.hosting import RankingQuestions, TrustDocument, TrustProgress


class AsyncTrust:
    """Trust analyses; `AsyncClient.trust`. See `vidscore_client.Trust`."""

    def __init__(self, run: Run) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
        """
        self._run = run

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
