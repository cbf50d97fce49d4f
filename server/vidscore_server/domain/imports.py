"""Restore a benchmark into a running server, a part at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

from vidscore_evaluators.errors import Fault
from vidscore_server.domain.backups import check_rows, load, refuse_taken, rows_under, show
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.leases import Leases
from vidscore_server.domain.loading import Part, in_parts, load_in_parts
from vidscore_server.domain.names import benchmark_name
from vidscore_server.errors import BackupError
from vidscore_server.store import Transaction
from vidscore_server.store.records import Row, RowNumbers


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
        NameTakenError: If a benchmark of that name exists, or is created meanwhile.
        StoreError: If the store fails, or does not answer for the duration of a lease.
    """
    schema = await context.read(lambda reader: reader.schema())
    header = await asyncio.to_thread(check_rows, file, schema)
    if not header.benchmark:
        expected = "that of a benchmark: a site is restored with vidscore restore --store"
        raise BackupError([Fault("the backup of a whole site", expected, field="backup")])
    await context.read(lambda reader: refuse_taken(reader, header.benchmark))

    def parts(hidden: str) -> Iterator[Part]:
        numbers: RowNumbers = {}
        for rows in in_parts(rows_under(hidden, header, file), _size_of):
            yield partial(load, rows=rows, numbers=numbers)

    def show_it(transaction: Transaction, hidden: str) -> None:
        show(transaction, hidden, header.benchmark)
        request.audit(transaction, benchmark_name(header.benchmark))

    await load_in_parts(context, leases, parts, show_it)
    return header.benchmark


def _size_of(row: Row) -> int:
    """Bytes of the texts and payloads of a row."""
    return sum(len(value) for value in row[1].values() if isinstance(value, bytes | str))
