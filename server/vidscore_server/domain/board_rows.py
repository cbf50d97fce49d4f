"""What stands on a board beside its order: further measures, curves, and how often teams asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vidscore_evaluators.report import Curve
from vidscore_server.domain.access import Caller
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leaderboard import APART, Board, RankedEntry, part_values
from vidscore_server.domain.policy import NameKind, Visibility
from vidscore_server.domain.release import released_curves, shown_values
from vidscore_server.domain.scores import unpack_score
from vidscore_server.store import Reader

CURVE_ROWS = 3
"""So many rows have curves: the first ones. More lines in a picture would hide each other."""


@dataclass(frozen=True, slots=True)
class RowDetails:
    """What a row shows besides what ranks.

    Attributes:
        further: Released measures that do not rank, by name.
        curves: Curves of the board's part.
    """

    further: Mapping[str, float | None] = field(default_factory=dict)
    curves: tuple[Curve, ...] = ()


NOTHING = RowDetails()


def further_measures(definition: Definition, board: Board) -> tuple[str, ...]:
    """Measures of the board's evaluator that are released, but do not rank."""
    known = {measure.name for measure in board.evaluator.measures}
    ranking = definition.ranking(board.evaluator)
    released = dict.fromkeys(definition.policy.released_measures)
    return tuple(name for name in released if name in known and name not in ranking)


def row_details(
    reader: Reader,
    definition: Definition,
    board: Board,
    caller: Caller,
    rows: Sequence[tuple[int, RankedEntry]],
) -> list[RowDetails]:
    """Details of some rows of a board, as the caller may see them.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board.
        caller: The caller.
        rows: The rows, each with its place on the whole board, from 0.
    """
    names = further_measures(definition, board)
    if not names and not definition.policy.releases_curves:
        return [NOTHING] * len(rows)
    return [
        _details(reader, definition, board, caller, ranked, names, curves=place < CURVE_ROWS)
        for place, ranked in rows
    ]


def _details(
    reader: Reader,
    definition: Definition,
    board: Board,
    caller: Caller,
    ranked: RankedEntry,
    names: tuple[str, ...],
    *,
    curves: bool,
) -> RowDetails:
    curves = curves and ranked.rank != APART and definition.policy.releases_curves
    if not names and not curves:
        return NOTHING
    score = reader.score(board.benchmark, ranked.entry.submission, ranked.entry.score)
    if score is None:
        return NOTHING
    report, submitted = unpack_score(score)
    values = (part_values(report, board, names) if names else None) or dict.fromkeys(names)
    if definition.policy.shown is Visibility.FINAL and not caller.is_organiser:
        values = shown_values(definition.policy, values, definition.scales(board.evaluator))
    released = released_curves(definition, report, submitted) if curves else ()
    own = (
        curve for curve in released if (curve.domain, curve.label) == (board.domain, board.label)
    )
    return RowDetails(values, tuple(own))


def public_sequence_count(definition: Definition, caller: Caller) -> int | None:
    """Sequences of the complete truth; None where there is none, or the caller may not know."""
    size = definition.truth_size
    if size is None or not (caller.is_organiser or NameKind.SEQUENCES in definition.public_names):
        return None
    return size.sequences
