"""The context of hosting: store, clock, secret, limits, change notifications, commands."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from msgspec import Struct

from vidscore_server.domain.access import Caller, is_valid
from vidscore_server.domain.batches import BatchCodec
from vidscore_server.domain.names import SubmissionName, parse_string
from vidscore_server.errors import RequestReusedError, UnauthenticatedError
from vidscore_server.settings import Settings
from vidscore_server.store import Reader, SqlStore, Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import AuditRecord, SubmissionKey

FOLLOW_INTERVAL_S = 0.5
"""Maximum delay until a change at another server is known here."""

Look = Callable[[Collection[SubmissionName]], Awaitable[dict[SubmissionName, int]]]

Monotonic = Callable[[], float]
"""Seconds by a monotonic clock."""


class Changes:
    """Notifies waiters by name; each looks up the change."""

    def __init__(self) -> None:
        self._waiting: defaultdict[SubmissionName, set[asyncio.Future[None]]] = defaultdict(set)

    @property
    def waited_for(self) -> tuple[SubmissionName, ...]:
        """Submissions with a waiter."""
        return tuple(self._waiting)

    def tell(self, name: SubmissionName) -> None:
        """Notify the waiters of a submission; call it on the event loop."""
        for future in self._waiting.pop(name, ()):
            if not future.done():
                future.set_result(None)

    def waiter(self, name: SubmissionName) -> asyncio.Future[None]:
        """A future of the next change from now on; take it before reading, to miss no change.

        The caller discards it with `forget`.
        """
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting[name].add(future)
        return future

    def forget(self, name: SubmissionName, future: asyncio.Future[None]) -> None:
        """Discard a waiter."""
        future.cancel()
        with suppress(KeyError):
            self._waiting[name].remove(future)
        if not self._waiting[name]:
            del self._waiting[name]


class ChangePoller:
    """Polls revisions, because other servers over the same store cannot notify this one.

    Args:
        changes: Notifies the waiters.
        look: Returns the present revisions of submissions.
    """

    def __init__(self, changes: Changes, look: Look) -> None:
        self._changes = changes
        self._look = look
        self._known: dict[SubmissionName, int] = {}

    async def follow(self) -> None:
        """Poll until cancelled."""
        while True:
            with suppress(StoreError):  # waiters also look by themselves, and get the error then
                await self.look()
            await asyncio.sleep(FOLLOW_INTERVAL_S)

    async def look(self) -> None:
        """Notify waiters of changes since the last poll; the first poll notifies all."""
        names = self._changes.waited_for
        found = await self._look(names) if names else {}
        before, self._known = self._known, found
        for name in names:
            if found.get(name) != before.get(name):
                self._changes.tell(name)


# --- The clock: that of the store, so that all servers agree on what is due

LONGEST_WAIT_S = 0.5
"""Maximum sleep before a wait checks the time again, which `adjust` may have changed."""

MAX_POLL_S = 0.5
"""A reading of the store's clock that took longer is ignored as too inexact."""


class StoreClock:
    """A clock that is set by the store's clock, and runs by itself between two readings."""

    def __init__(self, store: SqlStore, monotonic: Monotonic = time.monotonic) -> None:
        self._store = store
        self._monotonic = monotonic
        self._time, self._at_s, _ = self._look()

    def __call__(self) -> datetime:
        """The time."""
        return self._time + timedelta(seconds=self._monotonic() - self._at_s)

    async def until(self, time: datetime) -> None:
        """Wait for a time; respects readings of the store's clock meanwhile."""
        while (left_s := (time - self()).total_seconds()) > 0:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(min(left_s, LONGEST_WAIT_S))

    def adjust(self) -> None:
        """Read the store's clock again.

        Raises:
            StoreError: If the store does not answer; the clock runs on as before.
        """
        found, at_s, took_s = self._look()
        if took_s <= MAX_POLL_S:
            self._time, self._at_s = found, at_s

    def _look(self) -> tuple[datetime, float, float]:
        """The store's time, the local time at the middle of the reading, and its duration."""
        with self._store.read() as reader:
            begun_s = self._monotonic()
            found = reader.time()
            took_s = self._monotonic() - begun_s
        return found, begun_s + took_s / 2, took_s


# --- The context

Result = TypeVar("Result")


