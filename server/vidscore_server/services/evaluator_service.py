"""EvaluatorService: which evaluators there are."""

from __future__ import annotations

import asyncio
import base64
import binascii
import re
from collections.abc import Sequence
from typing import Any

from vidscore.v1 import evaluator_service_pb2, evaluator_service_pb2_grpc
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.registry import evaluator_class, evaluator_names
from vidscore_server.codec.evaluator_codec import RESOURCE_PREFIX, write_evaluator
from vidscore_server.services.guard import Responses

DEFAULT_PAGE_SIZE = 50
MAXIMUM_PAGE_SIZE = 1000
"""More is not refused; the page just has no more."""

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
        start = _read_page_token(request.page_token)
        if request.page_size < 0:
            fault = Fault(str(request.page_size), "0 or more", field="page_size")
            raise InputError([fault])
        size = min(request.page_size or DEFAULT_PAGE_SIZE, MAXIMUM_PAGE_SIZE)
        names = evaluator_names()
        more = start + size < len(names)
        return evaluator_service_pb2.ListEvaluatorsResponse(
            evaluators=await asyncio.to_thread(_described, names[start : start + size]),
            next_page_token=_write_page_token(start + size) if more else "",
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


def _write_page_token(start: int) -> str:
    return base64.urlsafe_b64encode(str(start).encode()).decode()


def _read_page_token(token: str) -> int:
    if not token:
        return 0
    try:
        start = int(base64.b64decode(token, altchars=b"-_", validate=True))
        if start >= 0:
            return start
    except (ValueError, binascii.Error):
        pass
    raise InputError([Fault(repr(token)[:80], "a token of ListEvaluators", field="page_token")])
