"""Checks of columns and of single frames before they are sent."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from tests.clients.python.streaming import BOX

from vidscore_client import FrameFlag, Frames, InputError, ObjectFlag
from vidscore_client._outbox import SingleFrame, join
from vidscore_evaluators.annotations import FrameFlag as EvaluatorsFrameFlag
from vidscore_evaluators.annotations import ObjectFlag as EvaluatorsObjectFlag
from vidscore_evaluators.annotations import SequenceKey, frame_list


def columns(**changes: Any) -> dict[str, Any]:
    """Two frames with three boxes."""
    return {
        "sequences": (("d", "a"), ("d", "b")),
        "frame_sequences": [0, 1],
        "frame_numbers": [5, 6],
        "frame_starts": [0, 1, 3],
        "coordinates": np.arange(12.0).reshape(3, 4),
        "labels": ("car", "bus"),
        "label_indices": [0, 1, 1],
        "confidences": [0.1, 0.2, 0.3],
        "track_ids": [7, -1, 8],
        "flags": [0, 1, 0],
        "frame_flags": [0, 1],
        "columns": {"area": [1.0, 2.0, 3.0]},
        "frame_times_s": [np.nan, 2.5],
        **changes,
    }


def test_arrays_of_the_right_type_are_used_without_a_copy() -> None:
    coordinates = np.ones((3, 4))
    starts = np.array([0, 1, 3])
    frames = Frames(**columns(coordinates=coordinates, frame_starts=starts))
    assert frames.coordinates is coordinates
    assert frames.frame_starts is starts


def test_the_columns_of_annotations_need_no_conversion() -> None:
    """The caller passes them by name, as when a file is replayed."""
    source = frame_list((SequenceKey("d", "a"),), np.zeros(2, dtype=np.int64), np.arange(2), 4)
    frames = Frames(
        sequences=source.sequences,
        labels=source.labels,
        frame_sequences=source.frame_sequences,
        frame_numbers=source.frame_numbers,
        frame_starts=source.frame_starts,
        coordinates=source.coordinates,
        label_indices=source.label_indices,
        confidences=source.confidences,
        track_ids=source.track_ids,
        flags=source.flags,
        frame_flags=source.frame_flags,
        columns=source.columns,
    )
    assert frames.coordinates is source.coordinates
    assert frames.flags is source.flags
    assert (frames.frame_count, frames.object_count, frames.arity) == (2, 0, 4)


def test_a_part_has_the_frames_and_objects_of_its_range() -> None:
    part = Frames(**columns()).part(1, 2)
    assert part.frame_numbers.tolist() == [6]
    assert part.frame_starts.tolist() == [0, 2]
    assert part.coordinates[:, 0].tolist() == [4.0, 8.0]
    assert part.label_indices is not None
    assert part.label_indices.tolist() == [1, 1]
    assert part.columns["area"].tolist() == [2.0, 3.0]
    assert part.frame_flags is not None
    assert part.frame_flags.tolist() == [1]
    assert part.frame_times_s is not None
    assert part.frame_times_s.tolist() == [2.5]
    assert Frames(**columns()).part(0, 1).frame_times_s is None


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("frame_sequences", [0]),
        ("frame_sequences", [0, 2]),
        ("frame_sequences", [0, -1]),
        ("frame_numbers", [0.5, 1.0]),
        ("frame_numbers", [[1, 2]]),
        ("frame_starts", [0, 3]),
        ("frame_starts", [1, 1, 3]),
        ("frame_starts", [0, 1, 2]),
        ("frame_starts", [0, 4, 3]),
        ("coordinates", np.zeros((3, 3))),
        ("coordinates", np.zeros(12)),
        ("coordinates", [["a"] * 4] * 3),
        ("label_indices", [0, 1]),
        ("label_indices", [0, 1, 2]),
        ("label_indices", None),
        ("confidences", [0.5]),
        ("confidences", ["high"] * 3),
        ("track_ids", [1, 2]),
        ("track_ids", np.full(3, 2**63, dtype=np.uint64)),
        ("frame_numbers", np.full(2, 2**63, dtype=np.uint64)),
        ("frame_sequences", np.full(2, 2**64 - 1, dtype=np.uint64)),
        ("flags", [0, 0, -1]),
        ("flags", [0, 0, 2**32]),
        ("frame_flags", [0]),
        ("frame_times_s", [1.0]),
        ("frame_times_s", ["noon", "one"]),
        ("coordinates", np.ma.masked_equal([[1, 2, 3, 0]] * 3, 0)),
        ("confidences", np.ma.masked_equal([0.5, 0.0, 1.0], 0.0)),
        ("track_ids", np.ma.masked_equal([1, 2, 3], 2)),
        ("frame_times_s", np.array([40, 80], dtype="timedelta64[ms]")),
        ("frame_times_s", np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]")),
        ("coordinates", np.full((3, 4), 1j)),
        ("columns['area']", {"area": [1.0]}),
        ("columns", {3: [1.0, 2.0, 3.0]}),
        ("sequences", (("d", 3), ("d", "b"))),
        ("sequences", ((None, "a"), ("d", "b"))),
        ("labels", ("car", 7.5)),
        ("labels", ("car", True)),
        ("labels", ("car", "\ud800")),
    ],
)
def test_a_column_that_does_not_fit_is_named(column: str, value: Any) -> None:
    changes = {column.partition("[")[0]: value}
    with pytest.raises(InputError) as caught:
        Frames(**columns(**changes))
    assert caught.value.argument == column
    assert str(caught.value).startswith(f"{column}: found ")


def test_columns_are_taken_while_another_thread_imports_masked_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The module is then known, and empty."""
    monkeypatch.setitem(sys.modules, "numpy.ma", ModuleType("numpy.ma"))
    assert single(confidences=[0.5]).confidences == [0.5]


