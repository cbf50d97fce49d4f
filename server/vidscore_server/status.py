"""Errors as clients see them: one canonical code, ErrorInfo and field violations.

One table maps domain errors to codes. An error that is not in it is a bug of the server: the client
gets an incident number, the log the number and the stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from msgspec import Struct, field

from vidscore_evaluators.errors import (
    EvaluatorVersionError,
    Fault,
    InputError,
    LimitError,
    MissingExtraError,
    TallyError,
    UnknownEvaluatorError,
    VidscoreError,
)
from vidscore_server.errors import (
    ContentDamagedError,
    ContentDiffersError,
    DrainingError,
    EpochStaleError,
    EtagDiffersError,
    FrameExistsError,
    IdleError,
    ListenError,
    NameTakenError,
    NoPlaceError,
    NotFoundError,
    OffsetGapError,
    OffsetStraddlesError,
    PermissionDeniedError,
    QuotaError,
    RequestReusedError,
    StateError,
    UnauthenticatedError,
    WorkerLostError,
)
from vidscore_server.logs import log_incident
from vidscore_server.store.errors import StoreDamagedError, StoreError, StoreFullError
from vidscore_server.temporary import told

ERROR_DOMAIN = "vidscore"
STATUS_KEY = "grpc-status-details-bin"
"""Key of the trailing metadata that carries a `google.rpc.Status`, by gRPC convention."""

VIOLATIONS_LISTED = 20
"""Maximum number of field violations in a status; its ErrorInfo has the total."""

TEXT_BYTES = 200
"""Maximum bytes of a field path or a description; both may quote input."""

MESSAGE_BYTES = 500
"""Maximum bytes of a status message; on the wire, each byte may take three."""

VIOLATIONS_BYTES = 3000
"""Maximum bytes of all violations: many clients refuse 8 KiB of trailing metadata, in base64."""

_CODES: Mapping[type[VidscoreError], grpc.StatusCode] = {
    InputError: grpc.StatusCode.INVALID_ARGUMENT,
    UnknownEvaluatorError: grpc.StatusCode.NOT_FOUND,
    LimitError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    IdleError: grpc.StatusCode.DEADLINE_EXCEEDED,
    EvaluatorVersionError: grpc.StatusCode.FAILED_PRECONDITION,
    MissingExtraError: grpc.StatusCode.FAILED_PRECONDITION,
    TallyError: grpc.StatusCode.DATA_LOSS,
    DrainingError: grpc.StatusCode.UNAVAILABLE,
    WorkerLostError: grpc.StatusCode.INTERNAL,
    ListenError: grpc.StatusCode.UNAVAILABLE,
    StateError: grpc.StatusCode.FAILED_PRECONDITION,  # so do unlisted subclasses
    NotFoundError: grpc.StatusCode.NOT_FOUND,
    NameTakenError: grpc.StatusCode.ALREADY_EXISTS,
    RequestReusedError: grpc.StatusCode.ALREADY_EXISTS,
    QuotaError: grpc.StatusCode.RESOURCE_EXHAUSTED,
    OffsetGapError: grpc.StatusCode.OUT_OF_RANGE,
    OffsetStraddlesError: grpc.StatusCode.OUT_OF_RANGE,
    ContentDamagedError: grpc.StatusCode.UNAVAILABLE,
    ContentDiffersError: grpc.StatusCode.ALREADY_EXISTS,
    FrameExistsError: grpc.StatusCode.ALREADY_EXISTS,
    EpochStaleError: grpc.StatusCode.ABORTED,
    EtagDiffersError: grpc.StatusCode.ABORTED,
    UnauthenticatedError: grpc.StatusCode.UNAUTHENTICATED,
    PermissionDeniedError: grpc.StatusCode.PERMISSION_DENIED,
    StoreError: grpc.StatusCode.UNAVAILABLE,
    StoreDamagedError: grpc.StatusCode.DATA_LOSS,
    StoreFullError: grpc.StatusCode.RESOURCE_EXHAUSTED,
}


class Refusal(Struct, frozen=True):
    """An error as a client sees it.

    Attributes:
        code: Canonical code.
        reason: Stable upper-case identifier.
        message: One or two sentences for people.
        faults: All faults of the input.
        metadata: Further facts, by name.
        retry_delay_s: Delay before a retry may succeed; None if a retry is useless.
    """

    code: grpc.StatusCode
    reason: str
    message: str
    faults: tuple[Fault, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    retry_delay_s: float | None = None


def code_of(error: VidscoreError) -> grpc.StatusCode | None:
    """The canonical code of a domain error; None if it is not in the table."""
    return next((_CODES[kind] for kind in type(error).__mro__ if kind in _CODES), None)


def refusal_of(error: BaseException) -> Refusal:
    """The refusal of an error; an unexpected error is logged.

    In an exception group, the first error determines the code, and all contribute faults.
    """
    errors: list[tuple[VidscoreError, grpc.StatusCode]] = []
    for leaf in map(told, leaves(error)):
        code = code_of(leaf) if isinstance(leaf, VidscoreError) else None
        if not isinstance(leaf, VidscoreError) or code is None:
            return _incident(leaf)
        errors.append((leaf, code))
    first, code = errors[0]
    faults = tuple(dict.fromkeys(fault for leaf, _ in errors for fault in _faults(leaf)))
    return Refusal(
        code=code,
        reason=first.reason,
        message=_summary(faults) if isinstance(first, InputError) else str(first),
        faults=faults,
        metadata=_metadata(first, faults),
        retry_delay_s=(
            first.retry_delay_s if isinstance(first, StoreError | NoPlaceError) else None
        ),
    )


def status_of(refusal: Refusal, extra: Mapping[str, str] | None = None) -> Status:
    """A refusal as `google.rpc.Status`.

    Args:
        refusal: The refusal.
        extra: Facts about the call, for ErrorInfo's metadata.
    """
    info = ErrorInfo(
        reason=refusal.reason,
        domain=ERROR_DOMAIN,
        metadata={**refusal.metadata, **(extra or {})},
    )
    details = [_packed(info)]
    if refusal.faults:
        details.append(_packed(_bad_request(refusal.faults)))
    if refusal.retry_delay_s is not None:
        delay = RetryInfo()
        delay.retry_delay.FromNanoseconds(round(refusal.retry_delay_s * 1e9))
        details.append(_packed(delay))
    return Status(
        code=refusal.code.value[0],
        message=_shortened(refusal.message, MESSAGE_BYTES),
        details=details,
    )


def field_path(fault: Fault) -> str:
    """The place of a fault as a path of fields: ``truth.coordinates[17]``."""
    name = fault.field
    if name is None and fault.entry is not None:
        name = "frame_numbers"  # an entry without a column is a frame
    path = ".".join(part for part in (fault.source, name) if part)
    return path if fault.entry is None else f"{path}[{fault.entry}]"


def leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors in a group and its nested groups; any other error itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error


def _incident(error: BaseException) -> Refusal:
    incident, message = log_incident(error)
    return Refusal(grpc.StatusCode.INTERNAL, "INTERNAL", message, metadata={"incident": incident})


def _faults(error: BaseException) -> tuple[Fault, ...]:
    return error.faults if isinstance(error, InputError) else ()


def _metadata(error: VidscoreError, faults: tuple[Fault, ...]) -> dict[str, str]:
    if isinstance(error, LimitError):
        return {"limit": error.limit, "maximum": str(error.maximum)}
    if isinstance(error, StateError):
        return dict(error.metadata)
    return {"violations": str(len(faults))} if faults else {}


def _summary(faults: tuple[Fault, ...]) -> str:
    if not faults:
        return ""
    path, description = field_path(faults[0]), faults[0].description
    first = f"{path}: {description}" if path else description
    return first if len(faults) < 2 else f"{first} (and {len(faults) - 1} more)"


def _bad_request(faults: tuple[Fault, ...]) -> BadRequest:
    listed = BadRequest()
    for fault in faults[:VIOLATIONS_LISTED]:
        violation = BadRequest.FieldViolation(
            field=_shortened(field_path(fault), TEXT_BYTES),
            description=_shortened(fault.description, TEXT_BYTES),
        )
        if listed.ByteSize() + violation.ByteSize() > VIOLATIONS_BYTES:
            break
        listed.field_violations.append(violation)
    return listed


def _shortened(text: str, most_bytes: int) -> str:
    encoded = text.encode()
    if len(encoded) <= most_bytes:
        return text
    return encoded[: most_bytes - 3].decode(errors="ignore") + "..."


def _packed(message: BadRequest | ErrorInfo | RetryInfo) -> AnyMessage:
    packed = AnyMessage()
    packed.Pack(message)
    return packed
