"""Store data that is too large for one command, in parts, so that others can write in between.

It is loaded under a hidden name, whose lease is held meanwhile, and one last command shows it, so
that nobody sees a part of it. If that command never runs, because the server died, the call was
cancelled or the data does not fit, the loaded rows are freed like those of deleted benchmarks.
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
"""Maximum number of rows or batches that one command loads."""

BYTES_PER_PART = 1 << 20
"""Bytes after which a part ends; a single row or batch may have more."""


def hidden_name() -> str:
    """A name under which a benchmark is loaded, invisible until it is shown."""
    return HIDDEN + secrets.token_hex(16)


async def load_in_parts(
    context: Context,
    leases: Leases,
    parts: Callable[[str], Iterator[Part]],
    show: Callable[[Transaction, str], Result],
) -> Result:
    """Load data whole, or not at all.

    Args:
        context: The hosting context.
        leases: The leases of the server.
        parts: Yields the parts that load a benchmark of a hidden name.
        show: Shows the data loaded under the hidden name, within the last command.

    Returns:
        What `show` returns.

    Raises:
        StoreError: If the store fails, or does not answer for the duration of a lease.
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
        raise StoreError("the store did not answer in time: send it again") from None
    finally:
        await leases.release([hidden])


def in_parts(items: Iterable[Item], size_of: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield items in parts that one command loads in milliseconds.

    Args:
        items: Rows or batches.
        size_of: Returns the bytes of one.
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
