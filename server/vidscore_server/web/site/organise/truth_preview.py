"""What a revision of the truth has: counts by sequence and label, and its first frames drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from markupsafe import Markup
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.figures.overlay import Mark, Overlay
from vidscore_server.web.site.phrases import things

MOST_FRAMES = 50_000
"""Frames that a preview counts; further ones are left out, and the page says so."""

MOST_DRAWN = 6
"""Frames that are drawn: the first one with objects of each sequence."""

MOST_MARKS = 200
"""Objects that are drawn of a frame."""

MOST_ROWS = 500
"""Sequences that the table lists."""


class DrawnFrame(Struct, frozen=True):
    """A frame as a page draws it.

    Attributes:
        title: Sequence and number.
        svg: The picture.
        note: What is to be said of it; empty where that is nothing.
    """

    title: str
    svg: Markup
    note: str


class _Frame(Struct, frozen=True):
    sequence: str
    number: int
    marks: tuple[Mark, ...]


class Preview:
    """Counts of a revision, batch by batch.

    Args:
        sequences: Sequences of the specification, which may say how large images are.
    """

    def __init__(self, sequences: Iterable[Mapping[str, Any]]) -> None:
        self._sizes = {
            _name(entry.get("domain", ""), entry["name"]): (
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
        """Labels in the order of their names."""
        return sorted({label for _, label in self._counts})

    @property
    def frame_count(self) -> int:
        """Frames that were counted."""
        return self.frame_counts.total()

    @property
    def object_count(self) -> int:
        """Objects that were counted."""
        return self._counts.total()

    @property
    def rows(self) -> list[tuple[str, int, int, list[int]]]:
        """Of each sequence its frames, objects, and objects of each label."""
        labels = self.labels
        return [
            (
                sequence,
                self.frame_counts[sequence],
                sum(counts := [self._counts[sequence, label] for label in labels]),
                counts,
            )
            for sequence in sorted(self.frame_counts)[:MOST_ROWS]
        ]

    @property
    def drawn(self) -> list[DrawnFrame]:
        """The first frames."""
        return [self._draw(frame, row) for row, frame in enumerate(self._frames)]

    def add(self, batch: Annotations) -> None:
        """Count a batch.

        Args:
            batch: The batch.
        """
        kept = min(batch.frame_count, MOST_FRAMES - self.frame_count)
        self.is_full = kept < batch.frame_count
        names = [_name(key.domain, key.sequence) for key in batch.sequences]
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
        """Keep how far a sequence reaches, and its first frame with objects, which is drawn."""
        width, height = self._reaches.get(sequence, (1.0, 1.0))
        if batch.masks is None:
            numbers = batch.coordinates[objects]
        else:  # their last pixels
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
        own = batch.take_objects(shown)  # not a view: the rest of the batch is let go
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


def _name(domain: str, sequence: str) -> str:
    return "/".join(filter(None, (domain, sequence)))
