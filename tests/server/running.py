"""A server in the test process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.jobs import Job
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.trust.tiers import DrawsJob
from vidscore_server.application import ScoringServer
from vidscore_server.settings import load_settings
from vidscore_server.workers import AnyJob, Result, WorkerPool


@dataclass(frozen=True)
class Running:
    """A server in this process, and a channel to it."""

    server: ScoringServer
    address: str
    channel: grpc.aio.Channel


class PlayedWorkers(WorkerPool):
    """Workers without processes; `gate` can pause them."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.jobs: list[Job] = []

    @property
    def process_ids(self) -> list[int]:
        return []

    @property
    def busy_count(self) -> int:
        return 0

    async def capacity(self) -> int:
        return 1

    async def run(self, job: Job) -> bytes:
        self.jobs.append(job)
        await self.gate.wait()
        return await super().run(job)

    async def run_sparing(self, job: Job) -> bytes:
        return await self.run(job)

    async def outcomes(self, job: Job, at: OperatingPoint) -> Outcomes:
        self.jobs.append(job)
        await self.gate.wait()
        return await super().outcomes(job, at)

    async def draws(self, job: DrawsJob) -> FloatArray:
        await self.gate.wait()
        return await super().draws(job)

    async def work(
        self,
        job: AnyJob,
        work: Callable[[AnyJob], Result],
        *,
        timeout_s: float | None = None,
        spares_one: bool = False,
    ) -> Result:
        del timeout_s, spares_one
        return work(job)


@asynccontextmanager
async def serving(workers: WorkerPool, **flags: object) -> AsyncIterator[Running]:
    """A server with the given limits."""
    settings = load_settings(flags={"listen": "127.0.0.1:0", **flags})
    server = ScoringServer(settings, workers)
    address = str(await server.start())
    async with grpc.aio.insecure_channel(address) as channel:
        yield Running(server, address, channel)
    await server.stop(0)
