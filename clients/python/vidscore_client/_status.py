"""Turn the status of a call into an exception of `vidscore_client.errors`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc import code_pb2, error_details_pb2, status_pb2

from vidscore_client.errors import (
    ERRORS_BY_CODE,
    ERRORS_BY_REASON,
    FieldViolation,
    LimitExceededError,
    VidscoreError,
)

ERROR_DOMAIN = "vidscore"
DETAILS_KEY = "grpc-status-details-bin"
LOCAL_CANCELLATIONS = frozenset({"Locally cancelled by application!", "Channel closed!"})
"""Texts of grpc for a call that this side has ended."""

MESSAGE_TOO_LARGE = re.compile(r"SERVER: Received message larger than max \((\d+) vs\. (\d+)\)")
"""Text of the server's gRPC for a message that is too large for it to read."""

VIOLATION_COUNT = "violations"
"""Key of the error's metadata: the total number of violations."""


def error_from_failure(failure: grpc.RpcError) -> VidscoreError:
    """Build the exception for a failed call.

    Args:
        failure: The error raised by grpc, synchronous or asyncio.
    """
    status = _status(failure.trailing_metadata() or ())
    code, message = failure.code().name, failure.details() or ""
    if code == "CANCELLED" and not (status.details or message in LOCAL_CANCELLATIONS):
        code = "UNAVAILABLE"  # gRPC's server ends calls like this while it stops
    if code == "DEADLINE_EXCEEDED" and not status.details:
        message = "the call has exceeded its timeout"
    too_large = MESSAGE_TOO_LARGE.fullmatch(message)
    if code == "RESOURCE_EXHAUSTED" and too_large is not None:
        return _message_too_large(*too_large.groups())
    return _error(code, message, status)


def _message_too_large(size: str, maximum: str) -> LimitExceededError:
    return LimitExceededError(
        f"a message of {size} bytes; the server accepts at most {maximum}: send less at "
        "once, or raise its limit maximum_message_bytes",
        code="RESOURCE_EXHAUSTED",
        reason="LIMIT_EXCEEDED",
        metadata={"limit": "maximum_message_bytes", "maximum": maximum},
    )


def error_from_status(status: status_pb2.Status) -> VidscoreError:
    """Build the exception for failed work, after its call, from ``google.rpc.Status``."""
    return _error(code_pb2.Code.Name(status.code), status.message, status)


def _error(code: str, message: str, status: Any) -> VidscoreError:
    information, violations, retry_delay_s = _details(status)
    metadata = dict(information.metadata)
    kind = ERRORS_BY_REASON.get(information.reason, ERRORS_BY_CODE[code])
    return kind(
        message or f"the call ended with {code}",
        code=code,
        reason=information.reason,
        violations=violations,
        violation_count=_count(metadata, len(violations)),
        metadata=metadata,
        retry_delay_s=retry_delay_s,
    )


def _details(status: Any) -> tuple[Any, tuple[Any, ...], float | None]:
    """Read google.rpc.ErrorInfo, BadRequest and RetryInfo out of a status."""
    information = error_details_pb2.ErrorInfo()
    retry_delay_s: float | None = None
    violations: list[FieldViolation] = []
    for detail in status.details:
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            found = error_details_pb2.ErrorInfo.FromString(detail.value)
            if found.domain == ERROR_DOMAIN:
                information = found
        elif detail.Is(error_details_pb2.BadRequest.DESCRIPTOR):
            request = error_details_pb2.BadRequest.FromString(detail.value)
            violations.extend(
                FieldViolation(violation.field, violation.description)
                for violation in request.field_violations
            )
        elif detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            delay = error_details_pb2.RetryInfo.FromString(detail.value).retry_delay
            retry_delay_s = max(0.0, delay.seconds + delay.nanos / 1e9)
    return information, tuple(violations), retry_delay_s


def _status(metadata: Iterable[Any]) -> Any:
    for key, value in metadata:
        if key == DETAILS_KEY and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:  # details of a proxy; code and text are still valid
                break
    return status_pb2.Status()


def _count(metadata: dict[str, str], known: int) -> int:
    text = metadata.get(VIOLATION_COUNT, "")
    return max(known, int(text)) if text.isdecimal() else known
