"""The contents of each frame of a scored input, and the frames to look at."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

import numpy as np
from msgspec import Struct, field

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import (
    NO_TRACK,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.arrays import BoolArray, FlagArray, FloatArray, IntArray, marked
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.mask_outlines import ColumnPieces, column_pieces
from vidscore_evaluators.masks import Masks, no_masks
from vidscore_evaluators.names import is_right_to_left
from vidscore_evaluators.outcome_table import CODES, NO_PARTNER, OUTCOMES, SIDES, Outcome, Outcomes
from vidscore_evaluators.render.style import KINDS, NO_KIND, Kind, kinds_of
from vidscore_evaluators.selection import Selection

_EXPLAINED = frozenset(OUTCOMES) - {
    Outcome.TRUE_POSITIVE,
    Outcome.FALSE_POSITIVE,
    Outcome.FALSE_NEGATIVE,
    Outcome.IGNORED,
}
"""Outcomes that say why a detection is wrong."""


class WorstBy(StrEnum):
    """Criterion by which frames are ranked as bad."""

    MISTAKES = "mistakes"
    """False alarms, misses and id switches."""
    SHARE = "share"
    """Contribution of its objects and detections to the evaluator's first measure."""


class SideView(Struct, frozen=True, eq=False, dict=True):
    """The N objects of one side of a frame.

    Attributes:
        coordinates: (N, 2 | 4 | 8) points, boxes or quadrilaterals in pixels of the media.
        kinds: (N,) index into `KINDS`, or `NO_KIND` for objects that are not drawn.
        are_regions: (N,) whether each is an area in which nothing is scored.
        names: (N,) texts of plates: row, label, track and the reason of a mistake.
        confidences: (N,) confidences; NaN if there are none.
        partners: (N,) row on the other side, or `NO_PARTNER`.
        tails: (T, 2) earlier positions of the objects' tracks, oldest first.
        tail_of: (T,) row of the object to whose tail a point belongs, ascending.
        tail_breaks: (T,) whether the track was absent from the frame before.
        masks: Masks of all objects; None if no object has one.
    """

    coordinates: FloatArray
    kinds: FlagArray
    are_regions: BoolArray
    names: tuple[str, ...]
    confidences: FloatArray
    partners: IntArray
    tails: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    tail_of: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    tail_breaks: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=np.bool_))
    masks: Masks | None = None

    @cached_property
    def have_pixels(self) -> BoolArray:
        """(N,) whether each object has a mask that is not empty."""
        if self.masks is None:
            return np.zeros(len(self.kinds), dtype=np.bool_)
        return self.masks.areas() > 0.0

    @cached_property
    def pieces(self) -> ColumnPieces:
        """The pixels of the masks of all objects."""
        return column_pieces(no_masks() if self.masks is None else self.masks)

    def are(self, kind: Kind) -> BoolArray:
        """(N,) whether each object is of a kind and not a region."""
        wanted: BoolArray = (self.kinds == KINDS.index(kind)) & ~self.are_regions
        return wanted


class FrameView(Struct, frozen=True, eq=False):
    """Contents of a frame to draw.

    Attributes:
        sequence: Its sequence.
        number: Its number.
        dont_care: Whether it is excluded from every count.
        sides: Contents of each side.
    """

    sequence: SequenceKey
    number: int
    dont_care: bool
    sides: Mapping[Side, SideView]

    @property
    def counts(self) -> dict[Kind, int]:
        """Numbers of hits, misses, false alarms, id switches, and ignored objects of both sides.

        An object with an id switch also counts as found.
        """
        truth, detections = self.sides[Side.TRUTH], self.sides[Side.DETECTIONS]
        switches = int(truth.are(Kind.ID_SWITCH).sum())
        return {
            Kind.HIT: int(truth.are(Kind.HIT).sum()) + switches,
            Kind.FALSE_ALARM: int(detections.are(Kind.FALSE_ALARM).sum()),
            Kind.MISS: int(truth.are(Kind.MISS).sum()),
            Kind.ID_SWITCH: switches,
            Kind.IGNORED: int(sum(side.are(Kind.IGNORED).sum() for side in self.sides.values())),
        }


class _SideTable(Struct, frozen=True, eq=False, dict=True):
    """One side with the outcomes of its N objects."""

    annotations: Annotations
    named: BoolArray
    outcomes: FlagArray
    id_switches: BoolArray
    partners: IntArray
    shares: FloatArray
    has_confidences: bool

    @cached_property
    def kinds(self) -> FlagArray:
        return np.where(self.named, kinds_of(self.outcomes, self.id_switches), NO_KIND)

    def are_mistakes(self, side: Side) -> FloatArray:
        """(N,) 1 for a miss, a false alarm and an id switch (on one side only); else 0."""
        wrong = [Kind.MISS, Kind.FALSE_ALARM, *([Kind.ID_SWITCH] if side is Side.TRUTH else [])]
        are = np.isin(self.kinds, [KINDS.index(kind) for kind in wrong])
        are &= (self.annotations.flags & ObjectFlag.REGION) == 0
        return are.astype(np.float64)


