"""One run that is scored while it is received: its configuration, states and live reports.

    configuring --configure--> receiving --finish--> finishing --> finished
         |                         |                     |
         +-------------------------+---------------------+--> failed

While it receives, `keep_tallying` runs beside it: it tallies when much is pending and makes live
reports when they are due. A round of tallying covers exactly the frames that both sides had sent
when it began, whatever arrives meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, nullcontext
from enum import StrEnum
from functools import partial
from typing import Any, Generic, TypeVar

from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.live import Coverage, Pairing, final_frames, pair_frames
from vidscore_evaluators.registry import is_built_in
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_server.domain.accumulation import BYTES_PER_ROW, COMPACT_BYTES, Accumulation
from vidscore_server.domain.batches import BatchRules, ReadBatch, placed_in, rule_faults
from vidscore_server.domain.plug_ins import refuse_by_own_rules
from vidscore_server.errors import message_order
from vidscore_server.runtime import LARGE, offload
from vidscore_server.settings import Settings
from vidscore_server.workers import WorkerPool

Item = TypeVar("Item")


class LatestValue(Generic[Item]):
    """Hands out the newest value: a slow consumer skips values instead of letting them queue up."""

    def __init__(self) -> None:
        self._item: Item | None = None
        self._closed = False
        self._changed = asyncio.Event()

    def put(self, item: Item) -> None:
        """Put a value; it replaces one that was not taken yet."""
        self._item = item
        self._changed.set()

    def close(self) -> None:
        """End the iteration; a value that was not taken is dropped."""
        self._closed = True
        self._changed.set()

    async def __aiter__(self) -> AsyncIterator[Item]:
        """Values as they come, until it is closed."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            if self._closed:
                return
            item, self._item = self._item, None
            if item is not None:
                yield item


# --- Configuration

PATH = "configuration"
SPECIFICATION_PATH = f"{PATH}.specification"
GEOMETRY_FIELDS = {Side.TRUTH: "truth_geometry", Side.DETECTIONS: "detection_geometry"}


class LiveReporting(Struct, frozen=True):
    """When the client wants live reports: after either interval.

    Attributes:
        frame_interval: Frames that both sides must have sent since the last report; 0: not by
            frames.
        time_interval_s: Time since the last report; None: not by time.
        summary_only: Whether reports omit single sequences and curves.
    """

    frame_interval: int
    time_interval_s: float | None
    summary_only: bool


class RunConfiguration(Struct, frozen=True):
    """Configuration of a run.

    Attributes:
        specification: The benchmark.
        evaluators: Its evaluators, ready to judge, in its order.
        arities: Coordinates that an object has, by side.
        live: When live reports are wanted; None: never.
    """

    specification: BenchmarkSpec
    evaluators: tuple[Evaluator[Any], ...]
    arities: Mapping[Side, int]
    live: LiveReporting | None


# --- Schedule of live reports: pure, over a clock that the caller reads

NOTHING = Coverage(0, 0, 0)


class LiveSchedule:
    """Decides when the next live report is due.

    One is due when enough frames were paired or enough time has passed since the last, never
    sooner after the last than the shortest interval, and never while nothing has changed.

    Args:
        wish: The client's request.
        shortest_interval_s: The server's limit.
        now_s: Time at which the stream began.
    """

    def __init__(self, wish: LiveReporting, shortest_interval_s: float, now_s: float) -> None:
        self._wish = wish
        self._shortest_interval_s = shortest_interval_s
        self._last_time_s = now_s
        self._last_coverage = NOTHING

    def seconds_until_due(self, coverage: Coverage, now_s: float) -> float | None:
        """Seconds until a report is due; 0 if one is due, None if more frames must come first."""
        if coverage == self._last_coverage:
            return None
        waits = []
        frames = coverage.paired - self._last_coverage.paired
        if self._wish.frame_interval and frames >= self._wish.frame_interval:
            waits.append(self._shortest_interval_s)
        if self._wish.time_interval_s is not None:
            waits.append(max(self._wish.time_interval_s, self._shortest_interval_s))
        if not waits:
            return None
        return max(0.0, self._last_time_s + min(waits) - now_s)

    def reported(self, coverage: Coverage, now_s: float) -> None:
        """Record that a report over `coverage` is being made."""
        self._last_coverage = coverage
        self._last_time_s = now_s


# --- The session

MANY_UNLISTED_FRAMES = 100_000
"""Number of listed but unsent frames above which runs finish one at a time."""


SMALL_ROWS = 400
"""Frames and coordinates, times the number of evaluators, up to which a run is scored in the event
loop. That takes about a millisecond per run for any evaluator; a round trip to a worker takes many
times as long."""


