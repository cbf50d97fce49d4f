"""Tiers of a board: their inputs, their stored form, and their visible part.

They are computed in the background (see `vidscore_server.domain.tier_updates`), once for the board
that organisers see and once for the board that others see. The second depends on the entries of
that board alone: it changes only with a release.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec
import orjson
from msgspec import Meta, Struct, field
from msgspec.structs import replace

from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_evaluators.names import counted
from vidscore_evaluators.trust.few_sequences import LEAST_SEQUENCES
from vidscore_server.domain.access import Caller
from vidscore_server.domain.basis import Key, shown_basis
from vidscore_server.domain.batches import UNREADABLE, inflate
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.ladder import round_to_step
from vidscore_server.domain.leaderboard import APART, Board, RankedEntry
from vidscore_server.domain.policy import NameKind, Visibility
from vidscore_server.domain.private_part import Portion
from vidscore_server.logs import log, places_of
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord, TiersRecord

T = TypeVar("T")

DRAWS = 1000
SEED = 1
"""Draws depend only on the sequences: a system that is scored again has the same draws."""

MOST_BYTES = 1 << 26
"""Maximum bytes of unpacked draws: a thousand draws of hundreds of measures."""

MOST_SYSTEMS = 100
"""Maximum number of systems of a board that are compared, best first; the rest are in no tier."""

FEWEST_SYSTEMS = 2
FEWEST_SEQUENCES = 2
TOO_FEW_SEQUENCES = "no tiers: fewer than two sequences have objects, and a bootstrap needs two"

PROBABILITY_STEP = 0.1
"""Rounding step of probabilities for callers other than organisers, unless scores are live."""

SEQUENCES_OF_PROBABILITIES = 20
"""With fewer sequences, only organisers see probabilities, which would reveal single sequences."""

Places = tuple[tuple[str, int], ...]
"""Submissions with their ranks, best first."""


class TierPlan(Struct, frozen=True):
    """The inputs of a board's tiers, besides the data.

    Attributes:
        evaluator: The evaluator that ranks.
        key: Basis of the scores on the board.
        portion: Part of the data that the board ranks by.
        ranking: Ranking measures, with their better directions.
        exact: Whether it is the exact board of organisers, or the board that others see.
        places: The systems to compare.
        left_out: Number of ranked systems beyond those.
    """

    evaluator: Evaluator[Any]
    key: Key
    portion: Portion
    ranking: Mapping[str, Direction]
    exact: bool
    places: Places
    left_out: int

    @property
    def digest(self) -> str:
        """Identifies the plan: tiers with another digest are outdated."""
        content = [
            *self.draws_key,
            list(self.ranking),
            self.places,
            self.left_out,
            DRAWS,
            SEED,
            LEAST_SEQUENCES,  # 0.2.0 had no such rule for single domains
        ]
        return hashlib.sha256(orjson.dumps(content)).hexdigest()

    @property
    def draws_key(self) -> Key:
        """Basis of the draws: the basis of the scores, and the part of the data."""
        revision, configuration = self.key
        part = "" if self.portion is Portion.WHOLE else f" {self.portion}"
        return revision, configuration + part


def tier_plan(
    definition: Definition,
    board: Board,
    key: Key,
    entries: Sequence[RankedEntry],
    portion: Portion,
    *,
    exact: bool,
) -> TierPlan:
    """The plan of a board's tiers.

    Args:
        definition: The benchmark.
        board: The board.
        key: Basis of its scores.
        entries: Its entries.
        portion: Part of the data that it ranks by.
        exact: Whether they are the entries that organisers see.
    """
    ranked = [
        (entry.entry.submission, entry.rank)
        for entry in entries
        if entry.rank != APART and entry.entry.values[0] is not None
    ]
    places = tuple(ranked[:MOST_SYSTEMS])
    ranking = definition.ranking(board.evaluator)
    return TierPlan(
        board.evaluator, key, portion, ranking, exact, places, len(ranked) - len(places)
    )


def lack_of_tiers(
    reader: Reader, record: BenchmarkRecord, definition: Definition, plan: TierPlan
) -> str:
    """Why a board over everything has no tiers; empty if it may have some.

    The definition has the number of sequences of the newest complete truth. If the board shows an
    older revision, its sequences are counted when its tiers are computed.

    Args:
        reader: A state of the store.
        record: The benchmark.
        definition: Its definition.
        plan: Their plan.
    """
    if len(plan.places) < FEWEST_SYSTEMS:
        return "no tiers: fewer than two systems have a score that ranks them"
    size, revision = definition.truth_size, reader.truth_revision(record.benchmark, plan.key[0])
    if size is None or revision is None or not revision.complete:
        return "no tiers: the ground truth is not complete"
    is_private = plan.portion is Portion.PRIVATE
    sequences = definition.private_sequence_count if is_private else size.sequences
    is_newest = revision.revision == record.truth_revision
    return TOO_FEW_SEQUENCES if is_newest and sequences < FEWEST_SEQUENCES else ""


# --- Stored form


class Draws(Struct, frozen=True, forbid_unknown_fields=True):
    """Scores of a submission over everything on draws of sequences.

    Attributes:
        sequences: Number of sequences.
        resamples: Number of different draws.
        values: By measure, its value in each of `DRAWS` draws; None if it is undefined.
        apart: Share of the draws from which on a system is worse; 1 if there are too
            few sequences; 0 in draws of 0.2.0, which told systems apart by any.
    """

    sequences: Annotated[int, Meta(gt=0)]
    resamples: Annotated[int, Meta(gt=0)]
    values: Mapping[str, list[float | None]]
    apart: Annotated[float, Meta(ge=0, le=1)] = 0.0

    def to_bytes(self) -> bytes:
        """The stored form."""
        return zlib.compress(msgspec.json.encode(self))

    @classmethod
    def from_bytes(cls, data: bytes) -> Draws:
        """Inverse of `to_bytes`.

        Raises:
            StoreDamagedError: If its unpacked size exceeds the limit.
            ValueError: If it is something else.
        """
        draws = _read(inflate(data, MOST_BYTES), cls)
        # Not by the type: msgspec would keep the number that it has first seen.
        if any(len(values) != DRAWS for values in draws.values.values()):
            raise ValueError(f"expected {DRAWS} values per measure")
        return draws


_FEW = " few"
"""Ends the stored digest of tiers for which there were not enough sequences."""


class BoardTiers(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Computed tiers of a board.

    Attributes:
        digest: Identifies the plan that they were computed from.
        sequences: Number of sequences.
        rows: By submission, its tier and its probability of being first.
        left_out: Ranked systems that are in no tier.
        enough: Whether the smallest domain has enough sequences to tell systems apart.
    """

    digest: str
    sequences: int
    rows: Mapping[str, tuple[int, float]]
    left_out: int
    enough: bool = True

    def record(self, benchmark: str, plan: TierPlan) -> TiersRecord:
        """The tiers in stored form.

        A server of 0.2.0 over the same database refuses a further field with its whole board, so
        the digest, which it only compares, says whether there were enough sequences.
        """
        stored = self if self.enough else replace(self, digest=self.digest + _FEW, enough=True)
        document = msgspec.json.encode(stored).decode()
        return TiersRecord(benchmark, plan.evaluator.name, plan.key[0], plan.exact, document)


