"""The server as seen by pages: calls by name, with plain values, and refusals."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from msgspec import Struct

from vidscore_server.domain.scores import ReportParts
from vidscore_server.logs import log_incident
from vidscore_server.store.errors import StoreFullError
from vidscore_server.temporary import told
from vidscore_server.web.site.phrases import sentence

HTTP_STATUS: Mapping[str, int] = {
    "INVALID_ARGUMENT": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "FAILED_PRECONDITION": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 499,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""HTTP status by the code of a refusal, as in Google's APIs; others are 500."""


class FieldFault(Struct, frozen=True):
    """One fault of a request.

    Attributes:
        field: Path of the field; empty for the whole.
        description: What was found, and what was expected.
    """

    field: str
    description: str


class ServiceError(Exception):
    """A call was refused.

    Attributes:
        code: The canonical code, such as ``NOT_FOUND``.
        reason: The stable identifier of the reason.
        message: One or two sentences for people.
        faults: Faults, field by field.
        facts: Further facts by name.
        retry_delay_s: Delay before a retry may succeed; None if it is useless.
    """

    def __init__(
        self,
        code: str,
        reason: str,
        message: str,
        faults: tuple[FieldFault, ...] = (),
        facts: Mapping[str, str] | None = None,
        retry_delay_s: float | None = None,
    ) -> None:
        self.code = code
        self.reason = reason
        self.message = sentence(message)
        self.faults = faults
        self.facts = dict(facts or {})
        self.retry_delay_s = retry_delay_s
        super().__init__(message)

    @property
    def http_status(self) -> int:
        """Status of the answer to a browser."""
        return HTTP_STATUS.get(self.code, 500)


def incident(error: Exception) -> ServiceError:
    """A bug of ours, or a full disk, as an answer; the log has its places, but no data."""
    full = told(error)
    if isinstance(full, StoreFullError):
        return ServiceError("RESOURCE_EXHAUSTED", full.reason, str(full))
    return ServiceError("INTERNAL", "INTERNAL", log_incident(error)[1])


@dataclass(frozen=True, slots=True)
class Visitor:
    """The visitor of a request.

    Attributes:
        session: Its session; empty for none.
        peer: Its address, for the log.
    """

    session: str = ""
    peer: str = field(default="", compare=False)


class Service(Protocol):
    """The RPCs of the server, as `vidscore_server.api.pages` implements them.

    Requests and responses are plain values by the names of the protos: times are `datetime`,
    durations seconds, enums lower-case words without their prefix, and Annotations may stand for a
    batch of a request.
    """

    async def call(
        self, rpc: str, visitor: Visitor, parts: ReportParts = ReportParts.ALL, /, **request: Any
    ) -> dict[str, Any]:
        """Make a call with one request and one response.

        Args:
            rpc: Its name, such as ``BenchmarkService/GetBenchmark``.
            visitor: The visitor; its token decides what it may see and do.
            parts: Parts of the reports of scores that are needed.
            request: The request by its fields.

        Raises:
            ServiceError: If it is refused.
        """

    def stream(
        self,
        rpc: str,
        visitor: Visitor,
        requests: AsyncIterator[Mapping[str, Any]],
        parts: ReportParts = ReportParts.ALL,
        /,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Make a call with several messages on either side.

        Args:
            rpc: Its name.
            visitor: Who asks.
            requests: The requests by their fields; a single one if the RPC takes only one.
            parts: As for `call`.

        Raises:
            ServiceError: If it is refused, while its responses are read.
        """

    async def sign_in(self, token: str, peer: str) -> str:
        """Begin the session of a token.

        Args:
            token: The token's secret.
            peer: Address of the browser, for the log.

        Raises:
            ServiceError: If the token is unknown, has expired or was revoked.
        """

    def form_key(self, text: str) -> str:
        """The key that forms carry, so that no other site can send them.

        Args:
            text: The session or, without one, the text that the browser holds.
        """
