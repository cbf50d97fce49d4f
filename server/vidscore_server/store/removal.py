"""Delete the rows of submissions and benchmarks, in parts, and those of teams.

There may be millions of frames and gigabytes of batches: deleting them at once would block every
other writer, and all clients that wait for an acknowledgement.
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
"""Number of frame rows that take about as long to delete as a batch with its payload."""

BYTES_PER_BATCH = 64 << 10
"""Payload bytes that take about as long: SQLite may overwrite deleted data with zeros."""

_CHILDREN_FIRST = tuple(reversed(TABLES.values()))


def delete_frames(connection: Connection, submission_id: int, batches: int) -> bool:
    """Delete batches of a submission, then its frames, sequences and given-out frames.

    Args:
        connection: The database.
        submission_id: Number of the submission.
        batches: Maximum work, as the number of batches of usual size that take as long.

    Returns:
        Whether anything may be left.
    """
    tables = (t.detection_batches, t.frames, t.sequences, t.live_frames)
    return _delete_rows(connection, tables, t.submissions, submission_id, batches) >= batches


def delete_remains(connection: Connection, now: int, batches: int) -> bool:
    """Delete a part of the hidden benchmarks on which no server works.

    Args:
        connection: The database.
        now: The time, in microseconds since 1970.
        batches: As in `delete_frames`.

    Returns:
        Whether anything may be left.
    """
    # An ended lease is deleted, whatever the clock does later, because removal has begun.
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


def delete_team(connection: Connection, team: str) -> dict[str, int]:
    """Delete all that belongs to a team, at once: no server may use the store.

    Returns:
        Number of deleted rows of each table; rows that belong to them are not counted.
    """
    own = select(t.tokens.c.token).where(t.tokens.c.team == team)
    connection.execute(delete(t.responses).where(t.responses.c.caller.in_(own)))
    connection.execute(delete(t.releases).where(t.releases.c.team == team))
    return {
        table.name: connection.execute(delete(table).where(table.c.team == team)).rowcount
        for table in (t.submissions, t.tokens, t.invitations)
    }


def _delete_next(connection: Connection, benchmark_id: int, batches: int) -> int:
    """Delete as much as allowed of a submission or a truth revision, or else the benchmark.

    Returns:
        Its work in batches, at least 1.
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
    """Delete rows that belong to a row, table by table, as many as are still allowed.

    Returns:
        Its work in batches; fewer than `batches` if nothing is left.
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
