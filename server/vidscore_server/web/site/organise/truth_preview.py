"""The contents of a truth revision, and the changes of an upload against the revision before.

Contents are counts by sequence and label, and drawings of first frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup
from msgspec import Struct

from vidscore_evaluators.annotations import (
    Annotations,
    SequenceKey,
    concatenate,
    rows_by_sequence,
    sequence_name,
)
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.figures.overlay import Mark, Overlay
from vidscore_evaluators.fingerprint import Fingerprint, fingerprint
from vidscore_server.web.site.phrases import counted, listed, things

MOST_FRAMES = 50_000
"""Maximum number of frames that a preview counts; the page says if more are left out."""

MOST_DRAWN = 6
"""Maximum number of drawn frames: the first one with objects of each sequence."""

MOST_MARKS = 200
"""Maximum number of drawn objects per frame."""

MOST_ROWS = 500
"""Maximum number of sequences in the table."""

MOST_LABELS = 50
"""Maximum number of labels in the table."""


class DrawnFrame(Struct, frozen=True):
    """A frame as a page draws it.

    Attributes:
        title: Sequence and number.
        svg: The picture.
        note: A note on it; may be empty.
    """

    title: str
    svg: Markup
    note: str


class _Frame(Struct, frozen=True):
    sequence: str
    number: int
    marks: tuple[Mark, ...]


class Preview:
    """Counts a revision, batch by batch.

    Args:
        sequences: Sequences of the specification, which may give the size of images.
    """

    def __init__(self, sequences: Iterable[Mapping[str, Any]]) -> None:
        self._sizes = {
            sequence_name((entry.get("domain", ""), entry["name"])): (
                entry.get("image_width") or 0,
                entry.get("image_height") or 0,
            )
            for entry in sequences
        }
        self._counts: Counter[tuple[str, str]] = Counter()
        self._reaches: dict[str, tuple[float, float]] = {}
        self._frames: list[_Frame] = []
        self._drawn_sequences: set[str] = set()
        self.frame_counts: Counter[str] = Counter()
        self.is_full = False

    @property
    def labels(self) -> list[str]:
        """Labels, sorted."""
        return sorted({label for _, label in self._counts})

    @property
    def frame_count(self) -> int:
        """Number of counted frames."""
        return self.frame_counts.total()

    @property
    def object_count(self) -> int:
        """Number of counted objects."""
        return self._counts.total()

    @property
    def columns(self) -> list[str]:
        """The first labels."""
        return self.labels[:MOST_LABELS]

    @property
    def rows(self) -> list[tuple[str, int, int, list[int]]]:
        """For the first sequences, their number of frames, of objects, and of objects per label."""
        objects: Counter[str] = Counter()
        for (sequence, _), count in self._counts.items():
            objects[sequence] += count
        columns = self.columns
        return [
            (
                sequence,
                self.frame_counts[sequence],
                objects[sequence],
                [self._counts[sequence, label] for label in columns],
            )
            for sequence in sorted(self.frame_counts)[:MOST_ROWS]
        ]

    @property
    def left_out(self) -> str:
        """How many sequences and labels the table lacks, as a sentence; empty for none."""
        parts = [
            f"the first {most} of {things(count, noun)}"
            for most, count, noun in (
                (MOST_ROWS, len(self.frame_counts), "sequence"),
                (MOST_LABELS, len(self.labels), "label"),
            )
            if count > most
        ]
        return f"These are {listed(parts)}." if parts else ""

    @property
    def drawn(self) -> list[DrawnFrame]:
        """The first frames."""
        return [self._draw(frame, row) for row, frame in enumerate(self._frames)]

    def add(self, batch: Annotations) -> None:
        """Count a batch."""
        kept = min(batch.frame_count, MOST_FRAMES - self.frame_count)
        self.is_full = kept < batch.frame_count
        names = list(map(sequence_name, batch.sequences))
        owners = batch.frame_sequences[:kept]
        for row, count in zip(*np.unique(owners, return_counts=True), strict=True):
            self.frame_counts[names[row]] += int(count)
        counted = batch.object_frames < kept
        labels = batch.label_indices[counted]
        rows = np.stack([batch.frame_sequences[batch.object_frames[counted]], labels], axis=1)
        for (row, label), count in zip(*np.unique(rows, axis=0, return_counts=True), strict=True):
            self._counts[names[row], str(batch.labels[label])] += int(count)
        for row in np.unique(rows[:, 0]).tolist():
            mine = counted & (batch.frame_sequences[batch.object_frames] == row)
            self._note(names[row], batch, np.flatnonzero(mine))

    def _note(self, sequence: str, batch: Annotations, objects: IntArray) -> None:
        """Record the extent of a sequence, and its first frame with objects, which is drawn."""
        width, height = self._reaches.get(sequence, (1.0, 1.0))
        if batch.masks is None:
            numbers = batch.coordinates[objects]
        else:  # the last pixels of objects
            numbers = batch.masks.sizes[objects, ::-1].astype(np.float64) - 1.0
        self._reaches[sequence] = (
            max(width, float(numbers[:, 0::2].max())),
            max(height, float(numbers[:, 1::2].max())),
        )
        if len(self._frames) >= MOST_DRAWN or sequence in self._drawn_sequences:
            return
        self._drawn_sequences.add(sequence)
        first = batch.object_frames[objects[0]]
        shown = objects[batch.object_frames[objects] == first][:MOST_MARKS]
        own = batch.take_objects(shown)  # a copy, so that the rest of the batch is freed
        marks = tuple(
            Mark("sw", tuple(place), row + 1, str(batch.labels[label]), mask=own.mask_of(row))
            for row, (label, place) in enumerate(
                zip(own.label_indices.tolist(), own.coordinates.tolist(), strict=True)
            )
        )
        self._frames.append(_Frame(sequence, int(batch.frame_numbers[first]), marks))

    def _draw(self, frame: _Frame, row: int) -> DrawnFrame:
        width, height = self._sizes.get(frame.sequence, (0, 0))
        if not width or not height:
            width, height = (int(extent) + 1 for extent in self._reaches[frame.sequence])
        title = f"{frame.sequence or 'the sequence'}, frame {frame.number}"
        description = f"{things(len(frame.marks), 'object')} of the ground truth"
        overlay = Overlay(width, height, frame.marks)
        svg = overlay.svg(title, description, f"frame-{row}")
        return DrawnFrame(title, Markup(svg), overlay.note)  # noqa: S704 - the figure escapes its texts


# --- What an upload would change, sequence by sequence

NEW, CHANGED, GONE, SAME = "new", "changed", "gone", "the same"
STATES = (NEW, CHANGED, GONE, SAME)
"""Possible changes of a sequence, in the order of the table."""


class SequenceContents(Struct, frozen=True):
    """The contents of a sequence.

    Attributes:
        frames: Number of its frames.
        objects: Number of its objects.
        fingerprint: Fingerprint of its annotations.
    """

    frames: int = 0
    objects: int = 0
    fingerprint: Fingerprint = Fingerprint()


class SequenceChange(Struct, frozen=True):
    """The change of a sequence.

    Attributes:
        name: Its name.
        state: One of `STATES`.
        before: Its contents in the revision before.
        after: Its contents after the change.
    """

    name: str
    state: str
    before: SequenceContents
    after: SequenceContents


def merged(before: Annotations | None, upload: Annotations) -> Annotations:
    """An upload, merged with the frames that only the revision before has.

    Args:
        before: The revision before; None if there is none.
        upload: The upload.
    """
    if before is None or before.arity != upload.arity:
        return upload  # a different shape is refused when it is stored
    own = {key: upload.frame_numbers[rows] for key, rows in rows_by_sequence(upload).items()}
    replaced = np.zeros(before.frame_count, dtype=np.bool_)
    for key, rows in rows_by_sequence(before).items():
        if key in own:
            replaced[rows] = np.isin(before.frame_numbers[rows], own[key])
    return concatenate([before.take_frames(~replaced), upload])


def changes_of(before: Annotations | None, after: Annotations) -> list[SequenceChange]:
    """The change of each sequence: new ones first, then changed, removed, and all others.

    Args:
        before: The revision before; None if there is none.
        after: The truth that would follow it.
    """
    olds, news = _contents(before), _contents(after)
    found = []
    for key in olds.keys() | news.keys():
        old, new = olds.get(key), news.get(key)
        if old is None or new is None:
            state = NEW if old is None else GONE
        else:
            state = SAME if old == new else CHANGED
        none = SequenceContents()
        found.append(SequenceChange(sequence_name(key), state, old or none, new or none))
    return sorted(found, key=lambda change: (STATES.index(change.state), change.name))


def change_sentence(changes: Sequence[SequenceChange]) -> str:
    """The changes of all sequences, in a sentence.

    Args:
        changes: The change of each.
    """
    if not changes:
        return "It has no frames."
    numbers = Counter(change.state for change in changes)
    if not numbers.keys() - {SAME}:
        return "It has the same contents as the revision before."
    parts = [
        f"{counted(numbers[state], 'sequence')} {_verb(numbers[state], state)}"
        for state in STATES
        if numbers[state]
    ]
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def label_changes(
    before: Annotations | None, after: Annotations
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Added labels, and removed labels, each in the order of their names.

    Args:
        before: The revision before; None if there is none.
        after: The truth that would follow it.
    """
    olds = set() if before is None else set(before.with_used_tables().labels)
    news = set(after.with_used_tables().labels)
    return tuple(sorted(news - olds)), tuple(sorted(olds - news))


def _verb(number: int, state: str) -> str:
    if state == SAME:
        return "stays as it is" if number == 1 else "stay as they are"
    return f"{'is' if number == 1 else 'are'} {state}"


def _contents(truth: Annotations | None) -> dict[SequenceKey, SequenceContents]:
    if truth is None:
        return {}
    found = {}
    for key, rows in rows_by_sequence(truth).items():
        part = truth.take_frames(rows)
        found[key] = SequenceContents(part.frame_count, part.object_count, fingerprint(part))
    return found
