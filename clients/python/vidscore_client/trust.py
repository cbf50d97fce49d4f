"""How far rankings and criteria can be relied on, for a synchronous client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import grpc

from vidscore_client._long_work import LongWork
from vidscore_client._specification import Specification
from vidscore_client._status import error_from_failure
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
from vidscore_client.submissions import Run
from vidscore_protos.v1.ranking_service_pb2 import ExamineUploadRequest

OpenUpload = Callable[[Iterator[ExamineUploadRequest], float | None], Any]
"""Makes a call of ExamineUpload: takes the requests and the seconds it may take."""


class Trust:
    """Trust analyses; `vidscore_client.Client.trust`. For organisers, but of what is uploaded."""

    def __init__(self, run: Run, open_upload: OpenUpload) -> None:
        """Keep how calls are made.

        Args:
            run: Makes unary calls.
            open_upload: Makes calls of ExamineUpload.
        """
        self._run = run
        self._open_upload = open_upload

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

    def examine_upload(
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
        """Examine how far the order of some systems can be relied on; the server keeps nothing.

        Who may score without a benchmark may do this; it takes as long as the analysis does.

        Args:
            truth: Batches of the truth, one or more; may be a generator.
            systems: Batches of each system's detections, by its name; two systems or more.
            evaluators: Who ranks: names, or (name, parameters); none: the specification's own.
                They keep the specification's parameters where they give none.
            specification: What the data alone cannot say.
            questions: What is asked.
            on_progress: Called with the progress while it runs.
            timeout_s: Seconds that it may take; None for no limit.

        Returns:
            The document of `examine_ranking`.

        Raises:
            InputError: If an argument is wrong.
            LimitExceededError: If it is more than the server allows, or more at once.
            VidscoreError: If the server refuses it or fails.
        """
        given = Examined(truth, systems, evaluators, specification, questions)
        requests = Kept(upload_requests(given))
        call = self._open_upload(requests, timeout_s)
        try:
            for response in call:
                document = read_response(response, on_progress)
                if document is not None:
                    return document
        except grpc.RpcError as failure:
            requests.raise_error()
            raise error_from_failure(failure) from failure
        finally:
            call.cancel()
        raise no_outcome()

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
