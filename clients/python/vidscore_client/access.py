"""Tokens and the audit record, asyncio and synchronous."""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime

from vidscore_client._convert import duration_of, to_dataclass
from vidscore_client._encoding import benchmark_name, token_name
from vidscore_client._transport import Transport, list_pages, run_blocking
from vidscore_client.errors import InputError
from vidscore_client.frames import parse_string
from vidscore_client.hosting import AuditFilter, AuditRecord, NewToken, Role, Token
from vidscore_protos.v1 import access_service_pb2 as wire

ACCESS = "/vidscore.v1.AccessService/"

ROLES = tuple(role.value for role in Role if role is not Role.UNKNOWN)
NO_TOKENS = ("server", "anonymous")
"""Actors other than tokens."""


class AsyncTokens:
    """Tokens; `AsyncClient.tokens`. See `vidscore_client.Tokens`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(
        self,
        role: Role | str,
        *,
        team: str = "",
        comment: str = "",
        lifetime_s: float | None = None,
    ) -> NewToken:
        """Create a token; see `vidscore_client.Tokens.create`."""
        try:
            known = Role(role)
        except ValueError:
            known = Role.UNKNOWN
        if known is Role.UNKNOWN:
            raise InputError("role", repr(role)[:80], " or ".join(ROLES))
        request = wire.CreateTokenRequest(
            role=f"ROLE_{known.upper()}",
            team=parse_string("team", team),
            comment=parse_string("comment", comment),
            lifetime=duration_of("lifetime_s", lifetime_s),
        )
        response = await self._transport.unary(
            ACCESS + "CreateToken", request, wire.CreateTokenResponse
        )
        return NewToken(to_dataclass(Token, response.token), response.secret)

    async def list(self) -> list[Token]:
        """Every token; see `vidscore_client.Tokens.list`."""
        pages = await list_pages(
            self._transport,
            ACCESS + "ListTokens",
            wire.ListTokensRequest(),
            wire.ListTokensResponse,
        )
        return [to_dataclass(Token, token) for page in pages for token in page.tokens]

    async def revoke(self, token: str) -> Token:
        """End a token at once; see `vidscore_client.Tokens.revoke`."""
        request = wire.RevokeTokenRequest(name=token_name(token))
        response = await self._transport.unary(
            ACCESS + "RevokeToken", request, wire.RevokeTokenResponse
        )
        return to_dataclass(Token, response.token)


class Tokens:
    """Tokens; `vidscore_client.Client.tokens`. For organisers."""

    def __init__(self, tokens: AsyncTokens) -> None:
        self._tokens = tokens

    def create(
        self,
        role: Role | str,
        *,
        team: str = "",
        comment: str = "",
        lifetime_s: float | None = None,
    ) -> NewToken:
        """Create a token; its secret is returned only once.

        Args:
            role: ``organiser``, ``participant`` or ``viewer``.
            team: Team that a participant submits for.
            comment: Its purpose.
            lifetime_s: Seconds for which it is valid; None for ever.

        Raises:
            InputError: If there is no such role.
            VidscoreError: If the call fails.
        """
        return run_blocking(
            self._tokens.create(role, team=team, comment=comment, lifetime_s=lifetime_s)
        )

    def list(self) -> list[Token]:
        """Every token, newest first.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._tokens.list())

    def revoke(self, token: str) -> Token:
        """End a token at once.

        Args:
            token: Its name, not its secret.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If the call fails.
        """
        return run_blocking(self._tokens.revoke(token))


async def list_audit_records(
    transport: Transport, maximum: int | None, wanted: AuditFilter
) -> list[AuditRecord]:
    """The newest audit records, page by page; by default, all."""
    found: list[AuditRecord] = []
    request = _audit_request(wanted)
    while maximum is None or len(found) < maximum:
        response = await transport.unary(
            ACCESS + "ListAuditRecords", deepcopy(request), wire.ListAuditRecordsResponse
        )
        found.extend(to_dataclass(AuditRecord, record) for record in response.records)
        request.page_token = response.next_page_token
        if not request.page_token:
            break
    return found[:maximum]


def _audit_request(wanted: AuditFilter) -> wire.ListAuditRecordsRequest:
    actor = parse_string("actor", wanted.actor)
    request = wire.ListAuditRecordsRequest(
        benchmark=benchmark_name(wanted.benchmark) if wanted.benchmark else "",
        actor=token_name(actor) if actor not in {"", *NO_TOKENS} else actor,
        action=parse_string("action", wanted.action),
        resource=parse_string("resource", wanted.resource),
    )
    for field in ("since", "until"):
        time = getattr(wanted, field)
        if time is None:
            continue
        if not isinstance(time, datetime) or time.tzinfo is None:
            raise InputError(field, repr(time)[:80], "a date and time with its offset from UTC")
        getattr(request, field).FromDatetime(time)
    return request
