"""Tokens and audit records to messages and back."""

from __future__ import annotations

from datetime import timedelta

from vidscore.v1 import access_service_pb2 as pb
from vidscore.v1 import token_pb2
from vidscore_server.codec.times import read_seconds, read_time, write_time
from vidscore_server.hosting.names import read_benchmark
from vidscore_server.hosting.texts import checked_text
from vidscore_server.store.records import AuditFilter, AuditRecord, Role, TokenRecord

_ROLES = {
    Role.ORGANISER: token_pb2.ROLE_ORGANISER,
    Role.PARTICIPANT: token_pb2.ROLE_PARTICIPANT,
    Role.VIEWER: token_pb2.ROLE_VIEWER,
}
_ROLES_BY_NUMBER = {number: role for role, number in _ROLES.items()}


def read_role(number: int) -> Role | None:
    """A role; None where it is none that this version knows."""
    return _ROLES_BY_NUMBER.get(number)  # type: ignore[call-overload, no-any-return] # a plain number


def read_lifetime(request: pb.CreateTokenRequest) -> timedelta | None:
    """How long a token is to hold; None for ever."""
    if not request.HasField("lifetime"):
        return None
    return timedelta(seconds=read_seconds(request.lifetime))


def write_token(record: TokenRecord) -> token_pb2.Token:
    """A token as a message, without its secret's hash."""
    return token_pb2.Token(
        name=f"tokens/{record.token}",
        role=_ROLES[record.role],
        team=record.team,
        comment=record.comment,
        create_time=write_time(record.create_time),
        expire_time=write_time(record.expire_time),
        revoke_time=write_time(record.revoke_time),
    )


def read_audit_filter(request: pb.ListAuditRecordsRequest) -> AuditFilter:
    """Which records are wanted.

    Raises:
        InputError: If a name is none, or a time lies outside the years that there are.
    """
    if request.benchmark:
        read_benchmark(request.benchmark, "benchmark")
    for field in ("actor", "action"):
        checked_text(getattr(request, field), field)
    times = {
        field: read_time(getattr(request, field), field) if request.HasField(field) else None
        for field in ("since", "until")
    }
    return AuditFilter(request.benchmark, request.actor, request.action, **times)


def write_audit_record(record: AuditRecord) -> pb.AuditRecord:
    """An audit record as a message."""
    return pb.AuditRecord(
        number=record.number,
        time=write_time(record.time),
        actor=record.actor,
        action=record.action,
        resource=record.resource,
        detail=record.detail,
    )
