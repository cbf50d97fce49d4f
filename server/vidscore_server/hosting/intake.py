"""Appends of all calls together: checked, stored and acknowledged in groups.

    waiting --checked together--> checked --stored in one commit--> acknowledged

Whatever waits makes up the next group, which is checked while the group before is stored: nobody
waits for a timer, and the more comes, the less each batch costs. Batches of one call stay in
order, and the first that is refused ends the call's line.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from vidscore_server.codec.annotations_codec import batch_size, held_bytes
from vidscore_server.concurrency import offload
from vidscore_server.errors import FrameExistsError
from vidscore_server.failpoints import failpoint
from vidscore_server.hosting.append_rules import AppendRules
from vidscore_server.hosting.appends import (
    Append,
    Arrival,
    FirstFramesError,
    Outcome,
    append_command,
    read_appends,
)
from vidscore_server.hosting.benchmarks import Benchmarks
from vidscore_server.hosting.drafts import admit
from vidscore_server.hosting.names import SubmissionName
from vidscore_server.hosting.room import Place, Room
from vidscore_server.hosting.site import Site
from vidscore_server.store import Transaction
from vidscore_server.store.errors import AlreadyExistsError
from vidscore_server.store.records import SubmissionRecord

MAXIMUM_GROUP = 1_000
"""Batches of one group: more would make the first of them wait without need."""

MAXIMUM_GROUP_SIZE = 1_000_000
"""Numbers in the batches of one group, but for its last; joined, they stand in memory twice."""

BATCH_SIZE = 20
"""What a batch costs, however small it is, in numbers that are checked."""


@dataclass(eq=False, slots=True)
class Line:
    """Where the batches of one call stand, one behind the other.

    Attributes:
        rules: What the benchmark holds them to; the call looks to it that they are up to date.
        team: Team of the caller; None for one that sees all.
        ended: Whether a batch of it was refused: those behind it are not looked at.
    """

    rules: AppendRules
    team: str | None
    ended: bool = False


@dataclass(eq=False, slots=True)
class _Ticket:
    """A batch that waits.

    Attributes:
        line: Where it stands.
        arrival: The batch.
        size: Roughly what it costs.
        place: Room that it takes until it is stored or refused.
        stored: The stream's next offset, once its frames are durable.
    """

    line: Line
    arrival: Arrival
    size: int
    place: Place
    stored: asyncio.Future[int]

    def settle(self, outcome: Outcome) -> None:
        """Tell who waits for it; nobody may."""
        if isinstance(outcome, Exception):
            self.line.ended = True
            if not self.stored.done():
                self.stored.set_exception(outcome)
        elif not self.stored.done():
            self.stored.set_result(outcome)


_Checked = tuple[_Ticket, Append]


class Intake:
    """Takes in the batches of all calls.

    Args:
        site: The server's common ground.
        benchmarks: Its benchmarks.
        room: What bounds how much is taken in and not stored.

    Attributes:
        held_count: Batches that are taken in, and neither stored nor refused.
    """

    def __init__(self, site: Site, benchmarks: Benchmarks, room: Room) -> None:
        """Take in nothing yet."""
        self.held_count = 0
        self._room = room
        self._site = site
        self._benchmarks = benchmarks
        self._waiting: deque[_Ticket] = deque()
        self._working: asyncio.Task[None] | None = None
        self._storing: asyncio.Task[None] | None = None

    async def append(self, line: Line, arrival: Arrival) -> asyncio.Future[int]:
        """Take in a batch once there is room; gives its outcome to wait for.

        That is the stream's next offset once its frames are durable. The future's error is a
        `StateError` where the offset protocol refuses the batch, a `LimitError` or an `InputError`
        where it breaks a rule. It is cancelled where a batch before it in its line was refused.

        Args:
            line: Where it stands, behind those that came before.
            arrival: The batch.

        Raises:
            LimitError: If it is larger than all the room there is.
        """
        place = await self._room.take(line, line.team, held_bytes(arrival.message))
        stored: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        size = BATCH_SIZE + batch_size(arrival.message)
        self._waiting.append(_Ticket(line, arrival, size, place, stored))
        self.held_count += 1
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        return stored

    async def _work(self) -> None:
        """Go on until nothing waits."""
        try:
            while self._waiting:
                checked = await self._check(self._next_group())
                if self._storing is not None:
                    await self._storing
                self._storing = asyncio.create_task(self._store(checked))
        finally:
            self._working = None

    def _next_group(self) -> list[_Ticket]:
        group: list[_Ticket] = []
        size = 0
        while self._waiting and len(group) < MAXIMUM_GROUP and size < MAXIMUM_GROUP_SIZE:
            ticket = self._waiting.popleft()
            size += ticket.size
            group.append(ticket)
        return group

    async def _check(self, group: Sequence[_Ticket]) -> list[_Checked]:
        """Those of a group that keep the rules; the others are told."""
        by_rules: defaultdict[int, list[_Ticket]] = defaultdict(list)
        for ticket in group:
            by_rules[id(ticket.line.rules)].append(ticket)
        checked: list[_Checked] = []
        for tickets in by_rules.values():
            outcomes = await offload(
                sum(ticket.size for ticket in tickets),
                read_appends,
                [ticket.arrival for ticket in tickets],
                tickets[0].line.rules,
                self._site.settings,
            )
            for ticket, outcome in zip(tickets, outcomes, strict=True):
                if not ticket.line.ended and not isinstance(outcome, Exception):
                    checked.append((ticket, outcome))
                    continue
                if ticket.line.ended:
                    ticket.stored.cancel()
                elif isinstance(outcome, Exception):
                    ticket.settle(outcome)
                self._let_go(ticket)
        return checked

    def _let_go(self, ticket: _Ticket) -> None:
        """Hold a batch no more, which is stored or refused."""
        self.held_count -= 1
        self._room.leave(ticket.place)

    async def _store(self, checked: Sequence[_Checked]) -> None:
        by_submission: defaultdict[SubmissionName, list[_Checked]] = defaultdict(list)
        for ticket, append in checked:
            by_submission[append.stream.of_submission].append((ticket, append))
        await asyncio.gather(
            *(self._store_in(name, entries) for name, entries in by_submission.items())
        )
        for ticket, _ in checked:
            self._let_go(ticket)

    async def _store_in(self, name: SubmissionName, checked: Sequence[_Checked]) -> None:
        """Store batches of one submission; where a frame comes again, halves find out which."""
        outcomes = await self._outcomes(name, checked)
        if outcomes is None:
            half = len(checked) // 2
            await self._store_in(name, checked[:half])
            await self._store_in(name, checked[half:])
            return
        failpoint("before_acknowledge")
        for (ticket, _), outcome in zip(checked, outcomes, strict=True):
            ticket.settle(outcome)
        self._site.changes.tell(name)

    async def _outcomes(
        self, name: SubmissionName, checked: Sequence[_Checked]
    ) -> Sequence[Outcome] | None:
        """What became of batches; None where a frame of one of several is stored already."""
        appends = [(append, ticket.line.team) for ticket, append in checked]
        settings, now = self._site.settings, self._site.clock()

        def admit_now(transaction: Transaction, record: SubmissionRecord) -> None:
            admit(transaction, self._benchmarks, record, now)

        try:
            try:
                command = append_command(appends, settings, now)
                return await self._site.write(command, about=[name])
            except FirstFramesError:
                # They take a place in the team's quota, which other submissions of it take, too.
                command = append_command(appends, settings, now, admit_now)
                return await self._site.write(command)
        except AlreadyExistsError:
            return [await self._frame_exists(name, checked[0][1])] if len(checked) == 1 else None
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must know
            return [error] * len(checked)

    async def _frame_exists(self, name: SubmissionName, append: Append) -> Exception:
        frames = [(*key, number) for key, numbers in append.frames.items() for number in numbers]
        try:
            stored = await self._site.read(lambda reader: reader.stored_frames(*name, frames))
        except Exception as error:  # noqa: BLE001 - the same
            return error
        domain, sequence, number = (stored or frames)[0]
        place = "/".join(filter(None, (domain, sequence)))
        return FrameExistsError(
            f"{max(1, len(stored))} frames of the batch are stored in the submission already, "
            f"the first is frame {number} of sequence {place[:80]}",
            frames=str(max(1, len(stored))),
        )
