"""Store commands for tests."""

from __future__ import annotations

from collections.abc import Callable

from tests.server.store import records as r

from vidscore_server.store import SqlStore, Transaction
from vidscore_server.store.records import LiveClockRecord, LiveFrameRecord


def put(store: SqlStore, *commands: Callable[[Transaction], object]) -> None:
    """Run commands one after the other, each in its own commit."""
    for command in commands:
        store.submit(command).result(60)


def populate(transaction: Transaction) -> None:
    """A benchmark with a submission and an opened stream."""
    transaction.insert_benchmark(r.benchmark())
    transaction.insert_submission(r.submission())
    transaction.raise_epoch("b", "s", "default")


def derive(transaction: Transaction) -> None:
    """A row in each table that holds results or the live clock of a populated benchmark."""
    transaction.insert_score(r.score())
    transaction.put_failed_rescoring("b", "s", "basis")
    transaction.put_release(r.release())
    transaction.put_score_draws(r.score_draws())
    transaction.put_tiers(r.tiers(exact=True))
    transaction.put_live_clock("b", "s", LiveClockRecord("{}", r.NOON))
    transaction.put_live_frame("b", "s", LiveFrameRecord(0, 1, r.later(1)))


def truth(*payloads: bytes, revision: int = 1) -> Callable[[Transaction], None]:
    """Inserts a revision of the truth with its batches."""

    def command(transaction: Transaction) -> None:
        transaction.insert_truth_revision(r.truth_revision(revision))
        transaction.add_truth_batches("b", revision, 0, payloads)

    return command


def append(offset: int, *frames: int, stream: str = "default") -> Callable[[Transaction], None]:
    """Appends frames of one sequence."""

    def command(transaction: Transaction) -> None:
        batch = r.batch(offset, len(frames), stream)
        transaction.append_batches("b", "s", [(batch, {("d", "q"): frames})])

    return command
