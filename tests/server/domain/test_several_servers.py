"""Several servers over one PostgreSQL are one site, whatever their clocks, whichever dies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
import pytest_asyncio
from google.longrunning import operations_pb2
from google.protobuf.duration_pb2 import Duration
from tests.crash.servers import KilledServer, new_site
from tests.server.domain.hosted import (
    BENCHMARK,
    Client,
    _client,
    append,
    create_token,
    refusal,
    values,
)
from tests.server.domain.sky import batch, batch_report, detections_of, place, truth, truth_of
from tests.server.domain.test_scoring import library_report
from tests.server.scene import report_bytes
from tests.support.postgresql import Cluster
from tests.support.varieties import mostly_nightly

from vidscore_client import Batching, Delivery, Retry, connect
from vidscore_protos.v1 import (
    access_service_pb2,
    benchmark_pb2,
    benchmark_service_pb2,
    organiser_pb2,
    report_pb2,
    submission_service_pb2,
    token_pb2,
)

pytestmark = pytest.mark.slow

FRAME_COUNT = 20
TIMEOUT_S = 120.0
HOUR_S = 3600

SETTINGS = {"lease_timeout_s": "2", "upkeep_interval_ms": "100", "workers": "1"}
RETRY = Retry(initial_s=0.05, maximum_s=0.5, give_up_after_s=TIMEOUT_S)


@dataclass
class Trio:
    """Three servers of one site; the first is the one that dies; the clocks differ by hours."""

    mortal: KilledServer
    others: tuple[KilledServer, KilledServer]
    secret: str

    def restart(self, *failpoints: str) -> None:
        """Start the first server again."""
        self.mortal.kill()
        self.mortal.start(",".join(("clock=shift:0", *failpoints)))


@pytest.fixture(scope="module")
def trio(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trio]:
    site = new_site(cluster.database())
    folder = tmp_path_factory.mktemp("servers")
    mortal, fast, slow = (KilledServer(folder, site, None, **SETTINGS) for _ in range(3))
    try:
        fast.start(f"clock=shift:{HOUR_S}")
        slow.start(f"clock=shift:-{HOUR_S}")
        yield Trio(mortal, (fast, slow), site[1])
    finally:
        for server in (mortal, fast, slow):
            server.kill()
    for server in (mortal, fast, slow):
        assert server.incidents() == []


@pytest_asyncio.fixture
async def clients(trio: Trio) -> AsyncIterator[tuple[Client, Client, Client]]:
    """An organiser at each server; the benchmark is created anew for every test."""
    trio.restart()
    async with AsyncExitStack() as channels:
        found = []
        for server in (trio.mortal, *trio.others):
            channel = await channels.enter_async_context(grpc.aio.insecure_channel(server.address))
            found.append(_client(channel, trio.secret))
        first, second, third = found
        await _host(second)
        yield first, second, third


async def _host(organiser: Client, **policy: Any) -> None:
    """Host the benchmark, without any earlier data."""
    request = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK, force=True)
    try:
        await organiser.benchmarks.DeleteBenchmark(request, metadata=organiser.metadata)
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.NOT_FOUND:
            raise
    quiet_timeout = Duration(seconds=HOUR_S)
    await organiser.create_benchmark(quiet_timeout=quiet_timeout, **policy)
    await organiser.upload(truth(FRAME_COUNT))


async def test_a_submission_continues_at_another_server_which_fences_off_the_first_writer(
    clients: tuple[Client, Client, Client],
) -> None:
    first, second, third = clients
    stream = await first.submission()
    assert await first.append(stream, 0, batch(range(7))) == 7
    opened = await second.open(f"{BENCHMARK}/submissions/one")
    assert (opened.epoch, opened.next_offset) == (2, 7)
    assert await second.append(stream, 7, batch(range(7, FRAME_COUNT)), epoch=2) == FRAME_COUNT
    late = await refusal(first.append(stream, FRAME_COUNT, batch(range(2))))
    assert (late.code, late.reason) == (grpc.StatusCode.ABORTED, "EPOCH_STALE")
    again = await third.append(stream, 7, batch(range(7, FRAME_COUNT)), epoch=2)
    assert again == FRAME_COUNT
    await third.seal(frames=FRAME_COUNT)
    await _check_score(clients)


@pytest.mark.nightly
async def test_drafts_at_several_servers_take_no_more_places_than_exist(
    clients: tuple[Client, Client, Client],
) -> None:
    """First frames reach all servers at once; one place is left for each round."""
    await _host(clients[1], submissions_in_all=1)
    streams = [await client.submission(f"s{row}") for row, client in enumerate(clients)]
    outcomes = await asyncio.gather(
        *(
            client.append(stream, 0, batch(range(2)))
            for client, stream in zip(clients, streams, strict=True)
        ),
        return_exceptions=True,
    )
    taken = [outcome for outcome in outcomes if outcome == 2]
    refused = [found for found in outcomes if isinstance(found, grpc.aio.AioRpcError)]
    assert (len(taken), len(refused)) == (1, 2)
    assert {error.code() for error in refused} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    for client in clients:
        assert len(await client.listed()) == 1


@pytest.mark.nightly
async def test_only_the_clock_of_the_store_decides_what_is_due(
    clients: tuple[Client, Client, Client],
) -> None:
    """By its own clock, one server would consider the others' submissions idle for an hour."""
    started = datetime.now(UTC)
    for number, client in enumerate(clients):
        await client.submission(f"s{number}")
    for client in clients:
        await _upkeep_has_passed(client)
        for number in range(len(clients)):
            found = await client.get(f"s{number}")
            assert found.state == submission_service_pb2.SUBMISSION_STATE_OPEN
            made = found.create_time.ToDatetime(UTC)
            assert abs(made - started) < timedelta(seconds=HOUR_S / 2)


