"""Batches out of the store are what they were when they came, however many are read at once."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.annotations import Annotations, concatenate
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.batches import read_stored_batch, read_stored_batches


def _batch(sequence: str, *numbers: int, **fields: object) -> annotations_pb2.AnnotationBatch:
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(domain="d", sequence=sequence)],
        frame_sequences=[0] * len(numbers),
        frame_numbers=numbers,
        frame_object_counts=[1] * len(numbers),
        geometry=annotations_pb2.GEOMETRY_POINT,
        coordinates=[float(number) for number in numbers for _ in range(2)],
        **fields,  # type: ignore[arg-type]
    )


BATCHES = [
    _batch("a", 1, 2),
    _batch("b", 1, labels=["x", "y"], label_indices=[1], confidences=[0.25]),
    _batch("a", 3, labels=["y"], track_ids=[7], object_flags=[1], frame_flags=[1]),
    _batch("c", 1, columns=[annotations_pb2.NamedColumn(name="area", values=[2.0])]),
    _batch("b", 2, labels=["y", "x"], label_indices=[0]),
    _batch("e", 1, 2, frame_times_s=[1732270000.5, float("nan")]),
    annotations_pb2.AnnotationBatch(geometry=annotations_pb2.GEOMETRY_POINT),
]


def _data() -> list[bytes]:
    return [batch.SerializeToString() for batch in BATCHES]


def _objects(columns: Annotations) -> list[tuple[object, ...]]:
    return [
        (
            columns.sequences[columns.frame_sequences[frame]],
            int(columns.frame_numbers[frame]),
            int(columns.frame_flags[frame]),
            columns.labels[columns.label_indices[row]],
            float(columns.confidences[row]),
            int(columns.track_ids[row]),
            int(columns.flags[row]),
            columns.coordinates[row].tolist(),
        )
        for row, frame in enumerate(columns.object_frames.tolist())
    ]


def test_many_batches_are_read_as_each_alone_would_be() -> None:
    joined = read_stored_batches(_data(), 2)
    alone = concatenate([read_stored_batch(data, 2) for data in _data()])
    assert _objects(joined) == _objects(alone)
    assert fingerprint(joined) == fingerprint(alone)
    areas = joined.columns["area"]
    assert areas[~np.isnan(areas)].tolist() == [2.0]
    times_s = joined.frame_times_s
    assert times_s is not None
    assert times_s[~np.isnan(times_s)].tolist() == [1732270000.5]


def test_no_batches_are_no_frames() -> None:
    assert read_stored_batches([], 4).frame_count == 0
    assert read_stored_batches([], 4).arity == 4
