"""Batches of a world: frame numbers without objects, so that nothing has to be decoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import BOX, Annotations, SequenceKey

SEQUENCE = "s"


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of detections.

    Attributes:
        numbers: Numbers of its frames, all of one sequence.
        variety: Distinguishes batches of the same frames.
    """

    numbers: tuple[int, ...]
    variety: int = 0

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return f"{self.variety}:{','.join(map(str, self.numbers))}".encode()

    @classmethod
    def read(cls, data: bytes) -> Batch:
        """Inverse of `data`."""
        variety, _, numbers = data.decode().partition(":")
        return cls(tuple(map(int, numbers.split(","))), int(variety))


class Codec:
    """The encoding of these batches, as far as appends need it."""

    def data_of(self, message: Batch, /) -> bytes:
        """The bytes of a message."""
        return message.data

    def read_batch(self, message: Batch, *_: object) -> Annotations:
        """A message as annotations."""
        return _annotations(message.numbers)

    def read_alike_batches(
        self, messages: Sequence[Batch], *_: object
    ) -> tuple[Annotations, list[int]]:
        """Messages joined into one, and the frames of each."""
        joined = tuple(number for message in messages for number in message.numbers)
        return _annotations(joined), [len(message.numbers) for message in messages]


@cache
def _empty(count: int) -> dict[str, Any]:
    """All columns but the frame numbers, for frames without objects."""
    return {
        "sequences": (SequenceKey("", SEQUENCE),),
        "labels": (),
        "frame_sequences": np.zeros(count, dtype=np.int64),
        "frame_flags": np.zeros(count, dtype=np.uint8),
        "frame_starts": np.zeros(count + 1, dtype=np.int64),
        "coordinates": np.zeros((0, BOX)),
        "label_indices": np.zeros(0, dtype=np.int64),
        "confidences": np.zeros(0),
        "track_ids": np.zeros(0, dtype=np.int64),
        "flags": np.zeros(0, dtype=np.uint8),
    }


def _annotations(numbers: tuple[int, ...]) -> Annotations:
    columns = _empty(len(numbers))
    return Annotations(frame_numbers=np.array(numbers, dtype=np.int64), **columns)
