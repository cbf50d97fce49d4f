"""The unary calls of tokens and of the audit record, each written once for both clients."""

from __future__ import annotations

from copy import deepcopy
from datetime import datetime

from google.protobuf.duration_pb2 import Duration

from vidscore.v1 import access_service_pb2 as wire
from vidscore_client._hosting_decoding import decode_audit_record, decode_token
from vidscore_client._names import benchmark_name, token_name
from vidscore_client._operations import Operation, UnaryRequest, list_pages
from vidscore_client.errors import InputError
from vidscore_client.frames import text
from vidscore_client.hosting import AuditFilter, AuditRecord, NewToken, Role, Token

ROLES = tuple(role.value for role in Role if role is not Role.UNKNOWN)
NO_TOKENS = ("server", "anonymous")
"""Actors that are no tokens."""

_ACCESS = "/vidscore.v1.AccessService/"


def create_token(
    role: Role | str, team: str, comment: str, lifetime_s: float | None
) -> Operation[NewToken]:
    """Create a token."""
    try:
        known = Role(role)
    except ValueError:
        known = Role.UNKNOWN
    if known is Role.UNKNOWN:
        raise InputError("role", repr(role)[:80], " or ".join(ROLES))
    response = yield UnaryRequest(
        _ACCESS + "CreateToken",
        wire.CreateTokenRequest(
            role=f"ROLE_{known.upper()}",
            team=text("team", team),
            comment=text("comment", comment),
            lifetime=_duration(lifetime_s),
        ),
        wire.CreateTokenResponse,
    )
    return NewToken(decode_token(response.token), response.secret)


def list_tokens() -> Operation[list[Token]]:
    """Every token, newest first."""
    pages = yield from list_pages(
        _ACCESS + "ListTokens", wire.ListTokensRequest(), wire.ListTokensResponse
    )
    return [decode_token(token) for page in pages for token in page.tokens]


def revoke_token(token: str) -> Operation[Token]:
    """End a token at once."""
    response = yield UnaryRequest(
        _ACCESS + "RevokeToken",
        wire.RevokeTokenRequest(name=token_name(token)),
        wire.RevokeTokenResponse,
    )
    return decode_token(response.token)


def list_audit_records(maximum: int | None, wanted: AuditFilter) -> Operation[list[AuditRecord]]:
    """The newest records, page by page; all of them where no number is given."""
    found: list[AuditRecord] = []
    request = _audit_request(wanted)
    while maximum is None or len(found) < maximum:
        response = yield UnaryRequest(
            _ACCESS + "ListAuditRecords", deepcopy(request), wire.ListAuditRecordsResponse
        )
        found.extend(decode_audit_record(record) for record in response.records)
        request.page_token = response.next_page_token
        if not request.page_token:
            break
    return found[:maximum]


def _audit_request(wanted: AuditFilter) -> wire.ListAuditRecordsRequest:
    actor = text("actor", wanted.actor)
    request = wire.ListAuditRecordsRequest(
        benchmark=benchmark_name(wanted.benchmark) if wanted.benchmark else "",
        actor=token_name(actor) if actor not in {"", *NO_TOKENS} else actor,
        action=text("action", wanted.action),
    )
    for field in ("since", "until"):
        time = getattr(wanted, field)
        if time is None:
            continue
        if not isinstance(time, datetime) or time.tzinfo is None:
            raise InputError(field, repr(time)[:80], "a date and time with its offset from UTC")
        getattr(request, field).FromDatetime(time)
    return request


def _duration(seconds: float | None) -> Duration | None:
    if seconds is None:
        return None
    duration = Duration()
    try:
        duration.FromNanoseconds(round(seconds * 1e9))
    except (TypeError, ValueError, OverflowError):
        raise InputError("lifetime_s", repr(seconds)[:80], "a number of seconds") from None
    return duration
