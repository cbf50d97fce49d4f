"""Operations that a server works on, each under a lease: begun, led to an end, given up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from vidscore_server.hosting.leases import LeaseLostError, Leases
from vidscore_server.logs import log
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import OperationRecord

Job = Callable[[], Coroutine[Any, Any, None]]
"""Leads an operation to its end."""


class LeasedOperations:
    """The operations of some kinds that run at this server.

    Args:
        leases: The leases of the server.
        kinds: Kinds of operations.
    """

    def __init__(self, leases: Leases, kinds: tuple[str, ...]) -> None:
        """Run nothing yet."""
        self._leases = leases
        self._kinds = kinds
        self._running: dict[str, asyncio.Task[None]] = {}

    @property
    def count(self) -> int:
        """Operations that run."""
        return len(self._running)

    def waiting(self, reader: Reader) -> list[OperationRecord]:
        """Operations that are not done and that nobody works on, oldest first."""
        records = [
            record for record in reader.unfinished_operations() if record.kind in self._kinds
        ]
        free = self.free(reader, [record.operation for record in records])
        return [record for record in records if record.operation in free]

    def free(self, reader: Reader, operations: Iterable[str]) -> list[str]:
        """Those of some operations that nobody works on."""
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
            job: Leads it to its end; is given up where the lease is lost on the way.
        """
        if not await self._leases.take_now(_work(operation)):
            return
        task = asyncio.create_task(self._lead_to_end(operation, job))
        self._running[operation] = task
        task.add_done_callback(lambda _: self._running.pop(operation, None))

    def require(self, transaction: Transaction, operation: str) -> None:
        """Go on with a command of an operation only while its lease holds.

        Raises:
            LeaseLostError: If it does not.
        """
        self._leases.require(transaction, _work(operation))

    async def finish(self) -> None:
        """Wait until nothing runs."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def stop(self) -> None:
        """End what runs; it goes on when the server does, or at another one at once."""
        given_up = [_work(operation) for operation in self._running]
        for task in list(self._running.values()):
            task.cancel()
        await self.finish()
        await self._leases.let_go(given_up)

    async def _lead_to_end(self, operation: str, job: Job) -> None:
        try:
            await self._leases.run(_work(operation), job())
        except LeaseLostError:
            log(logging.WARNING, "operation given up", name=operation)
        else:
            await self._leases.let_go([_work(operation)])


def _work(operation: str) -> str:
    """What an operation is called as work to lease."""
    return f"operation {operation}"
