"""Restore a benchmark into a running server, a part at a time: others write in between.

It is loaded under a hidden name, whose lease is held meanwhile, and gets its own in one last
command: nobody sees a part of it. Where that does not come, because the server died, the call was
given up or the backup does not fit, what was loaded is freed like what deleted benchmarks leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from vidscore_evaluators.errors import Fault
from vidscore_server.domain.backups import (
    check_rows,
    hidden_name,
    load,
    refuse_taken,
    rows_under,
    show,
)
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.leases import LeaseLostError, Leases
from vidscore_server.domain.names import benchmark_name
from vidscore_server.errors import BackupError
from vidscore_server.store import Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import HIDDEN_ROWS, Row, RowNumbers

ROWS_PER_PART = 256
"""Rows that one command loads at most."""

BYTES_PER_PART = 1 << 20
"""Bytes of texts and payloads after which a part ends; one row may have more."""


async def import_benchmark(
    context: Context, leases: Leases, request: Request, file: BinaryIO
) -> str:
    """Restore a benchmark: whole, or not at all.

    Args:
        context: The hosting context.
        leases: The leases of the server.
        request: The request.
        file: The backup.

    Returns:
        Name of the benchmark.

    Raises:
        BackupError: If the backup is damaged, of a whole site, or of another version.
        NameTakenError: If a benchmark of that name is there, or comes meanwhile.
        StoreError: If the store fails, or did not answer for as long as a lease holds.
    """
    schema = await context.read(lambda reader: reader.schema())
    header = await asyncio.to_thread(check_rows, file, schema)
    if not header.benchmark:
        expected = "that of a benchmark: a site is restored with vidscore restore --store"
        raise BackupError([Fault("the backup of a whole site", expected, field="backup")])
    await context.read(lambda reader: refuse_taken(reader, header.benchmark))
    hidden = hidden_name()

    async def restore() -> None:
        await _load(context, leases, hidden, rows_under(hidden, header, file))

        def command(transaction: Transaction) -> None:
            leases.end(transaction, hidden)
            show(transaction, hidden, header.benchmark)
            request.audit(transaction, benchmark_name(header.benchmark))

        await context.write(command)

    await leases.take_now(hidden)
    try:
        await leases.run(hidden, restore())
    except LeaseLostError:
        raise StoreError("the store did not answer for too long: import it again") from None
    finally:
        await leases.release([hidden])
    return header.benchmark


async def _load(context: Context, leases: Leases, hidden: str, rows: Iterable[Row]) -> None:
    """Load all rows, while the lease holds."""
    numbers: RowNumbers = {}
    parts = in_parts(rows)
    while (part := await asyncio.to_thread(next, parts, None)) is not None:

        def command(transaction: Transaction, part: list[Row] = part) -> None:
            leases.require(transaction, hidden)
            load(transaction, part, numbers)

        await context.write(command, about=[HIDDEN_ROWS])


def in_parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield rows in parts that one command loads in milliseconds."""
    part: list[Row] = []
    byte_count = 0
    for table, values in rows:
        part.append((table, values))
        byte_count += sum(len(value) for value in values.values() if isinstance(value, bytes | str))
        if len(part) == ROWS_PER_PART or byte_count >= BYTES_PER_PART:
            yield part
            part, byte_count = [], 0
    if part:
        yield part
