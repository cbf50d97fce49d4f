"""AccessService: tokens, invitations, and the audit record."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from vidscore_evaluators.errors import Fault, InputError
from vidscore_protos.v1 import access_service_pb2 as pb
from vidscore_protos.v1 import access_service_pb2_grpc, token_pb2
from vidscore_server.api.convert import read_seconds, read_time, write_time
from vidscore_server.api.requests import (
    Time,
    cut_page,
    page_size_of,
    read_page_token,
    request_of,
)
from vidscore_server.api.stream import Responses
from vidscore_server.domain.access import Gate, new_token
from vidscore_server.domain.context import Context
from vidscore_server.domain.invitations import Invitations, new_invitations, why_ended
from vidscore_server.domain.names import parse_string, read_benchmark, read_invitation, read_token
from vidscore_server.errors import NotFoundError
from vidscore_server.store import Transaction
from vidscore_server.store.records import (
    AuditFilter,
    AuditRecord,
    InvitationRecord,
    Role,
    TokenRecord,
)

_ROLES = {
    Role.ORGANISER: token_pb2.ROLE_ORGANISER,
    Role.PARTICIPANT: token_pb2.ROLE_PARTICIPANT,
    Role.VIEWER: token_pb2.ROLE_VIEWER,
}
_ROLES_BY_NUMBER = {number: role for role, number in _ROLES.items()}


def read_role(number: int) -> Role | None:
    """A role; None if this version does not know it."""
    return _ROLES_BY_NUMBER.get(number)  # type: ignore[call-overload, no-any-return] # a plain number


def read_lifetime(request: Any, field: str = "lifetime") -> timedelta | None:
    """The lifetime of a request; None if it is not set.

    Args:
        request: The request.
        field: Its field with the lifetime.
    """
    if not request.HasField(field):
        return None
    return timedelta(seconds=read_seconds(getattr(request, field)))


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


def write_invitation(record: InvitationRecord, now: datetime) -> pb.Invitation:
    """An invitation as a message, without its secret's hash.

    Args:
        record: The invitation.
        now: The time.
    """
    return pb.Invitation(
        name=f"invitations/{record.invitation}",
        team=record.team,
        comment=record.comment,
        create_time=write_time(record.create_time),
        expire_time=write_time(record.expire_time),
        accept_time=write_time(record.accept_time),
        revoke_time=write_time(record.revoke_time),
        token=f"tokens/{record.token}" if record.token else "",
        open=not why_ended(record, now),
    )


def read_audit_filter(request: pb.ListAuditRecordsRequest) -> AuditFilter:
    """Read a filter of audit records.

    Raises:
        InputError: If a name is invalid, or a time is outside the years 1 to 9999.
    """
    if request.benchmark:
        read_benchmark(request.benchmark, "benchmark")
        if request.resource:
            found = "resource and benchmark"
            raise InputError([Fault(found, "one of them", field="resource")])
    for field in ("actor", "action", "resource"):
        parse_string(getattr(request, field), field)
    times = {
        field: read_time(getattr(request, field), field) if request.HasField(field) else None
        for field in ("since", "until")
    }
    resource = request.benchmark or request.resource
    return AuditFilter(resource, request.actor, request.action, **times)


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


# --- The service


class AccessService(access_service_pb2_grpc.AccessServiceServicer):
    """Manages tokens and invitations.

    Args:
        context: The hosting context.
        gate: Admits callers; it must learn of every revoked token.
        invitations: The invitations of the site.
    """

    def __init__(self, context: Context, gate: Gate, invitations: Invitations) -> None:
        self._context = context
        self._gate = gate
        self._invitations = invitations

    async def CreateToken(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.CreateTokenRequest, _: Responses[Any]
    ) -> pb.CreateTokenResponse:
        """Create a token; its secret is only in the answer."""
        made = request_of(request, "CreateToken", self._context)
        token = new_token(
            read_role(request.role),
            request.team,
            request.comment,
            made.time,
            read_lifetime(request),
        )

        def command(transaction: Transaction) -> None:
            transaction.insert_token(token.record)
            made.audit(transaction, f"tokens/{token.record.token}", token.record.role.value)

        await self._context.write(command)
        return pb.CreateTokenResponse(token=write_token(token.record), secret=token.secret)

    async def ListTokens(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ListTokensRequest, _: Responses[Any]
    ) -> pb.ListTokensResponse:
        """A page of tokens, newest first."""
        size = page_size_of(request)
        before = read_page_token(request, Time, str)
        records = await self._context.read(lambda reader: reader.tokens(before, size + 1))
        shown, token = cut_page(records, size, lambda last: (last.create_time, last.token))
        return pb.ListTokensResponse(
            tokens=[write_token(record) for record in shown], next_page_token=token
        )

    async def RevokeToken(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.RevokeTokenRequest, _: Responses[Any]
    ) -> pb.RevokeTokenResponse:
        """Revoke a token; an already revoked one stays as it is."""
        name = read_token(request.name)
        made = request_of(request, "RevokeToken", self._context)

        def command(transaction: Transaction) -> TokenRecord:
            record = transaction.token(name)
            if record is None:
                raise NotFoundError(f"tokens/{name} does not exist")
            if record.revoke_time is not None:
                return record
            revoked = replace(record, revoke_time=made.time)
            made.audit(transaction, f"tokens/{name}")  # first: it may be the caller's own
            transaction.update_token(revoked)
            return revoked

        revoked = await self._context.write(command)
        self._gate.revoked(name)
        return pb.RevokeTokenResponse(token=write_token(revoked))

    async def CreateInvitations(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.CreateInvitationsRequest, _: Responses[Any]
    ) -> pb.CreateInvitationsResponse:
        """Invite teams; the secrets are only in the answer."""
        made = request_of(request, "CreateInvitations", self._context)
        new = new_invitations(
            request.teams,
            request.comment,
            made.time,
            read_lifetime(request),
            read_lifetime(request, "token_lifetime"),
        )
        await self._invitations.create(made, new)
        return pb.CreateInvitationsResponse(
            invitations=[
                pb.NewInvitation(invitation=write_invitation(record, made.time), secret=secret)
                for record, secret in new
            ]
        )

    async def ListInvitations(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ListInvitationsRequest, _: Responses[Any]
    ) -> pb.ListInvitationsResponse:
        """A page of invitations, newest first."""
        size = page_size_of(request)
        before = read_page_token(request, Time, str)
        records = await self._context.read(lambda reader: reader.invitations(before, size + 1))
        shown, token = cut_page(records, size, lambda last: (last.create_time, last.invitation))
        return pb.ListInvitationsResponse(
            invitations=[write_invitation(record, self._context.clock()) for record in shown],
            next_page_token=token,
        )

    async def RevokeInvitation(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.RevokeInvitationRequest, _: Responses[Any]
    ) -> pb.RevokeInvitationResponse:
        """End an invitation that was not accepted."""
        made = request_of(request, "RevokeInvitation", self._context)
        revoked = await self._invitations.revoke(made, read_invitation(request.name))
        return pb.RevokeInvitationResponse(invitation=write_invitation(revoked, made.time))

    async def AcceptInvitation(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.AcceptInvitationRequest, _: Responses[Any]
    ) -> pb.AcceptInvitationResponse:
        """Create the token of an invited team, or only show the invitation."""
        now = self._context.clock()
        if request.validate_only:
            found = await self._invitations.look(request.secret, now)
            return pb.AcceptInvitationResponse(invitation=write_invitation(found, now))
        accepted, token = await self._invitations.accept(request.secret, now)
        invitation = write_invitation(accepted, now)
        return pb.AcceptInvitationResponse(
            invitation=invitation, token=write_token(token.record), secret=token.secret
        )

    async def ListAuditRecords(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.ListAuditRecordsRequest, _: Responses[Any]
    ) -> pb.ListAuditRecordsResponse:
        """A page of the record, newest first."""
        size = page_size_of(request)
        [before] = read_page_token(request, int) or (None,)
        wanted = read_audit_filter(request)
        records = await self._context.read(
            lambda reader: reader.audit_records(before, size + 1, wanted)
        )
        shown, token = cut_page(records, size, lambda last: (last.number,))
        return pb.ListAuditRecordsResponse(
            records=[write_audit_record(record) for record in shown], next_page_token=token
        )