async def test_a_caller_that_watches_at_another_server_sees_every_state(
    clients: tuple[Client, Client, Client],
) -> None:
    first, second, third = clients
    stream = await first.submission()
    watching = asyncio.create_task(_frame_counts(second))
    async with asyncio.timeout(TIMEOUT_S):
        for start in range(0, FRAME_COUNT, 5):
            await first.append(stream, start, batch(range(start, start + 5)))
    await third.seal()
    async with asyncio.timeout(TIMEOUT_S):
        counts = await watching
    assert counts == sorted(counts)
    assert counts[-1] == FRAME_COUNT


async def test_live_scores_follow_a_stream_to_another_server(
    clients: tuple[Client, Client, Client],
) -> None:
    """A watch at the third server sees scores of frames sent to the first and the second."""
    first, second, third = clients
    await _host(first, visibility=benchmark_pb2.VISIBILITY_LIVE, minimum_frames=5)
    sent = range(FRAME_COUNT - 5)
    stream = await first.submission()
    expected = library_report(batch(sent, truth_of), batch(sent))
    watching = asyncio.create_task(_live_scores(third, report_pb2.Report.FromString(expected)))
    async with asyncio.timeout(TIMEOUT_S):
        await first.append(stream, 0, batch(sent[:10]))
        await second.open(f"{BENCHMARK}/submissions/one")
        await second.append(stream, 10, batch(sent[10:]), epoch=2)
        await watching


async def test_a_server_killed_during_a_stream_loses_nothing_and_another_takes_over(
    trio: Trio, clients: tuple[Client, Client, Client]
) -> None:
    _, second, _ = clients
    await asyncio.to_thread(_send_while_the_server_dies, trio)
    assert (await second.get()).frame_count == FRAME_COUNT
    await _restart(trio, clients)
    await _check_score(clients)


@pytest.mark.parametrize("moment", mostly_nightly(["before_score_commit", "before_scoring"]))
async def test_another_server_takes_over_from_one_killed_while_it_scores(
    trio: Trio, clients: tuple[Client, Client, Client], moment: str
) -> None:
    _, second, _ = clients
    await _submit(second)
    await _restart(trio, clients, f"{moment}=kill")
    await _seal_where_only_the_first_looks(trio, clients)
    assert await asyncio.to_thread(trio.mortal.dies_within, TIMEOUT_S)
    for server in trio.others:
        server.go_on()
    await second.ended()
    await _restart(trio, clients)
    await _check_score(clients)


