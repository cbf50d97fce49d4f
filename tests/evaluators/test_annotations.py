"""Columns of annotations: taking, joining and renaming, compared with plain dictionaries."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vidscore_evaluators.annotations import (
    Annotations,
    ObjectFlag,
    SequenceKey,
    are_flagged,
    concatenate,
    empty_annotations,
    frame_list,
)
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations, seeds, shuffled
from vidscore_evaluators.testing.examples import example_count

NEEDS = Needs((8,), (8,), confidences=True, tracks=True)

Frame = dict[str, Any]


def _plain(annotations: Annotations) -> dict[tuple[SequenceKey, int], Frame]:
    """The content frame by frame, read with Python loops."""
    frames = {}
    for row in range(annotations.frame_count):
        key = annotations.sequences[annotations.frame_sequences[row]]
        first, end = annotations.frame_starts[row], annotations.frame_starts[row + 1]
        frames[key, int(annotations.frame_numbers[row])] = {
            "flags": int(annotations.frame_flags[row]),
            "time_s": _time(annotations, row),
            "objects": [_plain_object(annotations, index) for index in range(first, end)],
        }
    assert len(frames) == annotations.frame_count
    return frames


def _time(annotations: Annotations, row: int) -> float | None:
    if annotations.frame_times_s is None or np.isnan(annotations.frame_times_s[row]):
        return None
    return float(annotations.frame_times_s[row])


def _plain_object(annotations: Annotations, index: int) -> Frame:
    named = {name: float(column[index]) for name, column in annotations.columns.items()}
    return {
        "coordinates": tuple(annotations.coordinates[index].tolist()),
        "label": annotations.labels[annotations.label_indices[index]],
        "confidence": float(annotations.confidences[index]),
        "track_id": int(annotations.track_ids[index]),
        "flags": int(annotations.flags[index]),
    } | {name: value for name, value in named.items() if not np.isnan(value)}


def test_lists_become_columns() -> None:
    made = make_annotations(
        {
            ("d", "s"): {4: [Thing((1, 2), "cat", 0.5, 9, 1, {"area": 3})], 2: []},
            ("d", "t"): {0: [(5, 6), Thing((7, 8), "cat")]},
        },
        dont_care=[(("d", "s"), 2)],
    )
    assert made.sequences == (("d", "s"), ("d", "t"))
    assert made.labels == ("cat", "")
    assert made.frame_sequences.tolist() == [0, 0, 1]
    assert made.frame_numbers.tolist() == [4, 2, 0]
    assert made.frame_flags.tolist() == [0, 1, 0]
    assert made.frame_starts.tolist() == [0, 1, 1, 3]
    assert made.coordinates.tolist() == [[1, 2], [5, 6], [7, 8]]
    assert made.label_indices.tolist() == [0, 1, 0]
    assert made.confidences.tolist() == [0.5, 1, 1]
    assert made.track_ids.tolist() == [9, -1, -1]
    assert made.flags.tolist() == [1, 0, 0]
    assert np.array_equal(made.columns["area"], [3, np.nan, np.nan], equal_nan=True)
    assert (made.frame_count, made.object_count, made.arity) == (3, 3, 2)
    assert made.object_counts.tolist() == [1, 0, 2]
    assert made.object_frames.tolist() == [0, 2, 2]


def test_a_flag_is_found_among_others() -> None:
    """A crowd has bit 2, a region bit 4."""
    flags = np.array([0, 2, 4, 6, 7], dtype=np.uint8)
    assert int(ObjectFlag.REGION) == 4
    assert are_flagged(flags, ObjectFlag.REGION).tolist() == [False, False, True, True, True]


def test_lists_of_mixed_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"one arity"):
        make_annotations({("", "s"): {0: [(1, 2), (1, 2, 3, 4)]}})
    with pytest.raises(ValueError, match=r"one arity"):
        make_annotations({("", "s"): {0: []}})


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_shuffling_keeps_the_content(scene: Case, seed: int) -> None:
    mixed, plain = _plain(shuffled(scene.truth, seed)), _plain(scene.truth)
    for frames in (mixed, plain):
        for frame in frames.values():
            frame["objects"].sort(key=str)
    assert mixed == plain


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_taking_frames_keeps_each_with_its_objects_in_the_given_order(
    scene: Case, seed: int
) -> None:
    random = np.random.default_rng(seed)
    count = scene.truth.frame_count
    rows = random.permutation(count)[: random.integers(count + 1)]
    whole, taken = (
        list(_plain(scene.truth).items()),
        list(_plain(scene.truth.take_frames(rows)).items()),
    )
    assert taken == [whole[row] for row in rows]
    mask = np.isin(np.arange(count), rows)
    assert list(_plain(scene.truth.take_frames(mask)).items()) == [
        whole[row] for row in sorted(rows)
    ]


@given(cases(NEEDS), st.data())
def test_a_run_of_frames_equals_taking_them_one_by_one(scene: Case, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, scene.truth.frame_count), label="start")
    stop = data.draw(st.integers(start, scene.truth.frame_count), label="stop")
    run = scene.truth.frame_run(start, stop)
    assert _plain(run) == _plain(scene.truth.take_frames(np.arange(start, stop)))


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_taking_objects_keeps_every_frame(scene: Case, seed: int) -> None:
    truth = scene.truth
    keep = np.random.default_rng(seed).random(truth.object_count) < 0.5
    expected = _plain(truth)
    kept = iter(keep.tolist())
    for frame in expected.values():
        frame["objects"] = [entry for entry in frame["objects"] if next(kept)]
    assert _plain(truth.take_objects(keep)) == expected
    assert _plain(truth.take_objects(np.flatnonzero(keep))) == expected


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_joining_parts_gives_the_whole(scene: Case, seed: int) -> None:
    mine = np.random.default_rng(seed).random(scene.truth.frame_count) < 0.5
    parts = [shuffled(scene.truth.take_frames(rows), 1) for rows in (mine, ~mine)]
    joined = _plain(concatenate(parts))
    assert joined == _plain(parts[0]) | _plain(parts[1])
    assert set(joined) == set(_plain(scene.truth))


def test_joining_fills_a_column_that_a_part_lacks_with_nan() -> None:
    first = make_annotations({("", "s"): {0: [Thing((1, 2), columns={"area": 3.0})]}})
    second = make_annotations({("", "s"): {1: [(4, 5)]}})
    joined = concatenate([first, second])
    assert np.array_equal(joined.columns["area"], [3.0, np.nan], equal_nan=True)


def test_joining_nothing_or_other_shapes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        concatenate([])
    with pytest.raises(ValueError, match="dimension"):
        concatenate(
            [make_annotations({("", "s"): {row: [(1,) * (2 + 2 * row)]}}) for row in (0, 1)]
        )


def test_frames_without_objects_join_those_of_any_shape() -> None:
    boxes = make_annotations({("", "s"): {1: [(1, 2, 3, 4)]}})
    joined = concatenate([empty_annotations(2), boxes, empty_annotations(8)])
    assert joined.coordinates.tolist() == [[1, 2, 3, 4]]


def test_other_tables_of_names_rename_nothing() -> None:
    made = make_annotations({("d", "s"): {0: [Thing((1, 2), "b"), Thing((3, 4), "a")]}})
    other = made.with_tables((SequenceKey("x", "y"), SequenceKey("d", "s")), ("a", "b"))
    assert _plain(other) == _plain(made)
    assert other.label_indices.tolist() == [1, 0]


def test_unused_names_of_a_table_may_be_dropped() -> None:
    made = shuffled(make_annotations({("d", "s"): {0: [Thing((1, 2), "b")]}}), 0)
    assert _plain(made.with_tables((SequenceKey("d", "s"),), ("b",))) == _plain(made)


def test_a_frame_list_has_frames_and_no_objects() -> None:
    made = frame_list((SequenceKey("", "s"),), np.zeros(2, np.int64), np.array([3, 5]), 4)
    assert _plain(made) == {
        (("", "s"), 3): {"flags": 0, "time_s": None, "objects": []},
        (("", "s"), 5): {"flags": 0, "time_s": None, "objects": []},
    }
    assert made.arity == 4


@pytest.mark.parametrize("arity", [2, 4, 8])
def test_empty_annotations_have_the_requested_arity(arity: int) -> None:
    nothing = empty_annotations(arity)
    assert (nothing.frame_count, nothing.object_count, nothing.arity) == (0, 0, arity)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(empty_annotations(4), id="nothing"),
        pytest.param(make_annotations({("d", "s"): {0: [Thing((1, 2), "b")]}}), id="an object"),
        pytest.param(
            frame_list((), np.zeros(0, np.int64), np.zeros(0, np.int64), 2), id="no frames"
        ),
    ],
)
def test_annotations_can_be_sent_to_another_process(made: Annotations) -> None:
    assert _plain(pickle.loads(pickle.dumps(made))) == _plain(made)


def test_nbytes_counts_all_columns() -> None:
    """One frame: 8 + 8 + 1 + 2 * 8; one point: 2 * 8 + 8 + 8 + 8 + 1, and 8 for its area."""
    made = make_annotations({("", "s"): {0: [Thing((1, 2), columns={"area": 1.0})]}})
    assert made.nbytes == 33 + 41 + 8
