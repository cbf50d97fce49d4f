"""Concurrent writers of one submission always see a linearizable history.

They open its streams, append, send again, send invalid batches, read, seal, cancel, and abort
calls. Each history of calls and answers is checked against a model of offsets and epochs.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import TypeVar

import grpc
import pytest
from tests.campaigns.linearizable_check import Call, check_model, verdicts
from tests.campaigns.settings import EFFORT, SEED
from tests.server.domain.hosted import Client, Hosted, hosting
from tests.server.domain.sky import batch
from tests.server.scene import refused
from tools.campaign_record import record

pytestmark = pytest.mark.campaign

HISTORIES = 60
"""Histories of a round, of which there are `EFFORT`."""

CONCURRENT_WORLDS = 4
WRITERS = 4
CALLS = 9
"""Calls of a writer."""

STREAMS = ("one", "two")
LONGEST_BATCH = 3
OTHER_FRAMES = 400
"""Added to a frame number to send another frame than the other writers at the same offset."""

Answer = TypeVar("Answer")

AFTER_ALL = 1 << 40
"""The end of a call that broke: it may take effect at any time."""


async def test_every_history_of_concurrent_writers_is_linearizable(tmp_path: Path) -> None:
    for number in range(EFFORT):
        began_s, seed = time.monotonic(), SEED + number
        folder = tmp_path / str(number)
        folder.mkdir()
        async with _server(folder) as hosted:
            histories = await _histories(hosted, seed)
        good = verdicts(histories)
        findings = [f"history {row} has no order" for row, fine in enumerate(good) if not fine]
        told = Counter(call.told for history in histories for call in history)
        tried = {
            "histories": len(histories),
            "calls": told.total(),
            "calls that broke": told["unknown"],
            "refusals": told.total() - told["unknown"] - told["ok"],
        }
        record("histories", seed, tried, findings, time.monotonic() - began_s)
        assert findings == []
        assert set(told) >= EXPECTED


EXPECTED = {
    *("ok", "unknown", "EPOCH_STALE", "OFFSET_GAP", "OFFSET_STRADDLES", "CONTENT_DIFFERS"),
    *("FRAME_EXISTS", "FRAME_COUNT_DIFFERS", "SUBMISSION_ENDED"),
}
"""Answers that must occur in every round; otherwise it would not cover what it is for."""


@asynccontextmanager
async def _server(folder: Path) -> AsyncIterator[Hosted]:
    """A server with a benchmark without truth: a sealed submission can always be cancelled."""
    async with hosting(folder) as hosted:
        await hosted.organiser.create_benchmark()
        yield hosted


async def _histories(hosted: Hosted, seed: int) -> list[list[Call]]:
    histories: list[list[Call]] = []
    for first in range(0, HISTORIES, CONCURRENT_WORLDS):
        worlds = [_World(hosted.red, f"h{row}", Random(f"{seed} {row}"))
                  for row in range(first, min(first + CONCURRENT_WORLDS, HISTORIES))]  # fmt: skip
        async with asyncio.timeout(120):
            histories += await asyncio.gather(*(world.run() for world in worlds))
    return histories


class _World:
    """A submission and its writers."""

    def __init__(self, team: Client, name: str, chance: Random) -> None:
        self.team = team
        self.name = name
        self.chance = chance
        self.history: list[Call] = []
        self.time: Iterator[int] = itertools.count()

    async def run(self) -> list[Call]:
        """Run all writers concurrently; returns the history."""
        await self.team.submission(self.name)
        # The helper has opened the default stream, which is not part of the histories.
        writers = [_Writer(self, number) for number in range(WRITERS)]
        await asyncio.gather(*(writer.run() for writer in writers))
        await asyncio.gather(self.team.cancel(self.name))
        return self.history

    async def make(self, call: Call, answer: Awaitable[Answer]) -> Answer | None:
        """Make a call and record its answer; None if it was refused or broke."""
        self.history.append(call)
        made = asyncio.ensure_future(answer)
        if self.chance.random() < BREAKS:
            for _ in range(self.chance.randint(0, 12)):
                await asyncio.sleep(0)
            made.cancel()
        call.end = AFTER_ALL
        try:
            found = await made
        except asyncio.CancelledError:
            return None
        except grpc.aio.AioRpcError as error:
            call.told = refused(error).reason
            call.end = next(self.time)
            return None
        call.told, call.end = "ok", next(self.time)
        return found


BREAKS = 0.12
"""The fraction of calls that are aborted."""


class _Writer:
    """A client that writes to both streams, and trusts its last answers."""

    def __init__(self, world: _World, number: int) -> None:
        self.world = world
        self.number = number
        self.chance = world.chance
        self.epochs = dict.fromkeys(STREAMS, 0)
        self.offsets = dict.fromkeys(STREAMS, 0)
        self.has_appended = False
        self.total = 0

    async def run(self) -> None:
        for number in range(CALLS):
            stream = self.chance.choice(STREAMS)
            late = number > CALLS - 4 and self.has_appended
            if not self.epochs[stream] or self.chance.random() < 0.12:
                await self.open(stream)
            elif late and self.chance.random() < 0.15:
                await self.seal()
            elif late and self.chance.random() < 0.05:
                await self.cancel()
            elif self.chance.random() < 0.15:
                await self.look()
            else:
                await self.append(stream)

    def call(self, kind: str, **asked: object) -> Call:
        return Call(self.number, next(self.world.time), kind, **asked)  # type: ignore[arg-type]

    @property
    def path(self) -> str:
        return f"benchmarks/dots/submissions/{self.world.name}"

    async def open(self, stream: str) -> None:
        call = self.call("open", stream=stream)
        found = await self.world.make(call, self.world.team.open(self.path, stream))
        if found is not None:
            call.told_epoch = self.epochs[stream] = found.epoch
            call.next_offset = self.offsets[stream] = found.next_offset

    async def append(self, stream: str) -> None:
        offset, frames = self.drawn(stream)
        call = self.call(
            "append", stream=stream, epoch=self.epochs[stream], offset=offset, frames=frames
        )
        name = f"{self.path}/streams/{stream}"
        sent = self.world.team.append(name, offset, batch(frames), self.epochs[stream])
        found = await self.world.make(call, sent)
        if found is not None:
            call.next_offset = self.offsets[stream] = found
            self.has_appended = True

    def drawn(self, stream: str) -> tuple[int, tuple[int, ...]]:
        """A random offset and frames: mostly what every other writer would append there."""
        offset, size = self.offsets[stream], self.chance.randint(1, LONGEST_BATCH)
        change = self.chance.random()
        if change < 0.2:  # A frame sent again, or beyond the end.
            offset = max(0, offset - self.chance.randint(1, 3))
        elif change < 0.25:
            offset += 1
        first = offset + 200 * STREAMS.index(stream)
        if 0.25 <= change < 0.35:
            first += OTHER_FRAMES
        elif 0.35 <= change < 0.5:  # A frame that the other stream may have.
            first = self.chance.randint(0, 4) + 200 * (1 - STREAMS.index(stream))
        return offset, tuple(range(first, first + size))

    async def look(self) -> None:
        call = self.call("get")
        found = await self.world.make(call, self.world.team.get(self.world.name))
        if found is not None:
            call.total = self.total = found.frame_count

    async def seal(self) -> None:
        count = self.chance.choice((None, self.total))
        call = self.call("seal", count=-1 if count is None else count)
        await self.world.make(call, self.world.team.seal(self.world.name, count))

    async def cancel(self) -> None:
        await self.world.make(self.call("cancel"), self.world.team.cancel(self.world.name))


def test_the_model_judges_handmade_histories_correctly() -> None:
    check_model()
