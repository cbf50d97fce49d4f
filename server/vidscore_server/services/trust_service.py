"""TrustService: how far a ranking, and a criterion, can be relied on."""

from __future__ import annotations

from typing import Any

from google.longrunning import operations_pb2

from vidscore_evaluators.parameters import parse_parameters
from vidscore_evaluators.trust.criterion import Plan
from vidscore_protos.v1 import trust_service_pb2 as pb
from vidscore_protos.v1 import trust_service_pb2_grpc
from vidscore_server.codec.operation_codec import write_operation
from vidscore_server.codec.specification_codec import read_evaluators
from vidscore_server.codec.trust_codec import given, read_questions
from vidscore_server.hosting.hosting import Hosting
from vidscore_server.hosting.names import read_benchmark, read_submission
from vidscore_server.hosting.trust import RankingWish
from vidscore_server.hosting.trust_plans import CriterionPlan
from vidscore_server.services.exchange import Responses
from vidscore_server.services.hosted import request_of


class TrustService(trust_service_pb2_grpc.TrustServiceServicer):
    """Begins trust analyses.

    Args:
        hosting: The server's hosted benchmarks.
    """

    def __init__(self, hosting: Hosting) -> None:
        """Serve nothing yet."""
        self._hosting = hosting

    async def ExamineRanking(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ExamineRankingRequest, responses: Responses[Any]
    ) -> operations_pb2.Operation:
        """Examine the ranking of a benchmark."""
        del responses
        wish = RankingWish(
            benchmark=read_benchmark(request.benchmark, "benchmark"),
            submissions=tuple(
                read_submission(entry, f"submissions[{row}]")
                for row, entry in enumerate(request.submissions)
            ),
            evaluators=read_evaluators(request.evaluators, "evaluators"),
            questions=read_questions(request.questions, "questions"),
        )
        made = request_of(request, "ExamineRanking", self._hosting.site)
        record = await self._hosting.trust.examine_ranking(made, wish, request.comment)
        self._hosting.wake()
        return write_operation(record)

    async def TestCriterion(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.TestCriterionRequest, responses: Responses[Any]
    ) -> operations_pb2.Operation:
        """Run a sanity test."""
        del responses
        plan = CriterionPlan(
            test=request.test,
            criteria=read_evaluators(request.criteria, "criteria"),
            plan=parse_parameters(Plan, given(request, "strata", "realisations", "seed")),
        )
        made = request_of(request, "TestCriterion", self._hosting.site)
        record = await self._hosting.trust.test_criterion(made, plan, request.comment)
        self._hosting.wake()
        return write_operation(record)
