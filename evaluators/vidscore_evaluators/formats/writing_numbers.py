"""Numbers that stand for images and classes in files, the same on both sides of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.source import IMAGES
from vidscore_evaluators.formats.writing import Numbers, in_order

UNNAMED = "object"
"""Class of objects without a class, in files whose objects must have one."""


@dataclass(frozen=True, eq=False)
class ImageNumbers:
    """What stands for the frames of a truth, and for its classes.

    Attributes:
        sequences: Sequences of the truth, sorted, numbered from 1.
        frames: Number of each image by sequence and frame: its frame number where all are images
            of no video, else its place, from 1.
        classes: Different labels of the truth, sorted.
    """

    sequences: tuple[SequenceKey, ...]
    frames: Mapping[tuple[SequenceKey, int], int]
    classes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each class, since files have none without: objects without one get one."""
        tried = chain([UNNAMED], (f"{UNNAMED} {number}" for number in count(2)))
        unnamed = next(name for name in tried if name not in self.classes)
        return tuple(label or unnamed for label in self.classes)

    @classmethod
    def of(cls, annotations: Annotations, numbers: Numbers) -> ImageNumbers:
        """The numbers of the truth, or of what is written itself where no truth is given."""
        truth = in_order(annotations if numbers.truth is None else numbers.truth)
        used = np.unique(truth.frame_sequences).tolist()
        sequences = tuple(sorted(truth.sequences[index] for index in used))
        keys = frame_keys(truth)
        single = sequences == (SequenceKey("", IMAGES),)
        places = [number for _, number in keys] if single else range(1, len(keys) + 1)
        labels = {truth.labels[index] for index in np.unique(truth.label_indices).tolist()}
        return cls(sequences, dict(zip(keys, places, strict=True)), tuple(sorted(labels)))

    def of_frames(self, annotations: Annotations) -> IntArray:
        """(F,) number of each frame's image.

        Raises:
            InputError: If a frame is none of the truth's.
        """
        keys = frame_keys(annotations)
        unknown = [key for key in keys if key not in self.frames]
        if unknown:
            raise InputError(
                [
                    Fault(f"frame {number} of sequence {key.sequence}", "a frame of the truth")
                    for key, number in unknown
                ]
            )
        return np.array([self.frames[key] for key in keys], dtype=np.int64)

    def of_labels(self, annotations: Annotations) -> IntArray:
        """(labels,) place of each label of a table among the classes; -1 for one not in use.

        Raises:
            InputError: If a label in use is none of the truth's.
        """
        place = {label: index for index, label in enumerate(self.classes)}
        used = np.unique(annotations.label_indices).tolist()
        unknown = [annotations.labels[index] for index in used]
        unknown = [label for label in unknown if label not in place]
        if unknown:
            raise InputError([Fault(repr(label), "a class of the truth") for label in unknown])
        return np.array([place.get(label, -1) for label in annotations.labels], dtype=np.int64)


def unnamed_remarks(annotations: Annotations, side: Side) -> tuple[str, ...]:
    """Say that objects without a class get one."""
    del side
    used = {annotations.labels[index] for index in np.unique(annotations.label_indices).tolist()}
    return ("objects without a class became a class of their own",) if "" in used else ()


def frame_keys(annotations: Annotations) -> list[tuple[SequenceKey, int]]:
    """Sequence and number of each frame."""
    return [
        (annotations.sequences[sequence], number)
        for sequence, number in zip(
            annotations.frame_sequences.tolist(), annotations.frame_numbers.tolist(), strict=True
        )
    ]
