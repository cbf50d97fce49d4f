"""Outcomes: what became of each object of the truth and of each detection, as columns.

A row is one object or one detection. The rows of a frame stand together, truth first, in the order
in which the frame lists them; frames are in the common order of `vidscore_evaluators.alignment`. No
row is a Python object.

`OutcomeBuilder` turns an evaluator's matches into these columns. Counts and sums of the rows give
the figures of the evaluator's report: `Evaluator.outcome_figures` says which, and the contract
suite (`vidscore_evaluators.testing`) checks this for every evaluator.
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
"""Partner of a row that has none."""

SIDES = tuple(Side)
"""Side by the number in `Outcomes.sides`."""

OUTCOME_SUFFIX = "_outcome"
"""Suffix of the names of further columns that hold outcomes."""

IndexArray = NDArray[np.int32]
Name = TypeVar("Name")


class Outcome(StrEnum):
    """The result of matching for one object or detection."""

    TRUE_POSITIVE = "true_positive"
    """Matched: on the object and on its detection."""
    FALSE_POSITIVE = "false_positive"
    """A detection that has no match, and counts."""
    FALSE_NEGATIVE = "false_negative"
    """An object that has no match, and counts."""
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
    """A false positive that refers to no object."""


OUTCOMES = tuple(Outcome)
"""Outcome by the number in `Outcomes.outcomes`."""

CODES: Mapping[Outcome, int] = {outcome: code for code, outcome in enumerate(OUTCOMES)}
"""Number in `Outcomes.outcomes` by outcome."""


class OperatingPoint(Struct, frozen=True):
    """A point on the curves of an evaluator, for outcomes.

    Attributes:
        threshold: Similarity that a match needs. None for the evaluator's own; if it has several,
            the first unless its page names another.
        confidence: Detections below it are ignored; None to ignore none.
    """

    threshold: float | None = None
    confidence: float | None = None

    def check(
        self, evaluator: str, thresholds: Sequence[float] = (), *, confidences: bool = False
    ) -> None:
        """Refuse an operating point that an evaluator does not offer.

        Args:
            evaluator: Its name.
            thresholds: The thresholds that it offers; none if it has no choice.
            confidences: Whether it offers a least confidence.

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
        rows: (N,) position of the object among those of its side and frame, from 0, as given.
        labels: (N,) index into `label_names`.
        confidences: (N,) confidences; NaN for truth.
        tracks: (N,) track ids, `vidscore_evaluators.annotations.NO_TRACK` if there is none.
        outcomes: (N,) index into `OUTCOMES`.
        partners: (N,) row on the other side, in the same frame, that it is matched with or that its
            outcome refers to; `NO_PARTNER` if there is none.
        similarities: (N,) similarity to the partner; NaN without one, or if distances are used.
        distances_px: (N,) distance to the partner in pixels; NaN without one, or for similarities.
        shares: (N,) what the row adds to the sum behind the evaluator's first measure; the
            evaluator's page says which sum.
        id_switches: (N,) whether the match changes the identity of the object's track.
        fragmentations: (N,) whether the match ends an interruption of the object's track.
        columns: Further (N,) columns of the evaluator, by their names in files. A missing value is
            NaN, or -1 for integers. If a name ends in `OUTCOME_SUFFIX`, the values are indices into
            `OUTCOMES`.
        frame_counts: Number of evaluated frames of each sequence, in the order of `sequence_keys`;
            None if unknown. Means over frames need them.
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
        """Number of evaluated frames of all sequences.

        Raises:
            ValueError: If it is unknown.
        """
        if self.frame_counts is None:
            raise ValueError("these outcomes do not know how many frames their sequences have")
        return int(self.frame_counts.sum())

    def of_side(self, side: Side) -> BoolArray:
        """(N,) whether each row is of a side."""
        mask: BoolArray = self.sides == SIDES.index(side)
        return mask

    def are(self, *wanted: Outcome) -> BoolArray:
        """(N,) whether each row has one of some outcomes."""
        return np.isin(self.outcomes, [CODES[outcome] for outcome in wanted])

    def count(self, outcome: Outcome, side: Side) -> int:
        """Number of rows of a side that have an outcome."""
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

        Strings are categories. Missing values are null: a confidence, a track, a partner.

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
    """Concatenate the rows of several parts.

    Args:
        parts: At least one, all with the same further columns.
        most_rows: Upper bound on the number of rows of all parts. With it, parts that are made one
            by one are freed as they come, and the table is never held twice.
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
    """Collects an evaluator's decisions about an aligned input; all other rows are ignored.

    Rows are those of `Aligned.truth` and `Aligned.detections`, which a scene keeps in
    `vidscore_evaluators.scene.Items.sources`.
    """

    def __init__(self, aligned: Aligned) -> None:
        """Begin with every row ignored."""
        self._aligned = aligned
        # For each frame its truth, then its detections.
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
        """Set true positives: (P,) pairs of object and detection, with similarity or distance."""
        self.set(Side.TRUTH, truth, Outcome.TRUE_POSITIVE)
        self.set(Side.DETECTIONS, detections, Outcome.TRUE_POSITIVE)
        for side, rows, others in (
            (Side.TRUTH, truth, detections),
            (Side.DETECTIONS, detections, truth),
        ):
            self.relate(side, rows, others, similarities=similarities, distances_px=distances_px)

    def set(self, side: Side, rows: IntArray | BoolArray, outcome: Outcome) -> None:
        """Set the outcome of some rows of a side."""
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
        """Set the row on the other side, in the same frame, that each of some rows refers to."""
        own = self._places[side][rows]
        [other] = (name for name in SIDES if name is not side)
        self._partners[own] = self._rows[self._places[other][others]]
        if similarities is not None:
            self._similarities[own] = similarities
        if distances_px is not None:
            self._distances_px[own] = distances_px

    def share(self, side: Side, rows: IntArray | BoolArray, shares: FloatArray | float) -> None:
        """Set what some rows add to the measure."""
        self._shares[self._places[side][rows]] = shares

    def break_track(
        self, truth: IntArray, detections: IntArray, *, switches: BoolArray, fragments: BoolArray
    ) -> None:
        """Mark (P,) matches that switch an identity or end an interruption, on both sides."""
        for side, rows in ((Side.TRUTH, truth), (Side.DETECTIONS, detections)):
            own = self._places[side][rows]
            self._id_switches[own] = switches
            self._fragmentations[own] = fragments

    def build(self, columns: Mapping[str, Mapping[Side, AnyArray]] | None = None) -> Outcomes:
        """Build the table; call it once.

        Args:
            columns: Further columns by name: for each side, one value per object.
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
        """(N,) values of objects and detections, in the order of the table."""
        column = np.empty(len(self._sides), dtype=np.result_type(truth, detections))
        column[self._places[Side.TRUTH]] = truth
        column[self._places[Side.DETECTIONS]] = detections
        return column


def _evaluated_frames(aligned: Aligned) -> IntArray:
    """(S,) number of frames of each sequence that the truth lists and that are not don't-care."""
    truth = aligned.truth
    evaluated = aligned.listed & ~are_flagged(truth.frame_flags, FrameFlag.DONT_CARE)
    return np.bincount(truth.frame_sequences[evaluated], minlength=len(truth.sequences))


def _named(names: Sequence[str], wanted: str) -> BoolArray:
    """(names,) whether each name is the wanted one."""
    return np.array([name == wanted for name in names], dtype=np.bool_)


def _places(names: Sequence[Name], table: dict[Name, int]) -> IndexArray:
    """Index of each name in a table; new names are added."""
    return np.array([table.setdefault(name, len(table)) for name in names], dtype=np.int32)
