"""Errors over HTTP: codes, statuses and bodies of the Connect protocol."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import grpc
from google.protobuf import descriptor_pool, json_format
from google.protobuf.message_factory import GetMessageClass
from google.rpc.status_pb2 import Status

from vidscore_server.api.local_calls import Refused
from vidscore_server.status import refusal_of, status_of

HTTP_STATUS: Mapping[grpc.StatusCode, int] = {
    grpc.StatusCode.CANCELLED: 499,
    grpc.StatusCode.UNKNOWN: 500,
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.OUT_OF_RANGE: 400,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DATA_LOSS: 500,
    grpc.StatusCode.UNAUTHENTICATED: 401,
}
"""HTTP status by the canonical code of an error."""

CODE_WORDS: Mapping[grpc.StatusCode, str] = {
    code: "canceled" if code is grpc.StatusCode.CANCELLED else code.name.lower()
    for code in HTTP_STATUS
}
"""Name of a canonical code in an error."""


class HttpError(Exception):
    """An answer with an error.

    Attributes:
        http_status: Its status.
        body: Its body, before it is written as JSON.
        headers: Further headers.
    """

    def __init__(
        self, http_status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        self.http_status = http_status
        self.body = body
        self.headers = dict(headers or {})
        super().__init__(body.get("message", ""))


def not_served(http_status: int, message: str, **headers: str) -> HttpError:
    """The error of a request that is not part of this API.

    Args:
        http_status: Its status.
        message: What was requested, and what exists.
        headers: Further headers; underscores stand for hyphens.
    """
    body = {"code": CODE_WORDS[grpc.StatusCode.UNIMPLEMENTED], "message": message}
    return HttpError(
        http_status, body, {name.replace("_", "-"): text for name, text in headers.items()}
    )


def error_of(error: Exception) -> HttpError:
    """Any error as an answer; a bug of ours is logged, and the answer has its incident number.

    Args:
        error: A refusal of a call, an error of the domain, or an unexpected one.
    """
    if isinstance(error, HttpError):
        return error
    if isinstance(error, Refused):
        return _of_status(error.code, error.status)
    refusal = refusal_of(error)
    return _of_status(refusal.code, status_of(refusal))


def deadline_exceeded(timeout_ms: int) -> HttpError:
    """The error of a call whose deadline is over."""
    message = f"the call was not done within {timeout_ms} ms (Connect-Timeout-Ms)"
    return _of_status(grpc.StatusCode.DEADLINE_EXCEEDED, Status(message=message))


def _of_status(code: grpc.StatusCode, status: Status) -> HttpError:
    body: dict[str, Any] = {"code": CODE_WORDS[code], "message": status.message}
    if status.details:
        body["details"] = [_detail(detail) for detail in status.details]
    headers = {"WWW-Authenticate": "Bearer"} if code is grpc.StatusCode.UNAUTHENTICATED else {}
    return HttpError(HTTP_STATUS[code], body, headers)


def _detail(packed: Any) -> dict[str, Any]:
    """A detail with its bytes for programs and its JSON for people."""
    name = packed.TypeName()
    kind = descriptor_pool.Default().FindMessageTypeByName(name)
    message = GetMessageClass(kind).FromString(packed.value)
    return {
        "type": name,
        "value": base64.b64encode(packed.value).decode().rstrip("="),
        "debug": json_format.MessageToDict(message),
    }
