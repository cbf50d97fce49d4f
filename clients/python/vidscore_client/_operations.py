"""The unary calls, each written once for both clients.

An operation is a generator: it yields requests and is sent their responses; what it returns is
the result. `vidscore_client.client` and `vidscore_client.aio` each have one driver for all.
"""

from __future__ import annotations

from collections.abc import Generator
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from google.protobuf.message import Message
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from vidscore_client._decoding import EVALUATOR_PREFIX, decode_evaluator
from vidscore_client.evaluators import EvaluatorDescription
from vidscore_client.frames import text
from vidscore_protos.v1 import evaluator_service_pb2

ResultType = TypeVar("ResultType")

_EVALUATORS = "/vidscore.v1.EvaluatorService/"


@dataclass(frozen=True)
class UnaryRequest:
    """One unary call.

    Attributes:
        path: Service and method, as in the address of the call.
        message: What is sent.
        response: Class of what comes back.
    """

    path: str
    message: Message
    response: type[Message]


Operation = Generator[UnaryRequest, Any, ResultType]


class Health(StrEnum):
    """Whether a server takes calls, as the standard health protocol has it."""

    UNKNOWN = "unknown"
    SERVING = "serving"
    NOT_SERVING = "not_serving"
    SERVICE_UNKNOWN = "service_unknown"


_HEALTH = tuple(Health)
"""By the numbers of ``grpc.health.v1.HealthCheckResponse.ServingStatus``."""


def list_pages(path: str, message: Any, response: type[Message]) -> Operation[list[Any]]:
    """Every page of a list, in order; there is one at least.

    Args:
        path: Service and method.
        message: The request of the first page.
        response: Class of a page.
    """
    pages = [(yield UnaryRequest(path, message, response))]
    while token := pages[-1].next_page_token:
        following = deepcopy(message)
        following.page_token = token
        pages.append((yield UnaryRequest(path, following, response)))
    return pages


def list_evaluators() -> Operation[list[EvaluatorDescription]]:
    """Every evaluator."""
    pages = yield from list_pages(
        _EVALUATORS + "ListEvaluators",
        evaluator_service_pb2.ListEvaluatorsRequest(),
        evaluator_service_pb2.ListEvaluatorsResponse,
    )
    return [decode_evaluator(evaluator) for page in pages for evaluator in page.evaluators]


def get_evaluator(name: str) -> Operation[EvaluatorDescription]:
    """One evaluator by name."""
    response = yield UnaryRequest(
        _EVALUATORS + "GetEvaluator",
        evaluator_service_pb2.GetEvaluatorRequest(name=EVALUATOR_PREFIX + text("name", name)),
        evaluator_service_pb2.GetEvaluatorResponse,
    )
    return decode_evaluator(response.evaluator)


def check_health(service: str) -> Operation[Health]:
    """The state of a service.

    The messages of ``grpc.health.v1`` have one field each, a string and an enumeration, and so
    the same bytes as the wrappers of these types: no generated code is needed for them.
    """
    response = yield UnaryRequest(
        "/grpc.health.v1.Health/Check", StringValue(value=text("service", service)), Int32Value
    )
    known = 0 <= response.value < len(_HEALTH)
    return _HEALTH[response.value] if known else Health.UNKNOWN
