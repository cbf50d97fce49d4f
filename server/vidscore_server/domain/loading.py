"""Store what is too much for one command, a part at a time: others write in between.

It is loaded under a hidden name, whose lease is held meanwhile, and shown by one last command:
nobody sees a part of it. If that does not come, because the server died, the call was given up or
what was loaded does not fit, it is freed like what deleted benchmarks leave.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from vidscore_server.domain.context import Context
from vidscore_server.domain.leases import LeaseLostError, Leases
from vidscore_server.store import Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import HIDDEN, HIDDEN_ROWS

Item = TypeVar("Item")
Result = TypeVar("Result")

Part = Callable[[Transaction], None]
"""Loads a part within a command."""

ITEMS_PER_PART = 256
"""Rows or batches that one command loads at most."""

BYTES_PER_PART = 1 << 20
"""Bytes after which a part ends; one row or batch may have more."""


def hidden_name() -> str:
    """A name under which a benchmark is loaded: nobody sees it before it is shown."""
    return HIDDEN + secrets.token_hex(16)


async def load_in_parts(
    context: Context,
    leases: Leases,
    parts: Callable[[str], Iterator[Part]],
    show: Callable[[Transaction, str], Result],
) -> Result:
    """Load something whole, or not at all.

    Args:
        context: The hosting context.
        leases: The leases of the server.
        parts: Yields what loads a benchmark of a hidden name, part by part.
        show: Shows what was loaded under the hidden name, within the last command.

    Returns:
        What `show` returns.

    Raises:
        StoreError: If the store fails, or did not answer for as long as a lease holds.
    """
    hidden = hidden_name()

    async def load() -> Result:
        loading = parts(hidden)
        while (part := await asyncio.to_thread(next, loading, None)) is not None:

            def command(transaction: Transaction, part: Part = part) -> None:
                leases.require(transaction, hidden)
                part(transaction)

            await context.write(command, about=[HIDDEN_ROWS])

        def last_command(transaction: Transaction) -> Result:
            leases.end(transaction, hidden)
            return show(transaction, hidden)

        return await context.write(last_command)

    await leases.take_now(hidden)
    try:
        return await leases.run(hidden, load())
    except LeaseLostError:
        raise StoreError("the store did not answer for too long: send it again") from None
    finally:
        await leases.release([hidden])


def in_parts(items: Iterable[Item], size_of: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield items in parts that one command loads in milliseconds.

    Args:
        items: Rows or batches.
        size_of: Bytes of one.
    """
    part: list[Item] = []
    byte_count = 0
    for item in items:
        part.append(item)
        byte_count += size_of(item)
        if len(part) == ITEMS_PER_PART or byte_count >= BYTES_PER_PART:
            yield part
            part, byte_count = [], 0
    if part:
        yield part
