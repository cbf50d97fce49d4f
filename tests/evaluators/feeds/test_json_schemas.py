"""JSON schemas: frames from a message, and what the message does not give."""

from __future__ import annotations

import json
from importlib import metadata
from typing import Any

import pytest

from vidscore_evaluators import feeds
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds import FeedFrame, Schema, Unsaid, schema_names, schema_of_name
from vidscore_evaluators.feeds.frames import MAXIMUM_MESSAGE_BYTES

DEEPSTREAM = {
    "version": "4.0",
    "id": "57",
    "@timestamp": "2026-01-31T12:00:00.040Z",
    "sensorId": "north",
    "objects": [
        "957|1834|150|1918.5|215|Vehicle|#|sedan|Bugatti|M|blue|CA 444|California|0.8",
        "18446744073709551615|10|20|30|40|Person",
    ],
}
DLSTREAMER = {
    "objects": [
        {
            "detection": {
                "bounding_box": {"x_min": 0.25, "y_min": 0.5, "x_max": 0.75, "y_max": 1.0},
                "confidence": 0.57,
                "label": "bottle",
            },
            "id": 3,
            "roi_type": "bottle",
            "x": 160,
            "y": 180,
            "w": 320,
            "h": 180,
        }
    ],
    "resolution": {"height": 360, "width": 640},
    "source": "file:///videos/a.mp4",
    "timestamp": 972_000_000,
}
FRIGATE = {
    "type": "update",
    "before": {},
    "after": {
        "id": "1607123955.475377-mxklsc",
        "camera": "front_door",
        "frame_time": 1607123962.082975,
        "label": "person",
        "score": 0.79,
        "box": [424, 500, 536, 712],
        "false_positive": False,
    },
}
VISION = {
    "header": {"stamp": {"sec": 12, "nanosec": 500_000_000}, "frame_id": "left"},
    "detections": [
        {
            "results": [
                {"hypothesis": {"class_id": "car", "score": 0.25}},
                {"hypothesis": {"class_id": "truck", "score": 0.75}},
            ],
            "bbox": {
                "center": {"position": {"x": 100.0, "y": 50.0}, "theta": 0.0},
                "size_x": 40.0,
                "size_y": 20.0,
            },
            "id": "7",
        }
    ],
}

ACME = Schema("acme", "a schema of another distribution", lambda _message: [])


def read(schema: str, document: Any) -> list[FeedFrame]:
    return schema_of_name(schema).read(json.dumps(document).encode())


def faults(schema: str, message: bytes) -> list[str]:
    with pytest.raises(InputError) as caught:
        schema_of_name(schema).read(message)
    return [str(fault) for fault in caught.value.faults]


def test_deepstream_has_a_confidence_only_where_a_second_classifier_ran() -> None:
    [frame] = read("nvidia-json", DEEPSTREAM)
    assert (frame.sensor, frame.number) == ("north", 57)
    assert list(frame.objects) == [
        {"label": "Vehicle", "box": [1834, 150, 1918.5, 215], "confidence": 0.8, "track": 957},
        {"label": "Person", "box": [10, 20, 30, 40]},
    ]
    assert frame.unsaid == {
        Unsaid.CONFIDENCE,
        Unsaid.FRAME_TIME,
        Unsaid.EMPTY_FRAMES,
        Unsaid.RESOLUTION,
    }


def test_nv_frame_as_json_has_the_time_of_the_frame_and_confidences() -> None:
    [frame] = read(
        "nvidia-json",
        {
            "version": "4.0",
            "timestamp": "2023-10-30T22:30:30.500Z",
            "id": "1",
            "sensorId": "Sensor_1",
            "objects": [
                {
                    "bbox": {"topY": 107.5, "rightX": 1116.5, "bottomY": 311.25, "leftX": 1063.5},
                    "id": "1",
                    "confidence": 0.5,
                    "type": "Person",
                }
            ],
        },
    )
    assert frame.time_s == 1698705030.5
    assert list(frame.objects) == [
        {"label": "Person", "box": [1063.5, 107.5, 1116.5, 311.25], "confidence": 0.5, "track": 1}
    ]
    assert Unsaid.CONFIDENCE not in frame.unsaid
    assert Unsaid.FRAME_TIME not in frame.unsaid


def test_dlstreamer_boxes_are_exact_fractions_of_the_image_and_times_count_nanoseconds() -> None:
    [frame] = read("dlstreamer", DLSTREAMER)
    assert list(frame.objects) == [
        {"label": "bottle", "box": [160, 180, 480, 360], "confidence": 0.57, "track": 3}
    ]
    assert (frame.number, frame.time_s, frame.size_px) == (None, 0.972, (640, 360))
    assert frame.unsaid == {Unsaid.FRAME_NUMBER}


def test_dlstreamer_without_a_resolution_gives_the_integer_box() -> None:
    document = {**DLSTREAMER, "objects": [{"x": 1, "y": 2, "w": 3, "h": 4, "roi_type": "cup"}]}
    del document["resolution"]
    [frame] = read("dlstreamer", document)
    assert list(frame.objects) == [{"label": "cup", "box": [1, 2, 4, 6]}]
    assert {Unsaid.RESOLUTION, Unsaid.CONFIDENCE} <= frame.unsaid


def test_a_frigate_event_is_not_a_whole_frame() -> None:
    [frame] = read("frigate", FRIGATE)
    assert frame.sensor == "front_door"
    assert frame.time_s == 1607123962.082975
    assert frame.objects[0]["box"] == [424, 500, 536, 712]
    assert {Unsaid.EVERY_FRAME, Unsaid.EMPTY_FRAMES, Unsaid.FRAME_NUMBER} <= frame.unsaid


