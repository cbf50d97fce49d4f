"""Move boards to the newest truth and rules: the differences, and the work."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from msgspec.structs import replace

from vidscore_evaluators.names import counted
from vidscore_server.domain.basis import (
    Basis,
    BoardState,
    board_state,
    shown_basis,
    waiting_for,
    wanted_basis,
)
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context, Request, audit_server
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leaderboard import (
    APART,
    Board,
    BoardView,
    counted_scores,
    in_order,
)
from vidscore_server.domain.leases import (
    ChangedBenchmarks,
    LeasedOperations,
    LeaseLostError,
    Leases,
)
from vidscore_server.domain.names import SubmissionName, benchmark_name
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.publishing import keep_result, move_board, moves_by_itself
from vidscore_server.domain.scorer import Scorer
from vidscore_server.domain.scores import Result, ranking_values, readable
from vidscore_server.errors import NotFoundError, RescoringRunsError
from vidscore_server.logs import log, log_lasting, places_of
from vidscore_server.runtime import failpoint
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import ScoreRecord

Standing = Mapping[str, Mapping[str, Any]]
"""By evaluator, then by submission: ``values`` and ``rank``, which is None without a rank."""


def shown_standing(
    reader: Reader, definition: Definition, benchmark: str, now: datetime
) -> Standing:
    """Scores and ranks of all submissions on a board, as organisers see them.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        benchmark: Its name.
        now: The time.
    """
    shown = shown_basis(required_benchmark(reader, benchmark))
    portion = definition.board_portion(now)
    found = {}
    for evaluator in definition.evaluators:
        key = None if shown is None else shown.key(evaluator.name)
        comparable = [] if key is None else reader.scores_under(benchmark, evaluator.name, *key)
        ranks = _ranks(reader, definition, Board(benchmark, evaluator), comparable, portion)
        published = reader.published_scores(benchmark, evaluator.name)
        scores = {score.submission: score for score in (*published, *comparable)}
        names = list(definition.ranking(evaluator))
        found[evaluator.name] = {
            name: {"values": _values(score, names, portion), "rank": ranks.get(name)}
            for name, score in scores.items()
        }
    return found


def changes(
    reader: Reader,
    definition: Definition,
    benchmark: str,
    before: Standing,
    after: Basis | None,
    now: datetime,
) -> list[dict[str, Any]]:
    """Differences that a board shows when it moves to another basis.

    Submissions that are new on the board do not change the ranks of others. Until all earlier ones
    are scored again, the board has not moved, and ranks stay the same.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        benchmark: Its name.
        before: The standing before.
        after: The basis to show.
        now: The time of the standing before.
    """
    if after is None:
        return []
    portion = definition.board_portion(now)
    waiting = set(waiting_for(reader, benchmark, after))
    found: list[dict[str, Any]] = []
    for evaluator in definition.evaluators:
        key, olds = after.key(evaluator.name), before.get(evaluator.name, {})
        if key is None:
            continue
        scores = {
            score.submission: score
            for score in reader.scores_under(benchmark, evaluator.name, *key)
            if score.submission in olds
        }
        ranks: dict[str, int | None] = {name: old["rank"] for name, old in olds.items()}
        if not waiting & olds.keys():
            board = Board(benchmark, evaluator)
            new_ranks = _ranks(reader, definition, board, [*scores.values()], portion)
            ranks = {name: new_ranks.get(name) for name in olds}
        names = list(definition.ranking(evaluator))
        for name in sorted(olds.keys() - (waiting - scores.keys())):
            score = scores.get(name)
            values = {} if score is None else _values(score, names, portion)
            place = {
                "submission": str(SubmissionName(benchmark, name)),
                "evaluator": evaluator.name,
            }
            found.extend(place | change for change in _compared(olds[name], values, ranks[name]))
    return found


def _compared(
    old: Mapping[str, Any], values: Mapping[str, float | None], rank_after: int | None
) -> Iterator[dict[str, Any]]:
    for measure in values or old["values"]:
        before, after = old["values"].get(measure), values.get(measure)
        if before != after or old["rank"] != rank_after:
            yield {
                "measure": measure,
                "before": before,
                "after": after,
                "rank_before": old["rank"],
                "rank_after": rank_after,
            }


def _values(score: ScoreRecord, names: Sequence[str], portion: Portion) -> dict[str, float | None]:
    """Ranking values; empty for a damaged score."""
    return readable(score, partial(ranking_values, score, names, portion)) or {}


def _ranks(
    reader: Reader,
    definition: Definition,
    board: Board,
    scores: Sequence[ScoreRecord],
    portion: Portion,
) -> dict[str, int]:
    """Ranks of the submissions that would be on a board of these scores."""
    view = BoardView(reader, board, tuple(definition.ranking(board.evaluator)), portion=portion)
    if portion is Portion.PRIVATE:
        scores = counted_scores(reader, definition, board, scores)
    entries = in_order(view, definition, view.candidates(scores), {})
    return {entry.entry.submission: entry.rank for entry in entries if entry.rank != APART}


# --- The updater


class BoardUpdater:
    """Updates the boards of all benchmarks: scores submissions again, then moves the whole board.

    The stored scores show the progress, so that the server that leases a board next, after a
    restart or the death of another server, continues where the last one stopped.
    """

    def __init__(
        self, context: Context, benchmarks: Benchmarks, scorer: Scorer, leases: Leases
    ) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._scorer = scorer
        self.operations = LeasedOperations(leases, ())
        self._changed = ChangedBenchmarks(self.operations, _board, self._has_work)

    async def advance(self) -> None:
        """Start to update outdated boards that no server works on."""
        free = self._context.settings.maximum_scorings - self.operations.count
        if free <= 0:
            return
        for benchmark in await self._context.read(partial(self._changed.due, most=free)):
            await self.operations.begin(_board(benchmark), partial(self._run, benchmark))

    async def publish(
        self, request: Request, benchmark: str, *, validate_only: bool
    ) -> tuple[list[dict[str, Any]], int]:
        """Move a board to its new scores, or only list the differences.

        Args:
            request: The request.
            benchmark: The benchmark.
            validate_only: Whether to leave the board unmoved.

        Returns:
            The differences, and the revision of the truth that the scores are under.

        Raises:
            NotFoundError: If there is no such benchmark.
            RescoringRunsError: While submissions are still to be scored again.
        """
        if validate_only:
            changed, state = await self._context.read(partial(self._differences, benchmark))
        else:
            changed, state = await self._context.write(partial(self._publish, request, benchmark))
        return changed, 0 if state.wanted is None else state.wanted.truth_revision

    def _differences(
        self, benchmark: str, reader: Reader
    ) -> tuple[list[dict[str, Any]], BoardState]:
        record = required_benchmark(reader, benchmark)
        definition = self._benchmarks.definition(record)
        state = board_state(reader, definition, record)
        if state.waiting:
            count = len(state.waiting)
            waiting = counted(count, "submission is", "submissions are")
            found = f"{waiting} still to be scored again"
            raise RescoringRunsError(found, submissions=str(count))
        now = self._context.clock()
        before = shown_standing(reader, definition, benchmark, now)
        return changes(reader, definition, benchmark, before, state.wanted, now), state

    def _publish(
        self, request: Request, benchmark: str, transaction: Transaction
    ) -> tuple[list[dict[str, Any]], BoardState]:
        changed, state = self._differences(benchmark, transaction)
        if state.is_ready:
            record = required_benchmark(transaction, benchmark)
            definition = self._benchmarks.definition(record)
            move_board(transaction, definition, benchmark, request.time, publishing=True)
            request.audit(transaction, benchmark_name(benchmark))
        return changed, state

    def _has_work(self, reader: Reader, benchmark: str) -> bool:
        record = required_benchmark(reader, benchmark)
        definition = self._benchmarks.understood(record)
        if definition is None:
            return False
        state = board_state(reader, definition, record)
        return _to_score(definition, state) or moves_by_itself(definition, state)

    async def _run(self, benchmark: str) -> None:
        try:
            await self._catch_up(benchmark)
            await self._context.write(partial(self._settle, benchmark))
        except (LeaseLostError, StoreError):
            raise
        except NotFoundError:
            return  # deleted meanwhile
        except Exception as error:  # noqa: BLE001 - whatever it is, the other boards must go on
            places = places_of(error)
            log_lasting(logging.ERROR, "operation failed", name=_board(benchmark), places=places)

    async def _catch_up(self, benchmark: str) -> None:
        """Score the waiting submissions; stop if another basis becomes wanted."""
        state = await self._context.read(lambda reader: self._state(reader, benchmark))
        for submission in state.waiting:
            wanted = await self._context.read(lambda reader: self._wanted(reader, benchmark))
            if state.wanted is None or wanted != state.wanted:
                return
            await self._score(SubmissionName(benchmark, submission), state.wanted)

    def _state(self, reader: Reader, benchmark: str) -> BoardState:
        """State of a board; nothing waits if only another server has its rules."""
        record = required_benchmark(reader, benchmark)
        definition = self._benchmarks.definition(record)
        state = board_state(reader, definition, record)
        return state if _to_score(definition, state) else replace(state, waiting=())

    def _wanted(self, reader: Reader, benchmark: str) -> Basis | None:
        record = required_benchmark(reader, benchmark)
        return wanted_basis(reader, self._benchmarks.definition(record), record)

    async def _score(self, name: SubmissionName, basis: Basis) -> None:
        """Score a submission again; record it if that fails."""
        for _ in range(self._context.settings.scoring_attempts):
            try:
                results = await self._scorer.results(name, basis.truth_revision, again=True)
                failpoint("before_score_commit")
                await self._context.write(partial(self._keep, name, results))
            except (StoreError, LeaseLostError):
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, the board must move on
                log(logging.ERROR, "scoring failed", submission=str(name), places=places_of(error))
                if isinstance(error, TimeoutError):
                    break
            else:
                return
        await self._context.write(partial(self._keep_failure, name, basis))

    def _keep(self, name: SubmissionName, results: list[Result], transaction: Transaction) -> None:
        self.operations.require(transaction, _board(name.benchmark))
        submission = transaction.submission(*name)
        if submission is None:
            return
        definition = self._benchmarks.definition(required_benchmark(transaction, name.benchmark))
        for result in results:
            keep_result(transaction, definition, submission, result, self._context.clock())

    def _keep_failure(self, name: SubmissionName, basis: Basis, transaction: Transaction) -> None:
        self.operations.require(transaction, _board(name.benchmark))
        if transaction.submission(*name) is not None:
            transaction.put_failed_rescoring(*name, basis.to_json())
            audit_server(transaction, self._context.clock(), "rescoring failed", str(name))

    def _settle(self, benchmark: str, transaction: Transaction) -> None:
        """Move the board if it may move."""
        self.operations.require(transaction, _board(benchmark))
        definition = self._benchmarks.definition(required_benchmark(transaction, benchmark))
        move_board(transaction, definition, benchmark, self._context.clock())


def _to_score(definition: Definition, state: BoardState) -> bool:
    """Whether submissions wait to be scored by the rules of this server."""
    if state.wanted is None or not state.waiting:
        return False
    return state.wanted.configurations == definition.configurations


def _board(benchmark: str) -> str:
    """Name of a benchmark's board as leased work."""
    return f"board {benchmark}"
