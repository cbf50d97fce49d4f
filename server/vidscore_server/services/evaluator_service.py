"""EvaluatorService: which evaluators there are."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Any

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.registry import evaluator_class, evaluator_names
from vidscore_protos.v1 import evaluator_service_pb2, evaluator_service_pb2_grpc
from vidscore_server.codec.evaluator_codec import RESOURCE_PREFIX, write_evaluator
from vidscore_server.services.exchange import Responses
from vidscore_server.services.pages import page_size_of, read_page_token, write_page_token

_NAME = re.compile(re.escape(RESOURCE_PREFIX) + r"([^/]+)")


class EvaluatorService(evaluator_service_pb2_grpc.EvaluatorServiceServicer):
    """Describes every evaluator, in a thread: whoever asks first may wait for imports."""

    async def ListEvaluators(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: evaluator_service_pb2.ListEvaluatorsRequest,
        responses: Responses[Any],
    ) -> evaluator_service_pb2.ListEvaluatorsResponse:
        """A page of evaluators."""
        del responses
        [start] = read_page_token(request, int) or (0,)
        size = page_size_of(request)
        names = evaluator_names()
        more = start + size < len(names)
        return evaluator_service_pb2.ListEvaluatorsResponse(
            evaluators=await asyncio.to_thread(_described, names[start : start + size]),
            next_page_token=write_page_token(start + size) if more else "",
        )

    async def GetEvaluator(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: evaluator_service_pb2.GetEvaluatorRequest,
        responses: Responses[Any],
    ) -> evaluator_service_pb2.GetEvaluatorResponse:
        """One evaluator."""
        del responses
        match = _NAME.fullmatch(request.name)
        if match is None:
            found = repr(request.name)[:80]
            raise InputError([Fault(found, f"{RESOURCE_PREFIX}{{evaluator}}", field="name")])
        [evaluator] = await asyncio.to_thread(_described, match.groups())
        return evaluator_service_pb2.GetEvaluatorResponse(evaluator=evaluator)


def _described(names: Sequence[str]) -> list[evaluator_service_pb2.Evaluator]:
    return [write_evaluator(evaluator_class(name)) for name in names]
