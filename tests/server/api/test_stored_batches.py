"""Batches out of the store are what they were when they came, however many are read at once."""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.annotations import Annotations, concatenate
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.batches import read_stored_batch, read_stored_batches, stored_sizes


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


def _boxes(number: int, runs: list[int], objects: int = 1) -> annotations_pb2.AnnotationBatch:
    """A frame of boxes; with runs, each has a mask of 2 by 3 pixels of these."""
    masks = objects if runs else 0
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence="a")],
        frame_sequences=[0],
        frame_numbers=[number],
        frame_object_counts=[objects],
        geometry=annotations_pb2.GEOMETRY_BOX,
        coordinates=[0.0, 0.0, 3.0, 2.0] * objects,
        mask_heights=[2] * masks,
        mask_widths=[3] * masks,
        mask_run_counts=[len(runs)] * masks,
        mask_runs=runs * masks,
    )


def test_masks_of_many_batches_are_joined_where_all_objects_have_one() -> None:
    batches = [_boxes(0, [1, 5]), _boxes(1, [], objects=0), _boxes(2, [0, 2, 4], objects=2)]
    masks = read_stored_batches([batch.SerializeToString() for batch in batches], 4).masks
    assert masks is not None
    assert masks.starts.tolist() == [0, 2, 5, 8]
    assert masks.runs.tolist() == [1, 5, 0, 2, 4, 0, 2, 4]


def test_batches_with_masks_and_without_are_read_together() -> None:
    batches = [_boxes(0, [1, 5]), _boxes(1, []), _boxes(2, [6])]
    data = [batch.SerializeToString() for batch in batches]
    joined = read_stored_batches(data, 4)
    assert joined.frame_numbers.tolist() == [0, 1, 2]
    assert joined.masks is None


def test_the_size_of_a_stored_batch_counts_its_masks() -> None:
    """Two masks of 24 bytes, and six runs of 4."""
    keys = [
        stored_sizes(_boxes(0, runs, objects=2).SerializeToString(), 4) for runs in ([], [1, 1, 4])
    ]
    (frames, [(_, without)]), (_, [(_, size)]) = keys
    assert frames == 1
    assert size - without == 2 * 24 + 6 * 4
