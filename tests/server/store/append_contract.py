"""The part of the store contract that covers appends."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import structs
from tests.server.store import records as r
from tests.server.store.commands import append, populate, put

from vidscore_server.store import SqlStore, Transaction
from vidscore_server.store.errors import AlreadyExistsError, NotFoundError
from vidscore_server.store.records import Holdings, SubmissionState


class AppendContract:
    """What every store guarantees for appends."""

    def test_opening_a_stream_raises_its_epoch_and_keeps_its_offset(self, store: SqlStore) -> None:
        put(store, populate, append(0, 1, 2))
        stream = store.submit(lambda t: t.raise_epoch("b", "s", "default")).result(60)
        assert (stream.epoch, stream.next_offset) == (2, 2)

    def test_an_append_advances_the_offset_and_stores_the_batch(self, store: SqlStore) -> None:
        put(store, populate, append(0, 1, 2), append(2, 3))
        with store.read() as reader:
            point = reader.append_points("b", "s", ["default"])
            assert point is not None
            assert point[0] == r.submission()
            assert {name: stream.next_offset for name, stream in point[1].items()} == {"default": 3}
            assert [s.next_offset for s in reader.streams("b", "s")] == [3]
            found = reader.batch_at("b", "s", "default", 1)
            assert found == structs.replace(r.batch(0, 2), payload=b"")
            assert reader.batch_at("b", "s", "default", 3) is None

    def test_a_submission_has_boolean_flags_however_it_is_looked_up(self, store: SqlStore) -> None:
        put(store, populate)
        with store.read() as reader:
            point, found = reader.append_points("b", "s", []), reader.submission("b", "s")
        assert point is not None
        assert found is not None
        assert {type(record.chosen) for record in (point[0], found)} == {bool}
        assert {type(record.score_shown) for record in (point[0], found)} == {bool}

    def test_a_batch_may_have_an_unknown_arrival_time(self, store: SqlStore) -> None:
        unknown = structs.replace(r.batch(), arrival_time=None)
        put(store, populate, lambda t: t.append_batches("b", "s", [(unknown, {("d", "q"): [1]})]))
        with store.read() as reader:
            assert reader.batch_at("b", "s", "default", 0) == structs.replace(unknown, payload=b"")

    def test_an_append_finds_those_of_its_streams_that_exist(self, store: SqlStore) -> None:
        put(store, populate, lambda t: t.raise_epoch("b", "s", "other"))
        with store.read() as reader:
            point = reader.append_points("b", "s", ["other", "nobody's", "default"])
            assert point is not None
            assert point[1] == {stream.stream: stream for stream in reader.streams("b", "s")}
            assert reader.append_points("b", "s", ["nobody's"]) == (r.submission(), {})

    def test_the_source_position_is_stored_with_its_frames_or_not_at_all(
        self, store: SqlStore
    ) -> None:
        def positions() -> dict[str, str]:
            with store.read() as reader:
                return {entry.stream: entry.source_position for entry in reader.streams("b", "s")}

        def write(first: int, frame: int, position: str | None) -> None:
            batch = [(r.batch(first, 1), {("d", "q"): [frame]})]
            given = {} if position is None else {"default": position}
            put(store, lambda t: t.append_batches("b", "s", batch, given))

        put(store, populate)
        assert positions() == {"default": ""}
        write(0, 7, "byte 40")
        write(1, 8, None)
        assert positions() == {"default": "byte 40"}
        with pytest.raises(AlreadyExistsError):
            write(2, 7, "byte 80")
        assert positions() == {"default": "byte 40"}

    @pytest.mark.parametrize("count", [1, 2, 63, 64, 131])
    def test_any_number_of_batches_is_stored_unchanged(self, store: SqlStore, count: int) -> None:
        """Many rows are written at a time, in any order."""

        def write(transaction: Transaction) -> None:
            for stream in names:
                transaction.raise_epoch("b", "s", stream)
            batches = [
                (r.batch(0, 2, stream, stream.encode()), {("d", stream): [9, 7]})
                for stream in names
            ]
            transaction.append_batches("b", "s", batches)

        names = [f"t{number:03d}" for number in range(count)]
        put(store, populate, write)
        with store.read() as reader:
            found = [payload for payload, _ in reader.detection_payloads("b", "s")]
            assert found == [name.encode() for name in names]
            ends = {stream.stream: stream.next_offset for stream in reader.streams("b", "s")}
            assert ends == {"default": 0, **dict.fromkeys(names, 2)}
            assert reader.frame_counts("b", "s") == {("d", name): 2 for name in names}
            point = reader.append_points("b", "s", names)
            assert point is not None
            assert [point[1][name].next_offset for name in names] == [2] * count

    def test_a_frame_is_stored_once_per_submission_over_all_its_streams(
        self, store: SqlStore
    ) -> None:
        put(store, populate, append(0, 1), lambda t: t.raise_epoch("b", "s", "other"))
        refused = store.submit(append(0, 2, 1, stream="other")).exception(60)
        assert isinstance(refused, AlreadyExistsError)
        with store.read() as reader:
            asked = [("d", "q", 2), ("d", "q", 1), ("d", "r", 1)]
            assert reader.stored_frames("b", "s", asked) == [("d", "q", 1)]
            assert [s.next_offset for s in reader.streams("b", "s")] == [1, 0]

    def test_the_same_frame_may_be_in_two_submissions(self, store: SqlStore) -> None:
        put(store, populate, append(0, 1))

        def other(transaction: Transaction) -> None:
            transaction.insert_submission(r.submission("s2"))
            transaction.raise_epoch("b", "s2", "default")
            transaction.append_batches("b", "s2", [(r.batch(), {("d", "q"): [1]})])

        put(store, other)
        with store.read() as reader:
            assert reader.stored_frames("b", "s2", [("d", "q", 1)]) == [("d", "q", 1)]

    def test_an_append_to_a_stream_that_was_never_opened_is_refused(self, store: SqlStore) -> None:
        put(store, populate)
        assert isinstance(store.submit(append(0, 1, stream="x")).exception(60), NotFoundError)

    def test_many_frames_are_found_again(self, store: SqlStore) -> None:
        frames = range(0, 3000, 2)
        put(store, populate, append(0, *frames))
        with store.read() as reader:
            asked = [("d", "q", number) for number in range(3000)]
            assert [f[2] for f in reader.stored_frames("b", "s", asked)] == list(frames)

    def test_frames_are_counted_by_sequence(self, store: SqlStore) -> None:
        def other(transaction: Transaction) -> None:
            batch = r.batch(2, 3)
            transaction.append_batches("b", "s", [(batch, {("d", "r"): [1, 2], ("", "q"): [1]})])

        put(store, populate)
        with store.read() as reader:
            assert reader.frame_counts("b", "s") == {}
        put(store, append(0, 1, 7), other)
        with store.read() as reader:
            assert reader.frame_counts("b", "s") == {("d", "q"): 2, ("d", "r"): 2, ("", "q"): 1}
            assert reader.frame_counts("b", "unknown") == {}

    def test_batches_of_several_streams_are_added_together_or_not_at_all(
        self, store: SqlStore
    ) -> None:
        def both(number: int) -> Callable[[Transaction], None]:
            def command(transaction: Transaction) -> None:
                transaction.raise_epoch("b", "s", "other")
                offset = 0 if number == 1 else 2
                batches = [
                    (r.batch(offset, 2), {("d", "q"): [number, number + 1]}),
                    (r.batch(offset, 1, "other"), {("d", "q"): [number + 2]}),
                ]
                transaction.append_batches("b", "s", batches)

            return command

        put(store, populate, both(1))
        assert isinstance(store.submit(both(3)).exception(60), AlreadyExistsError)
        with store.read() as reader:
            found = {stream.stream: stream.next_offset for stream in reader.streams("b", "s")}
            assert found == {"default": 2, "other": 1}
            assert reader.frame_counts("b", "s") == {("d", "q"): 3}

    def test_batches_are_read_by_stream_and_offset(self, store: SqlStore) -> None:
        def write(transaction: Transaction) -> None:
            transaction.raise_epoch("b", "s", "a")
            for offset, stream in ((0, "default"), (0, "a"), (1, "default"), (1, "a")):
                payload = f"{stream} {offset}".encode()
                frames = {("d", stream): [offset]}
                transaction.append_batches(
                    "b", "s", [(r.batch(offset, 1, stream, payload), frames)]
                )

        put(store, populate, write)
        with store.read() as reader:
            found = [payload for payload, _ in reader.detection_payloads("b", "s")]
            middle = [payload for payload, _ in reader.detection_payloads("b", "s", 1, 2)]
            last = [payload for payload, _ in reader.detection_payloads("b", "s", 3)]
            later = [list(reader.payloads_from("b", "s", "default", offset)) for offset in (1, 2)]
        assert found == [b"a 0", b"a 1", b"default 0", b"default 1"]
        assert (middle, last) == ([b"a 1", b"default 0"], [b"default 1"])
        assert [[payload for payload, _ in found] for found in later] == [[b"default 1"], []]

    def test_frames_are_freed_in_steps_and_the_record_and_its_streams_stay(
        self, store: SqlStore
    ) -> None:
        """Three batches, two at a time; then their frames, until nothing is left."""
        put(store, populate, append(0, 1), append(1, 2), append(2, 3))
        given_up = structs.replace(
            r.submission(state=SubmissionState.CANCELLED, frame_count=3), byte_count=21
        )
        put(store, lambda t: t.update_submission(given_up))
        with store.read() as reader:
            assert reader.cancelled_with_bytes(9) == [("b", "s")]
            assert reader.holdings("b", "red") == Holdings(0, 21)
        steps = [store.submit(lambda t: t.free_frames("b", "s", 2)) for _ in range(3)]
        left = [step.result(60) for step in steps]
        assert left == [True, True, False]
        with store.read() as reader:
            assert list(reader.detection_payloads("b", "s")) == []
            assert reader.frame_counts("b", "s") == {}
            assert [stream.next_offset for stream in reader.streams("b", "s")] == [3]
            assert reader.submission("b", "s") == structs.replace(given_up, byte_count=0)
            assert reader.cancelled_with_bytes(9) == []
            assert reader.holdings("b", "red") == Holdings(0, 0)

    def test_holdings_count_open_submissions_and_the_bytes_of_all(self, store: SqlStore) -> None:
        scored = structs.replace(r.submission("scored", state=SubmissionState.SCORED), byte_count=5)
        begun = structs.replace(
            r.submission("begun", state=SubmissionState.RECEIVING), byte_count=7
        )
        theirs = structs.replace(r.submission("theirs", team="blue"), byte_count=100)
        put(store, populate)
        for record in (scored, begun, theirs):
            put(store, lambda t, record=record: t.insert_submission(record))  # type: ignore[misc]
        with store.read() as reader:
            assert reader.holdings("b", "red") == Holdings(2, 12)
            assert reader.holdings("b", "nobody") == Holdings(0, 0)
