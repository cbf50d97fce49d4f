"""The reliability of rankings and criteria, asyncio and synchronous."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict

from google.longrunning import operations_pb2

from vidscore_client._encoding import benchmark_name, submission_names
from vidscore_client._limits import batching_of_server
from vidscore_client._long_work import AsyncLongWork, LongKind, LongWork
from vidscore_client._specification import Specification, encode_evaluators
from vidscore_client._transport import Transport, requests_of, run_blocking
from vidscore_client._upload import Examined, filled, upload_requests
from vidscore_client.errors import InternalError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import Frames, parse_string
from vidscore_client.hosting import RankingQuestions, TrustDocument, TrustProgress
from vidscore_protos.v1 import ranking_service_pb2, trust_pb2, trust_service_pb2

TRUST = "/vidscore.v1.TrustService/"
EXAMINE_UPLOAD = "/vidscore.v1.RankingService/ExamineUpload"

OnProgress = Callable[[TrustProgress], object]

DEFAULT_QUESTIONS = RankingQuestions()


def _read_progress(metadata: trust_pb2.TrustMetadata) -> TrustProgress:
    """The progress of an analysis."""
    return TrustProgress(metadata.stage, metadata.pieces_done, metadata.pieces_in_all)


def _read_document(response: trust_pb2.TrustResponse) -> TrustDocument:
    """The document of an analysis."""
    document: TrustDocument = json.loads(response.document_json)
    return document


ANALYSIS = LongKind(
    "trust analysis",
    trust_pb2.TrustMetadata,
    trust_pb2.TrustResponse,
    _read_progress,
    _read_document,
)


class AsyncTrust:
    """Trust analyses; `AsyncClient.trust`. See `vidscore_client.Trust`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def examine_ranking(
        self,
        benchmark: str,
        submissions: Iterable[str] = (),
        *,
        evaluators: Sequence[EvaluatorChoice] = (),
        questions: RankingQuestions = DEFAULT_QUESTIONS,
        comment: str = "",
    ) -> AsyncTrustAnalysis:
        """Start to examine a ranking; see `vidscore_client.Trust.examine_ranking`."""
        request = trust_service_pb2.ExamineRankingRequest(
            benchmark=benchmark_name(benchmark),
            submissions=submission_names(submissions),
            evaluators=encode_evaluators("evaluators", evaluators),
            questions=filled(trust_pb2.RankingQuestions(), asdict(questions)),
            comment=parse_string("comment", comment),
            request_id=str(uuid.uuid4()),
        )
        message = await self._transport.unary(
            TRUST + "ExamineRanking", request, operations_pb2.Operation
        )
        return AsyncTrustAnalysis(self._transport, ANALYSIS, ANALYSIS.status_of(message))

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
        """Examine the order of uploaded systems; see `vidscore_client.Trust.examine_upload`.

        `on_progress` may be a coroutine function.
        """
        given = Examined(truth, systems, evaluators, specification, questions)
        requests = upload_requests(given, await batching_of_server(self._transport))
        call = self._transport.stream(
            EXAMINE_UPLOAD,
            requests_of(requests),
            ranking_service_pb2.ExamineUploadResponse,
            timeout_s,
        )
        try:
            while (response := await call.read()) is not None:
                kind = response.WhichOneof("message")
                if kind == "outcome":
                    return _read_document(response.outcome)
                if kind == "progress" and on_progress is not None:
                    await self._transport.call_back(on_progress, _read_progress(response.progress))
        finally:
            call.cancel()
        raise InternalError("the server ended the call without an outcome")

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
        """Start a test of criteria; see `vidscore_client.Trust.test_criterion`."""
        request = trust_service_pb2.TestCriterionRequest(
            test=parse_string("test", test),
            criteria=encode_evaluators("criteria", criteria),
            comment=parse_string("comment", comment),
            request_id=str(uuid.uuid4()),
        )
        filled(request, {"strata": strata, "realisations": realisations, "seed": seed})
        message = await self._transport.unary(
            TRUST + "TestCriterion", request, operations_pb2.Operation
        )
        return AsyncTrustAnalysis(self._transport, ANALYSIS, ANALYSIS.status_of(message))

    async def analysis(self, name: str) -> AsyncTrustAnalysis:
        """An analysis that was started before; see `vidscore_client.Trust.analysis`."""
        status = await ANALYSIS.get(self._transport, name)
        return AsyncTrustAnalysis(self._transport, ANALYSIS, status)


