"""Access: callers, roles, tokens, the calls that run under them, and the gate."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from typing import NamedTuple

from msgspec import Struct

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.names import string_faults
from vidscore_server.domain.names import SECRET_PREFIX
from vidscore_server.errors import PermissionDeniedError, UnauthenticatedError
from vidscore_server.logs import log_lasting, places_of
from vidscore_server.runtime import RunningCall
from vidscore_server.store import SqlStore
from vidscore_server.store.records import Role, TokenRecord

ORGANISERS_TEAM = "organiser"
"""Team that an organiser submits for; no participant can have it."""


class Caller(Struct, frozen=True):
    """A caller.

    Attributes:
        token: Name of the token, empty for a caller without one.
        role: Its role; None for a caller without a token.
        team: Team that it submits for.
    """

    token: str = ""
    role: Role | None = None
    team: str = ""

    @property
    def is_organiser(self) -> bool:
        """Whether the caller may see and do everything."""
        return self.role is Role.ORGANISER

    @property
    def submits_for(self) -> str:
        """Team of its submissions; empty if it may make none."""
        return ORGANISERS_TEAM if self.is_organiser else self.team

    @property
    def shares_as(self) -> str:
        """Key of its share of scarce resources: its team, or its token."""
        return self.submits_for or f"tokens/{self.token}"

    @property
    def actor(self) -> str:
        """Its name in the audit record."""
        return f"tokens/{self.token}" if self.token else "anonymous"


ANONYMOUS = Caller()

_current: ContextVar[Caller] = ContextVar("caller", default=ANONYMOUS)


def current_caller() -> Caller:
    """The caller of the current call."""
    return _current.get()


def set_caller(caller: Caller) -> None:
    """Set the caller of the current call."""
    _current.set(caller)


# --- Roles: RPCs that are not in the table are refused
#
# What a caller sees of an object is not decided here but in `vidscore_server.domain.release`.

Roles = frozenset[Role | None]
"""Roles; None stands for a caller without a token."""

ORGANISERS: Roles = frozenset({Role.ORGANISER})
TEAMS: Roles = frozenset({Role.ORGANISER, Role.PARTICIPANT})
ANYONE: Roles = frozenset({*Role, None})
"""Everyone on this machine; from elsewhere a token is needed, except for `PUBLIC_RPCS`."""

PUBLIC_RPCS = frozenset(
    f"/vidscore.v1.BenchmarkService/{name}"
    for name in ("GetBenchmark", "ListBenchmarks", "GetLeaderboard", "GetChecklist")
)
"""RPCs that need no token from anywhere: without one they cover public benchmarks only, and show
what a viewer sees."""

OPEN_RPCS = (
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
)
"""RPCs of gRPC's own services: they need no token, and ignore it."""

