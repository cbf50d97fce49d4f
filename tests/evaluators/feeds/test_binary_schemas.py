"""Binary, XML and CSV schemas: messages put together by hand, byte by byte."""

from __future__ import annotations

import struct

import pytest

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds import FeedFrame, Unit, Unsaid, schema_of_name


def field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2, len(data)]) + data


def float32(number: int, value: float) -> bytes:
    return bytes([number << 3 | 5]) + struct.pack("<f", value)


BOX = b"".join(float32(number, value) for number, value in enumerate((1, 2, 3.5, 4), 1))
NV_OBJECT = (
    field(1, b"9") + field(2, BOX) + field(3, b"Person") + float32(4, 0.5) + field(5, b"\n\x00")
)
NV_FRAME = (
    field(1, b"4.0")
    + field(2, b"12")
    + field(3, bytes([1 << 3, 100, 2 << 3, *b"\x80\xca\xb5\xee\x01"]))
    + field(4, b"north")
    + field(5, NV_OBJECT)
    + field(12, b"\n\x01a")
)
"""The time is 100 s and 500,000,000 ns: 0x80 0xca 0xb5 0xee 0x01 in base 128."""


def string(text: str) -> bytes:
    data = text.encode() + b"\0"
    return struct.pack("<I", len(data)) + data


def aligned(parts: list[tuple[int, bytes]]) -> bytes:
    """CDR of values with the alignment of each."""
    data = b""
    for alignment, part in parts:
        data += b"\0" * (-len(data) % alignment) + part
    return b"\0\1\0\0" + data


def detection_array(count: int = 1, theta: float = 0.0) -> bytes:
    header = [(4, struct.pack("<iI", 12, 500_000_000)), (4, string("left"))]
    return aligned(
        [
            *header,
            (4, struct.pack("<I", count)),
            *header,
            (4, struct.pack("<I", 2)),
            (4, string("car")),
            (8, struct.pack("<d", 0.25)),
            (8, struct.pack("<43d", *range(43))),
            (4, string("truck")),
            (8, struct.pack("<d", 0.75)),
            (8, struct.pack("<43d", *range(43))),
            (8, struct.pack("<5d", 100, 50, theta, 40, 20)),
            (4, string("7")),
        ]
    )


def onvif(body: str, before: str = "") -> bytes:
    return (
        f'<?xml version="1.0"?>{before}<tt:MetadataStream '
        'xmlns:tt="http://www.onvif.org/ver10/schema"><tt:VideoAnalytics>'
        f"{body}</tt:VideoAnalytics></tt:MetadataStream>"
    ).encode()


def onvif_object(class_: str) -> str:
    box = '<tt:BoundingBox left="20.0" top="180.0" right="100.0" bottom="30.0"/>'
    return (
        '<tt:Object ObjectId="12"><tt:Appearance><tt:Shape>'
        f"{box}</tt:Shape>{class_}</tt:Appearance></tt:Object>"
    )


SCALE = (
    '<tt:Transformation><tt:Translate x="-1.0" y="-1.0"/>'
    '<tt:Scale x="0.003125" y="0.00416667"/></tt:Transformation>'
)
CSV = """x_min,y_min,x_max,y_max,class_id,confidence,tracker_id,class_name,frame
1,2,3,4,0,0.5,,car,0
5,6,7,8,1,0.75,3,bus,0
1,2,3,4,0,0.25,,car,2
"""


def read(schema: str, message: bytes) -> list[FeedFrame]:
    return schema_of_name(schema).read(message)


