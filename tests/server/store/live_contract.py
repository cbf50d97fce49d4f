"""What every store keeps of the clocks of live submissions."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.server.store import records as r
from tests.server.store.commands import populate, put

from vidscore_server.store import SqlStore, Transaction
from vidscore_server.store.errors import NotFoundError
from vidscore_server.store.records import LiveClockRecord, LiveFrameRecord

RUN = LiveClockRecord("{}", r.NOON)
FIRST = LiveFrameRecord(0, 1, r.later(0.5))
THIRD = LiveFrameRecord(2, 2, r.later(2))


class LiveContract:
    """Part of the contract: clocks, and the frames that they have given out."""

    def test_a_clock_is_stored_and_advanced(self, store: SqlStore) -> None:
        put(store, populate)
        with store.read() as reader:
            assert reader.live_clock("b", "s") is None
        put(store, lambda t: t.put_live_clock("b", "s", RUN))
        ended = replace(RUN, event_count=3, last_position=2, end_event=3)
        put(store, lambda t: t.put_live_clock("b", "s", ended))
        with store.read() as reader:
            assert reader.live_clock("b", "s") == ended
            assert reader.live_clock("b", "none") is None

    def test_frames_are_found_by_their_positions(self, store: SqlStore) -> None:
        put(store, populate, lambda t: t.put_live_clock("b", "s", RUN))
        put(store, *(lambda t, f=f: t.put_live_frame("b", "s", f) for f in (THIRD, FIRST)))
        answered = replace(FIRST, answer_event=3, answer_time=r.later(3), answer_offset=0)
        put(store, lambda t: t.put_live_frame("b", "s", answered))
        with store.read() as reader:
            assert reader.live_frames("b", "s") == [answered, THIRD]
            assert reader.live_frame("b", "s", 2) == THIRD
            assert reader.live_frame("b", "s", 1) is None
            assert reader.live_frame_after("b", "s", 0) == THIRD
            assert reader.live_frame_after("b", "s", 2) is None

    def test_deleting_a_submission_deletes_its_clock(self, store: SqlStore) -> None:
        put(store, populate, lambda t: t.put_live_clock("b", "s", RUN))
        put(store, lambda t: t.put_live_frame("b", "s", FIRST))
        put(store, lambda t: t.delete_submission("b", "s"), populate_again)
        with store.read() as reader:
            assert reader.live_clock("b", "s") is None
            assert reader.live_frames("b", "s") == []

    def test_deleting_a_clock_keeps_its_submission(self, store: SqlStore) -> None:
        put(store, populate, lambda t: t.put_live_clock("b", "s", RUN))
        put(store, lambda t: t.put_live_frame("b", "s", FIRST))
        put(store, lambda t: t.delete_live_clock("b", "s"))
        with store.read() as reader:
            assert reader.live_clock("b", "s") is None
            assert reader.live_frames("b", "s") == []
            assert reader.submission("b", "s") is not None

    def test_the_frames_of_a_clock_are_freed_with_those_of_its_submission(
        self, store: SqlStore
    ) -> None:
        put(store, populate, lambda t: t.put_live_clock("b", "s", RUN))
        put(store, lambda t: t.put_live_frame("b", "s", FIRST))
        while store.submit(lambda t: t.free_frames("b", "s", 1)).result(60):
            pass
        with store.read() as reader:
            assert reader.live_frames("b", "s") == []
            assert reader.live_clock("b", "s") == RUN

    def test_nothing_is_stored_for_a_submission_that_does_not_exist(self, store: SqlStore) -> None:
        put(store, populate)
        for write in (
            lambda t: t.put_live_clock("b", "none", RUN),
            lambda t: t.put_live_frame("b", "none", FIRST),
        ):
            with pytest.raises(NotFoundError):
                store.submit(write).result(60)


def populate_again(transaction: Transaction) -> None:
    """Add the submission anew."""
    transaction.insert_submission(r.submission())