ROLES_BY_RPC: Mapping[str, Roles] = {
    "/vidscore.v1.EvaluatorService/ListEvaluators": ANYONE,
    "/vidscore.v1.EvaluatorService/GetEvaluator": ANYONE,
    "/vidscore.v1.EvaluatorService/ListPresets": ANYONE,
    "/vidscore.v1.ScoringService/Score": ANYONE,
    "/vidscore.v1.ScoringService/ScoreBatch": ANYONE,
    "/vidscore.v1.RankingService/ExamineUpload": ANYONE,
    "/vidscore.v1.ServerService/GetServer": ANYONE,
    "/vidscore.v1.ServerService/GetQueue": ORGANISERS,
    "/vidscore.v1.ServerService/ExportBackup": ORGANISERS,
    "/vidscore.v1.ServerService/ImportBackup": ORGANISERS,
    "/vidscore.v1.BenchmarkService/CreateBenchmark": ORGANISERS,
    "/vidscore.v1.BenchmarkService/GetBenchmark": ANYONE,
    "/vidscore.v1.BenchmarkService/ListBenchmarks": ANYONE,
    "/vidscore.v1.BenchmarkService/UpdateBenchmark": ORGANISERS,
    "/vidscore.v1.BenchmarkService/DeleteBenchmark": ORGANISERS,
    "/vidscore.v1.BenchmarkService/UploadTruth": ORGANISERS,
    "/vidscore.v1.BenchmarkService/ListTruthRevisions": ORGANISERS,
    "/vidscore.v1.BenchmarkService/ReadTruth": ORGANISERS,
    "/vidscore.v1.BenchmarkService/RescoreSubmissions": ORGANISERS,
    "/vidscore.v1.BenchmarkService/GetLeaderboard": ANYONE,
    "/vidscore.v1.BenchmarkService/PublishLeaderboard": ORGANISERS,
    "/vidscore.v1.BenchmarkService/GetChecklist": ANYONE,
    "/vidscore.v1.SubmissionService/CreateSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/GetSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/ListSubmissions": TEAMS,
    "/vidscore.v1.SubmissionService/OpenStream": TEAMS,
    "/vidscore.v1.SubmissionService/AppendFrames": TEAMS,
    "/vidscore.v1.SubmissionService/AppendBatch": TEAMS,
    "/vidscore.v1.SubmissionService/CheckDetections": TEAMS,
    "/vidscore.v1.SubmissionService/SealSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/CancelSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/RetrySubmission": TEAMS,
    "/vidscore.v1.SubmissionService/ChooseSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/DisqualifySubmission": ORGANISERS,
    "/vidscore.v1.SubmissionService/ReinstateSubmission": ORGANISERS,
    "/vidscore.v1.SubmissionService/WatchSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/ListScores": TEAMS,
    "/vidscore.v1.SubmissionService/ReadOutcomes": TEAMS,
    "/vidscore.v1.SubmissionService/ReadDetections": TEAMS,
    "/vidscore.v1.SubmissionService/AnswerFrames": TEAMS,
    "/vidscore.v1.AccessService/CreateToken": ORGANISERS,
    "/vidscore.v1.AccessService/ListTokens": ORGANISERS,
    "/vidscore.v1.AccessService/RevokeToken": ORGANISERS,
    "/vidscore.v1.AccessService/CreateInvitations": ORGANISERS,
    "/vidscore.v1.AccessService/ListInvitations": ORGANISERS,
    "/vidscore.v1.AccessService/RevokeInvitation": ORGANISERS,
    "/vidscore.v1.AccessService/AcceptInvitation": ANYONE,
    "/vidscore.v1.AccessService/ListAuditRecords": ORGANISERS,
    "/vidscore.v1.TrustService/ExamineRanking": ORGANISERS,
    "/vidscore.v1.TrustService/TestCriterion": ORGANISERS,
    "/google.longrunning.Operations/ListOperations": ORGANISERS,
    "/google.longrunning.Operations/GetOperation": ORGANISERS,
    "/google.longrunning.Operations/DeleteOperation": ORGANISERS,
    "/google.longrunning.Operations/CancelOperation": ORGANISERS,
    "/google.longrunning.Operations/WaitOperation": ORGANISERS,
}

BY_LINK = frozenset({"/vidscore.v1.AccessService/AcceptInvitation"})
"""RPCs that carry a secret of their own, and need no token from anywhere."""

OF_SUBMISSIONS = frozenset(
    f"/vidscore.v1.SubmissionService/{name}"
    for name in [
        "GetSubmission",
        "OpenStream",
        "AppendFrames",
        "AppendBatch",
        "SealSubmission",
        "CancelSubmission",
        "RetrySubmission",
        "ChooseSubmission",
        "WatchSubmission",
        "ListScores",
        "ReadOutcomes",
        "ReadDetections",
        "AnswerFrames",
    ]
)
"""RPCs of teams about one submission; for other teams the submission does not exist."""


# --- Tokens: only a hash of a secret is stored
#
# A secret reads vidscore_{token}_{64 hexadecimal digits}: the name finds the record, the digits
# are 256 random bits. A plain SHA-256 hides so much entropy as well as a slow hash would.

SECRET_BYTES = 32

_TEAM = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_SECRET = re.compile(SECRET_PREFIX + r"([0-9a-f]{16})_([0-9a-f]{64})")


