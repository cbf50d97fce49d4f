"""Every end of a call of a hosted benchmark frees its place, tasks and descriptors."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import pytest
from sqlalchemy import QueuePool
from tests.server.domain.hosted import BENCHMARK, Hosted, append, hosting
from tests.server.scene import HERE, points
from tests.support.varieties import mostly_nightly
from tests.support.waiting import until

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.store import Transaction
from vidscore_server.store.sql_store import SqlStore

pytestmark = pytest.mark.slow

STREAM = f"{BENCHMARK}/submissions/one/streams/default"
GOOD = append(STREAM, 0, points({1: HERE, 2: []}))
BAD = append(STREAM, 2, points({3: [(float("nan"), 0.0)]}))
STORE = "store.db"
CALLS = 5
SHORT_S = 0.2

Call: TypeAlias = "grpc.aio.Call"


def unary(hosted: Hosted, message: pb.AppendRequest, timeout: float | None) -> Call:
    """A batch as a unary call."""
    return hosted.red.submissions.AppendBatch(
        message, metadata=hosted.red.metadata, timeout=timeout
    )


def stream(hosted: Hosted, message: pb.AppendRequest, timeout: float | None) -> Call:
    """Two batches over a stream."""
    requests = [GOOD, message]
    return hosted.red.submissions.AppendFrames(
        iter(requests), metadata=hosted.red.metadata, timeout=timeout
    )


def watch(hosted: Hosted, name: str, timeout: float | None) -> Call:
    """A watch of a submission."""
    return hosted.red.submissions.WatchSubmission(
        pb.WatchSubmissionRequest(name=f"{BENCHMARK}/submissions/{name}"),
        metadata=hosted.red.metadata,
        timeout=timeout,
    )


def append_waits(hosted: Hosted) -> bool:
    return hosted.hosting.appends.held_count > 0


def is_watched(hosted: Hosted) -> bool:
    return hosted.server.sessions.open_count == 1


@dataclass(frozen=True)
class Rpc:
    """An RPC, and its requests.

    Attributes:
        start: Starts a call.
        good: Requests that it answers at once.
        bad: Requests that it refuses.
        slow: Requests that do not end while the store is busy.
        under_way: Whether the call with `slow` has reached its work.
    """

    start: Callable[[Hosted, Any, float | None], Call]
    good: Any
    bad: Any
    slow: Any
    under_way: Callable[[Hosted], bool]


RPCS = {
    "unary": Rpc(unary, GOOD, BAD, GOOD, append_waits),
    "stream": Rpc(stream, GOOD, BAD, GOOD, append_waits),
    "watch": Rpc(watch, "over", "unknown", "one", is_watched),
}


async def ok(hosted: Hosted, rpc: Rpc) -> grpc.StatusCode:
    return await _end(rpc.start(hosted, rpc.good, None))


async def error(hosted: Hosted, rpc: Rpc) -> grpc.StatusCode:
    return await _end(rpc.start(hosted, rpc.bad, None))


async def deadline(hosted: Hosted, rpc: Rpc) -> grpc.StatusCode:
    with _busy_writer(hosted):
        return await _end(rpc.start(hosted, rpc.slow, SHORT_S))


async def cancel(hosted: Hosted, rpc: Rpc) -> grpc.StatusCode:
    with _busy_writer(hosted):
        call = rpc.start(hosted, rpc.slow, None)
        ending = asyncio.create_task(_end(call))
        await until(lambda: rpc.under_way(hosted))
        call.cancel()
        return await ending


async def shutdown(hosted: Hosted, rpc: Rpc) -> grpc.StatusCode:
    with _busy_writer(hosted):
        ending = asyncio.create_task(_end(rpc.start(hosted, rpc.slow, None)))
        await until(lambda: rpc.under_way(hosted))
        await hosted.server.stop(0)
        return await ending


Ending = Callable[[Hosted, Rpc], Awaitable[grpc.StatusCode]]
Code = grpc.StatusCode


@pytest.mark.parametrize(
    ("ending", "codes"),
    [
        (ok, {Code.OK}),
        (error, {Code.INVALID_ARGUMENT, Code.NOT_FOUND}),
        (deadline, {Code.DEADLINE_EXCEEDED}),
        (cancel, {Code.CANCELLED}),
    ],
)
@pytest.mark.parametrize("rpc", RPCS)
async def test_a_call_leaves_places_tasks_and_descriptors_unchanged(
    hosted: Hosted, rpc: str, ending: Ending, codes: set[grpc.StatusCode]
) -> None:
    await _prepare(hosted)
    assert await ok(hosted, RPCS["stream"]) is Code.OK  # This starts threads and opens descriptors.
    assert await ending(hosted, RPCS[rpc]) in codes
    await _settled(hosted)
    before = _left()
    for _ in range(CALLS):
        assert await ending(hosted, RPCS[rpc]) in codes
    await _settled(hosted)
    await until(lambda: _at_most(before))
    assert (await hosted.red.get()).frame_count == 2


@pytest.mark.parametrize("rpc", mostly_nightly(RPCS))
async def test_a_server_that_stops_during_a_call_leaves_tasks_and_descriptors_unchanged(
    tmp_path: Path, rpc: str
) -> None:
    """Data in flight is durable or not; the same data, sent after a restart, counts once."""
    async with hosting(tmp_path) as hosted:
        await _prepare(hosted)
        assert await ok(hosted, RPCS["stream"]) is Code.OK
        assert await shutdown(hosted, RPCS[rpc]) is Code.UNAVAILABLE
    before = _left()
    async with hosting(tmp_path) as hosted:
        assert await shutdown(hosted, RPCS[rpc]) is Code.UNAVAILABLE
        assert hosted.server.sessions.open_count == 0
    await until(lambda: _at_most(before))
    await until(lambda: not [file for file in _open_files() if tmp_path in file.parents])
    async with hosting(tmp_path) as hosted:
        assert await hosted.red.append(STREAM, 0, GOOD.detections) == 2
        assert (await hosted.red.get()).frame_count == 2


async def _prepare(hosted: Hosted) -> None:
    """A benchmark with an open submission, and one that has ended."""
    await hosted.organiser.create_benchmark()
    await hosted.red.submission("over")
    name = f"{BENCHMARK}/submissions/over"
    await hosted.red.submissions.CancelSubmission(
        pb.CancelSubmissionRequest(name=name), metadata=hosted.red.metadata
    )
    await hosted.red.submission("one")


async def _end(call: Any) -> grpc.StatusCode:
    """Read all responses; returns how the call ends."""
    with contextlib.suppress(grpc.aio.AioRpcError, asyncio.CancelledError):
        if isinstance(call, grpc.aio.UnaryUnaryCall):
            await call
        else:
            async for _ in call:
                pass
    code: grpc.StatusCode = await call.code()
    return code


@contextmanager
def _busy_writer(hosted: Hosted) -> Iterator[None]:
    """A store that commits nothing for now, so that appends wait."""
    reached, gate = threading.Event(), threading.Event()

    def wait(_: Transaction) -> None:
        reached.set()
        gate.wait()

    _store(hosted).submit(wait)
    reached.wait()
    try:
        yield
    finally:
        gate.set()


async def _settled(hosted: Hosted) -> None:
    """Wait until no call holds a place or a connection to the store, or waits for a change."""
    pool = _store(hosted)._engine.pool
    assert isinstance(pool, QueuePool)
    await until(lambda: hosted.server.sessions.open_count == 0)
    await until(lambda: not hosted.hosting.context.changes._waiting)
    await until(lambda: not append_waits(hosted) and pool.checkedout() == 1)  # The writer's.
    await asyncio.sleep(0.05)


def _store(hosted: Hosted) -> SqlStore:
    return hosted.hosting.context.store


def _left() -> tuple[int, int]:
    """Tasks and file descriptors, except the connections that the store keeps open."""
    others = [file for file in _open_files() if not file.name.startswith(STORE)]
    return len(asyncio.all_tasks()), len(others)


def _open_files() -> list[Path]:
    listing = Path("/proc/self/fd")
    files = []
    for descriptor in listing.iterdir() if listing.exists() else ():
        with contextlib.suppress(FileNotFoundError):  # The descriptor of the listing itself.
            files.append(descriptor.readlink())
    return files


def _at_most(before: tuple[int, int]) -> bool:
    return all(now <= then for now, then in zip(_left(), before, strict=True))
