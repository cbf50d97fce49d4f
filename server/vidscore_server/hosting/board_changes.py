"""What scoring again changes: scores and ranks of the same submissions, before and after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vidscore_evaluators.evaluator import Evaluator
from vidscore_server.hosting.basis import Basis, shown_basis, waiting_for
from vidscore_server.hosting.benchmarks import required_benchmark
from vidscore_server.hosting.boards import Board, BoardView, board_rules
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.leaderboards import rank
from vidscore_server.hosting.names import SubmissionName
from vidscore_server.hosting.scores import ranking_values
from vidscore_server.store import Reader
from vidscore_server.store.records import ScoreRecord

Standing = Mapping[str, Mapping[str, Any]]
"""By evaluator, by submission: ``values`` and ``rank``, which is None where it has none."""


def shown_standing(reader: Reader, definition: Definition, benchmark: str) -> Standing:
    """Scores and ranks of all that stand on a board, as organisers see them.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        benchmark: Its name.
    """
    shown = shown_basis(required_benchmark(reader, benchmark))
    found = {}
    for evaluator in definition.evaluators:
        key = None if shown is None else shown.key(evaluator.name)
        comparable = [] if key is None else reader.scores_under(benchmark, evaluator.name, *key)
        ranks = _ranks(reader, definition, evaluator, benchmark, comparable)
        published = reader.published_scores(benchmark, evaluator.name)
        scores = {score.submission: score for score in (*published, *comparable)}
        found[evaluator.name] = {
            name: {"values": _values(definition, evaluator, score), "rank": ranks.get(name)}
            for name, score in scores.items()
        }
    return found


def changes(
    reader: Reader,
    definition: Definition,
    benchmark: str,
    before: Standing,
    after: Basis | None,
) -> list[dict[str, Any]]:
    """What is different where a board shows another basis; what stays is not in it.

    Submissions that were not there before shift no rank. While some of those that were still wait
    to be scored again, the board has not moved, and ranks are what they were.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        benchmark: Its name.
        before: What stood on the board.
        after: What it is to show.
    """
    if after is None:
        return []
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
            new_ranks = _ranks(reader, definition, evaluator, benchmark, scores.values())
            ranks = {name: new_ranks.get(name) for name in olds}
        for name in sorted(olds.keys() - (waiting - scores.keys())):
            score = scores.get(name)
            values = {} if score is None else _values(definition, evaluator, score)
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


def _values(
    definition: Definition, evaluator: Evaluator[Any], score: ScoreRecord
) -> dict[str, float | None]:
    return ranking_values(score, list(definition.ranking(evaluator)))


def _ranks(
    reader: Reader,
    definition: Definition,
    evaluator: Evaluator[Any],
    benchmark: str,
    scores: Iterable[ScoreRecord],
) -> dict[str, int]:
    """Ranks of the submissions with which teams stand on a board of these scores."""
    directions = definition.ranking(evaluator)
    view = BoardView(reader, Board(benchmark, evaluator), tuple(directions))
    ranked = rank(view.entries(scores), board_rules(definition.policy, directions))
    return {entry.entry.submission: entry.rank for entry in ranked}
