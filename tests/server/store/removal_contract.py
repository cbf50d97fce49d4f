"""What every store does with hidden benchmarks: nobody sees them, and they are changed in parts."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from msgspec import structs
from sqlalchemy import func, select
from tests.server.store import records as r
from tests.server.store.commands import append, derive, populate, put, truth

from vidscore_server.store import SqlStore, Transaction
from vidscore_server.store.dump import TABLES
from vidscore_server.store.reader import Reader
from vidscore_server.store.records import (
    HIDDEN,
    RowNumbers,
    SubmissionState,
)
from vidscore_server.store.tables import to_microseconds


def fill(store: SqlStore) -> None:
    """A benchmark with a row in each table that holds data of benchmarks."""
    put(
        store,
        populate,
        append(0, 1, 2),
        append(2, 3),
        truth(b"one", b"two"),
        derive,
    )


def stored(store: SqlStore) -> Counter[str]:
    """Number of rows of each non-empty table, except the site's own tables."""
    with store.read() as reader:
        counts = {
            name: reader._connection.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in TABLES.items()
            if name != "site"
        }
    return Counter({name: count for name, count in counts.items() if count})


def free(store: SqlStore, batches: int) -> bool:
    """Free at most this many batches of deleted benchmarks; whether anything may be left."""
    return store.submit(lambda t: t.free_remains(batches)).result(60)


