"""PostgreSQL fulfils the contract of stores, for several servers at once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec import structs
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import text
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from tests.server.store import records as r
from tests.server.store.commands import populate, put
from tests.server.store.contract import StoreContract
from tests.server.store.sharing import SharingContract
from tests.support.postgresql import Cluster

from vidscore_evaluators.errors import MissingExtraError
from vidscore_server.store import SqlStore, Transaction, open_store, postgresql
from vidscore_server.store.errors import StoreError, StoreMissingError
from vidscore_server.store.records import ServingRecord

pytestmark = pytest.mark.slow

TIMEOUT_S = 120
SERVERS = 3
COMMANDS = 60

Command = Callable[[Transaction], object]


@pytest.fixture
def store(database: str) -> Iterator[SqlStore]:
    with closing(open_store(database)) as opened:
        yield opened


@pytest.fixture
def stores(database: str) -> Iterator[list[SqlStore]]:
    """The same store, opened by several servers."""
    opened = [open_store(database) for _ in range(SERVERS)]
    put(opened[0], populate)
    yield opened
    for store in opened:
        store.close()


class TestPostgresqlStore(StoreContract, SharingContract):
    """The contract."""


# --- several servers --------------------------------------------------------------------------


def test_concurrent_read_and_write_commands_of_several_servers_lose_nothing(
    stores: list[SqlStore],
) -> None:
    put(stores[0], lambda t: t.insert_operation(structs.replace(r.operation(), progress="0")))

    def count(transaction: Transaction) -> None:
        found = transaction.operation("o")
        assert found is not None
        transaction.update_operation(structs.replace(found, progress=str(int(found.progress) + 1)))

    _run_everywhere(stores, count)
    with stores[0].read() as reader:
        found = reader.operation("o")
    assert found is not None
    assert found.progress == str(SERVERS * COMMANDS)


def test_appends_of_several_servers_to_one_stream_follow_each_other(stores: list[SqlStore]) -> None:
    """Each appends at the end that it finds; if they overlapped, both would find the same."""

    def append(transaction: Transaction) -> None:
        point = transaction.append_points("b", "s", ["default"])
        assert point is not None
        submission, stream = point[0], point[1]["default"]
        batch = r.batch(stream.next_offset, 1)
        transaction.append_batches("b", "s", [(batch, {("d", "q"): [stream.next_offset]})])
        counted = structs.replace(submission, frame_count=submission.frame_count + 1)
        transaction.update_submission(counted)

    _run_everywhere(stores, append, about=("b", "s"))
    with stores[1].read() as reader:
        point = reader.append_points("b", "s", ["default"])
    assert point is not None
    assert (point[0].frame_count, point[1]["default"].next_offset) == (SERVERS * COMMANDS,) * 2


def test_a_limit_checked_before_inserting_holds_between_servers(stores: list[SqlStore]) -> None:
    def insert(transaction: Transaction) -> None:
        count = transaction.scored_count("b", "red", None)
        if count < 10:
            transaction.insert_submission(r.submission(f"s{count}", frame_count=1))

    _run_everywhere(stores, insert)
    with stores[0].read() as reader:
        assert reader.scored_count("b", "red", None) == 10


def test_only_commands_for_the_same_submission_wait_for_each_other(stores: list[SqlStore]) -> None:
    first, second, third = stores
    go_on, begun = threading.Event(), threading.Event()

    def hold(transaction: Transaction) -> None:
        del transaction
        begun.set()
        assert go_on.wait(TIMEOUT_S)

    held = first.submit(hold, about=[("b", "s")])
    try:
        assert begun.wait(TIMEOUT_S)
        second.submit(lambda _: None, about=[("b", "another")]).result(TIMEOUT_S)
        same = second.submit(lambda _: None, about=[("b", "another"), ("b", "s")])
        anything = third.submit(lambda _: None)
        for waiting in (same, anything):
            _still_waits(waiting)
    finally:
        go_on.set()
    wait([held, same, anything], TIMEOUT_S)
    assert held.exception() is same.exception() is anything.exception() is None


def test_all_servers_see_the_same_secret_and_clock(stores: list[SqlStore]) -> None:
    assert all(store.shared for store in stores)
    secrets = set()
    times = []
    for store in stores:
        with store.read() as reader:
            secrets.add(reader.secret())
            times.append(reader.time())
    assert len(secrets) == 1
    assert times == sorted(times)


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_command_sees_what_it_waited_for_whatever_the_default_isolation_of_the_database(
    database: str, cluster: Cluster, level: str
) -> None:
    name = conninfo_to_dict(database)["dbname"]
    with cluster.connect("postgres") as connection:
        setting = f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'"
        connection.execute(setting.encode())
    begun, go_on = threading.Event(), threading.Event()

    def insert_slowly(transaction: Transaction) -> None:
        begun.set()
        assert go_on.wait(TIMEOUT_S)
        transaction.insert_submission(r.submission("s2"))

    with closing(open_store(database)) as first, closing(open_store(database)) as second:
        put(first, populate)
        inserted = first.submit(insert_slowly)
        assert begun.wait(TIMEOUT_S)
        found = second.submit(lambda transaction: transaction.submission("b", "s2"))
        _still_waits(found)
        go_on.set()
        inserted.result(TIMEOUT_S)
        assert found.result(TIMEOUT_S) == r.submission("s2")


def test_servers_of_a_new_site_may_write_its_first_heartbeat_at_the_same_moment(
    stores: list[SqlStore],
) -> None:
    written, other_begun = threading.Event(), threading.Event()
    beat = ServingRecord(r.NOON, r.later(1))

    def write_first(transaction: Transaction) -> None:
        transaction.put_serving(beat)
        written.set()
        other_begun.wait(TIMEOUT_S)
        threading.Event().wait(0.2)  # the other one waits for this commit by then

    def write_meanwhile(transaction: Transaction) -> None:
        assert written.wait(TIMEOUT_S)
        other_begun.set()
        transaction.put_serving(beat)

    first, second, _ = stores
    for future in (first.submit(write_first, ()), second.submit(write_meanwhile, ())):
        future.result(TIMEOUT_S)
    with second.read() as reader:
        assert reader.serving() == beat


def _run_everywhere(
    stores: list[SqlStore], command: Command, about: tuple[str, str] | None = None
) -> None:
    scope = None if about is None else [about]
    futures: list[Future[object]] = []
    for _ in range(COMMANDS):
        futures.extend(store.submit(command, scope) for store in stores)
    for future in futures:
        future.result(TIMEOUT_S)


def _still_waits(future: Future[Any]) -> None:
    with pytest.raises(TimeoutError):
        future.result(0.2)


# --- connections ------------------------------------------------------------------------------


_END_CONNECTIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'vidscore'"
)


def test_broken_connections_are_replaced(store: SqlStore, cluster: Cluster) -> None:
    put(store, populate)
    with cluster.connect("postgres") as connection:
        connection.execute(_END_CONNECTIONS)
    with store.read() as reader:
        assert reader.submission("b", "s") == r.submission()
    put(store, lambda t: t.insert_submission(r.submission("s2")))


def test_the_log_says_why_the_database_takes_no_connection(
    store: SqlStore, database: str, cluster: Cluster, caplog: pytest.LogCaptureFixture
) -> None:
    """Such as too many connections, or a changed password; clients are told nothing of it."""
    caplog.set_level("WARNING", "vidscore_server")
    name = conninfo_to_dict(database)["dbname"]
    with cluster.connect("postgres") as connection:
        connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        connection.execute(_END_CONNECTIONS)
    with pytest.raises(StoreError, match="does not answer at the moment"), store.read():
        pass
    cause = vars(caplog.records[-1])["fields"]["cause"]
    assert cause.endswith(f'FATAL: database "{name}" is not currently accepting connections')


def test_a_connection_that_breaks_in_a_command_fails_all_commands_of_the_commit(
    store: SqlStore,
) -> None:
    put(store, populate)

    def cut(transaction: Transaction) -> None:
        transaction.insert_submission(r.submission("s2"))
        backend = text("SELECT pg_terminate_backend(pg_backend_pid())")
        transaction._connection.execute(backend)

    refused = store.submit(cut).exception(TIMEOUT_S)
    assert isinstance(refused, StoreError)
    assert "try again" in str(refused)
    with store.read() as reader:
        assert reader.submission("b", "s2") is None
    put(store, lambda t: t.insert_submission(r.submission("s2")))


def test_a_connection_that_breaks_during_preparation_is_reported_like_any_other(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise psycopg.OperationalError("the connection is closed")

    put(store, populate)
    with monkeypatch.context() as patch:
        patch.setattr(PGDialect_psycopg, "set_readonly", broken)
        with pytest.raises(StoreError, match="try again"), store.read():
            pass
    with store.read() as reader:
        assert reader.submission("b", "s") == r.submission()


def test_the_number_of_connections_is_bounded(
    database: str, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "POOL_TIMEOUT_S", 0.2)
    with closing(open_store(database, 3)) as store:
        put(store, populate)
        with store.read(), store.read(), cluster.connect("postgres") as connection:
            with pytest.raises(StoreError, match="busy"), store.read():
                pass
            put(store, lambda t: t.insert_submission(r.submission("s2")))
            query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'vidscore'"
            counted = connection.execute(query).fetchone()
            assert counted is not None
            assert counted[0] == 3


def test_a_commit_waits_for_the_disk_even_if_the_database_is_configured_not_to(
    database: str,
) -> None:
    with closing(open_store(f"{database}&options=-csynchronous_commit%3Doff")) as store:
        setting = text("SELECT current_setting('synchronous_commit')")
        found = store.submit(lambda t: t._connection.execute(setting).scalar())
        assert found.result(TIMEOUT_S) == "on"


def test_a_reader_may_wait_for_the_client_of_a_backup_longer_than_a_writer_may_keep_locks(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgresql._SESSION, "idle_in_transaction_session_timeout", "100ms")
    with closing(open_store(database)) as store, store.read() as reader:
        secret = reader.secret()
        time.sleep(0.5)
        assert reader.secret() == secret


def test_a_command_that_waits_too_long_asks_to_try_again(stores: list[SqlStore]) -> None:
    go_on, begun = threading.Event(), threading.Event()

    def hold(_: Transaction) -> None:
        begun.set()
        assert go_on.wait(TIMEOUT_S)

    first, second, _ = stores
    put(second, lambda t: t._connection.execute(text("SET lock_timeout = '100ms'")))
    held = first.submit(hold)
    try:
        assert begun.wait(TIMEOUT_S)
        refused = second.submit(lambda _: None).exception(TIMEOUT_S)
    finally:
        go_on.set()
    held.result(TIMEOUT_S)
    assert isinstance(refused, StoreError)
    assert "too busy" in str(refused)


# --- what cannot be opened --------------------------------------------------------------------


def test_a_database_that_does_not_answer_is_named_without_the_password(tmp_path: Path) -> None:
    address = f"postgresql://me:hidden@/site?host={tmp_path}&sslpassword=hidden"
    with pytest.raises(StoreError, match="postgresql:///site cannot be opened: ") as caught:
        open_store(address)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql://me:hidden@127.0.0.1:port/d", "cannot be opened"),
        ("postgresql://me@h/d?password=hidden&no=1", "expected postgresql://"),
        ("postgresql://me:hidden@127.0.0.1:1/d?sslmode=perhaps", "sslmode"),
    ],
)
def test_an_invalid_address_is_named_without_the_password(address: str, told: str) -> None:
    with pytest.raises(StoreError, match=told) as caught:
        open_store(address)
    assert "hidden" not in str(caught.value)


def test_without_psycopg_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "vidscore_server.store.postgresql")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'vidscore\[postgresql\]'"):
        open_store("postgresql://localhost/site")


def test_a_database_without_a_store_is_refused_and_left_unchanged(database: str) -> None:
    with pytest.raises(StoreMissingError, match="vidscore init --store postgresql://"):
        open_store(database, must_exist=True)
    with psycopg.connect(database) as connection:
        made = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
        assert made.fetchone() == (0,)
    open_store(database).close()
    open_store(database, must_exist=True).close()


def test_a_postgresql_that_is_too_old_is_refused(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "MINIMUM_VERSION", 99)
    with pytest.raises(StoreError, match="is too old: expected 99 or later"):
        open_store(database)


def test_a_database_that_cannot_hold_every_name_is_refused(cluster: Cluster) -> None:
    options = "TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'"
    with pytest.raises(StoreError, match="ENCODING 'UTF8'"):
        open_store(cluster.database(options))


def test_a_role_that_may_not_create_tables_is_reported(cluster: Cluster, database: str) -> None:
    with cluster.connect("postgres") as connection:
        connection.execute("DROP ROLE IF EXISTS guest")
        connection.execute("CREATE ROLE guest LOGIN")
    with pytest.raises(StoreError, match="permission denied for schema public"):
        open_store(database.replace("vidscore@", "guest@"))


def test_sites_in_separate_schemas_share_a_database_and_nothing_else(
    database: str, cluster: Cluster
) -> None:
    name = database.partition("?")[0].rpartition("/")[2]
    with cluster.connect(name) as connection:
        connection.execute("CREATE SCHEMA one")
        connection.execute("CREATE SCHEMA two")
    addresses = [f"{database}&options=-csearch_path%3D{schema}" for schema in ("one", "two")]
    with closing(open_store(addresses[0])) as one, closing(open_store(addresses[1])) as two:
        put(one, populate)
        put(two, populate)
        secrets = set()
        for store in (one, two):
            with store.read() as reader:
                secrets.add(reader.secret())
        assert len(secrets) == 2
