"""COCO files by the compiled loop: the same result as by the parser, or none.

The parser, and the rules applied to its objects, are the oracle; what both readings share comes
after them.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, structs
from tests.campaigns.fuzzing.readers import seeds_of
from tests.evaluators.formats.test_coco_masks import POLYGON, RUNS, TEXT

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import coco
from vidscore_evaluators.formats._coco_text import read_text
from vidscore_evaluators.formats.source import ReadOptions

HEIGHT, WIDTH = 6, 8

rare = st.integers(0, 9).map(lambda number: number == 0)
ids = st.integers(0, 3) | st.sampled_from([2**53 - 1, 2**32])
numbers = (
    st.integers(0, 10)
    | st.floats(0, 10)
    | st.sampled_from([1e-7, 1.2345678901234567e-9, 0.1, 1e9, 123456789.12345678, -0.0, 5e-324])
)
words = st.sampled_from(["", "a", 'quoted "', "back\\slash", "Füße", "车", "line\n", "\x7f", "😀"])
anything = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
boxes = st.lists(numbers, min_size=4, max_size=4)
polygons = st.lists(st.lists(numbers, min_size=6, max_size=10), max_size=3)
runs = st.fixed_dictionaries(
    {
        "size": st.sampled_from([[HEIGHT, WIDTH]] * 5 + [[8, 6], [1, 0]]),
        "counts": st.sampled_from(
            [[8, 2, 4, 2, 32], [48], [], [0, 48], "8240l0", "`1", "oo", "\\\\", "0é"]
        ),
    },
    optional={"more": anything},
)
segmentations = st.none() | polygons | runs | st.sampled_from([[[]], [[], []], POLYGON, TEXT, RUNS])
optional = {
    "bbox": boxes,
    "segmentation": segmentations,
    "area": numbers,
    "iscrowd": st.integers(0, 1),
    "ignore": st.integers(0, 1),
    "track_id": st.integers(-1, 5),
    "instance_id": st.integers(-1, 5),
    "score": numbers,
    "caption": words,
    "attributes": anything,
}
usual = st.fixed_dictionaries(
    {"image_id": ids, "category_id": ids, "bbox": boxes, "score": numbers},
    optional={key: value for key, value in optional.items() if key not in ("bbox", "score")},
)


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Any]:
    """An entry with its keys in any order, sometimes with a fault."""
    entry = draw(usual)
    if draw(rare):
        entry.pop(draw(st.sampled_from(sorted(entry))))
    if draw(rare):
        entry[draw(st.sampled_from(sorted(entry) or ["id"]))] = draw(anything)
    return dict(draw(st.permutations(sorted(entry.items(), key=lambda item: item[0]))))


@st.composite
def documents(draw: st.DrawFn) -> Any:
    annotations = draw(st.lists(entries(), max_size=4))
    if draw(st.booleans()):
        return annotations
    has_size = draw(st.booleans())
    size = {"width": WIDTH, "height": HEIGHT} if has_size else {}
    known = [0, 1, 2, 3, 2**53 - 1, 2**32]
    members = {
        "info": draw(anything),
        "images": [{"id": number, "file_name": draw(words), **size} for number in known],
        "categories": [{"id": number, "name": f"class {number}"} for number in known],
        "annotations": annotations,
    }
    return dict(draw(st.permutations(sorted(members.items(), key=lambda item: item[0]))))


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    return json.dumps(
        draw(documents()),
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 0, 1])),
        separators=draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\r\n\t", " : ")])),
    ).encode(errors="surrogatepass")


def plain(value: object) -> object:
    """A value in a form whose comparison compares all its bits."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.tobytes()
    if isinstance(value, float):
        return struct.pack("d", value)
    if isinstance(value, Struct):
        return [plain(one) for one in structs.astuple(value)]
    if is_dataclass(value):
        return [plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return [(plain(key), plain(one)) for key, one in value.items()]
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def outcome(path: Path, side: Side, options: ReadOptions) -> object:
    """The complete result of a reading, or its error."""
    try:
        return plain(coco.read(path, side, options))
    except InputError as error:
        return plain(error.faults)


def hold_to_parser(text: bytes, folder: Path) -> None:
    """Compare the reading of a text with that of the parser, on both sides."""
    path = folder / "file.json"
    path.write_bytes(text)
    for side in Side:
        for size in (None, (WIDTH, HEIGHT)):
            options = ReadOptions(image_size=size)
            found = outcome(path, side, options)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(coco, "read_text", lambda _: None)
                assert found == outcome(path, side, options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("coco")


@pytest.mark.slow
@given(texts())
def test_a_text_is_read_as_by_the_parser(folder: Path, text: bytes) -> None:
    hold_to_parser(text, folder)


@given(texts(), st.data())
def test_a_text_with_changed_bytes_is_read_as_by_the_parser(
    folder: Path, text: bytes, data: st.DataObject
) -> None:
    changed = bytearray(text)
    for _ in range(data.draw(st.integers(1, 3), label="changes")):
        place = data.draw(st.integers(0, max(len(changed) - 1, 0)), label="place")
        length = data.draw(st.integers(0, 2), label="bytes that go")
        pieces = st.text('0159-+.eE,:[]{}"\\ua \n\0é', max_size=2)
        changed[place : place + length] = data.draw(pieces, label="bytes that come").encode()
    hold_to_parser(bytes(changed), folder)


@given(st.lists(usual, min_size=1, max_size=5), st.booleans())
def test_texts_of_common_programs_are_read_by_the_loop(
    found: list[dict[str, Any]], is_object: bool
) -> None:
    """With large ids, other keys, and floats and names of any kind."""
    rows = [{**entry, "area": 1.5, "segmentation": TEXT} for entry in found]
    for row in rows:
        row.update(bbox=[0.25, 1, 2.5, 1e-7], score=1.2345678901234567e-9)
    document = {"images": [], "annotations": rows} if is_object else rows
    reading = read_text(json.dumps(document, ensure_ascii=False).encode())
    assert reading is not None
    assert reading.document == ({"images": [], "annotations": []} if is_object else None)
    assert reading.entries.numbers("score").tolist() == [1.2345678901234567e-9] * len(rows)
    assert reading.entries.boxes().tolist() == [[0.25, 1.0, 2.5, 1e-7]] * len(rows)
    assert reading.entries.integers("image_id").tolist() == [row["image_id"] for row in rows]


digits = st.text("0123456789", min_size=1, max_size=25)
whole_digits = st.just("0") | digits.map(lambda text: text.lstrip("0") or "0")
exponents = st.just("") | st.integers(-330, 99).map(lambda power: f"e{power}")
literals = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "-"]),
        whole_digits,
        st.just("") | digits.map(lambda text: f".{text}"),
        exponents,
    ),
)


