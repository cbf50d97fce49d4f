"""Outcomes: what became of each object of the truth and of each detection, as columns.

A row is one object or one detection. The rows of a frame stand together, truth first, in the order
in which the frame lists them; frames are in the common order of `vidscore_evaluators.alignment`. No
row is a Python object.

`OutcomeBuilder` turns what an evaluator matched into these columns. Counted or summed, the rows
give the figures of the evaluator's report: `Evaluator.outcome_figures` says which, and the contract
suite (`vidscore_evaluators.testing`) holds every evaluator to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import AnyArray, BoolArray, FlagArray, FloatArray, IntArray

if TYPE_CHECKING:
    from vidscore_evaluators.data_frames import Backend

NO_PARTNER = -1
"""Partner of a row that is matched with nothing."""

SIDES = tuple(Side)
"""Side by the number in `Outcomes.sides`."""

IndexArray = NDArray[np.int32]


class Outcome(StrEnum):
    """The result of matching for one object or detection."""

    TRUE_POSITIVE = "true_positive"
    """Matched: on the object and on its detection."""
    FALSE_POSITIVE = "false_positive"
    """A detection that is matched with nothing and counts."""
    FALSE_NEGATIVE = "false_negative"
    """An object that is matched with nothing and counts."""
    IGNORED = "ignored"
    """Counted nowhere: don't-care, not scored, absorbed or forgiven."""
    DUPLICATE = "duplicate"
    """A false positive of an object that has a better match."""
    MISLOCALISED = "mislocalised"
    """A false positive of the right label whose overlap is too small."""
    MISCLASSIFIED = "misclassified"
    """A false positive that overlaps an object of another label."""
    MISLOCALISED_AND_MISCLASSIFIED = "mislocalised_and_misclassified"
    """A false positive with too small an overlap with an object of another label."""
    BACKGROUND = "background"
    """A false positive where there is no object."""


OUTCOMES = tuple(Outcome)
"""Outcome by the number in `Outcomes.outcomes`."""

