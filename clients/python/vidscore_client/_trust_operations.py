"""The unary calls of trust analyses, each written once for both clients; see `_operations`."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from google.longrunning import operations_pb2

from vidscore.v1 import trust_pb2
from vidscore.v1 import trust_service_pb2 as wire
from vidscore_client._long_operations import LongKind, OperationStatus
from vidscore_client._names import benchmark_name, submission_name
from vidscore_client._operations import Operation, UnaryRequest
from vidscore_client._specification import encode_evaluators
from vidscore_client.errors import InputError
from vidscore_client.evaluators import EvaluatorChoice
from vidscore_client.frames import text
from vidscore_client.hosting import RankingQuestions, TrustDocument, TrustProgress

_TRUST = "/vidscore.v1.TrustService/"


def read_progress(metadata: trust_pb2.TrustMetadata) -> TrustProgress:
    """How far an analysis is."""
    return TrustProgress(metadata.stage, metadata.pieces_done, metadata.pieces_in_all)


def read_document(response: trust_pb2.TrustResponse) -> TrustDocument:
    """The document of an analysis."""
    document: TrustDocument = json.loads(response.document_json)
    return document


TRUST = LongKind(
    "trust analysis", trust_pb2.TrustMetadata, trust_pb2.TrustResponse, read_progress, read_document
)

DEFAULT_QUESTIONS = RankingQuestions()

TrustStatus = OperationStatus[TrustProgress, TrustDocument]


def examine_ranking(
    benchmark: str,
    submissions: Iterable[str],
    evaluators: Sequence[EvaluatorChoice],
    questions: RankingQuestions,
    comment: str,
) -> Operation[TrustStatus]:
    """Begin to examine a ranking."""
    if isinstance(submissions, str):
        raise InputError("submissions", "one text", "a list of names")
    response = yield UnaryRequest(
        _TRUST + "ExamineRanking",
        wire.ExamineRankingRequest(
            benchmark=benchmark_name(benchmark),
            submissions=[submission_name(submission) for submission in submissions],
            evaluators=encode_evaluators("evaluators", evaluators),
            questions=filled(trust_pb2.RankingQuestions(), asdict(questions)),
            comment=text("comment", comment),
            request_id=str(uuid.uuid4()),
        ),
        operations_pb2.Operation,
    )
    return TRUST.status_of(response)


def test_criterion(
    test: str, criteria: Sequence[EvaluatorChoice], comment: str, **plan: Any
) -> Operation[TrustStatus]:
    """Begin a sanity test of criteria; what of the plan is None is left out."""
    message = wire.TestCriterionRequest(
        test=text("test", test),
        criteria=encode_evaluators("criteria", criteria),
        comment=text("comment", comment),
        request_id=str(uuid.uuid4()),
    )
    response = yield UnaryRequest(
        _TRUST + "TestCriterion", filled(message, plan), operations_pb2.Operation
    )
    return TRUST.status_of(response)


def filled(message: Any, values: dict[str, Any]) -> Any:
    """The message with the values that are not None.

    Raises:
        InputError: If one is of another type, or too large for the wire.
    """
    for name, value in values.items():
        if value is None:
            continue
        try:
            setattr(message, name, value)
        except (TypeError, ValueError):
            raise InputError(name, repr(value)[:80], "a number of fitting size") from None
    return message
