"""A store is copied completely and verified, or not at all; between SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import structs
from tests.server.store import records as r
from tests.server.store.commands import append, derive, populate, put, truth
from tests.support.varieties import mostly_nightly

from vidscore_server.store import SqlStore, Transaction, dump, open_store
from vidscore_server.store.dump import copy_store
from vidscore_server.store.errors import CopyDiffersError, StoreNotEmptyError
from vidscore_server.store.records import InvitationRecord

INVITATION = InvitationRecord("i", b"hash", "red", "", r.NOON, r.later(60))
WAYS = [("file", "database"), ("database", "file"), ("file", "file"), ("database", "database")]

New = Callable[[str], SqlStore]


@pytest.fixture
def new(tmp_path: Path, cluster: object) -> Iterator[New]:
    """Opens a new store of a kind."""
    with ExitStack() as stores:

        def make(kind: str) -> SqlStore:
            number = len(list(tmp_path.glob("*.db")))
            location = str(tmp_path / f"{number}.db") if kind == "file" else cluster.database()  # type: ignore[attr-defined]
            return stores.enter_context(closing(open_store(location)))

        yield make


def fill(store: SqlStore) -> None:
    """Insert rows into every table, with gaps in the numbers that the store assigns."""

    def forgotten(transaction: Transaction) -> None:
        transaction.insert_benchmark(structs.replace(r.benchmark(), benchmark="gone"))
        transaction.insert_submission(structs.replace(r.submission(), benchmark="gone"))

    put(
        store,
        forgotten,
        lambda t: t.delete_benchmark("gone"),
        populate,
        append(0, 1, 2),
        append(2, 3),
        truth(b"one", b"\0two"),
        derive,
        lambda t: t.insert_token(r.token()),
        lambda t: t.insert_operation(r.operation()),
        lambda t: t.append_audit(r.audit("täter 日本")),
        lambda t: t.insert_invitation(INVITATION),
        lambda t: t.put_response("t", "id", "digest", b"answer", r.NOON),
        lambda t: t.take_lease("w", "a", timedelta(minutes=1)),
    )


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), mostly_nightly(WAYS, gate=2, unpacked=True))
def test_a_copy_has_all_rows_and_continues_the_numbers_of_the_original(
    new: New, source: str, target: str
) -> None:
    original, copied = new(source), new(target)
    fill(original)
    told: list[tuple[str, int, int]] = []
    digests = copy_store(original, copied, lambda *step: told.append(step))
    assert {name for name, digest in digests.items() if digest.row_count == 0} == set()
    assert digests["frames"].row_count == 3
    total = sum(digest.row_count for digest in digests.values())
    assert told == [("reading", 0, 0), ("copying", 0, total), ("checking", 0, total)]
    with original.read() as before, copied.read() as after:
        assert after.secret() == before.secret()
        assert after.submission("b", "s") == before.submission("b", "s")
        payloads = list(after.detection_payloads("b", "s"))
        assert payloads == list(before.detection_payloads("b", "s"))
        assert list(after.truth_payloads("b", 1)) == [b"one", b"\0two"]
        assert [a.action for a in after.audit_records(None, 9)] == ["täter 日本"]
        assert after.leases() == []
        assert before.has_hidden()  # It stays in the original.
        assert not after.has_hidden()
    put(
        copied,
        append(3, 4),
        lambda t: t.insert_benchmark(structs.replace(r.benchmark(), benchmark="next")),
        lambda t: t.append_audit(r.audit("next")),
    )


@pytest.mark.slow
def test_a_store_copied_there_and_back_has_the_same_digests(new: New) -> None:
    first, second, third = new("file"), new("database"), new("file")
    fill(first)
    there = copy_store(first, second, lambda *_: None)
    assert copy_store(second, third, lambda *_: None) == there


@pytest.mark.parametrize("target", ["file", "database"])
def test_a_target_that_is_not_empty_is_refused_and_unchanged(new: New, target: str) -> None:
    original, other = new("file"), new(target)
    fill(original)
    put(other, lambda t: t.append_audit(r.audit("mine")))
    with pytest.raises(StoreNotEmptyError):
        copy_store(original, other, lambda *_: None)
    with other.read() as reader:
        assert [a.action for a in reader.audit_records(None, 9)] == ["mine"]
        assert reader.benchmark("b") is None


@pytest.mark.parametrize(
    ("target", "table", "changed"),
    [("file", "frames", None), ("database", "frames", None), ("file", "audit", {"action": "x"})],
)
def test_a_copy_that_differs_is_abandoned_and_leaves_nothing(
    new: New,
    target: str,
    table: str,
    changed: dict[str, str] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the rows of a table, or with another value in one."""
    original, copied = new("file"), new(target)
    fill(original)
    counted = dump._counted

    def differing(rows: object, what: str, *more: object) -> object:
        for name, values in counted(rows, what, *more):  # type: ignore[arg-type]
            if what != "copying" or name != table:
                yield name, values
            elif changed is not None:
                yield name, values | changed

    monkeypatch.setattr(dump, "_counted", differing)
    with pytest.raises(CopyDiffersError, match=f"what was written to {table} is not"):
        copy_store(original, copied, lambda *_: None)
    with copied.read() as reader:
        assert reader.is_empty()
