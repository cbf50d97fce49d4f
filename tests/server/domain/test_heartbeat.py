"""A site records that it serves: outages do not count as idle, and a read-only store is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from grpc_health.v1 import health_pb2, health_pb2_grpc
from msgspec import structs
from tests.crash.servers import KilledServer
from tests.server.domain.hosted import Hosted, PlayedClock, hosting
from tests.server.domain.sky import batch, truth
from tests.server.store import records as r

from vidscore_cli.session import ExitCode
from vidscore_protos.v1 import server_service_pb2, server_service_pb2_grpc
from vidscore_server.api import batches
from vidscore_server.domain.benchmarks import Benchmarks, to_json
from vidscore_server.domain.context import Context, StoreClock, open_context
from vidscore_server.domain.definition import definition_from_dict
from vidscore_server.domain.expirer import Expirer
from vidscore_server.domain.schedule import GRACE, Heartbeat
from vidscore_server.domain.submissions import Submissions
from vidscore_server.settings import load_settings
from vidscore_server.store import Reader, SqlStore, Transaction, sql_store
from vidscore_server.store.records import SubmissionState
from vidscore_server.store.sqlite import open_sqlite_store

TIMEOUT_S = 60.0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with closing(open_sqlite_store(tmp_path / "store.db")) as opened:
        yield opened


def site_at(store: SqlStore, clock: PlayedClock) -> Context:
    return open_context(store, load_settings(), batches, clock)


def at(clock: PlayedClock, **later: float) -> PlayedClock:
    other = PlayedClock(clock.now)
    other.pass_by(**later)
    return other


async def test_idle_time_at_a_new_site_counts_from_its_first_start(store: SqlStore) -> None:
    clock = PlayedClock()
    beating = Heartbeat(site_at(store, clock))
    await beating.beat()
    assert beating.quiet_from == clock.now


async def test_a_quick_restart_changes_nothing(store: SqlStore) -> None:
    clock = PlayedClock()
    await Heartbeat(site_at(store, clock)).beat()
    next_server = Heartbeat(site_at(store, at(clock, seconds=19)))
    await next_server.beat()
    assert next_server.quiet_from == clock.now


@pytest.mark.parametrize("seconds", [20, 3 * 3600])
async def test_after_an_outage_idle_time_starts_again_with_some_grace(
    store: SqlStore, seconds: float
) -> None:
    """Four missed beats of five seconds are an outage."""
    clock = PlayedClock()
    await Heartbeat(site_at(store, clock)).beat()
    later = at(clock, seconds=seconds)
    next_server = Heartbeat(site_at(store, later))
    await next_server.beat()
    assert next_server.quiet_from == later.now + GRACE


async def test_a_clock_that_leaps_while_the_server_runs_is_an_outage(store: SqlStore) -> None:
    """The machine slept, or its time was set: a client that sends now was not idle."""
    clock = PlayedClock()
    site = structs.replace(site_at(store, clock), monotonic=lambda: 0.0)
    benchmarks, beating = Benchmarks(site), Heartbeat(site)
    expirer = Expirer(site, benchmarks, Submissions(site, benchmarks, beating), beating)
    await beating.beat()
    await site.write(lambda transaction: _with_a_quiet_submission(transaction, clock))
    clock.pass_by(hours=3)
    await expirer.expire()
    assert await site.read(_state) is SubmissionState.RECEIVING
    await beating.beat()
    assert beating.quiet_from == clock.now + GRACE
    clock.pass_by(seconds=1)
    await beating.beat()
    assert beating.quiet_from == clock.now + GRACE - timedelta(seconds=1)


async def test_the_first_beat_after_an_outage_uses_the_new_time_of_the_store(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database came back on another machine, whose clock is a day ahead."""
    passed_s = [0.0]
    site = site_at(store, PlayedClock())
    clock = StoreClock(store, lambda: passed_s[0])
    beating = Heartbeat(structs.replace(site, clock=clock, monotonic=lambda: passed_s[0]))
    await beating.beat()
    later = clock() + timedelta(days=1)
    monkeypatch.setattr("vidscore_server.store.site_reader.utc_now", lambda: later)
    passed_s[0] += 3600.0
    await beating.beat()
    assert beating.quiet_from == later + GRACE


async def test_no_submission_is_ended_before_a_server_has_noticed_an_outage(
    store: SqlStore,
) -> None:
    """The expirer runs between heartbeats; its first run may come before the next beat.

    The database was away for three hours, while the server was running.
    """
    clock, passed_s = PlayedClock(), [0.0]
    site = structs.replace(site_at(store, clock), monotonic=lambda: passed_s[0])
    benchmarks, beating = Benchmarks(site), Heartbeat(site)
    expirer = Expirer(site, benchmarks, Submissions(site, benchmarks, beating), beating)
    await beating.beat()
    await site.write(lambda transaction: _with_a_quiet_submission(transaction, clock))
    clock.pass_by(hours=3)
    passed_s[0] += 3 * 3600.0
    await expirer.expire()
    assert await site.read(_state) is SubmissionState.RECEIVING
    await beating.beat()
    for _ in range(13):
        clock.pass_by(seconds=10)
        passed_s[0] += 10.0
        await beating.beat()
    await expirer.expire()
    assert await site.read(_state) is SubmissionState.SEALED