def test_flags_equal_those_of_the_evaluators() -> None:
    assert {flag.name: int(flag) for flag in ObjectFlag} == {
        flag.name: int(flag) for flag in EvaluatorsObjectFlag
    }
    assert {flag.name: int(flag) for flag in FrameFlag} == {
        flag.name: int(flag) for flag in EvaluatorsFrameFlag
    }


def single(coordinates: Any = BOX, **arguments: Any) -> SingleFrame:
    """One frame of sequence a."""
    return SingleFrame.of(
        4, arguments.pop("sequence", "a"), arguments.pop("frame", 0), coordinates, **arguments
    )


@pytest.mark.parametrize("labels", [{"car", "bus"}, {"car": 1, "bus": 2}])
def test_labels_without_an_order_are_refused(labels: Any) -> None:
    """The order of a set differs from run to run, and each label belongs to one object."""
    with pytest.raises(InputError, match=r"labels: found .*, expected 2 strings, one for"):
        single(BOX * 2, labels=labels)
    with pytest.raises(InputError, match=r"labels: found .*, expected a list of strings"):
        Frames(**columns(labels=labels))


def test_a_wrong_number_of_integers_is_reported_with_the_expected_one() -> None:
    with pytest.raises(InputError, match=r"track_ids: found shape \(2,\), expected 1 integer$"):
        single(track_ids=[1, 2])


def test_plain_lists_arrays_and_empty_frames_are_accepted() -> None:
    assert single([[0, 0, 1, 1], [2, 2, 3, 3]]).object_count == 2
    assert single(np.zeros((3, 4), dtype=np.float32)).object_count == 3
    assert single([]).coordinates.shape == (0, 4)
    assert single(np.zeros((0, 4)), labels=[], confidences=[]).object_count == 0
    assert single(frame=np.int64(7)).number == 7
    assert single(confidences=np.ma.masked_equal([0.5], 0.0)).confidences == [0.5]


