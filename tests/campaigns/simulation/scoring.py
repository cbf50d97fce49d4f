"""Scoring, as a server of a world does it: it takes its time, and goes wrong in every way."""

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
"""So many values a score may have."""

HALF = 0.5 / STEPS
"""Tells a value of the private part from all others."""


class Fate(Enum):
    """What becomes of a job."""

    WELL = auto()
    LONG = auto()
    """It takes longer than a lease, which has to be prolonged meanwhile."""
    LOST = auto()
    BROKEN = auto()
    HANGS = auto()


@dataclass
class Luck:
    """What jobs come to.

    Attributes:
        chance: All chance of the world.
        bad_until_s: Jobs may go wrong before.
        kinds: The ways in which they do.
        wrong: How many went wrong.
    """

    chance: Random
    bad_until_s: float = 0.0
    kinds: tuple[Fate, ...] = tuple(Fate)
    wrong: int = 0

    def fate(self, now_s: float) -> Fate:
        """The fate of the next job."""
        found = self.chance.choice(self.kinds) if now_s < self.bad_until_s else Fate.WELL
        self.wrong += found is not Fate.WELL
        return found


def value_of(submission: str, revision: int, portion: Portion) -> float:
    """The score of a submission under a revision of the truth, as any server finds it."""
    digest = sha256(f"{submission}/{revision}/{portion}".encode()).digest()
    value = int.from_bytes(digest[:4], "big") % STEPS / STEPS
    return value + HALF if portion is Portion.PRIVATE else value


class SimulatedScorer:
    """In the place of what needs worker processes.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        luck: What jobs come to.
    """

    def __init__(self, context: Context, benchmarks: Benchmarks, luck: Luck) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._luck = luck

    async def results(self, name: SubmissionName, revision: int, **_: bool) -> list[Result]:
        """Score a submission; its report says which frames were there.

        Raises:
            LookupError: If it is gone.
            TimeoutError: If it takes longer than the settings allow.
            WorkerLostError: If its worker dies.
            RuntimeError: If the work goes wrong.
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
        """Nothing is shown live here, so that nobody asks."""
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
