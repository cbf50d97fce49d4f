"""One source of a bridge: what is stored with frames, and where it continues after a kill."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, cast

import pytest
from tests.clients.cli.bridge.test_bridge import deepstream

from vidscore_cli.bridge.source_run import BATCH_FRAMES, WATCHED_FRAMES, SourceRun
from vidscore_cli.bridge.sources import Message
from vidscore_client import Frames
from vidscore_evaluators.annotations import BOX
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds import FeedFrame, Schema, schema_of_name
from vidscore_evaluators.feeds.mapping import FrameMap


@dataclass
class Canned:
    """A source of given messages, which records its acknowledgements."""

    offset_type: ClassVar[type] = int
    messages: list[Message]
    gap: int = 0
    opened: list[int | None] = field(default_factory=list)
    durable: list[Message] = field(default_factory=list)

    def open(self, offset: int | None) -> None:
        self.opened.append(offset)

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        del timeout_s
        given, self.messages = self.messages, []
        return given or None

    def acknowledge(self, messages: Sequence[Message]) -> None:
        self.durable.extend(messages)

    def close(self) -> None:
        pass


@dataclass
class Stored:
    """A stream that stores every batch when it is sent."""

    next_offset: int = 0
    source_position: str = ""
    batches: list[tuple[list[int], dict[str, Any]]] = field(default_factory=list)

    def send_batch(self, frames: Frames, *, source_position: str) -> None:
        self.batches.append((frames.frame_numbers.tolist(), json.loads(source_position)))

    def flush(self) -> None:
        pass


def message(number: int, offset: int | None = None) -> Message:
    return Message(json.dumps(deepstream(number)).encode(), "", offset, number)


def ran(source: Canned, stream: Stored, schema: Schema | None = None) -> SourceRun:
    read = schema or schema_of_name("nvidia-json")
    run = SourceRun("north", source, read, FrameMap({"*": "street"}), (), False, BOX)
    assert run.run(cast(Any, stream), lambda: False)
    return run


def test_the_position_of_a_batch_is_that_of_its_own_last_message() -> None:
    """Frames that were read but not sent are not included: a broker's repeats would be lost."""
    stream = Stored()
    ran(Canned([message(number) for number in range(2 * BATCH_FRAMES + 44)]), stream)
    assert [len(numbers) for numbers, _ in stream.batches] == [BATCH_FRAMES, BATCH_FRAMES, 44]
    for numbers, position in stream.batches:
        assert position["frames"] == [["", "street", 0, numbers[-1], 1]]
        assert position["count"] == numbers[-1] + 1


def test_a_source_with_offsets_continues_after_the_last_one() -> None:
    stream = Stored(2, json.dumps({"offset": 80, "count": 2, "frames": []}))
    source = Canned([message(2, 120)])
    ran(source, stream)
    assert source.opened == [80]
    runs = [["", "street", 2, 2, 1]]
    assert stream.batches == [([2], {"offset": 120, "count": 3, "frames": runs})]


@pytest.mark.parametrize(
    "position",
    [
        pytest.param("frame 7", id="a program of one's own"),
        pytest.param('{"offset": 80}', id="half of a position"),
        pytest.param('{"offset": {"0": 5}, "count": 2, "frames": []}', id="partitions"),
    ],
)
def test_a_stream_written_by_another_kind_of_source_is_refused(position: str) -> None:
    source = Canned([message(2, 120)])
    expected = "expected frames that a bridge has read from such a source"
    with pytest.raises(InputError, match=expected):
        ran(source, Stored(2, position))
    assert source.opened == []


def test_repeated_frames_are_acknowledged_as_durable_and_not_sent() -> None:
    runs = [["", "street", 0, 3, 1]]
    stream = Stored(4, json.dumps({"offset": None, "count": 4, "frames": runs}))
    source = Canned([message(2), message(3)])
    run = ran(source, stream)
    assert stream.batches == []
    assert run.repeated == 2
    assert [found.token for found in source.durable] == [2, 3]


def test_messages_are_acknowledged_only_when_the_batch_of_their_frames_is_durable() -> None:
    source = Canned([message(number) for number in range(3)])
    run = ran(source, Stored())
    assert source.durable == []
    run.on_acknowledged(2)
    assert source.durable == []
    run.on_acknowledged(3)
    assert [found.token for found in source.durable] == [0, 1, 2]


def test_the_rest_of_a_large_message_follows_its_stored_part() -> None:
    """150 of the 200 frames of one message were durable when the bridge was killed."""
    frames = [FeedFrame("cam", number, None, []) for number in range(200)]
    schema = Schema("all", "200 frames", lambda _data: frames)
    stream = Stored(150)
    ran(Canned([Message(b"", "", 7)]), stream, schema)
    [(numbers, position)] = stream.batches
    assert numbers == list(range(150, 200))
    runs = [["", "street", 0, 199, 1]]
    assert position == {"offset": 7, "count": 200, "frames": runs}