@pytest.mark.nightly
async def test_another_server_takes_over_from_one_that_hangs_and_its_late_result_is_refused(
    trio: Trio, clients: tuple[Client, Client, Client]
) -> None:
    _, second, _ = clients
    await _submit(second)
    await _restart(trio, clients, "before_score_commit=sleep:6000")
    await _seal_where_only_the_first_looks(trio, clients)
    await _until_leased(clients[0])
    for server in trio.others:
        server.go_on()
    await second.ended()
    await _check_score(clients)


@pytest.mark.nightly
async def test_a_failed_submission_is_rescored_at_any_server(
    clients: tuple[Client, Client, Client],
) -> None:
    """It fails for lack of truth; truth is uploaded at another server, and a third one is asked."""
    first, second, third = clients
    gone = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK, force=True)
    await first.benchmarks.DeleteBenchmark(gone, metadata=first.metadata)
    await first.create_benchmark(truth_timeout=Duration(seconds=1))
    await _submit(first)
    await first.seal()
    assert (await third.ended()).submission.state_reason == "truth_never_came"
    await second.upload(truth(FRAME_COUNT))
    assert (await third.retry()).state_reason == "scoring_retried"
    assert (await first.ended()).submission.state_reason == "scored"
    await _check_score(clients)


@pytest.mark.nightly
async def test_another_server_ends_the_operation_of_a_dead_one(
    trio: Trio, clients: tuple[Client, Client, Client]
) -> None:
    first, second, _ = clients
    await _score_where_it_will_die(trio, clients)
    request = organiser_pb2.RescoreSubmissionsRequest(benchmark=BENCHMARK)
    await first.benchmarks.RescoreSubmissions(request, metadata=first.metadata)
    assert await asyncio.to_thread(trio.mortal.dies_within, TIMEOUT_S)
    for server in trio.others:
        server.go_on()
    listed = await second.operations.ListOperations(
        operations_pb2.ListOperationsRequest(), metadata=second.metadata
    )
    wanted = operations_pb2.WaitOperationRequest(name=listed.operations[-1].name)
    ended = await second.operations.WaitOperation(wanted, metadata=second.metadata)
    assert ended.done
    assert not ended.HasField("error")
    await _check_score((second,), scores=2)


@pytest.mark.nightly
async def test_another_server_updates_the_board_of_a_dead_one(
    trio: Trio, clients: tuple[Client, Client, Client]
) -> None:
    first, second, third = clients
    await _score_where_it_will_die(trio, clients)
    revision = await first.upload(truth(FRAME_COUNT))
    assert (revision.revision, revision.submissions_to_rescore) == (2, 1)
    assert await asyncio.to_thread(trio.mortal.dies_within, TIMEOUT_S)
    for server in trio.others:
        server.go_on()
    async with asyncio.timeout(TIMEOUT_S):
        while (await second.board()).truth_revision != 2:  # noqa: ASYNC110 - another process moves it
            await asyncio.sleep(0.05)
    assert {row.truth_revision for row in (await third.board()).rows} == {2}
    await _check_score((second, third), scores=2)


async def _restart(trio: Trio, clients: tuple[Client, ...], *failpoints: str) -> None:
    await asyncio.to_thread(trio.restart, *failpoints)
    async with asyncio.timeout(TIMEOUT_S):
        await clients[0].channel.channel_ready()


async def _submit(client: Client) -> None:
    stream = await client.submission()
    await client.append(stream, 0, batch(range(FRAME_COUNT)))


async def _seal_where_only_the_first_looks(
    trio: Trio, clients: tuple[Client, Client, Client]
) -> None:
    """Let the first server score, while the others hang."""
    for server in trio.others:
        server.pause()
    await clients[0].seal()


async def _score_where_it_will_die(trio: Trio, clients: tuple[Client, Client, Client]) -> None:
    """A scored submission, and a server that will die before it stores another score."""
    _, second, _ = clients
    await _submit(second)
    await second.seal()
    await second.ended()
    for server in trio.others:
        server.pause()
    await _restart(trio, clients, "before_score_commit=kill")


