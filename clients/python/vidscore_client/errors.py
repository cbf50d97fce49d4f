"""Exceptions, which carry all details from the server.

Every exception of this package is a `VidscoreError`. For a server's error, two tables choose the
class: `ERRORS_BY_CODE` by the canonical gRPC code and, for errors that programs handle separately,
`ERRORS_BY_REASON` by `VidscoreError.reason`, a stable upper-case word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One fault of a request.

    Attributes:
        field: Its place, as a path into the request.
        description: What was found, and what was expected.
    """

    field: str
    description: str

    def __str__(self) -> str:
        """Both in one line."""
        return f"{self.field}: {self.description}" if self.field else self.description


class VidscoreError(Exception):
    """Base of every error of this package.

    Attributes:
        message: What went wrong, without the list of violations.
        code: Canonical gRPC code by name, such as ``INVALID_ARGUMENT``; empty for an error found on
            this side before anything was sent.
        reason: Stable upper-case word for machines; the code if the server gave none.
        violations: Faults of the request; the server sends the first twenty.
        violation_count: Number of all faults.
        metadata: Further facts from the server, by name.
        retry_delay_s: Seconds after which a retry may succeed, according to the server; None if it
            gives none.
        retryable: Whether the same call may succeed later.
    """

    retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        reason: str = "",
        violations: tuple[FieldViolation, ...] = (),
        violation_count: int | None = None,
        metadata: Mapping[str, str] = MappingProxyType({}),
        retry_delay_s: float | None = None,
    ) -> None:
        count = len(violations) if violation_count is None else violation_count
        lines = [message]
        if count > 1:
            # The server's message contains the only or the first violation.
            lines += [f"  {violation}" for violation in violations]
        if count > len(violations):
            lines.append(f"  ... and {count - len(violations)} more")
        super().__init__("\n".join(lines))
        self.message = message
        self.code = code
        self.reason = reason or code
        self.violations = violations
        self.violation_count = count
        self.metadata = dict(metadata)
        self.retry_delay_s = retry_delay_s


class InvalidArgumentError(VidscoreError):
    """The server refuses the request; `violations` has the faults."""


class NotFoundError(VidscoreError):
    """There is no resource of that name."""


class LimitExceededError(VidscoreError):
    """A limit of the server is reached; the text names it."""


class UnavailableError(VidscoreError):
    """The server cannot be reached, or is shutting down."""

    retryable = True


class DeadlineError(VidscoreError):
    """The caller's timeout was exceeded."""


class CallCancelledError(VidscoreError):
    """This side cancelled the call, or somebody cancelled work on the server."""


class AccessDeniedError(VidscoreError):
    """The token is missing, unknown, or not allowed to do this."""


class ConflictError(VidscoreError):
    """The request does not fit the server's state; `reason` says why."""


class QuotaExceededError(LimitExceededError):
    """The team's quota of submissions to the benchmark is used up."""


class SupersededError(ConflictError):
    """A newer writer has opened the same stream of the submission; this one must stop."""


class SubmissionEndedError(ConflictError):
    """The submission is sealed or cancelled and takes no more frames."""


class VersionError(ConflictError):
    """Client and server have incompatible versions; the text says which one to update.

    `metadata` has both under ``client_version`` and ``server_version``.
    """


class UnsupportedError(VidscoreError):
    """The server does not have this call: it hosts no benchmarks, or is older."""


class InternalError(VidscoreError):
    """The server failed, or this client cannot understand its answer."""


class InputError(VidscoreError, ValueError):
    """An argument has the wrong type or shape, or is out of range; nothing was sent.

    Attributes:
        argument: Name of the argument.
    """

    def __init__(self, argument: str, found: str, expected: str, advice: str = "") -> None:
        problem = f"found {found}, expected {expected}" if expected else found
        text = f"{argument}: {problem}; {advice}" if advice else f"{argument}: {problem}"
        super().__init__(text, reason="INVALID_INPUT")
        self.argument = argument
        self._parts = (argument, found, expected, advice)

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str, str]]:
        """Support pickling."""
        return (type(self), self._parts)


class BackPressureError(VidscoreError):
    """The queue of a stream is full: frames arrive faster than the server accepts them.

    The frames of this call are not queued; the stream continues.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="BACK_PRESSURE")


class ClosedError(VidscoreError):
    """The stream is finished, or the client closed, or neither was opened yet."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="CLOSED")


class CallbackError(VidscoreError):
    """A callback of the caller raised ``__cause__``. The stream has ended."""

    def __init__(self, message: str) -> None:
        super().__init__(message, reason="CALLBACK_FAILED")


ERRORS_BY_CODE: Mapping[str, type[VidscoreError]] = MappingProxyType(
    {
        "CANCELLED": CallCancelledError,
        "UNKNOWN": InternalError,
        "INVALID_ARGUMENT": InvalidArgumentError,
        "DEADLINE_EXCEEDED": DeadlineError,
        "NOT_FOUND": NotFoundError,
        "ALREADY_EXISTS": ConflictError,
        "PERMISSION_DENIED": AccessDeniedError,
        "RESOURCE_EXHAUSTED": LimitExceededError,
        "FAILED_PRECONDITION": ConflictError,
        "ABORTED": ConflictError,
        "OUT_OF_RANGE": ConflictError,
        "UNIMPLEMENTED": UnsupportedError,
        "INTERNAL": InternalError,
        "UNAVAILABLE": UnavailableError,
        "DATA_LOSS": InternalError,
        "UNAUTHENTICATED": AccessDeniedError,
    }
)
"""The exception for each canonical code, unless `ERRORS_BY_REASON` has a narrower one."""

ERRORS_BY_REASON: Mapping[str, type[VidscoreError]] = MappingProxyType(
    {
        "EPOCH_STALE": SupersededError,
        "QUOTA_EXCEEDED": QuotaExceededError,
        "SUBMISSION_ENDED": SubmissionEndedError,
        "VERSION_UNSUPPORTED": VersionError,
    }
)
"""The exception for each reason with its own class, a subclass of the code's exception."""
