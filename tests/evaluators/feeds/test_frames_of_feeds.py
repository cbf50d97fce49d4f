"""From bytes to messages, from sensors and times to frames, and the record of received frames."""

from __future__ import annotations

import json
import random

import pytest

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds import FeedFrame, Framing, Unit
from vidscore_evaluators.feeds.delivered import MAXIMUM_TEXT, DeliveredFrames
from vidscore_evaluators.feeds.frames import MAXIMUM_MESSAGE_BYTES
from vidscore_evaluators.feeds.framing import Cutter
from vidscore_evaluators.feeds.mapping import FrameMap

LINES = b"ab\ncd\n\ne"
LENGTHS = b"\0\0\0\2ab\0\0\0\0\0\0\0\1c"


@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("framing", "data", "expected"),
    [
        (Framing.LINES, LINES, [(b"ab", 3), (b"cd", 6), (b"", 7), (b"e", 8)]),
        (Framing.LENGTH, LENGTHS, [(b"ab", 6), (b"", 10), (b"c", 15)]),
        (Framing.DOCUMENT, LINES, [(LINES, 8)]),
    ],
)
def test_messages_and_their_ends_do_not_depend_on_the_blocks(
    framing: Framing, data: bytes, expected: list[tuple[bytes, int]], size: int
) -> None:
    cutter = Cutter(framing)
    cuts = [cut for at in range(0, len(data), size) for cut in cutter.feed(data[at : at + size])]
    assert [*cuts, *cutter.finish()] == expected


@pytest.mark.parametrize(
    ("framing", "data"),
    [
        (Framing.LENGTH, b"\xff\xff\xff\xff"),
        (Framing.LINES, b"a" * (MAXIMUM_MESSAGE_BYTES + 1)),
    ],
)
def test_a_message_that_is_too_long_is_refused_before_it_is_complete(
    framing: Framing, data: bytes
) -> None:
    with pytest.raises(InputError, match="at most 1048576"):
        list(Cutter(framing).feed(data))


def test_a_truncated_message_is_refused() -> None:
    cutter = Cutter(Framing.LENGTH)
    assert list(cutter.feed(b"\0\0\0\2a")) == []
    with pytest.raises(InputError, match="a whole message"):
        list(cutter.finish())


# --- maps ------------------------------------------------------------------------------------

BOX = {"box": [0.25, 0.5, 0.75, 1.0]}


def test_a_frame_is_named_by_the_map_and_its_time() -> None:
    """12.04 s at 25 frames per second; the first frame is at 10 s and has the number 1."""
    naming = FrameMap({"cam": "street"}, rate_hz=25.0, start_s=10.0, first_frame=1)
    line = naming.line(FeedFrame("cam", None, 12.04, []), "topic")
    assert line == {"sequence": "street", "frame": 52, "time_s": 12.04, "objects": []}


@pytest.mark.parametrize(
    ("table", "sensor", "expected"),
    [
        ({}, "cam", "cam"),
        ({}, None, "topic"),
        ({"topic": "t", "*": "any"}, "cam", "t"),
        ({"cam": "c", "topic": "t"}, "cam", "c"),
        ({"*": "any"}, None, "any"),
    ],
)
def test_a_sequence_is_that_of_the_sensor_or_of_the_topic(
    table: dict[str, str], sensor: str | None, expected: str
) -> None:
    line = FrameMap(table).line(FeedFrame(sensor, 3, None, []), "topic")
    assert (line["sequence"], line["frame"]) == (expected, 3)


def test_fractions_become_pixels_of_the_truths_images() -> None:
    frame = FeedFrame("cam", 0, None, [BOX], unit=Unit.FRACTION, size_px=(10, 10))
    line = FrameMap(size_px=(640, 480)).line(frame, "")
    assert line["objects"] == [{"box": [160, 240, 480, 480]}]