def read_tiers(document: str) -> BoardTiers:
    """Read stored tiers.

    Raises:
        ValueError: If they are something else.
    """
    found = _read(document, BoardTiers)
    few = found.digest.endswith(_FEW)
    return replace(found, digest=found.digest.removesuffix(_FEW), enough=False) if few else found


def _read(document: bytes | str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(document, type=kind)
    except msgspec.MsgspecError as error:  # before 0.20 it is no ValueError
        raise ValueError(str(error)) from None


def stored_tiers(
    reader: Reader, benchmark: str, evaluator: str, revision: int, *, exact: bool
) -> BoardTiers | None:
    """The newest tiers of a board; None if none were computed yet, or they are damaged.

    Args:
        reader: A state of the store.
        benchmark: The benchmark.
        evaluator: The evaluator that ranks.
        revision: Revision of the truth that the board shows.
        exact: Whether to read those of the organisers' board.
    """
    found = reader.tiers(benchmark, evaluator, revision, exact=exact)
    try:
        return None if found is None else read_tiers(found.document)
    except UNREADABLE as error:
        log(logging.ERROR, "tiers are damaged", benchmark=benchmark, places=places_of(error))
        return None


# --- Visible part


class ShownTiers(Struct, frozen=True):
    """Tiers as a caller sees them.

    Attributes:
        note: Explains the tiers, or why there are none.
        is_stale: Whether they are older than the board.
        rows: By submission, its tier and its probability of being first; None if not shown.
    """

    note: str
    is_stale: bool = False
    rows: Mapping[str, tuple[int, float | None]] = field(default_factory=dict)


def shown_tiers(
    reader: Reader,
    record: BenchmarkRecord,
    definition: Definition,
    board: Board,
    entries: Sequence[RankedEntry],
    caller: Caller,
    now: datetime,
) -> ShownTiers:
    """The newest computed tiers of a board, as the caller may see them.

    Args:
        reader: A state of the store.
        record: The benchmark.
        definition: Its definition.
        board: The board.
        entries: Its entries, as the caller sees them.
        caller: The caller.
        now: The time.
    """
    shown = shown_basis(record)
    key = None if shown is None else shown.key(board.evaluator.name)
    if not board.of_everything:
        return ShownTiers("no tiers: boards of single domains and labels have none")
    if key is None:
        return ShownTiers("")
    exact = caller.is_organiser
    portion = definition.board_portion(now)
    plan = tier_plan(definition, board, key, entries, portion, exact=exact)
    if lack := lack_of_tiers(reader, record, definition, plan):
        return ShownTiers(lack)
    found = stored_tiers(reader, record.benchmark, board.evaluator.name, key[0], exact=exact)
    if found is None:
        return ShownTiers("no tiers yet: they are being computed")
    rows = visible_rows(definition, found, caller)
    ranked = {name for name, _ in plan.places}
    probabilities = any(probability is not None for _, probability in rows.values())
    return ShownTiers(
        "; ".join(_notes(definition, found, caller, probabilities=probabilities)),
        found.digest != plan.digest,
        {name: row for name, row in rows.items() if name in ranked},
    )


def visible_rows(
    definition: Definition, tiers: BoardTiers, caller: Caller
) -> dict[str, tuple[int, float | None]]:
    """By submission, its tier, and its probability of being first if the caller sees it."""
    step = _probability_step(definition, tiers.sequences, caller)
    return {
        name: (tier, None if step is None else round_to_step(probability, step))
        for name, (tier, probability) in tiers.rows.items()
    }


def _probability_step(definition: Definition, sequences: int, caller: Caller) -> float | None:
    """The rounding step of probabilities for a caller, 0 for exact; None if it sees none.

    If the latest submission counts, each new one changes the probability, even if its rounded score
    stays the same: exact probabilities would then reveal more than the score.
    """
    policy = definition.policy
    if caller.is_organiser:
        return 0.0
    if sequences < SEQUENCES_OF_PROBABILITIES:
        return None
    if policy.shown is Visibility.LIVE:
        return 0.0
    return PROBABILITY_STEP if policy.selection == "best" else None


def _notes(
    definition: Definition, found: BoardTiers, caller: Caller, *, probabilities: bool
) -> list[str]:
    if 0 < found.sequences < FEWEST_SEQUENCES:
        return [TOO_FEW_SEQUENCES]
    if not found.rows:
        return ["no tiers: the scores have no value on draws of single sequences"]
    told = caller.is_organiser or NameKind.SEQUENCES in definition.public_names
    over = counted(found.sequences, "sequence") if told else "sequences"
    notes = [f"systems of one tier cannot be told apart (95 %, paired bootstrap over {over})"]
    if told and not found.enough:
        notes.append(
            f"all are in one tier, because a domain has fewer than {LEAST_SEQUENCES} sequences"
        )
    if not probabilities:
        few = found.sequences < SEQUENCES_OF_PROBABILITIES
        reason = "too few sequences" if few else "the latest submission of each team counts"
        notes.append(f"probabilities of being first are not shown: {reason}")
    if found.left_out:
        notes.append(f"ranked systems without a tier, as they were not compared: {found.left_out}")
    return notes
