"""A server of a world: the real rules on the store of the world, and its calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, cast

from msgspec.structs import replace
from tests.campaigns.simulation.batches import Batch, Codec
from tests.campaigns.simulation.scoring import Luck, SimulatedScorer
from tests.campaigns.simulation.stores import ServersStore, SharedStore

from vidscore_server.domain.access import Caller
from vidscore_server.domain.append_queue import AppendQueue
from vidscore_server.domain.append_rules import RuleCache
from vidscore_server.domain.appends import AppendTarget
from vidscore_server.domain.batches import BatchCodec
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.board_updates import BoardUpdater
from vidscore_server.domain.byte_budget import ByteBudget
from vidscore_server.domain.context import Changes, Context, Request, StoreClock
from vidscore_server.domain.expirer import Expirer
from vidscore_server.domain.leaderboard import Board, RankedEntry, ranked_entries
from vidscore_server.domain.leases import LeaseLostError, Leases
from vidscore_server.domain.loading import load_in_parts
from vidscore_server.domain.names import StreamName, SubmissionName
from vidscore_server.domain.rescoring import Rescoring
from vidscore_server.domain.schedule import Heartbeat
from vidscore_server.domain.scorer import Scorer
from vidscore_server.domain.scoring import Scheduler
from vidscore_server.domain.submissions import Submissions, team_seen, visible
from vidscore_server.domain.truth import TruthStore, revision_parts
from vidscore_server.settings import Settings
from vidscore_server.store import Reader, SqlStore, Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import StreamRecord, TruthRevisionRecord
from vidscore_server.workers import WorkerPool

BENCHMARK = "b"
UPKEEP_S = 10.0
TRUTH = ([b"one"], [b"two", b"three"])
"""Batches of every truth, in two parts."""

RESTART_S = 3.0
"""Delay before a server that failed to start tries again."""

Call = Callable[["Server"], Coroutine[Any, Any, Any]]
"""A call that any server can take."""


class UnavailableError(Exception):
    """There was no answer, so the outcome of the call is unknown."""


class Server:
    """A server, from its start to its end.

    Args:
        shared: The store.
        settings: Its limits.
        luck: Decides the outcomes of its jobs.
        name: Its name, a new one after each restart.
        unexpected: Receives unexpected errors.
    """

    def __init__(
        self,
        shared: SharedStore,
        settings: Settings,
        luck: Luck,
        name: str,
        unexpected: Callable[[str], None],
    ) -> None:
        self.store = ServersStore(shared, name)
        self.serves = False
        self._shared = shared
        self._settings = settings
        self._luck = luck
        self._name = name
        self._unexpected = unexpected
        self._tasks: dict[asyncio.Task[Any], None] = {}  # In the order in which they end.

    # --- its life --------------------------------------------------------------------------

    def start(self) -> None:
        """Start to serve, once the store answers."""
        self.spawn(self._live())

    def die(self) -> None:
        """Stop at once, as a killed process does."""
        self.serves, self.store.dead = False, True
        for task in list(self._tasks):
            task.cancel()

    async def stop(self) -> None:
        """Shut down cleanly, and hand over the work."""
        if self.serves:
            self.serves = False
            for task in self._own_work:
                task.cancel()
            await self.scheduler.stop()
            await self.boards.operations.stop()
            await self.rescoring.operations.stop()
        self.die()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task that ends with the server."""
        task = asyncio.create_task(work)
        self._tasks[task] = None
        task.add_done_callback(lambda done: self._tasks.pop(done, None))
        return task

    async def _live(self) -> None:
        while True:
            try:
                self._assemble()
                break
            except StoreError:
                await asyncio.sleep(RESTART_S)
        await self.heartbeat.beat()
        self._own_work = [
            self.spawn(self.heartbeat.beat_on(_nobody)),
            self.spawn(self._keep_up()),
        ]
        self.serves = True

    def _assemble(self) -> None:
        """Assemble the parts of a server, as `vidscore_server.domain.hosting` does."""
        store = cast("SqlStore", self.store)
        monotonic = asyncio.get_running_loop().time
        clock = StoreClock(store, monotonic)
        self.context = Context(
            store,
            self._settings,
            clock,
            b"secret",
            Changes(),
            cast("BatchCodec", Codec()),
            monotonic,
        )
        self.leases = Leases(self.context)
        self.leases.owner = self._name
        self.benchmarks = Benchmarks(self.context)
        self.heartbeat = Heartbeat(self.context)
        self.rules = RuleCache(self.context, self.benchmarks, TruthStore(self.context, self.leases))
        self.submissions = Submissions(self.context, self.benchmarks, self.heartbeat)
        workers = cast("WorkerPool", None)  # they check the rules of plug-ins, and here are none
        budget = ByteBudget(self.context.settings)
        self.appends = AppendQueue(self.context, self.benchmarks, budget, workers)
        scorer = cast("Scorer", SimulatedScorer(self.context, self.benchmarks, self._luck))
        self.scheduler = Scheduler(self.context, self.benchmarks, scorer, self.leases)
        self.boards = BoardUpdater(self.context, self.benchmarks, scorer, self.leases)
        self.rescoring = Rescoring(self.context, self.benchmarks, scorer, self.leases)
        self.expirer = Expirer(self.context, self.benchmarks, self.submissions, self.heartbeat)

    async def _keep_up(self) -> None:
        while True:
            try:
                await self.context.adjust_clock()
                await self.expirer.expire()
                await self.scheduler.advance()
                await self.rescoring.advance()
                await self.boards.advance()
            except StoreError:
                pass  # The next round continues.
            except LeaseLostError as error:
                self._unexpected(f"upkeep met {error!r}")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is found
                self._unexpected(f"upkeep failed with {error!r}")
            await asyncio.sleep(UPKEEP_S)

    # --- its calls -------------------------------------------------------------------------

    def request(self, caller: Caller, action: str, request_id: str = "") -> Request:
        """A request that arrives now."""
        return Request(caller, action, self.context.clock(), request_id, action)

    async def create(self, caller: Caller, submission: str, request_id: str) -> str:
        """Open a submission."""
        request = self.request(caller, f"create {submission}", request_id)
        found = await self.submissions.create(request, BENCHMARK, submission, "")
        return found.record.submission

    async def open(self, caller: Caller, stream: StreamName) -> StreamRecord:
        """Open a stream under its next epoch."""
        return await self.submissions.open_stream(self.request(caller, "open"), stream)

    async def append(
        self,
        caller: Caller,
        stream: StreamName,
        epoch: int,
        batches: Sequence[tuple[int, Batch]],
        acknowledge: Callable[[int], None],
    ) -> None:
        """Append batches in one call, each at its offset; yields the acknowledgements."""

        def look(reader: Reader) -> None:
            visible(reader, stream.of_submission, caller)

        await self.context.read(look)
        rules = await self.rules.of(stream.benchmark)
        target = AppendTarget(str(stream), stream, epoch, team_seen(caller), rules)
        waiting = [
            await self.appends.append(target, offset, batch, len(batch.numbers), len(batch.numbers))
            for offset, batch in batches
        ]
        try:
            for stored in waiting:
                acknowledge(await stored)
        finally:
            for stored in waiting:
                stored.add_done_callback(_forget)

    async def seal(self, caller: Caller, name: SubmissionName, expected: int | None) -> int:
        """Seal a submission; returns the number of its frames."""
        found = await self.submissions.seal(self.request(caller, "seal"), name, expected)
        return found.record.frame_count

    async def cancel(self, caller: Caller, name: SubmissionName) -> None:
        """Cancel a submission."""
        await self.submissions.cancel(self.request(caller, "cancel"), name)

    async def retry(self, caller: Caller, name: SubmissionName, request_id: str) -> None:
        """Score a failed submission again."""
        await self.submissions.retry(self.request(caller, f"retry {name}", request_id), name)

    async def rescore(self, caller: Caller, request_id: str) -> str:
        """Score everything again."""
        request = self.request(caller, "rescore", request_id)
        return (await self.rescoring.create(request, BENCHMARK, (), "")).operation

    async def publish(self, caller: Caller) -> None:
        """Publish the new board, as an organiser who has seen the differences."""
        request = self.request(caller, "publish")
        await self.boards.publish(request, BENCHMARK, validate_only=False)

    async def upload(self, caller: Caller, request_id: str, *, complete: bool) -> str:
        """Upload a truth revision."""
        request = self.request(caller, "upload", request_id)

        def make(transaction: Transaction, hidden: str) -> str:
            benchmark = required_benchmark(transaction, BENCHMARK)
            number = benchmark.truth_revision + 1
            record = TruthRevisionRecord(
                BENCHMARK, number, f"{number}", request.time, 1, complete, ""
            )
            transaction.show_truth_revision(hidden, record)
            transaction.update_benchmark(
                replace(benchmark, truth_revision=number, revision=benchmark.revision + 1)
            )
            request.audit(transaction, BENCHMARK)
            return str(number)

        return await load_in_parts(
            self.context,
            self.leases,
            partial(revision_parts, "", TRUTH),
            lambda transaction, hidden: request.once(
                transaction, lambda: make(transaction, hidden)
            ),
        )

    async def board(self, caller: Caller) -> list[RankedEntry]:
        """The board, as the caller sees it."""
        now = self.context.clock()

        def look(reader: Reader) -> list[RankedEntry]:
            definition = self.benchmarks.definition(required_benchmark(reader, BENCHMARK))
            board = Board(BENCHMARK, definition.evaluators[0])
            return ranked_entries(reader, definition, board, caller, now)

        return await self.context.read(look)


async def _nobody(_: bool) -> None:
    """Notify nobody whether the store is writable."""


def _forget(stored: asyncio.Future[int]) -> None:
    if not stored.cancelled():
        stored.exception()
