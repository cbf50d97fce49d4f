"""Batches become annotations and back without loss, and faults in a batch are named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.scene import points

from vidscore_evaluators.annotations import Annotations, concatenate
from vidscore_evaluators.errors import InputError, LimitError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.mask_forms import masks_from_counts
from vidscore_evaluators.validation import Columns, build_annotations
from vidscore_protos.v1 import annotations_pb2
from vidscore_server.api.batches import (
    read_batch,
    read_stored_batch,
    read_stored_batches,
    stored_sizes,
    write_batch,
)
from vidscore_server.domain.batches import BatchRules
from vidscore_server.settings import Settings, load_settings
from vidscore_server.status import field_path

RULES = BatchRules(arity=2, settings=Settings())
BOX_RULES = BatchRules(arity=4, settings=Settings())
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
NUMBERS = st.floats(-1e9, 1e9)


@st.composite
def batches(draw: st.DrawFn) -> Annotations:
    """Any valid batch: columns present or at their defaults."""
    arity = draw(st.sampled_from([2, 4, 8]))
    sequences = draw(st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=3, unique=True))
    labels = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    frames = draw(
        st.lists(
            st.tuples(st.integers(0, len(sequences) - 1), st.integers(0, 2**53 - 1)),
            max_size=4,
            unique=True,
        )
    )
    counts = [draw(st.integers(0, 3)) for _ in frames]
    total = sum(counts)
    masks = None
    if total and arity == 4 and draw(st.booleans()):
        filled = [draw(st.integers(0, 6)) for _ in range(total)]
        masks = masks_from_counts(
            [[6 - ones, ones] for ones in filled], np.full((total, 2), [2, 3])
        )

    def column(values: st.SearchStrategy[float]) -> list[float]:
        return draw(st.one_of(st.just([]), st.lists(values, min_size=total, max_size=total)))

    return build_annotations(
        Columns(
            arity=arity,
            sequences=sequences,
            frame_sequences=[index for index, _ in frames],
            frame_numbers=[number for _, number in frames],
            object_counts=counts,
            coordinates=draw(st.lists(NUMBERS, min_size=total * arity, max_size=total * arity)),
            labels=labels,
            frame_flags=[draw(st.integers(0, 1)) for _ in frames],
            label_indices=column(st.integers(0, len(labels) - 1)),
            confidences=column(st.floats(0, 1)),
            track_ids=column(st.integers(-1, 2**62)),
            object_flags=column(st.integers(0, 15)),
            columns={"area": column(st.floats(allow_infinity=False)) or [1.5] * total},
            frame_times_s=[draw(st.just(np.nan) | st.floats(0, 1e11)) for _ in frames],
            masks=masks,
        )
    )


@given(batches())
def test_annotations_survive_the_wire_to_the_last_bit(annotations: Annotations) -> None:
    data = write_batch(annotations).SerializeToString()
    message = annotations_pb2.AnnotationBatch.FromString(data)

    back = read_batch(message, "truth", BatchRules(annotations.arity, Settings()))

    assert (back.sequences, back.labels) == (annotations.sequences, annotations.labels)
    for name in (
        "frame_sequences",
        "frame_numbers",
        "frame_flags",
        "frame_starts",
        "coordinates",
        "label_indices",
        "confidences",
        "track_ids",
        "flags",
    ):
        mine, theirs = getattr(annotations, name), getattr(back, name)
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes()
    assert list(back.columns) == list(annotations.columns)
    np.testing.assert_array_equal(back.columns["area"], annotations.columns["area"])
    if annotations.frame_times_s is None:
        assert back.frame_times_s is None
    else:
        np.testing.assert_array_equal(back.frame_times_s, annotations.frame_times_s)
    assert mask_lists(back) == mask_lists(annotations)


def mask_lists(annotations: Annotations) -> list[list[Any]] | None:
    masks = annotations.masks
    if masks is None:
        return None
    return [masks.sizes.tolist(), masks.starts.tolist(), masks.runs.tolist()]


def test_default_columns_take_no_space_on_the_wire() -> None:
    message = write_batch(read_batch(points({0: [(1, 2)]}), "truth", RULES))
    for name in (
        "labels", "label_indices", "confidences", "track_ids", "object_flags", "frame_times_s",
    ):  # fmt: skip
        assert len(getattr(message, name)) == 0


def test_times_of_the_wrong_number_or_kind_are_refused() -> None:
    message = points({0: [], 1: []})
    message.frame_times_s.append(1.5)
    assert _paths(message) == ["truth.frame_times_s"]
    message.frame_times_s.append(float("inf"))
    assert _paths(message) == ["truth.frame_times_s[1]"]
    message.frame_times_s[:] = [-1.0, 1.7e12]
    assert _paths(message) == ["truth.frame_times_s[0]", "truth.frame_times_s[1]"]


def boxes_with_masks() -> annotations_pb2.AnnotationBatch:
    """Two frames, with two masks of 2 by 3 pixels and one of 1 by 4."""
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence="a")],
        frame_sequences=[0, 0],
        frame_numbers=[0, 1],
        frame_object_counts=[2, 1],
        geometry=annotations_pb2.GEOMETRY_BOX,
        coordinates=[0, 0, 3, 2] * 2 + [0, 0, 4, 1],
        mask_heights=[2, 2, 1],
        mask_widths=[3, 3, 4],
        mask_run_counts=[2, 3, 1],
        mask_runs=[0, 6, 1, 2, 3, 4],
    )


def test_masks_are_columns_of_runs() -> None:
    masks = read_batch(boxes_with_masks(), "truth", BOX_RULES).masks
    assert masks is not None
    assert masks.sizes.tolist() == [[2, 3], [2, 3], [1, 4]]
    assert masks.starts.tolist() == [0, 2, 5, 6]
    assert masks.runs.tolist() == [0, 6, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"mask_runs": [0, 6, 1, 2, 4, 4]}, {"mask_run_counts[1]": "found runs of more than 6"}),
        ({"mask_runs": [0, 6, 1, 2, 3, 3]}, {"mask_run_counts[2]": "found runs of 3 pixels"}),
        ({"mask_runs": [0, 6]}, {"mask_runs": "found 2 values, expected 6 values"}),
        ({"mask_runs": []}, {"mask_runs": "found 0 values, expected 6 values"}),
        ({"mask_widths": [3]}, {"mask_widths": "found 1 value, expected 3 values"}),
        (
            {"mask_heights": [], "mask_widths": []},
            {"mask_run_counts": "found 3 values, expected 0 values"},
        ),
        (
            {"mask_heights": [2, 0, 1], "mask_widths": [3, 3, 2**31]},
            {
                "mask_heights[1]": "found 0 by 3, expected",
                "mask_heights[2]": "found 1 by 2147483648",
            },
        ),
        (
            {"mask_heights": [2, 3, 1], "mask_widths": [3, 2, 4]},
            {"mask_heights[1]": "found 3 by 2, expected 2 by 3, as the first mask of the frame"},
        ),
        (
            {"frame_object_counts": [1, 1], "coordinates": [0.0] * 8},
            {"mask_heights": "found 3 masks of 2 objects of 4 numbers, expected a mask for each"},
        ),
        (
            {"frame_object_counts": [1, 0], "coordinates": [0.0] * 4},
            {"mask_heights": "found 3 masks of 1 object of 4 numbers, expected a mask for each"},
        ),
    ],
)
def test_wrong_masks_are_named_by_column_and_object(
    changes: dict[str, list[int]], faults: dict[str, str]
) -> None:
    message = boxes_with_masks()
    for name, values in changes.items():
        getattr(message, name)[:] = values
    with pytest.raises(InputError) as caught:
        read_batch(message, "truth", BOX_RULES)
    found = {field_path(fault): fault.description for fault in caught.value.faults}
    assert found.keys() == {f"truth.{path}" for path in faults}
    for path, text in faults.items():
        assert found[f"truth.{path}"].startswith(text)


def test_masks_are_refused_with_points() -> None:
    message = points({0: [(1, 2)]})
    message.mask_heights.append(1)
    message.mask_widths.append(1)
    message.mask_run_counts.append(1)
    message.mask_runs.append(1)
    assert _paths(message) == ["truth.mask_heights"]


def _paths(message: annotations_pb2.AnnotationBatch) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_batch(message, "truth", RULES)
    return [field_path(fault) for fault in caught.value.faults]


def test_an_invalid_number_is_named_by_side_column_and_row() -> None:
    message = points({0: [(float("nan"), 1), (2, float("inf"))]})
    assert _paths(message) == ["truth.coordinates[0]", "truth.coordinates[3]"]


def test_every_kind_of_fault_of_a_batch_is_reported_at_once() -> None:
    message = points({0: [(1, 2)], 1: [(3, 4)]})
    message.geometry = annotations_pb2.GEOMETRY_BOX
    message.confidences.extend([0.5])
    message.columns.add(name="area", values=[1, 2])
    message.columns.add(name="area", values=[1, 2, 3])
    assert _paths(message) == [
        "truth.geometry",
        "truth.columns[1].name",
        "truth.confidences",
        "truth.columns.area",
    ]


@pytest.mark.parametrize("geometry", [0, 2, 3, 77])
def test_a_geometry_other_than_the_configured_one_is_refused(geometry: int) -> None:
    message = points({1: [(1.0, 2.0)]})
    message.geometry = geometry  # type: ignore[assignment]  # any number may come
    assert "truth.geometry" in _paths(message)


@pytest.mark.parametrize("geometry", [0, 77])
def test_a_batch_without_objects_must_state_a_known_shape(geometry: int) -> None:
    message = points({1: []})
    message.geometry = geometry  # type: ignore[assignment]  # any number may come
    assert _paths(message) == ["truth.geometry"]


@pytest.mark.parametrize("geometry", [1, 2, 3])
def test_a_batch_without_objects_may_state_any_shape(geometry: int) -> None:
    """A file that only lists frames does not state a shape; the configured one applies."""
    message = points({1: []})
    message.geometry = geometry  # type: ignore[assignment]  # any number may come
    assert read_batch(message, "truth", RULES).arity == 2


@pytest.mark.parametrize(
    ("limit", "maximum", "found"),
    [
        ("maximum_batch_frames", 2, "3 frames"),
        ("maximum_batch_objects", 4, "5 objects"),
        ("maximum_frame_objects", 2, "3 objects in one frame"),
        ("maximum_batch_sequences", 1, "2 sequences"),
        ("maximum_batch_labels", 1, "2 labels"),
        ("maximum_batch_columns", 0, "1 columns"),
    ],
)
def test_a_batch_over_a_limit_is_refused_with_the_limits_name(
    limit: str, maximum: int, found: str
) -> None:
    message = points({0: [(1, 2)] * 3, 1: [(1, 2)] * 2, 2: []})
    message.sequences.add(sequence="2")
    message.labels.extend(["a", "b"])
    message.columns.add(name="area", values=[1] * 5)
    read_batch(message, "truth", RULES)

    rules = BatchRules(2, load_settings(flags={limit: maximum}))
    with pytest.raises(LimitError, match=found) as caught:
        read_batch(message, "truth", rules)
    assert (caught.value.limit, caught.value.maximum) == (limit, maximum)


def test_counts_larger_than_the_batch_are_refused_before_memory_is_allocated() -> None:
    message = points({0: []})
    message.frame_object_counts[0] = 2**32 - 1
    with pytest.raises(LimitError, match="4294967295 objects"):
        read_batch(message, "truth", RULES)


# --- Batches from the store, read one or many at a time


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


def test_many_batches_are_read_as_if_each_were_read_alone() -> None:
    joined = read_stored_batches(_data(), 2)
    alone = concatenate([read_stored_batch(data, 2) for data in _data()])
    assert _objects(joined) == _objects(alone)
    assert fingerprint(joined) == fingerprint(alone)
    areas = joined.columns["area"]
    assert areas[~np.isnan(areas)].tolist() == [2.0]
    times_s = joined.frame_times_s
    assert times_s is not None
    assert times_s[~np.isnan(times_s)].tolist() == [1732270000.5]


def test_reading_no_batches_gives_no_frames() -> None:
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


def test_masks_of_many_batches_are_joined_if_all_objects_have_one() -> None:
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
    """Two masks of 24 bytes each, and six runs of 4."""
    keys = [
        stored_sizes(_boxes(0, runs, objects=2).SerializeToString(), 4) for runs in ([], [1, 1, 4])
    ]
    (frames, [(_, without)]), (_, [(_, size)]) = keys
    assert frames == 1
    assert size - without == 2 * 24 + 6 * 4