async def _until_leased(client: Client) -> None:
    """Wait until a submission is being scored; its server does not answer while it hangs."""
    scoring = submission_service_pb2.SUBMISSION_STATE_SCORING
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            if (await client.get()).state >= scoring:
                return
            await asyncio.sleep(0.05)


async def _upkeep_has_passed(client: Client) -> None:
    """Wait until a server has run its upkeep, which scores sealed submissions."""
    name = f"upkeep-{id(client)}"
    stream = await client.submission(name)
    await client.append(stream, 0, batch(range(1)))
    await client.seal(name)
    await client.ended(name)


async def _frame_counts(client: Client) -> list[int]:
    request = submission_service_pb2.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    call = client.submissions.WatchSubmission(request, metadata=client.metadata)
    return [message.submission.frame_count async for message in call]


async def _live_scores(client: Client, expected: report_pb2.Report) -> None:
    """Watch until these live scores are there."""
    request = submission_service_pb2.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    call = client.submissions.WatchSubmission(request, metadata=client.metadata)
    async for message in call:
        if any(values(score.report) == values(expected) for score in message.scores):
            call.cancel()
            return
    raise AssertionError("the watch has ended")


def _send_while_the_server_dies(trio: Trio) -> None:
    """Send through the SDK, kill the server halfway, and continue at another one."""
    delivery = Delivery(window_frames=4, retry=RETRY)
    batching = Batching(batch_frames=1, batch_interval_s=0.01)
    with connect(trio.mortal.address, token=trio.secret) as client:
        stream = client.submit("dots", "one", batching=batching, delivery=delivery)
        for index in range(FRAME_COUNT // 2):
            stream.send(*place(index), detections_of(index))
        stream.flush(TIMEOUT_S)
        acknowledged = stream.acknowledged_frames
        trio.mortal.kill()
        stream.abort()
    with connect(trio.others[0].address, token=trio.secret) as client:
        stream = client.submit("dots", "one", replay=True, batching=batching, delivery=delivery)
        assert stream.acknowledged_frames >= acknowledged
        for index in range(FRAME_COUNT):
            stream.send(*place(index), detections_of(index))
        stream.seal(FRAME_COUNT, timeout_s=TIMEOUT_S)


async def _check_score(clients: tuple[Client, ...], scores: int = 1) -> None:
    """Every server shows the same score, that of the batch, and the same board."""
    boards = []
    for client in clients:
        await client.ended()
        request = submission_service_pb2.ListScoresRequest(
            submission=f"{BENCHMARK}/submissions/one"
        )
        listed = await client.submissions.ListScores(request, metadata=client.metadata)
        assert len(listed.scores) == scores
        for score in listed.scores:
            assert report_bytes(score.report) == batch_report(FRAME_COUNT, range(FRAME_COUNT))
        boards.append(await _board(client))
    assert all(board == boards[0] for board in boards)
    assert len(boards[0]) == 1


async def _board(client: Client) -> list[bytes]:
    request = benchmark_service_pb2.GetLeaderboardRequest(benchmark=BENCHMARK)
    answer = await client.benchmarks.GetLeaderboard(request, metadata=client.metadata)
    return [row.SerializeToString(deterministic=True) for row in answer.rows]


async def test_a_token_revoked_at_one_server_ends_its_calls_at_another(
    clients: tuple[Client, Client, Client],
) -> None:
    first, second, _ = clients
    secret = await create_token(first, token_pb2.ROLE_PARTICIPANT, "green")
    green = _client(second.channel, secret)
    stream = await green.submission()
    call = green.submissions.AppendFrames(metadata=green.metadata)
    await call.write(append(stream, 0, batch(range(3))))
    await call.read()
    revoke = access_service_pb2.RevokeTokenRequest(name=f"tokens/{secret.split('_')[1]}")
    await first.access.RevokeToken(revoke, metadata=first.metadata)
    async with asyncio.timeout(TIMEOUT_S):
        assert await call.code() is grpc.StatusCode.UNAUTHENTICATED