def _with_a_quiet_submission(transaction: Transaction, clock: PlayedClock) -> None:
    definition = definition_from_dict(
        {"evaluators": [{"name": "f1"}], "policy": {"quiet_timeout_s": 60.0}}
    )
    benchmark = structs.replace(r.benchmark(), definition=to_json(definition), close_time=None)
    transaction.insert_benchmark(benchmark)
    record = r.submission(state=SubmissionState.RECEIVING, frame_count=1)
    transaction.insert_submission(structs.replace(record, activity_time=clock.now))


def _state(reader: Reader) -> SubmissionState:
    [record] = reader.submissions_in(SubmissionState)
    return record.state


async def test_an_open_submission_survives_an_outage_longer_than_its_idle_timeout(
    tmp_path: Path,
) -> None:
    clock = PlayedClock()
    async with hosting(tmp_path, clock=clock) as hosted:
        await hosted.organiser.create_benchmark(quiet_timeout=Duration(seconds=60))
        await hosted.organiser.upload(truth(3))
        stream = await hosted.organiser.submission()
        await hosted.organiser.append(stream, 0, batch(range(2)))
    clock.pass_by(hours=5)
    async with hosting(tmp_path, clock=clock) as hosted:
        await _beaten_and_swept(hosted)
        assert await hosted.organiser.append(stream, 2, batch([2])) == 3


async def _beaten_and_swept(hosted: Hosted) -> None:
    await hosted.hosting.heartbeat.beat()
    await hosted.expire()


@pytest.mark.slow
async def test_a_read_only_store_is_shown_in_health_and_to_organisers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    response = health_pb2.HealthCheckResponse
    async with hosting(tmp_path, heartbeat_interval_s=1) as hosted:
        assert await _health(hosted) == response.SERVING

        def full(name: str) -> None:
            if name == "before_commit":
                raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(sql_store, "failpoint", full)
            await _health_becomes(hosted, response.NOT_SERVING)
            assert not await _store_is_up(hosted)
        await _health_becomes(hosted, response.SERVING)
        assert await _store_is_up(hosted)


async def _health(hosted: Hosted) -> int:
    stub: Any = health_pb2_grpc.HealthStub(hosted.organiser.channel)
    return int((await stub.Check(health_pb2.HealthCheckRequest())).status)


async def _health_becomes(hosted: Hosted, status: int) -> None:
    stub: Any = health_pb2_grpc.HealthStub(hosted.organiser.channel)
    async for response in stub.Watch(health_pb2.HealthCheckRequest(), timeout=TIMEOUT_S):
        if response.status == status:
            return
    raise AssertionError("the watch has ended")


async def _server(hosted: Hosted) -> server_service_pb2.Server:
    stub = server_service_pb2_grpc.ServerServiceStub(hosted.organiser.channel)
    request = server_service_pb2.GetServerRequest()
    answer = await stub.GetServer(request, metadata=hosted.organiser.metadata)
    found: server_service_pb2.Server = answer.server
    return found


async def _store_is_up(hosted: Hosted) -> bool:
    return (await _server(hosted)).store.up


async def test_a_server_states_the_time_by_which_benchmarks_open_and_close(hosted: Hosted) -> None:
    """That of its store: `vidscore doctor` compares it with the time of its own machine."""
    hosted.clock.pass_by(hours=1)
    told = (await _server(hosted)).time.ToDatetime(tzinfo=UTC)
    assert told == hosted.clock.now


async def test_the_free_disk_is_that_of_the_file_and_not_of_a_link_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Path] = []

    def usage(folder: Path) -> SimpleNamespace:
        asked.append(folder)
        return SimpleNamespace(free=1)

    (tmp_path / "large").mkdir()
    (tmp_path / "store.db").symlink_to(tmp_path / "large/store.db")
    monkeypatch.setattr("vidscore_server.api.server.shutil.disk_usage", usage)
    async with hosting(tmp_path) as hosted:
        assert await _store_is_up(hosted)
    assert asked == [tmp_path / "large"]


@pytest.mark.slow
def test_a_server_whose_file_was_deleted_ends_with_a_message_about_it(tmp_path: Path) -> None:
    location = tmp_path / "store.db"
    server = KilledServer(tmp_path)
    server.start()
    location.unlink()
    assert server.ends() == ExitCode.INPUT
    assert f"{location}" in server.said()
    assert "moved, deleted or replaced" in server.said()
