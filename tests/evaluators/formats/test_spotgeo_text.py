"""The flat reading of spotGEO JSON: the same as the parser's, or none."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vidscore_evaluators.formats.spotgeo import KEYS, parse_usual_text

Entry = dict[str, Any]

numbers = st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6).filter(
    lambda number: number == 0 or abs(number) > 1e-5  # Smaller numbers have too many digits.
)
points = st.lists(st.tuples(numbers, numbers), max_size=3)
separators = st.sampled_from([(",", ":"), (", ", ": "), (",\n", ":"), (" ,\r\n\t", " : ")])


def entry(sequence: int, frame: int, coordinates: Any) -> Entry:
    values = (sequence, frame, len(coordinates), [list(point) for point in coordinates])
    return dict(zip(KEYS, values, strict=True))


entries = st.lists(
    st.builds(entry, st.integers(-99, 99), st.integers(0, 99), points), min_size=1, max_size=4
)


def rows_of(document: list[Entry]) -> list[Any]:
    """The expected result of a reading, by the standard library's parser."""
    return [
        [one["sequence_id"], one["frame"], [[float(x), float(y)] for x, y in one["object_coords"]]]
        for one in document
    ]


def read_rows(text: bytes) -> list[Any] | None:
    found = parse_usual_text(text)
    if found is None:
        return None
    rows, start = [], 0
    for sequence, frame, count in zip(
        found.sequence_ids.tolist(), found.frames.tolist(), found.counts.tolist(), strict=True
    ):
        rows.append([sequence, frame, found.coordinates[start : start + count].tolist()])
        start += count
    assert start == len(found.coordinates)
    return rows


@given(entries, separators)
def test_a_text_as_common_writers_write_it_is_read_to_the_last_bit(
    document: list[Entry], separators: tuple[str, str]
) -> None:
    text = json.dumps(document, separators=separators).encode()
    assert read_rows(text) == rows_of(document)


@given(entries, st.data())
def test_a_text_with_a_changed_byte_is_read_as_by_the_parser_or_not_at_all(
    document: list[Entry], data: st.DataObject
) -> None:
    text = bytearray(json.dumps(document, separators=(",", ":")).encode())
    for _ in range(data.draw(st.integers(1, 3), label="changes")):
        place = data.draw(st.integers(0, len(text) - 1), label="place")
        length = data.draw(st.integers(0, 2), label="bytes that go")
        new = data.draw(st.text('0159-+.eE,:[]{}"a \n', max_size=2), label="bytes that come")
        text[place : place + length] = new.encode()
    _hold_to_parser(bytes(text))


@pytest.mark.parametrize(
    "text",
    [
        '[{"sequence_id":1,"frame":,"num_objects":0,"object_coords":[0]}]',
        '[{"sequence_id":1,"frame":1,"num_objects":1,"object_coords":5[[1,2]]}]',
        '[{"sequence_id":1,"frame":1,"num_objects":1,"object_coords":[[1,2]5]}]',
        '[{"sequence_id":1,"frame":1,"num_objects":0,"object_coords":[5]}]',
        '[{"sequ3ence_id":1,"frame":1,"num_objects":0,"object_coords":[]}]',
        '[{5"sequence_id":,"frame":1,"num_objects":0,"object_coords":[]}]',
        '[{"sequence_id":1.0,"frame":1,"num_objects":0,"object_coords":[]}]',
        '[{"sequence_id":1,"frame":1,"num_objects":1,"object_coords":[[1,-]]}]',
        '[{"sequence_id":01,"frame":1,"num_objects":0,"object_coords":[]}]',
        '[{"sequence_id":1,"frame":1,"num_objects":2,"object_coords":[[1,2]]}]',
        '[{"frame":1,"sequence_id":1,"num_objects":0,"object_coords":[]}]',
        '[{"sequence_id":9007199254740993,"frame":1,"num_objects":0,"object_coords":[]}]',
        '[{"sequence_id":1,"frame":1,"num_objects":0,"object_coords":[]},]',
        '[{"sequence_id":1 2,"frame":1,"num_objects":0,"object_coords":[]}]',
        "[]",
        "",
        "17",
    ],
)
def test_a_text_of_another_kind_is_left_to_the_parser(text: str) -> None:
    assert parse_usual_text(text.encode()) is None


def _hold_to_parser(text: bytes) -> None:
    found = read_rows(text)
    if found is not None:
        document = orjson.loads(text)
        assert found == rows_of(document)
        assert all(tuple(one) == KEYS for one in document)
        for one in document:
            assert one["num_objects"] == len(one["object_coords"])
            assert {type(one[key]) for key in KEYS[:3]} == {int}
