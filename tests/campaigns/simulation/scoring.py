"""Simulated scoring on a server: it takes time, and fails in every way."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum, auto
from hashlib import sha256
from random import Random
from typing import Any

import orjson
from tests.campaigns.simulation.batches import Batch

from vidscore_server.domain.batches import unpacked
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.context import Context
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.scores import PackedReport, Result
from vidscore_server.errors import WorkerLostError
from vidscore_server.store import Reader

STEPS = 1000
"""The number of possible values of a score."""

HALF = 0.5 / STEPS
"""Added to the values of the private part, to distinguish them from all others."""


class Fate(Enum):
    """The outcome of a job."""

    WELL = auto()
    LONG = auto()
    """Longer than a lease, which must be renewed meanwhile."""
    LOST = auto()
    BROKEN = auto()
    HANGS = auto()


@dataclass
class Luck:
    """Decides the outcomes of jobs.

    Attributes:
        chance: The world's source of randomness.
        bad_until_s: Jobs may fail before this time.
        kinds: The possible failures.
        wrong: The number of failed jobs.
    """

    chance: Random
    bad_until_s: float = 0.0
    kinds: tuple[Fate, ...] = tuple(Fate)
    wrong: int = 0

    def fate(self, now_s: float) -> Fate:
        """The outcome of the next job."""
        found = self.chance.choice(self.kinds) if now_s < self.bad_until_s else Fate.WELL
        self.wrong += found is not Fate.WELL
        return found


def value_of(submission: str, revision: int, portion: Portion) -> float:
    """The score of a submission under a truth revision, the same on any server."""
    digest = sha256(f"{submission}/{revision}/{portion}".encode()).digest()
    value = int.from_bytes(digest[:4], "big") % STEPS / STEPS
    return value + HALF if portion is Portion.PRIVATE else value


class SimulatedScorer:
    """Replaces the scorer, which needs worker processes.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        luck: Decides the outcomes of jobs.
    """

    def __init__(self, context: Context, benchmarks: Benchmarks, luck: Luck) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._luck = luck

    async def results(self, name: SubmissionName, revision: int, **_: bool) -> list[Result]:
        """Score a submission; the report lists its frames.

        Raises:
            LookupError: If it no longer exists.
            TimeoutError: If it takes longer than the settings allow.
            WorkerLostError: If its worker dies.
            RuntimeError: If the work fails.
        """
        async with asyncio.timeout(self._context.settings.scoring_timeout_s):
            found = await self._context.read(lambda reader: self._read(reader, name, revision))
            definition, numbers, partial = found
            fate = self._luck.fate(asyncio.get_running_loop().time())
            await asyncio.sleep(self._duration_s(fate))
            if fate is Fate.LOST:
                raise WorkerLostError("the worker has died")
            if fate is Fate.BROKEN:
                raise RuntimeError("the work goes wrong")
        report = orjson.dumps(sorted(numbers))
        evaluator = definition.evaluators[0]
        portions = list(Portion) if definition.policy.keeps_private else [Portion.WHOLE]
        parts = {
            portion: PackedReport(report, {"f1": value_of(name.submission, revision, portion)})
            for portion in portions
        }
        key = definition.configurations[evaluator.name]
        return [Result(evaluator, revision, key, partial, parts)]

    def frames_lack_truth(self, reader: Reader, name: SubmissionName, revision: int) -> bool:
        """Not needed: nothing is shown live in a world."""
        raise NotImplementedError

    def _duration_s(self, fate: Fate) -> float:
        settings, chance = self._context.settings, self._luck.chance
        if fate is Fate.HANGS:
            return 2.0 * settings.scoring_timeout_s
        if fate is Fate.LONG:
            return chance.uniform(1.0, 2.5) * settings.lease_timeout_s
        return chance.uniform(0.1, 5.0)

    def _read(
        self, reader: Reader, name: SubmissionName, revision: int
    ) -> tuple[Any, list[int], bool]:
        benchmark = reader.benchmark(name.benchmark)
        record = reader.truth_revision(name.benchmark, revision)
        if benchmark is None or record is None or reader.submission(*name) is None:
            raise LookupError(str(name))
        stored = unpacked(reader.detection_payloads(*name))
        numbers = [number for data in stored for number in Batch.read(data).numbers]
        return self._benchmarks.definition(benchmark), numbers, not record.complete