CODES: Mapping[Outcome, int] = {outcome: code for code, outcome in enumerate(OUTCOMES)}
"""Number in `Outcomes.outcomes` by outcome."""


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """Where on its curves an evaluator that has curves is looked at.

    Attributes:
        threshold: Similarity that a match needs; None for the evaluator's own, of several the
            first.
        confidence: Detections below it are ignored; None to look at all detections.
    """

    threshold: float | None = None
    confidence: float | None = None


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What became of N objects and detections.

    Attributes:
        sequence_keys: Table of sequences.
        label_names: Table of labels.
        sides: (N,) index into `SIDES`.
        sequences: (N,) index into `sequence_keys`.
        frames: (N,) frame numbers.
        rows: (N,) place of the object among those of its side and frame, from 0, as it was given.
        labels: (N,) index into `label_names`.
        confidences: (N,) confidences; NaN for truth.
        tracks: (N,) track ids, `vidscore_evaluators.annotations.NO_TRACK` where there is none.
        outcomes: (N,) index into `OUTCOMES`.
        partners: (N,) row on the other side, in the same frame, that it is matched with, or that
            the outcome refers to; `NO_PARTNER` where there is none.
        similarities: (N,) similarity to the partner; NaN without one, or where there is a distance.
        distances_px: (N,) distance to the partner in pixels; NaN likewise.
        shares: (N,) what the row adds to the sum that the evaluator's first measure is made of; its
            page says which.
        id_switches: (N,) whether the match changes the identity of the object's track.
        fragmentations: (N,) whether the match ends an interruption of the object's track.
        columns: Further (N,) columns of the evaluator, by name.
    """

    sequence_keys: tuple[SequenceKey, ...]
    label_names: tuple[str, ...]
    sides: FlagArray
    sequences: IndexArray
    frames: IntArray
    rows: IndexArray
    labels: IndexArray
    confidences: FloatArray
    tracks: IntArray
    outcomes: FlagArray
    partners: IndexArray
    similarities: FloatArray
    distances_px: FloatArray
    shares: FloatArray
    id_switches: BoolArray
    fragmentations: BoolArray
    columns: Mapping[str, AnyArray] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of rows N."""
        return len(self.sides)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns together."""
        return sum(column.nbytes for column in (*self._rows().values(), *self.columns.values()))

    def of_side(self, side: Side) -> BoolArray:
        """(N,) which rows are of a side."""
        mask: BoolArray = self.sides == SIDES.index(side)
        return mask

    def are(self, *wanted: Outcome) -> BoolArray:
        """(N,) which rows have one of some outcomes."""
        return np.isin(self.outcomes, [CODES[outcome] for outcome in wanted])

    def count(self, outcome: Outcome, side: Side) -> int:
        """How many rows of a side have an outcome."""
        return int(np.count_nonzero(self.are(outcome) & self.of_side(side)))

    def where(
        self,
        *,
        domain: str | None = None,
        label: str | None = None,
        sequence: str | None = None,
    ) -> Outcomes:
        """The rows of a domain, label and sequence; None for all."""
        keep = np.ones(len(self), dtype=np.bool_)
        if domain is not None:
            keep &= _named([key.domain for key in self.sequence_keys], domain)[self.sequences]
        if sequence is not None:
            keep &= _named([key.sequence for key in self.sequence_keys], sequence)[self.sequences]
        if label is not None:
            keep &= _named(self.label_names, label)[self.labels]
        return self.take(keep)

    def take(self, rows: BoolArray | IntArray) -> Outcomes:
        """Keep some rows: a mask, or row indices."""
        own: dict[str, Any] = {name: column[rows] for name, column in self._rows().items()}
        own["columns"] = {name: column[rows] for name, column in self.columns.items()}
        return replace(self, **own)

    def frame(self, *, backend: Backend = "pandas") -> Any:
        """The rows as a data frame, with the columns of the files that `vidscore outcomes` writes.

        Texts are categories. What a row does not have is null: a confidence, a track, a partner.

        Args:
            backend: ``pandas``, ``polars`` or ``pyarrow``.

        Returns:
            A `pandas.DataFrame`, `polars.DataFrame` or `pyarrow.Table`.

        Raises:
            MissingExtraError: If the library is not installed.
            ParameterError: If the backend is unknown.
        """
        from vidscore_evaluators.data_frames import data_frame  # noqa: PLC0415 - few need it
        from vidscore_evaluators.outcome_files import named_columns  # noqa: PLC0415

        return data_frame(named_columns(self), backend)

    def _rows(self) -> dict[str, AnyArray]:
        return {name: getattr(self, name) for name in ROW_COLUMNS}


ROW_COLUMNS = tuple(
    entry.name
    for entry in fields(Outcomes)
    if entry.name not in ("sequence_keys", "label_names", "columns")
)
"""Names of the columns that every table of outcomes has."""


def concatenate_outcomes(parts: Sequence[Outcomes]) -> Outcomes:
    """Put the rows of parts one after the other.

    Args:
        parts: At least one, all with the same further columns.
    """
    if len(parts) == 1:
        return parts[0]
    keys = tuple(dict.fromkeys(key for part in parts for key in part.sequence_keys))
    labels = tuple(dict.fromkeys(label for part in parts for label in part.label_names))
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in ROW_COLUMNS}
    joined["sequences"] = np.concatenate(
        [_places(part.sequence_keys, keys)[part.sequences] for part in parts]
    )
    joined["labels"] = np.concatenate(
        [_places(part.label_names, labels)[part.labels] for part in parts]
    )
    names = parts[0].columns
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in names}
    return Outcomes(keys, labels, **joined, columns=columns)


class OutcomeBuilder:
    """Collects what an evaluator decides about an aligned input; what it does not name is ignored.

    Rows are those of `Aligned.truth` and `Aligned.detections`, which a scene keeps in
    `vidscore_evaluators.scene.Items.sources`.
    """

    def __init__(self, aligned: Aligned) -> None:
        """Begin with everything ignored."""
        self._aligned = aligned
        self._sides = {
            Side.TRUTH: _SideOutcomes.ignored(aligned.truth.object_count),
            Side.DETECTIONS: _SideOutcomes.ignored(aligned.detections.object_count),
        }

    def match(
        self,
        truth: IntArray,
        detections: IntArray,
        *,
        similarities: FloatArray | None = None,
        distances_px: FloatArray | None = None,
    ) -> None:
        """True positives: (P,) pairs of an object and a detection, with how alike they are."""
        self.set(Side.TRUTH, truth, Outcome.TRUE_POSITIVE)
        self.set(Side.DETECTIONS, detections, Outcome.TRUE_POSITIVE)
        for side, rows, others in (
            (Side.TRUTH, truth, detections),
            (Side.DETECTIONS, detections, truth),
        ):
            self.relate(side, rows, others, similarities=similarities, distances_px=distances_px)

    def set(self, side: Side, rows: IntArray | BoolArray, outcome: Outcome) -> None:
        """The outcome of some rows of a side."""
        self._sides[side].outcomes[rows] = CODES[outcome]

    def relate(
        self,
        side: Side,
        rows: IntArray,
        others: IntArray,
        *,
        similarities: FloatArray | None = None,
        distances_px: FloatArray | None = None,
    ) -> None:
        """The row on the other side that each of some rows refers to, in the same frame."""
        own = self._sides[side]
        own.partners[rows] = others
        if similarities is not None:
            own.similarities[rows] = similarities
        if distances_px is not None:
            own.distances_px[rows] = distances_px

    def share(self, side: Side, rows: IntArray | BoolArray, shares: FloatArray | float) -> None:
        """What some rows add to the measure."""
        self._sides[side].shares[rows] = shares

    def break_track(
        self, truth: IntArray, detections: IntArray, *, switches: BoolArray, fragments: BoolArray
    ) -> None:
        """Which of (P,) matches switch an identity or end an interruption, on both sides."""
        for side, rows in ((Side.TRUTH, truth), (Side.DETECTIONS, detections)):
            self._sides[side].id_switches[rows] = switches
            self._sides[side].fragmentations[rows] = fragments

    def build(self, columns: Mapping[str, Mapping[Side, AnyArray]] | None = None) -> Outcomes:
        """The table.

        Args:
            columns: Further columns by name: for each side a value for each of its objects.
        """
        aligned = self._aligned
        truth = _side_table(aligned.truth, Side.TRUTH, self._sides[Side.TRUTH], aligned.detections)
        detections = _side_table(
            aligned.detections, Side.DETECTIONS, self._sides[Side.DETECTIONS], aligned.truth
        )
        both = {name: np.concatenate([truth[name], detections[name]]) for name in truth}
        further = {
            name: np.concatenate([of_side[side] for side in SIDES])
            for name, of_side in (columns or {}).items()
        }
        frames = np.concatenate([aligned.truth.object_frames, aligned.detections.object_frames])
        table = Outcomes(aligned.truth.sequences, aligned.truth.labels, **both, columns=further)
        # Stable: the truth of a frame stays before its detections, and both in their order.
        return table.take(np.argsort(frames, kind="stable"))


@dataclass(frozen=True, eq=False)
class _SideOutcomes:
    """What is decided about the (N,) objects of one side; partners are object rows."""

    outcomes: FlagArray
    partners: IntArray
    similarities: FloatArray
    distances_px: FloatArray
    shares: FloatArray
    id_switches: BoolArray
    fragmentations: BoolArray

    @classmethod
    def ignored(cls, count: int) -> _SideOutcomes:
        return cls(
            outcomes=np.full(count, CODES[Outcome.IGNORED], dtype=np.uint8),
            partners=np.full(count, NO_PARTNER, dtype=np.int64),
            similarities=np.full(count, np.nan),
            distances_px=np.full(count, np.nan),
            shares=np.zeros(count),
            id_switches=np.zeros(count, dtype=np.bool_),
            fragmentations=np.zeros(count, dtype=np.bool_),
        )


def _side_table(
    side: Annotations, name: Side, decided: _SideOutcomes, other: Annotations
) -> dict[str, AnyArray]:
    """Columns of one side, in its own order."""
    frames = side.object_frames
    rows = np.arange(side.object_count) - side.frame_starts[frames]
    partners = decided.partners - other.frame_starts[frames]
    has_partner = decided.partners != NO_PARTNER
    confidences = side.confidences if name is Side.DETECTIONS else np.full(len(rows), np.nan)
    return {
        "sides": np.full(len(rows), SIDES.index(name), dtype=np.uint8),
        "sequences": side.frame_sequences[frames].astype(np.int32),
        "frames": side.frame_numbers[frames],
        "rows": rows.astype(np.int32),
        "labels": side.label_indices.astype(np.int32),
        "confidences": confidences,
        "tracks": side.track_ids,
        "outcomes": decided.outcomes,
        "partners": np.where(has_partner, partners, NO_PARTNER).astype(np.int32),
        "similarities": decided.similarities,
        "distances_px": decided.distances_px,
        "shares": decided.shares,
        "id_switches": decided.id_switches,
        "fragmentations": decided.fragmentations,
    }


def _named(names: Sequence[str], wanted: str) -> BoolArray:
    """(names,) which names are the wanted one."""
    return np.array([name == wanted for name in names], dtype=np.bool_)


def _places(names: Sequence[object], table: Sequence[object]) -> IndexArray:
    """Place of each name in a table."""
    place = {name: index for index, name in enumerate(table)}
    return np.array([place[name] for name in names], dtype=np.int32)
