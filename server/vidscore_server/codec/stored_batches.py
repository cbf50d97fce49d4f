"""Batches out of the store, many at once: they were checked when they came.

A live system sends a frame a batch. Building columns batch by batch would cost more than scoring
them, so the messages' fields are joined first, and columns built once.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vidscore.v1 import annotations_pb2
from vidscore_evaluators.annotations import (
    NO_TRACK,
    Annotations,
    concatenate,
    empty_annotations,
)
from vidscore_evaluators.validation import Columns, build_annotations
from vidscore_server.codec.annotations_codec import read_stored_batch


def read_stored_batches(batches: Iterable[bytes], arity: int) -> Annotations:
    """All batches as one, their frames in the order in which they come.

    Args:
        batches: Serialized messages.
        arity: Coordinates that an object has.
    """
    parts: list[Annotations] = [empty_annotations(arity)]
    joined = _Joined(arity)
    for data in batches:
        message = annotations_pb2.AnnotationBatch.FromString(data)
        if message.columns:  # which columns there are differs from batch to batch
            parts.extend((joined.build(), read_stored_batch(data, arity)))
            joined = _Joined(arity)
        else:
            joined.add(message)
    return concatenate([*parts, joined.build()])


class _Joined:
    """The fields of messages without further columns, one after the other."""

    def __init__(self, arity: int) -> None:
        self._arity = arity
        self._sequences: dict[tuple[str, str], int] = {}
        self._labels: dict[str, int] = {}
        self._frame_sequences: list[int] = []
        self._frame_numbers: list[int] = []
        self._object_counts: list[int] = []
        self._frame_flags: list[int] = []
        self._coordinates: list[float] = []
        self._label_indices: list[int] = []
        self._confidences: list[float] = []
        self._track_ids: list[int] = []
        self._object_flags: list[int] = []

    def add(self, message: annotations_pb2.AnnotationBatch) -> None:
        frames = len(message.frame_numbers)
        objects = len(message.coordinates) // self._arity
        rows = [
            self._sequences.setdefault((key.domain, key.sequence), len(self._sequences))
            for key in message.sequences
        ]
        labels = [
            self._labels.setdefault(label, len(self._labels)) for label in message.labels or ("",)
        ]
        self._frame_sequences.extend([rows[index] for index in message.frame_sequences])
        self._frame_numbers.extend(message.frame_numbers)
        self._object_counts.extend(message.frame_object_counts)
        self._frame_flags.extend(message.frame_flags or [0] * frames)
        self._coordinates.extend(message.coordinates)
        self._label_indices.extend(
            [labels[index] for index in message.label_indices or [0] * objects]
        )
        self._confidences.extend(message.confidences or [1.0] * objects)
        self._track_ids.extend(message.track_ids or [NO_TRACK] * objects)
        self._object_flags.extend(message.object_flags or [0] * objects)

    def build(self) -> Annotations:
        columns = Columns(
            arity=self._arity,
            sequences=list(self._sequences),
            labels=tuple(self._labels),
            frame_sequences=np.array(self._frame_sequences, dtype=np.int64),
            frame_numbers=np.array(self._frame_numbers, dtype=np.int64),
            object_counts=np.array(self._object_counts, dtype=np.int64),
            frame_flags=np.array(self._frame_flags, dtype=np.int64),
            coordinates=np.array(self._coordinates, dtype=np.float64),
            label_indices=np.array(self._label_indices, dtype=np.int64),
            confidences=np.array(self._confidences, dtype=np.float64),
            track_ids=np.array(self._track_ids, dtype=np.int64),
            object_flags=np.array(self._object_flags, dtype=np.int64),
        )
        return build_annotations(columns, "store")