@pytest.mark.parametrize(
    ("arguments", "argument"),
    [
        ({"coordinates": [0.0, 0.0, 1.0, 1.0]}, "coordinates"),
        ({"coordinates": [[0.0, 0.0]]}, "coordinates"),
        ({"coordinates": [[0, 0, 1, 1], [0, 0]]}, "coordinates"),
        ({"coordinates": None}, "coordinates"),
        ({"coordinates": np.zeros((0, 2))}, "coordinates"),
        ({"labels": ["a", "b"]}, "labels"),
        ({"labels": "a"}, "labels"),
        ({"labels": [3.5]}, "labels"),
        ({"labels": [None]}, "labels"),
        ({"confidences": [0.5, 0.5]}, "confidences"),
        ({"confidences": 0.5}, "confidences"),
        ({"track_ids": [1.5]}, "track_ids"),
        ({"track_ids": []}, "track_ids"),
        ({"track_ids": np.array([2**63], dtype=np.uint64)}, "track_ids"),
        ({"coordinates": [[10**400, 0, 1, 1]]}, "coordinates"),
        ({"flags": [-1]}, "flags"),
        ({"flags": [2**32]}, "flags"),
        ({"flags": np.array([2**64 - 1], dtype=np.uint64)}, "flags"),
        ({"sequence": 3}, "sequence"),
        ({"domain": None}, "domain"),
        ({"frame": 1.0}, "frame"),
        ({"frame": "1"}, "frame"),
        ({"frame": 2**63}, "frame"),
    ],
)
def test_an_argument_of_the_wrong_shape_is_named(arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(InputError) as caught:
        single(**arguments)
    assert caught.value.argument == argument


@pytest.mark.parametrize("label", [3, np.int32(3), "3"])
def test_a_number_is_the_label_of_its_digits(label: Any) -> None:
    assert single(labels=[label]).labels == ("3",)
    assert Frames(**columns(labels=("car", label))).labels == ("car", "3")


def test_joined_frames_share_one_table_and_missing_columns_take_their_defaults() -> None:
    joined = join(
        [
            single(labels=["car"], confidences=[0.5]),
            single(sequence="b", frame=1, dont_care=True),
            single([], frame=2),
            single(BOX * 2, frame=3, labels=["bus", "car"], track_ids=[1, 2], time_s=2.5),
        ]
    )
    assert joined.frame_times_s is not None
    np.testing.assert_array_equal(joined.frame_times_s, [np.nan, np.nan, np.nan, 2.5])
    assert joined.sequences == (("", "a"), ("", "b"))
    assert joined.frame_sequences.tolist() == [0, 1, 0, 0]
    assert joined.frame_numbers.tolist() == [0, 1, 2, 3]
    assert joined.frame_starts.tolist() == [0, 1, 2, 2, 4]
    assert joined.label_indices is not None
    labels = [joined.labels[row] for row in joined.label_indices.tolist()]
    assert labels == ["car", "", "bus", "car"]
    assert joined.confidences is not None
    assert joined.confidences.tolist() == [0.5, 1.0, 1.0, 1.0]
    assert joined.track_ids is not None
    assert joined.track_ids.tolist() == [-1, -1, 1, 2]
    assert joined.flags is None
    assert joined.frame_flags is not None
    assert joined.frame_flags.tolist() == [0, 1, 0, 0]


@pytest.mark.parametrize("dtype", [np.uint64, np.uint8, np.int16])
def test_integers_of_any_type_are_joined_with_frames_that_have_none(dtype: Any) -> None:
    column = np.array([7], dtype=dtype)
    joined = join([single(track_ids=column, flags=column), single([], frame=1), single(frame=2)])
    assert joined.track_ids is not None
    assert joined.track_ids.tolist() == [7, -1]
    assert joined.flags is not None
    assert joined.flags.tolist() == [7, 0]


def test_unsigned_columns_of_64_bits_become_signed_ones() -> None:
    """Otherwise, joined with other columns, they would become floats."""
    names = ("frame_sequences", "frame_numbers", "frame_starts", "label_indices", "track_ids")
    given = columns(track_ids=[7, 0, 8])
    frames = Frames(**{**given, **{name: np.array(given[name], np.uint64) for name in names}})
    for name in names:
        assert getattr(frames, name).dtype == np.int64, name
        assert getattr(frames, name).tolist() == given[name], name


def test_joined_frames_without_any_time_have_no_column_of_times() -> None:
    assert join([single(), single(frame=1)]).frame_times_s is None


def test_the_time_of_one_frame_is_a_number_or_unknown() -> None:
    assert single(time_s=3).time_s == 3.0
    assert single(time_s=float("nan")).time_s is None
    assert single().time_s is None


@pytest.mark.parametrize("wrong", ["noon", [1.0, 2.0], object()])
def test_an_invalid_time_is_named(wrong: Any) -> None:
    with pytest.raises(InputError) as caught:
        single(time_s=wrong)
    assert caught.value.argument == "time_s"


def test_an_input_error_survives_pickling_between_processes() -> None:
    error = pickle.loads(pickle.dumps(InputError("labels", "two", "one")))
    assert str(error) == "labels: found two, expected one"
    assert error.argument == "labels"
    assert isinstance(error, ValueError)
