"""The contract of stores, as tests: a store's tests inherit it and define the fixture `store`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec import structs
from tests.server.store import records as r
from tests.server.store.append_contract import AppendContract
from tests.server.store.commands import append, populate, put, truth
from tests.server.store.live_contract import LiveContract
from tests.server.store.removal_contract import RemovalContract
from tests.server.store.score_contract import ScoreContract

from vidscore_server.store import Reader, SqlStore, Transaction
from vidscore_server.store.errors import AlreadyExistsError, NotFoundError, StoreError
from vidscore_server.store.records import AuditFilter, AuditRecord, SubmissionState


class StoreContract(AppendContract, LiveContract, ScoreContract, RemovalContract):
    """What every store guarantees."""

    # --- commands ---------------------------------------------------------------------------

    def test_commands_run_in_the_order_of_the_queue(self, store: SqlStore) -> None:
        seen: list[int] = []
        futures = [store.submit(lambda _, n=n: seen.append(n)) for n in range(100)]  # type: ignore[misc]
        for future in futures:
            future.result(60)
        assert seen == list(range(100))

    def test_a_command_that_raises_changes_nothing(self, store: SqlStore) -> None:
        def failing(transaction: Transaction) -> None:
            transaction.insert_benchmark(r.benchmark())
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            store.submit(failing).result(60)
        with store.read() as reader:
            assert reader.benchmark("b") is None

    def test_commands_queued_together_with_a_failing_one_are_kept(self, store: SqlStore) -> None:
        gate = threading.Event()
        store.submit(lambda _: gate.wait(10))

        def failing(transaction: Transaction) -> None:
            transaction.insert_benchmark(r.benchmark("second"))
            raise ValueError("no")

        before = store.submit(lambda t: t.insert_benchmark(r.benchmark("first")))
        broken = store.submit(failing)
        after = store.submit(lambda t: t.insert_benchmark(r.benchmark("third")))
        gate.set()
        before.result(60)
        after.result(60)
        assert isinstance(broken.exception(60), ValueError)
        with store.read() as reader:
            assert [b.benchmark for b in reader.benchmarks("", 9)] == ["first", "third"]

    def test_a_command_sees_what_it_has_written(self, store: SqlStore) -> None:
        def command(transaction: Transaction) -> bool:
            transaction.insert_benchmark(r.benchmark())
            return transaction.benchmark("b") == r.benchmark()

        assert store.submit(command).result(60)

    def test_a_reader_keeps_the_state_with_which_it_began(self, store: SqlStore) -> None:
        put(store, lambda t: t.insert_benchmark(r.benchmark("first")))
        with store.read() as reader:
            assert len(reader.benchmarks("", 9)) == 1
            put(store, lambda t: t.insert_benchmark(r.benchmark("second")))
            assert len(reader.benchmarks("", 9)) == 1

    def test_a_closed_store_accepts_no_commands(self, store: SqlStore) -> None:
        store.close()
        with pytest.raises(StoreError):
            store.submit(lambda _: None)
        store.close()

    def test_a_closed_store_cannot_be_read(self, store: SqlStore) -> None:
        store.close()
        with pytest.raises(StoreError), store.read():
            pass

    def test_a_store_closes_after_its_readers_have_ended(self, store: SqlStore) -> None:
        put(store, populate)
        reading, gate, ended = threading.Event(), threading.Event(), threading.Event()

        def read() -> None:
            with store.read() as reader:
                reading.set()
                gate.wait()
                assert reader.benchmark("b") == r.benchmark()
                ended.set()

        thread = threading.Thread(target=read)
        thread.start()
        reading.wait()
        threading.Timer(0.05, gate.set).start()
        store.close()
        assert ended.is_set()
        thread.join()

    def test_commands_queued_before_the_close_are_kept(self, store: SqlStore) -> None:
        future = store.submit(populate)
        store.close()
        assert future.done()
        assert future.exception() is None

    # --- keys -------------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "insert",
        [
            lambda t: t.insert_benchmark(r.benchmark()),
            lambda t: t.insert_submission(r.submission()),
            lambda t: t.insert_truth_revision(r.truth_revision()),
            lambda t: t.insert_token(r.token()),
            lambda t: t.insert_operation(r.operation()),
            lambda t: t.put_response("t", "id", "digest", b"answer", r.NOON),
        ],
    )
    def test_a_key_is_unique(self, store: SqlStore, insert: Callable[[Transaction], None]) -> None:
        def make(transaction: Transaction) -> None:
            if transaction.benchmark("b") is None:
                transaction.insert_benchmark(r.benchmark())

        put(store, make)
        first = store.submit(insert).exception(60)
        assert first is None or isinstance(first, AlreadyExistsError)
        assert isinstance(store.submit(insert).exception(60), AlreadyExistsError)

    @pytest.mark.parametrize(
        "change",
        [
            lambda t: t.update_benchmark(r.benchmark()),
            lambda t: t.delete_benchmark("b"),
            lambda t: t.insert_truth_revision(r.truth_revision()),
            lambda t: t.add_truth_batches("b", 1, 0, [b"x"]),
            lambda t: t.show_truth_revision("~", r.truth_revision()),
            lambda t: t.insert_submission(r.submission()),
            lambda t: t.update_submission(r.submission()),
            lambda t: t.delete_submission("b", "s"),
            lambda t: t.raise_epoch("b", "s", "default"),
            lambda t: t.append_batches("b", "s", [(r.batch(), {})]),
            lambda t: t.insert_score(r.score()),
            lambda t: t.put_release(r.release()),
            lambda t: t.update_token(r.token()),
            lambda t: t.update_operation(r.operation()),
            lambda t: t.delete_operation("o"),
        ],
    )
    def test_a_missing_record_cannot_be_changed(
        self, store: SqlStore, change: Callable[[Transaction], object]
    ) -> None:
        assert isinstance(store.submit(change).exception(60), NotFoundError)

    @pytest.mark.parametrize(
        "get",
        [
            lambda reader: reader.benchmark("b"),
            lambda reader: reader.truth_revision("b", 1),
            lambda reader: reader.submission("b", "s"),
            lambda reader: reader.append_points("b", "s", ["default"]),
            lambda reader: reader.batch_at("b", "s", "default", 0),
            lambda reader: reader.token("t"),
            lambda reader: reader.operation("o"),
            lambda reader: reader.response("t", "id"),
        ],
    )
    def test_a_getter_gives_none_for_a_missing_record(
        self, store: SqlStore, get: Callable[[Reader], object]
    ) -> None:
        with store.read() as reader:
            assert get(reader) is None

    # --- what is written is read ------------------------------------------------------------

    def test_the_secret_is_32_bytes_and_stays(self, store: SqlStore) -> None:
        with store.read() as reader:
            secret = reader.secret()
        put(store, populate)
        with store.read() as reader:
            assert reader.secret() == secret
        assert len(secret) == 32

    def test_a_benchmark_is_read_as_it_was_written_last(self, store: SqlStore) -> None:
        changed = structs.replace(r.benchmark(), definition='{"a":1}', close_time=None, revision=2)
        put(store, populate, lambda t: t.update_benchmark(changed))
        with store.read() as reader:
            assert reader.benchmark("b") == changed

    def test_benchmarks_are_listed_by_name_in_pages(self, store: SqlStore) -> None:
        for name in ("c", "a", "b"):
            put(store, lambda t, name=name: t.insert_benchmark(r.benchmark(name)))  # type: ignore[misc]
        with store.read() as reader:
            assert [b.benchmark for b in reader.benchmarks("", 2)] == ["a", "b"]
            assert [b.benchmark for b in reader.benchmarks("b", 2)] == ["c"]

    def test_deleting_a_benchmark_deletes_all_its_data_except_the_audit_record(
        self, store: SqlStore
    ) -> None:
        put(
            store,
            populate,
            append(0, 1, 2),
            truth(b"x"),
            lambda t: t.insert_score(r.score()),
            lambda t: t.put_release(r.release()),
            lambda t: t.append_audit(r.audit()),
            lambda t: t.delete_benchmark("b"),
            populate,
        )
        with store.read() as reader:
            assert reader.truth_revision("b", 1) is None
            assert list(reader.detection_payloads("b", "s")) == []
            assert reader.stored_frames("b", "s", [("d", "q", 1)]) == []
            assert reader.scores("b", "s", None, 9) == []
            assert reader.releases("b", "f1") == []
            assert len(reader.audit_records(None, 9)) == 1

    def test_truth_is_read_in_the_order_of_its_upload(self, store: SqlStore) -> None:
        payloads = [f"batch {number}".encode() for number in range(40)]
        put(
            store,
            populate,
            truth(*payloads[:30]),
            lambda t: t.add_truth_batches("b", 1, 30, payloads[30:]),
            truth(b"new", revision=2),
        )
        with store.read() as reader:
            assert list(reader.truth_payloads("b", 1)) == payloads
            assert list(reader.truth_payloads("b", 2)) == [b"new"]
            assert reader.truth_revision("b", 1) == r.truth_revision()
            assert [x.revision for x in reader.truth_revisions("b", None, 9)] == [2, 1]
            assert [x.revision for x in reader.truth_revisions("b", 2, 9)] == [1]

    def test_a_submission_is_read_as_it_was_written_last(self, store: SqlStore) -> None:
        changed = structs.replace(
            r.submission(),
            state=SubmissionState.SEALED,
            state_reason="sealed_by_team",
            seal_time=r.later(5),
            frame_count=7,
            revision=3,
            attempts=1,
        )
        put(store, populate, lambda t: t.update_submission(changed))
        with store.read() as reader:
            assert reader.submission("b", "s") == changed
            assert reader.submissions_in([SubmissionState.SEALED]) == [changed]
            assert reader.submissions_in([SubmissionState.OPEN]) == []

    def test_submissions_are_listed_newest_first_in_pages_of_a_team(self, store: SqlStore) -> None:
        def insert(transaction: Transaction) -> None:
            transaction.insert_benchmark(r.benchmark())
            for name, team, seconds in (("x", "red", 0), ("z", "red", 9), ("y", "red", 9)):
                record = r.submission(name, team, r.later(seconds), frame_count=1)
                transaction.insert_submission(record)
            transaction.insert_submission(r.submission("other", "blue", frame_count=1))
            transaction.insert_submission(r.submission("without-frames", "red", r.later(9)))

        put(store, insert)
        with store.read() as reader:
            page = reader.submissions("b", "red", None, 2)
            assert [s.submission for s in page] == ["y", "z"]
            after = (page[-1].create_time, page[-1].submission)
            assert [s.submission for s in reader.submissions("b", "red", after, 2)] == ["x"]
            assert len(reader.submissions("b", None, None, 9)) == 4

    def test_failed_cancelled_and_empty_submissions_are_not_counted(self, store: SqlStore) -> None:
        def insert(transaction: Transaction) -> None:
            transaction.insert_benchmark(r.benchmark())
            for frame_count in (0, 1):
                for state in SubmissionState:
                    name = f"{state.value.replace('_', '-')}-{frame_count}"
                    transaction.insert_submission(
                        r.submission(name, state=state, sealed=r.later(10), frame_count=frame_count)
                    )
            yesterday = r.submission("yesterday", sealed=r.later(-90_000), frame_count=1)
            transaction.insert_submission(yesterday)

        put(store, insert)
        with store.read() as reader:
            assert reader.scored_count("b", "red", None) == len(SubmissionState) - 2 + 1
            assert reader.scored_count("b", "red", r.NOON) == len(SubmissionState) - 2
            assert reader.scored_count("b", "blue", None) == 0

    @pytest.mark.parametrize("state", [SubmissionState.CANCELLED, SubmissionState.FAILED])
    def test_a_submission_whose_score_was_shown_counts_however_it_ended(
        self, store: SqlStore, state: SubmissionState
    ) -> None:
        shown = structs.replace(
            r.submission(state=state, frame_count=1), state_time=r.later(1), score_shown=True
        )
        put(store, populate, lambda t: t.update_submission(shown))
        with store.read() as reader:
            assert reader.submission("b", "s") == shown
            assert reader.scored_count("b", "red", None) == 1
            assert reader.scored_count("b", "red", r.later(2)) == 0

    def test_an_open_submission_counts_from_its_first_frame(self, store: SqlStore) -> None:
        """It was created yesterday, and its first frame arrived today."""
        receiving = structs.replace(
            r.submission(created=r.later(-90_000), state=SubmissionState.RECEIVING, frame_count=1),
            state_time=r.later(1),
        )
        put(store, populate, lambda t: t.update_submission(receiving))
        with store.read() as reader:
            assert reader.scored_count("b", "red", r.NOON) == 1
            assert reader.scored_count("b", "red", r.later(2)) == 0

    def test_a_deleted_submission_is_removed_completely_and_its_name_is_free(
        self, store: SqlStore
    ) -> None:
        put(
            store,
            populate,
            lambda t: t.raise_epoch("b", "s", "default"),
            lambda t: t.delete_submission("b", "s"),
        )
        with store.read() as reader:
            assert reader.submission("b", "s") is None
            assert reader.streams("b", "s") == []
        put(store, lambda t: t.insert_submission(r.submission()))
        opened = store.submit(lambda t: t.raise_epoch("b", "s", "default")).result(60)
        assert (opened.epoch, opened.next_offset) == (1, 0)

    # --- scores, releases, tokens, operations, audit, responses -------------------------------

    def test_tokens_are_listed_newest_first_in_pages(self, store: SqlStore) -> None:
        for name, seconds in (("x", 0), ("z", 9), ("y", 9)):
            put(store, lambda t, n=name, s=seconds: t.insert_token(r.token(n, r.later(s))))  # type: ignore[misc]
        with store.read() as reader:
            page = reader.tokens(None, 2)
            assert [t.token for t in page] == ["y", "z"]
            before = (page[-1].create_time, page[-1].token)
            assert [t.token for t in reader.tokens(before, 2)] == ["x"]

    def test_a_revoked_token_has_the_time_of_its_revocation(self, store: SqlStore) -> None:
        revoked = structs.replace(r.token(), revoke_time=r.later(1))
        put(store, lambda t: t.insert_token(r.token()), lambda t: t.update_token(revoked))
        with store.read() as reader:
            assert reader.token("t") == revoked

    def test_operations_that_are_not_done_are_found(self, store: SqlStore) -> None:
        put(
            store,
            lambda t: t.insert_operation(r.operation("b")),
            lambda t: t.insert_operation(r.operation("a", done=True)),
        )
        with store.read() as reader:
            assert [o.operation for o in reader.unfinished_operations()] == ["b"]
            assert [o.operation for o in reader.operations("", 9)] == ["a", "b"]
            assert [o.operation for o in reader.operations("a", 9)] == ["b"]
        put(
            store,
            lambda t: t.update_operation(structs.replace(r.operation("b"), done=True, result="[]")),
        )
        put(store, lambda t: t.delete_operation("a"))
        with store.read() as reader:
            assert reader.unfinished_operations() == []
            assert reader.operations("", 9) == [
                structs.replace(r.operation("b"), done=True, result="[]")
            ]

    def test_audit_records_are_numbered_from_1_and_listed_newest_first(
        self, store: SqlStore
    ) -> None:
        for action in ("one", "two", "three"):
            put(store, lambda t, action=action: t.append_audit(r.audit(action)))  # type: ignore[misc]
        with store.read() as reader:
            assert [a.action for a in reader.audit_records(None, 2)] == ["three", "two"]
            assert reader.audit_records(2, 9) == [structs.replace(r.audit("one"), number=1)]

    def test_the_audit_records_of_a_resource_include_those_below_it_from_a_given_time(
        self, store: SqlStore
    ) -> None:
        names = ("x/s", "x/s/streams/t", "x/s-2", "x/s0", "x/S", "x/s/streams/t", "x/s")
        for minute, resource in enumerate(names):
            record = AuditRecord(r.NOON + timedelta(minutes=minute), "a", "act", resource)
            put(store, lambda t, record=record: t.append_audit(record))  # type: ignore[misc]
        with store.read() as reader:
            assert [a.number for a in reader.audit_of("x/s", r.NOON, 9)] == [7, 6, 2, 1]
            later = r.NOON + timedelta(minutes=2)
            assert [a.number for a in reader.audit_of("x/s", later, 9)] == [7, 6]
            assert [a.number for a in reader.audit_of("x/s", r.NOON, 3)] == [7, 6, 2]

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (AuditFilter(), [5, 4, 3, 2, 1]),
            (AuditFilter(resource="benchmarks/b"), [4, 3, 1]),
            (AuditFilter(actor="tokens/1"), [4, 1]),
            (AuditFilter(action="Seal"), [5, 4]),
            (AuditFilter(since=r.NOON + timedelta(minutes=2)), [5, 4, 3]),
            (AuditFilter(until=r.NOON + timedelta(minutes=2)), [2, 1]),
            (AuditFilter("benchmarks/b", "server", "Score", r.NOON), [3]),
        ],
    )
    def test_a_filter_of_the_audit_record_leaves_out_what_does_not_match(
        self, store: SqlStore, wanted: AuditFilter, found: list[int]
    ) -> None:
        """A benchmark's records are its own and those of its parts, matched by whole names."""
        entries = [
            ("tokens/1", "Create", "benchmarks/b"),
            ("server", "Score", "benchmarks/bb"),
            ("server", "Score", "benchmarks/b/submissions/s"),
            ("tokens/1", "Seal", "benchmarks/b/submissions/s"),
            ("tokens/2", "Seal", "benchmarks/b_/submissions/s"),
        ]
        for minute, (actor, action, resource) in enumerate(entries):
            record = AuditRecord(r.NOON + timedelta(minutes=minute), actor, action, resource)
            put(store, lambda t, record=record: t.append_audit(record))  # type: ignore[misc]
        with store.read() as reader:
            assert [a.number for a in reader.audit_records(None, 9, wanted)] == found
            assert [a.number for a in reader.audit_records(found[0], 1, wanted)] == found[1:2]

    def test_a_response_is_kept_for_its_caller(self, store: SqlStore) -> None:
        put(store, lambda t: t.put_response("t", "id", "digest", b"answer", r.NOON))
        with store.read() as reader:
            assert reader.response("t", "id") == ("digest", b"answer")
            assert reader.response("other", "id") is None

    def test_old_responses_are_purged(self, store: SqlStore) -> None:
        put(
            store,
            lambda t: t.put_response("t", "old", "digest", b"answer", r.NOON),
            lambda t: t.put_response("t", "new", "digest", b"answer", r.later(2)),
            lambda t: t.purge(r.later(1)),
        )
        with store.read() as reader:
            assert reader.response("t", "old") is None
            assert reader.response("t", "new") is not None