def test_everything_that_neither_the_feed_nor_the_map_gives_is_reported() -> None:
    frame = FeedFrame("cam", None, None, [BOX], unit=Unit.FRACTION)
    with pytest.raises(InputError) as caught:
        FrameMap({"other": "street"}).line(frame, "")
    assert [fault.field for fault in caught.value.faults] == ["sequence", "frame", "objects"]


def test_a_time_before_the_first_frame_is_refused() -> None:
    with pytest.raises(InputError, match="found frame -5, expected 0 or more"):
        FrameMap(rate_hz=10.0, start_s=1.0).line(FeedFrame("cam", None, 0.5, []), "")


@pytest.mark.parametrize("time_s", [1e308, -1e308, 1e300])
def test_a_time_after_all_frames_is_refused(time_s: float) -> None:
    with pytest.raises(InputError, match="frames of start_s"):
        FrameMap(rate_hz=10.0, start_s=1.0).line(FeedFrame("cam", None, time_s, []), "")


# --- received frames ------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1, 3, 30])
def test_frames_in_even_steps_are_one_run(step: int) -> None:
    taken = DeliveredFrames()
    assert all(taken.add("", "a", number) for number in range(0, 300, step))
    assert len(taken.runs) == 1
    again = DeliveredFrames(json.loads(json.dumps(taken.runs)))
    known = [number for number in range(300) if not again.add("", "a", number)]
    assert set(range(0, 300, step)) <= set(known)
    assert step == 1 or len(known) < 300


def test_frames_of_different_sequences_are_different() -> None:
    taken = DeliveredFrames()
    assert taken.add("", "a", 1)
    assert taken.add("", "b", 1)
    assert taken.add("x", "a", 1)
    assert not taken.add("", "a", 1)


def test_the_record_is_bounded_and_the_oldest_frames_are_dropped() -> None:
    taken = DeliveredFrames()
    numbers = [number * number for number in range(2000)]
    assert all(taken.add("", "a" * 100, number) for number in numbers)
    assert len(json.dumps(taken.runs)) <= MAXIMUM_TEXT
    assert not taken.add("", "a" * 100, numbers[-1])


def disordered(count: int, distance: int, seed: int) -> list[int]:
    """Numbers at most a given distance from their place."""
    chance = random.Random(seed)
    return sorted(range(count), key=lambda number: number + chance.uniform(0, distance))


@pytest.mark.parametrize("step", [1, 2, 30])
@pytest.mark.parametrize(
    "order",
    [
        [number ^ 1 for number in range(2000)],
        [number ^ 7 for number in range(2000)],
        disordered(2000, 5, 1),
        disordered(2000, 40, 2),
        [*range(0, 2000, 2), *range(1, 2000, 2)],
        list(range(2000))[::-1],
    ],
    ids=["pairs", "eights", "near", "far", "interleaved", "backwards"],
)
def test_frames_in_any_order_are_all_remembered(order: list[int], step: int) -> None:
    taken = DeliveredFrames()
    assert all(taken.add("", "a", number * step) for number in order)
    assert not any(taken.add("", "a", number * step) for number in order)
    again = DeliveredFrames(json.loads(json.dumps(taken.runs)))
    assert not any(again.add("", "a", number * step) for number in order)
    assert len(taken.runs) < 100


def test_frames_of_many_cameras_in_pairs_are_remembered() -> None:
    taken = DeliveredFrames()
    frames = [(str(camera), number ^ 1) for number in range(1000) for camera in range(30)]
    assert all(taken.add("", *frame) for frame in frames)
    assert not any(taken.add("", *frame) for frame in frames)


@pytest.mark.parametrize("seed", range(20))
def test_no_frame_is_remembered_that_was_not_received(seed: int) -> None:
    chance = random.Random(seed)
    taken = DeliveredFrames()
    known: set[tuple[str, int]] = set()
    for _ in range(2000):
        frame = (chance.choice("ab"), int(chance.triangular(0, 300, 0)))
        assert taken.add("", *frame) == (frame not in known)
        known.add(frame)