class ScoredFrames:
    """Both sides of F frames with the outcomes of one evaluator.

    Args:
        aligned: Both sides.
        outcomes: Outcomes of an evaluator; objects without one are not drawn.
    """

    def __init__(self, aligned: Aligned, outcomes: Outcomes) -> None:
        self._aligned = aligned
        keys = aligned.truth.sequences
        place = {key: index for index, key in enumerate(keys)}
        # First row of each sequence: frames are sorted by sequence and then by number.
        self._starts = np.searchsorted(
            aligned.truth.frame_sequences, np.arange(len(keys) + 1), side="left"
        )
        rows = self._frame_rows(outcomes, place)
        self._sides = {
            side: _side_table(annotations, outcomes, rows, side)
            for side, annotations in (
                (Side.TRUTH, aligned.truth),
                (Side.DETECTIONS, aligned.detections),
            )
        }

    def key_of(self, row: int) -> SequenceKey:
        """The sequence of a frame."""
        truth = self._aligned.truth
        key: SequenceKey = truth.sequences[truth.frame_sequences[row]]
        return key

    def numbers(self, rows: IntArray) -> IntArray:
        """(K,) numbers of frames."""
        return self._aligned.truth.frame_numbers[rows]

    def groups(self, rows: IntArray) -> list[tuple[SequenceKey, IntArray]]:
        """Ascending rows of frames by sequence."""
        of_rows = self._aligned.truth.frame_sequences[rows]
        return [(self._aligned.truth.sequences[index], rows[of_rows == index])
                for index in np.unique(of_rows).tolist()]  # fmt: skip

    def extent(self, key: SequenceKey) -> FloatArray:
        """(2,) greatest x and y of all finite coordinates of a sequence; 0 if there are none."""
        index = self._aligned.truth.sequences.index(key)
        first, stop = self._starts[index], self._starts[index + 1]
        most = np.zeros(2)
        for side in (self._aligned.truth, self._aligned.detections):
            objects = slice(side.frame_starts[first], side.frame_starts[stop])
            points = side.coordinates[objects].reshape(-1, 2)
            most = np.maximum(most, points.max(axis=0, initial=0.0))
        return most

    def mask_extent(self, key: SequenceKey) -> FloatArray:
        """(2,) greatest width and height of the images of masks of a sequence; 0 without masks."""
        index = self._aligned.truth.sequences.index(key)
        first, stop = self._starts[index], self._starts[index + 1]
        most = np.zeros(2)
        for side in (self._aligned.truth, self._aligned.detections):
            if side.masks is not None:
                objects = slice(side.frame_starts[first], side.frame_starts[stop])
                most = np.maximum(most, side.masks.sizes[objects, ::-1].max(axis=0, initial=0))
        return most

    def select(self, selection: Selection) -> IntArray:
        """Ascending rows of the selected frames.

        Raises:
            ParameterError: If there are none.
        """
        rows = np.flatnonzero(selection.frames_of(self._aligned.truth))
        if not len(rows):
            raise ParameterError([Fault("no frame in the chosen part", "at least one")])
        return rows

    def badness(self, rows: IntArray, by: WorstBy) -> FloatArray:
        """(K,) how bad each frame is."""
        total = np.zeros(self._aligned.truth.frame_count)
        for side, table in self._sides.items():
            weights = table.shares if by is WorstBy.SHARE else table.are_mistakes(side)
            frames = table.annotations.object_frames
            total += np.bincount(frames, weights=weights, minlength=len(total))
        worst: FloatArray = total[rows]
        return worst

    def worst(self, rows: IntArray, count: int, by: WorstBy) -> IntArray:
        """Rows of the worst frames, the worst first; equally bad ones keep their order."""
        order = np.argsort(-self.badness(rows, by), kind="stable")
        return rows[order[:count]]

    def view(self, row: int, tail_frames: int = 0) -> FrameView:
        """Contents of a frame to draw.

        Args:
            row: Row of the frame.
            tail_frames: Number of earlier frames over which tracks are followed.
        """
        truth = self._aligned.truth
        begin = int(self._starts[truth.frame_sequences[row]])
        earliest = truth.frame_numbers[row] - tail_frames
        first = begin + int(np.searchsorted(truth.frame_numbers[begin:row], earliest))
        return FrameView(
            self.key_of(row),
            int(truth.frame_numbers[row]),
            bool(truth.frame_flags[row] & FrameFlag.DONT_CARE),
            {side: _side_view(table, row, first) for side, table in self._sides.items()},
        )

    def _frame_rows(self, outcomes: Outcomes, place: Mapping[SequenceKey, int]) -> IntArray:
        """(N,) frame row of each row of outcomes."""
        numbers = self._aligned.truth.frame_numbers
        rows = np.zeros(len(outcomes), dtype=np.int64)
        order = np.argsort(outcomes.sequences, kind="stable")
        bounds = np.searchsorted(
            outcomes.sequences[order], np.arange(len(outcomes.sequence_keys) + 1)
        )
        for index in np.unique(outcomes.sequences).tolist():
            mine = order[bounds[index] : bounds[index + 1]]
            sequence = place[outcomes.sequence_keys[index]]
            first, stop = self._starts[sequence], self._starts[sequence + 1]
            rows[mine] = first + np.searchsorted(numbers[first:stop], outcomes.frames[mine])
        return rows


