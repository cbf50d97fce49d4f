"""Live streams over several servers with one PostgreSQL: throughput and processor time.

There is one submission per server, or one for all servers. The database is durable: it waits for
its disk before it acknowledges. Client, servers and database share the processors of one machine,
so frames per second say little about several machines. The processor time of each part shows what
it would carry on a separate machine.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import numpy as np
from tests.support.postgresql import Cluster, running_cluster

from bench.case import Case, Size
from bench.cases.streaming import _drive, _write_truth, _writers
from bench.measuring import Sample
from bench.rows import SHOWN_SHARE, Row
from bench.servers.process import BENCHMARK, Host, hosting_server, processor_s, serving_store
from vidscore_protos.v1 import submission_service_pb2 as messages
from vidscore_protos.v1 import submission_service_pb2_grpc as services

SERVERS = (1, 2, 4)
STREAMS = 64
MESSAGES_PER_STREAM = 200
SETTINGS = ("shared_preload_libraries=pg_stat_statements", "max_connections=100")
LOOK_S = 0.02

_STATEMENTS = "SELECT coalesce(sum(calls), 0) FROM pg_stat_statements WHERE {}"
_WAITS = """
SELECT coalesce(wait_event_type || ' ' || wait_event, 'runs') FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND state <> 'idle'
"""


@dataclass(frozen=True, slots=True)
class Load:
    """Measurements of one run over some servers.

    Attributes:
        elapsed_s: Wall time.
        acknowledged_s: Time to the acknowledgement of each frame.
        processor_s: Processor seconds of client, servers and database.
        figures: Counters of the database, by name.
        waits: Number of times that a transaction was seen waiting or running, by wait event.
    """

    elapsed_s: float
    acknowledged_s: tuple[float, ...]
    processor_s: dict[str, float]
    figures: dict[str, int]
    waits: Counter[str]

    @property
    def frames(self) -> int:
        """Frames that were acknowledged."""
        return len(self.acknowledged_s)

    @property
    def frames_a_second(self) -> float:
        """Throughput of all servers together."""
        return self.frames / self.elapsed_s

    def __str__(self) -> str:
        """Cost per frame by process and by counter of the database, and waits of transactions."""
        shares = ", ".join(
            f"{name} {1000 * seconds / self.frames:.2f} ms"
            for name, seconds in self.processor_s.items()
        )
        figures = ", ".join(f"{n / self.frames:.3g} {name}" for name, n in self.figures.items())
        looks = self.waits.total() or 1
        waits = ", ".join(f"{name} {n / looks:.0%}" for name, n in self.waits.most_common(4))
        return f"a frame: processor of {shares}; {figures}; transactions: {waits}"


class _Watch:
    """Samples a database while something runs."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._connection = cluster.connect(name)
        self._connection.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.waits: Counter[str] = Counter()

    def __enter__(self) -> _Watch:
        self._connection.execute("SELECT pg_stat_statements_reset()")
        self._begin = self._log_bytes()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.figures = {
            "commits": self._value(_STATEMENTS.format("query = 'COMMIT'")),
            "statements": self._value(_STATEMENTS.format("query !~ 'pg_stat|pg_current'")),
            "bytes of log": self._log_bytes() - self._begin,
        }
        self._connection.close()

    def _log_bytes(self) -> int:
        return self._value("SELECT pg_current_wal_insert_lsn() - '0/0'")

    def _look(self) -> None:
        while not self._ended.wait(LOOK_S):
            self.waits.update(row[0] for row in self._connection.execute(_WAITS).fetchall())

    def _value(self, query: str) -> int:
        row: Any = self._connection.execute(query.encode()).fetchone()
        return int(row[0])


