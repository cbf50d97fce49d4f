"""What the pages of the site call: RPCs by name, with plain values in and out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo

from vidscore_server.api.local_calls import LocalCalls, Refused, request_class
from vidscore_server.api.plain import fill, plain
from vidscore_server.domain.access import SESSION_SCHEME, token_of
from vidscore_server.domain.browser_sessions import BrowserSessions
from vidscore_server.web.site.service import FieldFault, ServiceError, Visitor

PACKAGE = "vidscore.v1"


class PageCalls:
    """The server's RPCs for its pages; see `vidscore_server.web.site.service.Service`.

    Args:
        calls: Makes calls.
        sessions: Makes sessions.
    """

    def __init__(self, calls: LocalCalls, sessions: BrowserSessions) -> None:
        self._calls = calls
        self._sessions = sessions

    async def call(self, rpc: str, visitor: Visitor, /, **request: Any) -> dict[str, Any]:
        """Make a call with one request and one response.

        Raises:
            ServiceError: If it is refused.
        """
        return await self._call(rpc, _credentials(visitor), visitor.peer, request)

    async def stream(
        self, rpc: str, visitor: Visitor, requests: AsyncIterator[Mapping[str, Any]], /
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Make a call of which either side may be several messages.

        Raises:
            ServiceError: If it is refused, while its responses are read.
        """
        method = self._calls.rpcs[_full_name(rpc)]

        async def messages() -> AsyncIterator[Message]:
            async for request in requests:
                yield _request(rpc, request)

        credentials = _credentials(visitor)
        try:
            answers = self._calls.stream(method, messages(), credentials, visitor.peer)
            async with aclosing(answers):  # the call ends where a page has read enough
                async for response in answers:
                    yield plain(response)
        except Refused as refused:
            raise error_of(refused) from None

    async def sign_in(self, token: str, peer: str) -> str:
        """Begin the session of a token.

        Raises:
            ServiceError: If the token is unknown, has ended or was revoked.
        """
        name = token_of(token)
        bearer = (("authorization", f"Bearer {token if name else 'none'}"),)
        await self._call("ServerService/GetServer", bearer, peer, {})
        return self._sessions.begin(name or "")

    def form_key(self, text: str) -> str:
        """What forms carry, so that no other site can send them."""
        return self._sessions.form_key(text)

    async def _call(
        self,
        rpc: str,
        credentials: tuple[tuple[str, str], ...],
        peer: str,
        request: Mapping[str, Any],
    ) -> dict[str, Any]:
        method = self._calls.rpcs[_full_name(rpc)]
        try:
            response = await self._calls.unary(method, _request(rpc, request), credentials, peer)
        except Refused as refused:
            raise error_of(refused) from None
        found: dict[str, Any] = plain(response)
        return found


_SIGNED_OUT = (
    "You are not signed in, or your session has ended. Sign in, and repeat what you did; nothing "
    "was changed."
)
"""In place of what programs are told, which have a token to send."""


def error_of(refused: Refused) -> ServiceError:
    """A refusal as pages have it."""
    faults: tuple[FieldFault, ...] = ()
    info, delay = ErrorInfo(), RetryInfo()
    delay_s = None
    for detail in refused.status.details:
        bad_request = BadRequest()
        if detail.Unpack(bad_request):
            faults = tuple(
                FieldFault(violation.field, violation.description)
                for violation in bad_request.field_violations
            )
        elif detail.Unpack(delay):
            delay_s = delay.retry_delay.ToNanoseconds() / 1e9
        else:
            detail.Unpack(info)
    code = refused.code.name
    return ServiceError(
        code,
        info.reason,
        _SIGNED_OUT if code == "UNAUTHENTICATED" else refused.status.message,
        faults,
        dict(info.metadata),
        delay_s,
    )


def _credentials(visitor: Visitor) -> tuple[tuple[str, str], ...]:
    if not visitor.session:
        return ()
    return (("authorization", SESSION_SCHEME + visitor.session),)


def _full_name(rpc: str) -> str:
    return f"/{rpc}" if rpc.startswith("google.") else f"/{PACKAGE}.{rpc}"


def _request(rpc: str, values: Mapping[str, Any]) -> Message:
    message = request_class(_full_name(rpc))()
    fill(message, values)
    return message