def test_an_ended_frigate_object_is_in_no_frame() -> None:
    assert read("frigate", {**FRIGATE, "type": "end"}) == []


def test_the_same_identity_is_always_the_same_track() -> None:
    tracks = [read("frigate", FRIGATE)[0].objects[0]["track"] for _ in range(2)]
    assert tracks[0] == tracks[1]
    assert 0 <= tracks[0] < 2**63


def test_the_best_hypothesis_of_ros_is_the_detection() -> None:
    [frame] = read("vision-msgs-json", VISION)
    assert (frame.sensor, frame.time_s) == ("left", 12.5)
    assert list(frame.objects) == [
        {"label": "truck", "box": [80, 40, 120, 60], "confidence": 0.75, "track": 7}
    ]
    assert frame.unsaid == {Unsaid.FRAME_NUMBER, Unsaid.RESOLUTION}


def test_the_centre_of_older_ros_messages_is_read() -> None:
    document = json.loads(json.dumps(VISION))
    document["detections"][0]["bbox"]["center"] = {"x": 100.0, "y": 50.0, "theta": 0.0}
    assert read("vision-msgs-json", document)[0].objects[0]["box"] == [80, 40, 120, 60]


def test_an_empty_array_of_ros_is_an_empty_frame() -> None:
    [frame] = read("vision-msgs-json", {**VISION, "detections": []})
    assert frame.objects == []


def test_json_lines_keep_the_content_of_a_line() -> None:
    [frame] = read(
        "jsonl",
        {"sequence": "a", "frame": 3, "time_s": 1.5, "objects": [{"point": [1, 2], "label": "x"}]},
    )
    assert (frame.sensor, frame.number, frame.time_s) == ("a", 3, 1.5)
    assert list(frame.objects) == [{"point": [1, 2], "label": "x"}]
    assert frame.unsaid == {Unsaid.CONFIDENCE, Unsaid.RESOLUTION}


def test_a_message_may_have_several_json_lines() -> None:
    """Empty lines are counted and ignored."""
    point = {"point": [1, 2], "confidence": 1}
    first = {"domain": "d", "sequence": 7, "frame": 4.0, "objects": [point]}
    second = {"sequence": "b", "frame": 0, "time_s": 2, "objects": []}
    texts = [json.dumps(line).encode() for line in (first, second)]
    frames = schema_of_name("jsonl").read(b"\n%s\r\n \n%s\n" % (texts[0], texts[1]))
    assert [(frame.domain, frame.sensor, frame.number, frame.time_s) for frame in frames] == [
        ("d", "7", 4, None),
        ("", "b", 0, 2),
    ]
    unsaid = [frame.unsaid for frame in frames]
    assert unsaid == [{Unsaid.RESOLUTION, Unsaid.FRAME_TIME}, {Unsaid.RESOLUTION}]
    [fault] = faults("jsonl", b"\n%s\n" % texts[1].replace(b"2", b"-2"))
    assert fault.startswith("line 2, time_s: found -2, expected")


def test_every_fault_of_a_message_is_reported() -> None:
    message = {**DEEPSTREAM, "@timestamp": "yesterday", "objects": ["1|2", 5], "sensorId": None}
    assert faults("nvidia-json", json.dumps(message).encode()) == [
        '@timestamp: found "yesterday", expected a time, such as 2026-01-31T12:00:00.040Z',
        'objects[0]: found "1|2", expected id|left|top|right|bottom|class, and more after |#|',
        "objects[1]: found 5, expected an object",
        "objects[1].bbox: found nothing, expected an object",
        *(
            f"objects[1].bbox.{name}: found nothing, expected a finite number"
            for name in ("leftX", "topY", "rightX", "bottomY")
        ),
        "objects[1].type: found nothing, expected a string",
        "sensorId: found nothing, expected a string",
    ]


JSON_SCHEMAS = ("jsonl", "nvidia-json", "dlstreamer", "frigate", "vision-msgs-json")


@pytest.mark.parametrize("schema", JSON_SCHEMAS)
@pytest.mark.parametrize("message", [b"{", b"[]", b"\xff", b"3", b'{"a": NaN}'])
def test_a_value_that_is_not_a_json_object_is_a_fault(schema: str, message: bytes) -> None:
    assert faults(schema, message)


@pytest.mark.parametrize("schema", JSON_SCHEMAS)
def test_a_message_that_is_too_long_is_a_fault(schema: str) -> None:
    [fault] = faults(schema, b'"' + b"a" * MAXIMUM_MESSAGE_BYTES + b'"')
    assert f"expected at most {MAXIMUM_MESSAGE_BYTES}" in fault


def test_an_unknown_schema_is_reported_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="did you mean frigate"):
        schema_of_name("frigat")
    assert all(schema_of_name(name).name == name for name in schema_names())


def test_an_entry_point_adds_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    point = metadata.EntryPoint("acme", f"{__name__}:ACME", feeds.ENTRY_POINT_GROUP)
    monkeypatch.setattr(point.__class__, "load", lambda _self: ACME)
    monkeypatch.setattr(metadata, "entry_points", lambda **_: metadata.EntryPoints([point]))
    assert schema_of_name("acme") is ACME
    assert schema_names()[-1] == "acme"
    schema_of_name.cache_clear()
