"""Outcomes: what became of each object of the truth and of each detection, as columns.

A row is one object or one detection. The rows of a frame stand together, truth first, in the order
in which the frame lists them; frames are in the common order of `vidscore_evaluators.alignment`. No
row is a Python object.

`OutcomeBuilder` turns what an evaluator matched into these columns. Counted or summed, the rows
give the figures of the evaluator's report: `Evaluator.outcome_figures` says which, and the contract
suite (`vidscore_evaluators.testing`) holds every evaluator to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import FrameFlag, SequenceKey, Side, are_flagged
from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    starts_from_counts,
)
from vidscore_evaluators.errors import Fault, ParameterError

if TYPE_CHECKING:
    from vidscore_evaluators.data_frames import Backend

NO_PARTNER = -1
"""Partner of a row that is matched with nothing."""

SIDES = tuple(Side)
"""Side by the number in `Outcomes.sides`."""

OUTCOME_SUFFIX = "_outcome"
"""End of the name of a further column of outcomes."""

IndexArray = NDArray[np.int32]
Name = TypeVar("Name")


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


class OperatingPoint(Struct, frozen=True):
    """Where on its curves an evaluator that has curves is looked at.

    Attributes:
        threshold: Similarity that a match needs; None for the evaluator's own, of several the
            first unless its page has another.
        confidence: Detections below it are ignored; None to look at all detections.
    """

    threshold: float | None = None
    confidence: float | None = None

    def check(
        self, evaluator: str, thresholds: Sequence[float] = (), *, confidences: bool = False
    ) -> None:
        """Refuse a point at which an evaluator cannot be looked at.

        Args:
            evaluator: Its name.
            thresholds: The thresholds that it has; none where it has no choice.
            confidences: Whether it can be looked at from a confidence on.

        Raises:
            ParameterError: With every fault.
        """
        faults = []
        if self.threshold is not None and self.threshold not in thresholds:
            own = ", ".join(map(repr, thresholds))
            expected = f"{own} for {evaluator}" if own else f"none: {evaluator} has no thresholds"
            faults.append(Fault(repr(self.threshold), expected, field="at_threshold"))
        if self.confidence is not None and not confidences:
            expected = f"none: the outcomes of {evaluator} do not depend on confidences"
            faults.append(Fault(repr(self.confidence), expected, field="at_confidence"))
        if faults:
            raise ParameterError(faults)


class Outcomes(Struct, frozen=True, eq=False):
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
        columns: Further (N,) columns of the evaluator, by their names in files: numbers, where
            nothing is NaN or, of integers, -1. If a name ends in `OUTCOME_SUFFIX`, they are indices
            into `OUTCOMES`.
        frame_counts: Frames of each sequence that are evaluated, whatever they hold, in the order
            of `sequence_keys`; None where that is not known. Means over frames need them.
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
    frame_counts: IntArray | None = None

    def __len__(self) -> int:
        """Number of rows N."""
        return len(self.sides)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns together."""
        return sum(column.nbytes for column in (*self._rows().values(), *self.columns.values()))

    @property
    def frame_count(self) -> int:
        """Evaluated frames of all its sequences together.

        Raises:
            ValueError: If that is not known.
        """
        if self.frame_counts is None:
            raise ValueError("these outcomes do not know how many frames their sequences have")
        return int(self.frame_counts.sum())

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
        kept = np.ones(len(self.sequence_keys), dtype=np.bool_)
        if domain is not None:
            kept &= _named([key.domain for key in self.sequence_keys], domain)
        if sequence is not None:
            kept &= _named([key.sequence for key in self.sequence_keys], sequence)
        rows = kept[self.sequences]
        if label is not None:
            rows &= _named(self.label_names, label)[self.labels]
        counts = None if self.frame_counts is None else np.where(kept, self.frame_counts, 0)
        return replace(self.take(rows), frame_counts=counts)

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
    name
    for name in Outcomes.__struct_fields__
    if name not in ("sequence_keys", "label_names", "columns", "frame_counts")
)
"""Names of the columns that every table of outcomes has."""


def concatenate_outcomes(parts: Iterable[Outcomes], most_rows: int | None = None) -> Outcomes:
    """Put the rows of parts one after the other.

    Args:
        parts: At least one, all with the same further columns.
        most_rows: Bound of the rows of all of them. With it parts that are made one by one are gone
            when the next one is, and the table is never held twice.
    """
    if most_rows is None:
        parts = list(parts)
        most_rows = sum(map(len, parts))
    remaining = iter(parts)
    first, second = next(remaining), next(remaining, None)
    if second is None:
        return first
    gathered = _Gathered(most_rows)
    gathered.add(first)
    gathered.add(second)
    del first, second
    for part in remaining:
        gathered.add(part)
        del part
    return gathered.table()


class _Gathered:
    """Rows of parts, copied into columns of their final length."""

    def __init__(self, most_rows: int) -> None:
        """Begin with no row."""
        self._most_rows = most_rows
        self._count = 0
        self._keys: dict[SequenceKey, int] = {}
        self._labels: dict[str, int] = {}
        self._own: dict[str, AnyArray] = {}
        self._further: dict[str, AnyArray] = {}
        self._frame_counts: defaultdict[int, int] | None = defaultdict(int)

    def add(self, part: Outcomes) -> None:
        """Add the rows of a part."""
        keys = _places(part.sequence_keys, self._keys)
        own = part._rows()  # noqa: SLF001 - of this module
        own["sequences"] = keys[part.sequences]
        own["labels"] = _places(part.label_names, self._labels)[part.labels]
        rows = slice(self._count, self._count + len(part))
        for columns, values in ((self._own, own), (self._further, part.columns)):
            for name, column in values.items():
                if name not in columns:
                    columns[name] = np.empty(self._most_rows, dtype=column.dtype)
                columns[name][rows] = column
        self._count = rows.stop
        if part.frame_counts is None:
            self._frame_counts = None
        if self._frame_counts is not None and part.frame_counts is not None:
            for place, count in zip(keys.tolist(), part.frame_counts.tolist(), strict=True):
                self._frame_counts[place] += count

    def table(self) -> Outcomes:
        """All rows."""
        own, further = (
            {name: column[: self._count] for name, column in columns.items()}
            for columns in (self._own, self._further)
        )
        counts, places = None, range(len(self._keys))
        if self._frame_counts is not None:
            counts = np.array([self._frame_counts[place] for place in places], dtype=np.int64)
        return Outcomes(
            tuple(self._keys), tuple(self._labels), **own, columns=further, frame_counts=counts
        )


