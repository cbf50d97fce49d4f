"""Queries and statements about the clocks of live submissions; a frame may come every few ms."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Executable, bindparam, delete, func, select

from vidscore_server.store import tables as t
from vidscore_server.store.appends import Appends
from vidscore_server.store.lookups import find_submission_id
from vidscore_server.store.prepared import Prepared, put_row
from vidscore_server.store.records import LiveClockRecord, LiveFrameRecord
from vidscore_server.store.tables import RecordReader, from_values, to_row

Record = TypeVar("Record", bound=Struct)

_CLOCK_NAMES = LiveClockRecord.__struct_fields__
_FRAME_NAMES = LiveFrameRecord.__struct_fields__


def _build_clock(_: str) -> Executable:
    c = t.live_clocks.c
    columns = (c[name] for name in _CLOCK_NAMES)
    return select(*columns).where(c.submission_id == bindparam("submission"))


def _build_frame(_: str) -> Executable:
    """The first frame from one position to another."""
    c = t.live_frames.c
    own = c.submission_id == bindparam("submission")
    between = c.position.between(bindparam("first"), bindparam("last"))
    first = select(func.min(c.position)).where(own, between).scalar_subquery()
    return select(*(c[name] for name in _FRAME_NAMES)).where(own, c.position == first)


_CLOCK = Prepared(_build_clock)
_FRAME = Prepared(_build_frame)
_PUT_CLOCK = Prepared(put_row(t.live_clocks, ("submission_id", *_CLOCK_NAMES)))
_PUT_FRAME = Prepared(put_row(t.live_frames, ("submission_id", *_FRAME_NAMES)))

_NOWHERE = (1 << 63) - 1
"""A position after every other."""


class LiveReader(RecordReader):
    """Queries of clocks, as part of a state of the store; see `Reader`."""

    def live_clock(self, benchmark: str, submission: str) -> LiveClockRecord | None:
        """The clock of a submission; None if it has not started."""
        number = self._number(benchmark, submission)
        return self._found(LiveClockRecord, _CLOCK, {"submission": number})

    def live_frames(self, benchmark: str, submission: str) -> list[LiveFrameRecord]:
        """The frames given out by a submission's clock, in order."""
        c = t.live_frames.c
        own = c.submission_id == self._number(benchmark, submission)
        query = select(t.live_frames).where(own).order_by(c.position)
        return self._all(query, LiveFrameRecord)

    def live_frame(self, benchmark: str, submission: str, position: int) -> LiveFrameRecord | None:
        """One frame given out by a submission's clock; None if it was not given out."""
        return self._frame(benchmark, submission, position, position)

    def live_frame_after(
        self, benchmark: str, submission: str, position: int
    ) -> LiveFrameRecord | None:
        """The next frame given out by a submission's clock; None if there is none."""
        return self._frame(benchmark, submission, position + 1, _NOWHERE)

    def _frame(
        self, benchmark: str, submission: str, first: int, last: int
    ) -> LiveFrameRecord | None:
        row = {"submission": self._number(benchmark, submission), "first": first, "last": last}
        return self._found(LiveFrameRecord, _FRAME, row)

    def _found(
        self, record: type[Record], statement: Prepared, row: dict[str, Any]
    ) -> Record | None:
        values = statement.first(self._connection, row)
        return None if values is None else from_values(record, values)

    def _number(self, benchmark: str, submission: str) -> int | None:
        """Row number of a submission; None if there is none."""
        return find_submission_id(self._connection, benchmark, submission)


class LiveWriter(Appends, LiveReader):
    """Writes of clocks, as part of a transaction; mutators raise as those of `Appends`."""

    def put_live_clock(self, benchmark: str, submission: str, record: LiveClockRecord) -> None:
        """Add the clock of a submission, or replace its record."""
        row = to_row(record) | {"submission_id": self._submission_id(benchmark, submission)}
        _PUT_CLOCK.run(self._connection, row)

    def put_live_frame(self, benchmark: str, submission: str, record: LiveFrameRecord) -> None:
        """Add a frame that was given out, or replace its record."""
        row = to_row(record) | {"submission_id": self._submission_id(benchmark, submission)}
        _PUT_FRAME.run(self._connection, row)

    def delete_live_clock(self, benchmark: str, submission: str) -> None:
        """Delete the clock of a submission, if any, with the frames that it has given out."""
        number = self._submission_id(benchmark, submission)
        for table in (t.live_frames, t.live_clocks):
            self._connection.execute(delete(table).where(table.c.submission_id == number))

    def _number(self, benchmark: str, submission: str) -> int | None:
        """As in any state, but with the transaction's cached row numbers."""
        known = self._ids.get((benchmark, submission))
        return super()._number(benchmark, submission) if known is None else known