class NewToken(NamedTuple):
    """A token's record and its secret, which is stored nowhere."""

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
        role: Role of its bearer; None if it is missing.
        team: Team that a participant submits for.
        comment: Its purpose.
        now: The time.
        lifetime: How long it is valid; None for ever.

    Raises:
        InputError: With every fault.
    """
    faults = [*team_faults(role, team), *string_faults(comment, "comment")]
    expire_time = None
    if lifetime is not None:
        expire_time = end_after(now, lifetime, "lifetime", faults)
    if role is None or faults:
        missing = [Fault("no role", "organiser, participant or viewer", field="role")]
        raise InputError([*([] if role else missing), *faults])
    name, digits = secrets.token_hex(8), secrets.token_hex(SECRET_BYTES)
    secret = f"{SECRET_PREFIX}{name}_{digits}"
    record = TokenRecord(name, hash_of(secret), role, team, comment, now, expire_time)
    return NewToken(record, secret)


def end_after(
    now: datetime, lifetime: timedelta, field: str, faults: list[Fault]
) -> datetime | None:
    """The time at which something ends; None if it cannot be represented.

    Args:
        now: The time.
        lifetime: How long it is valid.
        field: Field of the lifetime, for the fault.
        faults: List to which a fault is added.
    """
    if lifetime <= timedelta(0):
        faults.append(Fault(f"{lifetime.total_seconds():g} s", "over 0 s", field=field))
    try:
        return now + lifetime
    except OverflowError:
        faults.append(Fault("a time after the year 9999", "less", field=field))
        return None


def hash_of(secret: str) -> bytes:
    """The stored form of a secret."""
    return hashlib.sha256(secret.encode()).digest()


def token_of(secret: str) -> str | None:
    """Name of the token in a secret, unverified; None if it is not a secret."""
    match = _SECRET.fullmatch(secret)
    return None if match is None else match[1]


def holds(record: TokenRecord, secret: str, now: datetime) -> bool:
    """Whether a secret belongs to the token, and the token is valid."""
    same = hmac.compare_digest(record.secret_hash, hash_of(secret))
    return same and is_valid(record, now)


def is_valid(record: TokenRecord, now: datetime) -> bool:
    """Whether a token has neither ended nor been revoked."""
    return record.revoke_time is None and (record.expire_time is None or now < record.expire_time)


def team_faults(role: Role | None, team: str, field: str = "team") -> list[Fault]:
    """Faults of a team name for a role.

    Args:
        role: The role.
        team: The team; empty for none.
        field: Its field.
    """
    if role is not Role.PARTICIPANT:
        return [
            Fault(repr(team)[:80], "no team, unless it is a participant's", field=field)
        ] * bool(team)
    if _TEAM.fullmatch(team) is None or team == ORGANISERS_TEAM:
        characters = "1 to 63 lower-case letters, digits and hyphens, no hyphen first"
        expected = f"{characters}, not {ORGANISERS_TEAM}"
        return [Fault(repr(team)[:80], expected, field=field)]
    return []


# --- Running calls: they end with their token
#
# A token ends when it is revoked, here or on another server, and when its lifetime is over. Polling
# all tokens that are in use finds both.

LOOK_INTERVAL_S = 0.4
"""Polling interval: including the time of a poll, no call outlives its token by a second."""

FindEnded = Callable[[Collection[str]], Awaitable[Collection[str]]]


class RunningTokens:
    """Tracks the running calls of each token.

    Args:
        find_ended: Returns the given tokens that are no longer valid.
    """

    def __init__(self, find_ended: FindEnded) -> None:
        self._find_ended = find_ended
        self._calls: defaultdict[str, set[RunningCall]] = defaultdict(set)

    @contextmanager
    def using(self, caller: Caller, call: RunningCall) -> Iterator[None]:
        """End a call early if its caller's token ends."""
        if not caller.token:
            yield
            return
        self._calls[caller.token].add(call)
        try:
            yield
        finally:
            self._calls[caller.token].discard(call)
            if not self._calls[caller.token]:
                del self._calls[caller.token]

    def end(self, token: str) -> None:
        """End the calls of a token."""
        for call in self._calls.get(token, ()):
            call.end(UnauthenticatedError("the token is no longer valid"))

    async def look(self) -> None:
        """End the calls of all tokens that are no longer valid."""
        if self._calls:
            for token in await self._find_ended(tuple(self._calls)):
                self.end(token)

    async def keep_looking(self) -> None:
        """Poll until cancelled."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001 - it must go on, whatever it is
                log_lasting(logging.ERROR, "tokens not looked at", places=places_of(error))


# --- The gate

KEEP_S = 0.4
"""Time for which a token's record is cached; revoking one at this server takes effect at once."""

MAXIMUM_KEPT = 10_000

_SCHEME = "bearer "

UNSIGNED = "the call needs a token, sent as metadata `authorization: Bearer {secret}`"

SESSION_SCHEME = "Session "
"""Scheme of a browser's session in place of a token; gRPC does not accept it."""

Metadata = Iterable[tuple[str, str | bytes]]


class Transport(Struct, frozen=True):
    """A way in, and what callers may do that use it.

    Attributes:
        open_to_anyone: Whether callers without a token may use RPCs that need no role.
        session: Returns the token of a valid session; None if browsers cannot come this way.
    """

    open_to_anyone: bool
    session: Callable[[str], str | None] | None = None


