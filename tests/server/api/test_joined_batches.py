"""Batches checked as one are accepted exactly if each alone is, with the same content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vidscore_evaluators.annotations import concatenate
from vidscore_evaluators.errors import InputError, VidscoreError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.batches import read_alike_batches, read_batch
from vidscore_server.api.joined_batches import Lengths, join_columns
from vidscore_server.domain.batches import BatchRules, NotAlikeError
from vidscore_server.settings import Settings

RULES = BatchRules(
    2,
    Settings(
        maximum_batch_frames=3,
        maximum_batch_objects=5,
        maximum_frame_objects=4,
        maximum_batch_sequences=2,
        maximum_batch_labels=2,
    ),
)
Number = TypeVar("Number", int, float)
NAMES = st.sampled_from(["a", "b", "c", ""])
GEOMETRIES: list[Any] = [0, 2, 7]  # The last is not known to this version.
COORDINATES = st.sampled_from([0.0, 1.5, -3.0, 1e9, 2e9, float("nan")])


def _values(values: st.SearchStrategy[Number], usual: int) -> st.SearchStrategy[list[Number]]:
    """Mostly none, or the usual number; sometimes another number."""
    exact = st.lists(values, min_size=usual, max_size=usual)
    return st.one_of(st.just([]), exact, exact, st.lists(values, max_size=6))


@st.composite
def batches(draw: st.DrawFn) -> annotations_pb2.AnnotationBatch:
    """Small batches, about half of them valid."""
    counts = draw(st.lists(st.integers(0, 2), min_size=0, max_size=3))
    counts = draw(st.sampled_from([counts, counts, counts, [*counts, 5], [*counts, 2**32 - 1]]))
    frames, objects = len(counts), min(sum(counts), 6)
    rows = st.integers(0, 1) if draw(st.booleans()) else st.just(0)
    numbers = st.sampled_from([0, 1, 2, 3, 4, 5, 2**53 - 1])
    message = annotations_pb2.AnnotationBatch(
        sequences=[
            annotations_pb2.SequenceKey(domain=draw(NAMES), sequence=draw(NAMES))
            for _ in range(draw(st.sampled_from([1, 1, 2, 3])))
        ],
        labels=draw(st.lists(NAMES, max_size=3)),
        frame_sequences=draw(st.lists(rows, min_size=frames, max_size=frames)),
        frame_numbers=draw(st.lists(numbers, min_size=frames, max_size=frames)),
        frame_object_counts=counts,
        frame_flags=draw(_values(st.sampled_from([0, 1, 1, 64]), frames)),
        geometry=draw(st.sampled_from([*[annotations_pb2.GEOMETRY_POINT] * 5, *GEOMETRIES])),
        coordinates=draw(st.lists(COORDINATES, min_size=2 * objects, max_size=2 * objects)),
        label_indices=draw(_values(st.sampled_from([0, 0, 1, 9]), objects)),
        confidences=draw(_values(st.sampled_from([0.0, 0.5, 1.0, 1.5]), objects)),
        track_ids=draw(_values(st.sampled_from([-1, 0, 7, -2]), objects)),
        object_flags=draw(_values(st.sampled_from([0, 1, 15, 16]), objects)),
        frame_times_s=draw(_values(st.sampled_from([0.0, 2.5, float("nan"), -1.0]), frames)),
    )
    if draw(st.sampled_from([False] * 9 + [True])):
        message.coordinates.append(1.0)
    if draw(st.sampled_from([False] * 9 + [True])):
        message.columns.add(name="area", values=[1.0] * objects)
    return message


def _alone(messages: Sequence[annotations_pb2.AnnotationBatch]) -> list[object]:
    found: list[object] = []
    for message in messages:
        try:
            found.append(read_batch(message, "x", RULES))
        except VidscoreError as error:
            found.append(error)
    return found


@given(st.lists(batches(), min_size=1, max_size=4))
def test_batches_that_are_accepted_together_are_accepted_alone_with_the_same_content(
    messages: list[annotations_pb2.AnnotationBatch],
) -> None:
    data = [message.SerializeToString(deterministic=True) for message in messages]
    alone = _alone(messages)
    try:
        together = read_alike_batches(messages, data, "x", RULES)[0]
    except (NotAlikeError, VidscoreError):
        return
    assert [entry for entry in alone if isinstance(entry, VidscoreError)] == []
    parts = concatenate(alone)  # type: ignore[arg-type] # no errors among them
    assert fingerprint(together) == fingerprint(parts)
    assert together.frame_numbers.tolist() == parts.frame_numbers.tolist()
    assert together.frame_starts.tolist() == parts.frame_starts.tolist()
    assert [together.sequences[row] for row in together.frame_sequences] == [
        parts.sequences[row] for row in parts.frame_sequences
    ]


@given(batches())
@example(
    annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence="a")],
        geometry=annotations_pb2.GEOMETRY_BOX,
    )
)
@example(annotations_pb2.AnnotationBatch(sequences=[annotations_pb2.SequenceKey(sequence="a")]))
def test_a_batch_without_optional_columns_is_accepted_joined_if_it_is_alone(
    message: annotations_pb2.AnnotationBatch,
) -> None:
    [alone] = _alone([message])
    try:
        read_alike_batches([message], [message.SerializeToString()], "x", RULES)
        accepted = True
    except (NotAlikeError, VidscoreError):
        accepted = False
    assert accepted == (not isinstance(alone, VidscoreError) and not message.columns)


def _batch(number: int, **fields: object) -> annotations_pb2.AnnotationBatch:
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence="s")],
        frame_sequences=[0],
        frame_numbers=[number],
        frame_object_counts=[1],
        geometry=annotations_pb2.GEOMETRY_POINT,
        coordinates=[1.0, 2.0],
        **fields,  # type: ignore[arg-type]
    )


def test_a_batch_without_times_beside_one_with_them_has_none() -> None:
    messages = [_batch(1), _batch(2, frame_times_s=[2.5]), _batch(3)]
    joined = read_alike_batches(messages, [m.SerializeToString() for m in messages], "x", RULES)[0]
    assert joined.frame_times_s is not None
    np.testing.assert_array_equal(joined.frame_times_s, [np.nan, 2.5, np.nan])
    untimed = [messages[0], messages[2]]
    joined = read_alike_batches(untimed, [m.SerializeToString() for m in untimed], "x", RULES)[0]
    assert joined.frame_times_s is None


def test_missing_objects_of_one_batch_are_not_taken_from_the_next() -> None:
    more, fewer = _batch(1), _batch(2)
    more.frame_object_counts[0], fewer.frame_object_counts[0] = 2, 0
    data = [message.SerializeToString() for message in (more, fewer)]
    with pytest.raises(NotAlikeError):
        join_columns(data, Lengths([more, fewer]), 2)


def test_an_index_refers_to_the_table_of_its_own_batch() -> None:
    first = _batch(1, labels=["x", "y"], label_indices=[1])
    second = _batch(2, labels=["y"], label_indices=[1])
    data = [message.SerializeToString() for message in (first, second)]
    with pytest.raises(NotAlikeError):
        join_columns(data, Lengths([first, second]), 2)
    second.label_indices[0] = 0
    data = [message.SerializeToString() for message in (first, second)]
    columns = join_columns(data, Lengths([first, second]), 2)
    assert columns.labels == ("x", "y")
    assert np.asarray(columns.label_indices).tolist() == [1, 1]


def test_unpacked_columns_are_joined_like_packed_ones() -> None:
    """Protobuf accepts both forms of a repeated number."""
    packed = _batch(1, confidences=[0.5])
    frame_numbers = bytes([4 << 3, 9])
    message = annotations_pb2.AnnotationBatch.FromString(packed.SerializeToString() + frame_numbers)
    assert list(message.frame_numbers) == [1, 9]
    with pytest.raises(NotAlikeError):
        join_columns([message.SerializeToString()], Lengths([message]), 2)
    message.frame_sequences.append(0)
    message.frame_object_counts.append(0)
    columns = join_columns([message.SerializeToString()], Lengths([message]), 2)
    assert np.asarray(columns.frame_numbers).tolist() == [1, 9]


def test_unknown_fields_change_nothing() -> None:
    message = _batch(1)
    later = annotations_pb2.AnnotationBatch.FromString(
        message.SerializeToString() + bytes([0xF8, 0x3F, 7])
    )
    data = [entry.SerializeToString() for entry in (later, _batch(2))]
    columns = join_columns(data, Lengths([later, _batch(2)]), 2)
    assert np.asarray(columns.frame_numbers).tolist() == [1, 2]


def _masked(number: int, **fields: object) -> annotations_pb2.AnnotationBatch:
    """A frame with a box and its mask of 2 by 3 pixels."""
    given: dict[str, Any] = {
        "mask_heights": [2],
        "mask_widths": [3],
        "mask_run_counts": [2],
        "mask_runs": [1, 5],
        **fields,
    }
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence="a")],
        frame_sequences=[0],
        frame_numbers=[number],
        frame_object_counts=[1],
        geometry=annotations_pb2.GEOMETRY_BOX,
        coordinates=[0.0, 0.0, 3.0, 2.0],
        **given,
    )


NO_MASK: dict[str, object] = {
    name: [] for name in ("mask_heights", "mask_widths", "mask_run_counts", "mask_runs")
}


@pytest.mark.parametrize(
    "messages",
    [
        [_masked(0), _masked(1, **NO_MASK)],
        [_masked(0, mask_runs=[1, 5, 1]), _masked(1, mask_runs=[5])],
        [_masked(0, mask_widths=[3, 3]), _masked(1, mask_widths=[])],
        [_masked(0), _masked(1, mask_runs=[1, 6])],
        [_masked(0, **(NO_MASK | {"mask_runs": [6]}))],
        [_masked(0, **(NO_MASK | {"mask_widths": [6]}))],
    ],
    ids=["missing", "runs moved", "sizes moved", "too long", "runs alone", "widths alone"],
)
def test_masks_that_do_not_fit_their_batch_are_not_joined(
    messages: list[annotations_pb2.AnnotationBatch],
) -> None:
    data = [message.SerializeToString() for message in messages]
    with pytest.raises((NotAlikeError, InputError)):
        read_alike_batches(messages, data, "x", BatchRules(4, Settings()))


def test_masks_of_similar_batches_are_joined() -> None:
    messages = [_masked(0), _masked(1, mask_run_counts=[1], mask_runs=[6])]
    data = [message.SerializeToString() for message in messages]
    joined, _ = read_alike_batches(messages, data, "x", BatchRules(4, Settings()))
    assert joined.masks is not None
    assert joined.masks.runs.tolist() == [1, 5, 6]