class OutcomeBuilder:
    """Collects what an evaluator decides about an aligned input; what it does not name is ignored.

    Rows are those of `Aligned.truth` and `Aligned.detections`, which a scene keeps in
    `vidscore_evaluators.scene.Items.sources`.
    """

    def __init__(self, aligned: Aligned) -> None:
        """Begin with everything ignored."""
        self._aligned = aligned
        # The truth of each frame, then its detections.
        counts = np.stack([aligned.truth.object_counts, aligned.detections.object_counts], axis=1)
        starts = starts_from_counts(counts.ravel())
        count = int(starts[-1])
        flat = counts.ravel()
        self._sides = np.repeat(np.tile(np.arange(2, dtype=np.uint8), len(counts)), flat)
        self._rows = (np.arange(count) - np.repeat(starts[:-1], flat)).astype(np.int32)
        self._places = {
            side: np.flatnonzero(self._sides == code) for code, side in enumerate(SIDES)
        }
        self._outcomes = np.full(count, CODES[Outcome.IGNORED], dtype=np.uint8)
        self._partners = np.full(count, NO_PARTNER, dtype=np.int32)
        self._similarities = np.full(count, np.nan)
        self._distances_px = np.full(count, np.nan)
        self._shares = np.zeros(count)
        self._id_switches = np.zeros(count, dtype=np.bool_)
        self._fragmentations = np.zeros(count, dtype=np.bool_)

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
        self._outcomes[self._places[side][rows]] = CODES[outcome]

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
        own = self._places[side][rows]
        [other] = (name for name in SIDES if name is not side)
        self._partners[own] = self._rows[self._places[other][others]]
        if similarities is not None:
            self._similarities[own] = similarities
        if distances_px is not None:
            self._distances_px[own] = distances_px

    def share(self, side: Side, rows: IntArray | BoolArray, shares: FloatArray | float) -> None:
        """What some rows add to the measure."""
        self._shares[self._places[side][rows]] = shares

    def break_track(
        self, truth: IntArray, detections: IntArray, *, switches: BoolArray, fragments: BoolArray
    ) -> None:
        """Which of (P,) matches switch an identity or end an interruption, on both sides."""
        for side, rows in ((Side.TRUTH, truth), (Side.DETECTIONS, detections)):
            own = self._places[side][rows]
            self._id_switches[own] = switches
            self._fragmentations[own] = fragments

    def build(self, columns: Mapping[str, Mapping[Side, AnyArray]] | None = None) -> Outcomes:
        """The table; to be called once.

        Args:
            columns: Further columns by name: for each side a value for each of its objects.
        """
        truth, detections = self._aligned.truth, self._aligned.detections
        counts = truth.object_counts + detections.object_counts
        unknown = np.full(truth.object_count, np.nan)
        return Outcomes(
            sequence_keys=truth.sequences,
            label_names=truth.labels,
            sides=self._sides,
            sequences=np.repeat(truth.frame_sequences.astype(np.int32), counts),
            frames=np.repeat(truth.frame_numbers, counts),
            rows=self._rows,
            labels=self._woven(
                truth.label_indices.astype(np.int32), detections.label_indices.astype(np.int32)
            ),
            confidences=self._woven(unknown, detections.confidences),
            tracks=self._woven(truth.track_ids, detections.track_ids),
            outcomes=self._outcomes,
            partners=self._partners,
            similarities=self._similarities,
            distances_px=self._distances_px,
            shares=self._shares,
            id_switches=self._id_switches,
            fragmentations=self._fragmentations,
            columns={
                name: self._woven(of_side[Side.TRUTH], of_side[Side.DETECTIONS])
                for name, of_side in (columns or {}).items()
            },
            frame_counts=_evaluated_frames(self._aligned),
        )

    def _woven(self, truth: AnyArray, detections: AnyArray) -> AnyArray:
        """(N,) values of the objects and of the detections, in the order of the table."""
        column = np.empty(len(self._sides), dtype=np.result_type(truth, detections))
        column[self._places[Side.TRUTH]] = truth
        column[self._places[Side.DETECTIONS]] = detections
        return column


def _evaluated_frames(aligned: Aligned) -> IntArray:
    """(S,) frames of each sequence that the truth lists and that are not don't-care."""
    truth = aligned.truth
    evaluated = aligned.listed & ~are_flagged(truth.frame_flags, FrameFlag.DONT_CARE)
    return np.bincount(truth.frame_sequences[evaluated], minlength=len(truth.sequences))


def _named(names: Sequence[str], wanted: str) -> BoolArray:
    """(names,) which names are the wanted one."""
    return np.array([name == wanted for name in names], dtype=np.bool_)


def _places(names: Sequence[Name], table: dict[Name, int]) -> IndexArray:
    """Place of each name in a table, to which new ones are added."""
    return np.array([table.setdefault(name, len(table)) for name in names], dtype=np.int32)
