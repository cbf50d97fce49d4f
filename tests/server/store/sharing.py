"""What every store guarantees to servers that share it; a part of the contract, as tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec import structs
from tests.server.store import records as r
from tests.server.store.commands import append, populate, put

from vidscore_server.store import SqlStore, Transaction


class SharingContract:
    """This also holds for a store that only one server may open."""

    def test_the_store_has_a_clock(self, store: SqlStore) -> None:
        before = datetime.now(UTC)
        with store.read() as reader:
            times = [reader.time(), reader.time()]
        assert times == sorted(times)
        assert abs(times[0] - before) < timedelta(minutes=1)
        assert times[0].tzinfo is UTC

    def test_work_is_leased_to_one_owner_until_the_owner_ends_it(self, store: SqlStore) -> None:
        minute = timedelta(minutes=1)
        assert store.submit(lambda t: t.take_lease("w", "a", minute)).result(60)
        assert not store.submit(lambda t: t.take_lease("w", "b", minute)).result(60)
        assert store.submit(lambda t: t.take_lease("w", "a", minute)).result(60)
        assert store.submit(lambda t: t.take_lease("v", "b", minute)).result(60)
        with store.read() as reader:
            assert [(x.work, x.owner) for x in reader.leases()] == [("v", "b"), ("w", "a")]
        assert not store.submit(lambda t: t.end_lease("w", "b")).result(60)
        assert store.submit(lambda t: t.end_lease("w", "a")).result(60)
        assert not store.submit(lambda t: t.end_lease("w", "a")).result(60)
        assert store.submit(lambda t: t.take_lease("w", "b", minute)).result(60)

    def test_an_expired_lease_holds_nothing(self, store: SqlStore) -> None:
        assert store.submit(lambda t: t.take_lease("w", "a", timedelta(0))).result(60)
        with store.read() as reader:
            assert reader.leases() == []
        assert not store.submit(lambda t: t.end_lease("w", "a")).result(60)
        assert store.submit(lambda t: t.take_lease("w", "b", timedelta(minutes=1))).result(60)
        put(store, lambda t: t.purge(r.NOON))
        with store.read() as reader:
            assert [x.owner for x in reader.leases()] == ["b"]

    def test_revisions_are_returned_for_existing_submissions_only(self, store: SqlStore) -> None:
        put(
            store,
            populate,
            lambda t: t.update_submission(structs.replace(r.submission(), revision=7)),
        )
        with store.read() as reader:
            names = [("b", "s"), ("b", "none"), *(("none", str(n)) for n in range(500))]
            assert reader.submission_revisions(names) == {("b", "s"): 7}
            assert reader.submission_revisions([]) == {}

    def test_a_command_about_given_submissions_runs_like_any_other(self, store: SqlStore) -> None:
        put(store, populate)
        futures = [store.submit(append(n, n), about=[("b", "s")]) for n in range(20)]
        for future in futures:
            future.result(60)
        with store.read() as reader:
            assert [s.next_offset for s in reader.streams("b", "s")] == [20]

    def test_names_are_sorted_by_code_point_in_any_locale(self, store: SqlStore) -> None:
        names = ["a-z", "a0", "a-b", "ab", "a-0", "b", "aa"]

        def insert_all(transaction: Transaction) -> None:
            for name in names:
                transaction.insert_benchmark(structs.replace(r.benchmark(), benchmark=name))

        put(store, insert_all)
        with store.read() as reader:
            assert [b.benchmark for b in reader.benchmarks("", 9)] == sorted(names)
            assert [b.benchmark for b in reader.benchmarks("a-b", 9)] == sorted(names)[2:]
