"""Tokens: keys to the server, of which only a hash is kept.

A secret reads ``vidscore_{token}_{64 hexadecimal digits}``: the name finds the record, the digits
are 256 random bits. A plain SHA-256 hides so much entropy as well as a slow hash would.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime, timedelta
from typing import NamedTuple

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.access.caller import ORGANISERS_TEAM
from vidscore_server.hosting.texts import text_faults
from vidscore_server.store.records import Role, TokenRecord

SECRET_PREFIX = "vidscore_"  # noqa: S105 - how all of them begin
SECRET_BYTES = 32

_TEAM = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_SECRET = re.compile(SECRET_PREFIX + r"([0-9a-f]{16})_([0-9a-f]{64})")


class NewToken(NamedTuple):
    """A token's record and its secret, which is nowhere else."""

    record: TokenRecord
    secret: str


def new_token(
    role: Role | None,
    team: str,
    comment: str,
    now: datetime,
    lifetime: timedelta | None = None,
) -> NewToken:
    """Make a token.

    Args:
        role: What its bearer may do; None where nobody has said.
        team: Team that a participant submits for.
        comment: What it is for.
        now: The time.
        lifetime: How long it holds; None for ever.

    Raises:
        InputError: With every fault.
    """
    faults = [*_team_faults(role, team), *text_faults(comment, "comment")]
    expire_time = None
    if lifetime is not None:
        if lifetime <= timedelta(0):
            faults.append(Fault(f"{lifetime.total_seconds():g} s", "over 0 s", field="lifetime"))
        try:
            expire_time = now + lifetime
        except OverflowError:
            faults.append(Fault("a time after the year 9999", "less", field="lifetime"))
    if role is None or faults:
        missing = [Fault("no role", "organiser, participant or viewer", field="role")]
        raise InputError([*([] if role else missing), *faults])
    name = secrets.token_hex(8)
    digits = secrets.token_hex(SECRET_BYTES)
    secret = f"{SECRET_PREFIX}{name}_{digits}"
    record = TokenRecord(name, hash_of(secret), role, team, comment, now, expire_time)
    return NewToken(record, secret)


def hash_of(secret: str) -> bytes:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).digest()


def token_of(secret: str) -> str | None:
    """Name of the token that a secret claims to be of; None where it is no secret."""
    match = _SECRET.fullmatch(secret)
    return None if match is None else match[1]


def holds(record: TokenRecord, secret: str, now: datetime) -> bool:
    """Whether a secret is the token's, and the token has neither ended nor been revoked."""
    same = hmac.compare_digest(record.secret_hash, hash_of(secret))
    return same and is_valid(record, now)


def is_valid(record: TokenRecord, now: datetime) -> bool:
    """Whether a token has neither ended nor been revoked."""
    return record.revoke_time is None and (record.expire_time is None or now < record.expire_time)


def _team_faults(role: Role | None, team: str) -> list[Fault]:
    if role is not Role.PARTICIPANT:
        return [
            Fault(repr(team)[:80], "no team, unless it is a participant's", field="team")
        ] * bool(team)
    if _TEAM.fullmatch(team) is None or team == ORGANISERS_TEAM:
        expected = f"1 to 63 lower-case letters, digits and hyphens, not {ORGANISERS_TEAM}"
        return [Fault(repr(team)[:80], expected, field="team")]
    return []