class AsyncTrustAnalysis(AsyncLongWork[TrustProgress, TrustDocument]):
    """A trust analysis that runs on the server; see `vidscore_client.TrustAnalysis`."""


class Trust:
    """Trust analyses; `vidscore_client.Client.trust`. For organisers, except for uploads."""

    def __init__(self, trust: AsyncTrust) -> None:
        self._trust = trust

    def examine_ranking(
        self,
        benchmark: str,
        submissions: Iterable[str] = (),
        *,
        evaluators: Sequence[EvaluatorChoice] = (),
        questions: RankingQuestions = DEFAULT_QUESTIONS,
        comment: str = "",
    ) -> TrustAnalysis:
        """Start to examine the reliability of the order of a benchmark's submissions.

        Args:
            benchmark: The benchmark.
            submissions: Scored submissions; empty: all that have a score.
            evaluators: Names, or (name, parameters); empty: the benchmark's own.
            questions: The questions.
            comment: Why, for the record.

        Raises:
            InputError: If an argument is wrong.
            ConflictError: If an examination of the benchmark has not ended.
            LimitExceededError: If it exceeds a limit of the server.
            VidscoreError: If the call fails for another reason.
        """
        work = self._trust.examine_ranking(
            benchmark, submissions, evaluators=evaluators, questions=questions, comment=comment
        )
        return TrustAnalysis(run_blocking(work))

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
        """Examine the reliability of the order of uploaded systems; the server stores nothing.

        Everybody who may score without a benchmark may call this; it waits for the analysis.

        Args:
            truth: Batches of the truth, one or more; may be a generator.
            systems: Batches of each system's detections, by its name; two systems or more.
            evaluators: Names, or (name, parameters); empty: the specification's own. Without
                parameters, they keep those of the specification.
            specification: The specification.
            questions: The questions.
            on_progress: Called with the progress while it runs.
            timeout_s: Seconds that it may take; None for no limit.

        Returns:
            The document of `examine_ranking`.

        Raises:
            InputError: If an argument is wrong.
            LimitExceededError: If it is larger than the server allows, or too many run.
            VidscoreError: If the server refuses it or fails.
        """
        return run_blocking(
            self._trust.examine_upload(
                truth,
                systems,
                evaluators=evaluators,
                specification=specification,
                questions=questions,
                on_progress=on_progress,
                timeout_s=timeout_s,
            )
        )

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
        """Start to test whether criteria reproduce a known order of scenes.

        Args:
            test: Name of the test, such as ``multiclass-detection``.
            criteria: Criteria of the trustworthiness paper by name, or evaluators as names or
                (name, parameters); empty: all criteria of the paper for the test.
            strata: Number of strata of the range of object counts; None for the server's
                default.
            realisations: Number of families of scenes per stratum; likewise.
            seed: Seed of the random numbers; likewise.
            comment: Why, for the record.

        Raises:
            InputError: If an argument is wrong.
            ConflictError: If a test has not ended.
            LimitExceededError: If it exceeds a limit of the server.
            VidscoreError: If the call fails for another reason.
        """
        plan = {"strata": strata, "realisations": realisations, "seed": seed}
        work = self._trust.test_criterion(test, criteria, comment=comment, **plan)
        return TrustAnalysis(run_blocking(work))

    def analysis(self, name: str) -> TrustAnalysis:
        """An analysis that was started before, by the name of its operation.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return TrustAnalysis(run_blocking(self._trust.analysis(name)))


class TrustAnalysis(LongWork[TrustProgress, TrustDocument]):
    """A trust analysis that runs on the server; made by `Trust`. Cancelling ends it at once."""