class Clock(Protocol):
    """A clock with waits; tests replace it."""

    def __call__(self) -> datetime:
        """The time."""

    async def until(self, time: datetime) -> None:
        """Wait for a time; return at once if it has passed."""


DIGEST_DIGITS = 32


class Context(Struct, frozen=True):
    """State that the parts of a hosting server share.

    Attributes:
        store: The store.
        settings: The server's limits.
        clock: The time; all servers over the store agree on it.
        secret: Keys digests that leave the server.
        changes: Notifies waiters of a changed submission.
        codec: The encoding of batches.
        monotonic: Monotonic clock of this server, for durations.
    """

    store: SqlStore
    settings: Settings
    clock: Clock
    secret: bytes
    changes: Changes
    codec: BatchCodec
    monotonic: Monotonic = time.monotonic

    async def write(
        self,
        command: Callable[[Transaction], Result],
        about: Collection[SubmissionKey] | None = None,
    ) -> Result:
        """Run a command; what it wrote is durable when this returns.

        Args:
            command: The command.
            about: The only submissions that it touches; None if it may touch anything.
        """
        return await asyncio.wrap_future(self.store.submit(command, about))

    async def read(self, query: Callable[[Reader], Result]) -> Result:
        """Run a query over one consistent state, in a thread."""

        def run() -> Result:
            with self.store.read() as reader:
                return query(reader)

        return await asyncio.to_thread(run)

    async def adjust_clock(self) -> None:
        """Set the clock by the store's."""
        if isinstance(self.clock, StoreClock):
            await asyncio.to_thread(self.clock.adjust)

    def keyed(self, benchmark: str, digest: str) -> str:
        """A keyed digest for a benchmark: it reveals nothing without the server's secret.

        It does not even reveal whether another benchmark, whose rules may show more, has the same
        data.
        """
        keyed = hmac.new(self.secret, f"{benchmark}/{digest}".encode(), hashlib.sha256)
        return keyed.hexdigest()[:DIGEST_DIGITS]


def open_context(
    store: SqlStore, settings: Settings, codec: BatchCodec, clock: Clock | None = None
) -> Context:
    """The context over an open store; by default, with the store's clock."""
    with store.read() as reader:
        secret = reader.secret()
    return Context(store, settings, clock or StoreClock(store), secret, Changes(), codec)


# --- Commands: the audit record, and repeated requests

SERVER = "server"
"""Actor of the server's own actions."""

MAXIMUM_REQUEST_ID_LENGTH = 200


class Request(Struct, frozen=True):
    """A request that changes something.

    Attributes:
        caller: The caller.
        action: Name of the RPC.
        time: When.
        request_id: Chosen by the client; empty for none.
        digest: Digest of the action and the whole request; equal requests have equal digests.
    """

    caller: Caller
    action: str
    time: datetime
    request_id: str = ""
    digest: str = ""

    def audit(self, transaction: Transaction, resource: str, detail: str = "") -> None:
        """Append to the audit record; refuse a token that has ended.

        Raises:
            UnauthenticatedError: If the caller's token has ended since the call was admitted.
        """
        if self.caller.token:
            token = transaction.token(self.caller.token)
            if token is None or not is_valid(token, self.time):
                raise UnauthenticatedError("the token is no longer valid")
        record = AuditRecord(self.time, self.caller.actor, self.action, resource, detail)
        transaction.append_audit(record)

    def once(self, transaction: Transaction, make: Callable[[], str]) -> str:
        """Create a resource, or return the name of the one that the same request created before.

        Args:
            transaction: Where.
            make: Creates it and returns its name.

        Raises:
            InputError: If the request's id is too long.
            RequestReusedError: If another request had that id.
        """
        if not self.request_id:
            return make()
        parse_string(self.request_id, "request_id", MAXIMUM_REQUEST_ID_LENGTH)
        before = transaction.response(self.caller.token, self.request_id)
        if before is None:
            name = make()
            response = name.encode()
            transaction.put_response(
                self.caller.token, self.request_id, self.digest, response, self.time
            )
            return name
        if before[0] != self.digest:
            raise RequestReusedError("this request_id was used by another request")
        return before[1].decode()


def audit_server(
    transaction: Transaction, time: datetime, action: str, resource: str, detail: str = ""
) -> None:
    """Append an action of the server itself to the audit record."""
    transaction.append_audit(AuditRecord(time, SERVER, action, resource, detail))