def test_a_frame_written_twice_is_recognised_after_a_restart_too() -> None:
    """A program may write a frame again after the offset at which the source continues."""
    runs = [["", "street", 0, 3, 1]]
    stream = Stored(4, json.dumps({"offset": 80, "count": 4, "frames": runs}))
    run = ran(Canned([message(3, 100), message(4, 120)]), stream)
    assert run.repeated == 1
    position = {"offset": 120, "count": 5, "frames": [["", "street", 0, 4, 1]]}
    assert stream.batches == [([4], position)]


def test_repeats_in_an_unordered_feed_count_once_after_thousands_of_frames() -> None:
    schema = Schema("one", "a number", lambda data: [FeedFrame("cam", int(data), None, [])])
    order = [number ^ 1 for number in range(2000)]
    stream = Stored()
    run = ran(Canned([Message(b"%d" % number) for number in [*order, *order[:50]]]), stream, schema)
    assert run.repeated == 50
    assert sorted(chain.from_iterable(numbers for numbers, _ in stream.batches)) == [*range(2000)]
    assert all(len(json.dumps(position)) < 16_384 for _, position in stream.batches)


def broken(place: str) -> Message:
    return Message(b"oops", "", None, "broken", place)


def test_an_unreadable_message_is_skipped_and_its_neighbours_are_sent() -> None:
    source = Canned([message(0), message(1), broken("here"), message(2)])
    stream = Stored()
    schema = schema_of_name("nvidia-json")
    run = SourceRun("north", source, schema, FrameMap({"*": "street"}), (), True, BOX)
    assert run.run(cast(Any, stream), lambda: False)
    assert [numbers for numbers, _ in stream.batches] == [[0, 1, 2]]
    assert run.skipped == 1
    run.on_acknowledged(3)
    assert [found.token for found in source.durable] == [0, 1, "broken", 2]


def test_messages_before_an_unreadable_one_are_sent_and_it_is_named() -> None:
    stream = Stored()
    with pytest.raises(InputError, match=r"north, here, line 1, .*found invalid JSON"):
        ran(Canned([message(0), message(1), broken("here"), message(2)]), stream)
    assert [numbers for numbers, _ in stream.batches] == [[0, 1]]


def fault_of(place: str) -> Message:
    fault = InputError([Fault("an end after 7 bytes", "a whole message")])
    return Message(b"", "", None, "fault", place, fault)


def test_a_fault_of_a_connection_is_reported_and_counted_and_others_continue(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = Canned([message(0), fault_of("127.0.0.1:7"), message(1), fault_of("127.0.0.1:8")])
    stream = Stored()
    schema = schema_of_name("nvidia-json")
    run = SourceRun("north", source, schema, FrameMap({"*": "street"}), (), True, BOX)
    assert run.run(cast(Any, stream), lambda: False)
    assert [numbers for numbers, _ in stream.batches] == [[0, 1]]
    assert run.skipped == 2
    said = "Warning: north, 127.0.0.1:7: found an end after 7 bytes, expected a whole message; "
    assert f"{said}the rest of this stream is left out\n" in capsys.readouterr().err


def test_a_fault_of_a_connection_ends_a_strict_run_after_sending_earlier_messages() -> None:
    stream = Stored()
    with pytest.raises(InputError, match="north, here: found an end after 7 bytes"):
        ran(Canned([message(0), message(1), fault_of("here")]), stream)
    assert [numbers for numbers, _ in stream.batches] == [[0, 1]]


@dataclass
class Ending(Canned):
    """A source that fails after its messages."""

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        if not self.messages:
            raise InputError([Fault("damage", "none", source="spool")])
        return super().read(timeout_s)


def test_messages_before_the_failure_of_a_source_are_sent() -> None:
    stream = Stored()
    with pytest.raises(InputError, match="spool: found damage"):
        ran(Ending([message(0), message(1)]), stream)
    assert [numbers for numbers, _ in stream.batches] == [[0, 1]]


@dataclass
class Busy(Canned):
    """A source that returns one message at a time without a pause until enough are acknowledged."""

    enough: int = 3

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        del timeout_s
        return None if len(self.durable) >= self.enough else [message(2)]


def test_repeats_without_a_pause_are_acknowledged_as_durable_too() -> None:
    runs = [["", "street", 0, 3, 1]]
    stream = Stored(4, json.dumps({"offset": None, "count": 4, "frames": runs}))
    run = ran(Busy([]), stream)
    assert stream.batches == []
    assert run.repeated == WATCHED_FRAMES