def scores_of(literal: str) -> list[float] | None:
    text = f'[{{"image_id":1,"category_id":1,"bbox":[0,0,1,1],"score":{literal}}}]'
    reading = read_text(text.encode())
    return None if reading is None else reading.entries.numbers("score").tolist()


@given(literals | st.floats(allow_nan=False, allow_infinity=False).map(repr))
def test_a_number_is_the_nearest_binary64(literal: str) -> None:
    """As Python reads it, except for -0, an integer, and for powers that may be too large."""
    found = scores_of(literal)
    if found is None:
        assert literal == "-0" or re.search(r"e\+[0-9]{3}$", literal)
    else:
        assert struct.pack("d", found[0]) == struct.pack("d", float(literal))


ENTRY = '"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4], "score": 0.5'
SEGMENT = '"segmentation": {"size": [6, 8], "counts": "8240l0"}'


def test_the_texts_that_are_changed_below_are_read_by_the_loop() -> None:
    """So each of these is left to the parser only because of its own peculiarity."""
    assert read_text(f"[{{{ENTRY}}}]".encode()) is not None
    assert read_text(f"[{{{ENTRY}, {SEGMENT}}}]".encode()) is not None
    assert read_text(f'{{"annotations": [{{{ENTRY}}}]}}'.encode()) is not None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "17",
        "[]",
        "[5]",
        f"[{{{ENTRY}}},]",
        f"[{{{ENTRY}}}, 5]",
        f"[{{{ENTRY}}}] 5",
        f"[{{{ENTRY}}}",
        f"[{{{ENTRY},}}]",
        f'[{{{ENTRY}, "score": 0.5}}]',
        f'[{{{ENTRY}, "sc\\u006fre": 0.5}}]',
        f"[{{{ENTRY}, \"more\": '5'}}]",
        f'[{{{ENTRY}, "more": NaN}}]',
        f'[{{{ENTRY}, "more": 1e400}}]',
        f'[{{{ENTRY}, "more": 01}}]',
        f'[{{{ENTRY}, "more": 1.}}]',
        f'[{{{ENTRY}, "more": .1}}]',
        f'[{{{ENTRY}, "more": [1,]}}]',
        f'[{{{ENTRY}, "more": [1}}]',
        f'[{{{ENTRY}, "more": {{"a" 1}}}}]',
        f'[{{{ENTRY}, "more": {{1: 1}}}}]',
        f'[{{{ENTRY}, "more": "\t"}}]',
        f'[{{{ENTRY}, "more": "\\x"}}]',
        f'[{{{ENTRY}, "more": "\\u12g4"}}]',
        f'[{{{ENTRY}, "more": "\\ud83d"}}]',
        f'[{{{ENTRY}, "more": {"[" * 40}{"]" * 40}}}]',
        f'[{{{ENTRY}, "track_id": 1.0}}]',
        f'[{{{ENTRY}, "track_id": -2}}]',
        f'[{{{ENTRY}, "track_id": true}}]',
        f'[{{{ENTRY}, "track_id": 9007199254740992}}]',
        f'[{{{ENTRY}, "segmentation": 5}}]',
        f'[{{{ENTRY}, "segmentation": [1, 2]}}]',
        f'[{{{ENTRY}, "segmentation": [[1, null]]}}]',
        f'[{{{ENTRY}, "segmentation": {{"size": [6, 8]}}}}]',
        f'[{{{ENTRY}, "segmentation": {{"counts": []}}}}]',
        f'[{{{ENTRY}, "segmentation": {{"size": [6], "counts": []}}}}]',
        f'[{{{ENTRY}, "segmentation": {{"size": [6, -8], "counts": []}}}}]',
        f'[{{{ENTRY}, "segmentation": {{"size": [6, 8], "counts": [1.5]}}}}]',
        f'[{{{ENTRY}, "segmentation": {{"size": [6, 8], "counts": "\\u0030"}}}}]',
        f'[{{{ENTRY}, "segmentation": {{"size": [6, 8], "counts": [], "counts": []}}}}]',
        ENTRY.join(("[{", "}]")).replace("0.5", "1e400"),
        ENTRY.join(("[{", "}]")).replace("0.5", "-0"),
        ENTRY.join(("[{", "}]")).replace("0.5", "null"),
        ENTRY.join(("[{", "}]")).replace("0.5", "0." + "1" * 300),
        ENTRY.join(("[{", "}]")).replace("1, 2, 3, 4", "1, 2, 3"),
        ENTRY.join(("[{", "}]")).replace("1, 2, 3, 4", "1, 2, 3, -4"),
        ENTRY.join(("[{", "}]")).replace("1, 2, 3, 4", "1, 2, 3, 4, 5"),
        ENTRY.join(("[{", "}]")).replace("1, 2, 3, 4", "1e10, 2, 3, 4"),
        ENTRY.join(("[{", "}]")).replace('"image_id": 1', '"image_id": "1"'),
        ENTRY.join(("[{", "}]")).replace("image_id", "file_name"),
        ENTRY.join(("[{", "}]")).replace("bbox", "box"),
        ENTRY.join(("[{", "}]")).replace("score", "confidence"),
        "{}",
        '{"images": []}',
        '{"annotations": []}',
        f'{{"annotations": [{{{ENTRY}}}], "annotations": [{{{ENTRY}}}]}}',
        f'{{"annotations": [{{{ENTRY}}}], "annot\\u0061tions": 5}}',
        f'{{"annotations": [{{{ENTRY}}}], "info": 1e400}}',
        f'{{"annotations": [{{{ENTRY}, "iscrowd": 2}}]}}',
        f'{{"annotations": [{{{ENTRY}, "area": -1}}]}}',
    ],
)
def test_an_unusual_text_is_left_to_the_parser(text: str) -> None:
    assert read_text(text.encode()) is None


def test_output_of_convert_is_read_by_the_loop() -> None:
    """Of scenes with masks, tracks, flags and times; changed inputs are made from it too."""
    texts = [text for files in seeds_of("coco-json") for text in files.values()]
    documents = [json.loads(text) for text in texts]
    lists = [one["annotations"] if isinstance(one, dict) else one for one in documents]
    assert sum(map(bool, lists)) > len(Side)
    assert [read_text(text) is not None for text in texts] == list(map(bool, lists))


def test_a_text_that_is_not_utf_8_is_left_to_the_parser() -> None:
    assert read_text(f'[{{{ENTRY}, "more": "é"}}]'.encode()) is not None
    assert read_text(f'[{{{ENTRY}, "more": "é"}}]'.encode("latin-1")) is None
