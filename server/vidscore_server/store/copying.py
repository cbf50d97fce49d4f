"""Copy a whole store into an empty one, and prove that both hold the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

from vidscore_server.store.contract import Reader, Row, Store, StoreError, Transaction
from vidscore_server.store.sql.digests import TableDigest, table_digests

Progress = Callable[[str, int, int], None]
"""Told what is being done, and how many rows of how many are done."""

ROWS_A_STEP = 1_000


class StoreNotEmptyError(StoreError):
    """There is something in the store that was to be empty."""

    reason: ClassVar[str] = "STORE_NOT_EMPTY"


class CopyDiffersError(StoreError):
    """What was read back is not what was written."""

    reason: ClassVar[str] = "COPY_DIFFERS"


def copy_store(source: Store, target: Store, progress: Progress) -> dict[str, TableDigest]:
    """Copy everything, leases of running work excepted, or nothing.

    Args:
        source: What is copied.
        target: Where to; with nothing in it.
        progress: Told how far it has come.

    Returns:
        How many rows each table has, and their digest, the same in both.

    Raises:
        StoreNotEmptyError: If there is something in the target.
        CopyDiffersError: If the copy does not hold what the source holds; nothing of it is kept.
        StoreError: If a store fails.
    """
    with target.read() as reader:
        _refuse_full(reader)
    with source.read() as reader:
        found = table_digests(_counted(reader.dump(None), "reading", 0, progress))
        total = sum(digest.row_count for digest in found.values())

        def command(transaction: Transaction) -> None:
            _refuse_full(transaction)
            transaction.load(_counted(reader.dump(None), "copying", total, progress))
            written = _counted(transaction.dump(None), "checking", total, progress)
            _refuse_other(found, table_digests(written))

        target.submit(command).result()
    return found


def _refuse_full(reader: Reader) -> None:
    if not reader.is_empty():
        raise StoreNotEmptyError(
            "there is something in the target already: name a store that is new"
        )


def _refuse_other(expected: dict[str, TableDigest], found: dict[str, TableDigest]) -> None:
    differing = [name for name in expected if expected[name] != found[name]]
    if differing:
        raise CopyDiffersError(
            f"what was written to {', '.join(differing)} reads otherwise; nothing was kept"
        )


def _counted(rows: Iterable[Row], what: str, total: int, progress: Progress) -> Iterator[Row]:
    for number, row in enumerate(rows):
        if number % ROWS_A_STEP == 0:
            progress(what, number, total)
        yield row