class RemovalContract:
    """Part of the contract: a deleted benchmark is invisible at once, and freed later."""

    def test_no_query_over_the_whole_site_sees_a_deleted_benchmark(self, store: SqlStore) -> None:
        def cancelled(transaction: Transaction) -> None:
            states = (SubmissionState.CANCELLED, SubmissionState.SEALED)
            for state in states:
                record = r.submission(state.value, state=state, frame_count=1)
                transaction.insert_submission(structs.replace(record, byte_count=7))

        fill(store)
        put(store, cancelled)
        with store.read() as reader:
            assert reader.cancelled_with_bytes(9) == [("b", "cancelled")]
            assert len(reader.queue(SubmissionState, None, 9)) == 3
            assert not reader.has_hidden()
        put(store, lambda t: t.delete_benchmark("b"))
        with store.read() as reader:
            assert reader.benchmark("b") is None
            assert reader.benchmarks("", 9) == []
            assert reader.benchmark_revisions() == {}
            assert reader.submissions_in(SubmissionState) == []
            assert reader.queue(SubmissionState, None, 9) == []
            assert reader.state_counts() == {}
            assert reader.cancelled_with_bytes(9) == []
            assert {table for table, _ in reader.dump(None)} == {"site"}
            assert reader.has_hidden()

    def test_deleted_benchmarks_are_freed_completely_and_others_are_kept(
        self, store: SqlStore
    ) -> None:
        fill(store)
        one = stored(store)
        put(store, lambda t: t.delete_benchmark("b"))
        fill(store)
        put(store, lambda t: t.delete_benchmark("b"))
        fill(store)
        assert stored(store) == Counter({name: 3 * count for name, count in one.items()})
        while free(store, 64):
            pass
        assert stored(store) == one
        with store.read() as reader:
            assert [b for b, _ in reader.detection_payloads("b", "s")] == [b"payload", b"payload"]
            assert list(reader.truth_payloads("b", 1)) == [b"one", b"two"]
            assert not reader.has_hidden()

    def test_a_deleted_team_leaves_only_what_belongs_to_others(self, store: SqlStore) -> None:
        put(
            store,
            lambda t: t.insert_benchmark(r.benchmark()),
            lambda t: t.insert_submission(r.submission("other", "blue")),
            lambda t: t.insert_token(structs.replace(r.token("other"), team="blue")),
            lambda t: t.put_release(r.release("blue")),
            lambda t: t.put_tiers(r.tiers(exact=True)),
            lambda t: t.put_response("other", "id", "digest", b"answer", r.NOON),
            truth(b"one", b"two"),
        )
        others = stored(store)
        put(
            store,
            lambda t: t.insert_submission(r.submission()),
            lambda t: t.raise_epoch("b", "s", "default"),
            append(0, 1, 2),
            derive,
            lambda t: t.insert_token(r.token()),
            lambda t: t.put_response("t", "id", "digest", b"answer", r.NOON),
            lambda t: t.append_audit(r.audit()),
        )
        deleted = store.submit(lambda t: t.delete_team("red")).result(60)
        assert deleted == {"submissions": 1, "tokens": 1, "invitations": 0}
        assert stored(store) == others + Counter(audit=1)

    def test_a_part_is_as_large_as_requested(self, store: SqlStore) -> None:
        """Two batches, or a single large one: each further 64 KiB counts as another batch."""

        def large(transaction: Transaction) -> None:
            for offset, size in enumerate((1, 1, 65536, 1, 1, 1)):
                batch = r.batch(offset, payload=bytes(size))
                transaction.append_batches("b", "s", [(batch, {})])

        put(store, populate, large, lambda t: t.delete_benchmark("b"))
        left = []
        while free(store, 2):
            left.append(stored(store)["detection_batches"])
        assert left[:4] == [4, 3, 1, 0]

    def test_rows_without_a_payload_count_64_to_a_batch(self, store: SqlStore) -> None:
        put(store, populate, append(0, *range(200)), lambda t: t.delete_benchmark("b"))
        left = []
        while free(store, 1):
            left.append(stored(store)["frames"])
        assert [count for count in left if count not in {0, 200}] == [136, 72, 8]

    def test_a_part_continues_with_the_next_table_up_to_its_limit(self, store: SqlStore) -> None:
        """Three frames count as a batch, which leaves room for one of three."""
        appends = [append(offset, offset) for offset in range(3)]
        put(store, populate, *appends, lambda t: t.delete_benchmark("b"))
        assert free(store, 2)
        assert (stored(store)["frames"], stored(store)["detection_batches"]) == (0, 2)

    def test_nothing_is_freed_if_nothing_was_deleted(self, store: SqlStore) -> None:
        fill(store)
        before = stored(store)
        assert not free(store, 64)
        assert stored(store) == before

    def test_data_loaded_under_a_hidden_name_is_visible_once_it_is_shown(
        self, store: SqlStore
    ) -> None:
        """Loaded in two parts, beside a benchmark of the same submission; later numbers stay."""
        fill(store)
        late = structs.replace(r.submission("late"), revision=1 << 60, activity_time=r.later(1e10))
        put(store, lambda t: t.insert_submission(late))
        with store.read() as reader:
            rows = list(reader.dump("b"))
            before = reader.time()
        hidden = f"{HIDDEN}x"
        named = [
            (table, {**values, "benchmark": hidden} if table == "benchmarks" else values)
            for table, values in rows
        ]
        numbers: RowNumbers = {}
        put(store, lambda t: t.load(named[:7], numbers), lambda t: t.load(named[7:], numbers))
        with store.read() as reader:
            assert [record.benchmark for record in reader.benchmarks("", 9)] == ["b"]
        put(store, lambda t: t.show_benchmark(hidden, "c"))
        least = to_microseconds(before)
        with store.read() as reader:
            assert [record.benchmark for record in reader.benchmarks("", 9)] == ["b", "c"]
            assert not reader.has_hidden()
            old, new = reader.submission("b", "s"), reader.submission("c", "s")
            benchmark = reader.benchmark("c")
            assert old is not None
            assert new is not None
            assert benchmark is not None
            assert (old.revision, old.activity_time) == (1, r.NOON)
            assert new.revision >= least // 1000
            assert new.activity_time >= before
            assert benchmark.revision >= least // 1000
            kept = reader.submission("c", "late")
            assert kept == structs.replace(late, benchmark="c")
            assert [b for b, _ in reader.detection_payloads("c", "s")] == [b"payload", b"payload"]
            assert list(reader.truth_payloads("c", 1)) == [b"one", b"two"]

    def test_loaded_truth_belongs_to_its_benchmark_once_it_is_shown(self, store: SqlStore) -> None:
        """Nothing remains under the hidden name."""
        hidden, shown = f"{HIDDEN}x", r.truth_revision(2)
        fill(store)
        before = stored(store)
        put(
            store,
            lambda t: t.insert_benchmark(r.benchmark(hidden)),
            lambda t: t.insert_truth_revision(r.truth_revision(1, hidden)),
            lambda t: t.add_truth_batches(hidden, 1, 0, [b"three"]),
            lambda t: t.add_truth_batches(hidden, 1, 1, [b"four"]),
        )
        with store.read() as reader:
            assert reader.truth_revision("b", 2) is None
        put(store, lambda t: t.show_truth_revision(hidden, shown))
        with store.read() as reader:
            assert reader.truth_revision("b", 2) == shown
            assert list(reader.truth_payloads("b", 2)) == [b"three", b"four"]
            assert list(reader.truth_payloads("b", 1)) == [b"one", b"two"]
            assert not reader.has_hidden()
        assert stored(store) == before + Counter(truth_revisions=1, truth_batches=2)

    def test_a_hidden_benchmark_is_kept_while_its_lease_is_held(
        self, store: SqlStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Once the lease has ended it may always be freed, even if the clock goes back."""
        hidden, minute = f"{HIDDEN}x", timedelta(minutes=1)
        put(
            store,
            lambda t: t.insert_benchmark(r.benchmark(hidden)),
            lambda t: t.take_lease(hidden, "a", minute),
            lambda t: t.take_lease("other work", "a", minute),
        )
        assert not free(store, 1)
        assert stored(store) == Counter({"benchmarks": 1})
        with store.read() as reader:
            later = reader.time() + 2 * minute
        with monkeypatch.context() as ahead:
            ahead.setattr(Reader, "time", lambda _: later)
            while free(store, 1):
                pass
        assert stored(store) == Counter()
        assert not store.submit(lambda t: t.end_lease(hidden, "a")).result(60)
        assert store.submit(lambda t: t.end_lease("other work", "a")).result(60)
