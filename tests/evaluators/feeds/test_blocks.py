"""Many messages at once give the same as one by one."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from vidscore_evaluators.annotations import BOX, concatenate
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.feeds import Unsaid, schema_of_name
from vidscore_evaluators.feeds.blocks import FeedBlock, read_block
from vidscore_evaluators.feeds.delivered import DeliveredFrames
from vidscore_evaluators.feeds.frames import MAXIMUM_MESSAGE_BYTES
from vidscore_evaluators.feeds.mapping import FrameMap
from vidscore_evaluators.formats._line_columns import documents_of_lines

JSONL = schema_of_name("jsonl")
ONE_BY_ONE = replace(JSONL, read_many=None)
CAR = {"label": "car", "box": [1, 2.5, 3, 4], "confidence": 0.5, "track": 3}


def line(number: int, *objects: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"sequence": f"cam{number % 2}", "frame": number, "objects": list(objects), **more}


LINES = [
    line(0, CAR, {"box": [0, 0, 1, 1]}, time_s=10.0),
    line(1, time_s=10.04),
    line(2, {"box": [4, 3, 2, 1], "numbers": {"area": 2}}, time_s=10.08, domain="d"),
    line(3, CAR | {"track": None, "flags": ["ignore"]}, time_s=10.12, flags=["dont_care_frame"]),
    line(4, CAR, time_s=10.16, sequence=5.0, arrival_s=11.0),
]


def block(schema: Any, naming: FrameMap, lines: list[Any], topics: list[str]) -> FeedBlock:
    texts = [json.dumps(one).encode() + b"\n" for one in lines]
    return read_block(schema, naming, list(zip(texts, topics, strict=True)), BOX)


@pytest.mark.parametrize(
    "naming",
    [
        FrameMap(),
        FrameMap({"cam0": "a", "*": "b"}),
        FrameMap({"north": "a", "south": "b"}, first_frame=7),
        FrameMap({"*": "b"}, rate_hz=25.0, start_s=9.5),
    ],
)
def test_a_block_has_the_frames_of_its_messages_one_by_one(naming: FrameMap) -> None:
    topics = ["north", "south", "north", "south", "north"]
    whole = block(JSONL, naming, LINES, topics)
    single = [
        block(ONE_BY_ONE, naming, [one], [topic]) for one, topic in zip(LINES, topics, strict=True)
    ]
    others = concatenate([one.frames for one in single])
    keys = [
        [one.sequences[row] for row in one.frame_sequences.tolist()]
        for one in (whole.frames, others)
    ]
    assert keys[0] == keys[1]
    labels = [
        [one.labels[row] for row in one.label_indices.tolist()] for one in (whole.frames, others)
    ]
    assert labels[0] == labels[1]
    for name in ("frame_numbers", "frame_flags", "frame_starts", "coordinates", "confidences",
                 "track_ids", "flags", "frame_times_s"):  # fmt: skip
        own, other = getattr(whole.frames, name), getattr(others, name)
        np.testing.assert_array_equal(own, other, err_msg=name)
    np.testing.assert_array_equal(whole.frames.columns["area"], others.columns["area"])
    assert np.isnan(whole.frames.confidences).tolist() == [False, True, True, False, False]
    assert whole.messages.tolist() == [0, 1, 2, 3, 4]
    assert whole.unsaid == frozenset().union(*(one.unsaid for one in single))


@pytest.mark.parametrize(
    ("lines", "unsaid"),
    [
        ([line(0, CAR, time_s=1.0), line(1, time_s=2.0)], set()),
        ([line(0, CAR, time_s=1.0), line(1)], {Unsaid.FRAME_TIME}),
        ([line(0, CAR), line(1)], {Unsaid.FRAME_TIME}),
    ],
)
def test_a_block_leaves_unsaid_what_one_of_its_messages_does(
    lines: list[Any], unsaid: set[Unsaid]
) -> None:
    found = block(JSONL, FrameMap(), lines, ["", ""])
    assert found.unsaid == {Unsaid.RESOLUTION, *unsaid}


def test_a_message_of_a_block_that_is_too_long_is_refused() -> None:
    text = json.dumps(LINES[0]).encode()
    longest = text + b" " * (MAXIMUM_MESSAGE_BYTES - len(text))
    read_block(JSONL, FrameMap(), [(longest, "")], BOX)
    with pytest.raises(InputError, match=f"expected at most {MAXIMUM_MESSAGE_BYTES}"):
        read_block(JSONL, FrameMap(), [(longest + b" ", "")], BOX)


@pytest.mark.parametrize(
    ("broken", "found"),
    [
        (line(-1), "found -1, expected an integer from 0"),
        (line(1, {"point": [1, 2]}), "found a point, expected a box"),
        (line(1, sequence="south"), "found the sensor 'south'"),
        (line(1, time_s=8.0), "found frame -38, expected 0 or more"),
    ],
)
def test_a_block_with_an_invalid_message_is_refused(broken: dict[str, Any], found: str) -> None:
    naming = FrameMap({"cam0": "a", "cam1": "b"}, rate_hz=25.0 if "time_s" in broken else None,
                      start_s=9.5)  # fmt: skip
    with pytest.raises(InputError, match=found):
        block(JSONL, naming, [LINES[0], broken], ["", ""])


@pytest.mark.parametrize(
    "lines",
    [
        [b'{"a": 1},true,{"a": 2}', b'{"objects": [{}', b"{}]}"],
        [b'{"a": 1},true,\t{"a": 2}', b'{"a": 3, "b": [1', b'2], "b": []}'],
        [b'{"a": 1}, {"a": 2}', b'{"a": "x', b'y"}'],
        [b'{"a": 1}', b"  "],
        [b'{"a": 1}', b"{"],
    ],
)
def test_lines_that_are_not_documents_alone_are_none_together(lines: list[bytes]) -> None:
    with pytest.raises(ValueError, match=r"^$"):
        documents_of_lines(lines)


def test_lines_are_parsed_together_as_one_by_one() -> None:
    texts = [json.dumps(one).encode() for one in LINES]
    assert documents_of_lines(texts) == LINES
    assert documents_of_lines([texts[0] + b"\r", b" " + texts[1]]) == LINES[:2]


def test_a_message_of_one_document_over_two_lines_stays_a_fault() -> None:
    text = json.dumps(LINES[1], indent=1).encode()
    with pytest.raises(InputError, match="invalid JSON"):
        read_block(JSONL, FrameMap(), [(text, ""), (text, "")], BOX)


@pytest.mark.parametrize("seed", range(20))
def test_frames_added_together_equal_those_added_one_by_one(seed: int) -> None:
    chance = random.Random(seed)
    single, together = DeliveredFrames(), DeliveredFrames()
    for _ in range(40):
        first, step = chance.randrange(60), chance.choice([1, 1, 2, 3])
        numbers = [first + step * row for row in range(chance.randint(1, 8))]
        if chance.random() < 0.2:
            chance.shuffle(numbers)
        name = chance.choice("ab")
        expected = [single.add("", name, number) for number in numbers]
        assert together.add_all("", name, numbers) == expected
        assert together.runs == single.runs
