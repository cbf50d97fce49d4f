"""Queries and statements about the clocks of live submissions."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ScalarSelect, delete, insert, select, update

from vidscore_server.store import tables as t
from vidscore_server.store.errors import NotFoundError
from vidscore_server.store.records import LiveClockRecord, LiveFrameRecord
from vidscore_server.store.tables import RecordReader, to_row


class LiveReader(RecordReader):
    """The part of a state of the store that knows the clocks; see `Reader`."""

    def live_clock(self, benchmark: str, submission: str) -> LiveClockRecord | None:
        """The clock of a submission; None where it has not started."""
        number = _number(benchmark, submission)
        query = select(t.live_clocks).where(t.live_clocks.c.submission_id == number)
        return self._one(query, LiveClockRecord)

    def live_frames(self, benchmark: str, submission: str) -> list[LiveFrameRecord]:
        """The frames that a submission's clock has given out, in order."""
        c = t.live_frames.c
        query = select(t.live_frames).where(c.submission_id == _number(benchmark, submission))
        return self._all(query.order_by(c.position), LiveFrameRecord)

    def live_frame(self, benchmark: str, submission: str, position: int) -> LiveFrameRecord | None:
        """One frame that a submission's clock has given out; None where it has not."""
        c = t.live_frames.c
        own = c.submission_id == _number(benchmark, submission)
        query = select(t.live_frames).where(own, c.position == position)
        return self._one(query, LiveFrameRecord)

    def live_frame_after(
        self, benchmark: str, submission: str, position: int
    ) -> LiveFrameRecord | None:
        """The next frame that a submission's clock has given out; None where there is none."""
        c = t.live_frames.c
        own = c.submission_id == _number(benchmark, submission)
        query = select(t.live_frames).where(own, c.position > position)
        return self._one(query.order_by(c.position).limit(1), LiveFrameRecord)


class LiveWriter(LiveReader):
    """The part of a transaction that writes clocks; see `Transaction`."""

    def put_live_clock(self, benchmark: str, submission: str, record: LiveClockRecord) -> None:
        """Add the clock of a submission, or replace its record.

        Raises:
            NotFoundError: If there is no such submission.
        """
        number, row = self._required(benchmark, submission), to_row(record)
        own = t.live_clocks.c.submission_id == number
        if not self._connection.execute(update(t.live_clocks).where(own).values(row)).rowcount:
            self._connection.execute(insert(t.live_clocks).values(row | {"submission_id": number}))

    def put_live_frame(self, benchmark: str, submission: str, record: LiveFrameRecord) -> None:
        """Add a frame that was given out, or replace its record.

        Raises:
            NotFoundError: If there is no such submission.
        """
        number, row = self._required(benchmark, submission), to_row(record)
        c = t.live_frames.c
        own = (c.submission_id == number) & (c.position == record.position)
        if not self._connection.execute(update(t.live_frames).where(own).values(row)).rowcount:
            self._connection.execute(insert(t.live_frames).values(row | {"submission_id": number}))

    def delete_live_clock(self, benchmark: str, submission: str) -> None:
        """Delete the clock of a submission, if it has one, with what it has given out."""
        number = _number(benchmark, submission)
        for table in (t.live_frames, t.live_clocks):
            self._connection.execute(delete(table).where(table.c.submission_id == number))

    def _required(self, benchmark: str, submission: str) -> int:
        found = self._connection.execute(select(_number(benchmark, submission))).scalar()
        if found is None:
            raise NotFoundError(f"submission {submission} of benchmark {benchmark}")
        return int(found)


def _number(benchmark: str, submission: str) -> ScalarSelect[Any]:
    """Row number of a submission."""
    return (
        select(t.submissions.c.id)
        .join(t.benchmarks, t.benchmarks.c.id == t.submissions.c.benchmark_id)
        .where(t.benchmarks.c.benchmark == benchmark, t.submissions.c.submission == submission)
        .scalar_subquery()
    )