async def _drive_all(
    host: Host, addresses: Sequence[str], message_count: int, *, shared: bool
) -> tuple[float, tuple[float, ...]]:
    """Append on all streams at once, with the same number of streams at each server.

    Args:
        host: The benchmark.
        addresses: Addresses of the servers.
        message_count: Frames per stream.
        shared: Whether there is one submission for all servers.

    Returns:
        Wall seconds, and seconds to the acknowledgement of each frame.
    """
    metadata = (("authorization", f"Bearer {host.secret}"),)
    channels = [grpc.aio.insecure_channel(address) for address in addresses]
    stubs = [services.SubmissionServiceStub(channel) for channel in channels]
    own = STREAMS // len(addresses)
    try:
        names = [await _created(stub, metadata) for stub in stubs[: 1 if shared else None]]
        opened = []
        for place in range(STREAMS):
            name, stub = names[place // own % len(names)], stubs[place // own]
            request = messages.OpenStreamRequest(submission=name, stream=f"t{place}")
            answer = await stub.OpenStream(request, metadata=metadata)
            opened.append((f"{name}/streams/t{place}", answer.stream.epoch))
        writers = _writers(opened, message_count, 1)
        begun_s = time.perf_counter()
        loads = await asyncio.gather(
            *(
                _drive(channel, writers[row * own : (row + 1) * own], metadata)
                for row, channel in enumerate(channels)
            )
        )
        elapsed_s = time.perf_counter() - begun_s
        for name in names:
            cancelled = messages.CancelSubmissionRequest(name=name)
            await stubs[0].CancelSubmission(cancelled, metadata=metadata)
        return elapsed_s, tuple(second for load in loads for second in load.acknowledged_s)
    finally:
        for channel in channels:
            await channel.close()


async def _created(
    stub: services.SubmissionServiceAsyncStub, metadata: tuple[tuple[str, str], ...]
) -> str:
    request = messages.CreateSubmissionRequest(
        benchmark=f"benchmarks/{BENCHMARK}", request_id=str(uuid.uuid4())
    )
    created = await stub.CreateSubmission(request, metadata=metadata)
    return created.submission.name


def measured(
    cluster: Cluster, truth: Path, count: int, message_count: int, *, shared: bool
) -> Load:
    """Append over some servers with a new database.

    Args:
        cluster: Cluster in which the database is created.
        truth: File of the truth.
        count: Number of servers.
        message_count: Frames per stream.
        shared: Whether there is one submission for all servers.
    """
    address = cluster.database()
    postmaster = int((cluster.folder / "data" / "postmaster.pid").read_text().split()[0])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        options = ("--workers", "1")
        host = stack.enter_context(hosting_server(folder, truth, *options, store=address))
        others = [stack.enter_context(serving_store(address, *options)) for _ in range(count - 1)]
        servers = [host.served, *others]
        addresses = [server.address for server in servers]
        asyncio.run(_drive_all(host, addresses, 4, shared=shared))

        def used_s() -> dict[str, float]:
            return {
                "client": time.process_time(),
                "servers": sum(server.processor_s() for server in servers),
                "database": processor_s(postmaster),
            }

        before = used_s()
        with _Watch(cluster, address.partition("@/")[2].partition("?")[0]) as watch:
            driven = _drive_all(host, addresses, message_count, shared=shared)
            elapsed_s, acknowledged_s = asyncio.run(driven)
        after = used_s()
        used = {name: after[name] - before[name] for name in before}
        return Load(elapsed_s, acknowledged_s, used, watch.figures, watch.waits)


def _several_servers(size: Size) -> Iterator[Row]:
    message_count = max(20, size.of(MESSAGES_PER_STREAM))
    with running_cluster(*SETTINGS) as cluster, tempfile.TemporaryDirectory() as folder:
        truth = Path(folder) / "truth.csv"
        _write_truth(truth, message_count)
        for shared in (False, True):
            loads = {
                count: [
                    measured(cluster, truth, count, message_count, shared=shared)
                    for _ in range(size.repeats)
                ]
                for count in SERVERS
            }
            for count in SERVERS:
                yield _row(loads[count], loads[1], count, shared=shared)


def _row(loads: list[Load], ones: list[Load], count: int, *, shared: bool) -> Row:
    kind = "one submission" if shared else "a submission a server"
    last = loads[-1]
    p50, p99 = np.percentile(last.acknowledged_s, (50, 99))
    return Row(
        f"{STREAMS} streams, {count} server(s) over PostgreSQL, {kind}: time a frame",
        Sample(tuple(1 / load.frames_a_second for load in loads)),
        Sample(tuple(1 / load.frames_a_second for load in ones)),
        "one server",
        SHOWN_SHARE,
        note=(
            f"{last.frames_a_second:,.0f} frames a second, acknowledged after {1000 * p50:.0f} ms, "
            f"99th percentile {1000 * p99:.0f} ms; {last}"
        ),
    )


CASES = (Case("servers", _several_servers),)
