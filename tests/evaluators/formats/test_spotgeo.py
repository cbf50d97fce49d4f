"""spotGEO JSON: the challenge's structure, and every fault that a file can have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators.formats.helpers import validate_file
from tests.support.tree import ROOT

from vidscore_evaluators.annotations import POINT, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import read_pair, read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import ReadLimits, Source
from vidscore_evaluators.formats.spotgeo import GREATEST_INTEGER
from vidscore_evaluators.testing import make_annotations
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

REAL_TRUTH = ROOT.parent / "shared" / "data" / "spotgeo" / "train_anno.json"


def entry(sequence: Any = 1, frame: Any = 1, *points: tuple[float, float]) -> dict[str, Any]:
    return {
        "sequence_id": sequence,
        "frame": frame,
        "num_objects": len(points),
        "object_coords": [list(point) for point in points],
    }


def write(path: Path, document: object, **style: Any) -> Path:
    text = document if isinstance(document, str) else json.dumps(document, **style)
    path.write_text(text, encoding="utf-8")
    return path


def faults(path: Path, document: object) -> list[tuple[int | None, str | None, str, str]]:
    listed = validate_file(write(path, document), format_name="spotgeo-json")
    return [(fault.entry, fault.field, fault.found, fault.expected) for fault in listed]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.json"


def test_an_entry_becomes_a_frame_and_its_coordinates_objects(path: Path) -> None:
    document = [entry(7, 2, (1.5, 2), (3, 4)), entry(7, 1), entry(10, 1, (5, 6))]
    read = read_source(write(path, document), Side.TRUTH).annotations
    assert read.sequences == (SequenceKey("", "7"), SequenceKey("", "10"))
    assert read.frame_sequences.tolist() == [0, 0, 1]
    assert read.frame_numbers.tolist() == [2, 1, 1]
    assert read.frame_starts.tolist() == [0, 2, 2, 3]
    assert read.coordinates.tolist() == [[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert read.confidences.tolist() == [1.0, 1.0, 1.0]
    assert read.labels == ("",)


def test_an_empty_array_has_no_frames(path: Path) -> None:
    assert read_source(write(path, []), Side.TRUTH).annotations.frame_count == 0


@pytest.mark.parametrize("style", [{}, {"indent": 2}, {"separators": (",", ":")}])
def test_white_space_and_a_byte_order_mark_do_not_matter(path: Path, style: Any) -> None:
    write(path, [entry(1, 1, (2, 3))], **style)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert read_source(path, Side.TRUTH).annotations.coordinates.tolist() == [[2.0, 3.0]]


coordinates = st.floats(-1e9, 1e9) | st.integers(-(10**9), 10**9)
entries = st.dictionaries(
    st.tuples(st.integers(-9, 10**6), st.integers(0, 9)),
    st.lists(st.tuples(coordinates, coordinates), max_size=3),
    max_size=8,
)


@given(entries, st.randoms())
def test_every_number_is_read_to_the_last_bit_in_any_order_of_entries(
    tmp_path_factory: pytest.TempPathFactory, frames: Any, random: Any
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.json"
    document = [entry(*key, *points) for key, points in frames.items()]
    read = read_source(write(path, document), Side.TRUTH).annotations
    for row, (key, points) in enumerate(frames.items()):
        mine = read.coordinates[read.frame_starts[row] : read.frame_starts[row + 1]]
        assert read.sequences[read.frame_sequences[row]].sequence == str(key[0])
        assert read.frame_numbers[row] == key[1]
        assert mine.tolist() == [[float(x), float(y)] for x, y in points]
    random.shuffle(document)
    again = read_source(write(path, document), Side.TRUTH).annotations
    assert fingerprint(again) == fingerprint(read)


BROKEN: list[tuple[Any, str | None, str]] = [
    (17, None, "a number"),
    ([], None, "an array"),
    (None, None, "null"),
    ({**entry(), "scores": []}, None, 'the key "scores"'),
    ({**entry(), "frame": "1"}, "frame", '"1"'),
    ({**entry(), "frame": 1.0}, "frame", "1.0"),
    ({**entry(), "frame": True}, "frame", "true"),
    ({**entry(), "frame": -1}, "frame", "-1"),
    ({**entry(), "frame": MAXIMUM_FRAME_NUMBER + 1}, "frame", str(MAXIMUM_FRAME_NUMBER + 1)),
    ({**entry(), "frame": None}, "frame", "null"),
    ({**entry(), "sequence_id": GREATEST_INTEGER + 1}, "sequence_id", str(GREATEST_INTEGER + 1)),
    ({**entry(), "sequence_id": 2**63}, "sequence_id", "9223372036854775808"),
    ({**entry(), "sequence_id": [1]}, "sequence_id", "an array of 1"),
    ({**entry(), "num_objects": 1}, "num_objects", "1"),
    ({**entry(), "num_objects": False}, "num_objects", "false"),
    ({**entry(), "object_coords": {}}, "object_coords", "an object of 0"),
    ({**entry(1, 1, (1, 2)), "object_coords": [[1]]}, "object_coords[0]", "an array of 1"),
    ({**entry(1, 1, (1, 2)), "object_coords": [7]}, "object_coords[0]", "7"),
    ({**entry(1, 1, (1, 2)), "object_coords": [[1, True]]}, "object_coords[0]", "true"),
    ({**entry(1, 1, (1, 2)), "object_coords": [[1, "2"]]}, "object_coords[0]", '"2"'),
    ({**entry(1, 1, (1, 2)), "object_coords": [[1, [2]]]}, "object_coords[0]", "an array of 1"),
    ({**entry(1, 1, (1, 2)), "object_coords": [[1, 2e9]]}, "object_coords[0]", "2000000000.0"),
]


@pytest.mark.parametrize(("broken", "field", "found"), BROKEN)
def test_each_invalid_entry_says_what_is_wrong(
    path: Path, broken: Any, field: str | None, found: str
) -> None:
    listed = faults(path, [entry(1, 2), broken])
    assert [fault[:3] for fault in listed] == [(1, field, found)]


@pytest.mark.parametrize("points", [[(1, 2, 3), (4, 5, 6)], [(1,), (2, 3, 4)]])
def test_numbers_are_not_paired_across_points(path: Path, points: Any) -> None:
    """Six numbers would be three points, and four would be two."""
    assert [fault[:2] for fault in faults(path, [entry(1, 1, *points)])] == [
        (0, "object_coords[0]"),
        (0, "object_coords[1]"),
    ]


def test_a_missing_key_is_named(path: Path) -> None:
    broken = entry()
    del broken["num_objects"]
    assert faults(path, [broken])[0][:3] == (0, "num_objects", "nothing")


def test_a_repeated_key_is_refused(path: Path) -> None:
    text = json.dumps([entry()]).replace('"frame": 1', '"frame": 1, "frame": 2')
    assert faults(path, text) == [(0, None, "a duplicate key", "each key once")]


@pytest.mark.parametrize("between", [[], [entry(1, 2)], [entry(0, 2)], [entry(0, 1)]])
def test_a_repeated_spotgeo_frame_is_refused(path: Path, between: list[Any]) -> None:
    document = [entry(1, 1), *between, entry(1, 1, (1, 2))]
    assert faults(path, document) == [
        (1 + len(between), "frame", "frame 1 of sequence 1 again", "each frame once")
    ]


def test_the_maximum_numbers_are_read(path: Path) -> None:
    last = entry(GREATEST_INTEGER, MAXIMUM_FRAME_NUMBER, (MAXIMUM_COORDINATE_PX, 0))
    read = read_source(write(path, [last]), Side.TRUTH).annotations
    assert read.sequences == (SequenceKey("", str(GREATEST_INTEGER)),)
    assert read.frame_numbers.tolist() == [MAXIMUM_FRAME_NUMBER]
    assert read.coordinates.tolist() == [[MAXIMUM_COORDINATE_PX, 0.0]]


def test_an_invalid_entry_of_a_repeated_frame_is_reported_and_the_valid_one_is_used(
    path: Path,
) -> None:
    document = [{**entry(1, 1), "num_objects": 7}, entry(1, 1, (1, 2)), entry(1, 1, (3, 4))]
    again = "frame 1 of sequence 1 again"
    assert [(fault[0], fault[2]) for fault in faults(path, document)] == [
        (0, "7"),
        (1, again),
        (2, again),
    ]
    used = read_source(path, Side.TRUTH, on_error="skip").annotations
    assert used.coordinates.tolist() == [[1.0, 2.0]]


def test_all_faults_of_all_entries_are_listed(path: Path) -> None:
    document = [{**broken, "frame": "x", "num_objects": 5} for broken in [entry(), entry(2)]]
    assert [fault[:2] for fault in faults(path, document)] == [
        (0, "frame"),
        (0, "num_objects"),
        (1, "frame"),
        (1, "num_objects"),
    ]


def test_invalid_entries_are_left_out_on_request_and_places_stay_right(path: Path) -> None:
    write(path, [{"frame": 1}, entry(1, 2, (3, 4)), 5, entry(1, 3)])
    source = read_source(path, Side.TRUTH, on_error="skip")
    assert source.annotations.frame_numbers.tolist() == [2, 3]
    assert [(warning.code, warning.count) for warning in source.warnings] == [("skipped_rows", 2)]
    assert source.positions is not None
    assert source.positions.positions.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("text", "line"),
    [("[\n{,", 2), ("[1,\n2,\nNaN]", 3), ("[" * 100_000, 1), ("[1e999]", 1), ("[1] 2", 1)],
)
def test_invalid_json_is_reported_with_its_place(path: Path, text: str, line: int) -> None:
    (fault,) = validate_file(write(path, text), format_name="spotgeo-json")
    assert fault.line == line
    assert fault.field is not None
    assert fault.field.startswith("column ")
    assert fault.found.startswith("invalid JSON")


@pytest.mark.parametrize(
    ("text", "found"), [("", "an empty file"), ('{"a": 1}', "an object"), ("7", "a number")]
)
def test_a_document_that_is_not_an_array_is_refused(path: Path, text: str, found: str) -> None:
    assert faults(path, text)[0][2] == found


def test_bytes_that_are_not_utf_8_are_refused(path: Path) -> None:
    path.write_bytes(b'[{"\xff": 1}]')
    (fault,) = validate_file(path)
    assert fault.found.startswith("invalid JSON")


def test_the_size_of_a_file_is_bounded(path: Path) -> None:
    with pytest.raises(InputError, match="maximum_file_bytes = 3"):
        read_source(write(path, [entry()]), Side.TRUTH, limits=ReadLimits(maximum_file_bytes=3))


def test_detections_need_exactly_the_frames_of_the_truth(tmp_path: Path) -> None:
    truth = write(tmp_path / "truth.json", [entry(1, 1), entry(1, 2), entry(2, 1)])
    detections = write(tmp_path / "d.json", [entry(3, 1), entry(1, 1), entry(1, 9)])
    with pytest.raises(InputError) as caught:
        read_pair(truth, detections)
    assert [(fault.entry, fault.found) for fault in caught.value.faults] == [
        (None, "no entry for frame 2 of sequence 1"),
        (None, "no entry for frame 1 of sequence 2"),
        (0, "frame 1 of sequence 3"),
        (2, "frame 9 of sequence 1"),
    ]
    assert {fault.source for fault in caught.value.faults} == {str(detections)}


MISSING = "one entry for each frame of the truth"


def faults_beside(
    folder: Path, truth: object, detections: object
) -> list[tuple[int | None, str, str]]:
    sides = write(folder / "truth.json", truth), write(folder / "d.json", detections)
    with pytest.raises(InputError) as caught:
        read_pair(*sides, format_name="spotgeo-json")
    return [(fault.entry, fault.found, fault.expected) for fault in caught.value.faults]


def test_frames_without_an_entry_are_reported_beside_invalid_entries(tmp_path: Path) -> None:
    """An invalid entry still counts for its frame, which may itself not exist."""
    truth = [entry(1, frame) for frame in range(1, 6)]
    broken = [{**entry(1, 1), "num_objects": 7}, {**entry(8, 1), "num_objects": 7}]
    assert faults_beside(tmp_path, truth, [*truth[1:4], *broken]) == [
        (None, "no entry for frame 5 of sequence 1", MISSING),
        (3, "7", "0, the number of coordinates"),
        (4, "7", "0, the number of coordinates"),
        (4, "frame 1 of sequence 8", "a frame of the truth"),
    ]


def test_an_invalid_entry_beside_one_for_each_frame_may_belong_to_no_frame(tmp_path: Path) -> None:
    broken = {**entry(8, 1), "num_objects": 7}
    assert faults_beside(tmp_path, [entry(1, 1)], [entry(1, 1), broken]) == [
        (1, "7", "0, the number of coordinates"),
        (1, "frame 1 of sequence 8", "a frame of the truth"),
    ]


@pytest.mark.parametrize(
    "unread",
    [
        {**entry(1, 1), "frame": "1"},
        {"frame": 1, "num_objects": 0, "object_coords": []},
        17,
    ],
)
def test_an_entry_with_an_unreadable_frame_may_be_that_of_a_frame_without_one(
    tmp_path: Path, unread: object
) -> None:
    """With as many such entries, no frame is reported as missing."""
    truth = [entry(1, frame) for frame in range(1, 4)]
    [(place, _, expected)] = faults_beside(tmp_path, truth, [unread, *truth[1:]])
    assert place == 0
    assert expected != MISSING
    two_missing = faults_beside(tmp_path, truth, [unread, truth[1]])
    assert {found for _, found, expected in two_missing if expected == MISSING} == {
        "no entry for frame 1 of sequence 1",
        "no entry for frame 3 of sequence 1",
    }
    with pytest.raises(InputError, match="whose sequence_id or frame cannot be read may be of it"):
        read_pair(tmp_path / "truth.json", tmp_path / "d.json", format_name="spotgeo-json")


def test_detections_are_not_checked_against_a_truth_with_invalid_entries(tmp_path: Path) -> None:
    """Its frames are unknown until these are corrected."""
    truth = [entry(1, 1), {**entry(1, 2), "num_objects": 7}]
    assert faults_beside(tmp_path, truth, [{**entry(1, 2), "num_objects": 9}]) == [
        (1, "7", "0, the number of coordinates"),
        (0, "9", "0, the number of coordinates"),
    ]


def test_frames_that_do_not_fit_the_truth_are_left_out_on_request(tmp_path: Path) -> None:
    truth = write(tmp_path / "truth.json", [entry(1, 1), entry(1, 2)])
    detections = write(tmp_path / "d.json", [entry(3, 1), entry(1, 1, (1, 2))])
    read = read_pair(truth, detections, on_error="skip")
    assert read.detections.annotations.sequences == (SequenceKey("", "1"),)
    assert read.detections.annotations.coordinates.tolist() == [[1.0, 2.0]]
    assert {warning.code: warning.count for warning in read.warnings} == {
        "missing_detection_frames": 1,
        "skipped_rows": 1,
    }


def test_the_order_of_entries_on_the_two_sides_may_differ(tmp_path: Path) -> None:
    document = [entry(1, 1), entry(1, 2), entry(2, 1)]
    truth = write(tmp_path / "truth.json", document)
    detections = write(tmp_path / "d.json", document[::-1])
    assert read_pair(truth, detections).warnings == ()


def test_the_challenges_own_annotations_are_read_completely() -> None:
    if not REAL_TRUTH.is_file():
        # We may not ship it, so its absence is a failure nowhere.
        pytest.skip("the challenge's truth is not on this machine")
    read = read_source(REAL_TRUTH, Side.TRUTH).annotations
    document = json.loads(REAL_TRUTH.read_text())
    assert read.frame_count == len(document) == 6400
    assert read.object_count == sum(entry_["num_objects"] for entry_ in document)
    flat = [point for entry_ in document for point in entry_["object_coords"]]
    assert np.array_equal(read.coordinates, np.array(flat))


@pytest.mark.parametrize("name", ["a", "07", "+7"])
def test_a_sequence_that_is_not_a_number_or_repeats_another_is_not_written_as_spotgeo(
    name: str,
) -> None:
    truth = make_annotations({("", name): {1: [(1.5, 2)]}}, arity=POINT)
    with pytest.raises(
        InputError, match=f"sequence: found '{re.escape(name)}', expected an integer"
    ):
        convert(Source(truth, "given"), "spotgeo-json", Side.TRUTH)


def test_detections_of_spotgeo_in_a_frame_that_the_truth_lacks_are_not_written() -> None:
    truth, found = (make_annotations({("", "7"): {frame: [(1.5, 2)]}}) for frame in (1, 2))
    with pytest.raises(InputError, match="frame 2 of sequence 7"):
        convert(
            Source(found, "given"), "spotgeo-json", Side.DETECTIONS, truth=Source(truth, "given")
        )
