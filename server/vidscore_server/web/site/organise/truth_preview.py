"""What a revision of the truth has: counts by sequence and label, and its first frames drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from vidscore_evaluators.figures.overlay import Mark, Overlay

MOST_FRAMES = 50_000
"""Frames that a preview counts; further ones are left out, and the page says so."""

MOST_DRAWN = 6
"""Frames that are drawn: the first one with objects of each sequence."""

MOST_MARKS = 200
"""Objects that are drawn of a frame."""

MOST_ROWS = 500
"""Sequences that the table lists."""

_COORDINATES = {"point": 2, "box": 4, "quadrilateral": 8}


@dataclass(frozen=True)
class DrawnFrame:
    """A frame as a page draws it.

    Attributes:
        title: Sequence and number.
        svg: The picture.
    """

    title: str
    svg: Markup


@dataclass(frozen=True)
class _Frame:
    sequence: str
    number: int
    objects: tuple[tuple[str, tuple[float, ...]], ...]


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

    def add(self, batch: Mapping[str, Any]) -> None:
        """Count a batch.

        Args:
            batch: The batch as a call gives it.
        """
        names = [_name(key["domain"], key["sequence"]) for key in batch["sequences"]]
        labels = batch["labels"] or [""]
        size = _COORDINATES.get(batch["geometry"], 2)
        indices, place = batch["label_indices"], 0
        for row, number in enumerate(batch["frame_numbers"]):
            if self.frame_count >= MOST_FRAMES:
                self.is_full = True
                return
            sequence = names[batch["frame_sequences"][row]]
            self.frame_counts[sequence] += 1
            end = place + batch["frame_object_counts"][row]
            found = [labels[index] for index in indices[place:end]] or [labels[0]] * (end - place)
            self._counts.update((sequence, label) for label in found)
            numbers = batch["coordinates"][size * place : size * end]
            self._note(sequence, number, found, numbers, size)
            place = end

    def _note(
        self, sequence: str, number: int, labels: list[str], numbers: list[float], size: int
    ) -> None:
        """Keep how far a sequence reaches, and a frame that is to be drawn."""
        if not numbers:
            return
        width, height = self._reaches.get(sequence, (1.0, 1.0))
        self._reaches[sequence] = (
            max(width, *numbers[0::2]),
            max(height, *numbers[1::2]),
        )
        if len(self._frames) < MOST_DRAWN and sequence not in self._drawn_sequences:
            self._drawn_sequences.add(sequence)
            places = [
                tuple(numbers[start : start + size]) for start in range(0, len(numbers), size)
            ]
            objects = tuple(zip(labels, places, strict=True))[:MOST_MARKS]
            self._frames.append(_Frame(sequence, number, objects))

    def _draw(self, frame: _Frame, row: int) -> DrawnFrame:
        width, height = self._sizes.get(frame.sequence, (0, 0))
        if not width or not height:
            width, height = (int(extent) + 1 for extent in self._reaches[frame.sequence])
        marks = [
            Mark("sw", coordinates, number, label)
            for number, (label, coordinates) in enumerate(frame.objects, start=1)
        ]
        title = f"{frame.sequence or 'the sequence'}, frame {frame.number}"
        description = f"{len(marks)} objects of the ground truth"
        svg = Overlay(width, height, marks).svg(title, description, f"frame-{row}")
        return DrawnFrame(title, Markup(svg))  # noqa: S704 - the figure escapes its texts


def _name(domain: str, sequence: str) -> str:
    return "/".join(filter(None, (domain, sequence)))