def fault(schema: str, message: bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(schema, message)
    return str(caught.value)


def test_nv_frame_is_read_from_its_bytes_and_other_fields_are_skipped() -> None:
    [frame] = read("nvidia-protobuf", NV_FRAME)
    assert (frame.sensor, frame.number, frame.time_s) == ("north", 12, 100.5)
    assert list(frame.objects) == [
        {"label": "Person", "box": [1, 2, 3.5, 4], "confidence": 0.5, "track": 9}
    ]
    assert frame.unsaid == {Unsaid.RESOLUTION}


def test_nv_frame_without_a_time_or_number_is_reported() -> None:
    [frame] = read("nvidia-protobuf", field(4, b"north"))
    assert frame.unsaid == {Unsaid.RESOLUTION, Unsaid.FRAME_TIME, Unsaid.FRAME_NUMBER}
    assert frame.objects == []


def test_bytes_that_are_not_an_nv_frame_are_a_fault() -> None:
    assert "nv.Frame" in fault("nvidia-protobuf", b"\xff\xff")
    assert "sensorId: found nothing" in fault("nvidia-protobuf", field(5, b""))


def test_cdr_of_ros_is_read_with_its_alignment() -> None:
    [frame] = read("vision-msgs", detection_array())
    assert (frame.sensor, frame.time_s) == ("left", 12.5)
    assert list(frame.objects) == [
        {"label": "truck", "box": [80, 40, 120, 60], "confidence": 0.75, "track": 7}
    ]


def test_a_rotated_ros_box_becomes_its_corners() -> None:
    quarter_turn = 1.5707963267948966
    [frame] = read("vision-msgs", detection_array(theta=quarter_turn))
    expected = [110, 30, 110, 70, 90, 70, 90, 30]
    assert frame.objects[0]["corners"] == pytest.approx(expected)


@pytest.mark.parametrize("length", range(0, len(detection_array()), 7))
def test_truncated_cdr_is_a_fault(length: int) -> None:
    assert "vision_msgs" in fault("vision-msgs", detection_array()[:length])


def test_a_count_beyond_the_message_is_refused_before_anything_is_allocated() -> None:
    assert "a sequence of 4294967295" in fault("vision-msgs", detection_array(2**32 - 1))


def test_bytes_after_the_message_are_a_fault() -> None:
    assert "more" in fault("vision-msgs", detection_array() + bytes(8))


def test_onvif_coordinates_are_transformed_to_fractions() -> None:
    """640 x 480: x = 20 is 20 / 640 of the width; y = 180 is 180 / 480 from below."""
    class_ = '<tt:Class><tt:Type Likelihood="0.8">Vehicle</tt:Type></tt:Class>'
    body = f'<tt:Frame UtcTime="2026-01-31T12:00:00.5Z" Source="cam">{SCALE}'
    [frame] = read("onvif", onvif(body + onvif_object(class_) + "</tt:Frame>"))
    assert (frame.sensor, frame.unit) == ("cam", Unit.FRACTION)
    [entry] = frame.objects
    box = [20 / 640, 1 - 180 / 480, 100 / 640, 1 - 30 / 480]
    assert entry["box"] == pytest.approx(box, abs=1e-6)
    assert (entry["label"], entry["confidence"], entry["track"]) == ("Vehicle", 0.8, 12)
    assert frame.unsaid == {Unsaid.FRAME_NUMBER, Unsaid.RESOLUTION}


def test_the_most_likely_candidate_of_older_onvif_is_the_class() -> None:
    candidates = "".join(
        f"<tt:ClassCandidate><tt:Type>{name}</tt:Type><tt:Likelihood>{share}</tt:Likelihood>"
        "</tt:ClassCandidate>"
        for name, share in (("Human", 0.2), ("Animal", 0.7))
    )
    body = onvif_object(f"<tt:Class>{candidates}</tt:Class>")
    time = 'UtcTime="2026-01-31T12:00:00Z"'
    [frame] = read("onvif", onvif(f"<tt:Frame {time}>{body}</tt:Frame>"))
    assert (frame.objects[0]["label"], frame.objects[0]["confidence"]) == ("Animal", 0.7)
    assert Unsaid.SENSOR in frame.unsaid


def test_a_frame_of_onvif_without_objects_is_an_empty_frame() -> None:
    [frame] = read("onvif", onvif('<tt:Frame UtcTime="2026-01-31T12:00:00Z"/>'))
    assert frame.objects == []


@pytest.mark.parametrize(
    ("message", "found"),
    [
        (onvif("", '<!DOCTYPE a [<!ENTITY b "c">]>'), "a document type"),
        (onvif("<tt:a>" * 40 + "</tt:a>" * 40), "elements within elements"),
        (onvif("<tt:Frame>"), "invalid XML"),
        (b"<?xml version='1.0' encoding='nonsense'?><a/>", "invalid XML (an unknown encoding)"),
        (b"<?xml version='1.0' encoding='utf-7'?><a/>", "invalid XML (an unknown encoding)"),
        (onvif("<tt:Frame/>"), "Frame[0].UtcTime"),
        (
            onvif(f"<tt:Frame>{onvif_object('').replace('20.0', 'far')}</tt:Frame>"),
            "line 1, left: found 'far', expected a number",
        ),
        (b"<a/>", "the element"),
        (b"", "invalid XML"),
    ],
)
def test_xml_is_not_trusted(message: bytes, found: str) -> None:
    assert found in fault("onvif", message)


def test_rows_of_supervision_become_frames_and_empty_ones_are_unknown() -> None:
    first, second = read("supervision-csv", CSV.encode())
    assert (first.number, second.number) == (0, 2)
    assert list(first.objects) == [
        {"label": "car", "box": [1, 2, 3, 4], "confidence": 0.5},
        {"label": "bus", "box": [5, 6, 7, 8], "confidence": 0.75, "track": 3},
    ]
    assert {Unsaid.EMPTY_FRAMES, Unsaid.SENSOR, Unsaid.FRAME_TIME} <= first.unsaid


def test_supervision_without_a_frame_number_is_refused_with_advice() -> None:
    text = fault("supervision-csv", CSV.replace(",frame\n", ",other\n").encode())
    assert "custom_data={'frame': number}" in text


@pytest.mark.parametrize("row", ["5,,7,8", "5, ,7,8"])
def test_an_empty_corner_of_supervision_is_not_zero(row: str) -> None:
    text = fault("supervision-csv", CSV.replace("5,6,7,8", row).encode())
    assert text.startswith("line 3, y_min: found ")
    assert text.endswith("expected a finite number")


def test_an_invalid_number_of_supervision_is_reported_with_its_line() -> None:
    text = fault("supervision-csv", CSV.replace("5,6,7,8", "5,six,7,8").encode())
    assert 'line 3, y_min: found "six", expected a finite number' in text
