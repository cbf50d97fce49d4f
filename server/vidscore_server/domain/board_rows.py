"""What stands on a board beside its order: further measures, curves, and how often teams asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.report import Curve
from vidscore_server.domain.access import Caller
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leaderboard import APART, Board, RankedEntry, part_values
from vidscore_server.domain.policy import NameKind, Visibility
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.release import released_curves, shown_values
from vidscore_server.domain.scores import readable, released_step, unpack_score
from vidscore_server.store import Reader
from vidscore_server.store.records import ScoreRecord

CURVE_ROWS = 3
"""So many rows have curves: the first ones. More lines in a picture would hide each other."""


class RowDetails(Struct, frozen=True):
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
    now: datetime,
) -> list[RowDetails]:
    """Details of some rows of a board, as the caller may see them.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        board: The board.
        caller: The caller.
        rows: The rows, each with its place on the whole board, from 0.
        now: The time.
    """
    names = further_measures(definition, board)
    if not names and not definition.policy.releases_curves:
        return [NOTHING] * len(rows)
    portion = definition.board_portion(now)
    found = []
    for place, ranked in rows:
        curves = place < CURVE_ROWS and ranked.rank != APART and definition.policy.releases_curves
        score = None
        if names or curves:
            score = reader.score(board.benchmark, ranked.entry.submission, ranked.entry.score)
        if score is None:
            found.append(NOTHING)
        else:
            read = partial(_details, definition, board, caller, score, portion, names)
            details = readable(score, read) or NOTHING
            found.append(details if curves else replace(details, curves=()))
    return found


def _details(
    definition: Definition,
    board: Board,
    caller: Caller,
    score: ScoreRecord,
    portion: Portion,
    names: tuple[str, ...],
) -> RowDetails:
    report, submitted = unpack_score(score, portion)
    # Once the benchmark has closed, the final order is told exactly.
    is_final = portion is Portion.PRIVATE
    step = 0.0 if is_final else released_step(definition, board.evaluator, score)
    values = (part_values(report, board, names) if names else None) or dict.fromkeys(names)
    if definition.policy.shown is Visibility.FINAL and not caller.is_organiser and step:
        values = shown_values(values, definition.scales(board.evaluator), step)
    released = released_curves(definition, report, submitted, step)
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