class Gate:
    """Authenticates callers by their tokens and enforces the table of roles.

    Args:
        store: Where tokens are kept; None if there are no hosted benchmarks and no tokens.
        clock: The time.

    Attributes:
        running: The calls that run under tokens.
    """

    def __init__(self, store: SqlStore | None, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self._kept: dict[str, tuple[float, TokenRecord | None]] = {}
        self.running = RunningTokens(self._ended)

    async def admit(self, method: str, metadata: Metadata, transport: Transport) -> Caller:
        """Authenticate the caller, and admit the call.

        Args:
            method: Full name of the RPC, such as ``/vidscore.v1.ScoringService/Score``.
            metadata: The call's metadata.
            transport: The way that the call came in.

        Raises:
            UnauthenticatedError: If a token is needed and there is no valid one.
            PermissionDeniedError: If the caller's role may not call it.
        """
        caller = await self._caller(metadata, transport)
        allowed = ROLES_BY_RPC.get(method, frozenset())
        anyone = None in allowed and (
            transport.open_to_anyone or method in PUBLIC_RPCS or method in BY_LINK
        )
        if caller.role is None and not anyone:
            raise UnauthenticatedError(UNSIGNED)
        if caller.role not in allowed:
            raise PermissionDeniedError(_who_may(caller, method, allowed))
        return caller

    async def token_of(self, caller: Caller) -> TokenRecord | None:
        """The token of a caller; None for a caller without one."""
        return await self._record(caller.token) if caller.token else None

    def revoked(self, token: str) -> None:
        """Stop admitting a token, and end the calls that run under it."""
        self._kept.pop(token, None)
        self.running.end(token)

    async def _caller(self, metadata: Metadata, transport: Transport) -> Caller:
        values = [value for key, value in metadata if key == "authorization"]
        if not values or self._store is None:
            return ANONYMOUS
        if len(values) > 1 or not isinstance(values[0], str):
            raise UnauthenticatedError("the call carries several tokens")
        text = values[0]
        if transport.session is not None and text.startswith(SESSION_SCHEME):
            return await self._caller_of(transport.session(text.removeprefix(SESSION_SCHEME)))
        secret = text[len(_SCHEME) :].strip() if text[: len(_SCHEME)].lower() == _SCHEME else ""
        name = token_of(secret)
        record = None if name is None else await self._record(name)
        if record is None:
            hash_of(secret)  # an unknown name takes as long as a known one
        if record is None or not holds(record, secret, self._clock()):
            raise UnauthenticatedError("the token is unknown, has expired or was revoked")
        return Caller(record.token, record.role, record.team)

    async def _caller_of(self, token: str | None) -> Caller:
        """The caller of a session, which ends with its token."""
        record = None if token is None else await self._record(token)
        if record is None or not is_valid(record, self._clock()):
            raise UnauthenticatedError("the session has ended; sign in again")
        return Caller(record.token, record.role, record.team)

    async def _ended(self, tokens: Collection[str]) -> list[str]:
        """The given tokens that are no longer valid."""
        now = self._clock()
        records = await asyncio.to_thread(self._look_up, tokens)
        return [
            token
            for token, record in records.items()
            if record is None or not is_valid(record, now)
        ]

    async def _record(self, token: str) -> TokenRecord | None:
        kept = self._kept.get(token)
        if kept is not None and time.monotonic() - kept[0] < KEEP_S:
            return kept[1]
        record = (await asyncio.to_thread(self._look_up, (token,)))[token]
        if len(self._kept) >= MAXIMUM_KEPT:
            self._kept.clear()
        self._kept[token] = (time.monotonic(), record)
        return record

    def _look_up(self, tokens: Collection[str]) -> dict[str, TokenRecord | None]:
        if self._store is None:
            return dict.fromkeys(tokens)
        with self._store.read() as reader:
            return {token: reader.token(token) for token in tokens}


def _who_may(caller: Caller, method: str, allowed: Roles) -> str:
    """Why a role is refused, such as: a viewer may not list submissions; that takes ..."""
    action = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", method.rpartition("/")[2]).lower()
    words = {
        Role.ORGANISER: "an organiser",
        Role.PARTICIPANT: "a participant",
        Role.VIEWER: "a viewer",
    }
    known = [words[role] for role in words if role in allowed]
    who = words[caller.role] if caller.role else "who has no token"
    return f"{who} may not {action}; this needs the token of {' or '.join(known) or 'nobody'}"
