"""Update tiers to the newest boards, in the background: a board never waits for them.

A submission on a board is scored once on draws of sequences, in workers, and the scores are stored.
Tiers are then a comparison of stored numbers. One server at a time works on a board, under a lease;
the store records the progress, so that another server can continue.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from datetime import datetime
from functools import partial

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.tally import Tally, merge_tallies
from vidscore_evaluators.trust.drawn_tallies import pack_parts
from vidscore_evaluators.trust.few_sequences import domain_sizes
from vidscore_evaluators.trust.resampling import draw_sequences
from vidscore_evaluators.trust.systems import Contest, by_sequence
from vidscore_evaluators.trust.tiers import (
    DrawsJob,
    find_tiers,
    losses_of,
    resample_count,
    share_apart,
)
from vidscore_server.domain.access import Caller
from vidscore_server.domain.basis import shown_basis
from vidscore_server.domain.batches import UNREADABLE
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.board_rows import KeptBoards
from vidscore_server.domain.context import Context
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leaderboard import Board
from vidscore_server.domain.leases import (
    ChangedBenchmarks,
    LeasedOperations,
    LeaseLostError,
    Leases,
)
from vidscore_server.domain.names import SubmissionName, benchmark_name
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.scorer import Scorer
from vidscore_server.domain.tiers import (
    DRAWS,
    FEWEST_SEQUENCES,
    SEED,
    BoardTiers,
    Draws,
    TierPlan,
    lack_of_tiers,
    stored_tiers,
    tier_plan,
)
from vidscore_server.errors import NotFoundError
from vidscore_server.logs import log, places_of
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import BenchmarkRecord, Role, ScoreDrawsRecord

DRAWS_PER_JOB = 20
"""Number of draws in a job, which takes at most about a second: streams wait no longer."""

OBSERVERS = {True: Caller(role=Role.ORGANISER), False: Caller(role=Role.VIEWER)}
"""A caller who sees the exact board, and one who does not."""


class TierUpdater:
    """Updates the tiers of all boards.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        scorer: Reads both sides of a submission, and scores them in workers.
        leases: The server's leases.
        boards: Cached boards.
    """

    def __init__(
        self,
        context: Context,
        benchmarks: Benchmarks,
        scorer: Scorer,
        leases: Leases,
        boards: KeptBoards,
    ) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._boards = boards
        self._scorer = scorer
        self.operations = LeasedOperations(leases, ())
        self._changed = ChangedBenchmarks(self.operations, _name_of, self._has_work)
        self._closings: dict[str, datetime] = {}

    async def advance(self) -> None:
        """Start to update a board with outdated tiers, one board at a time."""
        if self.operations.count:
            return
        self._look_at_closed()
        for benchmark in await self._context.read(partial(self._changed.due, most=1)):
            await self.operations.begin(_name_of(benchmark), partial(self._run, benchmark))

    def _look_at_closed(self) -> None:
        """Examine benchmarks with private sequences after they close: their board changes."""
        now = self._now
        for benchmark in [name for name, time in self._closings.items() if time <= now]:
            del self._closings[benchmark]
            self._changed.look_again(benchmark)

    def _has_work(self, reader: Reader, benchmark: str) -> bool:
        definition = self._benchmarks.understood(required_benchmark(reader, benchmark))
        if definition is None:
            return False
        closes = definition.close_time
        if closes is not None and definition.policy.keeps_private and closes > self._now:
            self._closings[benchmark] = closes
        return bool(self._plans(reader, benchmark))

    @property
    def _now(self) -> datetime:
        return self._context.clock()

    def _plans(self, reader: Reader, benchmark: str) -> list[TierPlan]:
        """The boards of a benchmark with missing or outdated tiers."""
        record = required_benchmark(reader, benchmark)
        definition, shown = self._benchmarks.definition(record), shown_basis(record)
        plans = []
        for evaluator in definition.evaluators:
            key = None if shown is None else shown.key(evaluator.name)
            if key is None or key[1] != definition.configurations[evaluator.name]:
                continue  # nothing is scored, or only another server has its rules
            board, now = Board(benchmark, evaluator), self._now
            for exact, observer in OBSERVERS.items():
                entries = self._boards.entries(reader, definition, record, board, observer, now)
                portion = definition.board_portion(now)
                plan = tier_plan(definition, board, key, entries, portion, exact=exact)
                if lack_of_tiers(reader, record, definition, plan):
                    continue
                kept = stored_tiers(reader, benchmark, evaluator.name, key[0], exact=exact)
                if kept is None or kept.digest != plan.digest:
                    plans.append(plan)
        return plans

    async def _run(self, benchmark: str) -> None:
        try:
            record = await self._context.read(partial(required_benchmark, benchmark=benchmark))
            for plan in await self._context.read(lambda reader: self._plans(reader, benchmark)):
                await self._update(record, plan)
        except (LeaseLostError, StoreError):
            raise
        except NotFoundError:
            return  # deleted meanwhile
        except Exception as error:  # noqa: BLE001 - whatever it is, the other boards must go on
            self._changed.give_up(benchmark)
            places = places_of(error)
            log(logging.ERROR, "operation failed", name=_name_of(benchmark), places=places)

    async def _update(self, benchmark: BenchmarkRecord, plan: TierPlan) -> None:
        """Compute the draws of a board's submissions, and the tiers from them."""
        drawn: dict[str, Draws] = {}
        for submission, _ in plan.places:
            name = SubmissionName(benchmark.benchmark, submission)
            found = await self._context.read(partial(_kept_draws, name=name, plan=plan))
            found = found or await self._draw(benchmark, name, plan)
            if found is not None:
                drawn[submission] = found
        tiers = await asyncio.to_thread(compare, plan, drawn)
        await self._context.write(partial(self._keep_tiers, benchmark, plan, tiers))

    def _require(self, transaction: Transaction, benchmark: BenchmarkRecord) -> None:
        """Abort a command unless the lease holds and the benchmark is the same.

        Raises:
            LeaseLostError: If the lease does not hold.
            NotFoundError: If the benchmark was deleted, even if another one has its name.
        """
        self.operations.require(transaction, _name_of(benchmark.benchmark))
        if (
            required_benchmark(transaction, benchmark.benchmark).create_time
            != benchmark.create_time
        ):
            raise NotFoundError(f"{benchmark_name(benchmark.benchmark)} was deleted")

    def _keep_tiers(
        self,
        benchmark: BenchmarkRecord,
        plan: TierPlan,
        tiers: BoardTiers,
        transaction: Transaction,
    ) -> None:
        self._require(transaction, benchmark)
        transaction.put_tiers(tiers.record(benchmark.benchmark, plan))

    async def _draw(
        self, benchmark: BenchmarkRecord, name: SubmissionName, plan: TierPlan
    ) -> Draws | None:
        """Score a submission on draws, and store the scores; None if that fails."""
        try:
            async with asyncio.timeout(self._context.settings.trust_timeout_s):
                definition = self._benchmarks.definition(benchmark)
                tallies = await self._sequence_tallies(definition, name, plan)
                draws = await self._score_draws(plan, tallies)
        except (StoreError, LeaseLostError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the other systems have tiers
            places = places_of(error)
            log(logging.ERROR, "scoring on draws failed", submission=str(name), places=places)
            return None
        revision, configuration = plan.draws_key
        record = ScoreDrawsRecord(
            *name, plan.evaluator.name, revision, configuration, draws.to_bytes()
        )
        await self._context.write(partial(self._keep_draws, benchmark, record))
        return draws

    def _keep_draws(
        self, benchmark: BenchmarkRecord, record: ScoreDrawsRecord, transaction: Transaction
    ) -> None:
        self._require(transaction, benchmark)
        if transaction.submission(record.benchmark, record.submission) is not None:
            transaction.put_score_draws(record)

    async def _sequence_tallies(
        self, definition: Definition, name: SubmissionName, plan: TierPlan
    ) -> dict[SequenceKey, Tally]:
        """Tallies of the single sequences that the board ranks by."""
        evaluator, (revision, configuration) = plan.evaluator, plan.key
        found: dict[SequenceKey, Tally] = {}
        parts = self._scorer.sides_in_parts(name, revision, evaluator, configuration)
        left_out = {Portion.PUBLIC: True, Portion.PRIVATE: False}.get(plan.portion)
        async for truth, detections in parts:
            sequences = [
                sequence
                for sequence in await asyncio.to_thread(_sequences_of, truth)
                if definition.is_private(sequence) is not left_out
            ]
            sides = [by_sequence(side, sequences) for side in (truth, detections)]
            split = zip(sequences, *sides, strict=True)
            while (one := await asyncio.to_thread(next, split, None)) is not None:
                sequence, *own = one
                [tally] = await self._scorer.tallies([evaluator], *own)
                before = [found[sequence]] if sequence in found else []
                found[sequence] = merge_tallies([*before, tally])
        return found

    async def _score_draws(self, plan: TierPlan, tallies: Mapping[SequenceKey, Tally]) -> Draws:
        sequences = sorted(tallies)
        # With few sequences, most draws repeat: each different draw is scored once.
        times, places = np.unique(
            draw_sequences(sequences, DRAWS, SEED), axis=0, return_inverse=True
        )
        ordered = [tallies[sequence] for sequence in sequences]
        packed = await asyncio.to_thread(pack_parts, ordered)
        values: list[FloatArray] = []
        for start in range(0, len(times), DRAWS_PER_JOB):
            few = times[start : start + DRAWS_PER_JOB]
            job = DrawsJob.of(plan.evaluator, packed, few, tuple(plan.ranking))
            values.append(await self._scorer.draws(job))
        columns = np.concatenate(values)[places.ravel()].T
        sizes = domain_sizes(sequences)
        return Draws(
            len(sequences),
            min(resample_count(sizes), DRAWS),
            {
                name: [None if np.isnan(value) else value for value in column]
                for name, column in zip(plan.ranking, columns.tolist(), strict=True)
            },
            share_apart(sizes),
        )


def compare(plan: TierPlan, drawn: Mapping[str, Draws]) -> BoardTiers:
    """The tiers of a board.

    Args:
        plan: The board.
        drawn: By submission, its scores on draws; a submission without defined ones is in no tier.
    """
    first_measure = next(iter(plan.ranking))
    places = [
        (name, rank)
        for name, rank in plan.places
        if name in drawn and any(value is not None for value in drawn[name].values[first_measure])
    ]
    left_out = plan.left_out + len(plan.places) - len(places)
    if not places:
        return BoardTiers(plan.digest, 0, {}, left_out)
    first = drawn[places[0][0]]
    if first.sequences < FEWEST_SEQUENCES:
        return BoardTiers(plan.digest, first.sequences, {}, left_out)
    values = [[drawn[name].values[measure] for measure in plan.ranking] for name, _ in places]
    losses = losses_of(np.array(values, dtype=np.float64).transpose(0, 2, 1), plan.ranking)
    ranks = [rank for _, rank in places]
    found = find_tiers(losses, ranks, first.resamples, first.apart)
    rows = zip(found.numbers, found.first_probabilities, strict=True)
    named = {name: row for (name, _), row in zip(places, rows, strict=True)}
    return BoardTiers(plan.digest, first.sequences, named, left_out, first.apart < 1.0)


def _kept_draws(reader: Reader, name: SubmissionName, plan: TierPlan) -> Draws | None:
    """The stored draws of a submission, if complete and of the board's basis and measures.

    Those of 0.2.0 lack the share from which on a system is worse.
    """
    found = reader.score_draws(*name, plan.evaluator.name)
    if found is None or (found.truth_revision, found.configuration) != plan.draws_key:
        return None
    try:
        draws = Draws.from_bytes(found.payload)
    except UNREADABLE as error:
        log(logging.ERROR, "draws are damaged", submission=str(name), places=places_of(error))
        return None
    is_complete = draws.apart > 0.0 and draws.values.keys() >= plan.ranking.keys()
    return draws if is_complete else None


def _sequences_of(truth: Annotations) -> list[SequenceKey]:
    return Contest(truth, {}).sequences


def _name_of(benchmark: str) -> str:
    """Name of the tiers of a benchmark as leased work."""
    return f"tiers {benchmark}"
