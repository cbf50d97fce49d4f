"""Invitations: the holder of a link may create a token of its team, once, before it expires.

Only a hash of a link's secret is stored, as for tokens.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.names import string_faults
from vidscore_server.domain.access import (
    SECRET_BYTES,
    NewToken,
    end_after,
    hash_of,
    new_token,
    team_faults,
)
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.names import SECRET_PREFIX
from vidscore_server.errors import InvitationEndedError, NotFoundError
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import AuditRecord, InvitationRecord, Role

DEFAULT_LIFETIME = timedelta(days=30)
MOST_AT_ONCE = 500

INVITATION_PREFIX = f"{SECRET_PREFIX}i_"
_SECRET = re.compile(INVITATION_PREFIX + r"([0-9a-f]{16})_[0-9a-f]{64}")


class NewInvitation(NamedTuple):
    """An invitation's record and its secret, which is stored nowhere."""

    record: InvitationRecord
    secret: str


def new_invitations(
    teams: Sequence[str],
    comment: str,
    now: datetime,
    lifetime: timedelta | None = None,
    token_lifetime: timedelta | None = None,
) -> list[NewInvitation]:
    """Make an invitation for each team.

    Args:
        teams: The teams.
        comment: Purpose of the invitations, and of the tokens.
        now: The time.
        lifetime: How long they can be accepted; None for `DEFAULT_LIFETIME`.
        token_lifetime: How long the tokens are valid; None for ever.

    Raises:
        InputError: With every fault.
    """
    faults = string_faults(comment, "comment")
    if not 0 < len(teams) <= MOST_AT_ONCE:
        expected = f"1 to {MOST_AT_ONCE} at once"
        faults.append(Fault(f"{len(teams)} teams", expected, field="teams"))
    seen: set[str] = set()
    for row, team in enumerate(teams):
        faults += team_faults(Role.PARTICIPANT, team, f"teams[{row}]")
        if team in seen:
            faults.append(Fault(f"{team[:80]} again", "each team once", field=f"teams[{row}]"))
        seen.add(team)
    expire_time = end_after(now, lifetime or DEFAULT_LIFETIME, "lifetime", faults)
    if token_lifetime is not None:
        end_after(now, token_lifetime, "token_lifetime", faults)
    if faults or expire_time is None:
        raise InputError(faults)
    seconds = None if token_lifetime is None else max(1, round(token_lifetime.total_seconds()))
    return [_new(team, comment, now, expire_time, seconds) for team in teams]


def _new(
    team: str, comment: str, now: datetime, expire_time: datetime, token_lifetime_s: int | None
) -> NewInvitation:
    name = secrets.token_hex(8)
    secret = f"{INVITATION_PREFIX}{name}_{secrets.token_hex(SECRET_BYTES)}"
    record = InvitationRecord(
        name, hash_of(secret), team, comment, now, expire_time, token_lifetime_s
    )
    return NewInvitation(record, secret)


def invitation_of(reader: Reader, secret: str, now: datetime) -> InvitationRecord:
    """The open invitation of a secret.

    Args:
        reader: A state of the store.
        secret: The secret.
        now: The time.

    Raises:
        NotFoundError: If there is none.
        InvitationEndedError: If it was accepted or revoked, or has expired.
    """
    match = _SECRET.fullmatch(secret)
    record = None if match is None else reader.invitation(match[1])
    if record is None or not hmac.compare_digest(record.secret_hash, hash_of(secret)):
        raise NotFoundError(
            "there is no such invitation; the link may be mistyped: ask the organiser for a new one"
        )
    ended = why_ended(record, now)
    if ended:
        raise InvitationEndedError(f"the invitation {ended}; ask the organiser for a new one")
    return record


def why_ended(record: InvitationRecord, now: datetime) -> str:
    """Why an invitation can no longer be accepted; empty if it can."""
    if record.revoke_time is not None:
        return "was revoked"
    if record.accept_time is not None:
        return "was accepted already, and its token is shown only once"
    return "has ended" if now >= record.expire_time else ""


class Invitations:
    """The invitations of a site."""

    def __init__(self, context: Context) -> None:
        self._context = context

    async def create(self, request: Request, made: Sequence[NewInvitation]) -> None:
        """Store new invitations."""

        def command(transaction: Transaction) -> None:
            for invitation in made:
                transaction.insert_invitation(invitation.record)
                name = f"invitations/{invitation.record.invitation}"
                request.audit(transaction, name, f"team {invitation.record.team}")

        await self._context.write(command)

    async def revoke(self, request: Request, name: str) -> InvitationRecord:
        """Revoke an invitation; an already revoked one stays as it is.

        Raises:
            NotFoundError: If there is none of that name.
            InvitationEndedError: If it was accepted: its token can be revoked instead.
        """

        def command(transaction: Transaction) -> InvitationRecord:
            record = transaction.invitation(name)
            if record is None:
                raise NotFoundError(f"invitations/{name} does not exist")
            if record.accept_time is not None:
                raise InvitationEndedError(
                    f"the invitation was accepted; revoke its token, tokens/{record.token}"
                )
            if record.revoke_time is not None:
                return record
            revoked = replace(record, revoke_time=request.time)
            transaction.update_invitation(revoked)
            request.audit(transaction, f"invitations/{name}")
            return revoked

        return await self._context.write(command)

    async def look(self, secret: str, now: datetime) -> InvitationRecord:
        """The open invitation of a secret; see `invitation_of`."""
        return await self._context.read(lambda reader: invitation_of(reader, secret, now))

    async def accept(self, secret: str, now: datetime) -> tuple[InvitationRecord, NewToken]:
        """Create the token of an invitation's team, and end the invitation.

        Args:
            secret: The invitation's secret; no token is needed.
            now: The time.

        Raises:
            NotFoundError: If there is no such invitation.
            InvitationEndedError: If it was accepted or revoked, or has expired.
        """

        def command(transaction: Transaction) -> tuple[InvitationRecord, NewToken]:
            record = invitation_of(transaction, secret, now)
            seconds = record.token_lifetime_s
            lifetime = None if seconds is None else timedelta(seconds=seconds)
            token = new_token(Role.PARTICIPANT, record.team, record.comment, now, lifetime)
            accepted = replace(record, accept_time=now, token=token.record.token)
            transaction.insert_token(token.record)
            transaction.update_invitation(accepted)
            actor = f"invitations/{record.invitation}"
            resource = f"tokens/{token.record.token}"
            transaction.append_audit(
                AuditRecord(now, actor, "AcceptInvitation", resource, f"team {record.team}")
            )
            return accepted, token

        return await self._context.write(command)