NAME_ROWS = 100
"""Rows that each further domain or label counts for: reports have scores and curves of each."""


def rows_of_names(names: Collection[str]) -> int:
    """The rows that domains or labels count for; the first one is free."""
    return NAME_ROWS * max(0, len(names) - 1)


class State(StrEnum):
    """State of a run."""

    CONFIGURING = "configuring"
    RECEIVING = "receiving"
    FINISHING = "finishing"
    FINISHED = "finished"
    FAILED = "failed"


class Live(Struct, frozen=True):
    """Reports over exactly the frames that both sides had sent at one moment.

    Attributes:
        reports: A report for each evaluator.
        coverage: How far both sides had come.
    """

    reports: list[Report]
    coverage: Coverage


class ScoringSession:
    """A run from its configuration to its final reports.

    Args:
        settings: The server's limits.
        workers: The worker processes.
        with_live: Whether live reports can be sent; if not, a wish for them is ignored.
        turn: Shared lock; held by a run that finishes with many listed but unsent frames.
        rows: Frames and coordinates of the whole run, if known before it begins and if its
            evaluators have been used before; else None.

    Attributes:
        state: State of the run.
        live: The newest live report that was not taken yet.
    """

    def __init__(
        self,
        settings: Settings,
        workers: WorkerPool,
        *,
        with_live: bool,
        turn: asyncio.Lock | None = None,
        rows: int | None = None,
    ) -> None:
        self._rows = rows
        self._turn = turn or asyncio.Lock()
        self.state = State.CONFIGURING
        self.live: LatestValue[Live] = LatestValue()
        self._settings = settings
        self._workers = workers
        self._with_live = with_live
        self._pairing = Pairing(settings.maximum_waiting_frames)
        self._frames = dict.fromkeys(Side, 0)
        self._columns = asyncio.Lock()  # held while columns are taken in, taken out or compacted
        self._round = asyncio.Lock()  # held while workers tally
        self._changed = asyncio.Event()
        self._settled = asyncio.Event()

    @property
    def configuration(self) -> RunConfiguration:
        """The configuration; there is none while the run is configuring."""
        return self._configuration

    @property
    def is_small(self) -> bool:
        """Whether the whole run is scored in the event loop, without threads or workers."""
        if self._rows is None:
            return False
        evaluators = self._configuration.evaluators
        # A plug-in may end its process, or take any time.
        if not all(is_built_in(entry.name) for entry in evaluators):
            return False
        specification = self._configuration.specification
        domains = {entry.domain for entry in specification.sequences}
        rows = self._rows + specification.evaluated_frame_count + rows_of_names(domains)
        return rows * len(evaluators) <= SMALL_ROWS

    @property
    def coverage(self) -> Coverage:
        """How far both sides have come."""
        return self._pairing.coverage

    async def configure(self, read: Callable[[], RunConfiguration]) -> None:
        """Take the configuration.

        Args:
            read: Reads it; called in a thread if an evaluator is used for the first time, because
                that imports it.

        Raises:
            MessageOrderError: If there already is one.
            ExceptionGroup: With every error in it.
        """
        with self._failing():
            self._require(State.CONFIGURING, "a second configuration", "truth or detections")
            await offload(LARGE if self._rows is None else 0, self._configure, read)
            self._schedule = self._new_schedule()
            self.state = State.RECEIVING

    async def receive(self, side: Side, read: ReadBatch, size: int, source: str) -> None:
        """Take a batch, after waiting until there is room for it.

        Args:
            side: Side of its frames.
            read: Reads the batch.
            size: Frames and coordinates of the batch.
            source: Its path in the request.

        Raises:
            MessageOrderError: If there is no configuration yet.
            InputError: With every fault of the batch.
            LimitError: If the batch, or the run with it, is larger than allowed.
        """
        with self._failing():
            self._require(State.RECEIVING, side.value, "a configuration")
            await self._until_there_is_room()
            rules = BatchRules(self._configuration.arities[side], self._settings)
            async with self._columns:
                await refuse_by_own_rules(
                    self._workers,
                    self._configuration.evaluators,
                    side,
                    partial(read, rules),
                    size,
                    source,
                )
                await offload(size, self._take_in, side, partial(read, rules), source)
            self._refuse_too_much_buffered()
            self._changed.set()

    async def keep_tallying(self) -> None:
        """Tally and report while the run receives; returns when it no longer does."""
        with self._failing():
            while await self._until_work_is_due():
                wanted = self._seconds_until_report() == 0
                live = await self._tally(for_reports=wanted)
                if wanted:
                    self.live.put(live)
        self.live.close()

    async def finish(self) -> list[Report]:
        """Score every evaluated frame; those without detections count as missed.

        Raises:
            InputError: If detections name a sequence that neither truth nor specification knows.
        """
        with self._failing():
            self._require(State.RECEIVING, "the end", "a configuration")
            self.state = State.FINISHING
            self._changed.set()
            async with self._turn_where_many_are_unlisted():
                async with self._columns:
                    rest = await offload(0 if self.is_small else LARGE, self._take_rest)
                    if rest is not None:
                        self._accumulation.add(*rest)
                final = await self._tally(for_reports=True)
            self.state = State.FINISHED
            return final.reports

    def _configure(self, read: Callable[[], RunConfiguration]) -> None:
        self._configuration = read()
        self._accumulation = Accumulation(
            self._configuration.evaluators, self._settings, self._workers
        )

    def _take_in(self, side: Side, read: Callable[[], Annotations], source: str) -> None:
        batch = read()
        self._refuse_forbidden(side, batch, source)
        self._count_frames(side, batch)
        with placed_in(source):
            specification = self._configuration.specification
            complete = pair_frames(self._pairing, specification, side, batch)
        if complete is not None:
            self._accumulation.add(*complete)

    def _turn_where_many_are_unlisted(self) -> AbstractAsyncContextManager[None]:
        """Lock of the last round: unsent frames cost their sender nothing, but memory here."""
        named = self._configuration.specification.evaluated_frame_count
        unlisted = named - self._frames[Side.TRUTH]
        return self._turn if unlisted > MANY_UNLISTED_FRAMES else nullcontext()

    def _take_rest(self) -> tuple[Annotations, Annotations] | None:
        configuration = self._configuration
        return final_frames(self._pairing, configuration.specification, configuration.arities)

    def _refuse_forbidden(self, side: Side, batch: Annotations, source: str) -> None:
        faults = rule_faults(self._configuration.evaluators, side, batch, source)
        if faults:
            raise InputError(faults)

    def _count_frames(self, side: Side, batch: Annotations) -> None:
        self._frames[side] += batch.frame_count
        count = self._frames[side]
        self._settings.check_limit("maximum_frames", count, f"{count} frames of {side.value}")

    def _refuse_too_much_buffered(self) -> None:
        held = self._pairing.held_bytes + self._accumulation.pending_bytes
        found = f"{held} bytes wait for their other side or for a tally"
        self._settings.check_limit("maximum_buffered_bytes", held, found)

    async def _until_there_is_room(self) -> None:
        while self._accumulation.settleable_bytes > 2 * COMPACT_BYTES:
            self._settled.clear()
            await self._settled.wait()

    async def _until_work_is_due(self) -> bool:
        """Wait for work; False once the run no longer receives."""
        while self.state is State.RECEIVING:
            due_in_s = self._seconds_until_report()
            if due_in_s == 0 or self._accumulation.settleable_bytes > COMPACT_BYTES:
                return True
            self._changed.clear()
            try:
                async with asyncio.timeout(due_in_s):
                    await self._changed.wait()
            except TimeoutError:
                continue
        return False

    async def _tally(self, *, for_reports: bool) -> Live:
        async with self._round:
            async with self._columns:
                coverage = self.coverage
                rows = self._accumulation.pending_bytes // BYTES_PER_ROW
                shares = await offload(rows, self._accumulation.take, for_reports=for_reports)
                if for_reports and self._schedule is not None:
                    self._schedule.reported(coverage, asyncio.get_running_loop().time())
            tallies = await self._accumulation.tally(shares, here=self.is_small)
            async with self._columns:
                self._accumulation.compact(shares, tallies)
            self._settled.set()
            if not for_reports:
                return Live([], coverage)
            reports = await self._accumulation.reports(shares, tallies, here=self.is_small)
            return Live(reports, coverage)

    def _new_schedule(self) -> LiveSchedule | None:
        if self._configuration.live is None or not self._with_live:
            return None
        shortest_s = self._settings.minimum_live_interval_ms / 1000
        now_s = asyncio.get_running_loop().time()
        return LiveSchedule(self._configuration.live, shortest_s, now_s)

    def _seconds_until_report(self) -> float | None:
        if self._schedule is None:
            return None
        return self._schedule.seconds_until_due(self.coverage, asyncio.get_running_loop().time())

    def _require(self, state: State, found: str, expected: str) -> None:
        if self.state is not state:
            raise message_order(found, expected)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.state = State.FAILED
            raise
