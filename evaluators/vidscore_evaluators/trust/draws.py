"""Scores of systems on draws of the parts of their data, in several processes if wanted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.evaluator import Evaluator, RankKey, tally_many
from vidscore_evaluators.report import Number, Scores
from vidscore_evaluators.runtime import Progress, map_in_order
from vidscore_evaluators.tally import Tally
from vidscore_evaluators.trust.drawn_tallies import DrawnTallies
from vidscore_evaluators.trust.parts import drawn_parts, sides_of_parts
from vidscore_evaluators.trust.systems import Contest, Drawn, Request, bare_report

DRAWS_PER_JOB = 50
"""Least number of draws that a job scores."""

JOBS = 32
"""Maximum number of jobs per system; each of them reads all tallies."""

Block = Callable[[], IntArray]
"""Makes the (D, S) number of times that each of S parts is drawn in each of D draws, in the process
that scores them: all draws of thousands of sequences would take gigabytes."""

Key = tuple[str | None, str | None, str]
"""Domain, class and measure of a score."""


class Draws(Struct, frozen=True, eq=False):
    """Scores of one system on D draws.

    Attributes:
        rank_keys: D rank keys.
        columns: Column of each score in `values`; scores of single sequences have none.
        values: (D, K) scores; NaN if undefined or absent.
    """

    rank_keys: Sequence[RankKey]
    columns: Mapping[Key, int]
    values: FloatArray

    @classmethod
    def of(cls, blocks: Sequence[Draws]) -> Draws:
        """Join blocks of draws."""
        columns: dict[Key, int] = {}
        for key in (key for block in blocks for key in block.columns):
            columns.setdefault(key, len(columns))
        values = np.full((sum(len(block.values) for block in blocks), len(columns)), np.nan)
        first = 0
        for block in blocks:
            rows = slice(first, first := first + len(block.values))
            values[rows, [columns[key] for key in block.columns]] = block.values
        return cls([key for block in blocks for key in block.rank_keys], columns, values)

    def take(self, rows: Sequence[int]) -> Draws:
        """Some of the draws."""
        return Draws([self.rank_keys[row] for row in rows], self.columns, self.values[rows])

    def score(self, key: Key) -> FloatArray:
        """(D,) one score."""
        column = self.columns.get(key)
        return np.full(len(self.values), np.nan) if column is None else self.values[:, column]


def sequence_tallies(evaluator: Evaluator[Any], contest: Contest) -> list[list[Tally]]:
    """For each system, the tallies of its parts in the order of `drawn_parts`; tables only."""
    parts = drawn_parts(contest)
    truth = list(sides_of_parts(parts, contest.truth))
    return [
        list(map(partial(_bare_tally, evaluator), truth, sides_of_parts(parts, detections)))
        for detections in contest.systems.values()
    ]


def _bare_tally(evaluator: Evaluator[Any], truth: Annotations, detections: Annotations) -> Tally:
    """A tally without fingerprints and input summary, which take more time than small tables."""
    [tally] = tally_many([evaluator], truth, detections, defers=True)
    return Tally(tally.evaluator, tally.tables)


def score_draws(
    evaluator: Evaluator[Any],
    tallies: Sequence[bytes],
    times: IntArray,
    *,
    drawn: Drawn = Drawn.SEQUENCES,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Draws]:
    """Score systems on the same draws of parts, from the tallies of single parts.

    Args:
        evaluator: The evaluator.
        tallies: For each system, the tallies of S parts; see `pack_parts`.
        times: (D, S) number of times that each of them counts in each draw.
        drawn: What the parts are; see `DrawnTallies`.
        workers: Processes to use; the result does not depend on it.
        progress: Called with (steps done, steps in all).

    Returns:
        For each system, its scores on D draws.
    """
    # Few sequences have few different draws: two have three.
    different, places = np.unique(times, axis=0, return_inverse=True)
    blocks = [partial(np.asarray, different[rows]) for rows in blocks_of_draws(len(different))]
    by_system = score_blocks(
        evaluator, tallies, blocks, drawn=drawn, workers=workers, progress=progress
    )
    return [own.take(places.reshape(-1).tolist()) for own in by_system]


def blocks_of_draws(count: int) -> list[slice]:
    """Blocks of draws, each for a job."""
    size = max(DRAWS_PER_JOB, math.ceil(count / JOBS))
    return [slice(first, min(first + size, count)) for first in range(0, count, size)]


def score_blocks(
    evaluator: Evaluator[Any],
    tallies: Sequence[bytes],
    blocks: Sequence[Block],
    *,
    drawn: Drawn,
    workers: int,
    progress: Progress | None,
) -> list[Draws]:
    """Score systems on the same blocks of draws; see `score_draws`."""
    request = Request.of(evaluator)
    jobs = [_DrawsJob(request, own, block, drawn) for own in tallies for block in blocks]
    scored = iter(map_in_order(_score_draws, jobs, workers=workers, progress=progress))
    return [Draws.of([next(scored) for _ in blocks]) for _ in tallies]


class _DrawsJob(Struct, frozen=True, eq=False):
    """Some draws of one system."""

    request: Request
    tallies: bytes
    block: Block
    drawn: Drawn


def _score_draws(job: _DrawsJob) -> Draws:
    evaluator, times = job.request.create(), job.block()
    most = int(times.max(initial=0))
    tallies = DrawnTallies(job.tallies, most, job.drawn, adds_sequences=evaluator.adds_sequences)
    columns: dict[Key, int] = {}  # shared: of a thousand labels, the keys are most of a draw
    rank_keys, rows = [], []
    for row in times:
        scores = _without_sequences(evaluator.scores(tallies.tally(row)))
        rank_keys.append(evaluator.rank_key(bare_report(evaluator, scores)))
        found = scores_by_key(scores)
        places = [columns.setdefault(key, len(columns)) for key in found]
        values = np.full(len(columns), np.nan)
        values[places] = [np.nan if value is None else value for value in found.values()]
        rows.append(values)
    table = np.full((len(rows), len(columns)), np.nan)
    for number, values in enumerate(rows):
        table[number, : len(values)] = values
    return Draws(rank_keys, columns, table)


def _without_sequences(scores: Scores) -> Scores:
    """Scores without those of single sequences, which are many and irrelevant to a draw."""
    kept = (block for block in scores.blocks if None in block.sequences)
    return Scores(tuple(kept))


def scores_by_key(scores: Scores) -> dict[Key, Number]:
    """Every score except those of single sequences."""
    return {
        (row.domain, row.label, row.measure): row.value
        for block in _without_sequences(scores).blocks
        for row in block.rows()
        if row.sequence is None
    }
