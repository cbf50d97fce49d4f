"""Back up what a store keeps, and put it back: whole, or not at all.

A backup is taken of one consistent state, while everything else goes on. A benchmark comes back
beside what is there; a site comes back into an empty store alone.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import BinaryIO

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.errors import BackupError, NameTakenError, NotFoundError
from vidscore_server.hosting.backup_file import (
    BackupHeader,
    read_header,
    read_rows,
    write_backup,
)
from vidscore_server.hosting.backup_rows import understood
from vidscore_server.store.contract import AlreadyExistsError, Row, Store, Transaction
from vidscore_server.version import server_version

OF_THE_SITE = frozenset({"site", "tokens", "operations", "audit", "responses"})
"""Tables of which a benchmark's backup has no row; one with tokens would be a way in."""


def export_backup(store: Store, benchmark: str | None) -> Generator[bytes, None, None]:
    """The file of a backup, piece by piece; the state is held until the last one.

    Args:
        store: The store.
        benchmark: The benchmark; None for the whole site.

    Raises:
        NotFoundError: If there is no such benchmark.
        StoreError: If the store fails.
    """
    with store.read() as reader:
        if benchmark is not None and reader.benchmark(benchmark) is None:
            raise NotFoundError(f"benchmarks/{benchmark} does not exist")
        header = BackupHeader(
            server_version(), reader.schema(), reader.time().isoformat(), benchmark or ""
        )
        yield from write_backup(header, reader.dump(benchmark))


def load_backup(transaction: Transaction, file: BinaryIO) -> BackupHeader:
    """Add what a file holds, which must have been checked before.

    Raises:
        BackupError: If it cannot be restored here.
        NameTakenError: If a benchmark of that name is there.
    """
    header = read_header(file)
    _check_schema(header, transaction.schema())
    if not header.benchmark:
        if not transaction.is_empty():
            raise BackupError([Fault("a store that is in use", "an empty one", field="store")])
        _load(transaction, read_rows(file))
        return header
    if transaction.benchmark(header.benchmark) is not None:
        raise NameTakenError(f"benchmarks/{header.benchmark} is there already")
    _load(transaction, _only_of(header.benchmark, read_rows(file)))
    record = transaction.benchmark(header.benchmark)
    if record is None:
        raise BackupError([Fault("no such row", "the benchmark itself", field="benchmark")])
    return header


def _load(transaction: Transaction, rows: Iterator[Row]) -> None:
    """Add rows that this server understands.

    Raises:
        BackupError: If it does not, or they do not fit together.
    """
    try:
        transaction.load(understood(rows))
    except BackupError:
        raise
    except InputError as error:
        raise BackupError(error.faults) from None
    except (AlreadyExistsError, OverflowError) as error:
        found = "a row twice" if isinstance(error, AlreadyExistsError) else "a number too large"
        raise BackupError([Fault(found, "rows as a store has them", field="backup")]) from None


def _check_schema(header: BackupHeader, schema: str) -> None:
    if header.schema != schema:
        found = f"tables of revision {header.schema}, of vidscore {header.version}"
        expected = (
            f"revision {schema}: restore it with vidscore {header.version} into a store of its "
            f"own, which this version ({server_version()}) brings up to date if it is newer"
        )
        raise BackupError([Fault(found, expected, field="backup")])


def _only_of(benchmark: str, rows: Iterator[Row]) -> Iterator[Row]:
    for table, values in rows:
        if table in OF_THE_SITE or values.get("benchmark", benchmark) != benchmark:
            found = f"a row of {table}"
            raise BackupError([Fault(found, f"rows of {benchmark} alone", field="backup")])
        yield table, values
