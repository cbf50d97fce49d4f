"""Leased work: done by one server at a time, and taken over when that server dies.

A working server renews its lease. One that has died, hangs, or has lost its store does not; its
lease expires by the store's clock, and the next server that polls may begin. Late results of the
old one are refused: results are stored in the transaction that ends the lease.

Operations are leased work that somebody requested; `ChangedBenchmarks` finds all other work.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.names import parse_string
from vidscore_server.errors import NotFoundError
from vidscore_server.logs import log, log_lasting, places_of
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import OperationRecord

Result = TypeVar("Result")

RENEWALS_PER_LEASE = 3


class LeaseLostError(Exception):
    """Another server has taken the work over, or may have."""


class Leases:
    """The leases of a server.

    Attributes:
        owner: Name of the server as an owner of leases.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self.owner = secrets.token_hex(8)
        self._duration = timedelta(seconds=context.settings.lease_timeout_s)

    def take(self, transaction: Transaction, work: str) -> bool:
        """Take a lease within a command; False if another server has it."""
        return transaction.take_lease(work, self.owner, self._duration)

    async def take_now(self, work: str) -> bool:
        """Take a lease; False if another server has it."""
        return await self._context.write(lambda transaction: self.take(transaction, work))

    def require(self, transaction: Transaction, work: str) -> None:
        """Abort a command unless the lease holds.

        Raises:
            LeaseLostError: If it does not.
        """
        if work not in {lease.work for lease in self._own(transaction)}:
            raise LeaseLostError(work)

    def end(self, transaction: Transaction, work: str) -> None:
        """End a lease within the command that stores the result of the work.

        Raises:
            LeaseLostError: If it no longer holds.
        """
        if not transaction.end_lease(work, self.owner):
            raise LeaseLostError(work)

    def elsewhere(self, reader: Reader) -> set[str]:
        """Work that other servers do."""
        return {lease.work for lease in reader.leases() if lease.owner != self.owner}

    async def run(self, work: str, job: Coroutine[Any, Any, Result]) -> Result:
        """Run a job under its lease, which must have been taken, and renew the lease meanwhile.

        Raises:
            LeaseLostError: If the lease is lost before the job ends; the job is then cancelled.
        """
        working = asyncio.ensure_future(job)
        beating = asyncio.create_task(self._renew(work))
        try:
            await asyncio.wait((working, beating), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise LeaseLostError(work)
            return working.result()
        finally:
            for task in (working, beating):
                task.cancel()
            await asyncio.gather(working, beating, return_exceptions=True)

    async def write(self, command: Callable[[Transaction], Result]) -> Result:
        """Retry a command until the store is available; `run` bounds the time."""
        while True:
            try:
                return await self._context.write(command)
            except StoreError as error:
                await asyncio.sleep(error.retry_delay_s)

    async def release(self, works: Iterable[str]) -> None:
        """End leases, so that other servers may take over the work at once."""
        for work in works:
            with suppress(StoreError):
                await self._context.write(partial(self._end_quietly, work))

    def _end_quietly(self, work: str, transaction: Transaction) -> None:
        transaction.end_lease(work, self.owner)

    def _own(self, reader: Reader) -> list[Any]:
        return [lease for lease in reader.leases() if lease.owner == self.owner]

    async def _renew(self, work: str) -> None:
        """Renew a lease until that is refused, or has failed for the duration of the lease."""
        seconds = self._duration.total_seconds()
        loop = asyncio.get_running_loop()
        end_s = loop.time() + seconds
        while loop.time() < end_s:
            await asyncio.sleep(seconds / RENEWALS_PER_LEASE)
            begun_s = loop.time()
            with suppress(StoreError):
                if not await self._context.write(
                    lambda transaction: self._renew_once(transaction, work)
                ):
                    break
                end_s = begun_s + seconds
        log(logging.WARNING, "lease lost", work=work)

    def _renew_once(self, transaction: Transaction, work: str) -> bool:
        return any(lease.work == work for lease in self._own(transaction)) and self.take(
            transaction, work
        )


# --- Operations, each under a lease

Job = Callable[[], Coroutine[Any, Any, None]]
"""Runs an operation to completion."""


class LeasedOperations:
    """The running operations of the given kinds at this server."""

    def __init__(self, leases: Leases, kinds: tuple[str, ...]) -> None:
        self._leases = leases
        self._kinds = kinds
        self._running: dict[str, asyncio.Task[None]] = {}

    @property
    def count(self) -> int:
        """Number of running operations."""
        return len(self._running)

    def waiting(self, reader: Reader) -> list[OperationRecord]:
        """Unfinished operations that run nowhere, oldest first."""
        records = [
            record for record in reader.unfinished_operations() if record.kind in self._kinds
        ]
        free = self.free(reader, [record.operation for record in records])
        return [record for record in records if record.operation in free]

    def free(self, reader: Reader, operations: Iterable[str]) -> list[str]:
        """The given operations that no server works on."""
        elsewhere = self._leases.elsewhere(reader)
        return [
            name
            for name in operations
            if name not in self._running and _work(name) not in elsewhere
        ]

    async def begin(self, operation: str, job: Job) -> None:
        """Begin an operation, unless another server has just begun it.

        Args:
            operation: The operation.
            job: Runs it to completion; is cancelled if the lease is lost.
        """
        if not await self._leases.take_now(_work(operation)):
            return
        task = asyncio.create_task(self._run_to_completion(operation, job))
        self._running[operation] = task
        task.add_done_callback(lambda _: self._running.pop(operation, None))

    def require(self, transaction: Transaction, operation: str) -> None:
        """Abort a command of an operation unless its lease holds.

        Raises:
            LeaseLostError: If it does not.
        """
        self._leases.require(transaction, _work(operation))

    async def finish(self) -> None:
        """Wait until nothing runs."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def stop(self) -> None:
        """Cancel running work; it continues after a restart, or on another server at once."""
        given_up = [_work(operation) for operation in self._running]
        for task in list(self._running.values()):
            task.cancel()
        await self.finish()
        await self._leases.release(given_up)

    async def _run_to_completion(self, operation: str, job: Job) -> None:
        try:
            await self._leases.run(_work(operation), job())
        except LeaseLostError:
            log(logging.WARNING, "operation given up", name=operation)
            return
        except StoreError as error:
            log(logging.ERROR, "store failed", places=places_of(error))  # the next round continues
        await self._leases.release([_work(operation)])


def _work(operation: str) -> str:
    """Name of an operation as leased work."""
    return f"operation {operation}"


async def create_operation(
    context: Context,
    request: Request,
    kind: str,
    plan: Callable[[Transaction], str],
    resource: str,
    comment: str,
) -> OperationRecord:
    """Store an operation with its plan as JSON, or find the one that the same request has made."""
    parse_string(comment, "comment")

    def make(transaction: Transaction) -> str:
        planned = plan(transaction)
        operation = f"{kind}-{secrets.token_hex(8)}"
        transaction.insert_operation(OperationRecord(operation, kind, planned, request.time))
        request.audit(transaction, resource, f"{operation} {comment}".strip())
        return operation

    def command(transaction: Transaction) -> OperationRecord:
        name = request.once(transaction, lambda: make(transaction))
        return required_operation(transaction, name)

    return await context.write(command)


def required_operation(reader: Reader, operation: str) -> OperationRecord:
    """The operation of a name.

    Raises:
        NotFoundError: If there is none of that name.
    """
    record = reader.operation(operation)
    if record is None:
        raise NotFoundError(f"operations/{operation} does not exist")
    return record


# --- Benchmarks with work: only those that changed since they had none are examined

Version = tuple[datetime, int]
"""When a benchmark was created, and the revision of its record."""

HasWork = Callable[[Reader, str], bool]

MOST_EXAMINED = 100
"""Maximum number of benchmarks that one look examines: other work of the server waits for it."""


class ChangedBenchmarks:
    """Finds benchmarks with work of one kind; examines changed ones only, some with each look.

    Args:
        work: The work of that kind at this server.
        name_of: Names the work of a benchmark.
        has_work: Whether a benchmark has such work.
    """

    def __init__(
        self, work: LeasedOperations, name_of: Callable[[str], str], has_work: HasWork
    ) -> None:
        self._work = work
        self._name_of = name_of
        self._has_work = has_work
        self._settled: dict[str, Version] = {}
        self._failed: set[str] = set()
        self._found: dict[str, Version] = {}

    def due(self, reader: Reader, most: int) -> list[str]:
        """Up to `most` benchmarks with work that no server is doing."""
        versions = reader.benchmark_revisions()
        self._settled = {name: at for name, at in self._settled.items() if name in versions}
        changed = [name for name, at in versions.items() if self._settled.get(name) != at]
        if not changed:
            return []
        self._failed &= versions.keys()
        free = set(self._work.free(reader, map(self._name_of, changed)))
        available = [name for name in changed if self._name_of(name) in free]
        available.sort(key=self._failed.__contains__)
        due: list[str] = []
        for name in available[:MOST_EXAMINED]:
            if len(due) == most:
                break
            if self._examine(reader, name):
                due.append(name)
            elif name not in self._failed:
                self._settled[name] = versions[name]
        self._found = {name: versions[name] for name in due}
        return due

    def _examine(self, reader: Reader, name: str) -> bool:
        """Whether a benchmark has work.

        If it cannot be read, it is examined again after the others: it may be damaged, but the
        database may also have gone away, which tells nothing about the benchmark.
        """
        self._failed.discard(name)
        try:
            return self._has_work(reader, name)
        except Exception as error:  # noqa: BLE001 - whatever it is, the others must go on
            self._failed.add(name)
            places = places_of(error)
            log_lasting(logging.ERROR, "operation failed", name=self._name_of(name), places=places)
            return False

    def give_up(self, benchmark: str) -> None:
        """Ignore the work found for a benchmark until the benchmark changes again."""
        if benchmark in self._found:
            self._settled[benchmark] = self._found[benchmark]

    def look_again(self, benchmark: str) -> None:
        """Examine a benchmark again although it has not changed."""
        self._settled.pop(benchmark, None)
