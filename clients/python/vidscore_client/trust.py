"""How far rankings and criteria can be relied on, for a synchronous client."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vidscore_client._long_work import LongWork
from vidscore_client._trust_operations import (
    DEFAULT_QUESTIONS,
    TRUST,
    examine_ranking,
    test_criterion,
)
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.hosting import RankingQuestions, TrustDocument, TrustProgress
from vidscore_client.submissions import Run


class Trust:
    """Trust analyses; `vidscore_client.Client.trust`. For organisers."""

    def __init__(self, run: Run) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
        """
        self._run = run

    def examine_ranking(
        self,
        benchmark: str,
        submissions: Iterable[str] = (),
        *,
        evaluators: Sequence[EvaluatorChoice] = (),
        questions: RankingQuestions = DEFAULT_QUESTIONS,
        comment: str = "",
    ) -> TrustAnalysis:
        """Begin to examine how far the order of a benchmark's submissions can be relied on.

        Args:
            benchmark: The benchmark.
            submissions: Scored submissions; none: all that have a score.
            evaluators: Who ranks: names, or (name, parameters); none: the benchmark's own.
            questions: What is asked.
            comment: Why, for the record.

        Raises:
            InputError: If an argument is wrong.
            ConflictError: If an examination of the benchmark has not ended.
            LimitExceededError: If it is more than the server allows.
            VidscoreError: If the call fails for another reason.
        """
        status = self._run(examine_ranking(benchmark, submissions, evaluators, questions, comment))
        return TrustAnalysis(self._run, TRUST, status)

    def test_criterion(
        self,
        test: str,
        criteria: Sequence[EvaluatorChoice] = (),
        *,
        strata: int | None = None,
        realisations: int | None = None,
        seed: int | None = None,
        comment: str = "",
    ) -> TrustAnalysis:
        """Begin to test whether criteria put scenes of a known order into that order.

        Args:
            test: Name of the test, such as ``multiclass-detection``.
            criteria: Criteria of the trustworthiness paper by name, or evaluators as names or
                (name, parameters); none: all that the paper has for the test.
            strata: Parts into which the range of object numbers is cut; the server's default if
                None.
            realisations: Families of scenes for each stratum; likewise.
            seed: Seed of everything; likewise.
            comment: Why, for the record.

        Raises:
            InputError: If an argument is wrong.
            ConflictError: If a test has not ended.
            LimitExceededError: If it is more than the server allows.
            VidscoreError: If the call fails for another reason.
        """
        plan = {"strata": strata, "realisations": realisations, "seed": seed}
        status = self._run(test_criterion(test, criteria, comment, **plan))
        return TrustAnalysis(self._run, TRUST, status)

    def analysis(self, name: str) -> TrustAnalysis:
        """An analysis that was begun before, by the name of its operation.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return TrustAnalysis(self._run, TRUST, self._run(TRUST.get(name)))


class TrustAnalysis(LongWork[TrustProgress, TrustDocument]):
    """A trust analysis that runs on the server; made by `Trust`. Cancelled, it ends at once."""
