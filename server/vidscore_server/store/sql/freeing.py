"""Delete the frames of a submission that nobody needs any more, some at a time.

A submission may have millions of frames and gigabytes of batches: deleted at once they would hold
up every other writer, and a log of the whole.
"""

from __future__ import annotations

from sqlalchemy import Connection, Select, Table, delete, select, tuple_

from vidscore_server.store.sql import tables as t

FRAMES_A_BATCH = 64
"""Rows of frames that count as much as a batch, which has a payload."""


def free_some(connection: Connection, submission_id: int, batches: int) -> bool:
    """Delete some batches or, where there are none, some frames and then their sequences.

    Args:
        connection: Where.
        submission_id: Number of the submission.
        batches: Batches to delete at most.

    Returns:
        Whether something may be left.
    """
    streams = select(t.streams.c.id).where(t.streams.c.submission_id == submission_id)
    stored = t.detection_batches.c.stream_id.in_(streams)
    wanted = select(*t.detection_batches.primary_key.columns).where(stored).limit(batches)
    if _deleted(connection, t.detection_batches, wanted):
        return True
    of_submission = t.sequences.c.submission_id == submission_id
    sequences = select(t.sequences.c.id).where(of_submission)
    noted = t.frames.c.sequence_id.in_(sequences)
    few = select(*t.frames.primary_key.columns).where(noted).limit(FRAMES_A_BATCH * batches)
    if _deleted(connection, t.frames, few):
        return True
    connection.execute(delete(t.sequences).where(of_submission))
    return False


def _deleted(connection: Connection, table: Table, keys: Select[tuple[int, int]]) -> int:
    """Delete the rows of some keys; gives how many there were."""
    wanted = tuple_(*table.primary_key.columns).in_(keys)
    return connection.execute(delete(table).where(wanted)).rowcount
