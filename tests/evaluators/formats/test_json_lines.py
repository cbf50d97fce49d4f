"""JSON lines: reader and schema accept and refuse the same, in blocks of any size."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluators.formats.helpers import (
    column,
    detections_of,
    frames_of,
    objects_of,
    truth_of,
    validate_file,
    write,
)
from tests.evaluators.formats.json_schema import is_valid

from vidscore_evaluators.annotations import FrameFlag, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import detect_format, read_pair, read_source
from vidscore_evaluators.formats._line_columns import SeenFrames
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.json_lines import (
    BLOCK_LINES,
    MAXIMUM_LINE_BYTES,
    LineReader,
    schema_text,
)
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.scoring import score
from vidscore_evaluators.testing import Case, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

SCHEMA = json.loads(schema_text())
BOX = [10, 20.5, 30, 40]
MASK: dict[str, Any] = {"size": [2, 3], "counts": [1, 2, 3]}
"""Pixels (row 1, column 0) and (0, 1)."""
EVERYTHING: dict[str, Any] = {
    "domain": "Tower",
    "sequence": "a",
    "frame": 12,
    "time_s": 1732270000.5,
    "arrival_s": 1732270000.75,
    "flags": ["dont_care_frame"],
    "objects": [
        {
            "label": "car",
            "box": BOX,
            "confidence": 0.9,
            "track": 3,
            "flags": ["crowd", "ignore"],
            "numbers": {"area": 12.5, "depth": None},
        },
        {"box": [1, 2, 3, 4]},
    ],
}


def line(**changes: Any) -> dict[str, Any]:
    return {"sequence": "a", "frame": 0, "objects": [], **changes}


def with_object(**entry: Any) -> dict[str, Any]:
    return line(objects=[entry])


def lines_of(*frames: Any) -> str:
    return "".join(json.dumps(frame) + "\n" for frame in frames)


GOOD: list[Any] = [
    EVERYTHING,
    line(),
    line(domain=""),
    line(sequence=7),
    line(sequence="Ünï cödé"),
    line(frame=4.0),
    line(frame=2**53 - 1),
    line(time_s=None, arrival_s=None),
    line(time_s=0),
    line(time_s=1e11),
    line(flags=[]),
    line(objects=[{"point": [1, 2]}] * 10_000),
    with_object(point=[1, 2]),
    with_object(corners=[1, 2, 3, 4, 5, 6, 7, 8]),
    with_object(corners=[[1, 2], [3, 4], [5, 6], [7, 8]]),
    with_object(box=[-1e9, 0, 1e9, 1]),
    with_object(box=BOX, label=""),
    with_object(box=BOX, label=3),
    with_object(box=BOX, label=3.0),
    with_object(box=BOX, confidence=-7.5),
    with_object(box=BOX, track=None),
    with_object(box=BOX, track=-1),
    with_object(box=BOX, track=2**63 - 1),
    with_object(box=BOX, track=2.0**53),
    with_object(box=BOX, flags=["region", "distractor"]),
    with_object(box=BOX, numbers={}),
    with_object(box=BOX, numbers={f"{index}".rjust(64, "_"): 1 for index in range(64)}),
    with_object(mask=MASK),
    with_object(mask=MASK, box=BOX),
    with_object(mask={"size": [2, 3], "counts": "06"}),
    with_object(mask={"size": [2, 3], "counts": [0, 2, 0, 4]}),
]
BAD: list[Any] = [
    [],
    None,
    "a",
    {},
    {"sequence": "a", "frame": 0},
    {"frame": 0, "objects": []},
    line(more=1),
    line(Sequence="a"),
    line(sequence=""),
    line(sequence=None),
    line(sequence=1.5),
    line(sequence="a\nb"),
    line(sequence="a" * 256),
    line(domain=["a"]),
    line(frame=-1),
    line(frame=2**53),
    line(frame=1.5),
    line(frame="1"),
    line(frame=True),
    line(frame=None),
    line(time_s=-1),
    line(time_s=1e12),
    line(time_s="noon"),
    line(time_s=True),
    line(arrival_s=-0.5),
    line(flags="dont_care_frame"),
    line(flags=["crowd"]),
    line(flags=None),
    line(objects=None),
    line(objects={}),
    line(objects=[[]]),
    line(objects=[{"point": [1, 2]}] * 10_001),
    with_object(),
    with_object(label="car"),
    with_object(box=BOX, point=[1, 2]),
    with_object(box=BOX, score=0.5),
    with_object(box=[1, 2, 3]),
    with_object(box=[1, 2, 3, None]),
    with_object(box=[1, 2, 3, "4"]),
    with_object(box=[1, 2, 3, True]),
    with_object(box=[1, 2, 3, 1.5e9]),
    with_object(box=[[1, 2], [3, 4]]),
    with_object(box="1,2,3,4"),
    with_object(corners=[1, 2, 3, 4]),
    with_object(corners=[[1, 2], [3, 4], [5, 6], 7]),
    with_object(box=BOX, label=None),
    with_object(box=BOX, label=["car"]),
    with_object(box=BOX, confidence=None),
    with_object(box=BOX, confidence="high"),
    with_object(box=BOX, confidence=True),
    with_object(box=BOX, track=-2),
    with_object(box=BOX, track=1.5),
    with_object(box=BOX, track="3"),
    with_object(box=BOX, track=2**64),
    with_object(box=BOX, flags=["dont_care_frame"]),
    with_object(box=BOX, flags=[[]]),
    with_object(box=BOX, numbers=[1]),
    with_object(box=BOX, numbers={"a b": 1}),
    with_object(box=BOX, numbers={"1st": 1}),
    with_object(box=BOX, numbers={"n" * 65: 1}),
    with_object(box=BOX, numbers={"area": "large"}),
    with_object(box=BOX, numbers={f"n{index}": 1 for index in range(65)}),
    with_object(mask=MASK, point=[1, 2]),
    with_object(mask=MASK, corners=[1, 2, 3, 4, 5, 6, 7, 8]),
    with_object(box=BOX, mask=None),
    with_object(mask="06"),
    with_object(mask={}),
    with_object(mask={"size": [2, 3]}),
    with_object(mask={**MASK, "more": 1}),
    with_object(mask={"size": [2], "counts": [6]}),
    with_object(mask={"size": [0, 3], "counts": [0]}),
    with_object(mask={"size": [2, 3.5], "counts": [6]}),
    with_object(mask={"size": [2, 2**40], "counts": [6]}),
    with_object(mask={"size": [2, 3], "counts": [6.5]}),
    with_object(mask={"size": [2, 3], "counts": [-1, 7]}),
    with_object(mask={"size": [2, 3], "counts": []}),
    with_object(mask={"size": [2, 3], "counts": ""}),
    with_object(mask={"size": [2, 3], "counts": "0 6"}),
    with_object(mask={"size": [2, 3], "counts": None}),
]


# --- reading ---------------------------------------------------------------------------------


def test_every_field_of_a_line_is_read_and_written(tmp_path: Path) -> None:
    """The output always has a confidence, and leaves out unknown numbers."""
    source = detections_of(write(tmp_path / "a.jsonl", lines_of(EVERYTHING)))
    side = source.annotations
    assert side.sequences == (("Tower", "a"),)
    assert (side.frame_numbers.tolist(), side.frame_flags.tolist()) == ([12], [FrameFlag.DONT_CARE])
    assert side.frame_times_s is not None
    assert side.frame_arrivals_s is not None
    assert side.frame_times_s.tolist() == [1732270000.5]
    assert side.frame_arrivals_s.tolist() == [1732270000.75]
    both = ObjectFlag.CROWD | ObjectFlag.IGNORE
    assert objects_of(side) == [
        ("a", 12, "car", (10, 20.5, 30, 40), 0.9, 3, both),
        ("a", 12, "", (1, 2, 3, 4), 1.0, -1, 0),
    ]
    assert column(side, "area") == [12.5, None]
    assert column(side, "depth") == [None, None]
    first, second = EVERYTHING["objects"]
    first = {**first, "flags": ["ignore", "crowd"], "numbers": {"area": 12.5}}
    written = json.loads(convert(source, "jsonl", Side.DETECTIONS).files[""])
    assert written == {**EVERYTHING, "objects": [first, {**second, "confidence": 1}]}


@pytest.mark.parametrize("frame", GOOD, ids=lambda frame: json.dumps(frame)[:80])
def test_lines_that_the_schema_allows_are_read(tmp_path: Path, frame: Any) -> None:
    """Alone, and beside a line with a fault, which makes each line be checked by itself."""
    assert is_valid(frame, SCHEMA, SCHEMA)
    assert validate_file(write(tmp_path / "a", lines_of(frame)), format_name="jsonl") == []
    text = lines_of(frame, frame | {"domain": "d"}, [])
    faults = validate_file(write(tmp_path / "b", text), format_name="jsonl")
    assert [fault.line for fault in faults] == [3]


@pytest.mark.parametrize("frame", BAD, ids=lambda frame: json.dumps(frame)[:60])
def test_lines_that_the_schema_refuses_are_refused_with_their_line(
    tmp_path: Path, frame: Any
) -> None:
    assert not is_valid(frame, SCHEMA, SCHEMA)
    text = lines_of(line(frame=1), frame, line(frame=2))
    faults = validate_file(write(tmp_path / "a", text), format_name="jsonl")
    assert {fault.line for fault in faults} == {2}


def test_frames_may_be_in_any_order_and_sequences_may_interleave(tmp_path: Path) -> None:
    text = lines_of(
        line(sequence="b", frame=1), line(frame=2), line(sequence="b", frame=0), line(frame=1)
    )
    source = truth_of(write(tmp_path / "a", text))
    assert frames_of(source.annotations) == [("a", 1), ("a", 2), ("b", 0), ("b", 1)]
    places = [source.place_of(key, number) for key, number in [(("", "a"), 1), (("", "b"), 1)]]  # type: ignore[arg-type]
    assert places == [f"{tmp_path / 'a'}, line 4", f"{tmp_path / 'a'}, line 1"]


def test_empty_lines_are_skipped_and_count_as_lines(tmp_path: Path) -> None:
    text = "\ufeff" + lines_of(line()) + "\r\n \n" + lines_of(line(frame="x"))
    [fault] = validate_file(write(tmp_path / "a", text))
    assert str(fault) == (
        f'{tmp_path / "a"}, line 4, frame: found "x", expected an integer from 0 to '
        "9007199254740991"
    )


def test_all_faults_of_all_lines_are_listed_with_their_fields(tmp_path: Path) -> None:
    text = (
        lines_of(with_object(box=[1, 2, 3], confidense=1))
        + "{oops\n"
        + lines_of(line(frame=1), line(frame=1), with_object(point=[1, 2]))
        + lines_of(with_object(box=BOX) | {"frame": 9, "sequence": None})
    )
    faults = validate_file(write(tmp_path / "a", text), format_name="jsonl")
    assert [(fault.line, fault.field) for fault in faults] == [
        (1, "objects[0]"),
        (1, "objects[0].box"),
        (2, None),
        (4, "frame"),
        (6, "sequence"),
        (6, "objects[0]"),
    ]
    assert faults[0].advice == "did you mean confidence?"
    assert faults[3].found == "frame 1 of sequence a again"
    assert faults[5].description == "found a box, expected a point, as all objects are"


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (with_object(label="car"), "found no coordinates, expected one of point, box, corners,"),
        (with_object(box=BOX, point=[1, 2]), "found point and box, expected one of point, box,"),
        (line(sequence=""), 'found "", expected the name of a sequence'),
        (line(sequence="a\nb"), 'found "a\\nb", expected a string of at most 255 bytes'),
        (line(objects=[{"point": [1, 2]}, {"mask": MASK}]), "found a box, expected a point, as"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, frame: Any, problem: str) -> None:
    [fault] = validate_file(write(tmp_path / "a", lines_of(frame)), format_name="jsonl")
    assert fault.description.startswith(problem)


@pytest.mark.parametrize(
    ("key", "meant"),
    [("score", "confidence"), ("bbox", "box"), ("class", "label"), ("id", "track")],
)
def test_keys_of_other_tools_get_ours_as_a_suggestion(tmp_path: Path, key: str, meant: str) -> None:
    entry = {"box": BOX, key: 1} if key != "bbox" else {key: BOX}
    faults = validate_file(write(tmp_path / "a", lines_of(with_object(**entry))))
    assert faults[0].advice == f"did you mean {meant}?"


def test_invalid_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    text = (
        lines_of(line(), line(frame=-1, flags=3), line()) + "nonsense\n" + lines_of(line(frame=5))
    )
    source = detections_of(write(tmp_path / "a", text), on_error="skip")
    assert frames_of(source.annotations) == [("a", 0), ("a", 5)]
    assert [(one.code, one.count) for one in source.warnings] == [("skipped_rows", 3)]


def test_the_length_of_a_line_is_bounded(tmp_path: Path) -> None:
    room = MAXIMUM_LINE_BYTES - len(json.dumps(line()))
    longest = json.dumps(line()) + " " * room
    path = write(tmp_path / "a", f"{longest}\n{longest} \n{json.dumps(line(frame=1))}")
    [fault] = validate_file(path)
    assert (fault.line, fault.description) == (
        2,
        f"found a longer line, expected at most {MAXIMUM_LINE_BYTES} bytes",
    )


@pytest.mark.parametrize("filler", [b"x", b" "])
def test_an_endless_line_is_refused_once_as_soon_as_it_is_too_long(filler: bytes) -> None:
    reader = LineReader()
    block = filler * (1 << 18)
    told = [[fault.line for fault in reader.feed(block).faults] for _ in range(8)]
    assert told == [[], [], [], [], [1], [], [], []]
    assert reader._tail == b""
    found = reader.feed(filler + b"\n" + lines_of(line()).encode())
    assert (found.frames.frame_count, found.lines.tolist(), found.faults) == (1, [2], [])
    assert reader.finish().faults == []


def test_a_byte_order_mark_does_not_count_towards_the_length() -> None:
    text = json.dumps(line()).encode()
    whole = codecs.BOM_UTF8 + text + b" " * (MAXIMUM_LINE_BYTES - len(text))
    reader = LineReader()
    blocks = [reader.feed(part) for part in (whole, b"\n")]
    assert [block.faults for block in blocks] == [(), []]
    assert blocks[1].frames.frame_count == 1


def test_a_file_may_have_more_lines_than_a_block(tmp_path: Path) -> None:
    count = BLOCK_LINES + 3
    frames = [
        with_object(box=[index, 0, index + 1, 1]) | {"frame": index} for index in range(count)
    ]
    side = truth_of(write(tmp_path / "a", lines_of(*frames))).annotations
    assert side.frame_numbers.tolist() == list(range(count))
    assert side.coordinates[:, 0].tolist() == list(range(count))


# --- blocks ----------------------------------------------------------------------------------


@settings(max_examples=example_count(60))
@given(st.lists(st.sampled_from([*GOOD[:11], *BAD, "\n"]), max_size=12), st.data())
def test_blocks_of_any_size_give_the_same_as_the_whole(
    frames: list[Any], data: st.DataObject
) -> None:
    text = "".join("\n" if frame == "\n" else lines_of(frame) for frame in frames).encode()
    whole = LineReader()
    expected = whole.feed(text)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    reader, parts = LineReader(), []
    for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True):
        parts.append(reader.feed(text[start:stop]))
    parts.append(reader.finish())
    assert [fault for part in parts for fault in part.faults] == list(expected.faults)
    assert [number for part in parts for number in part.lines.tolist()] == expected.lines.tolist()
    assert reader.arity == whole.arity


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9)), max_size=40))
def test_seen_frames_are_a_compact_set(frames: list[tuple[str, int]]) -> None:
    seen, expected = SeenFrames(), set[tuple[str, int]]()
    for name, number in frames:
        assert seen.add(SequenceKey("", name), number) is ((name, number) not in expected)
        expected.add((name, number))


def test_consecutive_frames_take_the_memory_of_one() -> None:
    seen = SeenFrames()
    assert all(seen.add(SequenceKey("", "a"), number) for number in range(10_000))
    assert seen._runs == {("", "a"): ([0], [9_999])}


# --- writing ---------------------------------------------------------------------------------


@settings(max_examples=example_count(40))
@given(cases(Needs((2, 4, 8), (2, 4, 8), confidences=True, tracks=True)))
def test_a_file_holds_everything_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    path = tmp_path_factory.mktemp("lines") / "written.jsonl"
    for side, given_ in ((Side.TRUTH, case.truth), (Side.DETECTIONS, case.detections)):
        conversion = convert(Source(given_, "given"), "jsonl", side)
        path.write_bytes(conversion.files[""])
        back = read_source(path, side, format_name="jsonl").annotations
        assert conversion.remarks == ()
        if given_.object_count:
            assert fingerprint(back) == fingerprint(given_)
        assert all(
            is_valid(json.loads(row), SCHEMA, SCHEMA) for row in path.read_bytes().splitlines()
        )


def test_missing_values_are_not_written() -> None:
    side = make_annotations({("", "a"): {0: [(1.5, 2, 3, 4)], 1: []}})
    assert convert(Source(side, "given"), "jsonl", Side.TRUTH).files[""] == (
        b'{"sequence":"a","frame":0,"objects":[{"box":[1.5,2,3,4]}]}\n'
        b'{"sequence":"a","frame":1,"objects":[]}\n'
    )


# --- among the other formats -----------------------------------------------------------------


def test_json_lines_are_recognised_by_their_first_key(tmp_path: Path) -> None:
    assert detect_format(write(tmp_path / "a", lines_of(EVERYTHING))).name == "jsonl"
    labelled = lines_of(line(objects=[{"box": BOX, "label": "annotations"}]))
    assert detect_format(write(tmp_path / "c", labelled)).name == "jsonl"
    coco = '{"images": [], "categories": [], "annotations": []}'
    assert detect_format(write(tmp_path / "b", coco)).name == "coco-json"


def test_lines_and_rows_with_the_same_content_give_the_same_report(tmp_path: Path) -> None:
    """Truth and detections may be of either format."""
    rows = "sequence,frame,time_s,class,x1,y1,x2,y2,confidence\n"
    rows += "a,0,1.5,car,0,0,10,10,0.5\na,1,,,,,,,\n"
    frames = [
        line(frame=1),
        with_object(label="car", box=[0, 0, 10, 10], confidence=0.5) | {"time_s": 1.5},
    ]
    truth, detections = (
        (
            write(tmp_path / side / "a.csv", rows),
            write(tmp_path / side / "a.jsonl", lines_of(*frames)),
        )
        for side in ("truth", "detections")
    )
    reports = {score("f1", left, right).to_json() for left in truth for right in detections}
    assert len(reports) == 1


def test_detections_without_any_object_have_the_shape_of_the_truth(tmp_path: Path) -> None:
    truth = write(tmp_path / "t", lines_of(with_object(point=[1, 2]) | {"frame": 1}))
    found = write(tmp_path / "d", lines_of(line(frame=1)))
    assert read_pair(truth, found).detections.annotations.arity == 2
    assert score("spotgeo", truth, found).value("false_negatives") == 1


def test_times_that_go_backwards_are_a_warning(tmp_path: Path) -> None:
    path = write(tmp_path / "a", lines_of(line(time_s=2), line(frame=1, time_s=1)))
    assert [warning.code for warning in truth_of(path).warnings] == ["times_go_back"]