def _side_table(
    annotations: Annotations, outcomes: Outcomes, frame_rows: IntArray, side: Side
) -> _SideTable:
    """Outcomes of one side in the order of its objects."""
    mine = np.flatnonzero(outcomes.sides == SIDES.index(side))
    objects = annotations.frame_starts[frame_rows[mine]] + outcomes.rows[mine]
    count = annotations.object_count
    codes = np.full(count, CODES[Outcome.IGNORED], dtype=np.uint8)
    codes[objects] = outcomes.outcomes[mine]
    switches = np.zeros(count, dtype=np.bool_)
    switches[objects] = outcomes.id_switches[mine]
    partners = np.full(count, NO_PARTNER, dtype=np.int64)
    partners[objects] = outcomes.partners[mine]
    shares = np.zeros(count)
    shares[objects] = outcomes.shares[mine]
    has_confidences = side is Side.DETECTIONS and bool((annotations.confidences != 1.0).any())
    named = marked(count, objects)
    return _SideTable(annotations, named, codes, switches, partners, shares, has_confidences)


def _side_view(table: _SideTable, frame: int, first_frame: int) -> SideView:
    """One side of a frame, with tails that start at an earlier frame."""
    annotations = table.annotations
    objects = slice(int(annotations.frame_starts[frame]), int(annotations.frame_starts[frame + 1]))
    count = objects.stop - objects.start
    confidences = np.full(count, np.nan)
    if table.has_confidences:
        confidences = annotations.confidences[objects]
    return SideView(
        annotations.coordinates[objects],
        table.kinds[objects],
        (annotations.flags[objects] & ObjectFlag.REGION) != 0,
        _names(table, objects),
        confidences,
        table.partners[objects],
        *_tails(annotations, frame, first_frame),
        masks=None
        if annotations.masks is None
        else annotations.masks.run(objects.start, objects.stop),
    )


def _names(table: _SideTable, objects: slice) -> tuple[str, ...]:
    annotations = table.annotations
    names = []
    for row, (label, track, code) in enumerate(
        zip(
            annotations.label_indices[objects].tolist(),
            annotations.track_ids[objects].tolist(),
            table.outcomes[objects].tolist(),
            strict=True,
        )
    ):
        name = annotations.labels[label]
        # OpenCV writes only from left to right, and would reverse such a label.
        words = [str(row), f"label {label}" if is_right_to_left(name) else name]
        if track != NO_TRACK:
            words.append(f"#{track}")
        if OUTCOMES[code] in _EXPLAINED:
            words.append(OUTCOMES[code].replace("_", " "))
        names.append(" ".join(filter(None, words)))
    return tuple(names)


def _tails(
    annotations: Annotations, frame: int, first_frame: int
) -> tuple[FloatArray, IntArray, BoolArray]:
    """Earlier positions of the tracks of a frame's objects: points, objects and breaks."""
    begin, now, stop = annotations.frame_starts[[first_frame, frame, frame + 1]].tolist()
    tracks = annotations.track_ids[now:stop]
    tracked, rows = np.unique(tracks, return_index=True)
    found = begin + np.flatnonzero(np.isin(annotations.track_ids[begin:stop], tracked))
    found = found[annotations.track_ids[found] != NO_TRACK]
    of_track = annotations.track_ids[found]
    owner = rows[np.searchsorted(tracked, of_track)]
    frames = np.searchsorted(annotations.frame_starts, found, side="right") - 1
    order = np.lexsort((frames, owner))
    owner, frames = owner[order], frames[order]
    breaks = np.ones(len(order), dtype=np.bool_)
    breaks[1:] = (owner[1:] != owner[:-1]) | (np.diff(frames) != 1)
    points = annotations.coordinates[found[order]]
    middles = points.reshape(len(points), annotations.arity // 2, 2).mean(axis=1)
    return middles, owner.astype(np.int64), breaks
