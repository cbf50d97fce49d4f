"""The gate: every call passes it, or is refused before any service sees it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Collection, Iterable
from datetime import datetime

from vidscore_server.access.caller import ANONYMOUS, Caller
from vidscore_server.access.roles import ROLES_BY_RPC, Roles
from vidscore_server.access.running_tokens import RunningTokens
from vidscore_server.access.tokens import hash_of, holds, is_valid, token_of
from vidscore_server.errors import PermissionDeniedError, UnauthenticatedError
from vidscore_server.store.contract import Store
from vidscore_server.store.records import Role, TokenRecord

KEEP_S = 0.4
"""Time for which a token's record is not looked up again; ending one here counts at once."""

MAXIMUM_KEPT = 10_000

_SCHEME = "bearer "

Metadata = Iterable[tuple[str, str | bytes]]


class Gate:
    """Authenticates callers by their tokens and holds them to the table of roles.

    Args:
        store: Where tokens are kept; None where there are no hosted benchmarks and no tokens.
        open_to_anyone: Whether callers without a token may use what needs no role.
        clock: The time.

    Attributes:
        running: The calls that run under tokens.
    """

    def __init__(
        self, store: Store | None, *, open_to_anyone: bool, clock: Callable[[], datetime]
    ) -> None:
        """Let nobody in yet."""
        self._store = store
        self._open_to_anyone = open_to_anyone
        self._clock = clock
        self._kept: dict[str, tuple[float, TokenRecord | None]] = {}
        self.running = RunningTokens(self._ended)

    async def admit(self, method: str, metadata: Metadata) -> Caller:
        """Find out who calls, and let the call through.

        Args:
            method: Full name of the RPC, such as ``/vidscore.v1.ScoringService/Score``.
            metadata: The call's metadata.

        Raises:
            UnauthenticatedError: If a token is needed and none that holds is there.
            PermissionDeniedError: If the caller's role may not call it.
        """
        caller = await self._caller(metadata)
        allowed = ROLES_BY_RPC.get(method, frozenset())
        anyone = None in allowed and self._open_to_anyone
        if caller.role is None and not anyone:
            raise UnauthenticatedError(
                "the call needs a token, sent as metadata `authorization: Bearer {secret}`"
            )
        if caller.role not in allowed:
            raise PermissionDeniedError(_who_may(caller, method, allowed))
        return caller

    async def token_of(self, caller: Caller) -> TokenRecord | None:
        """The token that a caller has shown; None for one without."""
        return await self._record(caller.token) if caller.token else None

    def revoked(self, token: str) -> None:
        """Let nobody in with a token any more, and end the calls that run under it."""
        self._kept.pop(token, None)
        self.running.end(token)

    async def _caller(self, metadata: Metadata) -> Caller:
        values = [value for key, value in metadata if key == "authorization"]
        if not values or self._store is None:
            return ANONYMOUS
        if len(values) > 1 or not isinstance(values[0], str):
            raise UnauthenticatedError("the call carries several tokens")
        text = values[0]
        secret = text[len(_SCHEME) :].strip() if text[: len(_SCHEME)].lower() == _SCHEME else ""
        name = token_of(secret)
        record = None if name is None else await self._record(name)
        if record is None:
            hash_of(secret)  # a name that is not there takes as long as one that is
        if record is None or not holds(record, secret, self._clock()):
            raise UnauthenticatedError("the token is unknown, has ended or was revoked")
        return Caller(record.token, record.role, record.team)

    async def _ended(self, tokens: Collection[str]) -> list[str]:
        """Those of some tokens that hold no longer."""
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
    return f"{who} may not {action}; that takes the token of {' or '.join(known) or 'nobody'}"
