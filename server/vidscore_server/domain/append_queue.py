"""Appends of all calls together: bounded, and checked, stored and acknowledged in groups.

    waiting --checked together--> checked --stored in one commit--> acknowledged

All waiting batches form the next group, which is checked while the previous group is stored: there
is no timer to wait for, and the higher the load, the less each batch costs. Batches of one call
stay in order; after the first refused one, later ones are dropped.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Any

from vidscore_evaluators.annotations import sequence_name
from vidscore_evaluators.names import counted
from vidscore_server.domain.appends import (
    AppendTarget,
    FirstFramesError,
    Outcome,
    PendingAppend,
    append_command,
    check_appends,
    refuse_detections,
)
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.byte_budget import ByteBudget
from vidscore_server.domain.context import Context
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.quotas import admit
from vidscore_server.errors import FrameExistsError
from vidscore_server.runtime import failpoint, offload
from vidscore_server.store import Transaction
from vidscore_server.store.errors import AlreadyExistsError
from vidscore_server.store.records import SubmissionRecord
from vidscore_server.workers import WorkerPool

MAXIMUM_GROUP = 1_000
"""Maximum number of batches in a group: with more, the first would wait needlessly."""

MAXIMUM_GROUP_SIZE = 1_000_000
"""Maximum numbers in the batches of a group, except its last; joined, they are in memory twice."""

BATCH_SIZE = 20
"""Fixed cost of checking a batch, in numbers checked."""


class AppendQueue:
    """Queues the batches of all calls.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        budget: Upper bound on the bytes of batches that are received but not stored.
        workers: The worker processes, which check the rules of plug-ins.

    Attributes:
        held_count: Number of batches that are received, and neither stored nor refused yet.
    """

    def __init__(
        self, context: Context, benchmarks: Benchmarks, budget: ByteBudget, workers: WorkerPool
    ) -> None:
        self.held_count = 0
        self._budget = budget
        self._workers = workers
        self._context = context
        self._benchmarks = benchmarks
        self._waiting: deque[PendingAppend] = deque()
        self._working: asyncio.Task[None] | None = None
        self._storing: asyncio.Task[None] | None = None

    async def append(
        self,
        target: AppendTarget,
        offset: int,
        message: Any,
        size: int,
        held_bytes: int,
        source_position: str | None = None,
    ) -> asyncio.Future[int]:
        """Queue a batch once there is memory for it; return a future for its result.

        The result is the stream's next offset, once the batch's frames are durable. The future
        fails with a `StateError` if the offset protocol refuses the batch, and with a `LimitError`
        or an `InputError` if it breaks a rule. It is cancelled if an earlier batch of its call was
        refused.

        Args:
            target: The stream.
            offset: Offset of the batch's first frame.
            message: The batch, as it was received.
            size: Number of frames and coordinates in the batch.
            held_bytes: Memory that it takes, in bytes.
            source_position: Source position after the batch; None if its writer keeps none.

        Raises:
            LimitError: If it is larger than the whole budget.
            InputError: If it breaks a rule of a plug-in; the other rules are checked later.
        """
        arrival_time = self._context.clock()  # before it waits for anything
        await refuse_detections(self._workers, target.rules, message, size, self._context)
        reservation = await self._budget.reserve(target, target.team, held_bytes)
        stored: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append(
            PendingAppend(
                target,
                offset,
                message,
                BATCH_SIZE + size,
                reservation,
                stored,
                arrival_time,
                source_position,
            )
        )
        self.held_count += 1
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        return stored

    async def _work(self) -> None:
        """Process groups until nothing waits."""
        try:
            while self._waiting:
                checked = await self._check(self._next_group())
                if self._storing is not None:
                    await self._storing
                self._storing = asyncio.create_task(self._store(checked))
        finally:
            self._working = None

    def _next_group(self) -> list[PendingAppend]:
        group: list[PendingAppend] = []
        size = 0
        while self._waiting and len(group) < MAXIMUM_GROUP and size < MAXIMUM_GROUP_SIZE:
            append = self._waiting.popleft()
            size += append.size
            group.append(append)
        return group

    async def _check(self, group: Sequence[PendingAppend]) -> list[PendingAppend]:
        """Check a group: return the batches that keep the rules, and refuse the others."""
        by_rules: defaultdict[int, list[PendingAppend]] = defaultdict(list)
        for append in group:
            by_rules[id(append.target.rules)].append(append)
        checked: list[PendingAppend] = []
        for appends in by_rules.values():
            errors = await offload(
                sum(append.size for append in appends),
                check_appends,
                appends,
                self._context.settings,
                self._context.codec,
            )
            for append, error in zip(appends, errors, strict=True):
                if not append.target.refused and error is None:
                    checked.append(append)
                    continue
                if append.target.refused:
                    append.stored.cancel()
                elif error is not None:
                    append.resolve(error)
                self._release(append)
        return checked

    def _release(self, append: PendingAppend) -> None:
        """Release a batch that is stored or refused."""
        self.held_count -= 1
        self._budget.release(append.reservation)

    async def _store(self, checked: Sequence[PendingAppend]) -> None:
        by_submission: defaultdict[SubmissionName, list[PendingAppend]] = defaultdict(list)
        for append in checked:
            by_submission[append.target.submission].append(append)
        await asyncio.gather(
            *(self._store_in(name, appends) for name, appends in by_submission.items())
        )
        for append in checked:
            self._release(append)

    async def _store_in(self, name: SubmissionName, checked: Sequence[PendingAppend]) -> None:
        """Store batches of one submission; if a frame is repeated, bisect to find its batch."""
        outcomes = await self._outcomes(name, checked)
        if outcomes is None:
            half = len(checked) // 2
            await self._store_in(name, checked[:half])
            await self._store_in(name, checked[half:])
            return
        failpoint("before_acknowledge")
        for append, outcome in zip(checked, outcomes, strict=True):
            append.resolve(outcome)
        self._context.changes.tell(name)

    async def _outcomes(
        self, name: SubmissionName, checked: Sequence[PendingAppend]
    ) -> Sequence[Outcome] | None:
        """Outcomes of batches; None if there are several, and a frame of one is already stored."""
        settings, now = self._context.settings, self._context.clock()

        def admit_now(transaction: Transaction, record: SubmissionRecord) -> None:
            admit(transaction, self._benchmarks, record, now)

        try:
            try:
                command = append_command(checked, settings, now)
                return await self._context.write(command, about=[name])
            except FirstFramesError:
                # First frames take a place in the quota that all of the team's submissions share.
                command = append_command(checked, settings, now, admit_now)
                return await self._context.write(command)
        except AlreadyExistsError:
            return [await self._frame_exists(name, checked[0])] if len(checked) == 1 else None
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must know
            return [error] * len(checked)

    async def _frame_exists(self, name: SubmissionName, append: PendingAppend) -> Exception:
        frames = [(*key, number) for key, numbers in append.frames.items() for number in numbers]
        try:
            stored = await self._context.read(lambda reader: reader.stored_frames(*name, frames))
        except Exception as error:  # noqa: BLE001 - the same
            return error
        domain, sequence, number = (stored or frames)[0]
        place = sequence_name((domain, sequence))
        count = max(1, len(stored))
        of_batch = counted(count, "frame of the batch is", "frames of the batch are")
        return FrameExistsError(
            f"{of_batch} stored in the submission already, the first is frame {number} of sequence "
            f"{place[:80]}",
            frames=str(count),
        )
