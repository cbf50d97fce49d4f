"""From columns and specifications to messages, and from messages to specifications."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_client import Frames, InputError, Live
from vidscore_client._encoding import checksum, encode_configuration, encode_frames
from vidscore_client._specification import encode_specification
from vidscore_client._truth import decode_frames
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    DomainSpec,
    EvaluatorSpec,
    FrameRanges,
    SequenceSpec,
)
from vidscore_protos.dictionaries import show_specification
from vidscore_protos.v1 import annotations_pb2, specification_pb2


def frames(**changes: Any) -> Frames:
    """Two frames of two of three sequences, with three boxes of two of three labels."""
    columns: dict[str, Any] = {
        "sequences": (("d", "a"), ("d", "unused"), ("", "c")),
        "frame_sequences": [2, 0],
        "frame_numbers": [5, 6],
        "frame_starts": [0, 1, 3],
        "coordinates": np.arange(12.0).reshape(3, 4),
        "labels": ("unused", "car", "bus"),
        "label_indices": [2, 1, 1],
        "confidences": [0.1, 0.2, 0.3],
        "track_ids": [7, -1, 8],
        "flags": [0, 1, 0],
        "frame_flags": [0, 1],
        "columns": {"area": [1.0, 2.0, 3.0]},
        "frame_times_s": [1732270000.5, np.nan],
    }
    return Frames(**{**columns, **changes})


def test_every_column_is_sent_and_tables_have_only_the_used_names() -> None:
    message = encode_frames(frames())
    keys = [(key.domain, key.sequence) for key in message.sequences]
    assert [keys[row] for row in message.frame_sequences] == [("", "c"), ("d", "a")]
    assert sorted(keys) == [("", "c"), ("d", "a")]
    labels = [message.labels[row] for row in message.label_indices]
    assert labels == ["bus", "car", "car"]
    assert sorted(message.labels) == ["bus", "car"]
    assert list(message.frame_numbers) == [5, 6]
    assert list(message.frame_object_counts) == [1, 2]
    assert list(message.frame_flags) == [0, 1]
    assert message.geometry == annotations_pb2.GEOMETRY_BOX
    assert list(message.coordinates) == list(range(12))
    assert list(message.confidences) == [0.1, 0.2, 0.3]
    assert list(message.track_ids) == [7, -1, 8]
    assert list(message.object_flags) == [0, 1, 0]
    assert [(column.name, list(column.values)) for column in message.columns] == [
        ("area", [1.0, 2.0, 3.0])
    ]
    np.testing.assert_array_equal(message.frame_times_s, [1732270000.5, np.nan])


def test_frames_without_times_have_the_same_bytes_as_before_times_existed() -> None:
    """Recorded from version 0.1.0: stored batches are compared with resent ones."""
    for times_s in (None, [np.nan, np.nan]):
        message = encode_frames(frames(frame_times_s=times_s))
        assert hashlib.sha256(message.SerializeToString()).hexdigest() == (
            "110b7a638e3c60f44ffd9e722a6a49d8fa52c3bb1f7f0bee5916b8c33fc55a55"
        )
        assert checksum(message) == 3087202067


def test_the_checksum_covers_times() -> None:
    other = frames(frame_times_s=[1732270000.25, np.nan])
    assert checksum(encode_frames(other)) != checksum(encode_frames(frames()))


def test_columns_of_defaults_alone_are_left_out() -> None:
    message = encode_frames(
        frames(
            confidences=[1.0] * 3,
            track_ids=[-1] * 3,
            flags=[0] * 3,
            frame_flags=[0, 0],
            labels=["car"],
            label_indices=None,
            columns={},
            frame_times_s=[np.nan, np.nan],
        )
    )
    assert not message.frame_times_s
    assert not message.confidences
    assert not message.track_ids
    assert not message.object_flags
    assert not message.frame_flags
    assert not message.label_indices
    assert list(message.labels) == ["car"]


def test_objects_of_a_message_without_indices_have_its_first_label() -> None:
    message = encode_frames(frames(labels=["car"], label_indices=None))
    message.labels.append("unused")
    assert decode_frames(message).labels == ("car",)


def test_frames_without_objects_are_sent_without_labels() -> None:
    message = encode_frames(
        Frames(
            sequences=(("", "a"),),
            frame_sequences=np.array([0]),
            frame_numbers=np.array([3]),
            frame_starts=np.array([0, 0]),
            coordinates=np.zeros((0, 2)),
            labels=("car",),
            label_indices=np.zeros(0, dtype=np.int64),
        )
    )
    assert list(message.frame_object_counts) == [0]
    assert list(message.labels) == []
    assert message.geometry == annotations_pb2.GEOMETRY_POINT


@given(st.lists(st.floats(width=64), max_size=300))
def test_numbers_arrive_bit_for_bit(values: list[float]) -> None:
    """Whatever they are: the server decides about infinities."""
    count = len(values) // 2
    message = encode_frames(
        Frames(
            sequences=(("", "a"),),
            frame_sequences=np.array([0]),
            frame_numbers=np.array([0]),
            frame_starts=np.array([0, count]),
            coordinates=np.array(values[: 2 * count], dtype=">f8").reshape(count, 2),
        )
    )
    received = annotations_pb2.AnnotationBatch.FromString(message.SerializeToString())
    sent = np.array(values[: 2 * count], dtype="<f8")
    assert np.array(received.coordinates, dtype="<f8").tobytes() == sent.tobytes()


SPECIFICATION = BenchmarkSpec(
    title="Everything",
    evaluators=(
        EvaluatorSpec("neovision2", {"overlap_threshold": 0.5, "frames": "all", "merge": True}),
        EvaluatorSpec("spotgeo", {"tau": 5, "classes": ("a", "b"), "grid": (0.5, 1.0)}),
    ),
    domains=(
        DomainSpec("Tower", ("Car", "Bus")),
        DomainSpec("None", ()),
        DomainSpec("Unsaid"),
    ),
    sequences=(
        SequenceSpec("a", "Tower", frame_count=100, first_frame=1, image_width=640),
        SequenceSpec("b", frames=FrameRanges.of([(0, 5), (9, 9)]), image_height=480),
        SequenceSpec("c", frames=FrameRanges(), dont_care_frames=FrameRanges.of([(3, 4)])),
        SequenceSpec("d", frame_count=0),
    ),
)


def test_a_specification_survives_encoding_and_decoding() -> None:
    document = to_dict(SPECIFICATION)
    message = encode_specification((), document)
    received = specification_pb2.BenchmarkSpec.FromString(message.SerializeToString())
    assert show_specification(received) == document


def test_values_of_parameters_keep_their_types() -> None:
    chosen: dict[str, Any] = {
        "boolean": True,
        "integer": np.int64(3),
        "number": np.float64(0.5),
        "text": "x",
        "numbers": (1, 2.5),
        "texts": ["a"],
        "none": [],
    }
    message = encode_specification([("e", chosen)], None)
    kinds = {entry.name: entry.WhichOneof("value") for entry in message.evaluators[0].parameters}
    assert kinds == {
        "boolean": "boolean",
        "integer": "integer",
        "number": "number",
        "text": "text",
        "numbers": "numbers",
        "texts": "texts",
        "none": "numbers",
    }


def test_chosen_evaluators_replace_those_of_the_specification() -> None:
    specification = specification_pb2.BenchmarkSpec(title="T")
    specification.evaluators.add(name="old")
    message = encode_specification(["new"], specification)
    assert [entry.name for entry in message.evaluators] == ["new"]
    assert message.title == "T"
    assert [entry.name for entry in specification.evaluators] == ["old"]
    kept = encode_specification((), specification)
    assert [entry.name for entry in kept.evaluators] == ["old"]


def test_a_frame_may_be_given_in_place_of_a_range() -> None:
    message = encode_specification(["e"], {"sequences": [{"name": "a", "frames": [3, [5, 6]]}]})
    ranges = [(entry.first, entry.last) for entry in message.sequences[0].frames.ranges]
    assert ranges == [(3, 3), (5, 6)]


@pytest.mark.parametrize(
    ("evaluators", "specification", "argument"),
    [
        ([], None, "evaluators"),
        ("spotgeo", None, "evaluators"),
        ([3], None, "evaluators[0]"),
        (["a", ("b",)], None, "evaluators[1]"),
        ([("b", 3)], None, "evaluators[0].parameters"),
        ([(3, {})], None, "evaluators[0].name"),
        ([("b", {"x": None})], None, "evaluators[0].parameters['x']"),
        ([("b", {"x": ["a", 1]})], None, "evaluators[0].parameters['x']"),
        ([("b", {"x": 2**64})], None, "evaluators[0].parameters['x']"),
        (["e"], [], "specification"),
        (["e"], {"titel": ""}, "specification.titel"),
        (["e"], {"title": 3}, "specification.title"),
        (["e"], {"sequences": {}}, "specification.sequences"),
        (["e"], {"sequences": [3]}, "specification.sequences[0]"),
        (["e"], {"sequences": [{}, {"nam": ""}]}, "specification.sequences[1].nam"),
        (["e"], {"sequences": [{"frame_count": "3"}]}, "specification.sequences[0].frame_count"),
        (["e"], {"sequences": [{"image_width": 2**40}]}, "specification.sequences[0].image_width"),
        (["e"], {"sequences": [{"frames": [[1]]}]}, "specification.sequences[0].frames[0]"),
        (["e"], {"sequences": [{"frames": 3}]}, "specification.sequences[0].frames"),
        (["e"], {"domains": [{"classes": "car"}]}, "specification.domains[0].classes"),
        (["e"], {"domains": [{"classes": [3.5]}]}, "specification.domains[0].classes"),
    ],
)
def test_what_a_specification_cannot_contain_is_named(
    evaluators: Any, specification: Any, argument: str
) -> None:
    with pytest.raises(InputError) as caught:
        encode_specification(evaluators, specification)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    ("settings", "argument"),
    [
        ({}, "live"),
        ({"every_frames": -1}, "every_frames"),
        ({"every_s": -1.0}, "every_s"),
        ({"every_s": float("nan")}, "every_s"),
        ({"every_frames": 1, "keep_reports": 0}, "keep_reports"),
    ],
)
def test_live_settings_that_would_give_no_report_are_refused(
    settings: dict[str, Any], argument: str
) -> None:
    with pytest.raises(InputError) as caught:
        Live(**settings)
    assert caught.value.argument == argument


def test_an_interval_by_frames_alone_requests_none_by_time() -> None:
    message = encode_configuration(["e"], None, "box", "box", Live(every_frames=3))
    assert message.live_reporting.frame_interval == 3
    assert not message.live_reporting.HasField("time_interval")
