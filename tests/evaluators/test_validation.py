"""Columns from outside become annotations, or an InputError that lists every fault."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.testing.examples import example_count
from vidscore_evaluators.validation import (
    FAULTS_PER_COLUMN,
    MAXIMUM_FRAME_NUMBER,
    Columns,
    build_annotations,
)

GOOD = Columns(
    arity=2,
    sequences=[("d", "s"), ("d", "t")],
    labels=["car", "bus"],
    frame_sequences=[0, 0, 1],
    frame_numbers=[0, 7, 7],
    object_counts=[2, 0, 1],
    frame_flags=[0, 1, 0],
    coordinates=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    label_indices=[1, 0, 1],
    confidences=[0.0, 0.5, 1.0],
    track_ids=[-1, 0, 2**63 - 1],
    object_flags=[0, 15, 1],
    columns={"area": [1.0, float("nan"), -3.0]},
    frame_times_s=[0.0, float("nan"), 1.5e9],
)
OPTIONAL = (
    "labels", "frame_flags", "label_indices", "confidences", "track_ids", "object_flags",
    "frame_times_s",
)  # fmt: skip


def _faults(**changes: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        build_annotations(replace(GOOD, **changes), "truth")
    return [str(fault) for fault in caught.value.faults]


def test_valid_columns_become_annotations_unchanged() -> None:
    built = build_annotations(GOOD)
    assert built.sequences == (SequenceKey("d", "s"), SequenceKey("d", "t"))
    assert built.labels == ("car", "bus")
    assert built.frame_starts.tolist() == [0, 2, 2, 3]
    assert built.coordinates.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert built.track_ids.tolist() == [-1, 0, 2**63 - 1]
    for name in ("frame_sequences", "frame_numbers", "frame_flags", "label_indices", "confidences"):
        assert getattr(built, name).tolist() == getattr(GOOD, name)
    assert built.flags.tolist() == GOOD.object_flags
    assert np.array_equal(built.columns["area"], GOOD.columns["area"], equal_nan=True)
    assert built.frame_times_s is not None
    assert np.array_equal(built.frame_times_s, GOOD.frame_times_s, equal_nan=True)


def test_times_that_are_all_unknown_are_dropped() -> None:
    assert build_annotations(replace(GOOD, frame_times_s=[math.nan] * 3)).frame_times_s is None


@pytest.mark.parametrize("wrong", [-0.001, math.inf, -math.inf, 1.7e12])
def test_a_time_is_a_number_of_seconds(wrong: float) -> None:
    [fault] = _faults(frame_times_s=[0.0, wrong, 1.0])
    assert (
        fault == f"truth, entry 1, frame_times_s: found {wrong}, expected seconds from 0 to 1e+11"
    )


def test_the_number_of_times_must_be_that_of_frames() -> None:
    [fault] = _faults(frame_times_s=[1.0])
    assert fault == "truth, frame_times_s: found 1 value, expected 3 values"


def test_every_column_gets_its_type() -> None:
    built = build_annotations(GOOD)
    assert {name: str(getattr(built, name).dtype) for name in ("frame_flags", "flags")} == {
        "frame_flags": "uint8",
        "flags": "uint8",
    }
    for name in ("frame_sequences", "frame_numbers", "frame_starts", "label_indices", "track_ids"):
        assert getattr(built, name).dtype == np.int64, name
    for column in (built.coordinates, built.confidences, built.columns["area"]):
        assert column.dtype == np.float64


def test_omitted_columns_have_their_defaults() -> None:
    left_out: dict[str, Any] = dict.fromkeys(OPTIONAL, ())
    built = build_annotations(replace(GOOD, **left_out, columns={}))
    assert built.labels == ("",)
    assert built.label_indices.tolist() == [0, 0, 0]
    assert built.confidences.tolist() == [1, 1, 1]
    assert built.track_ids.tolist() == [-1, -1, -1]
    assert built.flags.tolist() == [0, 0, 0]
    assert built.frame_flags.tolist() == [0, 0, 0]
    assert built.frame_times_s is None


def test_coordinates_may_come_object_by_object() -> None:
    built = build_annotations(replace(GOOD, coordinates=[[1, 2], [3, 4], [5, 6]]))
    assert built.coordinates.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_an_empty_batch_is_accepted() -> None:
    empty = Columns(4, [], [], [], [], [])
    built = build_annotations(empty)
    assert (built.frame_count, built.object_count, built.arity) == (0, 0, 4)


def test_later_changes_of_the_input_do_not_reach_the_annotations() -> None:
    coordinates = np.arange(6.0)
    built = build_annotations(replace(GOOD, coordinates=coordinates))
    coordinates[0] = 99
    assert built.coordinates[0, 0] == 0


@pytest.mark.parametrize(
    ("changes", "faults"),
    [
        ({"arity": 3}, ["geometry: found 3 coordinates per object, expected 2, 4 or 8"]),
        ({"arity": 1}, ["geometry: found 1 coordinate per object, expected 2, 4 or 8"]),
        ({"arity": 0}, ["geometry: found 0 coordinates per object, expected 2, 4 or 8"]),
        (
            {"sequences": [("d", "s"), ("d", "s")]},
            ["entry 1, sequences: found d/s again, expected each name once"],
        ),
        (
            {"labels": ["bus", "car", "bus"]},
            ["entry 2, labels: found bus again, expected each name once"],
        ),
        (
            {"sequences": [("d", "s"), ("d", 3)]},
            ["entry 1, sequences: found 3, expected a text"],
        ),
        (
            {"sequences": [("d", "s"), "d"]},
            ["entry 1, sequences: found 'd', expected a pair of domain and sequence"],
        ),
        ({"labels": ["car", None]}, ["entry 1, labels: found None, expected a text"]),
        (
            {"frame_sequences": [0, 0, 2]},
            ["entry 2, frame_sequences: found 2, expected a row of a table of 2"],
        ),
        (
            {"frame_sequences": [0, 0, -1]},
            ["entry 2, frame_sequences: found -1, expected a row of a table of 2"],
        ),
        ({"frame_sequences": [0, 0]}, ["frame_sequences: found 2 values, expected 3 values"]),
        (
            {"frame_numbers": [0, -7, MAXIMUM_FRAME_NUMBER + 1]},
            [
                f"entry 1, frame_numbers: found -7, expected 0 to {MAXIMUM_FRAME_NUMBER}",
                (
                    f"entry 2, frame_numbers: found {MAXIMUM_FRAME_NUMBER + 1}, "
                    f"expected 0 to {MAXIMUM_FRAME_NUMBER}"
                ),
            ],
        ),
        (
            {"frame_numbers": [0, 0.5, float("nan")]},
            [
                "entry 1, frame_numbers: found 0.5, expected an integer",
                "entry 2, frame_numbers: found nan, expected an integer",
            ],
        ),
        (
            {"sequences": [("", "s"), ("", "t")], "frame_numbers": [7, 7, 7]},
            ["entry 1, frame_numbers: found frame 7 of sequence s again, expected each frame once"],
        ),
        (
            {"object_counts": [2, -1, 2]},
            [
                (
                    "entry 1, frame_object_counts: found -1, "
                    "expected 0 to 3, the objects of 6 coordinates"
                )
            ],
        ),
        (
            {"object_counts": [2, 0, 2]},
            ["coordinates: found 6 values, expected 8 values"],
        ),
        (
            {"frame_flags": [0, 2, 0]},
            ["entry 1, frame_flags: found 2, expected bits of 1"],
        ),
        (
            {"object_flags": [16, -1, 0]},
            [
                "entry 0, object_flags: found 16, expected bits of 15",
                "entry 1, object_flags: found -1, expected bits of 15",
            ],
        ),
        (
            {"coordinates": [1, 2, float("nan"), 4, float("inf"), 2e9]},
            [
                f"entry {row}, coordinates: found {found}, expected a number from -1e+09 to 1e+09"
                for row, found in ((2, "nan"), (4, "inf"), (5, "2000000000.0"))
            ],
        ),
        (
            {"coordinates": [[1, 2, 3], [4, 5, 6]]},
            ["coordinates: found rows of 3 values, expected a list of numbers"],
        ),
        (
            {"coordinates": [[1], [2]]},
            ["coordinates: found rows of 1 value, expected a list of numbers"],
        ),
        (
            {"label_indices": [0, 2, 1]},
            ["entry 1, label_indices: found 2, expected a row of a table of 2"],
        ),
        (
            {"confidences": [float("-inf"), -1e300, float("nan")]},
            [
                f"entry {row}, confidences: found {found}, expected a finite number"
                for row, found in ((0, "-inf"), (2, "nan"))
            ],
        ),
        ({"confidences": [1.0]}, ["confidences: found 1 value, expected 3 values"]),
        (
            {"confidences": [[1.0], [1.0], [1.0]]},
            ["confidences: found an array of 2 dimensions, expected a list of numbers"],
        ),
        (
            {"track_ids": [-2, 0, 0]},
            ["entry 0, track_ids: found -2, expected -1 (no track), 0 or more"],
        ),
        (
            {"track_ids": [float("nan"), 0.0, 1.0]},
            ["entry 0, track_ids: found nan, expected an integer"],
        ),
        (
            {"track_ids": np.array([0, 2**63, 1], dtype=np.uint64)},
            [f"entry 1, track_ids: found {2**63}, expected an integer"],
        ),
        (
            {"label_indices": [0.0, float("nan"), 1.0], "object_flags": [float("inf"), 0.0, 0.0]},
            [
                "entry 1, label_indices: found nan, expected an integer",
                "entry 0, object_flags: found inf, expected an integer",
            ],
        ),
        (
            {"columns": {"area": [1.0, float("inf"), 0.0]}},
            ["entry 1, columns.area: found inf, expected a finite number, or NaN"],
        ),
        ({"columns": {"area": [1.0]}}, ["columns.area: found 1 value, expected 3 values"]),
        ({"columns": {3: [1.0]}}, ["columns: found 3, expected a text"]),
    ],
)
def test_a_fault_is_named_with_column_and_row(changes: dict[str, Any], faults: list[str]) -> None:
    assert _faults(**changes) == [f"truth, {fault}" for fault in faults]


@pytest.mark.parametrize("name", Columns.__struct_fields__[2:5])
@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["0", "1", "2"], "strings"),
        ([None, 1, 2], "values of type NoneType"),
        ([0, {1}, 2], "values of type set"),
        ([0, 1, 10**30], "values that do not fit into 64 bits"),
        ([0, [1], 2], "rows of different lengths"),
        ([True, False, True], "booleans"),
        (np.array(["2020-01-01"] * 3, dtype="datetime64[D]"), "dates"),
        ([1j, 0, 0], "complex numbers"),
        (b"abc", "strings"),
        ("abc", "strings"),
        (5, "a single value"),
        (None, "a single value"),
    ],
)
def test_invalid_columns_of_numbers_are_refused(name: str, values: object, found: str) -> None:
    [fault] = [
        fault
        for fault in _faults(**{name: values})
        if f"truth, {name}" in fault.replace("frame_object_counts", "object_counts")
    ]
    assert f"found {found}, expected a list of integers" in fault


def test_numbers_too_large_for_64_bits_are_refused() -> None:
    for numbers in ([0, 1, 10**30], [0, 1, 2**63], np.array([0, 1, 2**63], dtype=np.uint64)):
        assert len(_faults(frame_numbers=numbers)) == 1
    assert len(_faults(frame_numbers=[0, 1, 1e300])) == 1


def test_faults_of_all_columns_are_listed_together() -> None:
    faults = _faults(
        frame_numbers=[0, -1, 7], confidences=[math.inf, 0.5, 0.5], label_indices=[0, 0, 9]
    )
    assert [fault.split(":")[0] for fault in faults] == [
        "truth, entry 1, frame_numbers",
        "truth, entry 2, label_indices",
        "truth, entry 0, confidences",
    ]


def test_a_column_lists_a_bounded_number_of_faults() -> None:
    count = FAULTS_PER_COLUMN + 5
    assert len(_faults(
        object_counts=[count, 0, 0],
        coordinates=np.full(2 * count, 0.0),
        confidences=np.full(count, np.inf),
        **dict.fromkeys(("label_indices", "track_ids", "object_flags"), ()),
        columns={},
    )) == FAULTS_PER_COLUMN  # fmt: skip


@pytest.mark.parametrize(
    "counts",
    [
        [2**62] * 4,
        [2**63 - 1, 2**63 - 1, 5],
        [10**12, 0, 0],
        [2**31, 2**31, 2**31],
    ],
)
def test_counts_far_beyond_the_data_allocate_no_memory(counts: list[int]) -> None:
    """2**62 four times is 0 in 64 bits, which must not count as a batch without objects."""
    frames = len(counts)
    faults = _faults(
        frame_sequences=[0] * frames,
        frame_numbers=list(range(frames)),
        frame_flags=(),
        frame_times_s=(),
        object_counts=counts,
        coordinates=[],
    )
    assert "frame_object_counts" in faults[0]


HOSTILE = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.floats(),
    st.integers(),
    st.booleans(),
    st.lists(st.floats() | st.integers(), max_size=6),
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.text(max_size=2) | st.integers() | st.floats(),
            lambda inner: st.lists(inner, max_size=3),
            max_leaves=3,
        ),
        max_size=4,
    ),
    arrays.arrays(
        dtype=st.one_of(arrays.scalar_dtypes(), st.sampled_from(["O", "U2", "S2"]).map(np.dtype)),
        shape=arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    ),
)


@pytest.mark.slow
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "arity": HOSTILE | st.sampled_from([2, 4, 8]),
            "sequences": st.lists(HOSTILE | st.tuples(HOSTILE, HOSTILE), max_size=3),
            "labels": st.lists(HOSTILE, max_size=3),
            **{
                name: HOSTILE
                for name in Columns.__struct_fields__
                if name not in {"arity", "sequences", "labels", "columns"}
            },
            "columns": st.dictionaries(st.text(max_size=2) | st.integers(), HOSTILE, max_size=2),
        },
    )
)
@settings(max_examples=example_count(300))
def test_hostile_columns_give_annotations_or_an_input_error(changes: dict[str, Any]) -> None:
    try:
        built = build_annotations(replace(GOOD, **changes))
    except InputError as error:
        text = str(error)
        assert text
        return
    assert built.coordinates.shape == (built.object_count, built.arity)
    assert built.frame_starts[-1] == built.object_count
