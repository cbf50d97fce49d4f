"""Delete what submissions and benchmarks have stored, a part at a time.

There may be millions of frames and gigabytes of batches: deleting them at once would hold up every
other writer, and with it all who wait for an acknowledgement.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Table,
    delete,
    exists,
    func,
    literal,
    select,
    tuple_,
)

from vidscore_server.store import tables as t
from vidscore_server.store.dump import TABLES, belongs_to
from vidscore_server.store.records import HIDDEN

FRAMES_PER_BATCH = 64
"""Frame rows that take about as long to delete as a batch with its payload."""

BYTES_PER_BATCH = 64 << 10
"""Bytes of a payload that take about as long: SQLite may write zeros over what it deletes."""

_CHILDREN_FIRST = tuple(reversed(TABLES.values()))


def delete_frames(connection: Connection, submission_id: int, batches: int) -> bool:
    """Delete batches of a submission, then frames, sequences and what was given out.

    Args:
        connection: The database.
        submission_id: Number of the submission.
        batches: What to delete at most, as the number of usual batches that take as long.

    Returns:
        Whether anything may be left.
    """
    tables = (t.detection_batches, t.frames, t.sequences, t.live_frames)
    return _delete_rows(connection, tables, t.submissions, submission_id, batches) >= batches


def delete_remains(connection: Connection, now: int, batches: int) -> bool:
    """Delete a part of hidden benchmarks on which nobody works.

    Args:
        connection: The database.
        now: The time, in microseconds since 1970.
        batches: As of `delete_frames`.

    Returns:
        Whether anything may be left.
    """
    # A lease that has ended ends for good, whatever becomes of the clock: removal has begun.
    ended = delete(t.leases).where(t.leases.c.work >= HIDDEN, t.leases.c.end_time <= now)
    connection.execute(ended)
    is_leased = exists().where(t.leases.c.work == t.benchmarks.c.benchmark)
    first = select(func.min(t.benchmarks.c.id)).where(t.IS_HIDDEN, ~is_leased)
    while batches > 0:
        benchmark_id = connection.execute(first).scalar()
        if benchmark_id is None:
            return False
        batches -= _delete_next(connection, benchmark_id, batches)
    return True


def _delete_next(connection: Connection, benchmark_id: int, batches: int) -> int:
    """Delete of a submission or a revision of the truth what there is room for, or the benchmark.

    Returns:
        As how many batches it counts, at least 1.
    """
    for root in (t.submissions, t.truth_revisions):
        first = select(func.min(root.c.id)).where(root.c.benchmark_id == benchmark_id)
        number = connection.execute(first).scalar()
        if number is not None:
            return _delete_rows(connection, _CHILDREN_FIRST, root, number, batches)
    return _delete_rows(connection, _CHILDREN_FIRST, t.benchmarks, benchmark_id, batches)


def _delete_rows(
    connection: Connection, tables: Iterable[Table], root: Table, number: int, batches: int
) -> int:
    """Delete what belongs to a row: of a table as much as the ones before it have left room for.

    Returns:
        As how many batches it counts; nothing is left where these are fewer than `batches`.
    """
    done = 0
    for table in tables:
        own = belongs_to(table, root, root.c.id == number)
        if own is not None and done < batches:
            done += _delete_some(connection, table, own, batches - done)
    return done


def _delete_some(
    connection: Connection, table: Table, own: ColumnElement[bool], batches: int
) -> int:
    key = table.primary_key.columns
    payloads = [column for column in table.c if isinstance(column.type, LargeBinary)]
    if not payloads:
        keys = select(*key).where(own).limit(FRAMES_PER_BATCH * batches)
        gone = connection.execute(delete(table).where(tuple_(*key).in_(keys))).rowcount
        return -(-gone // FRAMES_PER_BATCH)
    size = sum((func.coalesce(func.length(column), 0) for column in payloads), literal(0))
    rows = connection.execute(select(*key, size).where(own).limit(batches)).all()
    counts = [0, *accumulate(1 + row[-1] // BYTES_PER_BATCH for row in rows)]
    some = [tuple(row[:-1]) for row in rows[: bisect_left(counts, batches)]]
    if some:
        connection.execute(delete(table).where(tuple_(*key).in_(some)))
    return int(counts[len(some)])
